"""One-vs-rest: a linear classifier for each label, trained by passive-aggressive steps; its score ranks the label.

    f_c(x) = <w_c, x> + b_c,   t = 1 if the image carries c, else -1,   h = max(0, 1 - t f_c(x)),
    tau = min(a, h / (|x|^2 + 1)),   w_c += tau t x,   b_c += tau t

Sources: Weston, Bengio and Usunier, "Large scale image annotation: learning to rank with joint word-image embeddings",
Machine Learning 81(1), 2010, table 2; the step is PA-I of Crammer and others, "Online passive-aggressive
algorithms", JMLR 7, 2006. The first paper leaves open two choices: here the intercept b_c is the weight of a constant
feature, and an epoch visits all images in a new random order.
"""

import numpy as np

from vsebench.data.problem import Problem
from vsebench.data.streams import Stream, generator
from vsebench.kernels.sgd.image_rows import new_image_rows
from vsebench.kernels.sgd.one_vs_rest import one_vs_rest_epoch
from vsebench.kernels.vectors import aligned, padded_size
from vsebench.methods.base import Method, Progress
from vsebench.methods.by_features.from_features import PassiveAggressiveSettings, ending_in_l2
from vsebench.methods.by_features.linear_map import LinearMap
from vsebench.methods.by_features.seen import see


class OneVsRest(Method):
    """One-vs-rest on features of unit length; images without features are left out of the fit."""

    settings_type = PassiveAggressiveSettings
    needs = frozenset({"features"})

    def __init__(self, problem: Problem, settings: PassiveAggressiveSettings) -> None:
        self.seen, self.aggressiveness = see(problem, ending_in_l2(settings)), settings.aggressiveness
        self.rows = new_image_rows(self.seen.rows, constant=True)
        columns = padded_size(self.seen.labels.n_labels)
        self.weights = aligned(padded_size(self.seen.rows.shape[1] + 1), columns)
        self.steps_of_labels = aligned(1, columns)
        self.order = generator(problem.seed, Stream.ORDER)

    def epoch(self) -> Progress:
        labels = self.seen.labels
        loss = one_vs_rest_epoch(
            self.weights, self.rows, labels.n_labels, labels.offsets, labels.label_of_pair,
            self.order.permutation(labels.n_rows), self.aggressiveness, self.steps_of_labels,
        )  # fmt: skip
        return Progress(loss)

    def model(self) -> LinearMap:
        used = self.weights[: self.seen.rows.shape[1] + 1, : self.seen.labels.n_labels]
        return LinearMap(np.ascontiguousarray(used.T), self.seen.normalisation)


METHOD = OneVsRest
