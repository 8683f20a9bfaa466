"""Claims about distances between label vectors: siblings are near each other, or training moves words apart."""

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl
from pydantic import Field

from vsebench.evaluation.estimates import Estimates
from vsebench.papers.claim import AtTasks, ClaimCase
from vsebench.papers.evidence import Evidence, Measurement, UntestableError, Values, interval, of_units

FEWEST = 3  # a data set must contain at least this number of words of each group


class LabelNeighbours(AtTasks):
    """The share of siblings among a label's nearest labels is at least `times` times the share expected by chance.

    Both shares are means over the labels that have siblings. For one label, the share that is expected by chance is the
    number of its siblings / (number of labels - 1).
    """

    effect = "ratio of the share of siblings to the share by chance (claimed: at least the claim's bound)"
    searched = True
    reads = ("neighbours_of_labels",)

    nearest: int = Field(ge=1, le=9)
    times: float = Field(ge=1)

    def measured(self) -> list[str]:
        return [f"siblings among {self.nearest} nearest labels"]

    def measure(self, evidence: Evidence, case: ClaimCase) -> Measurement:
        of_method = evidence.requested("neighbours_of_labels", case.task, self.method)
        neighbours = of_method.filter(pl.col("rank") <= self.nearest, pl.col("siblings") > 0)
        if neighbours.is_empty():
            raise UntestableError(f"The data set {case.task.dataset} does not state which labels are siblings.")
        seeds = [shares(of_seed) for _, of_seed in neighbours.group_by("seed", maintain_order=True)]
        over_chance = of_units(seeds, evidence.resamples)
        return interval(over_chance, lambda values: values[:, 0] / values[:, 1], self.times)

    def bounds(self) -> Sequence[float]:
        return self.times, float("inf")


def shares(neighbours: pl.DataFrame) -> Values:
    """Return the share of siblings among each label's neighbours, and the share expected by chance.

    The result has shape (n_labels, 2), with one column for each of the two shares.
    """
    chance = pl.col("siblings").first() / (pl.col("n_labels").first() - 1)
    by_label = neighbours.group_by("label").agg(share=pl.col("sibling").mean(), chance=chance).sort("label")
    return by_label.select("share", "chance").to_numpy()


class WordsApart(AtTasks):
    """Training decreases the cosines within a group of words more than the cosines within another group.

    The decrease of a word is that of its mean cosine with the other words of its group. The decrease of a group is the
    mean over its words.
    """

    effect = (
        "fall of the mean cosine in the claim's group of words minus the fall in its other group (claimed: above 0)"
    )
    searched = True
    reads = ("label_vectors",)

    fixed: str  # our variant whose label vectors are the word vectors
    words: list[str] = Field(min_length=FEWEST)  # the words that training separates according to the claim
    beside: list[str] = Field(min_length=FEWEST)  # the words of the other group

    def variants_read(self) -> list[str]:
        return [self.method, self.fixed]

    def cases(self, evidence: Evidence) -> Iterator[ClaimCase]:
        for task in self.tasks(evidence, self.fixed):
            yield ClaimCase.at(task, "fall of the mean cosine", self.fixed)

    def measure(self, evidence: Evidence, case: ClaimCase) -> Measurement:
        tables = [evidence.requested("label_vectors", case.task, variant) for variant in (self.method, self.fixed)]
        groups = [[word for word in group if word in set(tables[0]["label"])] for group in (self.words, self.beside)]
        if min(map(len, groups)) < FEWEST:
            raise UntestableError(
                f"The data set {case.task.dataset} has fewer than {FEWEST} words of one of the claim's groups."
            )
        seeds = evidence.common_seeds(case.task, self.method, self.fixed)
        of_groups = [of_units([fall(tables, seed, group) for seed in seeds], evidence.resamples) for group in groups]
        return interval(Estimates.side_by_side(of_groups), lambda means: means[:, 0] - means[:, 1], 0.0)

    def bounds(self) -> Sequence[float]:
        return 0.0, float("inf")


def fall(tables: list[pl.DataFrame], seed: int, group: list[str]) -> Values:
    """Return by how much training decreases the mean cosine of each word, as an array of shape (n_words, 1).

    `tables` contains the label vectors of the trained variant, then those of the fixed variant.
    """
    trained, fixed = (mean_cosines(table.filter(seed=seed), group) for table in tables)
    return (fixed - trained)[:, None]


def mean_cosines(vectors: pl.DataFrame, group: list[str]) -> Values:
    """Return the mean cosine of each word with the other words of its group, as an array of shape (n_words,)."""
    of_label = dict(vectors.select("label", "vector").iter_rows())
    group_vectors = np.array([of_label[word] for word in group], dtype=np.float64)
    cosines = group_vectors @ group_vectors.T
    return np.asarray((cosines.sum(axis=1) - cosines.diagonal()) / (len(group) - 1))
