"""iALS against its loss in plain NumPy, alternating exact solutions, and VSE-fs."""

from itertools import pairwise

import numpy as np
import pytest

from tests.builders import dense, matrix_of, rows_of
from tests.methods.problems import fit_to, problem_from, settings_of
from vsebench.core.workers import workers
from vsebench.methods.by_labels.ials import Ials

SETTINGS = {"alpha_0": 0.2, "regularisation": 0.05, "nu": 0.7, "factors": 6, "deviation": 0.3}


@pytest.fixture(scope="module")
def matrix():
    """Sixty images of twenty labels of different frequency; one image without labels, one label without images."""
    rng = np.random.default_rng(7)
    chance = np.linspace(0.6, 0.05, 20)
    chance[9] = 0
    rows = [np.flatnonzero(rng.random(20) < chance).tolist() for _ in range(60)]
    rows[4] = []
    return matrix_of(rows, 20, counts=rng.integers(1, 4, sum(map(len, rows))))


class Twin:
    """The loss of Rendle and others in float64, its gradient, and alternating least squares by direct solutions."""

    def __init__(self, matrix, settings):
        self.positive = dense(matrix).astype(float)
        self.alpha = settings["alpha_0"]
        n_images, n_labels = self.positive.shape
        power, scale = settings["nu"], settings["regularisation"]
        self.of_image = scale * (self.positive.sum(axis=1) + self.alpha * n_labels) ** power
        self.of_label = scale * (self.positive.sum(axis=0) + self.alpha * n_images) ** power

    def loss(self, image, label):
        scores = image @ label.T
        penalty = self.of_image @ (image**2).sum(axis=1) + self.of_label @ (label**2).sum(axis=1)
        return (self.positive * (1 - scores) ** 2).sum() + self.alpha * (scores**2).sum() + penalty

    def gradient(self, image, label):
        scores = image @ label.T
        of_scores = 2 * (self.positive * (scores - 1) + self.alpha * scores)
        return (
            of_scores @ label + 2 * self.of_image[:, None] * image,
            of_scores.T @ image + 2 * self.of_label[:, None] * label,
        )

    def solve(self, positive, partners, penalties):
        """Return each row's vector at the minimum, by its normal equations."""
        everything = self.alpha * partners.T @ partners
        identity = np.eye(partners.shape[1])
        return np.array(
            [
                np.linalg.solve(
                    everything + partners.T @ (row[:, None] * partners) + penalty * identity, partners.T @ row
                )
                for row, penalty in zip(positive, penalties, strict=True)
            ]
        )

    def descend(self, label, iterations):
        for _ in range(iterations):
            image = self.solve(self.positive, label, self.of_image)
            label = self.solve(self.positive.T, image, self.of_label)
        return image, label


def converged(matrix, settings, epochs=400):
    model, reports = fit_to("ials", matrix, epochs=epochs, **settings)
    return model.image.astype(float), model.label.astype(float), [report.loss for report in reports]


@pytest.mark.parametrize("nu", [0.0, 0.7, 1.0])
def test_the_gradient_of_the_loss_is_zero_after_many_epochs(matrix, nu):
    settings = SETTINGS | {"nu": nu}
    twin = Twin(matrix, settings)
    image, label, losses = converged(matrix, settings)
    start, _, _ = converged(matrix, settings, epochs=1)
    assert losses[-1] == pytest.approx(twin.loss(image, label), rel=1e-5)
    largest = max(np.abs(part).max() for part in twin.gradient(image, label))
    assert largest < 1e-3 * np.abs(twin.gradient(start, label)[0]).max()


@pytest.mark.parametrize(("nu", "regularisation"), [(0.0, 1.0), (1.0, 0.05)])
@pytest.mark.parametrize("alpha_0", [0.02, 0.5])
def test_from_the_same_start_the_loss_is_that_of_alternating_direct_solutions(matrix, nu, regularisation, alpha_0):
    settings = SETTINGS | {"nu": nu, "regularisation": regularisation, "alpha_0": alpha_0}
    twin = Twin(matrix, settings)
    image, label, _ = converged(matrix, settings)
    first, _, _ = converged(matrix, settings, epochs=1)
    _, start, _ = converged(matrix, settings, epochs=0)
    assert twin.loss(image, label) == pytest.approx(twin.loss(*twin.descend(start, 400)), rel=1e-4)
    assert twin.loss(first, label) > 1.01 * twin.loss(image, label)


def test_repeated_updates_of_the_images_alone_reach_their_direct_solution(matrix):
    twin = Twin(matrix, SETTINGS)
    with workers(1) as pool:
        fitter = Ials(problem_from(matrix, pool), settings_of("ials", **SETTINGS))
        for _ in range(200):
            fitter._sweep_images()
        model = fitter.model()
    expected = twin.solve(twin.positive, model.label.astype(float), twin.of_image)
    assert np.allclose(model.image, expected, atol=1e-4)


@pytest.mark.parametrize("nu", [0.0, 1.0])
def test_no_epoch_raises_the_loss(matrix, nu):
    _, _, losses = converged(matrix, SETTINGS | {"nu": nu}, epochs=100)
    assert all(later <= earlier * (1 + 1e-6) for earlier, later in pairwise(losses))
    assert losses[-1] < 0.9 * losses[0]


@pytest.mark.parametrize("nu", [0.0, 0.8])
def test_it_is_vse_fs_without_label_vectors_in_other_units(matrix, nu):
    """The loss / (1 + alpha_0) is that of VSE-fs with w = 1, beta_c = alpha_0 / (1 + alpha_0) and scaled vectors."""
    settings = SETTINGS | {"nu": nu}
    total = 1 + settings["alpha_0"]
    same = {
        "beta_0": 20 * settings["alpha_0"] / total, "alpha": 0.0, "gamma": 0.0, "weights": "ones", "nu": nu,
        "regularisation": settings["regularisation"] * total**nu, "deviation": settings["deviation"] * total**0.5,
    }  # fmt: skip
    ials, _ = fit_to("ials", matrix, epochs=20, **settings)
    vse_fs, _ = fit_to("vse_fs", matrix, epochs=20, **(same | {"factors": settings["factors"]}))
    assert np.allclose(ials.image * total**0.5, vse_fs.image, atol=1e-4)
    assert np.allclose(ials.image @ ials.label.T * total, vse_fs.image @ vse_fs.label.T, atol=1e-4)


def test_what_has_no_label_or_no_image_has_the_score_zero(matrix):
    image, label, _ = converged(matrix, SETTINGS, epochs=50)
    assert np.abs(image[4]).max() < 1e-6
    assert np.abs(label[9]).max() < 1e-6


def test_repeated_labels_count_once(matrix):
    once = matrix_of(rows_of(matrix), matrix.n_labels)
    with workers(1) as pool:
        first, second = (Ials(problem_from(m, pool), settings_of("ials", **SETTINGS)) for m in (matrix, once))
        assert first.epoch().loss == second.epoch().loss
