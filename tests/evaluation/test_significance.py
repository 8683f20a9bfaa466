import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.special import ndtr

from vsebench.evaluation import significance
from vsebench.evaluation.significance import adjust, bootstrap_all, draw_counts


def bootstrap_means(table, resamples):
    return bootstrap_all([table], resamples)[0]


def test_bootstrap_interval_is_as_wide_as_theory_says():
    """Mean of n coin tosses: standard deviation 0.5 / sqrt(n)."""
    tosses = np.random.default_rng(0).integers(0, 2, (2000, 1)).astype(float)
    means = bootstrap_means(tosses, 1000)
    assert means.std() == pytest.approx(0.5 / np.sqrt(2000), rel=0.1)
    assert means.mean() == pytest.approx(tosses.mean(), abs=0.002)


def test_models_share_their_resamples():
    table = np.random.default_rng(1).random((50, 1))
    np.testing.assert_allclose(bootstrap_means(table + 1, 100), bootstrap_means(table, 100) + 1)


def test_tables_of_different_lengths_are_drawn_each_by_itself():
    rng = np.random.default_rng(2)
    tables = [rng.random((n, 2)) for n in (30, 50, 30)]
    for table, means in zip(tables, bootstrap_all(tables, 20), strict=True):
        np.testing.assert_allclose(means, bootstrap_means(table, 20))


def test_a_resample_draws_as_many_units_as_there_are():
    blocks = list(draw_counts(17, 450))
    assert [counts.shape for _, counts in blocks] == [(200, 17), (200, 17), (50, 17)]
    assert all((counts.sum(axis=1) == 17).all() for _, counts in blocks)


def test_draws_that_are_not_kept_are_the_same(monkeypatch):
    kept = [counts for _, counts in draw_counts(31, 250)]
    monkeypatch.setattr(significance, "KEPT_DRAWS", 0)
    for counts, (_, again) in zip(kept, draw_counts(31, 250), strict=True):
        assert np.array_equal(counts, again)


@given(st.lists(st.floats(1e-9, 1), max_size=40))
def test_corrected_p_values_are_those_of_scipy(p_values):
    found = adjust(dict(enumerate(p_values)))
    np.testing.assert_allclose([found[n] for n in range(len(p_values))], stats.false_discovery_control(p_values))


@pytest.mark.parametrize("n_worse", [0, 5, 9])
def test_a_twentieth_of_the_variants_that_are_called_worse_than_the_best_equals_it(n_worse):
    """Ten variants, some clearly worse: the mean share of wrong calls among all calls."""
    rng, runs, shares = np.random.default_rng(7), 600, []
    for _ in range(runs):
        values = rng.normal(0, 1, 10) - np.where(np.arange(10) < n_worse, 8.0, 0.0)
        p_values = {
            (n, m): float(2 * ndtr(-abs(values[n] - values[m]) / np.sqrt(2))) for n in range(10) for m in range(n)
        }
        adjusted, best = adjust(p_values), int(values.argmax())
        called = [n for n in range(10) if n != best and adjusted[max(n, best), min(n, best)] < 0.05]
        shares.append(sum(n >= n_worse for n in called) / max(1, len(called)))
    assert np.mean(shares) < 0.075  # 0.05, and three standard deviations of 600 runs


def test_a_block_of_many_units_has_fewer_resamples(monkeypatch):
    table = np.random.default_rng(3).random((40, 1))
    whole = bootstrap_means(table, 250)
    monkeypatch.setattr(significance, "DRAWS_AT_ONCE", 100)
    assert [len(counts) for _, counts in draw_counts(40, 5)] == [2, 2, 1]
    np.testing.assert_allclose(bootstrap_means(table, 250), whole)
    monkeypatch.setattr(significance, "DRAWS_AT_ONCE", 1)
    assert [len(counts) for _, counts in draw_counts(40, 2)] == [1, 1]
