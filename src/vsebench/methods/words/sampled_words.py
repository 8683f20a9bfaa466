"""The table of label vectors for losses of label samples, which are drawn anew at every visit to an image.

A step reads only the drawn labels' vectors, and the time of a draw does not depend on the number of labels. If vectors
are trained, AdamW moves those of the labels that were drawn for the batch, which also decay.
"""

from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from vsebench.data.problem import LabelMatrix, Matrix, Problem
from vsebench.data.streams import Stream, generator
from vsebench.kernels.alias import AliasTable
from vsebench.kernels.losses.label_sample import BATCH, DRAWN, NEXT_IMAGE, NOTHING, POSITIVES, sample_labels
from vsebench.kernels.losses.sampled_words import WordTable, move_touched
from vsebench.kernels.random_numbers import new_state
from vsebench.methods.base import Settings
from vsebench.methods.networks.training import Images
from vsebench.methods.words.label_tables import FixedVectors, no_cosines_with
from vsebench.methods.words.unseen_words import updated

EXCLUDE = {"none": NOTHING, "drawn": DRAWN, "positives": POSITIVES, "batch": BATCH, "next_image": NEXT_IMAGE}


class SampleSettings(Settings):
    """Settings of a sample of labels."""

    positives: int = Field(default=5, ge=1)  # P, drawn from the image's labels with replacement
    negatives: int = Field(default=10, ge=1)  # N, drawn for each image
    negative_power: float = Field(default=1.0, ge=0)  # a; label l is drawn with a probability proportional to c_l^a
    # Labels that cannot be negatives: none, the image's drawn positives, all its labels, or the drawn positives of the
    # whole batch. With `next_image` the negatives are labels of the next image of the batch.
    exclude: Literal["none", "drawn", "positives", "batch", "next_image"] = "positives"
    # Number of labels drawn at the start of each epoch, from which the negatives of the epoch are drawn; none:
    # negatives are drawn from all labels.
    presampled: int | None = Field(default=None, ge=1)
    # Whether labels are ranked by s_l + a log(c_l), since frequent labels are often drawn as negatives.
    correct_for_frequency: bool = False

    _no_correction_of_cosines = no_cosines_with("correct_for_frequency")

    @model_validator(mode="after")
    def _adamw_for_drawn_vectors(self) -> "SampleSettings":
        if getattr(self, "joint", False) and getattr(self, "optimiser", "adamw") != "adamw":
            raise PydanticCustomError(
                "optimiser", "optimiser: vectors of sampled labels are trained by AdamW; set adamw, or `joint: false`"
            )
        return self

    @model_validator(mode="after")
    def _no_power_of_the_next_image(self) -> "SampleSettings":
        if self.exclude == "next_image" and self.negative_power != 1:
            raise PydanticCustomError(
                "next_image",
                "negative_power: with `exclude: next_image` labels are drawn by their frequency; set 1.0, or another"
                " `exclude`",
            )
        return self

    @model_validator(mode="after")
    def _no_presample_of_the_next_image(self) -> "SampleSettings":
        if self.exclude == "next_image" and self.presampled is not None:
            raise PydanticCustomError(
                "next_image",
                "presampled: with `exclude: next_image` negatives are the next image's labels; set null, or another"
                " `exclude`",
            )
        return self


class SampledVectors(FixedVectors):
    """Label vectors for a loss of drawn labels; images without labels or with all labels have no loss."""

    def __init__(self, problem: Problem, settings: Any, labels: LabelMatrix) -> None:
        super().__init__(problem, settings, labels)
        self.n_steps = 0
        self.weights = self.n_images_of.astype(np.float64) ** settings.negative_power
        self.negatives = AliasTable.of(self.weights)
        self.presample = generator(problem.seed, Stream.PRESAMPLE)
        self.chosen = np.empty((settings.batch, settings.positives + settings.negatives), dtype=np.int32)
        self.in_batch = np.zeros(len(self.n_images_of) if settings.exclude == "batch" else 0, dtype=np.bool_)
        self.rng = new_state(problem.seed, Stream.NEGATIVES)
        if settings.correct_for_frequency:
            self.added = settings.negative_power * np.log(self.frequency() / self.frequency().max())

    @cached_property
    def word_vectors(self) -> WordTable:
        """The vectors of the labels to learn, in the kernels' format; a loss can replace the table."""
        return self.new_words()

    def new_words(self, with_terms: bool = False) -> WordTable:
        """Return the initial vectors, with memory for Adam's running means if they are trained."""
        settings = self.settings
        draws = (settings.batch, settings.positives + settings.negatives) if settings.joint else None
        return WordTable.of(self.start[self.is_learnt], draws, with_terms)

    def start_epoch(self) -> None:
        if self.settings.presampled is not None:
            shares = self.weights / self.weights.sum()
            draws = self.presample.multinomial(self.settings.presampled, shares)
            self.negatives = AliasTable.of(draws.astype(np.float64))

    def draw(self, images: Images) -> NDArray[np.int32]:
        """Return a new sample of labels for each image, (m, P + N); see `sample_labels`."""
        n_positives, exclude = self.settings.positives, EXCLUDE[self.settings.exclude]
        chosen = self.chosen[: len(images)]
        sample_labels(chosen, n_positives, images, *self.lists, self.negatives, exclude, self.in_batch, self.rng)
        return chosen

    def move(self, n_drawn: int, n_images: int) -> None:
        """Take AdamW's step on the vectors of the drawn labels; `n_drawn` is 0 if the vectors are fixed."""
        self.n_steps += 1
        settings = self.settings
        move_touched(self.word_vectors, n_drawn, n_images, self.n_steps, settings.learning_rate, settings.decay)

    def trained(self) -> Matrix:
        vectors: Matrix = self.word_vectors.vectors[:, : self.n_outputs]
        return vectors

    def unseen(self) -> Matrix:
        update, rescale = self.settings.unseen_update, self.settings.rescale
        return updated(super().unseen(), super().trained(), self.trained(), update, rescale)
