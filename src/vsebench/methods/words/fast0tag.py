"""Fast0Tag: the logistic loss of all pairs of a positive and a negative label, with word vectors.

    L_i = 1 / (n_i (L - n_i)) sum over the image's labels p and all other labels n of log(1 + exp(s_in - s_ip)),
    s_il = <f(x_i), v_l>

n_i is the number of the image's labels. An image takes n_i (L - n_i) exponentials, one per pair. In the papers the
vectors are fixed; training them too (`joint`) is our addition.

Source: Zhang, Gong and Shah, "Fast zero-shot image tagging", CVPR 2016, Eq. 6. Ni and others, "Sampled image tagging
and retrieval methods on user generated content", print the loss as Eq. 3, without the weight.
"""

from vsebench.data.problem import Matrix
from vsebench.kernels.losses.pairs import pair_logistic_loss
from vsebench.methods.networks.training import Images, Loss, NetworkSettings, network_with
from vsebench.methods.words.label_tables import JointSettings, JointVectors
from vsebench.methods.words.word_vectors import WordSettings


class Fast0TagSettings(JointSettings, NetworkSettings, WordSettings):
    """Settings of the logistic loss of all pairs."""


class Fast0Tag(Loss):
    """The logistic loss of all pairs."""

    settings_type = Fast0TagSettings
    table_type = JointVectors

    def __call__(self, outputs: Matrix, images: Images) -> float:
        scores = self.table.scores(outputs)
        total = pair_logistic_loss(scores, images, *self.lists, self.scratch)
        self.table.step(scores, outputs)
        return float(total)


METHOD = network_with(Fast0Tag)
