"""Losses on samples of labels, and the table of label vectors for these losses.

Each time an image is visited, a new sample of labels is drawn for it. A step reads only the vectors of the drawn
labels, and the time of a draw does not depend on the number of labels. If vectors are trained, AdamW moves and decays
only the vectors of the labels drawn for the batch.

The score of label l for image i is the inner product s_il = <f(x_i), v_l> of the network's outputs for the features x_i
and the label's vector. In the formulas below, q_l is the probability that a drawn positive of the image is l, and
p_n(l) is the probability that a drawn negative is l.

Source: Ni and others, "Sampled image tagging and retrieval methods on user generated content", and the authors' code
(Lab41/attalos).
"""

from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from vsebench.data.problem import LabelMatrix, Matrix, Problem
from vsebench.data.streams import Stream, generator
from vsebench.kernels.alias import AliasTable
from vsebench.kernels.losses.label_sample import BATCH, DRAWN, NEXT_IMAGE, NOTHING, POSITIVES, sample_labels
from vsebench.kernels.losses.sampled_words import (
    WordTable,
    add_label_terms,
    move_touched,
    published_steps,
    sampled_loss,
)
from vsebench.kernels.random_numbers import new_state
from vsebench.methods.base import Settings
from vsebench.methods.networks.training import Images, Loss, NetworkSettings, network_with
from vsebench.methods.words.label_tables import FixedVectors, JointSettings, no_cosines_with
from vsebench.methods.words.unseen_words import updated
from vsebench.methods.words.word_vectors import WordSettings

EXCLUDE = {"none": NOTHING, "drawn": DRAWN, "positives": POSITIVES, "batch": BATCH, "next_image": NEXT_IMAGE}


class SampleSettings(Settings):
    """Settings of the sampling of labels."""

    positives: int = Field(default=5, ge=1)  # P, the number of positives drawn from an image's labels, with replacement
    negatives: int = Field(default=10, ge=1)  # N, the number of negatives drawn for each image
    negative_power: float = Field(
        default=1.0, ge=0, le=10
    )  # the exponent a: label l is drawn as a negative in proportion to c_l^a, where c_l is its number of images
    # Labels that cannot be negatives of an image: no labels (`none`), the image's drawn positives (`drawn`), all the
    # image's labels (`positives`), or the drawn positives of the whole batch (`batch`). With `next_image`, negatives
    # are labels of the next image in the batch.
    exclude: Literal["none", "drawn", "positives", "batch", "next_image"] = "positives"
    # Number of labels drawn at the start of each epoch. The negatives of the epoch are drawn from these labels, or, if
    # this is null, from all labels.
    presampled: int | None = Field(default=None, ge=1)
    # Whether log(c_l^a) is added to the score of label l before labels are ranked (c_l and a: see `negative_power`).
    # This makes up for the lower scores of frequent labels, which are often drawn as negatives.
    correct_for_frequency: bool = False

    _no_correction_of_cosines = no_cosines_with("correct_for_frequency")

    @model_validator(mode="after")
    def _adamw_for_drawn_vectors(self) -> "SampleSettings":
        if getattr(self, "joint", False) and getattr(self, "optimiser", "adamw") != "adamw":
            raise PydanticCustomError(
                "optimiser", "optimiser: only AdamW trains vectors of sampled labels; set `adamw`, or `joint: false`"
            )
        return self

    @model_validator(mode="after")
    def _no_power_of_the_next_image(self) -> "SampleSettings":
        if self.exclude == "next_image" and self.negative_power != 1:
            raise PydanticCustomError(
                "next_image",
                "negative_power: with `exclude: next_image`, labels are drawn by frequency; set 1.0, or another"
                " `exclude`",
            )
        return self

    @model_validator(mode="after")
    def _no_presample_of_the_next_image(self) -> "SampleSettings":
        if self.exclude == "next_image" and self.presampled is not None:
            raise PydanticCustomError(
                "next_image",
                "presampled: with `exclude: next_image`, negatives are the next image's labels and are not sampled; set"
                " `presampled: null`, or another `exclude`",
            )
        return self


