import numpy as np
import polars as pl
import pytest

from vsebench.evaluation.summary import holm, p_value, resample, summarise


def ranks(places):
    n = len(places)
    return pl.DataFrame(
        {"image": range(n), "label": [0] * n, "rank": places, "ties": [0] * n, "candidates": [50] * n},
        schema=dict.fromkeys(("image", "label", "rank", "ties", "candidates"), pl.Int32),
    )


def places(share_right, seed, n=400):
    """First place for a share of the images, place 30 for the others."""
    right = np.random.default_rng(seed).random(n) < share_right
    return ranks(np.where(right, 1, 30).tolist())


@pytest.fixture(scope="module")
def summary():
    return summarise(
        {
            "weak": [places(0.2, 1), places(0.2, 2)],
            "strong": [places(0.6, 3), places(0.6, 4)],
            "twin": [places(0.6, 5), places(0.6, 6)],
            "oracle": [places(0.9, 7), places(0.9, 8)],
        },
        resamples=500,
    ).filter(metric="rec", cutoff=10)


def row(summary, method):
    return summary.row(by_predicate=pl.col("method") == method, named=True)


def test_value_is_the_mean_over_seeds(summary):
    expected = np.mean([(frame["rank"] == 1).mean() for frame in (places(0.2, 1), places(0.2, 2))])
    assert row(summary, "weak")["value"] == pytest.approx(expected)
    assert row(summary, "weak")["n_seeds"] == 2


def test_best_leaves_the_ceiling_out(summary):
    best = summary.filter("best")["method"].to_list()
    assert len(best) == 1
    assert best[0] in ("strong", "twin")
    assert row(summary, "oracle")["p_adjusted"] is None
    assert row(summary, "oracle")["difference"] > 0


def test_a_clear_difference_is_significant_and_a_small_one_is_not(summary):
    other = "twin" if row(summary, "strong")["best"] else "strong"
    assert row(summary, "weak")["p_adjusted"] < 0.05
    assert row(summary, "weak")["difference_high"] < 0
    assert row(summary, other)["p_adjusted"] > 0.05


def test_interval_holds_the_value(summary):
    assert (summary["ci_low"] <= summary["value"]).all()
    assert (summary["value"] <= summary["ci_high"]).all()


def test_seeds_widen_the_interval():
    """Two seeds that differ by 0.5 and no noise among images: the mean of two draws of them has a deviation of 0.18."""
    tables = [np.full((100, 1), 0.0), np.full((100, 1), 0.5)]
    assert resample(tables, 2000).std() == pytest.approx(0.5 / 2 / np.sqrt(2), rel=0.05)


def test_p_value_of_no_difference_and_of_a_clear_one():
    noise = np.random.default_rng(0).normal(0, 1, 999)
    assert p_value(noise) > 0.5
    assert p_value(noise + 10) == pytest.approx(2 / 1000)
    assert p_value(np.zeros(9)) == 1


def test_holm_by_hand():
    assert holm({"a": 0.01, "b": 0.04, "c": 0.03}) == pytest.approx({"a": 0.03, "c": 0.06, "b": 0.06})
    assert holm({"a": 0.9, "b": 0.8})["b"] == 1
    assert holm({}) == {}
