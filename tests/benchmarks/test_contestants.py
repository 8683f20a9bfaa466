"""Contestants have equal chances, and implicit ALS has the objective of VSE-fs."""

import numpy as np
import pytest

from benchmarks.comparisons import reached
from benchmarks.contestants import (
    ALS,
    CORNAC_BPR,
    EVERYONE,
    IALS,
    IMPLICIT_BPR,
    IRSPACK_IALS,
    IRSPACK_IALSPP,
    LIGHTFM_WARP,
    MATCHED,
    OPT_AUC,
    PEERS,
    VSE_FS,
    WARP_10,
)
from benchmarks.data import hold_out, simulate
from benchmarks.quality import value
from tests.builders import dense
from vsebench.core.workers import workers
from vsebench.data.problem import Dataset


@pytest.fixture(scope="module")
def data():
    return hold_out("iapr", Dataset(simulate("iapr", 0.02)), images=300)


def peers():
    for package in PEERS:
        pytest.importorskip(package)


@pytest.mark.parametrize(
    "group",
    [
        (VSE_FS, ALS),
        (MATCHED, ALS),
        (IALS, IRSPACK_IALS, IRSPACK_IALSPP),
        (OPT_AUC, IMPLICIT_BPR, CORNAC_BPR),
        (WARP_10, LIGHTFM_WARP),
    ],
)
def test_everyone_tries_as_many_settings(group):
    assert {len(contestant.grid) for contestant in group} == {4}


def test_one_learning_rate_and_regularisation_for_uniform_negatives():
    assert OPT_AUC.grid == IMPLICIT_BPR.grid == CORNAC_BPR.grid


@pytest.mark.parametrize("contestant", EVERYONE, ids=lambda contestant: contestant.name)
@pytest.mark.parametrize("threads", [1, 2])
def test_everyone_learns(contestant, threads, data):
    if contestant in (ALS, IRSPACK_IALS, IRSPACK_IALSPP, IMPLICIT_BPR, CORNAC_BPR, LIGHTFM_WARP):
        peers()
    with workers(threads) as pool:
        training = contestant.start(data.train, contestant.grid[0] | {"factors": 16}, pool)
        assert len(training.run(3)) == 3
        before = training.model().arrays()["image"].copy()
        assert all(seconds > 0 for seconds in training.run(2))
        assert not np.array_equal(before, training.model().arrays()["image"])
        assert value(training.model(), data.valid, data, pool) > 0


def test_implicit_als_has_the_objective_of_vse_fs(data):
    """At the minimum that ALS finds, the loss of VSE-fs cannot be lowered by moving the rows of one side."""
    peers()
    settings = {"beta_0": 8.0, "regularisation": 3.0, "factors": 4}
    with workers(1) as pool:
        training = ALS.start(data.train, settings, pool)
        training.run(200)
    image, label = (array.astype(np.float64) for array in training.model().arrays().values())
    positive = dense(data.train)
    beta = settings["beta_0"] / data.train.n_labels

    def loss(scale):
        scores = (scale * image) @ label.T
        errors = np.where(positive, (1 - scores) ** 2, beta * scores**2).sum()
        return errors + settings["regularisation"] * ((scale * image) ** 2).sum()

    assert loss(1.0) < loss(0.999)
    assert loss(1.0) < loss(1.001)


def test_ials_reaches_the_loss_of_irspack(data):
    peers()
    settings = {"alpha_0": 0.1, "regularisation": 0.3, "nu": 0.7, "factors": 16}
    positive, n = dense(data.train), np.array([data.train.n_rows, data.train.n_labels])

    def loss(contestant):
        with workers(1) as pool:
            training = contestant.start(data.train, settings, pool)
            training.run(200)
        sides = [array.astype(np.float64) for array in training.model().arrays().values()]
        scores = sides[0] @ sides[1].T
        total = (positive * (1 - scores) ** 2).sum() + 0.1 * (scores**2).sum()
        for axis, vectors in enumerate(sides):
            scale = (positive.sum(axis=1 - axis) + 0.1 * n[1 - axis]) ** 0.7
            total += 0.3 * scale @ (vectors**2).sum(axis=1)
        return total

    assert loss(IALS) == pytest.approx(loss(IRSPACK_IALS), rel=1e-4)


def test_the_first_iteration_that_reaches_a_target():
    assert reached([0.1, 0.3, 0.2, 0.4], 0.3) == 2
