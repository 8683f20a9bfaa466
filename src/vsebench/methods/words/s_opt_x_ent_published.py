"""Sampled cross-entropy with word vectors that are trained too, as the authors' code trains them.

The network takes Adam's steps on the loss of `s_x_ent`. The vectors of the drawn labels take plain steps with the same
learning rate, image by image, undivided: with P = 5, N = 10 and 128 images a batch they are 640 times (positives) and
1,280 times (negatives) as long as a step on that loss. A label that was drawn twice for an image moves once. So network
and vectors minimise different losses.

The code also draws its batches with replacement, counts test images among the negatives' frequencies, and takes an
image without a label for one with the last label; none of this is done here.

Source: the code of Ni and others, "Sampled image tagging and retrieval methods on user generated content"
(Lab41/attalos).
"""

from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from vsebench.data.problem import Matrix, Problem
from vsebench.kernels.losses.sampled_words import WordTable, published_steps, sampled_loss
from vsebench.methods.networks.training import NetworkSettings
from vsebench.methods.words.s_x_ent import SXEnt, SXEntSettings


class SOptXEntPublishedSettings(SXEntSettings):
    """Settings of the authors' code."""

    joint: Literal[True] = True
    label_terms: float = Field(default=0.0, ge=0, le=0)  # the code has none


class SOptXEntPublished(SXEnt):
    """A network with the binary cross-entropy of a sample of labels, and undivided steps of their vectors."""

    settings_type: ClassVar[type[NetworkSettings]] = SOptXEntPublishedSettings
    settings: SOptXEntPublishedSettings

    def __init__(self, problem: Problem, settings: SOptXEntPublishedSettings) -> None:
        super().__init__(problem, settings)
        self.table = WordTable.of(self.start[self.is_learnt])  # no memory of gradients

    def loss(self, scores: Matrix, images: NDArray[np.int64]) -> float:
        settings, chosen, outputs = self.settings, self.draw(images), scores.copy()
        total, _ = sampled_loss(scores, chosen, settings.positives, self.weight, self.pairwise, self.table)
        published_steps(self.table.vectors, outputs, chosen, settings.positives, settings.learning_rate)
        return float(total)


METHOD = SOptXEntPublished
