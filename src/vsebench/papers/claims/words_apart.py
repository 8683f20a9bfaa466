"""Training pulls some words apart: the fall of their mean cosine beside that of other words, over labels and seeds."""

from collections.abc import Iterator, Sequence
from typing import ClassVar

import numpy as np
import polars as pl
from pydantic import Field

from vsebench.papers.claim import AtTasks, ClaimCase
from vsebench.papers.evidence import Effect, Estimates, Evidence, UntestableError, Values, interval, of_units

FEWEST = 3  # words of a group that a data set must have


class WordsApart(AtTasks):
    """From a fixed variant to a trained one, cosines within one group of words fall by more than within another.

    A label counts with its mean cosine with the others of its group.
    """

    effect: ClassVar[str] = "fall of the mean cosine, less that of the other words (claimed: above 0)"
    reads: ClassVar[tuple[str, ...]] = ("label_vectors",)

    fixed: str  # our variant whose vectors of labels are the words' own
    words: list[str] = Field(min_length=FEWEST)  # that are claimed to be pulled apart
    beside: list[str] = Field(min_length=FEWEST)

    def variants_read(self) -> list[str]:
        """Return both variants."""
        return [self.method, self.fixed]

    def cases(self, evidence: Evidence) -> Iterator[ClaimCase]:
        """Yield one case per task with both variants."""
        tasks = [task for task in self.tasks(evidence) if self.fixed in task.variants]
        if not tasks:
            raise UntestableError(f"The run has no method {self.fixed} to compare with.")
        for task in tasks:
            yield ClaimCase.at(task, "fall of the mean cosine", self.fixed)

    def test(self, evidence: Evidence, case: ClaimCase) -> Effect:
        """Return the fall within `words` less that within `beside`."""
        tables = [evidence.requested("label_vectors", case.task, variant) for variant in (self.method, self.fixed)]
        groups = [[word for word in group if word in set(tables[0]["label"])] for group in (self.words, self.beside)]
        if min(map(len, groups)) < FEWEST:
            raise UntestableError(f"The data set {case.task.dataset} has fewer than {FEWEST} words of a group.")
        of_groups = [
            of_units([fall(tables, seed, group) for seed in evidence.seeds], evidence.resamples) for group in groups
        ]
        return interval(Estimates.side_by_side(of_groups), lambda means: means[:, 0] - means[:, 1], 0.0)

    def bounds(self) -> Sequence[float]:
        return 0.0, float("inf")


def fall(tables: list[pl.DataFrame], seed: int, group: list[str]) -> Values:
    """Return the fall of each word's mean cosine, (n_words, 1), from the second table's vectors to the first one's."""
    trained, fixed = (mean_cosines(table.filter(seed=seed), group) for table in tables)
    falls: Values = (fixed - trained)[:, None]
    return falls


def mean_cosines(vectors: pl.DataFrame, group: list[str]) -> Values:
    """Return the mean cosine of each word with the others of its group, (n_words,)."""
    of_label = dict(vectors.select("label", "vector").iter_rows())
    group_vectors = np.array([of_label[word] for word in group], dtype=np.float64)
    cosines = group_vectors @ group_vectors.T
    means: Values = (cosines.sum(axis=1) - cosines.diagonal()) / (len(group) - 1)
    return means


TESTS = {"words_apart": WordsApart}
