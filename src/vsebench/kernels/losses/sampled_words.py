"""Losses on a sample of labels; scores are inner products of an image's vector with the labels' vectors.

A step reads and changes only the vectors of the drawn labels, so its cost does not grow with the number of labels.

The following arguments have the same meaning in all functions. The docstrings of the functions describe only exceptions
and other arguments.

chosen : (m, P + N) int32, the P positives and N negatives that `sample_labels` drew for each image
n_positives : P
table : `WordTable`
outputs : (m, d) float32, the vectors of the m images

Source: Ni and others, "Sampled image tagging and retrieval methods on user generated content", Eq. 1 and S5, but with
means over the draws.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from vsebench.kernels.losses.logistic import sigmoid, softplus
from vsebench.kernels.losses.optimisers import adamw_move, adamw_rates
from vsebench.kernels.vectors import FASTMATH, LANES, add_up, aligned, broadcast, load, padded_size, prefetch, scratch


class WordTable(NamedTuple):
    """The vectors of the labels, Adam's running means, and the numbers from which a batch's gradients are computed.

    K is the number of dimensions d, rounded up to a multiple of `kernels.vectors.LANES`; the additional numbers are 0.
    A batch has m images with n draws each; draw j of image i has the number i n + j. The gradient of a label's vector
    is a sum over the draws of the label: the slope of each draw, times the output of the draw's image. This sum is
    computed just before the vector moves, because a table of all gradients would not fit into the cache. For this
    purpose, the draws of each label form a linked list that starts with the last draw.

    Attributes
    ----------
    vectors : (n_labels, K) float32
    means, squares : (n_labels, K) float32, Adam's running means. These and all arrays below are empty if the vectors
        are fixed
    outputs : (m, K) float32, the network's outputs for the batch
    slopes : (m, n) float32, the derivative of the loss with respect to the score of each draw
    last : (n_labels,) int32, the number of each label's last draw; -1 between batches
    before : (m n,) int32, for each draw, the number of the previous draw of the same label, or -1
    touched : (largest number of labels in a batch,) int32, the different labels that were drawn
    slot : (n_labels,) int32, the index of each label in `touched`; empty if the loss has no terms between labels
        (`add_label_terms`)
    terms : (largest number of labels in a batch, K) float32, for each label in `touched` the gradient of the terms
        between labels; zeros between batches; empty if the loss has no such terms
    """

    vectors: NDArray[np.float32]
    means: NDArray[np.float32]
    squares: NDArray[np.float32]
    outputs: NDArray[np.float32]
    slopes: NDArray[np.float32]
    last: NDArray[np.int32]
    before: NDArray[np.int32]
    touched: NDArray[np.int32]
    slot: NDArray[np.int32]
    terms: NDArray[np.float32]

    @classmethod
    def of(
        cls, start: NDArray[np.float32], draws: tuple[int, int] | None = None, with_terms: bool = False
    ) -> "WordTable":
        """Return a table with the vectors `start`, (n_labels, d).

        `draws` is the pair (m, n) if the vectors are trained, and None if they are fixed. `with_terms` says whether the
        loss has terms between labels.
        """
        n_labels, size = len(start), padded_size(start.shape[1])
        vectors = aligned(n_labels, size)
        vectors[:, : start.shape[1]] = start
        images, n_drawn = draws or (0, 0)
        n_trained = n_labels if draws else 0
        most = min(images * n_drawn, n_labels)
        return cls(
            vectors,
            aligned(n_trained, size),
            aligned(n_trained, size),
            aligned(images, size),
            np.zeros((images, n_drawn), dtype=np.float32),
            np.full(n_trained, -1, dtype=np.int32),
            np.empty(images * n_drawn, dtype=np.int32),
            np.empty(most, dtype=np.int32),
            np.empty(n_trained if with_terms else 0, dtype=np.int32),
            aligned(most if with_terms else 0, size),
        )


@njit(cache=True, fastmath=FASTMATH, nogil=True)
def sampled_loss(outputs, chosen, n_positives, weight, pairwise, table):
    """Return the sum of the images' losses, float64, and the number of different labels drawn.

    s_p and s_n are the scores of the image's P drawn positives p and N drawn negatives n. The loss of the image is

        mean over p of log(1 + exp(-s_p)) + weight * mean over n of log(1 + exp(s_n)),   or, if `pairwise`,
        mean over p, n of log(1 + exp(s_n - s_p))

    If vectors are trained, the table keeps the draws, outputs and slopes from which gradients are computed. If vectors
    are fixed, the second number returned is 0.

    outputs : overwritten with the derivatives; zeros for an image without a sample
    weight : the factor of the mean over negatives; not used if `pairwise`
    pairwise : whether to use the pairwise loss
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
        if len(table.last):
            n_touched = keep_draws(table, n_touched, chosen, row, slopes, output)
    return total, n_touched


@njit(cache=True, inline="always")
def own_slopes(scores, slopes, n_positives, weight):
    """Return the cross-entropy of an image's sample; write the derivatives with respect to `scores` to `slopes`."""
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
    """Return the pairwise loss of an image's sample; write the derivatives with respect to `scores` to `slopes`."""
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
def keep_draws(table, n_touched, chosen, row, slopes, output):
    """Store an image's output and slopes in the table, and add the image's draws to the linked lists.

    `n_touched` is the number of different labels drawn for earlier images of the batch. Returns the new number.
    """
    for k in range(len(output)):
        table.outputs[row, k] = output[k]
    for j in range(len(slopes)):
        label, number = chosen[row, j], row * len(slopes) + j
        table.slopes[row, j] = slopes[j]
        table.before[number] = table.last[label]
        if table.last[label] < 0:
            table.touched[n_touched] = label
            if len(table.slot):
                table.slot[label] = n_touched
            n_touched += 1
        table.last[label] = number
    return n_touched


