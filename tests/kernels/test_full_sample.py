from itertools import pairwise

import numpy as np
import pytest

from tests.reference.full_sample import Problem as Twin
from vsebench.core.workers import workers
from vsebench.data.problem import LabelMatrix, Problem, Training
from vsebench.methods.by_labels.full_sample import chunks_of_equal_work, label_penalties, penalty_scales
from vsebench.methods.by_labels.vse_fs import VseFs, VseFsSettings


def sparse_problem(
    seed,
    gamma,
    weights,
    n_images=14,
    n_labels=7,
    factors=18,
    ridge=0.3,
    nu=0.0,
    beta_0=3.0,
    images="by_factor",
    pool=None,
):
    """A model on a small matrix (one image without labels, one label without images) and its dense twin."""
    rng = np.random.default_rng(seed)
    positive = rng.random((n_images, n_labels)) < 0.3
    positive[2] = False
    positive[:, 4] = False
    counts = rng.integers(1, 4, positive.shape)
    rows, labels = np.nonzero(positive)
    offsets = np.concatenate([[0], np.cumsum(positive.sum(axis=1))]).astype(np.int64)
    matrix = LabelMatrix(n_labels, offsets, labels.astype(np.int32), counts[rows, labels].astype(np.int32))
    settings = VseFsSettings(
        factors=factors, beta_0=beta_0, alpha=0.5, gamma=gamma, regularisation=ridge, weights=weights, deviation=0.5,
        nu=nu, images=images,
    )  # fmt: skip
    with workers(1) as one:
        model = VseFs(Problem(Training.all_of(matrix), seed, pool or one), settings)
    dense_weights = counts if weights == "counts" else np.ones_like(counts)
    twin = Twin(images_of(model), model.labels[:, :factors], positive, dense_weights, model.penalties, gamma, ridge, nu)
    return model, twin


def images_of(model):
    """The v_i in the order of the data: u_i without the share of the labels that u_i was last updated with."""
    extended = extended_of(model)
    for image, (start, stop) in enumerate(pairwise(model.rows.offsets)):
        share = model.gamma / np.sqrt(max(stop - start, 1))
        extended[image] -= share * model.previous[model.rows.labels[start:stop]].sum(axis=0)
    images = np.empty_like(extended)
    images[model.order] = extended
    return images[:, : model.factors]


def extended_of(model):
    """The u_i in the order of the model."""
    return model.blocks.swapaxes(0, 1).reshape(model.blocks.shape[1], -1).copy()


@pytest.mark.parametrize("gamma", [0.0, 0.05, 0.6])
@pytest.mark.parametrize(("weights", "nu"), [("ones", 0.0), ("ones", 0.8), ("counts", 0.0), ("counts", 1.0)])
def test_agrees_with_exact_coordinate_minima(gamma, weights, nu):
    """The twin finds each coordinate's minimum from values of the full loss alone, without any derived formula."""
    model, twin = sparse_problem(1, gamma, weights, nu=nu)
    for _ in range(2):
        report = model.epoch()
        twin.sweep(twin.images)
        assert report.loss == pytest.approx(twin.loss(), rel=1e-4)
        twin.sweep(twin.labels)
        twin.refresh()
        np.testing.assert_allclose(images_of(model), twin.images, rtol=2e-3, atol=2e-3)
        np.testing.assert_allclose(model.labels[:, :18], twin.labels, rtol=2e-3, atol=2e-3)
    # The padding is still 0.
    assert not extended_of(model)[:, 18:].any()
    assert not model.labels[:, 18:].any()


@pytest.mark.parametrize("gamma", [0.0, 0.4])
def test_the_model_scores_with_the_extended_embeddings(gamma):
    model, twin = sparse_problem(2, gamma, "counts")
    model.epoch()
    copy_into(twin, model)
    scorer = model.model()
    np.testing.assert_allclose(scorer.image, twin.images + twin.extended, rtol=1e-4, atol=1e-5)


def test_threads_change_nothing():
    models = []
    for threads in (1, 2, 3):
        with workers(threads) as pool:
            model, _ = sparse_problem(5, 0.1, "counts", n_images=3000, n_labels=40, pool=pool)
            models.append((model.epoch().loss, model.epoch().loss, model.blocks, model.labels))
    for other in models[1:]:
        assert other[:2] == models[0][:2]
        assert all((a == b).all() for a, b in zip(models[0][2:], other[2:], strict=True))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("gamma", [0.0, 0.02, 0.5])
@pytest.mark.parametrize("nu", [0.0, 1.0])
def test_no_half_iteration_raises_its_loss(seed, gamma, nu):
    """Images: always. Labels: with the extended embeddings P and the v'_c as they were when the sweep began."""
    model, twin = sparse_problem(seed, gamma, "ones", nu=nu)
    for _ in range(6):
        before = copy_into(twin, model).loss()
        hessian, _ = model._sweep_images()
        after_images = copy_into(twin, model).loss()
        assert after_images <= before * (1 + 1e-5)
        model._sweep_labels(hessian)
        twin.labels = model.labels[:, :18].astype(float)
        assert twin.loss() <= after_images * (1 + 1e-5)


def copy_into(twin, model):
    twin.images = images_of(model).astype(float)
    twin.labels = model.labels[:, :18].astype(float)
    twin.refresh()
    return twin


def test_label_penalties_by_hand():
    """Labels on 1, 4 and 0 of 5 pairs; alpha 1/2 makes shares 1 : 2 : 0 of beta_0."""
    matrix = LabelMatrix(
        3, np.array([0, 2, 3, 4, 5]), np.array([0, 1, 1, 1, 1], dtype=np.int32), np.ones(5, dtype=np.int32)
    )
    np.testing.assert_allclose(label_penalties(matrix, 6.0, 0.5), [2, 4, 0])
    np.testing.assert_allclose(label_penalties(matrix, 6.0, 0.0), [2, 2, 2])


def test_penalty_scales_by_hand():
    """Image 0 has label 0 twice, image 1 has labels 0 and 1; other pairs have weights 0.5 and 0.25."""
    matrix = LabelMatrix(
        2, np.array([0, 1, 3]), np.array([0, 0, 1], dtype=np.int32), np.array([2, 1, 1], dtype=np.int32)
    )
    weights, penalties = np.array([2, 1, 1], dtype=np.float32), np.array([0.5, 0.25], dtype=np.float32)
    by_image, by_label = penalty_scales(matrix, weights, penalties, 2.0)
    np.testing.assert_allclose(by_image, [2.25**2, 2**2])
    np.testing.assert_allclose(by_label, [3**2, 1.25**2])
    assert all((scales == 1).all() for scales in penalty_scales(matrix, weights, penalties, 0.0))


@pytest.mark.parametrize("sizes", [[5], [0, 0, 7, 0], [1] * 200, [1000, 1, 1, 1]])
def test_label_chunks_cover_every_label_once(sizes):
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    chunks = chunks_of_equal_work(offsets, 16)
    assert [label for start, stop in chunks for label in range(start, stop)] == list(range(len(sizes)))
