"""Mean ranks and Nemenyi's critical difference, against scipy and a hand-worked case."""

import numpy as np
import polars as pl
import pytest
from scipy import stats

from vsebench.rendering.mean_ranks import NEMENYI, MeanRanks, mean_ranks


def metrics(values):
    """Build a metrics table from {method: [value in each block]}."""
    rows = [
        {
            "dataset": "d",
            "protocol": "distinct",
            "seed": seed,
            "method": method,
            "metric": "ndcg",
            "cutoff": 10,
            "value": v,
        }
        for method, column in values.items()
        for seed, v in enumerate(column)
        if v is not None
    ]
    return pl.DataFrame(rows)


@pytest.mark.parametrize("k", range(2, len(NEMENYI) + 2))
def test_critical_values_are_those_of_the_studentized_range(k):
    assert NEMENYI[k - 2] == pytest.approx(stats.studentized_range.ppf(0.95, k, np.inf) / np.sqrt(2), abs=0.001)


def test_ranks_are_averaged_and_ties_shared():
    found = mean_ranks(metrics({"a": [0.5, 0.5, 0.9], "b": [0.4, 0.5, 0.1], "c": [0.3, 0.1, 0.5], "oracle": [1, 1, 1]}))
    assert found is not None
    assert found.methods == ["a", "b", "c"]
    assert found.ranks == pytest.approx([(1 + 1.5 + 1) / 3, (2 + 1.5 + 3) / 3, (3 + 3 + 2) / 3])
    assert found.critical_difference == pytest.approx(2.343 * np.sqrt(3 * 4 / (6 * 3)), abs=1e-9)


def test_a_method_that_misses_a_block_is_left_out():
    found = mean_ranks(metrics({"a": [0.5, 0.4], "b": [0.4, 0.5], "c": [0.3, None]}))
    assert found is not None
    assert found.methods == ["a", "b"]
    assert mean_ranks(metrics({"a": [0.5], "b": [0.4]})) is None


def test_bars_join_what_does_not_differ():
    found = MeanRanks(["a", "b", "c", "d"], [1.0, 1.5, 3.0, 3.2], 40)
    assert 0.5 < found.critical_difference < 1.5
    assert found.groups == [(0, 1), (2, 3)]
    assert MeanRanks(["a", "b"], [1.0, 2.0], 10**6).groups == []
    assert MeanRanks(["a", "b", "c"], [1.0, 2.0, 3.0], 2).groups == [(0, 2)]
