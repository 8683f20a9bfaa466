"""Protocol `unseen_labels_all`: as `unseen_labels`, but test images are annotated with all labels."""

from vsebench.protocols.unseen_labels import DrawnLabels


class AmongAllLabels(DrawnLabels):
    """All labels with a word vector are candidates; a test image's own are right, trained or not."""

    words = "labels that were never trained, among all labels"
    only_unseen = False


PROTOCOL = AmongAllLabels
