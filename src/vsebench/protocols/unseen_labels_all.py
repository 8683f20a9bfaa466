"""Protocol `unseen_labels_all`: as `unseen_labels`, but all labels are ranked."""

from vsebench.protocols.unseen_labels import DrawnLabels


class AmongAllLabels(DrawnLabels):
    """The candidates are all labels with a word vector, so the trained labels of a test image are also held out."""

    description = "labels that were never trained, among all labels"
    only_unseen = False


PROTOCOL = AmongAllLabels
