"""Published numbers beside ours: only where data and protocol are the same, never on simulated data."""

import csv
from pathlib import Path

import polars as pl
import pytest

from vsebench.cli import main
from vsebench.core.storage import write_json, write_parquet
from vsebench.rendering.names import PAPER_TABLES

PUBLISHED = Path(__file__).parents[2] / "config" / "published"
COUNTS = {
    "images": 20000, "labels": 255, "vocabulary": 275, "occurrences_per_image": {"mean": 4.976},
    "labels_per_image": {"mean": 4.1},
}  # fmt: skip


def entry(name, simulated):
    return {"name": name, "title": name, "simulated": simulated, "counts": COUNTS}


@pytest.fixture
def results(tmp_path):
    """Results on the real counterpart of the papers' IAPR TC-12, and on a simulated set under a real one's name."""
    summary, timing, history = [], [], []
    for dataset, protocol in (("saiapr", "regions"), ("nuswide", "distinct"), ("saiapr", "distinct")):
        for method, value, seconds in (("vse_fs", 0.45, 1.0), ("warp", 0.40, 3.0), ("warp_published", 0.428, 5.0)):
            keys = {"dataset": dataset, "protocol": protocol, "method": method}
            numbers = {"value": value, "ci_low": value - 0.001, "ci_high": value + 0.001}
            summary.append(keys | {"metric": "rec", "cutoff": 10} | numbers)
            for n in (1, 2, 3):
                timing.append(keys | {"phase": "epoch", "repeat": n, "seconds": seconds * n})
                for epoch in (1, 2, 3):
                    row = keys | {"phase": "selection", "seed": n, "epoch": epoch, "seconds": seconds}
                    history.append(row | {"validation": -abs(epoch - 2.0)})
    write_parquet(pl.DataFrame(summary, schema_overrides={"cutoff": pl.Int32}), tmp_path / "summary.parquet")
    write_parquet(pl.DataFrame(timing), tmp_path / "timing.parquet")
    write_parquet(pl.DataFrame(history), tmp_path / "history.parquet")
    write_json([entry("saiapr", False), entry("nuswide", True)], tmp_path / "datasets.json")
    return tmp_path


@pytest.fixture
def compared(results):
    papers = [str(PUBLISHED / f"{paper}.csv") for paper in ("vse_ens", "vse_fs")]
    arguments = ["--comparable", str(PUBLISHED / "comparable.yaml"), "--results", str(results)]
    assert main(["compare", "--published", *papers, *arguments, "--out", str(results / "comparison.csv")]) == 0
    with (results / "comparison.csv").open() as stream:
        return list(csv.DictReader(stream))


def find(rows, **keys):
    (row,) = [row for row in rows if all(row[key] == value for key, value in keys.items())]
    return row


def test_accuracy_is_inside_or_outside_our_interval(compared):
    row = find(compared, paper="vse_fs", row="iapr/vse_fs", column="rec@10", method="vse_fs")
    assert (float(row["published"]), float(row["ours"]), row["verdict"]) == (0.4413, 0.45, "outside")
    assert float(row["difference"]) == pytest.approx(0.0087)
    assert (row["dataset"], row["protocol"]) == ("saiapr", "regions")
    row = find(compared, paper="vse_ens", row="iapr/warp", column="rec@10", method="warp_published")
    assert (float(row["published"]), row["verdict"]) == (0.4278, "inside")
    assert find(compared, paper="vse_ens", row="iapr/warp", column="rec@10", method="warp")["verdict"] == "outside"


def test_times_are_in_seconds_and_get_no_verdict(compared):
    row = find(compared, paper="vse_fs", row="iapr/warp", column="iteration_time", method="warp")
    assert (float(row["published"]), float(row["ours"]), row["verdict"]) == (34.33, 6.0, "")
    row = find(compared, paper="vse_ens", row="iapr/warp", column="training_time", method="warp")
    assert float(row["published"]) == pytest.approx(2.38 * 3600)
    assert float(row["ours"]) == pytest.approx(6.0)  # two epochs of three seconds to the best one


def test_simulated_data_and_other_protocols_are_never_compared(compared):
    assert {(row["dataset"], row["protocol"]) for row in compared} == {("saiapr", "regions")}


@pytest.mark.parametrize("name", PAPER_TABLES)
def test_every_table_of_the_papers_can_be_written(results, compared, name):
    out = results / name
    assert main(["paper-table", name, "--results", str(results), "--published", str(PUBLISHED), "--out", str(out)]) == 0
    with (PUBLISHED / f"{name.rpartition('_')[0]}.csv").open() as stream:
        printed = [row for row in csv.DictReader(stream) if row["table"] == name.rpartition("_")[2]]
    text = (out.with_name(f"{name}.md")).read_text()
    plain = [row["value"] for row in printed if row["unit"] == "1"]
    assert all(value in text for value in plain)
    assert out.with_name(f"{name}.tex").read_text().count(r"\begin{tabular}") >= 1


def test_our_numbers_stand_below_the_printed_ones(results, compared):
    arguments = ["--results", str(results), "--published", str(PUBLISHED), "--titles", '{"vse_fs": "VSE-fs here"}']
    assert main(["paper-table", "vse_fs_table3", *arguments, "--out", str(results / "t")]) == 0
    lines = (results / "t.md").read_text().splitlines()
    place = next(n for n, line in enumerate(lines) if "VSE-fs here" in line)
    assert "published" in lines[place - 1]
    assert "1.73" in lines[place - 1]
    assert "2.00 [1.00, 3.00]" in lines[place]
    with (results / "t.csv").open() as stream:
        rows = [row for row in csv.DictReader(stream) if row["dataset"] == "IAPR TC-12"]
    assert [row["ratio"] for row in rows if row["method"] == "warp"] == ["3.0"]
