"""One run of the whole workflow on a tiny configuration."""

import json
import re

import polars as pl

from tests.workflow.project import ON_LABELS, ON_NEW_IMAGES, ROOT, TINY, TRAINED
from vsebench.cli import main
from vsebench.core import schemas, seals
from vsebench.plan import read_plan

TASKS = {("sim-iapr", "regions"): ON_LABELS, ("sim-features", "images"): ON_NEW_IMAGES}


def test_every_result_is_there_and_no_half_written_file(finished):
    folder = finished.project.folder
    plan = read_plan(ROOT / "config", TINY, [])
    gathered = ["metrics.parquet", "summary.parquet", "timing.parquet", "history.parquet", "settings.json"]
    expected = [f"results/{name}" for name in [*gathered, "datasets.json", "machine.json", "report.html"]]
    expected += [f"results/{name}.csv" for name in ("audit", "claims", "comparison")]
    expected += [f"results/tables/{name}.{suffix}" for name in plan.tables for suffix in ("csv", "md", "tex")]
    expected += [f"figures/{name}.{suffix}" for name in plan.figures for suffix in ("pdf", "svg", "png")]
    for (dataset, protocol), variants in TASKS.items():
        folder_of_task = f"results/{dataset}/{protocol}"
        expected += [f"{folder_of_task}/{name}.parquet" for name in ("metrics", "summary", "timing")]
        parts = ("train", "valid", "test", "images", "labels")
        expected += [f"{folder_of_task}/seed1/split/{name}.parquet" for name in parts]
        names = ["model.npz", "history.parquet", "run.json", "ranks.parquet", "lists.parquet"]
        names += ["label_ranks.parquet"] * (protocol == "images")
        expected += [f"{folder_of_task}/seed1/{variant}/{name}" for variant in variants for name in names]
    assert [name for name in expected if not (folder / name).is_file() or not (folder / name).stat().st_size] == []
    assert not list(folder.rglob("*.tmp*"))


def test_every_result_has_the_schema_number(finished):
    folders = [finished.project.folder / name for name in ("results", "data")]
    files = [path for folder in folders for path in folder.rglob("*.*") if path.name != "croissant.json"]
    tables, records = ([path for path in files if path.suffix == suffix] for suffix in (".parquet", ".json"))
    numbers = {path: int(pl.read_parquet_metadata(path).get("schema", 0)) for path in tables}
    numbers |= {path: json.loads(path.read_text(encoding="utf-8"))["schema"] for path in records}
    assert {"outline.json", "about.json", "provenance.json", "metrics.parquet"} <= {path.name for path in numbers}
    assert [str(path) for path, number in numbers.items() if number != seals.SCHEMA_VERSION] == []


def test_all_files_of_a_run_fit_together(finished, capsys):
    assert main(["verify", *(str(finished.project.folder / name) for name in ("results", "data"))]) == 0
    assert re.fullmatch(r"\d{2,} files checked: all match their checksums\n", capsys.readouterr().out)


def test_timed_processes_leave_no_temporary_files(finished):
    assert (finished.project.folder / "results" / "timing.parquet").exists()
    assert list(finished.temporary.glob("pymp-*")) == []  # folders of multiprocessing for sockets


def test_snakemake_looks_for_jobs_when_one_has_ended(finished):
    """It does not look many times a second (`lift_default_rate` in src/vsebench/workflow.py)."""
    text = finished.outcome.text
    assert 10 < text.count("Ready jobs:") <= text.count("Finished jobid:")


def test_tables_have_the_columns_of_their_schemas(finished):
    files = [path for name in ("results", "data") for path in (finished.project.folder / name).rglob("*.parquet")]
    schema_of = {name.lower(): schema for name, schema in vars(schemas).items() if name.isupper()}
    names = {path: f"split_{path.stem}" if path.parent.name == "split" else path.stem for path in files}
    checked = {path: schema_of[name] for path, name in names.items() if name in schema_of}
    assert {"metrics", "summary", "timing", "history", "ranks", "lists", "label_ranks", "images"} <= {*names.values()}
    for path, schema in checked.items():
        assert dict(pl.read_parquet_schema(path)) == schema, path


def test_metrics_have_one_row_per_model_and_metric(finished):
    metrics = pl.read_parquet(finished.project.folder / "results" / "metrics.parquet")
    keys = metrics.select("dataset", "protocol", "method", "seed", "metric").rows()
    expected = {
        (*task, variant, 1, metric)
        for task, variants in TASKS.items()
        for variant in variants
        for metric in TINY["metrics"]
        if metric != "label_map" or task[1] == "images"  # known images are not ranked for a label
    }
    assert len(keys) == len(expected)
    assert set(keys) == expected
    assert (metrics["ci_low"] <= metrics["value"]).all()
    assert (metrics["value"] <= metrics["ci_high"]).all()


def test_features_tell_of_images_that_were_never_seen(finished):
    summary = pl.read_parquet(finished.project.folder / "results" / "summary.parquet")
    found = dict(summary.filter(dataset="sim-features", metric="map").select("method", "value").rows())
    assert found["popularity"] < found["ridge"] < found["oracle"]


def test_each_variant_with_something_to_choose_is_timed(finished):
    timing = pl.read_parquet(finished.project.folder / "results" / "timing.parquet")
    assert set(timing.filter(pl.col("phase") == "epoch")["method"]) == set(TRAINED)
    assert set(timing.filter(pl.col("phase") == "fit")["method"]) == {"ridge"}


def test_variants_that_are_left_out_are_named_with_the_reason(finished):
    text = finished.outcome.text
    assert "Left out of sim-iapr/regions: ridge: the data set has no image features." in text
    assert re.search(r"Left out of sim-features/images: opt_auc, .*: the test images are new", text)
    page = (finished.project.folder / "results" / "report.html").read_text(encoding="utf-8")
    assert "the data set has no image features" in page


def test_the_run_ends_by_naming_the_report(finished):
    last_words = finished.outcome.text[-1500:]
    assert "results/report.html" in last_words
    assert "results/tables/" in last_words
    assert "figures/" in last_words


def test_each_table_and_figure_of_the_papers_is_a_target(finished):
    listed = finished.project.snakemake("--list-target-rules").text.split()
    assert {"vse_ens_equations", "claims", "comparison", "audit", "accuracy", "timing"} <= set(listed)


def test_a_second_run_does_nothing(finished):
    again = finished.project.snakemake()
    assert again.status == 0
    assert "Nothing to be done" in again.text
    assert again.rules == set()


def test_only_timed_rules_take_all_slots(finished):
    outcome = finished.project.snakemake("--dry-run", "--forceall")
    blocks = re.findall(
        r"^(?:local)?rule (\w+):\n(?: {4}.*\n)*? {4}resources: .*slot=(\d+)", outcome.text, re.MULTILINE
    )
    slots = {rule: int(slot) for rule, slot in blocks}
    assert {rule for rule, slot in slots.items() if slot == 100} == {"time_methods"}
    assert len(slots) > 15
