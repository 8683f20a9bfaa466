"""Opt-AUC: stochastic gradient steps on the logistic loss, with negatives that are drawn uniformly.

Source: Opt-AUC is the baseline of the papers on VSE-fs and VSE-ens. It is the same method as BPR (Rendle et al., UAI
2009).
"""

import numpy as np
from numba import njit

from vsebench.kernels.products import margin
from vsebench.kernels.sgd.pipeline import BATCH, NEGATIVE, advance, batch_size, choose_and_read, prefetch_row, turns
from vsebench.kernels.sgd.sampling import draw_negative
from vsebench.kernels.sgd.steps import exact_product, logistic, sgd_step
from vsebench.kernels.vectors import FASTMATH, NO_ALLOCATION


@njit(cache=True, fastmath=FASTMATH, nogil=True, **NO_ALLOCATION)
def opt_auc_epoch(embedding, pipeline, steps, rates, streams):
    """Take `steps` steps that lower the logistic loss of a positive p and a uniformly drawn negative n.

    The loss of a step on image i is log(1 + exp(-m)), where m = <v_i, v_p - v_n>. The step adds
    eta (1 / (1 + exp(m)) dm/dv - lambda v) to each vector v of v_i, v_p and v_n. Steps for an image with every label
    are skipped, because the image has no negative.

    rates : `Rates`, which contain eta and lambda

    Returns the mean loss of the steps, float64.
    """
    learning_rate = np.float32(rates.learning_rate)
    shrinkage = np.float32(rates.learning_rate * rates.regularisation)
    loss = 0.0
    for first in turns(steps):
        growth = 1.0  # product of the factors 1 + exp(-|m|), so that a batch needs one logarithm
        for t in range(BATCH):
            choose_and_read(t, pipeline, first, steps, streams.positives)
            if t < batch_size(steps, first + BATCH):
                fetch_triple(t, pipeline, embedding, streams.negatives)
            i, p, _, _, n = pipeline.stepping[t]
            if t >= batch_size(steps, first) or n < 0:
                continue
            m = margin(embedding, i, p, n)
            decay, slope = logistic(m)
            size = exact_product(learning_rate, slope)
            growth *= 1.0 + decay
            loss += max(-m, np.float32(0))
            sgd_step(embedding, i, p, n, size, shrinkage)
        loss += np.log(growth)
        pipeline = advance(pipeline)
    return loss / steps


@njit(cache=True, inline="always")
def fetch_triple(t, pipeline, embedding, rng):
    """Carry out the stage "fetch" of step t of a batch: draw a negative uniformly, and prefetch three vectors.

    The vectors are those of the image, of the positive and of the negative. The id of the negative is written to the
    column NEGATIVE of the batch. If the image has every label, -1 is written.
    """
    images, labels = embedding
    i, p, start, stop, _ = pipeline.fetching[t]
    n = np.int64(-1)
    if stop - start < len(labels):
        n = draw_negative(pipeline.positives.row_labels, start, stop, len(labels), rng)
    pipeline.fetching[t, NEGATIVE] = n
    prefetch_row(images, i)
    prefetch_row(labels, p)
    prefetch_row(labels, max(n, 0))
