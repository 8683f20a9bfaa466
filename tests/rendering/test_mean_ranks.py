"""Mean ranks and Nemenyi's critical difference, against Demsar's table and a hand-worked case."""

from itertools import combinations
from math import inf

import polars as pl
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from scipy.stats import studentized_range

from tests.rendering.conftest import changed
from vsebench.core.tasks import Task
from vsebench.rendering import drawing
from vsebench.rendering.figures.mean_ranks import (
    MeanRanks,
    Ranking,
    can_differ,
    common_methods,
    draw_diagram,
    mean_ranks,
    range_quantile,
)
from vsebench.rendering.style import DOUBLE, style

# Demsar (2006), Table 5: alpha = 0.05, 2 to 10 classifiers.
DEMSAR = (1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164)


def metrics(values, seeds=1, protocol="distinct"):
    """Build a table of metrics from {method: [value on each data set]}, the same with every seed."""
    keys = {"protocol": protocol, "metric": "ndcg@10"}
    rows = [
        keys | {"dataset": f"d{dataset}", "seed": seed, "method": method, "value": value}
        for method, column in values.items()
        for dataset, value in enumerate(column)
        for seed in range(seeds)
        if value is not None
    ]
    return pl.DataFrame(rows)


def ranks_of(values, methods=None, **options):
    return mean_ranks(metrics({method: values[method] for method in methods or values}, **options))


@pytest.mark.parametrize("k", range(2, 11))
def test_critical_differences_are_those_of_the_published_table(k):
    names = [str(n) for n in range(k)]
    difference = Ranking(names, [float(n) for n in range(k)], ["d"]).critical_difference
    assert difference / (k * (k + 1) / 6) ** 0.5 == pytest.approx(DEMSAR[k - 2], abs=0.0015)


@pytest.mark.parametrize("k", [2, 31, 200])
def test_the_quantile_of_a_range_is_that_of_scipy(k):
    assert range_quantile(k) == pytest.approx(float(studentized_range.ppf(0.95, k, inf)), abs=1e-6)


@pytest.mark.parametrize(
    ("k", "n_datasets", "drawn"), [(31, 1, False), (31, 2, False), (2, 3, False), (3, 3, True), (31, 3, True)]
)
def test_without_enough_data_sets_for_any_difference_there_is_no_diagram(k, n_datasets, drawn):
    names = [f"m{n}" for n in range(k)]
    assert can_differ({Task(f"d{n}", "distinct"): names for n in range(n_datasets)}) == drawn


def test_a_metric_that_too_few_data_sets_have_leaves_no_diagram(results):
    values = {method: [0.5, 0.4, 0.3] for method in ("ease", "warp", "vse_fs")}
    assert not MeanRanks().is_empty(changed(results, metrics=metrics(values)))
    fewer = metrics(values).filter(pl.col("dataset") != "d2")
    assert MeanRanks().is_empty(changed(results, metrics=fewer))


@pytest.mark.parametrize("k", [3, 20, 31, 70])
def test_the_numbers_of_the_axis_do_not_touch(k):
    ranking = Ranking([""] * k, [float(rank) for rank in range(1, k + 1)], ["d"] * 5)
    with style():
        figure, (axis,) = drawing.panels(1, DOUBLE, 4)
        draw_diagram(axis, ranking, ranking.methods)
        FigureCanvasAgg(figure).draw()
        boxes = [text.get_window_extent() for text in axis.texts if text.get_text().isdecimal()]
    assert len(boxes) > 2
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))


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


def test_a_method_that_misses_a_data_set_is_left_out():
    assert ranks_of({"a": [0.5, 0.4], "b": [0.4, 0.5], "c": [0.3, None]}).methods == ["a", "b"]


def test_seeds_and_protocols_of_a_data_set_are_no_replicates():
    values = {"a": [0.5, 0.5, 0.1], "b": [0.4, 0.4, 0.2]}
    one, many = ranks_of(values), ranks_of(values, seeds=9)
    assert (one, one.datasets) == (many, ["d0", "d1", "d2"])
    both = pl.concat([metrics(values), metrics({"a": [0.1], "b": [0.2]}, protocol="regions")])
    assert mean_ranks(both).ranks == pytest.approx([(1.5 + 1 + 2) / 3, (1.5 + 2 + 1) / 3])


def test_one_data_set_or_method_is_too_few():
    one, other, third = Task("d", "distinct"), Task("d", "regions"), Task("e", "regions")
    assert common_methods({one: ["a", "b"], other: ["a", "b"]}) is None
    assert common_methods({one: ["a", "b"], third: ["a"]}) is None
    assert common_methods({one: ["a", "b"], third: ["a", "b", "c"]}) == (frozenset("ab"), [one, third])


def test_bars_join_what_does_not_differ():
    found = Ranking(["a", "b", "c", "d"], [1.0, 1.5, 3.0, 3.2], ["d"] * 40)
    assert 0.5 < found.critical_difference < 1.5
    assert found.groups == [(0, 1), (2, 3)]
    assert Ranking(["a", "b"], [1.0, 2.0], ["d"] * 10**6).groups == []
    assert Ranking(["a", "b", "c"], [1.0, 2.0, 3.0], ["d"] * 2).groups == [(0, 2)]
