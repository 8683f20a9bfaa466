"""Mean ranks and Nemenyi's critical difference, against Demsar's table and a hand-worked case."""

import polars as pl
import pytest

from vsebench.rendering.mean_ranks import MeanRanks, mean_ranks

# Demsar (2006), Table 5: alpha = 0.05, 2 to 10 classifiers.
DEMSAR = (1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164)


def metrics(values):
    """Build a table of metrics from {method: [value in each block]}."""
    keys = {"dataset": "d", "protocol": "distinct", "metric": "ndcg@10"}
    rows = [
        keys | {"seed": seed, "method": method, "value": value}
        for method, column in values.items()
        for seed, value in enumerate(column)
        if value is not None
    ]
    return pl.DataFrame(rows)


def ranks_of(values, methods=None):
    return mean_ranks(metrics(values), "ndcg@10", methods or list(values))


@pytest.mark.parametrize("k", range(2, 11))
def test_critical_differences_are_those_of_the_published_table(k):
    names = [str(n) for n in range(k)]
    difference = MeanRanks(names, [float(n) for n in range(k)], 1).critical_difference
    assert difference / (k * (k + 1) / 6) ** 0.5 == pytest.approx(DEMSAR[k - 2], abs=0.0015)


def test_there_is_no_upper_limit_of_methods():
    found = ranks_of({f"m{n:02}": [1.0 - n / 100, 0.9 - n / 100] for n in range(40)})
    assert len(found.methods) == 40
    assert found.critical_difference > 35


def test_ranks_are_averaged_and_ties_shared():
    values = {"a": [0.5, 0.5, 0.9], "b": [0.4, 0.5, 0.1], "c": [0.3, 0.1, 0.5], "oracle": [1, 1, 1]}
    found = ranks_of(values, ["a", "b", "c"])
    assert found.methods == ["a", "b", "c"]
    assert found.ranks == pytest.approx([(1 + 1.5 + 1) / 3, (2 + 1.5 + 3) / 3, (3 + 3 + 2) / 3])
    assert found.critical_difference == pytest.approx(2.3437 * (3 * 4 / (6 * 3)) ** 0.5, abs=1e-4)


def test_a_method_that_misses_a_block_is_left_out():
    assert ranks_of({"a": [0.5, 0.4], "b": [0.4, 0.5], "c": [0.3, None]}).methods == ["a", "b"]


def test_one_block_is_too_few():
    assert ranks_of({"a": [0.5], "b": [0.4]}) == (
        "Mean ranks need two data sets or two seeds; this run has only one of each"
    )


def test_one_method_is_too_few():
    assert "two methods" in ranks_of({"a": [0.5, 0.4], "b": [0.4, None]})


def test_bars_join_what_does_not_differ():
    found = MeanRanks(["a", "b", "c", "d"], [1.0, 1.5, 3.0, 3.2], 40)
    assert 0.5 < found.critical_difference < 1.5
    assert found.groups == [(0, 1), (2, 3)]
    assert MeanRanks(["a", "b"], [1.0, 2.0], 10**6).groups == []
    assert MeanRanks(["a", "b", "c"], [1.0, 2.0, 3.0], 2).groups == [(0, 2)]