class SampledVectors(FixedVectors):
    """A table of label vectors for losses on drawn labels.

    An image without a sample (see `sample_labels`) adds nothing to the loss, and does not move the vectors.
    """

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
        """The vectors of the labels to learn in the kernels' format: a table that a loss may replace."""
        return self.new_words()

    def new_words(self, with_terms: bool = False) -> WordTable:
        """Return a new table with the initial vectors of the labels to learn.

        If the vectors are trained, the table also has memory for Adam's running means. `with_terms` says whether the
        loss has terms between labels.
        """
        settings = self.settings
        draws = (settings.batch, settings.positives + settings.negatives) if settings.joint else None
        return WordTable.of(self.start[self.is_learnt], draws, with_terms)

    def start_epoch(self) -> None:
        if self.settings.presampled is not None:
            shares = self.weights / self.weights.sum()
            draws = self.presample.multinomial(self.settings.presampled, shares)
            self.negatives = AliasTable.of(draws.astype(np.float64))

    def draw(self, images: Images) -> NDArray[np.int32]:
        """Draw a new sample of labels for each image, and return the samples, (m, P + N).

        Each row contains first the positives and then the negatives of an image. P and N are the settings `positives`
        and `negatives`. The row of an image without a sample starts with -1 (see `sample_labels`). The next call
        overwrites the returned array.
        """
        n_positives, exclude = self.settings.positives, EXCLUDE[self.settings.exclude]
        chosen = self.chosen[: len(images)]
        sample_labels(chosen, n_positives, images, *self.lists, self.negatives, exclude, self.in_batch, self.rng)
        return chosen

    def move(self, n_drawn: int, n_images: int) -> None:
        """Take an AdamW step on the vectors of the labels drawn for a batch of `n_images` images.

        `n_drawn` is the number of different labels drawn, or 0 if the vectors are fixed.
        """
        self.n_steps += 1
        settings = self.settings
        move_touched(self.word_vectors, n_drawn, n_images, self.n_steps, settings.learning_rate, settings.decay)

    def trained(self) -> Matrix:
        vectors: Matrix = self.word_vectors.vectors[:, : self.n_outputs]
        return vectors

    def unseen(self) -> Matrix:
        return updated(super().unseen(), super().trained(), self.trained(), self.settings.unseen_update)


class SFast0TagSettings(SampleSettings, JointSettings, NetworkSettings, WordSettings):
    """Settings of the logistic loss on a sample of labels."""


class SXEntSettings(SampleSettings, JointSettings, NetworkSettings, WordSettings):
    """Settings of the cross-entropy over a sample of labels."""

    # Determines w, the weight of the mean over negatives. With `mean`, w is 1: all positives together weigh as much as
    # all negatives together. With `sum`, w is the number of drawn negatives divided by that of drawn positives: all
    # drawn labels weigh the same.
    weights: Literal["mean", "sum"] = "mean"
    label_terms: float = Field(default=0.0, ge=0)  # alpha, the weight of the terms between labels; 0.01 in the paper

    @model_validator(mode="after")
    def _no_terms_of_fixed_vectors(self) -> "SXEntSettings":
        if self.label_terms and not self.joint:
            raise PydanticCustomError(
                "label_terms", "label_terms: has no effect on fixed vectors; set 0.0, or `joint: true`"
            )
        return self


class SOptXEntPublishedSettings(SampleSettings, JointSettings, NetworkSettings, WordSettings):
    """Settings of sampled cross-entropy as in the code of Ni and others."""

    joint: Literal[True] = True
    # Determines w, the weight of the mean over negatives. With `mean`, w is 1: all positives together weigh as much as
    # all negatives together. With `sum`, w is the number of drawn negatives divided by that of drawn positives: all
    # drawn labels weigh the same.
    weights: Literal["mean", "sum"] = "mean"


