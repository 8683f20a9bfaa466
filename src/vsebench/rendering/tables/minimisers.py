"""Compare the scores that minimise a loss over label pairs with the formula that a theorem states for them."""

from collections.abc import Iterator
from typing import Annotated, Self

import numpy as np
from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from vsebench.core.yaml_files import Strict
from vsebench.papers.base import Paper
from vsebench.papers.pair_risks import Loss, Values, has_minimiser, independent, marginals, minimisers, violates_order
from vsebench.rendering.kinds import PaperFile, TableKind
from vsebench.rendering.results import Results
from vsebench.rendering.table import Column, Row, Table

Chance = Annotated[float, Field(gt=0, le=1)]
COLUMNS = (
    Column("case", "Case", shown=False),
    Column("label", "Label"),
    Column("probability", "P(label)", "score"),
    Column("formula", "log P + c", "score"),
    Column("minimiser", "Minimiser", "score"),
)
NOTES = (
    "P(label), or P: the probability that an image has the label. The theorem says that the minimiser is log P + c, "
    "with a constant c.",
    '"ab 0.1" means that an image has exactly the labels a and b with probability 0.1.',
    "Minimiser: the scores that minimise the exact risk under the distribution of the case. In each case, these "
    "scores and log P + c are shifted so that their means are 0.",
    "Computed without data; this table is the same in every run.",
)


class Case(Strict):
    """A loss and a distribution over label sets.

    The distribution is given by the probability of each set or, if labels are independent, by that of each label.
    """

    title: str
    loss: Loss
    sets: dict[Annotated[str, Field(pattern="^[a-h]+$")], Chance] | None = None  # "ab": an image with labels a and b
    independent: list[Annotated[float, Field(gt=0, lt=1)]] | None = Field(None, min_length=2, max_length=8)

    @model_validator(mode="after")
    def _is_a_distribution(self) -> Self:
        if (self.sets is None) == (self.independent is None):
            raise PydanticCustomError("case", "give either `sets` or `independent`")
        if self.sets is not None and abs(sum(self.sets.values()) - 1) > 1e-9:
            raise PydanticCustomError("case", "the probabilities of the sets must sum to 1")
        if not has_minimiser(self.chances[0]):
            raise PydanticCustomError(
                "case", "no scores minimise the risk: some label never occurs without another label"
            )
        return self

    @property
    def chances(self) -> Values:
        """The probability of each set in `pair_risks.all_sets`, as an array of shape (1, 2^n) for n labels."""
        if self.sets is None:
            return independent(np.array([self.independent]))
        labels = 1 + max(ord(label) - ord("a") for members in self.sets for label in members)
        chances = np.zeros((1, 2**labels))
        for members, chance in self.sets.items():
            chances[0, sum(2 ** (ord(label) - ord("a")) for label in set(members))] += chance
        return chances

    @property
    def distribution(self) -> str:
        """The label sets and their probabilities as text, for a heading."""
        return ", ".join(f"{members} {chance:g}" for members, chance in (self.sets or {}).items())


class Minimisers(TableKind):
    """A table of the scores that a theorem states and those that minimise the loss, one row per label of a case.

    The heading of a case states whether the scores that minimise the loss order the labels by their probability.
    """

    needs = ()

    paper: PaperFile
    theorem: str  # the name of the theorem in the paper
    cases: list[Case] = Field(min_length=1)

    def table(self, results: Results) -> Table:
        caption = f"{Paper.read(self.paper).title} paper, {self.theorem}: claimed and exact scores of the labels"
        return Table(COLUMNS, [row for case in self.cases for row in rows_of(case)], caption, NOTES)


def rows_of(case: Case) -> Iterator[Row]:
    """Yield one row per label of a case."""
    chances = case.chances
    scores = minimisers(chances, case.loss)
    (wrong,) = violates_order(scores, chances)
    probabilities = marginals(chances)[0]
    formula = np.log(probabilities) - np.log(probabilities).mean()
    sets = f" ({case.distribution})" if case.sets else ""
    group = f"{case.title}{sets}: {'not in' if wrong else 'in'} the order of P"
    for label, (probability, claimed, score) in enumerate(zip(probabilities, formula, scores[0], strict=True)):
        numbers = (round(float(value), 10) for value in (probability, claimed, score))
        yield Row.of(case.title, chr(ord("a") + label), *numbers, group=group)
