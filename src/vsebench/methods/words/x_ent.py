"""Binary cross-entropy of all labels, whose scores are inner products with word vectors, fixed or trained too.

    L_i = - sum over the image's labels l of log sig(s_il) - sum over the others of log sig(-s_il),
    s_il = <f(x_i), v_l> + o_l,   o_l = 0, or log(c_l / n) with `offset: frequency`

n is the number of images, c_l how many of them carry the label. At the optimum of free scores
s_il = log(p / (1 - p)), p = P(l in Y | x): labels are ranked by probability.

Source: Ni and others, "Sampled image tagging and retrieval methods on user generated content", Eq. S1 and S2: X-Ent,
and Opt+X-Ent with `joint`. The offset is ours: without one, passes over the images go into saying no.
"""

from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import model_validator

from vsebench.data.problem import Matrix
from vsebench.kernels.losses.cross_entropy import binary_loss
from vsebench.methods.networks.training import NetworkSettings
from vsebench.methods.words.word_networks import AllLabelsMethod, JointSettings, refuse_cosine


class XEntSettings(JointSettings):
    """Settings of the cross-entropy of all labels."""

    offset: Literal["none", "frequency"] = "none"  # added to a label's score: nothing, or log(c_l / n)

    @model_validator(mode="after")
    def _no_offset_of_cosines(self) -> "XEntSettings":
        if self.offset == "frequency":
            refuse_cosine(self, "offset")
        return self


class XEnt(AllLabelsMethod):
    """A network with the binary cross-entropy of all labels."""

    settings_type: ClassVar[type[NetworkSettings]] = XEntSettings
    settings: XEntSettings

    def added(self, n_images_of: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.settings.offset == "none":
            return super().added(n_images_of)
        return np.log(n_images_of / self.seen.labels.n_rows)

    def loss_of_labels(self, scores: Matrix, images: NDArray[np.int64]) -> float:
        return float(binary_loss(scores, images, self.offsets, self.labels))


METHOD = XEnt
