"""Losses of a sample of labels, whose scores are inner products of an image's vector with the labels' vectors.

A step reads and changes the vectors of the drawn labels alone, so its cost does not grow with the number of labels:
gradients are kept in one row per drawn label, and Adam moves these labels alone. Sampled losses are those of Ni and
others, "Sampled image tagging and retrieval methods on user generated content", Eq. 1 and S5, as means over the draws.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from vsebench.kernels.adamw import adamw_step
from vsebench.kernels.shares import sigmoid, softplus
from vsebench.kernels.vectors import (
    FASTMATH,
    LANES,
    add_up,
    aligned,
    broadcast,
    load,
    padded_size,
    prefetch,
    scratch,
    store,
)


class WordTable(NamedTuple):
    """The labels' vectors, what Adam remembers of them, and room for the gradients of a batch.

    K is the number of dimensions, rounded up to a multiple of LANES; the additional numbers are 0.

    Attributes
    ----------
    vectors : (n_labels, K) float32
    means, squares : (n_labels, K) float32, or without a row where the vectors are fixed
    gradient : (most labels of a batch, K) float32, zeros between batches
    touched : (most labels of a batch,) int32, the label of each row of the gradient
    place : (n_labels,) int32, the row of each label in the gradient; -1 between batches
    """

    vectors: NDArray[np.float32]
    means: NDArray[np.float32]
    squares: NDArray[np.float32]
    gradient: NDArray[np.float32]
    touched: NDArray[np.int32]
    place: NDArray[np.int32]

    @classmethod
    def of(cls, start: NDArray[np.float32], most_touched: int) -> "WordTable":
        """Return the table of vectors (n_labels, d); with `most_touched` 0 they are fixed."""
        n_labels, size = len(start), padded_size(start.shape[1])
        vectors = aligned(n_labels, size)
        vectors[:, : start.shape[1]] = start
        n_trained = n_labels if most_touched else 0
        return cls(
            vectors,
            aligned(n_trained, size),
            aligned(n_trained, size),
            aligned(most_touched, size),
            np.empty(most_touched, dtype=np.int32),
            np.full(n_trained, -1, dtype=np.int32),
        )


@njit(cache=True, fastmath=FASTMATH, nogil=True)
def sampled_loss(outputs, chosen, n_positives, weight, pairwise, table):
    """Return the sum over images of the loss of their samples, float64, and how many labels have a gradient.

    With means over the P positives p and the N negatives n, the loss of an image is

        mean of log(1 + exp(-s_p)) + weight * mean of log(1 + exp(s_n)),   or pairwise   mean of log(1 + exp(s_n - s_p))

    Its derivatives are written over `outputs`, and added to the table's gradient where vectors are trained.

    Parameters
    ----------
    outputs : (m, d) float32, overwritten with the derivatives; zeros for an image without a sample
    chosen : (m, P + N) int32, as `sample_labels` has drawn them
    n_positives : P
    weight : of the negatives
    pairwise : whether the loss is that of pairs
    table : WordTable
    """
    d, size = outputs.shape[1], table.vectors.shape[1]
    output, slope = scratch(size), scratch(size)
    scores, slopes = np.empty(chosen.shape[1]), np.empty(chosen.shape[1])
    total, n_touched = 0.0, 0
    for row in range(len(outputs)):
        if chosen[row, 0] < 0:
            outputs[row] = 0
            continue
        if row + 1 < len(outputs) and chosen[row + 1, 0] >= 0:
            prefetch_rows(table.vectors, chosen, row + 1)
        output[:d] = outputs[row]
        for j in range(len(scores)):
            scores[j] = product(output, table.vectors, chosen[row, j])
        total += (
            pair_slopes(scores, slopes, n_positives) if pairwise else own_slopes(scores, slopes, n_positives, weight)
        )
        slope[:] = 0
        for j in range(len(scores)):
            add_row(slope, slopes[j], table.vectors, chosen[row, j])
        outputs[row] = slope[:d]
        if len(table.place):
            n_touched = add_to_gradient(table, n_touched, chosen, row, slopes, output)
    return total, n_touched


@njit(cache=True, inline="always")
def own_slopes(scores, slopes, n_positives, weight):
    """Return the cross-entropy of an image's sample, and write its derivatives."""
    of_positive, of_negative = 1 / n_positives, weight / (len(scores) - n_positives)
    total = 0.0
    for j in range(len(scores)):
        if j < n_positives:
            total += of_positive * softplus(-scores[j])
            slopes[j] = -of_positive * sigmoid(-scores[j])
        else:
            total += of_negative * softplus(scores[j])
            slopes[j] = of_negative * sigmoid(scores[j])
    return total


@njit(cache=True, inline="always")
def pair_slopes(scores, slopes, n_positives):
    """Return the loss of an image's drawn pairs, and write its derivatives."""
    of_pair = 1 / (n_positives * (len(scores) - n_positives))
    slopes[:] = 0
    total = 0.0
    for p in range(n_positives):
        for n in range(n_positives, len(scores)):
            total += of_pair * softplus(scores[n] - scores[p])
            slope = of_pair * sigmoid(scores[n] - scores[p])
            slopes[p] -= slope
            slopes[n] += slope
    return total


@njit(cache=True, inline="always")
def add_to_gradient(table, n_touched, chosen, row, slopes, output):
    """Add an image's derivatives to the gradients of its drawn labels; return how many labels have one by now."""
    for j in range(len(slopes)):
        label = chosen[row, j]
        if table.place[label] < 0:
            table.place[label] = n_touched
            table.touched[n_touched] = label
            n_touched += 1
        place = table.place[label]
        factor = broadcast(np.float32(slopes[j]))
        for k in range(0, len(output), LANES):
            store(table.gradient, (place, k), load(table.gradient, (place, k)) + factor * load(output, k))
    return n_touched


