"""Losses of a sample of labels, whose scores are inner products with word vectors, s_il = <f(x_i), v_l>.

q_l is the probability that a drawn positive of the image is l, and p_n(l) that a drawn negative is l.

Source: Ni and others, "Sampled image tagging and retrieval methods on user generated content", and the authors' code
(Lab41/attalos).
"""

from typing import ClassVar, Literal

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from vsebench.data.problem import Matrix
from vsebench.kernels.losses.sampled_words import WordTable, add_label_terms, published_steps, sampled_loss
from vsebench.methods.base import Settings
from vsebench.methods.networks.training import Images, Loss, NetworkSettings, network_with
from vsebench.methods.words.label_tables import JointSettings
from vsebench.methods.words.sampled_words import SampledVectors, SampleSettings
from vsebench.methods.words.word_vectors import WordSettings


class SFast0TagSettings(SampleSettings, JointSettings, NetworkSettings, WordSettings):
    """Settings of the logistic loss of a sample of labels."""


class SXEntSettings(SampleSettings, JointSettings, NetworkSettings, WordSettings):
    """Settings of the cross-entropy of a sample of labels."""

    # `mean`: positives together weigh as much as negatives, w = 1. `sum`: every draw weighs the same, w = N / P.
    weights: Literal["mean", "sum"] = "mean"
    label_terms: float = Field(default=0.0, ge=0)  # alpha, the weight of the terms between labels; 0.01 in the paper

    @model_validator(mode="after")
    def _no_terms_of_fixed_vectors(self) -> "SXEntSettings":
        if self.label_terms and not self.joint:
            raise PydanticCustomError(
                "label_terms", "label_terms: they have no effect on fixed vectors; set 0.0, or `joint: true`"
            )
        return self


class SOptXEntPublishedSettings(SampleSettings, JointSettings, NetworkSettings, WordSettings):
    """Settings of sampled cross-entropy as in the authors' code."""

    joint: Literal[True] = True
    # `mean`: positives together weigh as much as negatives, w = 1. `sum`: every draw weighs the same, w = N / P.
    weights: Literal["mean", "sum"] = "mean"


class SXEnt(Loss):
    """S+X-Ent, Eq. S5, and with `joint` S+Opt+X-Ent, Eq. 1: the binary cross-entropy of a sample of labels.

        L_i = - 1/P sum over P drawn positives log sig(s_ip) - w/N sum over N drawn negatives log sig(-s_in)

    Scores without constraints have their minimum at

        exp(s_l) = q_l / (w p_n(l))

    P and N change the noise of the gradient, but not this minimum. If negatives are drawn by frequency
    (`negative_power` 1, as in the paper), exp(s_l) is a lift: frequent labels are pushed down and rare labels up. With
    `negative_power` 0, or if the ranking corrects for the frequency (`correct_for_frequency`), labels are ranked by
    q_l, just as full cross-entropy ranks them by probability. With `exclude: positives`, p_n(l) is proportional to
    c_l^a (1 - P(l in Y | x)).

    With `label_terms`, alpha, vectors of labels that are drawn together attract each other and repel those of
    negatives:

        alpha (mean over p, p' of log(1 + exp(-<v_p, v_p'>)) + mean over p, n of log(1 + exp(<v_p, v_n>)))

    For the network the authors' code uses means, while Eq. 1 has sums. As printed, the terms between labels have no
    logarithm, and alpha multiplies only one of them; the authors' code has no such terms.
    """

    settings_type: ClassVar[type[Settings]] = SXEntSettings
    table_type = SampledVectors

    def prepare(self) -> None:
        if self.settings.label_terms:
            self.table.word_vectors = self.table.new_words(with_terms=True)

    @property
    def weight(self) -> float:
        """The weight of the mean over negatives, w."""
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

    For scores without constraints, the minimum has s_a - s_b = log(q_a / p_n(a)) - log(q_b / p_n(b)). Up to a constant
    per image, this is the minimum of `SXEnt`: the lift. Training the vectors too (`joint`) is our addition.
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

    The network takes Adam's steps on the loss of `SXEnt`. The vectors of the drawn labels take plain gradient steps
    with the same learning rate, image by image, which are not divided by the numbers of draws and images: with P = 5,
    N = 10 and batches of 128 images they are 640 times (positives) and 1,280 times (negatives) as long as steps on that
    loss. A label that was drawn twice for an image moves once, and vectors do not decay.

    The authors' code also draws batches with replacement, counts test images in the negatives' frequencies, and treats
    an image without labels as if it had the last label; this method does none of that.
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
