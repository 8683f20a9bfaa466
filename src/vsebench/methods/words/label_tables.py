"""Tables of label vectors, fixed or trained, with which a network's outputs are compared.

The outputs are an image's vector in the space of the labels' vectors. Labels that are not to be learnt take no part in
training: they are never negatives, and their vectors stay as they were at the start. After training, an update may move
these vectors (setting `unseen_update`). The table for losses on samples of labels is in `sampled_words.py`.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import model_validator
from pydantic_core import PydanticCustomError

from vsebench.data.features import Normalisation
from vsebench.data.problem import LabelMatrix, Matrix, Problem
from vsebench.methods.base import Settings
from vsebench.methods.networks.layers import Parameter
from vsebench.methods.networks.training import LabelTable
from vsebench.methods.words.unseen_words import Update, updated
from vsebench.methods.words.word_network import Score, WordNetwork
from vsebench.methods.words.word_vectors import label_vectors
from vsebench.models import Model

ABSENT = 0.5  # a label without training images counts as having this number of training images


class JointSettings(Settings):
    """Settings of label vectors that may be trained together with a network."""

    score: Score = "dot"  # the inner product or the cosine of an image's vector and a label's vector
    joint: bool = False  # whether the labels' vectors are trained too
    # How the vectors of labels that are not learnt are updated after training; `methods/words/unseen_words.py` defines
    # the updates.
    unseen_update: Update = "none"

    @model_validator(mode="after")
    def _trained_vectors_to_follow(self) -> "JointSettings":
        if self.unseen_update != "none" and not self.joint:
            raise PydanticCustomError(
                "joint", "unseen_update: applies only to trained vectors; set joint: true, or unseen_update: none"
            )
        return self


class FixedVectors(LabelTable):
    """A table of label vectors that are not trained.

    Attributes
    ----------
    start : (n_labels, d) float32, the initial vectors of all labels
    is_learnt : (n_labels,) bool, whether each label is to be learnt
    n_images_of : (n_learnt,) int64, the number of training images of each label to learn
    added : (n_labels,) float64, the offsets added to the labels' scores
    """

    needs = frozenset({"features", "word_vectors"})
    ranks_unseen = True

    def __init__(self, problem: Problem, settings: Any, labels: LabelMatrix) -> None:
        self.settings, self.is_learnt = settings, problem.training.learnt
        self.start = label_vectors(problem, settings)
        super().__init__(problem, settings, labels.columns(self.is_learnt))
        self.n_outputs = int(self.start.shape[1])
        self.n_images_of = np.bincount(self.labels.label_of_pair, minlength=self.labels.n_labels)
        self.added = np.zeros(len(self.start))

    def frequency(self) -> NDArray[np.float64]:
        """Return the number of training images of each label, (n_labels,), or `ABSENT` for a label that has none."""
        n_images_of = np.full(len(self.start), ABSENT)
        n_images_of[self.is_learnt] = np.maximum(self.n_images_of, ABSENT)
        return n_images_of

    def trained(self) -> Matrix:
        """Return the current vectors of the labels to learn, (n_learnt, d) float32."""
        vectors: Matrix = self.start[self.is_learnt]
        return vectors

    def unseen(self) -> Matrix:
        """Return the vectors of the labels that are not learnt, (n_labels - n_learnt, d) float32."""
        vectors: Matrix = self.start[~self.is_learnt]
        return vectors

    def model(self, hidden: Sequence[Matrix], last: Matrix, normalisation: Normalisation) -> Model:
        vectors = np.empty_like(self.start)
        vectors[self.is_learnt], vectors[~self.is_learnt] = self.trained(), self.unseen()
        return WordNetwork.of(hidden, last, vectors, self.added, self.settings.score, normalisation)


class JointVectors(FixedVectors):
    """Label vectors for a loss on the scores of all labels; they are trained with the network if `joint` is set."""

    def __init__(self, problem: Problem, settings: Any, labels: LabelMatrix) -> None:
        super().__init__(problem, settings, labels)
        self.vectors = Parameter.of(self.start[self.is_learnt], settings.decay, settings.optimiser)
        self.n_steps = 0

    def scores(self, outputs: Matrix) -> Matrix:
        """Return the scores of the labels to learn, (m, n_learnt) float32, for the network's outputs, (m, d)."""
        scores: Matrix = outputs @ self.vectors.value.T
        scores += self.added_in_training
        return scores

    @cached_property
    def added_in_training(self) -> NDArray[np.float32]:
        """The offsets that are added to the scores of the labels to learn, (n_learnt,)."""
        return self.added[self.is_learnt].astype(np.float32)

    def step(self, slopes: Matrix, outputs: Matrix) -> None:
        """Train the vectors if `joint` is set, and compute the derivatives with which the network is trained.

        `slopes`, (m, n_learnt), are the derivatives of the loss with respect to the scores. `outputs`, (m, d), are the
        network's outputs. They are overwritten with the derivatives of the loss with respect to the outputs.
        """
        by_outputs = slopes @ self.vectors.value
        if self.settings.joint:
            self.vectors.gradient[...] = slopes.T @ outputs / np.float32(len(outputs))
            self.n_steps += 1
            self.vectors.step(self.n_steps, self.settings.learning_rate)
        outputs[...] = by_outputs

    def trained(self) -> Matrix:
        return self.vectors.value

    def unseen(self) -> Matrix:
        return updated(super().unseen(), super().trained(), self.trained(), self.settings.unseen_update)


def no_cosines_with(key: str) -> Any:
    """Return a validator that refuses cosine scores if the setting `key` adds an offset to the scores."""

    def check(settings: Any) -> Any:
        if settings.score == "cosine" and getattr(settings, key) not in ("none", False):
            raise PydanticCustomError(
                "cosine", "{key}: an offset needs the setting `score: dot`, because cosines are bounded", {"key": key}
            )
        return settings

    return model_validator(mode="after")(check)