@njit(cache=True, fastmath=FASTMATH, nogil=True)
def add_up_gradient(table, slot, gradient):
    """Write the gradient of a drawn label's vector to `gradient`, (K,) float32.

    The gradient is a sum over the images of the batch.

    slot : integer, the index of the label in `table.touched`
    """
    for k in range(len(gradient)):
        gradient[k] = table.terms[slot, k] if len(table.terms) else np.float32(0)
    n_drawn = table.slopes.shape[1]
    number = table.last[table.touched[slot]]
    while number >= 0:
        row = number // n_drawn
        factor = table.slopes[row, number - row * n_drawn]
        for k in range(len(gradient)):
            gradient[k] += factor * table.outputs[row, k]
        number = table.before[number]


@njit(cache=True, fastmath=FASTMATH, nogil=True)
def add_label_terms(chosen, n_positives, weight, table):
    """Return the sum over images of the terms between labels, float64, and add their derivatives to `table.terms`.

    v_l is the vector of label l, and <v_l, v_k> is an inner product. Means are over an image's P drawn positives, p and
    p', and its N drawn negatives n. The terms of the image are

        weight * (mean over p, p' of log(1 + exp(-<v_p, v_p'>)) + mean over p, n of log(1 + exp(<v_p, v_n>)))

    chosen : the draws of the last call of `sampled_loss`
    weight : the factor of these terms
    table : a table with trained vectors and with memory for these terms (`terms`)
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
                add_row(table.terms[table.slot[label]], slope, table.vectors, other)
                add_row(table.terms[table.slot[other]], slope, table.vectors, label)
    return total


@njit(cache=True, fastmath=FASTMATH, nogil=True)
def move_touched(table, n_touched, n_images, number, learning_rate, decay):
    """Take a step of AdamW on the vectors of the drawn labels only, and clear the draws.

    AdamW on all vectors would also move the vectors of labels that were drawn only in earlier batches. Here, a vector
    moves and decays only when its label is drawn.

    n_touched : number of different labels drawn
    n_images : number of images in the batch; gradients are divided by this number
    number : integer, the number of the step, counted from 1
    learning_rate, decay : float
    """
    gradient, of_mean = scratch(table.vectors.shape[1]), np.float32(1 / n_images)
    rates = adamw_rates(number, learning_rate, decay)
    for slot in range(n_touched):
        label = table.touched[slot]
        if slot + 1 < n_touched:
            prefetch_row(table, table.touched[slot + 1])
        add_up_gradient(table, slot, gradient)
        for k in range(len(gradient)):
            gradient[k] *= of_mean
        adamw_move(table.vectors[label], gradient, table.means[label], table.squares[label], rates)
        table.last[label] = -1
    table.terms[: n_touched if len(table.terms) else 0] = 0


@njit(cache=True, fastmath=FASTMATH, nogil=True)
def published_steps(vectors, outputs, chosen, n_positives, learning_rate):
    """Move the vectors of the drawn labels by plain gradient steps, image after image, as the authors' code does.

        v_p += r sig(-<v_p, f>) f,   v_n -= r sig(<v_n, f>) f

    Here, sig is the logistic function. Steps are not divided by P, N or the number of images. A label that was drawn
    several times among an image's positives, or several times among its negatives, is moved once for these draws.

    vectors : (n_labels, K) float32, the vectors of a `WordTable`, updated
    outputs : the images' vectors f
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
            factor = np.float32(learning_rate * slope)
            for k in range(len(output)):
                vectors[label, k] += factor * output[k]


@njit(cache=True, inline="always")
def is_repeated(chosen, row, first, slot):
    """Return whether the label at position `slot` of the row is also at one of the positions `first` to `slot` - 1."""
    is_repeated_draw = False
    for before in range(first, slot):
        is_repeated_draw |= chosen[row, before] == chosen[row, slot]
    return is_repeated_draw


@njit(cache=True, inline="always")
def product(output, vectors, label):
    """Return the inner product, float64, of `output`, (K,), and row `label` of `vectors`, (n_labels, K)."""
    total = broadcast(np.float32(0))
    for k in range(0, len(output), LANES):
        total = total + load(output, k) * load(vectors, (label, k))
    return np.float64(add_up(total))


@njit(cache=True, inline="always")
def add_row(slope, factor, vectors, label):
    """Add `factor` times row `label` of `vectors`, (n_labels, K), to `slope`, (K,)."""
    narrow = np.float32(factor)
    for k in range(len(slope)):
        slope[k] += narrow * vectors[label, k]


@njit(cache=True, inline="always")
def prefetch_rows(vectors, chosen, row):
    """Start fetching the vectors of the labels drawn for an image."""
    for j in range(chosen.shape[1]):
        for k in range(0, vectors.shape[1], LANES):
            prefetch(vectors, (chosen[row, j], k))


@njit(cache=True, inline="always")
def prefetch_row(table, label):
    """Start fetching a label's vector and Adam's running means of its gradients."""
    for k in range(0, table.vectors.shape[1], LANES):
        prefetch(table.vectors, (label, k))
        prefetch(table.means, (label, k))
        prefetch(table.squares, (label, k))
