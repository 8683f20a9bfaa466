"""Losses that compare each label with its own target. `kernels.losses` describes the arguments."""

import numpy as np
from numba import njit

from vsebench.kernels.losses.logistic import sigmoid, softplus


@njit(cache=True, nogil=True)
def softmax_loss(scores, images, offsets, labels, averaged):
    """Return minus the sum of log softmax(f)_u over the images and over the labels u of each image, float64.

    Here f are the scores of all labels for the image. If `averaged`, the sum over the labels u is divided by the number
    of these labels. The result is then the cross-entropy with the uniform distribution over the image's labels.

    Source: Gong and others, "Deep convolutional ranking for multilabel image annotation", 2013, Eq. 1 and 2.
    """
    total = 0.0
    for row in range(len(scores)):
        start, stop = offsets[images[row]], offsets[images[row] + 1]
        weight = 1.0 / max(1, stop - start) if averaged else 1.0
        largest = scores[row].max()
        for slot in range(start, stop):
            total += weight * (np.float64(largest) - scores[row, labels[slot]])
        sum_of_all = 0.0
        for k in range(scores.shape[1]):
            scores[row, k] = np.exp(scores[row, k] - largest)
            sum_of_all += scores[row, k]
        total += weight * (stop - start) * np.log(sum_of_all)
        for k in range(scores.shape[1]):
            scores[row, k] *= weight * (stop - start) / sum_of_all
        for slot in range(start, stop):
            scores[row, labels[slot]] -= weight
    return total


@njit(cache=True, nogil=True)
def binary_loss(scores, images, offsets, labels):
    """Return the sum over images and labels k of log(1 + exp(f_k)) - y_k f_k, float64.

    f_k is the score of label k; y_k is 1 if the image has label k, and 0 if not. This is the loss of one logistic
    regression per label.
    """
    total = 0.0
    for row in range(len(scores)):
        start, stop = offsets[images[row]], offsets[images[row] + 1]
        for slot in range(start, stop):
            total -= scores[row, labels[slot]]
        for k in range(scores.shape[1]):
            smaller = np.exp(-abs(scores[row, k]))
            total += max(scores[row, k], np.float32(0)) + np.log1p(smaller)
            scores[row, k] = (np.float32(1) if scores[row, k] >= 0 else smaller) / (np.float32(1) + smaller)
        for slot in range(start, stop):
            scores[row, labels[slot]] -= np.float32(1)
    return total


@njit(cache=True, nogil=True)
def asymmetric_loss(scores, images, offsets, labels, focus_positives, focus_negatives, margin):
    """Return the sum over images and labels of the asymmetric loss, float64.

        positives   -(1 - p)^g log p
        negatives   -q^h log(1 - q),   q = max(0, p - margin)

    Here f is the score of the label, and p = 1 / (1 + exp(-f)). With margin 0, this is the focal loss if g = h, and the
    binary cross-entropy if g = h = 0.

    focus_positives, focus_negatives : float >= 0, the exponents g and h
    margin : float in [0, 1); a negative whose p is not above the margin adds nothing

    Sources: Ridnik and others, "Asymmetric loss for multi-label classification", ICCV 2021, Eq. 4 to 7; Lin, Goyal,
    Girshick, He and Dollar, "Focal loss for dense object detection", ICCV 2017, Eq. 4.
    """
    total = 0.0
    for row in range(len(scores)):
        slot, stop = offsets[images[row]], offsets[images[row] + 1]
        for k in range(scores.shape[1]):
            score = np.float64(scores[row, k])
            p, rest = sigmoid(score), sigmoid(-score)
            if slot < stop and labels[slot] == k:
                slot += 1
                weight, log_p = rest**focus_positives, -softplus(-score)
                total -= weight * log_p
                scores[row, k] = weight * (focus_positives * p * log_p - rest)
            elif p > margin:
                q = p - margin
                weight, log_of_rest = q**focus_negatives, -softplus(score) if margin == 0 else np.log(rest + margin)
                total -= weight * log_of_rest
                of_log = p if margin == 0 else p * rest / (rest + margin)
                scores[row, k] = weight * (of_log - focus_negatives * (p / q) * rest * log_of_rest)
            else:
                scores[row, k] = 0
    return total
