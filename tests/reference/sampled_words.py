"""The losses of a sample of labels in float64, for one image, written as sums over draws and over pairs."""

import numpy as np


def log_sigmoid(z):
    return -np.log1p(np.exp(-z))


def cross_entropy(output, vectors, positives, negatives, weight):
    of_positives = [log_sigmoid(output @ vectors[p]) for p in positives]
    of_negatives = [log_sigmoid(-(output @ vectors[n])) for n in negatives]
    return -np.mean(of_positives) - weight * np.mean(of_negatives)


def pairs(output, vectors, positives, negatives, weight):
    return -np.mean([[log_sigmoid(output @ vectors[p] - output @ vectors[n]) for n in negatives] for p in positives])


def label_terms(vectors, positives, negatives):
    of_positives = [[log_sigmoid(vectors[p] @ vectors[other]) for other in positives] for p in positives]
    of_negatives = [[log_sigmoid(-(vectors[p] @ vectors[n])) for n in negatives] for p in positives]
    return -np.mean(of_positives) - np.mean(of_negatives)
