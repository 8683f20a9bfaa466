"""VSE-fs in plain NumPy and float64: the loss of Eq. 1 and 2 over all pairs, and its exact descent by coordinates."""

import numpy as np


class Problem:
    """A dense VSE-fs problem. `exclusion` holds the v'_c; P follows the labels only when `refresh` is called.

    The penalty of an image or a label is multiplied by the total weight of its pairs to the power nu.
    """

    def __init__(self, images, labels, positive, weights, beta, gamma, ridge, nu=0.0):
        self.images, self.labels = images.astype(float), labels.astype(float)
        self.positive, self.weights, self.beta = positive, weights, beta.astype(float)
        self.gamma, self.ridge = gamma, ridge
        totals = np.where(positive, weights, self.beta)
        self.image_scales, self.label_scales = (
            np.where(total > 0, total, 1) ** nu for total in (totals.sum(axis=1), totals.sum(axis=0))
        )
        self.root = 1 / np.sqrt(np.maximum(positive.sum(axis=1), 1))
        self.refresh()

    def refresh(self):
        self.extended = self.gamma * self.root[:, None] * (self.positive @ self.labels)  # gamma P
        self.exclusion = self.labels.copy()

    def loss(self):
        scores = (self.images + self.extended) @ self.labels.T
        overlap = self.gamma * self.root[:, None] * np.sum(self.exclusion * self.labels, axis=1)
        scores = scores - np.where(self.positive, overlap, 0)
        fit = np.where(self.positive, self.weights * (1 - scores) ** 2, self.beta * scores**2).sum()
        images = self.image_scales @ (self.images**2).sum(axis=1)
        labels = self.label_scales @ (self.labels**2).sum(axis=1)
        return fit + self.ridge * (images + labels)

    def minimise_coordinate(self, array, index):
        """The loss is a parabola in one coordinate: go to its lowest point, found from three values."""
        start = array[index]
        losses = []
        for value in (start - 1, start, start + 1):
            array[index] = value
            losses.append(self.loss())
        left, middle, right = losses
        curvature = left - 2 * middle + right
        array[index] = start + 0.5 * (left - right) / curvature

    def sweep(self, array):
        for index in np.ndindex(array.shape):
            self.minimise_coordinate(array, index)
