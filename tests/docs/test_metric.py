"""The example in docs/metrics.md is one file, and a run measures it."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.docs.conftest import STAGES, Copy
from vsebench.core.schemas import LISTS, PAIRS, RANKS, SPLIT_LABELS
from vsebench.core.storage import write_json, write_table
from vsebench.core.tasks import Case, Task

TASK = Task("made-up", "images")
# Image 0 has a hit at rank 2; image 1 a tie from rank 3 to 4; image 2 ranks 3 and 9; image 3 a miss.
HELD_OUT = [(0, 1, 1, 0, 1, 9), (1, 1, 2, 1, 1, 9), (2, 1, 2, 0, 1, 8), (2, 2, 7, 0, 2, 8), (3, 1, None, None, None, 9)]


@pytest.fixture
def results(tmp_path: Path) -> Path:
    case = Case(TASK, "some_row", 1)
    ranks = pl.DataFrame([(*line, False) for line in HELD_OUT], schema=RANKS, orient="row")
    write_table(ranks, RANKS, case.folder(tmp_path) / "ranks.parquet")
    write_table(pl.DataFrame(schema=LISTS), LISTS, case.folder(tmp_path) / "lists.parquet")
    write_json({"selection": {"spread": {}}}, case.folder(tmp_path) / "run.json")
    candidates = pl.DataFrame({"label": range(10), "first": True, "final": True, "valid": True, "test": True})
    write_table(candidates.cast(SPLIT_LABELS), SPLIT_LABELS, case.split(tmp_path) / "labels.parquet")
    write_json({"n_labels": 10}, case.split(tmp_path) / "split.json")
    training = pl.DataFrame({"image": [0], "label": [0], "count": [1]}, schema=PAIRS)
    write_table(training, PAIRS, case.split(tmp_path) / "final.parquet")
    return tmp_path


def command(results: Path, *metrics: str) -> list[object]:
    return [
        "measure", "--results", results, "--dataset", TASK.dataset, "--protocol", TASK.protocol,
        "--variants", "some_row",
        "--seeds", 1, "--metrics", *metrics, "--bootstrap", 100, "--out", results / "metrics.parquet",
        "--summary", results / "summary.parquet", "--cold", results / "cold.parquet",
        "--by-frequency", results / "by_frequency.parquet",
    ]  # fmt: skip


def test_the_example_is_measured(copy: Copy, results: Path) -> None:
    copy.stages(command(results, "recall@3", "hit_rate@3", "hit_rate@4"))
    values = dict(pl.read_parquet(results / "metrics.parquet").select("metric", "value").rows())
    assert values == pytest.approx({"recall@3": (1 + 0 + 0.5 + 0) / 4, "hit_rate@3": 2 / 4, "hit_rate@4": 3 / 4})


def test_a_name_without_its_cutoff_is_one_line(copy: Copy, results: Path) -> None:
    done = copy.python(STAGES, [[str(word) for word in command(results, "hit_rate")]])
    assert done.returncode == 1
    assert done.stderr == "vsebench measure: the metric 'hit_rate' needs a cut-off, such as hit_rate@10\n"


def test_the_run_of_the_page_has_it(plans: dict[str, Any]) -> None:
    assert plans["metric"]["metrics"] == ["recall@10", "hit_rate@3"]
