"""Losses over pairs of labels: the scores that minimise their exact risk, for finite distributions over label sets.

An image with the label set Y and scores f has z = log of the sum of exp(f_v - f_u) over the pairs of u in Y and v not
in Y, which is log A + log B with A = sum of exp(f_v), B = sum of exp(-f_u). The losses are

    log_sum_exp     log(1 + exp(z))
    exponential     exp(z) of the halved scores
    bp_mll          exp(z) / (pairs)

The risk is the mean over the label sets by their probabilities. A set of no labels or of all has no pair and no loss.
The risks do not change with a constant added to all scores; the minimisers here have mean 0.
"""

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logsumexp

Values = NDArray[np.float64]
Loss = Literal["log_sum_exp", "exponential", "bp_mll"]
Sets = Literal["any", "independent", "one_label"]
CONCENTRATION = 0.3  # of the Dirichlet distribution that chances of any label sets are drawn from: few sets dominate
STEPS = 500
TINY = 1e-10  # a step below this ends the search
TIE = 1e-6  # chances and scores that differ by less have no order


def all_sets(labels: int) -> NDArray[np.bool_]:
    """Return all subsets of the labels, (2^labels, labels): row i has label k where bit k of i is set."""
    bits = np.arange(2**labels)[:, None] >> np.arange(labels)
    return np.asarray(bits & 1 == 1)


def independent(marginals: Values) -> Values:
    """Return the chances of `all_sets` for labels that are drawn independently, (..., labels) -> (..., 2^labels)."""
    there = all_sets(marginals.shape[-1])
    chances: Values = np.where(there, marginals[..., None, :], 1 - marginals[..., None, :]).prod(axis=-1)
    return chances


def draw(sets: Sets, labels: int, number: int, rng: np.random.Generator) -> Values:
    """Draw distributions over `all_sets`, (number, 2^labels).

    Parameters
    ----------
    sets
        `any`: chances from a Dirichlet distribution over all sets; `independent`: each label's chance uniform between
        0.02 and 0.98; `one_label`: uniform among all distributions over the sets of one label.
    """
    match sets:
        case "any":
            return rng.dirichlet(np.full(2**labels, CONCENTRATION), number)
        case "independent":
            return independent(rng.uniform(0.02, 0.98, (number, labels)))
        case "one_label":
            chances = np.zeros((number, 2**labels))
            chances[:, 2 ** np.arange(labels)] = rng.dirichlet(np.ones(labels), number)
            return chances


def has_minimiser(chances: Values) -> bool:
    """Return whether one distribution, (2^labels,), has a minimiser; without one, some score grows without end.

    It has one if from each label a chain u, v, .. leads to each other label, in which every label can be there without
    the next one.
    """
    labels = len(chances).bit_length() - 1
    there = all_sets(labels)
    without = (there * chances[:, None]).T @ ~there > 0
    return bool((np.linalg.matrix_power(without + np.eye(labels), labels) > 0).all())


def minimisers(chances: Values, loss: Loss) -> Values:
    """Return the scores that minimise the risk of each distribution, by damped Newton steps.

    Parameters
    ----------
    chances : (n, 2^labels), the chances of `all_sets`; each distribution must have a minimiser (`has_minimiser`)

    Returns
    -------
    (n, labels), each row with mean 0
    """
    labels = chances.shape[1].bit_length() - 1
    scores = np.zeros((len(chances), labels))
    for _ in range(STEPS):
        gradient, curvature = derivatives(scores, chances, loss)
        # A risk is flat along the constant: curvature is added there, so that the step has none of it. A pseudo-inverse
        # is taken, since the curvature that chances of 1e-20 leave is lost in rounding.
        step = (np.linalg.pinv(curvature + 1 / labels, hermitian=True) @ gradient[:, :, None])[:, :, 0]
        # A step of this length lowers a sum of exponentials, and its logarithm (generalised self-concordance: Sun and
        # Tran-Dinh, Mathematical Programming 178, 2019).
        size = np.maximum(4 * np.abs(step).max(axis=1, keepdims=True), TINY)
        scores -= step * np.log1p(size) / size
        if size.max() == TINY:
            break
    found: Values = (scores - scores.mean(axis=1, keepdims=True)) * (2 if loss == "exponential" else 1)
    return found


def derivatives(scores: Values, chances: Values, loss: Loss) -> tuple[Values, Values]:
    """Return the gradient (n, labels) and the second derivatives (n, labels, labels) of the risk.

    With p the softmax of f over the labels that are not there and q that of -f over those that are, dz/df = p - q and
    the second derivatives of z are diag(p + q) - p p' - q q'. For `exponential`, scores are the halved ones.
    """
    labels = scores.shape[1]
    there = all_sets(labels)[1:-1]
    weights = chances[:, 1:-1]
    with np.errstate(divide="ignore"):
        out, inside = np.log(~there), np.log(there)  # 0 or -inf: a mask on exponents
    log_a, log_b = (logsumexp(sign * scores[:, None] + mask, axis=2) for sign, mask in ((1, out), (-1, inside)))
    p = np.exp(scores[:, None] + out - log_a[:, :, None])
    q = np.exp(inside - scores[:, None] - log_b[:, :, None])
    z = log_a + log_b
    if loss == "log_sum_exp":
        slope, bend = weights * expit(z), weights * expit(z) * expit(-z)
    else:
        pairs = there.sum(axis=1) * (~there).sum(axis=1) if loss == "bp_mll" else 1
        slope = bend = weights / pairs * np.exp(z)
    gradient = np.einsum("ns,nsk->nk", slope, p - q)
    curvature = np.einsum("ns,nsk,nsl->nkl", bend, p - q, p - q)
    curvature -= np.einsum("ns,nsk,nsl->nkl", slope, p, p) + np.einsum("ns,nsk,nsl->nkl", slope, q, q)
    curvature += np.einsum("ns,nsk->nk", slope, p + q)[:, :, None] * np.eye(labels)
    return gradient, curvature


def marginals(chances: Values) -> Values:
    """Return P(u in Y), (n, 2^labels) -> (n, labels)."""
    found: Values = chances @ all_sets(chances.shape[1].bit_length() - 1)
    return found


def violates_order(scores: Values, chances: Values) -> NDArray[np.bool_]:
    """Return for each distribution whether some label scores below one that is less probable, (n,)."""
    found = marginals(chances)
    ahead = found[:, :, None] - found[:, None, :] > TIE
    behind = scores[:, :, None] - scores[:, None, :] < -TIE
    return np.asarray((ahead & behind).any(axis=(1, 2)))


def distance_from_formula(scores: Values, chances: Values) -> Values:
    """Return the largest difference of scores from log P(u in Y) + c, with the c that gives both mean 0; (n,)."""
    formula = np.log(marginals(chances))
    found: Values = np.abs(scores - (formula - formula.mean(axis=1, keepdims=True))).max(axis=1)
    return found
