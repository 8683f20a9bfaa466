"""Ranks of methods by several metrics: a hand-worked case, the drawing, and runs without this figure."""

import polars as pl
import pytest
from pydantic import ValidationError

from tests.rendering.conftest import changed
from tests.rendering.test_figures import check_page, texts
from vsebench.core.tasks import Task
from vsebench.rendering.figures.ranks_by_measure import RanksByMeasure
from vsebench.rendering.results import Results
from vsebench.rendering.style import style

TASK = Task("saiapr", "regions")
KIND = RanksByMeasure(methods=["ease", "warp", "vse_fs", "opt_auc"], metrics=["recall@10", "coverage"])


def planted(results: Results) -> Results:
    """Return results in which the metrics order three of the methods differently; a small coverage is better."""
    values = {"ease": (0.4, 3.0), "warp": (0.4, 2.0), "vse_fs": (0.5, 4.0), "popularity": (0.9, 1.0)}
    keys = {"dataset": TASK.dataset, "protocol": TASK.protocol, "decision": ""}
    rows = [
        keys | {"method": method, "seed": seed, "metric": metric, "value": value + shift}
        for method, both in values.items()
        for metric, value in zip(KIND.metrics, both, strict=True)
        for seed, shift in ((1, 0.01), (2, -0.01))
    ]
    return changed(results, metrics=pl.DataFrame(rows))


def test_ranks_are_those_of_means_over_seeds_and_ties_share_theirs(results: Results) -> None:
    found = KIND.ranks(planted(results), TASK)
    assert found == {"vse_fs": [1.0, 3.0], "ease": [2.5, 2.0], "warp": [2.5, 1.0]}


def test_the_figure_fits_its_page_and_names_the_first_by_each_metric(results: Results) -> None:
    made_up = planted(results)
    with style():
        figure = KIND.figure(made_up)
        check_page(figure)
    assert "Recall@10" in texts(figure)
    assert [line.get_ydata().tolist() for line in figure.axes[0].lines] == [[1, 3], [2.5, 2], [2.5, 1]]
    titles = made_up.method_title("vse_fs", TASK), made_up.method_title("warp", TASK)
    assert f"the best are {titles[0]} by Recall@10, {titles[1]} by Coverage" in KIND.alternative(made_up)
    assert "Recall@10, Coverage" in KIND.caption(made_up)


def test_a_run_without_one_of_the_metrics_or_with_one_method_lacks_the_figure(results: Results) -> None:
    metrics = results.outline.metrics[:2]
    methods = ["ease", "warp"]
    assert RanksByMeasure(methods=methods, metrics=metrics).applies(results.outline)
    assert not RanksByMeasure(methods=methods, metrics=[*metrics, "one_error"]).applies(results.outline)
    assert not RanksByMeasure(methods=["ease", "fasttag"], metrics=metrics).applies(results.outline)


@pytest.mark.parametrize(
    ("metric", "message"),
    [("n_puls@5", "there is no metric 'n_puls@5'"), ("gini@5", "neither large nor small values of gini@5 are better")],
)
def test_a_metric_that_cannot_rank_methods_is_refused(metric: str, message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        RanksByMeasure(methods=["ease", "warp"], metrics=["map", metric])
