"""The table of label vectors for a loss of a sample of each image's labels, drawn anew at every visit.

A step touches the drawn labels' vectors alone, and a draw takes the same time for any number of labels. Where the
vectors are trained, Adam moves those that were drawn for a batch.
"""

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from vsebench.data.problem import LabelMatrix, Matrix, Problem
from vsebench.data.streams import Stream
from vsebench.kernels.alias import AliasTable
from vsebench.kernels.losses.label_sample import BATCH, DRAWN, NEXT_IMAGE, NOTHING, POSITIVES, sample_labels
from vsebench.kernels.losses.sampled_words import WordTable, move_touched
from vsebench.kernels.random_numbers import new_state
from vsebench.methods.base import Settings
from vsebench.methods.networks.training import Images
from vsebench.methods.words.label_tables import WordVectors

EXCLUDE = {"none": NOTHING, "drawn": DRAWN, "positives": POSITIVES, "batch": BATCH, "next_image": NEXT_IMAGE}


class SampleSettings(Settings):
    """Settings of a sample of labels."""

    positives: int = Field(default=5, ge=1)  # P, of an image's labels, with replacement
    negatives: int = Field(default=10, ge=1)  # N, drawn for each image
    negative_power: float = Field(default=1.0, ge=0)  # a; the chance of a negative is in proportion to c_l^a
    # What is drawn again when it is drawn as a negative: nothing, the image's drawn positives, all its labels, or the
    # drawn positives of the whole batch. With `next_image` negatives are labels of the next image of the batch.
    exclude: Literal["none", "drawn", "positives", "batch", "next_image"] = "positives"
    # Whether labels are ranked by s_l + a log(c_l), which takes back that frequent labels are drawn as negatives often.
    correct_for_frequency: bool = False

    @model_validator(mode="after")
    def _no_power_of_the_next_image(self) -> "SampleSettings":
        if self.exclude == "next_image" and self.negative_power != 1:
            raise PydanticCustomError(
                "next_image",
                "negative_power: labels of the next image come by their frequency; set 1.0, or another `exclude`",
            )
        return self


class SampledVectors(WordVectors):
    """Label vectors for a loss of drawn labels; images with no label or every label take no part in it.

    Attributes
    ----------
    words : the vectors of the labels to learn, for kernels
    """

    def __init__(self, problem: Problem, settings: Any, labels: LabelMatrix) -> None:
        super().__init__(problem, settings, labels)
        self.words, self.n_steps = self.new_words(), 0
        self.negatives = AliasTable.of(self.n_images_of.astype(np.float64) ** settings.negative_power)
        self.chosen = np.empty((settings.batch, settings.positives + settings.negatives), dtype=np.int32)
        self.in_batch = np.zeros(len(self.n_images_of) if settings.exclude == "batch" else 0, dtype=np.bool_)
        self.rng = new_state(problem.seed, Stream.NEGATIVES)
        if settings.correct_for_frequency:
            self.added = settings.negative_power * np.log(self.frequency() / self.frequency().max())

    def new_words(self, with_terms: bool = False) -> WordTable:
        """Return the vectors as training starts, with room for Adam's memory if they are trained."""
        settings = self.settings
        draws = (settings.batch, settings.positives + settings.negatives) if settings.joint else None
        return WordTable.of(self.start[self.is_learnt], draws, with_terms)

    def draw(self, images: Images) -> NDArray[np.int32]:
        """Return a new sample of the labels of some images, (m, P + N), as `sample_labels` has it."""
        n_positives, exclude = self.settings.positives, EXCLUDE[self.settings.exclude]
        chosen = self.chosen[: len(images)]
        sample_labels(chosen, n_positives, images, *self.lists, self.negatives, exclude, self.in_batch, self.rng)
        return chosen

    def move(self, n_drawn: int, n_images: int) -> None:
        """Take Adam's step on the vectors of the drawn labels; `n_drawn` is 0 where the vectors are fixed."""
        self.n_steps += 1
        move_touched(self.words, n_drawn, n_images, self.n_steps, self.settings.learning_rate)

    def trained(self) -> Matrix:
        vectors: Matrix = self.words.vectors[:, : self.n_outputs]
        return vectors
