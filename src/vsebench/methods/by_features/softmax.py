"""Softmax regression on image features: the cross-entropy with the uniform distribution over an image's labels.

    loss of an image = -sum over its labels c of 1/|P| log(exp(s_c) / sum_k exp(s_k)),   s = x V + b

P are the image's labels; the fit leaves out images without a label. `convex.py` adds the penalty and minimises the sum.

Source: multinomial logistic regression, with the labels of an image as its target distribution. A baseline that is not
in Weston, Bengio and Usunier, "Large scale image annotation", 2010.
"""

import numpy as np

from vsebench.data.problem import LabelMatrix, Matrix
from vsebench.methods.by_features.convex import ConvexControl
from vsebench.methods.by_features.linear_map import LinearMap
from vsebench.methods.by_features.seen import see


def cross_entropy(scores: Matrix, labels: LabelMatrix) -> tuple[float, Matrix]:
    """Return the sum of the images' losses, and its derivatives with respect to the scores.

    scores : (m, n_labels) float32; overwritten with the derivatives
    labels : m rows, each with a label
    """
    pairs = (labels.image_of_pair, labels.label_of_pair)
    shares = np.repeat(1 / labels.n_labels_of_row, labels.n_labels_of_row)
    scores -= scores.max(axis=1, keepdims=True)
    value = -float(shares @ scores[pairs])
    np.exp(scores, out=scores)
    sums = scores.sum(axis=1, keepdims=True)
    value += float(np.log(sums).sum(dtype=np.float64))
    scores /= sums
    scores[pairs] -= shares.astype(np.float32)
    return value, scores


class Softmax(ConvexControl):
    """Softmax regression; images without features or without a label are left out of the fit."""

    def model(self) -> LinearMap:
        return self.minimise(see(self.problem, self.settings, only_labelled=True), cross_entropy)


METHOD = Softmax