class SXEnt(Loss):
    """S+X-Ent, Eq. S5: the binary cross-entropy of a sample of labels.

        L_i = - 1/P sum over P drawn positives log sig(s_ip) - w/N sum over N drawn negatives log sig(-s_in)

    L_i is the loss of image i, and sig is the sigmoid. The setting `weights` determines w; the module defines s, q and
    p_n. With `joint`, the label vectors are trained too, and the method is S+Opt+X-Ent, Eq. 1.

    For unconstrained scores, the minimum is at

        exp(s_l) = q_l / (w p_n(l))

    For a fixed w, P and N change only the noise of the gradient, not this minimum. If negatives are drawn by frequency
    (`negative_power` 1, as in the paper), exp(s_l) is a lift: a probability divided by a frequency. Compared with a
    ranking by probability, frequent labels are then ranked lower, and rare labels higher. With `negative_power` 0, or
    if the ranking corrects for the frequency (`correct_for_frequency`), labels are ranked by q_l, just as full
    cross-entropy ranks them by probability. With `exclude: positives`, p_n(l) is proportional to
    c_l^a (1 - P(l in Y | x)), where a is `negative_power`, c_l is the number of training images with label l, and Y are
    the image's labels.

    With `label_terms` (alpha), the loss has additional terms. They make the vectors of an image's drawn positives p and
    p' attract each other, and repel the vectors of its drawn negatives n:

        alpha (mean over p, p' of log(1 + exp(-<v_p, v_p'>)) + mean over p, n of log(1 + exp(<v_p, v_n>)))

    For the network, the authors' code uses means where Eq. 1 has sums. In the printed Eq. 1, the terms between labels
    have no logarithm, and alpha multiplies only one of them. The authors' code does not have these terms.
    """

    settings_type: ClassVar[type[Settings]] = SXEntSettings
    table_type = SampledVectors

    def prepare(self) -> None:
        if self.settings.label_terms:
            self.table.word_vectors = self.table.new_words(with_terms=True)

    @property
    def weight(self) -> float:
        """The weight w of the mean over negatives."""
        return 1.0 if self.settings.weights == "mean" else self.settings.negatives / self.settings.positives

    def __call__(self, outputs: Matrix, images: Images) -> float:
        settings, table, chosen = self.settings, self.table, self.table.draw(images)
        total, n_drawn = sampled_loss(outputs, chosen, settings.positives, self.weight, False, table.word_vectors)
        if settings.label_terms:
            total += add_label_terms(chosen, settings.positives, settings.label_terms, table.word_vectors)
        table.move(n_drawn, len(images))
        return float(total)


class SFast0Tag(Loss):
    """S+Fast0Tag, Eq. 3: the logistic loss of all pairs of a drawn positive and a drawn negative.

        L_i = 1 / (P N) sum over P drawn positives p and N drawn negatives n of log(1 + exp(s_in - s_ip))

    L_i is the loss of image i; the module defines s, q and p_n. For unconstrained scores, s_a - s_b = log(q_a / p_n(a))
    - log(q_b / p_n(b)) at the minimum, for any two labels a and b. Up to a constant per image, this is the minimum of
    `SXEnt`. Training the vectors too (`joint`) is our addition.
    """

    settings_type = SFast0TagSettings
    table_type = SampledVectors

    def __call__(self, outputs: Matrix, images: Images) -> float:
        table, chosen = self.table, self.table.draw(images)
        total, n_drawn = sampled_loss(outputs, chosen, self.settings.positives, 1.0, True, table.word_vectors)
        table.move(n_drawn, len(images))
        return float(total)


class SOptXEntPublished(SXEnt):
    """S+Opt+X-Ent as in the authors' code, where the network and the vectors minimise different losses.

    The network takes Adam steps on the loss of `SXEnt`. The vectors of the drawn labels take plain gradient steps with
    the same learning rate, image by image. These steps are not divided by the numbers of draws and images. With P = 5
    drawn positives, N = 10 drawn negatives and batches of 128 images, for example, the step of a positive is 640 times
    as long as a gradient step on the loss of `SXEnt`, and the step of a negative 1,280 times. If a label is drawn
    several times among an image's positives, or among its negatives, it is moved only once for these draws. The vectors
    do not decay.

    The authors' code also draws batches with replacement, counts test images in the negatives' frequencies, and treats
    an image without labels as if it had the last label. This method does none of these.
    """

    settings_type = SOptXEntPublishedSettings

    def prepare(self) -> None:
        self.table.word_vectors = WordTable.of(self.table.trained())  # without Adam's running means

    def __call__(self, outputs: Matrix, images: Images) -> float:
        settings, word_vectors, chosen = self.settings, self.table.word_vectors, self.table.draw(images)
        vectors_of_images = outputs.copy()
        total, _ = sampled_loss(outputs, chosen, settings.positives, self.weight, False, word_vectors)
        published_steps(word_vectors.vectors, vectors_of_images, chosen, settings.positives, settings.learning_rate)
        return float(total)


METHODS = {
    "s_x_ent": network_with(SXEnt),
    "s_fast0tag": network_with(SFast0Tag),
    "s_opt_x_ent_published": network_with(SOptXEntPublished),
}
