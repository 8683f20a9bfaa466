"""What `s_x_ent` and `s_fast0tag` share: a loss of a sample of each image's labels, drawn anew at every visit.

A step touches the drawn labels' vectors alone, and a draw takes the same time for any number of labels. Where the
vectors are trained, Adam moves those that were drawn for a batch.
"""

from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from vsebench.data.problem import Matrix, Problem
from vsebench.data.streams import Stream
from vsebench.kernels.alias import AliasTable
from vsebench.kernels.losses.label_sample import BATCH, DRAWN, NEXT_IMAGE, NOTHING, POSITIVES, sample_labels
from vsebench.kernels.losses.sampled_words import WordTable, add_label_terms, move_touched, sampled_loss
from vsebench.kernels.random_numbers import new_state
from vsebench.methods.networks.training import NetworkSettings
from vsebench.methods.words.word_networks import JointMethod, JointSettings, refuse_cosine

EXCLUDE = {
    "none": NOTHING,
    "drawn": DRAWN,
    "positives": POSITIVES,
    "batch": BATCH,
    "next_image": NEXT_IMAGE,
}


class SampledWordSettings(JointSettings):
    """Settings of a loss of a sample of labels."""

    positives: int = Field(default=5, ge=1)  # P, of an image's labels, with replacement
    negatives: int = Field(default=10, ge=1)  # N, drawn for each image
    negative_power: float = Field(default=1.0, ge=0)  # a; the chance of a negative is in proportion to c_l^a
    # What is drawn again when it is drawn as a negative: nothing, the image's drawn positives, all its labels, or the
    # drawn positives of the whole batch. With `next_image` negatives are labels of the next image of the batch.
    exclude: Literal["none", "drawn", "positives", "batch", "next_image"] = "positives"
    # Whether labels are ranked by s_l + a log(c_l), which takes back that frequent labels are drawn as negatives often.
    correct_for_frequency: bool = False

    @model_validator(mode="after")
    def _no_correction_of_cosines(self) -> "SampledWordSettings":
        if self.correct_for_frequency:
            refuse_cosine(self, "correct_for_frequency")
        return self

    @model_validator(mode="after")
    def _no_power_of_the_next_image(self) -> "SampledWordSettings":
        if self.exclude == "next_image" and self.negative_power != 1:
            raise PydanticCustomError(
                "next_image",
                "negative_power: labels of the next image come by their frequency; set 1.0, or another `exclude`",
            )
        return self


class SampledWordMethod(JointMethod):
    """A network with a loss of a sample of labels; images with no label or every label are left out of it."""

    settings_type: ClassVar[type[NetworkSettings]] = SampledWordSettings
    settings: SampledWordSettings
    pairwise: ClassVar[bool]

    def __init__(self, problem: Problem, settings: SampledWordSettings) -> None:
        super().__init__(problem, settings)
        n_drawn = settings.positives + settings.negatives
        draws = (settings.batch, n_drawn) if settings.joint else None
        self.table = WordTable.of(self.start[self.is_learnt], draws, with_terms=self.weight_of_labels > 0)
        self.negatives = AliasTable.of(self.n_images_of.astype(np.float64) ** settings.negative_power)
        self.chosen = np.empty((settings.batch, n_drawn), dtype=np.int32)
        self.in_batch = np.zeros(len(self.n_images_of) if settings.exclude == "batch" else 0, dtype=np.bool_)
        self.rng = new_state(problem.seed, Stream.NEGATIVES)

    @property
    def weight(self) -> float:
        """The weight of the mean over negatives, beside that over positives."""
        return 1.0

    @property
    def weight_of_labels(self) -> float:
        """The weight of the terms of labels alone."""
        return 0.0

    def draw(self, images: NDArray[np.int64]) -> NDArray[np.int32]:
        """Return a new sample of the labels of some images, (m, P + N), as `sample_labels` has it."""
        settings, chosen = self.settings, self.chosen[: len(images)]
        sample_labels(
            chosen, settings.positives, images, self.offsets, self.labels, self.negatives, EXCLUDE[settings.exclude],
            self.in_batch, self.rng,
        )  # fmt: skip
        return chosen

    def loss(self, scores: Matrix, images: NDArray[np.int64]) -> float:
        settings, chosen = self.settings, self.draw(images)
        total, n_touched = sampled_loss(scores, chosen, settings.positives, self.weight, self.pairwise, self.table)
        if self.weight_of_labels:
            total += add_label_terms(chosen, settings.positives, self.weight_of_labels, self.table)
        move_touched(self.table, n_touched, len(images), self.layers.n_steps + 1, settings.learning_rate)
        return float(total)

    def added(self, n_images_of: NDArray[np.float64]) -> NDArray[np.float64]:
        if not self.settings.correct_for_frequency:
            return super().added(n_images_of)
        logs: NDArray[np.float64] = np.log(n_images_of / n_images_of.max())
        return self.settings.negative_power * logs

    def trained(self) -> Matrix:
        vectors: Matrix = self.table.vectors[:, : self.start.shape[1]]
        return vectors
