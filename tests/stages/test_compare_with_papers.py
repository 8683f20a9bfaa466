"""Published numbers beside ours: only where data and protocol are the same, never on simulated data."""

import csv
from pathlib import Path

import pytest

from tests.builders import frame
from vsebench.cli import main
from vsebench.core import schemas
from vsebench.core.storage import write_json, write_table
from vsebench.core.tasks import Task

PAPERS = sorted((Path(__file__).parents[2] / "config" / "papers").glob("*.yaml"))
TASKS = (Task("saiapr", "regions"), Task("nuswide", "distinct"), Task("saiapr", "distinct"))


@pytest.fixture
def results(tmp_path):
    """Results on the real counterpart of the papers' IAPR TC-12, and on a simulated set under a real one's name."""
    summary, timing, history = [], [], []
    for task in TASKS:
        for method, value, seconds in (("vse_fs", 0.45, 1.0), ("warp", 0.40, 3.0), ("warp_published", 0.428, 5.0)):
            keys = {"dataset": task.dataset, "protocol": task.protocol, "method": method}
            numbers = {"value": value, "ci_low": value - 0.001, "ci_high": value + 0.001}
            summary.append(keys | {"decision": "", "metric": "recall@10"} | numbers)
            for n in (1, 2, 3):
                timing.append(keys | {"phase": "epoch", "repeat": n, "seconds": seconds * n})
                for epoch in (1, 2, 3):
                    row = keys | {"phase": "selection", "seed": n, "epoch": epoch, "seconds": seconds}
                    history.append(row | {"validation": -abs(epoch - 2.0)})
    tables = {"summary": (summary, schemas.SUMMARY), "timing": (timing, schemas.TIMING)}
    for name, (rows, schema) in (tables | {"history": (history, schemas.HISTORY)}).items():
        write_table(frame(rows, schema), schema, tmp_path / f"{name}.parquet")
    write_json(
        [{"name": "saiapr", "simulated": False}, {"name": "nuswide", "simulated": True}], tmp_path / "datasets.json"
    )
    write_json([], tmp_path / "settings.json")
    return tmp_path


@pytest.fixture
def compare(results):
    """Compare papers with the results, and return the rows of comparison.csv."""

    def run(papers=PAPERS):
        arguments = ["--papers", *map(str, papers), "--results", str(results)]
        assert main(["stage", "compare_with_papers", *arguments, "--out", str(results / "comparison.csv")]) == 0
        with (results / "comparison.csv").open() as stream:
            return list(csv.DictReader(stream))

    return run


def find(rows, **keys):
    (row,) = [row for row in rows if all(row[key] == value for key, value in keys.items())]
    return row


def test_accuracy_is_inside_or_outside_our_interval(compare):
    rows = compare()
    row = find(rows, paper="vse_fs", row="iapr/vse_fs", column="recall@10", method="vse_fs")
    assert (float(row["published"]), float(row["ours"]), row["verdict"]) == (0.4413, 0.45, "outside")
    assert float(row["difference"]) == pytest.approx(0.0087)
    assert (row["dataset"], row["protocol"]) == ("saiapr", "regions")
    row = find(rows, paper="vse_ens", row="iapr/warp", column="recall@10", method="warp_published")
    assert (float(row["published"]), row["verdict"]) == (0.4278, "inside")
    assert find(rows, paper="vse_ens", row="iapr/warp", column="recall@10", method="warp")["verdict"] == "outside"


def test_times_are_in_seconds_and_get_no_verdict(compare):
    rows = compare()
    row = find(rows, paper="vse_fs", row="iapr/warp", column="iteration_time", method="warp")
    assert (float(row["published"]), float(row["ours"]), row["verdict"]) == (34.33, 6.0, "")
    row = find(rows, paper="vse_ens", row="iapr/warp", column="training_time", method="warp")
    assert float(row["published"]) == pytest.approx(2.38 * 3600)
    assert float(row["ours"]) == pytest.approx(6.0)  # two epochs of three seconds to the best one


def test_simulated_data_and_other_protocols_are_never_compared(compare):
    assert {(row["dataset"], row["protocol"]) for row in compare()} == {("saiapr", "regions")}


@pytest.mark.parametrize(
    ("printed", "verdict"),
    [
        ("44.9", "inside"),
        ("44.86", "outside"),
        ("45.1", "inside"),
        ("45.15", "outside"),
        ("45.104", "outside"),
        ("45", "inside"),
    ],
)
def test_percentages_are_compared_as_shares_give_or_take_their_rounding(compare, tmp_path, printed, verdict):
    task = "{title: D, dataset: saiapr, protocol: regions}"
    row = "{title: M, ours: [vse_fs]}"
    (tmp_path / "p.yaml").write_text(f"{{title: P, citation: c, rows: {{m: {row}}}, tasks: {{d: {task}}}}}")
    header = "paper,table,row,column,value,unit,protocol,note\n"
    (tmp_path / "p.csv").write_text(header + f"p,table1,d/m,recall@10,{printed},percent,held_out_images,\n")
    (line,) = compare([tmp_path / "p.yaml"])
    assert float(line["published"]) == pytest.approx(float(printed) / 100)
    assert (line["unit"], line["verdict"]) == ("1", verdict)


def test_a_run_without_papers_has_an_empty_comparison(compare):
    assert compare([]) == []


def test_a_time_to_the_best_epoch_is_left_out_where_a_limit_stopped_a_training(compare, results):
    def methods():
        return {row["method"] for row in compare() if row["column"] == "training_time"}

    before = methods()
    stopped = {"dataset": "saiapr", "protocol": "regions", "method": "warp", "seed": 2, "at_limit": True}
    write_json([stopped, stopped | {"method": "vse_fs", "at_limit": False}], results / "settings.json")
    assert methods() == before - {"warp"} != before
