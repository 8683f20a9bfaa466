"""The examples in docs/figures.md, a figure and a table, are one file each and work."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.docs.conftest import Copy
from tests.rendering.conftest import make_results


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_results(tmp_path_factory.mktemp("results") / "results", seeds=2, epochs=8)


def test_every_run_has_the_figure_of_each_task_and_the_table(plans: dict[str, Any]) -> None:
    names = plans["trained"]["names"]
    assert [name for name in names if name.startswith("accuracy-by-epoch-time")] == [
        "accuracy-by-epoch-time-sim-features-images",
        "accuracy-by-epoch-time-sim-features-distinct",
        "accuracy-by-epoch-time-sim-iapr-regions",
    ]
    assert "by-seed" in names
    # Without methods that are trained in epochs there is nothing to draw.
    assert not any(name.startswith("accuracy-by-epoch-time") for name in plans["tasks"]["names"])


def test_the_example_of_a_figure_is_drawn(copy: Copy, results: Path, tmp_path: Path) -> None:
    command = ["figure", "some-name", "--kind", "accuracy_by_epoch_time", "--results", results]
    parameters = '{"task": "saiapr/regions", "metric": "recall@10"}'
    copy.stages([*command, "--parameters", parameters, "--out", tmp_path / "some-name"])
    for suffix in ("pdf", "svg", "png"):
        assert (tmp_path / f"some-name.{suffix}").stat().st_size > 5000


def test_the_example_of_a_table_has_the_numbers_of_each_seed(copy: Copy, results: Path, tmp_path: Path) -> None:
    command = ["table", "by-seed", "--kind", "by_seed", "--results", results, "--out", tmp_path / "by-seed"]
    copy.stages([*command, "--parameters", '{"metric": "map@10"}'])
    written = pl.read_csv(tmp_path / "by-seed.csv")
    metrics = pl.read_parquet(results / "metrics.parquet").filter(pl.col("metric") == "map@10")
    for seed in (1, 2):
        ours = metrics.filter(pl.col("seed") == seed)
        assert sorted(written[f"seed_{seed}"]) == sorted(ours["value"])
        assert sorted(written[f"seed_{seed}_low"]) == sorted(ours["ci_low"])
    assert (tmp_path / "by-seed.tex").is_file()
    assert "MAP@10" in (tmp_path / "by-seed.md").read_text(encoding="utf-8")
