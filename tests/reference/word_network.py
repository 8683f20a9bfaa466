"""Training of a network with word vectors in float64, from the papers' formulas, with a gradient per image.

The starting values, the order of the images and the drawn labels are given, so that another program's training can be
repeated. Sources: Ni and others, "Sampled image tagging and retrieval methods", Eq. 1, 3, S1 and S5; Loshchilov and
Hutter, "Decoupled weight decay regularization", ICLR 2019, algorithm 2.
"""

import numpy as np


def sigmoid(z):
    return np.exp(-np.logaddexp(0, -z))


def cross_entropy(scores, labels):
    """Derivatives of the binary cross-entropy of all labels."""
    return sigmoid(scores) - np.isin(np.arange(len(scores)), labels)


def all_pairs(scores, labels):
    """Derivatives of the mean logistic loss over all pairs of one of the labels and another label."""
    slopes, others = np.zeros(len(scores)), np.setdiff1d(np.arange(len(scores)), labels)
    for positive in labels:
        for negative in others:
            slope = sigmoid(scores[negative] - scores[positive]) / (len(labels) * len(others))
            slopes[negative] += slope
            slopes[positive] -= slope
    return slopes


def sampled_cross_entropy(scores, positives, negatives):
    """Derivatives of the mean log-loss of drawn positives plus that of drawn negatives."""
    slopes = np.zeros(len(scores))
    for label in positives:
        slopes[label] -= sigmoid(-scores[label]) / len(positives)
    for label in negatives:
        slopes[label] += sigmoid(scores[label]) / len(negatives)
    return slopes


def sampled_pairs(scores, positives, negatives):
    """Derivatives of the mean logistic loss over pairs of a drawn positive and a drawn negative."""
    slopes = np.zeros(len(scores))
    for positive in positives:
        for negative in negatives:
            slope = sigmoid(scores[negative] - scores[positive]) / (len(positives) * len(negatives))
            slopes[negative] += slope
            slopes[positive] -= slope
    return slopes


class AdamW:
    """An array and the optimiser's state."""

    def __init__(self, start, decay):
        self.value, self.decay = np.array(start, dtype=np.float64), decay
        self.mean, self.square = np.zeros_like(self.value), np.zeros_like(self.value)

    def step(self, gradient, number, rate, rows=slice(None)):
        self.mean[rows] = 0.9 * self.mean[rows] + 0.1 * gradient[rows]
        self.square[rows] = 0.999 * self.square[rows] + 0.001 * gradient[rows] ** 2
        mean, square = self.mean[rows] / (1 - 0.9**number), self.square[rows] / (1 - 0.999**number)
        old = self.value[rows]
        self.value[rows] = old - rate * (mean / (np.sqrt(square) + 1e-8) + self.decay * old)


class Trainer:
    """A network with at most one hidden layer, f(x) = W2' max(0, W1' x + b1) + b2, and scores <f(x), v_l>."""

    def __init__(self, weights, intercepts, words, trained, rate, decay):
        self.weights = [AdamW(each, decay) for each in weights]
        self.intercepts = [AdamW(each, 0.0) for each in intercepts]
        self.words, self.trained, self.rate = AdamW(words, decay), trained, rate
        self.number = 0

    def units(self, inputs):
        """Return the activations of each layer; the last ones are the outputs."""
        layers = [np.asarray(inputs, dtype=np.float64)]
        for number, (weights, intercepts) in enumerate(zip(self.weights, self.intercepts, strict=True), 1):
            layers.append(layers[-1] @ weights.value + intercepts.value)
            if number < len(self.weights):
                layers[-1] = np.maximum(layers[-1], 0)
        return layers

    def scores(self, inputs):
        return self.units(inputs)[-1] @ self.words.value.T

    def step(self, inputs, slopes_of, labels_of, drawn=None):
        """Take a step on the mean loss of a batch.

        inputs : (m, d)
        slopes_of : one of the functions above
        labels_of : (m,), its further arguments for each image
        drawn : only the vectors of these labels move; None: all
        """
        self.number += 1
        weights = [np.zeros_like(each.value) for each in self.weights]
        intercepts = [np.zeros_like(each.value) for each in self.intercepts]
        words = np.zeros_like(self.words.value)
        for row, labels in zip(inputs, labels_of, strict=True):
            layers = self.units(row)
            slopes = slopes_of(self.words.value @ layers[-1], *labels) / len(inputs)
            words += np.outer(slopes, layers[-1])
            back = slopes @ self.words.value
            for layer in reversed(range(len(self.weights))):
                weights[layer] += np.outer(layers[layer], back)
                intercepts[layer] += back
                back = (self.weights[layer].value @ back) * (layers[layer] > 0)
        for parameter, gradient in zip(self.weights + self.intercepts, weights + intercepts, strict=True):
            parameter.step(gradient, self.number, self.rate)
        if self.trained:
            self.words.step(words, self.number, self.rate, slice(None) if drawn is None else np.unique(drawn))
