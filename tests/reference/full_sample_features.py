"""VSE-fs on image features in plain NumPy and float64: the loss over all pairs, its gradient, and its minima."""

import numpy as np


class Problem:
    """A dense problem: features (n, d), positives (n, n_labels) bool, beta (n_labels,), the map and the labels."""

    def __init__(self, features, positive, beta, regularisation, feature, label):
        self.features, self.positive = features.astype(float), positive
        self.weights = np.where(positive, 1.0, beta.astype(float))
        self.map, self.labels, self.regularisation = feature.astype(float), label.astype(float), regularisation
        self.of_map = regularisation * (self.features**2).sum(axis=1).mean()

    def loss(self):
        scores = self.features @ self.map @ self.labels.T
        fit = (self.weights * (self.positive - scores) ** 2).sum()
        return fit + self.of_map * (self.map**2).sum() + self.regularisation * (self.labels**2).sum()

    def half_gradient(self):
        """Return half the gradient in the map."""
        missed = self.weights * (self.features @ self.map @ self.labels.T - self.positive)
        return self.features.T @ missed @ self.labels + self.of_map * self.map

    def best_map(self):
        """Return the map at which the loss is lowest for these labels: one system of d K equations."""
        d, k = self.map.shape
        system = np.zeros((d * k, d * k))
        for x, weights in zip(self.features, self.weights, strict=True):
            system += np.kron(np.outer(x, x), (self.labels * weights[:, None]).T @ self.labels)
        right = (self.features.T @ (self.positive @ self.labels)).ravel()
        return np.linalg.solve(system + self.of_map * np.eye(d * k), right).reshape(d, k)

    def sweep_labels(self):
        """Move the labels' coordinates to their minima, one after the other."""
        vectors = self.features @ self.map
        for c, weights in enumerate(self.weights.T):
            for f in range(self.labels.shape[1]):
                missed = weights * (self.positive[:, c] - vectors @ self.labels[c])
                slope = vectors[:, f] @ missed - self.regularisation * self.labels[c, f]
                self.labels[c, f] += slope / (weights @ vectors[:, f] ** 2 + self.regularisation)
