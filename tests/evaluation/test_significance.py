import numpy as np
import pytest

from vsebench.evaluation.significance import bootstrap_all, bootstrap_means, draw_counts, holm, p_value, resample


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
        assert np.array_equal(means, bootstrap_means(table, 20))


def test_a_resample_draws_as_many_units_as_there_are():
    for counts in draw_counts(17, 5):
        assert counts.shape == (17,)
        assert counts.sum() == 17


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
