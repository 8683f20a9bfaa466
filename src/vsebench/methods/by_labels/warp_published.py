"""WARP as in the published code of VSE-ens: the logistic loss on the first negative that violates the margin.

A step draws an image, then one of its labels. Negatives are tried in the order of their ids. There are no random trials
and no rank weights, so this is not WSABIE's WARP. If no negative violates the margin, the published code draws a
negative that is not a test label of the image. Here, test labels are not excluded, because a method must not know them.
"""

from vsebench.kernels.ranking.rounding import NOT_ROUNDED, ROUNDING_PAYS, round_labels
from vsebench.kernels.sgd.warp_published import warp_published_epoch
from vsebench.methods.base import Progress
from vsebench.methods.by_labels.sgd import SgdMethod


class WarpPublished(SgdMethod):
    """WARP as in the published code of VSE-ens; `Progress.trials` is the mean number of labels that a step scans."""

    gives = frozenset({"trials"})

    def epoch(self) -> Progress:
        rounded = round_labels(self.labels) if ROUNDING_PAYS else NOT_ROUNDED
        report = warp_published_epoch(
            self.embedding, rounded, self.train.offsets, self.pipeline.positives.row_labels, self.steps, self.rates,
            self.rng.positives,
        )  # fmt: skip
        return Progress(*report)


METHODS = {"warp_published": WarpPublished}
