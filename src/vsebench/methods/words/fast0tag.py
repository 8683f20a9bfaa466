"""Fast0Tag: the logistic loss of all pairs of a label of the image and another one, with word vectors.

    L_i = 1 / (n_i (L - n_i)) sum over the image's labels p and the others n of log(1 + exp(s_in - s_ip)),
    s_il = <f(x_i), v_l>

n_i is the number of the image's labels. A pair costs an exponential, so an image costs n_i (L - n_i) of them. Vectors
are fixed; training them too (`joint`) is ours.

Source: Zhang, Gong and Shah, "Fast zero-shot image tagging", CVPR 2016, Eq. 6. Ni and others, "Sampled image tagging
and retrieval methods on user generated content", print it as Eq. 3 and leave the weight open.
"""

import numpy as np
from numpy.typing import NDArray

from vsebench.data.problem import Matrix, Problem
from vsebench.kernels.losses.pair_logistic import pair_logistic_loss
from vsebench.methods.words.word_networks import AllLabelsMethod, JointSettings


class Fast0Tag(AllLabelsMethod):
    """A network with the logistic loss of all pairs."""

    def __init__(self, problem: Problem, settings: JointSettings) -> None:
        super().__init__(problem, settings)
        self.slopes = np.empty(len(self.n_images_of))

    def loss_of_labels(self, scores: Matrix, images: NDArray[np.int64]) -> float:
        return float(pair_logistic_loss(scores, images, self.offsets, self.labels, self.slopes))


METHOD = Fast0Tag
