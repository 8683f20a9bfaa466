import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import polygamma

from vsebench.evaluation.seed_variance import ALONE, Typical, inverse_trigamma, moderated, typical


@given(st.floats(1e-3, 1e4))
def test_the_inverse_of_trigamma(x):
    assert inverse_trigamma(float(polygamma(1, x))) == pytest.approx(x, rel=1e-6)


@pytest.mark.parametrize("prior", [4.0, 20.0])
def test_planted_variances_are_found(prior):
    """Variances around 0.5, as alike as `prior` degrees of freedom make them, each measured with 4."""
    rng = np.random.default_rng(1)
    true = 0.5 * prior / rng.chisquare(prior, 20_000)
    found = typical(true * rng.chisquare(4, 20_000) / 4, 4, 20_000)
    assert found.freedom == pytest.approx(prior, rel=0.15)
    assert found.variance == pytest.approx(true.mean(), rel=0.05)


def test_equal_variances_are_worth_all_independent_comparisons():
    rng = np.random.default_rng(2)
    found = typical(rng.chisquare(200, 10) / 200, 200, 5)
    assert found.freedom == 3 * 200
    assert found.variance == pytest.approx(1, rel=0.1)


def test_two_methods_have_no_help():
    assert typical(np.array([0.3]), 2, 2) == ALONE
    variances, freedom = moderated(np.array([0.3]), 2, ALONE)
    assert (variances.tolist(), freedom) == ([0.3], 2)


def test_a_small_variance_is_raised_and_a_large_one_stays():
    variances, freedom = moderated(np.array([0.0, 0.1, 4.0]), 2, Typical(1.0, 6.0))
    assert variances.tolist() == pytest.approx([0.0, (6 + 0.2) / 8, 4.0])  # no variance: methods without chance
    assert freedom == 8


def test_methods_without_chance_are_not_typical():
    with_fixed = typical(np.array([0.0, 0.0, 0.5, 0.6, 0.7]), 2, 4)
    assert with_fixed == typical(np.array([0.5, 0.6, 0.7]), 2, 4)
    assert with_fixed.variance == pytest.approx(0.6)