@njit(cache=True, fastmath=FASTMATH, nogil=True)
def add_label_terms(chosen, n_positives, weight, table):
    """Return the sum over images of the terms of labels alone, float64, and add their derivatives to the gradient.

    With means over the P positives p, p' and the N negatives n, the terms of an image are

        weight * (mean over p, p' of log(1 + exp(-<v_p, v_p'>)) + mean over p, n of log(1 + exp(<v_p, v_n>)))

    The labels have a row in the gradient already, from `sampled_loss` on the same draws.

    Parameters
    ----------
    chosen : (m, P + N) int32, as `sample_labels` has drawn them
    n_positives : P
    weight : of the terms beside the loss, alpha
    table : WordTable with trained vectors
    """
    n_drawn = chosen.shape[1]
    of_positive = weight / n_positives**2
    of_negative = weight / (n_positives * (n_drawn - n_positives))
    total = 0.0
    for row in range(len(chosen)):
        if chosen[row, 0] < 0:
            continue
        for p in range(n_positives):
            label = chosen[row, p]
            for j in range(n_drawn):
                other = chosen[row, j]
                score = product(table.vectors[label], table.vectors, other)
                if j < n_positives:
                    total += of_positive * softplus(-score)
                    slope = -of_positive * sigmoid(-score)
                else:
                    total += of_negative * softplus(score)
                    slope = of_negative * sigmoid(score)
                add_row(table.gradient[table.place[label]], slope, table.vectors, other)
                add_row(table.gradient[table.place[other]], slope, table.vectors, label)
    return total


@njit(cache=True, fastmath=FASTMATH, nogil=True)
def move_touched(table, n_touched, n_images, number, learning_rate):
    """Take Adam's step on the vectors that have a gradient, and clear it; other vectors and their memory stay.

    That is not Adam on all vectors, which moves a label on after it was drawn.

    Parameters
    ----------
    table : WordTable
    n_touched : how many labels have a gradient, the sum over `n_images`
    number : integer, of the step, from 1
    learning_rate : float
    """
    of_mean = np.float32(1 / n_images)
    for place in range(n_touched):
        label = table.touched[place]
        if place + 1 < n_touched:
            prefetch_row(table, table.touched[place + 1])
        for k in range(0, table.gradient.shape[1], LANES):
            store(table.gradient, (place, k), of_mean * load(table.gradient, (place, k)))
        adamw_step(
            table.vectors[label], table.gradient[place], table.means[label], table.squares[label], number,
            learning_rate, 0.0,
        )  # fmt: skip
        table.gradient[place] = 0
        table.place[label] = -1


@njit(cache=True, fastmath=FASTMATH, nogil=True)
def published_steps(vectors, outputs, chosen, n_positives, learning_rate):
    """Move the vectors of drawn labels as the authors' code does: plain steps, one image after the other.

        v_p += r sig(-<v_p, f>) f,   v_n -= r sig(<v_n, f>) f

    Nothing is divided by P, N or the images of the batch, and a label that was drawn twice for an image moves once.

    Parameters
    ----------
    vectors : (n_labels, K) float32, updated, as in a `WordTable`
    outputs : (m, d) float32, the images' vectors f
    chosen : (m, P + N) int32, as `sample_labels` has drawn them
    n_positives : P
    learning_rate : r
    """
    d = outputs.shape[1]
    output = scratch(vectors.shape[1])
    for row in range(len(outputs)):
        if chosen[row, 0] < 0:
            continue
        output[:d] = outputs[row]
        for j in range(chosen.shape[1]):
            label, first = chosen[row, j], 0 if j < n_positives else n_positives
            if is_repeated(chosen, row, first, j):
                continue
            score = product(output, vectors, label)
            slope = sigmoid(-score) if j < n_positives else -sigmoid(score)
            factor = broadcast(np.float32(learning_rate * slope))
            for k in range(0, len(output), LANES):
                store(vectors, (label, k), load(vectors, (label, k)) + factor * load(output, k))


@njit(cache=True, inline="always")
def is_repeated(chosen, row, first, place):
    """Return whether a label of a row stands between `first` and its place already."""
    found = False
    for before in range(first, place):
        found |= chosen[row, before] == chosen[row, place]
    return found


@njit(cache=True, inline="always")
def product(output, vectors, label):
    """Return the inner product, float64, of a vector (K,) and a row of vectors."""
    total = broadcast(np.float32(0))
    for k in range(0, len(output), LANES):
        total = total + load(output, k) * load(vectors, (label, k))
    return np.float64(add_up(total))


@njit(cache=True, inline="always")
def add_row(slope, factor, vectors, label):
    """Add a multiple of a row of vectors to `slope`, (K,)."""
    wide = broadcast(np.float32(factor))
    for k in range(0, len(slope), LANES):
        store(slope, k, load(slope, k) + wide * load(vectors, (label, k)))


@njit(cache=True, inline="always")
def prefetch_rows(vectors, chosen, row):
    """Start to fetch the vectors of the labels that are drawn for an image."""
    for j in range(chosen.shape[1]):
        for k in range(0, vectors.shape[1], LANES):
            prefetch(vectors, (chosen[row, j], k))


@njit(cache=True, inline="always")
def prefetch_row(table, label):
    """Start to fetch a label's vector and what Adam remembers of it."""
    for k in range(0, table.vectors.shape[1], LANES):
        prefetch(table.vectors, (label, k))
        prefetch(table.means, (label, k))
        prefetch(table.squares, (label, k))
