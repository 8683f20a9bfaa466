"""One run of the whole workflow on a tiny configuration."""

import re

import polars as pl

from tests.workflow.project import TRAINED, UNTRAINED, tiny_set
from vsebench.rendering.names import CLAIM_TABLES, PAPER_FIGURES, PAPER_TABLES

METRICS = {(name, n) for name in ("pre", "rec", "map", "ndcg", "auc") for n in (5, 10)} | {("mrr", None), ("auc", None)}
METRIC_SCHEMA = {
    "dataset": pl.String,
    "protocol": pl.String,
    "method": pl.String,
    "seed": pl.Int64,
    "metric": pl.String,
    "cutoff": pl.Int32,
    "value": pl.Float64,
    "ci_low": pl.Float64,
    "ci_high": pl.Float64,
    "n_images": pl.Int64,
}
TIMING_COLUMNS = ["dataset", "protocol", "method", "threads", "repeat", "phase"]
TIMING_COLUMNS += ["seconds", "peak_rss_bytes", "machine"]


def test_every_result_is_there_and_no_half_written_file(finished):
    folder = finished.project.folder
    gathered = ["metrics.parquet", "summary.parquet", "timing.parquet", "history.parquet", "settings.json"]
    expected = [f"results/{name}" for name in [*gathered, "datasets.json", "machine.json", "report.html"]]
    expected += [f"results/{name}.csv" for name in ("audit", "claims", "comparison")]
    for name in ["datasets", "training-time", "accuracy-sim-iapr-regions", *CLAIM_TABLES, *PAPER_TABLES]:
        expected += [f"results/tables/{name}.{suffix}" for suffix in ("csv", "md", "tex")]
    singles = ["overview", "mean-ranks", "training-time", "trials", *PAPER_FIGURES]
    for name in [*singles, "accuracy-sim-iapr-regions", "convergence-sim-iapr-regions"]:
        expected += [f"figures/{name}.{suffix}" for suffix in ("pdf", "svg", "png")]
    run = "results/sim-iapr/regions"
    expected += [f"{run}/summary.parquet", f"{run}/timing.parquet"]
    expected += [f"{run}/seed1/split/{name}.parquet" for name in ("train", "valid", "test")]
    for method in UNTRAINED + TRAINED:
        names = ["model.npz", "history.parquet", "run.json", "ranks.parquet", "metrics.parquet"]
        expected += [f"{run}/seed1/{method}/{name}" for name in names + ["selection.json"] * (method in TRAINED)]
    assert [name for name in expected if not (folder / name).is_file() or not (folder / name).stat().st_size] == []
    assert not list(folder.rglob("*.tmp*"))


def test_metrics_have_the_documented_columns_and_a_row_for_each_model_and_metric(finished):
    metrics = pl.read_parquet(finished.project.folder / "results" / "metrics.parquet")
    assert dict(metrics.schema) == METRIC_SCHEMA
    keys = metrics.select("dataset", "protocol", "method", "seed", "metric", "cutoff").rows()
    expected = {("sim-iapr", "regions", method, 1, *metric) for method in UNTRAINED + TRAINED for metric in METRICS}
    assert len(keys) == len(expected)
    assert set(keys) == expected
    assert (metrics["ci_low"] <= metrics["value"]).all()
    assert (metrics["value"] <= metrics["ci_high"]).all()


def test_each_trained_method_is_timed_in_each_run(finished):
    timing = pl.read_parquet(finished.project.folder / "results" / "timing.parquet")
    assert timing.columns == TIMING_COLUMNS
    assert set(timing.filter(pl.col("phase") == "epoch")["method"]) == set(TRAINED)


def test_the_run_ends_by_naming_the_report(finished):
    last_words = finished.outcome.text[-1500:]
    assert "results/report.html" in last_words
    assert "results/tables/" in last_words
    assert "figures/" in last_words


def test_each_table_and_figure_of_the_papers_is_a_target(finished):
    listed = finished.project.snakemake("--list-target-rules").text.split()
    assert {*PAPER_TABLES, *PAPER_FIGURES, "claims", "comparison", "audit"} <= set(listed)


def test_a_second_run_does_nothing(finished):
    again = finished.project.snakemake()
    assert again.status == 0
    assert "Nothing to be done" in again.text
    assert again.rules == set()


def test_no_job_runs_beside_a_timed_one(fresh):
    """Snakemake logs a job before it starts and after it ended, so jobs that are apart in the log were apart."""
    fresh.configure(datasets=tiny_set("regions", "distinct"), methods=["popularity", "opt_auc", "vse_fs"])
    # Its models are not needed for timing, so they are there to be trained at the same time.
    others = [f"results/sim-iapr/{run}/seed1/popularity/ranks.parquet" for run in ("regions", "distinct")]
    outcome = fresh.snakemake("results/timing.parquet", *others)
    assert outcome.status == 0, outcome.text[-3000:]
    events = re.findall(
        r"^(?:local)?rule (\w+):\n(?: {4}.*\n)*? {4}jobid: (\d+)|^Finished jobid: (\d+)", outcome.text, re.MULTILINE
    )
    running: dict[str, str] = {}
    timed, beside_each_other = 0, 0
    for rule, started, ended in events:
        if ended:
            del running[ended]
            continue
        running[started] = rule
        beside_each_other += len(running) > 1
        if "time_methods" in running.values():
            timed += 1
            assert list(running.values()) == ["time_methods"]
    assert timed == 2
    assert beside_each_other > 3  # other jobs did share the two cores
    assert not running
