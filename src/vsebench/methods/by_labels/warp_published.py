"""What the published code of VSE-ens calls WARP: the first violator in the order of label ids, the logistic loss.

It draws an image, then one of its labels; it has no random trials and no rank weight, so it is not the WARP of WSABIE.
Where no label violates, the published code draws no test label of the image as the negative; here the method does not
know the test label.
"""

from vsebench.kernels.ranking.rounding import NOT_ROUNDED, ROUNDING_PAYS, round_labels
from vsebench.kernels.sgd.warp_published import warp_published_epoch
from vsebench.methods.base import Progress
from vsebench.methods.by_labels.sgd import SgdMethod, SgdSettings


class WarpPublished(SgdMethod):
    """The published rule. Its trials are the labels scanned."""

    settings_type = SgdSettings

    def epoch(self) -> Progress:
        rounded = round_labels(self.labels) if ROUNDING_PAYS else NOT_ROUNDED
        loss, scanned = warp_published_epoch(
            self.embedding, rounded, self.train.offsets, self.pipeline.positives.row_labels, self.steps, self.rates,
            self.rng.positives,
        )  # fmt: skip
        return Progress(loss, scanned)


METHOD = WarpPublished
