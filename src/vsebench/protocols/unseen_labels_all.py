"""Protocol `unseen_labels_all`: as `unseen_labels`, but all labels are ranked for test images."""

from vsebench.protocols.unseen_labels import DrawnLabels


class AmongAllLabels(DrawnLabels):
    """All labels with a word vector are candidates; those of a test image are right, whether trained or not."""

    description = "labels that were never trained, among all labels"
    only_unseen = False


PROTOCOL = AmongAllLabels
