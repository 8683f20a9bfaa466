import pytest

from vsebench.evaluation.error_rates import detection_rate, simulate


@pytest.mark.parametrize("n_seeds", [3, 10])
@pytest.mark.parametrize("ratio", [0.0, 1.0, 10.0])
def test_equal_variants_are_called_different_in_at_most_one_of_twenty_runs(n_seeds, ratio):
    comparisons = 1000
    chance = 3 * (0.05 * 0.95 / comparisons) ** 0.5
    assert detection_rate(n_seeds, ratio, 0.0, comparisons) < 0.05 + chance


def test_more_seeds_find_more_where_seeds_differ():
    few, many = (detection_rate(n_seeds, 2.4, 4.0, 300) for n_seeds in (3, 10))
    assert few < 0.5
    assert many > 0.8


def test_the_simulated_comparisons_are_as_far_apart_as_they_say():
    """With ten seeds, images that all share half of their variance, and a spread of 2: 0.5 + 0.5 / 10 + 4 / 10."""
    values = simulate(10, 2.0, 3.0, 2000).value
    assert values.mean() == pytest.approx(3.0, abs=0.1)
    assert values.var() == pytest.approx(0.95, rel=0.1)
