"""Updates that move the vectors of untrained labels in the same way as training moved those of trained labels.

W0 and W1, (n, d), are the vectors of the trained labels before and after training. D0, (m, d), are the vectors of the
untrained labels. An update takes W0, W1 and D0 as `before`, `after` and `unseen`. It returns D1, (m, d) float64, the
new vectors of the untrained labels.

If training only rotates the vectors (W1 = W0 Q for a rotation Q), D1 should be D0 Q. In this case, `procrustes` and
`nonlinear` return D0 Q if the trained vectors span the space. Under the same condition, `linear_dots` and `linear_map`
return D0 Q only approximately, because they have a penalty lambda. `none` and `published` do not return D0 Q.

Source: Ni and others, "Sampled image tagging and retrieval methods on user generated content", section 3.2, Eq. 5, 6.
"""

from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from vsebench.data.problem import Matrix

Vectors = NDArray[np.float64]
Update = Literal["none", "published", "linear_dots", "linear_map", "procrustes", "nonlinear"]
PUBLISHED_SCALE = 0.2
PENALTY = 0.1  # lambda of the linear updates
ITERATIONS = 100  # maximum number of iterations of L-BFGS


def none(before: Vectors, after: Vectors, unseen: Vectors) -> Vectors:
    """Return the vectors of the untrained labels, `unseen`, unchanged."""
    return unseen


def published(before: Vectors, after: Vectors, unseen: Vectors) -> Vectors:
    """Return the vectors of the untrained labels times 0.2, as the code of Ni and others effectively does.

    Their code computes the inner products of `unseen` and `after`, and then solves for the vectors that have the same
    inner products with `after`. With fewer trained labels than dimensions, their code inverts a singular matrix; this
    function does not.
    """
    return PUBLISHED_SCALE * unseen


def linear_dots(before: Vectors, after: Vectors, unseen: Vectors) -> Vectors:
    """Keep the inner products with the trained labels: D1 = D0 W0' W1 (W1' W1 + lambda I)^-1.

    The module's docstring defines these matrices; I is the identity, and lambda is `PENALTY`. If training makes the
    trained vectors c times as long, D1 is about 1/c times as long as D0.
    """
    gram = after.T @ after + PENALTY * np.eye(after.shape[1])
    return np.asarray(np.linalg.solve(gram, after.T @ (before @ unseen.T)).T)


def linear_map(before: Vectors, after: Vectors, unseen: Vectors) -> Vectors:
    """Apply the linear map A that best maps W0 to W1: D1 = D0 A, where A minimises |W0 A - W1|^2 + lambda |A - I|^2.

    The module's docstring defines the other matrices; I is the identity, and lambda is `PENALTY`.
    """
    identity = np.eye(before.shape[1])
    gram = before.T @ before + PENALTY * identity
    return np.asarray(unseen @ np.linalg.solve(gram, before.T @ after + PENALTY * identity))


def procrustes(before: Vectors, after: Vectors, unseen: Vectors) -> Vectors:
    """Apply the best rotation from W0 to W1: D1 = D0 U V', with the singular value decomposition U S V' of W0' W1.

    The module's docstring defines W0, W1, D0 and D1.
    """
    left, _, right = np.linalg.svd(before.T @ after)
    return np.asarray(unseen @ left @ right)


def nonlinear(before: Vectors, after: Vectors, unseen: Vectors) -> Vectors:
    """Keep the sigmoids of the inner products with other labels as far as possible: Eq. 6 of Ni and others.

    The result minimises the sum over untrained labels d and all labels m other than d of

        log(1 + exp(s_dm)) - sig(c_dm) s_dm

    where sig is the sigmoid. c_dm is the inner product of the initial vectors of d and m, and s_dm is that of their
    vectors after training and the update. L-BFGS computes the minimum, starting at `unseen`.
    """
    from scipy.optimize import minimize  # the import takes 0.1 seconds, and Snakemake imports this module

    n_unseen, n_trained = len(unseen), len(before)
    target = expit(unseen @ np.vstack([before, unseen]).T)
    mask = np.ones(target.shape)  # 0 for pairs of a label with itself
    mask[np.arange(n_unseen), n_trained + np.arange(n_unseen)] = 0

    def loss(flat: Vectors) -> tuple[float, Vectors]:
        moved = flat.reshape(unseen.shape)
        everything = np.vstack([after, moved])
        products = moved @ everything.T
        total = (mask * (np.logaddexp(0, products) - target * products)).sum()
        slope = mask * (expit(products) - target)
        return float(total), (slope @ everything + slope[:, n_trained:].T @ moved).ravel()

    minimum = minimize(loss, unseen.ravel(), method="L-BFGS-B", jac=True, options={"maxiter": ITERATIONS})
    return np.asarray(minimum.x.reshape(unseen.shape))


UPDATES: dict[str, Callable[[Vectors, Vectors, Vectors], Vectors]] = {
    update.__name__: update for update in (none, published, linear_dots, linear_map, procrustes, nonlinear)
}


def updated(unseen: Matrix, before: Matrix, after: Matrix, name: Update) -> Matrix:
    """Return the vectors of untrained labels, (m, d) float32, after the update `name`.

    `unseen`, (m, d) float32, are their vectors before the update. `before` and `after`, (n, d) float32, are the vectors
    of the trained labels before and after training.
    """
    if name == "none" or not len(unseen):
        return unseen
    moved = UPDATES[name](before.astype(np.float64), after.astype(np.float64), unseen.astype(np.float64))
    return moved.astype(np.float32)
