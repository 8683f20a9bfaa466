"""What methods share that train a network whose output is an image's vector in the space of the labels' vectors.

A score is the inner product of both vectors. Where `joint`, the vectors of the labels to learn are trained too. Labels
that are not to be learnt take no part: they are no negatives, and keep the vectors that training starts from, or those
that an update moves them to (`unseen_update`).
"""

from abc import abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import model_validator
from pydantic_core import PydanticCustomError

from vsebench.data.problem import Matrix, Problem
from vsebench.kernels.vectors import LANES
from vsebench.methods.networks.layers import Parameter
from vsebench.methods.networks.training import NetworkSettings, NetworkTraining
from vsebench.methods.words.unseen_words import UPDATES, Update, rescaled
from vsebench.methods.words.word_network import Score, WordNetwork
from vsebench.methods.words.word_vectors import WordSettings, label_vectors

ABSENT = 0.5  # the number of images that a label without a training image is taken to have


class WordNetworkSettings(NetworkSettings, WordSettings):
    """Settings of a network whose output is compared with the labels' vectors."""

    score: Score = "dot"  # the inner product or the cosine of an image's vector and a label's


class JointSettings(WordNetworkSettings):
    """Settings of a network that can be trained together with the labels' vectors."""

    joint: bool = False  # whether the labels' vectors are trained too
    # Where labels that are not learnt are moved to, after those that are; `unseen_words.py` has the updates.
    unseen_update: Update = "none"
    rescale: bool = False  # whether they get the median length of the trained vectors then

    @model_validator(mode="after")
    def _trained_vectors_to_follow(self) -> "JointSettings":
        if (self.unseen_update != "none" or self.rescale) and not self.joint:
            raise PydanticCustomError("joint", "unseen_update: fixed vectors do not move; set joint: true, or none")
        return self


class WordNetworkMethod(NetworkTraining):
    """A network and the labels' vectors; a method names its loss.

    Attributes
    ----------
    start : (n_labels, d) float32, the vectors of all labels that training starts from
    is_learnt : (n_labels,) bool, the labels to learn
    offsets, labels : the labels to learn of each image, counted from 0
    n_images_of : (n_learnt,) int64, the number of training images of each label to learn
    """

    needs = frozenset({"features", "words"})
    ranks_unseen = True
    settings_type: ClassVar[type[NetworkSettings]] = WordNetworkSettings
    settings: WordNetworkSettings

    def __init__(self, problem: Problem, settings: WordNetworkSettings) -> None:
        self.start = label_vectors(problem, settings)
        super().__init__(problem, settings)
        self.is_learnt = problem.training.learnt
        labels = self.seen.labels.columns(self.is_learnt)
        self.offsets = labels.offsets
        self.labels = np.concatenate([labels.label_of_pair, np.zeros(LANES, dtype=np.int32)])  # kernels read beyond
        self.n_images_of = np.bincount(labels.label_of_pair, minlength=labels.n_labels)

    def n_outputs(self, n_labels: int) -> int:
        """Return the dimensions of the labels' vectors."""
        return int(self.start.shape[1])

    def trained(self) -> Matrix:
        """Return the current vectors of the labels to learn, (n_learnt, d) float32."""
        vectors: Matrix = self.start[self.is_learnt]
        return vectors

    def unseen(self) -> Matrix:
        """Return the vectors of the labels that are not learnt, (n_labels - n_learnt, d) float32."""
        vectors: Matrix = self.start[~self.is_learnt]
        return vectors

    def added(self, n_images_of: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return what a label's score has beside the inner product, given its number of training images."""
        return np.zeros(len(n_images_of))

    def model(self) -> WordNetwork:
        *hidden, output = self.layers.arrays()
        vectors, n_images_of = np.empty_like(self.start), np.zeros(len(self.start))
        vectors[self.is_learnt], vectors[~self.is_learnt] = self.trained(), self.unseen()
        n_images_of[self.is_learnt] = self.n_images_of
        added = self.added(np.maximum(n_images_of, ABSENT))
        return WordNetwork.of(hidden, output, vectors, added, self.settings.score, self.seen.normalisation)


class JointMethod(WordNetworkMethod):
    """A network that can be trained together with the labels' vectors."""

    settings_type: ClassVar[type[NetworkSettings]] = JointSettings
    settings: JointSettings

    def unseen(self) -> Matrix:
        unseen = super().unseen()
        if (self.settings.unseen_update == "none" and not self.settings.rescale) or not len(unseen):
            return unseen
        before, after = (vectors.astype(np.float64) for vectors in (self.start[self.is_learnt], self.trained()))
        moved = UPDATES[self.settings.unseen_update](before, after, unseen.astype(np.float64))
        return (rescaled(after, moved) if self.settings.rescale else moved).astype(np.float32)


class AllLabelsMethod(JointMethod):
    """A network with a loss of the scores of all labels; trained vectors take AdamW's steps, without decay."""

    def __init__(self, problem: Problem, settings: JointSettings) -> None:
        super().__init__(problem, settings)
        self.vectors = Parameter.of(self.start[self.is_learnt], 0.0)
        self.added_in_training = self.added(np.maximum(self.n_images_of, ABSENT)).astype(np.float32)

    @abstractmethod
    def loss_of_labels(self, scores: Matrix, images: NDArray[np.int64]) -> float:
        """Return the sum of the losses of some images; write its derivatives over their scores, (m, n_learnt)."""

    def loss(self, scores: Matrix, images: NDArray[np.int64]) -> float:
        outputs, vectors = scores, self.vectors
        scores = outputs @ vectors.value.T
        scores += self.added_in_training
        total = self.loss_of_labels(scores, images)
        if self.settings.joint:
            vectors.gradient[...] = scores.T @ outputs / np.float32(len(images))
        outputs[...] = scores @ vectors.value
        if self.settings.joint:
            vectors.step(self.layers.n_steps + 1, self.settings.learning_rate)
        return total

    def trained(self) -> Matrix:
        return self.vectors.value


def refuse_cosine(settings: WordNetworkSettings, key: str) -> None:
    """Refuse a setting that adds something to scores, where these are cosines."""
    if settings.score == "cosine":
        raise PydanticCustomError("cosine", "{key}: nothing can be added to cosines; set score: dot", {"key": key})
