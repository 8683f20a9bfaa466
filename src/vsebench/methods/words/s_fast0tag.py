"""Fast0Tag over a sample of labels: the logistic loss of all pairs of a drawn positive and a drawn negative.

    L_i = 1 / (P N) sum over P drawn positives p and N drawn negatives n of log(1 + exp(s_in - s_ip))

For scores without constraints, the minimum has s_a - s_b = log(q_a / p_n(a)) - log(q_b / p_n(b)), where q_l is the
probability that a drawn positive of the image is l, and p_n(l) that a drawn negative is l. Up to a constant per image,
this is the minimum of `s_x_ent`: the lift.

Source: Ni and others, "Sampled image tagging and retrieval methods on user generated content", Eq. 3: S+Fast0Tag.
Training the vectors too (`joint`) is our addition.
"""

from vsebench.data.problem import Matrix
from vsebench.kernels.losses.sampled_words import sampled_loss
from vsebench.methods.networks.training import Images, Loss, NetworkSettings, network_with
from vsebench.methods.words.label_tables import JointSettings
from vsebench.methods.words.sampled_words import SampledVectors, SampleSettings
from vsebench.methods.words.word_vectors import WordSettings


class SFast0TagSettings(SampleSettings, JointSettings, NetworkSettings, WordSettings):
    """Settings of the logistic loss of a sample of labels."""


class SFast0Tag(Loss):
    """The logistic loss of the pairs of a sample of labels."""

    settings_type = SFast0TagSettings
    table_type = SampledVectors

    def __call__(self, outputs: Matrix, images: Images) -> float:
        table, chosen = self.table, self.table.draw(images)
        total, n_drawn = sampled_loss(outputs, chosen, self.settings.positives, 1.0, True, table.word_vectors)
        table.move(n_drawn, len(images))
        return float(total)


METHOD = network_with(SFast0Tag)
