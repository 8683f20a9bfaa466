"""Label neighbours: a label's score is the sum of its similarities to the image's labels, as far as they are among its
nearest.

Source: Deshpande and Karypis, "Item-based top-N recommendation algorithms", ACM TOIS 2004, with the shrunk cosine
similarity n_ab / (sqrt(n_a n_b) + shrinkage), n_ab images that carry both labels. A label counts once an image.
"""

import numpy as np
from pydantic import Field

from vsebench.core.workers import Workers
from vsebench.kernels.cooccurrence import count_together
from vsebench.methods.base import EpochReport, LabelWeights, Method, Settings
from vsebench.problem import LabelMatrix


class KnnSettings(Settings):
    """Settings of the neighbourhood."""

    neighbours: int = Field(ge=1)  # of each label; all where there are fewer
    shrinkage: float = Field(ge=0)  # images; lowers the similarity of rare labels


class Model(Method):
    """Label neighbours; the one epoch counts all of it, so seed and workers stay unused."""

    settings_type = KnnSettings

    def __init__(self, train: LabelMatrix, settings: KnnSettings, seed: int, workers: Workers) -> None:
        self.train, self.settings = train, settings
        self.weight = np.zeros((train.n_labels, train.n_labels), dtype=np.float32)

    def epoch(self) -> EpochReport:
        together = count_together(self.train.offsets, self.train.labels, self.train.n_labels)
        frequency = np.diag(together).copy()
        scale = np.sqrt(np.outer(frequency, frequency)) + self.settings.shrinkage
        similarity = np.divide(together, scale, out=np.zeros_like(together), where=scale > 0)
        np.fill_diagonal(similarity, 0.0)
        if self.settings.neighbours < len(similarity):
            # A stable order keeps the first of equals, so the same data give the same neighbours everywhere.
            order = np.argsort(-similarity, axis=0, kind="stable")
            np.put_along_axis(similarity, order[self.settings.neighbours :], 0.0, axis=0)
        self.weight = similarity.astype(np.float32)
        return EpochReport(None)

    def scorer(self) -> LabelWeights:
        return LabelWeights(self.weight)
