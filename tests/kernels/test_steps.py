import numpy as np
import pytest

from tests.reference.arrays import embedding_of, pipeline_of, streams
from vsebench.kernels.sgd.opt_auc import opt_auc_epoch
from vsebench.kernels.sgd.steps import Rates, logistic, project
from vsebench.kernels.sgd.warp import new_trials, warp_epoch


def numerical_gradient(loss, image, positive, negative):
    parameters = np.concatenate([image, positive, negative]).astype(float)
    gradient = np.empty_like(parameters)
    for index in range(len(parameters)):
        values = []
        for sign in (1, -1):
            shifted = parameters.copy()
            shifted[index] += sign * 1e-5
            values.append(loss(*np.split(shifted, 3)))
        gradient[index] = (values[0] - values[1]) / 2e-5
    return np.split(gradient, 3)


@pytest.mark.parametrize("kind", ["logistic", "hinge"])
def test_one_step_follows_the_gradient_of_loss_and_penalty(kind):
    """Rate times the numerical gradient of loss + (regularisation / 2) * squared norms."""
    rng = np.random.default_rng(0)
    image, positive, negative = rng.normal(0, 0.3, (3, 4)).astype(np.float32)
    rates = Rates(0.01, 0.5)

    def loss(u, p, n):
        margin = u @ (p - n)
        fit = np.log1p(np.exp(-margin)) if kind == "logistic" else max(0, 1 - margin)
        return fit + rates.regularisation / 2 * (u @ u + p @ p + n @ n)

    embedding = embedding_of(image[None], np.stack([positive, negative]))
    images, labels = (matrix.copy() for matrix in embedding)
    if kind == "logistic":
        opt_auc_epoch(embedding, pipeline_of([[0]]), 1, rates, streams(1))
    else:
        warp_epoch(embedding, pipeline_of([[0]]), new_trials(2, 1), 1, rates, 0.0, streams(1))
    gradients = numerical_gradient(loss, image, positive, negative)
    steps = [embedding.images[0] - images[0], *(embedding.labels - labels)]
    for step, gradient in zip(steps, gradients, strict=True):
        np.testing.assert_allclose(step[:4], -rates.learning_rate * gradient, atol=1e-5)


def test_logistic_of_large_margins_is_finite():
    assert logistic(np.float32(1000)) == (0, 0)
    assert logistic(np.float32(-1000)) == (0, 1)
    decay, slope = logistic(np.float32(0.5))
    assert decay == pytest.approx(np.exp(-0.5), rel=1e-6)
    assert slope == pytest.approx(1 / (1 + np.exp(0.5)), rel=1e-6)


def test_long_vectors_are_projected_to_the_ball():
    matrix = np.zeros((2, 16), dtype=np.float32)
    matrix[:, :2] = [[3, 4], [0.3, 0.4]]
    for row in (0, 1):
        project(matrix, row, np.float32(2))
    np.testing.assert_allclose(matrix[:, :2], [[1.2, 1.6], [0.3, 0.4]], rtol=1e-6)
