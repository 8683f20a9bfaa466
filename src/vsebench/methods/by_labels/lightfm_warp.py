"""WARP of the package LightFM: Adagrad, biases, and a maximum number of trials per step.

Source: Kula, "Metadata Embeddings for User and Item Cold-start Recommendations", CBRecSys 2015; Weston, Bengio and
Usunier, "WSABIE", IJCAI 2011. A label counts once per image. The package is optional (`make setup-peers`).
"""

import numpy as np

from vsebench.data.problem import Problem
from vsebench.methods.base import Method, Progress
from vsebench.methods.by_labels.lightfm_model import LightfmSettings, new_lightfm, positives_of
from vsebench.models import Embeddings


class LightfmWarp(Method):
    """LightFM's WARP. It runs on one thread: with several, results depend on their timing."""

    settings_type = LightfmSettings
    needs = frozenset({"known_labels"})

    def __init__(self, problem: Problem, settings: LightfmSettings) -> None:
        self.positives = positives_of(problem.training.labels)
        self.lightfm = new_lightfm(settings, problem.seed)

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
