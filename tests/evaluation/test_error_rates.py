import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vsebench.evaluation.error_rates import NOISES, Simulation, mean_difference
from vsebench.evaluation.estimates import Estimates
from vsebench.papers.claims.accuracy import advantage
from vsebench.papers.evidence import pool


@given(
    n_seeds=st.integers(2, 10),
    ratio=st.sampled_from([0.0, 0.5, 4.0]),
    difference=st.sampled_from([0.0, 4.0]),
    noise=st.sampled_from(NOISES),
    n_tasks=st.integers(1, 4),
    same_images=st.booleans(),
    helped=st.booleans(),
)
def test_many_simulated_groups_at_once_get_the_intervals_that_claims_give_to_each_group_alone(
    n_seeds, ratio, difference, noise, n_tasks, same_images, helped
):
    groups = 3
    (batch,) = Simulation(n_seeds, (ratio,), difference, noise, (n_tasks,), same_images).batches(groups)
    parts = [task.at(ratio, helped) for task in batch]
    together = mean_difference(parts, same_images)
    for group in range(groups):
        corpora = ["the same" if same_images else str(n) for n in range(n_tasks)]
        advantages = [advantage(of_group(part, group), False, 0.0) for part in parts]
        alone = pool(list(zip(corpora, advantages, strict=True)))
        for level in (0.05, 0.001):
            effect = alone.effect(level)
            half = together.half_width(level)[group]
            assert effect.value == pytest.approx(together.value[group], rel=1e-12, abs=1e-12)
            assert (effect.high - effect.low) / 2 == pytest.approx(half, rel=1e-12, abs=1e-12)
        assert effect.p == pytest.approx(together.p_value()[group], rel=1e-12, abs=1e-12)


def of_group(part, group):
    """The estimates of one group's task: its two methods, and its value of each of the methods."""
    methods = slice(2 * group, 2 * group + 2)
    peers = {name: values[:, group] for name, values in part.peers.items()}
    return Estimates(part.by_seed[:, methods], part.samples[:, :, methods], part.n_units, peers)


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("n_seeds", [2, 3, 5, 10])
@pytest.mark.parametrize("ratio", [0.0, 1.0, 10.0])
def test_equal_methods_are_called_different_on_at_most_one_of_twenty_tasks(n_seeds, ratio, noise):
    tasks = 200
    chance = 3 * (0.05 * 0.95 / tasks) ** 0.5
    assert Simulation(n_seeds, (ratio,), noise=noise).share_found(tasks) < 0.05 + chance


def test_more_seeds_find_more_where_seeds_differ():
    rates = [Simulation(n_seeds, (2.4,), 4.0).share_found(300).item() for n_seeds in (2, 3, 10)]
    assert rates == sorted(rates)
    assert rates[0] > 0.2  # 0.13 without the variances of the other methods
    assert rates[-1] > 0.85


def test_steadier_methods_that_are_not_compared_let_the_test_find_differences_that_are_not_there():
    """The variance between seeds is drawn towards theirs (docs/claims.md)."""
    alike, steadier = (Simulation(2, (10.0,), others=others).share_found(400).item() for others in (1.0, 0.25))
    assert alike < 0.08 < steadier < 0.2


def test_the_simulated_methods_are_as_far_apart_as_they_say():
    """With ten seeds, images that all share half of their variance, and a spread of 2: 0.5 + 0.5 / 10 + 4 / 10."""
    values = values_of(Simulation(10, (2.0,), 3.0), 2000)
    assert values.mean() == pytest.approx(3.0, abs=0.1)
    assert values.var() == pytest.approx(0.95, rel=0.1)


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("n_seeds", [2, 3, 10])
@pytest.mark.parametrize("same_images", [False, True])
def test_equal_methods_are_called_different_on_at_most_one_of_twenty_groups_of_tasks(same_images, n_seeds, noise):
    groups = 100
    chance = 3 * (0.05 * 0.95 / groups) ** 0.5
    simulation = Simulation(n_seeds, (1.0,), 0.0, noise, (2, 3, 4), same_images)
    assert simulation.share_found(groups).max() < 0.05 + chance


def test_other_methods_help_to_find_a_mean_difference_over_tasks_with_two_seeds():
    simulation = Simulation(2, (2.4,), 4.0, n_tasks=(2,))
    alone, helped = (simulation.share_found(200, helped).item() for helped in (False, True))
    assert helped > 1.5 * alone


def test_a_mean_over_tasks_has_its_own_variance_of_seeds():
    """Half of the variance among images is common, and a spread of 2: (0.5 + 0.5 / 10 + 4 / 10) / 2 for two tasks."""
    for same_images, variance in ((False, 0.95 / 2), (True, 0.5 + 0.05 / 2 + 0.4)):
        values = values_of(Simulation(10, (2.0,), 3.0, n_tasks=(2,), same_images=same_images), 400)
        assert values.mean() == pytest.approx(3.0, abs=0.15)
        assert values.var() == pytest.approx(variance, rel=0.25)


def values_of(simulation, groups):
    """The estimated mean difference of each group."""
    (ratio,) = simulation.ratios
    effects = (
        mean_difference([task.at(ratio) for task in batch], simulation.same_images)
        for batch in simulation.batches(groups)
    )
    return np.concatenate([effect.value for effect in effects])
