"""Losses over label pairs, and the scores that minimise their exact risk under a distribution over label sets.

For an image with label set Y and scores f, let z be the log of the sum of exp(f_v - f_u) over all pairs of a label u in
Y and a label v not in Y. Then z = log A + log B, where A is the sum of exp(f_v) over the labels v not in Y, and B the
sum of exp(-f_u) over the labels u in Y. The losses are

    log_sum_exp     log(1 + exp(z))
    exponential     exp(z), with z computed from f / 2
    bp_mll          exp(z) / (number of pairs)

The risk is the expected loss over the label sets. The empty set and the set of all labels have no pairs, so their loss
is 0. Adding a constant to all scores does not change the risk. The minimisers that this module computes have mean 0.
"""

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logsumexp

Values = NDArray[np.float64]
Loss = Literal["log_sum_exp", "exponential", "bp_mll"]
Sets = Literal["any", "independent", "one_label"]
CONCENTRATION = 0.3  # parameter of the Dirichlet distribution for `any`; small, so that a few sets are frequent
STEPS = 500
TINY = 1e-10  # steps smaller than this end the search
TIE = 1e-6  # smaller differences of probabilities or scores count as ties


def all_sets(labels: int) -> NDArray[np.bool_]:
    """Return all sets of labels as a mask of shape (2^labels, labels).

    Row i contains label k if bit k of the number i is 1.
    """
    bits = np.arange(2**labels)[:, None] >> np.arange(labels)
    return np.asarray(bits & 1 == 1)


def independent(marginals: Values) -> Values:
    """Return the probability of each set in `all_sets` if labels are independent.

    `marginals`, (..., labels), contains the probability of each label. The result has shape (..., 2^labels).
    """
    present = all_sets(marginals.shape[-1])
    return np.asarray(np.where(present, marginals[..., None, :], 1 - marginals[..., None, :]).prod(axis=-1))


def draw(sets: Sets, labels: int, number: int, rng: np.random.Generator) -> Values:
    """Draw random distributions over the sets in `all_sets`, as an array of shape (number, 2^labels).

    The kind of distribution depends on `sets`:

    - `any`: the probabilities of all sets have a Dirichlet distribution;
    - `independent`: labels are independent, with probabilities drawn uniformly between 0.02 and 0.98;
    - `one_label`: only sets of one label occur. Draws are uniform among the distributions over these sets.
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
    """Return whether the risk under a distribution has a minimiser.

    `chances`, (2^labels,), contains the probabilities of `all_sets`. If there is no minimiser, the risk keeps
    decreasing while some scores grow without bound. There is a minimiser if and only if a chain of labels leads from
    every label to every other label, such that each label in the chain can occur without the next one.
    """
    labels = len(chances).bit_length() - 1
    present = all_sets(labels)
    without = (present * chances[:, None]).T @ ~present > 0
    return bool((np.linalg.matrix_power(without + np.eye(labels), labels) > 0).all())


def minimisers(chances: Values, loss: Loss) -> Values:
    """Return the scores that minimise the risk under each distribution, by damped Newton steps.

    Each row of `chances`, (n, 2^labels), contains the probabilities of `all_sets`. For each row, the risk must have a
    minimiser (`has_minimiser`). The result has shape (n, labels), and the mean of each row is 0.
    """
    labels = chances.shape[1].bit_length() - 1
    scores = np.zeros((len(chances), labels))
    for _ in range(STEPS):
        gradient, curvature = derivatives(scores, chances, loss)
        # Adding a constant to all scores does not change the risk. Adding curvature in this direction removes the
        # constant part of the step. The pseudo-inverse is used because rounding can remove all curvature that comes
        # from probabilities such as 1e-20.
        step = (np.linalg.pinv(curvature + 1 / labels, hermitian=True) @ gradient[:, :, None])[:, :, 0]
        # A step of this length decreases a sum of exponentials and its logarithm (generalised self-concordance: Sun and
        # Tran-Dinh, Mathematical Programming 178, 2019).
        size = np.maximum(4 * np.abs(step).max(axis=1, keepdims=True), TINY)
        scores -= step * np.log1p(size) / size
        if size.max() == TINY:
            break
    return np.asarray((scores - scores.mean(axis=1, keepdims=True)) * (2 if loss == "exponential" else 1))


def derivatives(scores: Values, chances: Values, loss: Loss) -> tuple[Values, Values]:
    """Return the gradient, (n, labels), and the second derivatives, (n, labels, labels), of the risk.

    For an image with scores f, let p be the softmax of f over the labels that are not in a set, and q the softmax of -f
    over the labels in the set. For the z in the docstring of this module, dz/df = p - q, and the second derivatives are
    diag(p + q) - p p' - q q', where p' is the transpose of p. For `exponential`, pass halved scores; the derivatives
    are then those with respect to the halved scores.
    """
    labels = scores.shape[1]
    present = all_sets(labels)[1:-1]
    weights = chances[:, 1:-1]
    with np.errstate(divide="ignore"):
        out, inside = np.log(~present), np.log(present)  # 0 or -inf, used as masks on exponents
    log_a, log_b = (logsumexp(sign * scores[:, None] + mask, axis=2) for sign, mask in ((1, out), (-1, inside)))
    p = np.exp(scores[:, None] + out - log_a[:, :, None])
    q = np.exp(inside - scores[:, None] - log_b[:, :, None])
    z = log_a + log_b
    if loss == "log_sum_exp":
        slope, bend = weights * expit(z), weights * expit(z) * expit(-z)
    else:
        pairs = present.sum(axis=1) * (~present).sum(axis=1) if loss == "bp_mll" else 1
        slope = bend = weights / pairs * np.exp(z)
    gradient = np.einsum("ns,nsk->nk", slope, p - q)
    curvature = np.einsum("ns,nsk,nsl->nkl", bend, p - q, p - q)
    curvature -= np.einsum("ns,nsk,nsl->nkl", slope, p, p) + np.einsum("ns,nsk,nsl->nkl", slope, q, q)
    curvature += np.einsum("ns,nsk->nk", slope, p + q)[:, :, None] * np.eye(labels)
    return gradient, curvature


def marginals(chances: Values) -> Values:
    """Return the probability of each label under each distribution, as an array of shape (n, labels).

    Each row of `chances`, (n, 2^labels), contains the probabilities of `all_sets`.
    """
    return chances @ all_sets(chances.shape[1].bit_length() - 1)


def violates_order(scores: Values, chances: Values) -> NDArray[np.bool_]:
    """Return for each distribution whether a label scores below a less probable label, as an array of shape (n,)."""
    probabilities = marginals(chances)
    ahead = probabilities[:, :, None] - probabilities[:, None, :] > TIE
    behind = scores[:, :, None] - scores[:, None, :] < -TIE
    return np.asarray((ahead & behind).any(axis=(1, 2)))


def distance_from_formula(scores: Values, chances: Values) -> Values:
    """Return the largest distance of the scores from a formula, for each distribution.

    For the score of label u, the formula is log P(u in Y) + c, where Y is a random label set. The constant c makes the
    mean of the formula over the labels 0. The result has shape (n,).
    """
    formula = np.log(marginals(chances))
    return np.asarray(np.abs(scores - (formula - formula.mean(axis=1, keepdims=True))).max(axis=1))
