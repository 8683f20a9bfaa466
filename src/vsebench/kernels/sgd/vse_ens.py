"""VSE-ens: the hinge loss on highly ranked negatives, drawn from lists of all labels, each sorted by one factor.

Source: Guo, Zhai, Yuan, Liu and Wang, "VSE-ens: Visual-Semantic Embeddings with Efficient Negative Sampling", Eq. 5 to
9 and Algorithm 1.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from vsebench.kernels.products import margin
from vsebench.kernels.random_numbers import uniform
from vsebench.kernels.sgd.pipeline import (
    BATCH,
    IMAGE,
    NEGATIVE,
    START,
    STOP,
    advance,
    batch_size,
    choose_and_read,
    prefetch_row,
    turns,
)
from vsebench.kernels.sgd.sampling import contains, draw_negative
from vsebench.kernels.sgd.steps import sgd_step
from vsebench.kernels.vectors import (
    FASTMATH,
    LANES,
    NO_ALLOCATION,
    absolute,
    aligned,
    any_equal,
    broadcast,
    count_bits,
    cumsum,
    greater_mask,
    load,
    prefetch,
    store,
)


class Draws(NamedTuple):
    """Intermediate values of the draws of a batch, with one row or number per step.

    Each batch overwrites the values of the previous batch.

    Attributes
    ----------
    images : (BATCH + LANES,) int32, the image of each step; the last LANES numbers are not used
    ranks : (BATCH,) int64, the drawn rank
    shares : (BATCH,) float64, the random number in [0, 1) that determines the factor
    factors : (BATCH,) int64, the drawn factor
    positions : (BATCH,) int64, the position of the drawn label in the list of the factor
    sums : (BATCH, K + 32) float32, see `weigh_factors`
    """

    images: NDArray[np.int32]
    ranks: NDArray[np.int64]
    shares: NDArray[np.float64]
    factors: NDArray[np.int64]
    positions: NDArray[np.int64]
    sums: NDArray[np.float32]


def new_draws(n_factors: int) -> Draws:
    """Return `Draws` for K = `n_factors`, a multiple of 16."""
    ranks, factors, positions = (np.zeros(BATCH, dtype=np.int64) for _ in range(3))
    images, sums = np.zeros(BATCH + LANES, dtype=np.int32), aligned(BATCH, n_factors + 2 * LANES)
    return Draws(images, ranks, np.zeros(BATCH), factors, positions, sums)


@njit(cache=True, fastmath=FASTMATH, nogil=True, **NO_ALLOCATION)
def vse_ens_epoch(embedding, pipeline, lists, draws, steps, rank_scale, rates, streams):
    """Take `steps` steps that lower the hinge loss, with negatives drawn from sorted lists of the labels.

    The loss of a step is max(0, 1 - m), where m = <v_i, v_p - v_n> for image i, positive p and negative n. The negative
    is drawn as follows:

    - Draw a factor f with probability proportional to |v_if| sigma_f (Eq. 7).
    - Draw a rank r, counted from 0, with probability proportional to exp(-r / lambda) (Eq. 5).
    - n is the label at rank r in the list of factor f. If v_if > 0, ranks are counted from the top, otherwise from the
      bottom.
    - If n is a positive, repeat the draw (`redraw_negative`).

    If m < 1, the step adds eta (dm/dv - lambda' v) to each vector v of v_i, v_p and v_n. Steps for an image with every
    label are skipped, because the image has no negative.

    lists : `SortedLists`, which contain sigma_f; an epoch takes several calls, and the caller sorts the lists again
        between these calls
    draws : `Draws`, overwritten
    rank_scale : float, lambda of Eq. 5
    rates : `Rates`, which contain eta and the regularisation lambda'

    Returns the sum of the losses of the steps, float64.

    The lists do not change during a call, so a negative depends only on its image's vector and on random numbers.
    Several steps on different images are therefore carried out together, in four passes. The passes compute the weights
    of the factors, find the positions in the lists, read the negatives at these positions, and take the steps. The
    second and the third pass prefetch the memory that the next pass reads. The stage "fetch" of the `Pipeline` is not
    needed: the weights are computed for several images in a row, and the computation for one image does not wait for
    the vector of another.
    """
    images, labels = embedding
    n_labels = len(labels)
    learning_rate = np.float32(rates.learning_rate)
    shrinkage = np.float32(rates.learning_rate * rates.regularisation)
    span = np.expm1(-n_labels / rank_scale)
    ranks, shares, factors, positions, sums = draws.ranks, draws.shares, draws.factors, draws.positions, draws.sums
    loss = 0.0
    for first in turns(steps):
        n_steps = batch_size(steps, first)
        batch = pipeline.stepping
        for t in range(n_steps):
            draws.images[t] = batch[t, IMAGE]
            ranks[t] = draw_rank(rank_scale, span, n_labels, streams.negatives)
            shares[t] = uniform(streams.negatives)
        begin = 0
        while begin < n_steps:
            end = first_repeat(draws.images, begin, n_steps)
            for t in range(begin, end):
                weigh_factors(images, batch[t, IMAGE], lists.deviations, sums[t])
            for t in range(begin, end):
                f, position = find_position(images, batch[t, IMAGE], lists.order, sums[t], ranks[t], shares[t])
                factors[t], positions[t] = f, position
                prefetch(lists.order, (f, position))
            for t in range(begin, end):
                start, stop = batch[t, START], batch[t, STOP]
                batch[t, NEGATIVE] = lists.order[factors[t], positions[t]]
                if stop - start == n_labels:
                    batch[t, NEGATIVE] = -1
                elif contains(pipeline.positives.row_labels, start, stop, batch[t, NEGATIVE]):
                    batch[t, NEGATIVE] = redraw_negative(
                        images, batch[t, IMAGE], pipeline.positives.row_labels, start, stop, lists.order, sums[t],
                        rank_scale, streams.redraws,
                    )  # fmt: skip
                prefetch_row(labels, max(batch[t, NEGATIVE], 0))
            for t in range(begin, end):
                choose_and_read(t, pipeline, first, steps, streams.positives)
                i, p, _, _, n = batch[t]
                if n < 0:
                    continue
                violation = np.float32(1) - margin(embedding, i, p, n)
                if violation > 0:
                    loss += violation
                    sgd_step(embedding, i, p, n, learning_rate, shrinkage)
            begin = end
        for t in range(n_steps, BATCH):
            choose_and_read(t, pipeline, first, steps, streams.positives)
        pipeline = advance(pipeline)
    return loss


@njit(cache=True, inline="always")
def first_repeat(images, start, stop):
    """Return the first index whose image has already occurred since index `start`.

    If the images with the indices `start` to `stop` - 1 are all different, return `stop`.

    images : (n,) int32, with LANES unused numbers at its end
    start, stop : integers; stop - start is at most LANES
    """
    for t in range(start + 1, stop):
        if any_equal(images, start, t - start, images[t]):
            return t
    return stop


@njit(cache=True, inline="always")
def draw_rank(scale, span, n_labels, rng):
    """Return a rank r from 0 to n_labels - 1 with probability proportional to exp(-r / scale) (Eq. 5).

    scale : float64, lambda of Eq. 5
    span : float64, exp(-n_labels / scale) - 1
    """
    rank = -scale * np.log(1.0 + uniform(rng) * span)
    return min(np.int64(rank), n_labels - 1)


@njit(cache=True, fastmath=FASTMATH, inline="always")
def weigh_factors(images, i, deviations, sums):
    """Write cumulative sums of the factors' weights to `sums`, for `find_factor`.

    The weight of factor f is |v_if| sigma_f, where v_i is row i of `images`. Lane e contains the factors e, e + 16,
    e + 32, ...

    images : (n_images, K) float32
    i : integer, the image
    deviations : (K,) float32, sigma_f
    sums : (K + 32,) float32, written. sums[f] is the total weight of factor f and the factors before f in the same
        lane. sums[K + 16 + e] is the total weight of the lanes 0 to e. sums[K + 15] stays 0.
    """
    n_factors = images.shape[1]
    lane_sums = broadcast(np.float32(0))
    for f in range(0, n_factors, LANES):
        lane_sums = lane_sums + absolute(load(images, (i, f))) * load(deviations, f)
        store(sums, f, lane_sums)
    store(sums, n_factors + LANES, cumsum(lane_sums))


@njit(cache=True, fastmath=FASTMATH, inline="always")
def find_factor(sums, share):
    """Draw a factor f with probability proportional to its weight, |v_if| sigma_f (Eq. 7).

    A lane is drawn first, then a factor in this lane. Lane e contains the factors e, e + 16, e + 32, ...

    sums : (K + 32,) float32, from `weigh_factors`
    share : float64, uniform in [0, 1)

    The drawn weight is `share` times the total weight. The lane is found by counting the lanes whose cumulative sums do
    not exceed this weight. The factor is found in the same way within the lane. Counting is faster than binary search
    here, because it has no branches that the processor could mispredict. Because of rounding, the result can exceed the
    last factor with a positive weight; callers must allow for this.
    """
    n_factors = len(sums) - 2 * LANES
    rest = np.float32(share) * sums[-1]
    lane = LANES - count_bits(greater_mask(load(sums, n_factors + LANES), rest))
    rest -= sums[n_factors + LANES + lane - 1]
    factor = min(lane, LANES - 1)
    for f in range(factor, n_factors, LANES):
        factor += LANES * (sums[f] <= rest)
    return factor


@njit(cache=True, inline="always")
def find_position(images, i, order, sums, rank, share):
    """Return a factor, and the position of a rank in the list of this factor (Algorithm 1, lines 12 to 17).

    `share` determines the factor. If v_if > 0, the rank is counted from the top of the list, and otherwise from the
    bottom. The position is always counted from the top.

    images : (n_images, K) float32, the v_i
    i : integer, the image
    order : (n_factors, n_labels), of `SortedLists`
    sums : (K + 32,) float32, from `weigh_factors` for the image
    rank : integer, from 0
    share : float64, uniform in [0, 1)
    """
    n_factors, n_labels = order.shape
    f = min(find_factor(sums, share), n_factors - 1)
    return f, (rank if images[i, f] > 0 else n_labels - 1 - rank)


@njit(cache=True, nogil=True, **NO_ALLOCATION)
def redraw_negative(images, i, row_labels, start, stop, order, sums, rank_scale, rng):
    """Draw labels from the lists until one of them is a negative of image i, and return this negative.

    After n_labels rejected draws, a negative is drawn uniformly, because the lists then almost certainly yield only
    positives.

    row_labels, start, stop : row_labels[start:stop] are the labels of the image
    rank_scale : as in `vse_ens_epoch`
    images, i, order, sums : as in `find_position`
    """
    n_labels = order.shape[1]
    span = np.expm1(-n_labels / rank_scale)
    for _ in range(n_labels):
        rank = draw_rank(rank_scale, span, n_labels, rng)
        label = np.int64(order[find_position(images, i, order, sums, rank, uniform(rng))])
        if not contains(row_labels, start, stop, label):
            return label
    return draw_negative(row_labels, start, stop, n_labels, rng)
