"""WSABIE with a falling learning rate: gamma / sqrt(1 + t / decay) in epoch t, counted from 0.

It is compared with the paper's constant learning rate (Weston, Bengio and Usunier, "Large scale image annotation:
learning to rank with joint word-image embeddings", Machine Learning 81(1), 2010, section 3).
"""

import math
from typing import ClassVar

from pydantic import Field

from vsebench.data.problem import Problem
from vsebench.methods.base import Progress
from vsebench.methods.by_features.embedding_sgd import EmbeddingMethod, EmbeddingSettings


class DecaySettings(EmbeddingSettings):
    """Settings of WSABIE with a falling learning rate; `learning_rate` is the rate of the first epoch."""

    decay: float = Field(gt=0)  # number of epochs after which the rate has fallen by a factor of sqrt(2)


class WsabieDecay(EmbeddingMethod):
    """WSABIE whose learning rate falls from epoch to epoch."""

    settings_type: ClassVar[type[EmbeddingSettings]] = DecaySettings

    def __init__(self, problem: Problem, settings: DecaySettings) -> None:
        super().__init__(problem, settings)
        self.first, self.decay, self.n_epochs = settings.learning_rate, settings.decay, 0

    def epoch(self) -> Progress:
        rate = self.first / math.sqrt(1 + self.n_epochs / self.decay)
        self.settings = self.settings.model_copy(update={"learning_rate": rate})
        self.n_epochs += 1
        return super().epoch()


METHOD = WsabieDecay
