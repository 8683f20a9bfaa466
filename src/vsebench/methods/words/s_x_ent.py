"""Binary cross-entropy of a sample of labels, whose scores are inner products with fixed or trained word vectors.

    L_i = - 1/P sum over P drawn positives log sig(s_ip) - w/N sum over N drawn negatives log sig(-s_in)

If q_l is the probability that a drawn positive of the image is l, and p_n(l) that a drawn negative is l, scores without
constraints have their minimum at

    exp(s_l) = q_l / (w p_n(l))

P and N change the noise of the gradient, but not this minimum. If negatives are drawn by frequency (`negative_power` 1,
as in the paper), exp(s_l) is a lift: frequent labels are pushed down and rare labels up. With `negative_power` 0, or if
the ranking corrects for the frequency (`correct_for_frequency`), labels are ranked by q_l, just as full cross-entropy
ranks them by probability. With `exclude: positives`, p_n(l) is proportional to c_l^a (1 - P(l in Y | x)).

With `label_terms`, alpha, vectors of labels that are drawn together attract each other and repel those of negatives:

    alpha (mean over p, p' of log(1 + exp(-<v_p, v_p'>)) + mean over p, n of log(1 + exp(<v_p, v_n>)))

Source: Ni and others, "Sampled image tagging and retrieval methods on user generated content", Eq. S5: S+X-Ent, and
with `joint` Eq. 1, S+Opt+X-Ent. For the network the authors' code uses means, while Eq. 1 has sums. As printed, the
terms between labels have no logarithm, and alpha multiplies only one of them; the authors' code has no such terms.
"""

from typing import ClassVar, Literal

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from vsebench.data.problem import Matrix
from vsebench.kernels.losses.sampled_words import add_label_terms, sampled_loss
from vsebench.methods.base import Settings
from vsebench.methods.networks.training import Images, Loss, NetworkSettings, network_with
from vsebench.methods.words.label_tables import JointSettings
from vsebench.methods.words.sampled_words import SampledVectors, SampleSettings
from vsebench.methods.words.word_vectors import WordSettings


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


class SXEnt(Loss):
    """The binary cross-entropy of a sample of labels."""

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


METHOD = network_with(SXEnt)
