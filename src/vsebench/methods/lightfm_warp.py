"""WARP of the package LightFM: Adagrad, biases, and a maximum number of trials per step.

Source: Kula, "Metadata Embeddings for User and Item Cold-start Recommendations", CBRecSys 2015; Weston, Bengio and
Usunier, "WSABIE", IJCAI 2011. A label counts once per image. The package is optional (`make setup-peers`).
"""

import numpy as np
import scipy.sparse
from lightfm import LightFM
from pydantic import Field

from vsebench.methods.base import FactorSettings, Method, Progress
from vsebench.models import Embeddings
from vsebench.problem import Problem


class LightfmSettings(FactorSettings):
    """Settings of LightFM's WARP."""

    learning_rate: float = Field(gt=0)  # of Adagrad
    regularisation: float = Field(ge=0)  # L2, on images and labels
    trials: int = Field(ge=1)  # maximum number of negatives examined per step


class LightfmWarp(Method):
    """LightFM's WARP. It runs on one thread: on several, its result depends on their timing."""

    settings_type = LightfmSettings
    needs = frozenset({"known_labels"})

    def __init__(self, problem: Problem, settings: LightfmSettings) -> None:
        train = problem.training.labels
        ones = np.ones(train.n_pairs, dtype=np.float32)
        shape = (train.n_rows, train.n_labels)
        self.positives = scipy.sparse.csr_matrix(
            (ones, train.label_of_pair, train.offsets), shape=shape, copy=True
        ).tocoo()
        self.lightfm = LightFM(
            no_components=settings.factors, loss="warp", learning_rate=settings.learning_rate,
            item_alpha=settings.regularisation, user_alpha=settings.regularisation, max_sampled=settings.trials,
            random_state=problem.seed,
        )  # fmt: skip

    def epoch(self) -> Progress:
        self.lightfm.fit_partial(self.positives, epochs=1, num_threads=1)
        return Progress(None)

    def model(self) -> Embeddings:
        """Return the model with the labels' biases as an additional factor; the images' biases change no rank."""
        ones = np.ones((len(self.lightfm.user_embeddings), 1), dtype=np.float32)
        image = np.hstack([self.lightfm.user_embeddings, ones])
        label = np.hstack([self.lightfm.item_embeddings, self.lightfm.item_biases[:, np.newaxis]])
        return Embeddings(image, label)


METHOD = LightfmWarp
