"""Packs: written, read, compared, and refused where they are damaged."""

import io
import json
import shutil
import zipfile
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.packs.runs import TASK, edit_json, ranks_of, write_run
from tests.stages.small import run
from vsebench.core.errors import UserError
from vsebench.core.storage import write_parquet
from vsebench.core.tasks import Task
from vsebench.packs import archive, comparison
from vsebench.packs.archive import read_pack
from vsebench.packs.manifest import MANIFEST
from vsebench.packs.runs import opened

OLD = Path(__file__).parent / "version-1.vsepack"


@pytest.fixture(scope="module")
def first(tmp_path_factory):
    return write_run(tmp_path_factory.mktemp("first"))


@pytest.fixture(scope="module")
def second(tmp_path_factory):
    """The results of a run with another setting of ridge, and another verdict."""
    return write_run(tmp_path_factory.mktemp("second"), regularisation=1e5, verdict="undecided", name="other.yaml")


@pytest.fixture(scope="module")
def packed(first, tmp_path_factory):
    path = tmp_path_factory.mktemp("packs") / "first.vsepack"
    assert run("pack", path, "--results", first) == 0
    return path


def rewritten(path, out, change):
    """Write a pack with other members: `change` edits the dictionary of name -> bytes."""
    with zipfile.ZipFile(path) as old:
        members = {name: old.read(name) for name in old.namelist()}
    change(members)
    with zipfile.ZipFile(out, "w") as new:
        for name, content in members.items():
            new.writestr(name, content)
    return out


def refused(path, capsys):
    """Return the one line with which a pack is refused."""
    assert run("compare", path, path) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    return captured.err


def test_the_same_results_give_the_same_bytes_in_another_folder(first, packed, tmp_path):
    shutil.copytree(first.parent, tmp_path / "copy")
    again = tmp_path / "again.vsepack"
    assert run("pack", again, "--results", tmp_path / "copy/results") == 0
    assert again.read_bytes() == packed.read_bytes()


def test_a_pack_has_the_ranks_and_the_files_that_its_metrics_read_but_no_models(packed):
    names = zipfile.ZipFile(packed).namelist()
    assert names == sorted(names)
    of_ridge = {Path(name).name for name in names if name.startswith(f"{TASK}/seed1/ridge/")}
    assert of_ridge == {"ranks.parquet", "label_ranks.parquet"}  # no metric reads the lists


def test_a_file_of_a_user_beside_the_tables_is_not_packed(first, packed, tmp_path):
    shutil.copytree(first, tmp_path / "results")
    (tmp_path / "results/tables/README.md").write_text("my notes")
    assert run("pack", tmp_path / "x.vsepack", "--results", tmp_path / "results") == 0
    assert zipfile.ZipFile(tmp_path / "x.vsepack").namelist() == zipfile.ZipFile(packed).namelist()


def test_a_pack_that_would_be_refused_is_not_written(first, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(archive, "LARGEST_SUM", 10_000)
    assert run("pack", tmp_path / "x.vsepack", "--results", first) == 1
    refused = f"{tmp_path}/x.vsepack: its files have more than 10,000 bytes in total, so the pack is not read"
    assert capsys.readouterr().err == f"vsebench pack: {refused}\n"
    assert not list(tmp_path.iterdir())


def test_claims_that_were_changed_are_not_packed(first, tmp_path, capsys):
    shutil.copytree(first, tmp_path / "results")
    path = tmp_path / "results/claims.csv"
    path.write_text(path.read_text().replace("holds", "fails"))
    assert run("pack", tmp_path / "x.vsepack", "--results", tmp_path / "results") == 1
    error = f"vsebench pack: {path}: it was changed after it was written, or is damaged; delete it and run again\n"
    assert capsys.readouterr().err == error
    assert not (tmp_path / "x.vsepack").exists()


@pytest.mark.parametrize("name", ["claims.csv", "tables/verdicts.md"])
def test_a_table_that_was_changed_after_packing_is_refused(name, packed, tmp_path, capsys):
    path = rewritten(packed, tmp_path / "x.vsepack", lambda m: m.update({name: m[name].replace(b"holds", b"fails")}))
    assert f"x.vsepack: {name} is missing or was changed after the pack was made" in refused(path, capsys)
    path = rewritten(packed, tmp_path / "x.vsepack", lambda members: members.pop(name))
    assert f"x.vsepack: {name} is missing" in refused(path, capsys)


def test_a_page_is_filled_with_the_tables_of_packs(packed, tmp_path, capsys):
    cell = "<!-- cell: {}; row: Ridge is best; column: Verdict -->{}<!-- end of cell -->"
    page = tmp_path / "page.md"
    page.write_text(f"It {cell.format('small/verdicts', '')}.")
    assert run("fill", page, "--tables", f"small={packed}") == 0
    assert page.read_text() == f"It {cell.format('small/verdicts', 'holds')}."
    page.write_text(f"It {cell.format('small/accuracy', '')}.")
    assert run("fill", page, "--tables", f"small={packed}") == 1
    assert "the run has no table" in capsys.readouterr().err


def test_a_pack_is_named_after_the_configuration(first, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run("pack", "--results", first) == 0
    assert (tmp_path / "small.vsepack").is_file()
    assert "small.vsepack: 1 task, 3 methods" in capsys.readouterr().out


def test_the_hashes_of_data_and_splits_are_in_the_manifest(first, packed):
    manifest = read_pack(packed)
    split = json.loads((TASK.folder(first) / "seed2/split/split.json").read_text())
    assert manifest.tasks[str(TASK)].splits[2] == split["hash"]
    assert manifest.datasets[TASK.dataset].prepared.keys() == {"pairs.parquet", "images.parquet", "labels.parquet"}


def test_a_pack_has_the_name_of_the_users_table_and_not_its_folder(tmp_path):
    folder = write_run(tmp_path / "run")
    edit_json(folder / "datasets.json", lambda entries: entries[0]["options"].update(pairs="secret/folder/tags.csv"))
    assert run("pack", tmp_path / "own.vsepack", "--results", folder) == 0
    with zipfile.ZipFile(tmp_path / "own.vsepack") as pack:
        assert not any(b"secret" in pack.read(name) for name in pack.namelist())
        assert json.loads(pack.read("datasets.json"))["entries"][0]["options"] == {"pairs": "tags.csv"}
    assert run("verify", tmp_path / "own.vsepack") == 0


def test_the_metadata_are_an_ro_crate(packed):
    crate = json.loads(zipfile.ZipFile(packed).read("ro-crate-metadata.json"))
    entities = {entity["@id"]: entity for entity in crate["@graph"]}
    assert len(entities) == len(crate["@graph"])
    assert crate["@context"] == "https://w3id.org/ro/crate/1.1/context"
    assert entities["ro-crate-metadata.json"]["about"] == {"@id": "./"}
    assert entities["ro-crate-metadata.json"]["conformsTo"] == {"@id": "https://w3id.org/ro/crate/1.1"}
    root = entities["./"]
    assert root["@type"] == "Dataset"
    assert {"name", "description", "datePublished", "license"} <= root.keys()
    assert {part["@id"] for part in root["hasPart"]} <= entities.keys()
    files = [name for name, entity in entities.items() if entity["@type"] == "File"]
    assert set(files) <= set(zipfile.ZipFile(packed).namelist())


@pytest.mark.parametrize(
    "name",
    [
        "outline.json",
        "machine.json",
        "datasets.json",
        f"{TASK}/seed2/split/split.json",
        f"{TASK}/seed2/ridge/ranks.parquet",
    ],
)
def test_an_unfinished_run_is_one_line(first, tmp_path, capsys, name):
    shutil.copytree(first, tmp_path / "results")
    missing = tmp_path / "results" / name
    missing.unlink()
    assert run("pack", tmp_path / "x.vsepack", "--results", tmp_path / "results") == 1
    repeat = "the run is not finished: repeat its command, `vsebench run FILE`, where FILE is its configuration"
    assert capsys.readouterr().err == f"vsebench pack: {missing}: no such file; {repeat}\n"
    assert [path.name for path in tmp_path.iterdir()] == ["results"]


@pytest.mark.parametrize(
    ("change", "file", "difference"),
    [
        (lambda outline: outline["metrics"].append("mrr"), "summary.parquet", "lacks mrr of popularity"),
        (lambda outline: outline["metrics"].remove("map"), "summary.parquet", "has map of popularity"),
        (lambda outline: outline["entries"][str(TASK)].remove("ridge"), "summary.parquet", "has map of ridge"),
        (lambda outline: outline["seeds"].append(3), "settings.json", "lacks popularity"),
    ],
)
def test_a_run_that_was_stopped_after_a_change_of_its_configuration_is_not_finished(
    change, file, difference, first, tmp_path, capsys
):
    results = tmp_path / "results"
    shutil.copytree(first, results)
    edit_json(results / "outline.json", change)
    for command in (["pack", tmp_path / "x.vsepack", "--results", results], ["compare", first, results]):
        assert run(*command) == 1
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith(f"vsebench {command[0]}: {results / file}: {difference} on {TASK}")
        assert f"unlike {results}/outline.json; the run is not finished: repeat its command" in line
    assert [path.name for path in tmp_path.iterdir()] == ["results"]


def test_a_run_does_not_differ_from_its_pack(first, packed, capsys):
    out = packed.parent / "none.csv"
    assert run("compare", packed, first, "--out", out) == 0
    differences = pl.read_csv(out)
    assert differences.height == 9  # three methods, three metrics
    assert (differences["difference"] == 0).all()
    assert (differences["p_adjusted"] == 1).all()
    assert "Changed settings: none" in capsys.readouterr().out


def test_the_difference_is_the_mean_over_seeds_of_the_difference_over_images(first, second, packed, tmp_path, capsys):
    out = tmp_path / "differences.csv"
    assert run("compare", packed, second, "--metrics", "recall@5", "--out", out) == 0
    (row,) = pl.read_csv(out).filter(pl.col("method") == "ridge").to_dicts()
    recalls = []
    for results in (first, second):
        by_seed = []
        for seed in (1, 2):
            ranks = ranks_of(results, "ridge", seed)
            number = pl.col("right").rank("ordinal").over("image")  # among the image's held-out labels
            hits = ranks.select("image", hit=pl.col("above") + pl.col("tied") + number <= 5)
            by_image = hits.group_by("image").agg(recall=pl.col("hit").mean())
            by_seed.append(by_image["recall"].mean())
        recalls.append(sum(by_seed) / 2)
    assert row["first"] == pytest.approx(recalls[0])
    assert row["difference"] == pytest.approx(recalls[1] - recalls[0])
    assert row["ci_low"] < row["difference"] < row["ci_high"] < 0
    text = capsys.readouterr().out
    assert "a_paper, ridge-wins (simulated): holds -> undecided" in text
    assert f"{TASK}, ridge: regularisation 1.0 -> 100000.0 (seeds 1, 2)" in text


def test_intervals_contain_the_spread_of_the_choice_if_the_choices_differ(first, second, tmp_path):
    """Both runs chose the same settings for popularity, but not for ridge regression."""

    def state_spreads(entries):
        for entry in entries:
            entry["spread"] = {"map": 0.5, "recall@5": None}

    results = tmp_path / "results"
    shutil.copytree(second, results)
    edit_json(results / "settings.json", state_spreads)
    tables = []
    for each in (second, results):
        assert run("compare", first, each, "--out", tmp_path / "differences.csv") == 0
        table = pl.read_csv(tmp_path / "differences.csv").with_columns(width=pl.col("ci_high") - pl.col("ci_low"))
        tables.append({(row["method"], row["metric"]): row for row in table.to_dicts()})
    before, after = tables
    assert {key for key in before if before[key]["width"] != after[key]["width"]} == {
        ("ridge", metric) for metric in ("map", "recall@5", "label_map")
    }
    of_map = after["ridge", "map"]
    assert of_map["width"] > 2 * 1.96 * 0.5 * of_map["second"]
    of_recall = after["ridge", "recall@5"]
    assert (of_recall["ci_low"], of_recall["ci_high"], of_recall["p_adjusted"]) == (-1, 1, 1)


KEYS = ("a-set", "images")


def test_the_choice_of_an_ensemble_is_that_of_its_weights_and_its_members():
    def entries(rate, weight):
        shared = {"choice": "weights", "settings": {"a": weight}, "spread": {"map": 0.1}}
        return {(*KEYS, "both", 1): shared, (*KEYS, "a", 1): {"choice": "tuned", "settings": {"learning_rate": rate}}}

    of_both = {"first": {"map": 0.1}, "second": {"map": 0.1}}
    first = entries(0.1, 0.5)
    assert comparison.spreads_of("both", Task(*KEYS), [1], [first, first]) == {}
    assert comparison.spreads_of("both", Task(*KEYS), [1], [first, entries(0.2, 0.5)]) == of_both
    assert comparison.spreads_of("both", Task(*KEYS), [1], [first, entries(0.1, 0.4)]) == of_both


def test_other_splits_are_refused_with_one_line_per_task(packed, tmp_path, capsys):
    other = write_run(tmp_path, n_images=84)
    assert run("compare", packed, other) == 0
    text = capsys.readouterr().out
    assert f"  {TASK}: not compared: the splits differ (seed 1: " in text
    assert "difference  " not in text


def test_the_same_split_with_other_test_labels_is_one_line(first, packed, tmp_path, capsys):
    shutil.copytree(first, tmp_path / "results")
    for path in (tmp_path / "results").rglob("ranks.parquet"):
        ranks = pl.read_parquet(path)
        write_parquet(ranks.with_columns(label=pl.col("label").reverse()), path)
    assert run("compare", packed, tmp_path / "results") == 1
    assert "the held-out labels of" in capsys.readouterr().err


def test_a_metric_that_a_run_lacks_is_one_line(packed, capsys):
    assert run("compare", packed, packed, "--metrics", "mrr") == 1
    assert (
        f"--metrics: mrr is not in {packed}; the metrics there are recall@5, map, label_map" in capsys.readouterr().err
    )


@pytest.mark.parametrize(
    ("metric", "lacking"),
    [("sibling_precision@5", "the siblings of labels"), ("psp@3", "the number of training images of each label")],
)
def test_a_metric_that_packs_cannot_give_is_listed_and_refused_if_it_is_named(
    metric, lacking, packed, tmp_path, capsys
):
    path = rewritten(packed, tmp_path / "x.vsepack", lambda m: edit(m, lambda made: made["metrics"].append(metric)))
    assert run("compare", path, path) == 0
    text = capsys.readouterr().out
    assert f"\nNot compared:\n  {metric}: not compared: packs lack {lacking}\n" in text
    assert "recall@5" in text
    message = f"--metrics: {metric} cannot be compared, because packs lack {lacking}; leave it out"
    assert run("compare", path, path, "--metrics", "map", metric) == 1
    assert capsys.readouterr().err == f"vsebench compare: {message}\n"


def test_a_metric_without_values_on_a_task_is_a_line(packed, tmp_path, capsys, monkeypatch):
    measured = comparison.measured

    def undefined(*arguments):
        found = measured(*arguments)
        for model in found:
            model.values[1] = np.nan
        return found

    monkeypatch.setattr(comparison, "measured", undefined)
    assert run("compare", packed, packed) == 0
    text = capsys.readouterr().out
    assert f"\nNot compared:\n  {TASK}: map: not compared: this metric has no value on the task\n" in text
    assert "recall@5" in text


def test_runs_on_other_tasks_have_nothing_to_compare(packed, tmp_path, capsys):
    def rename(members):
        manifest = json.loads(members[MANIFEST])
        manifest["tasks"] = {"other/images": manifest["tasks"][str(TASK)]}
        members[MANIFEST] = json.dumps(manifest).encode()

    assert run("compare", packed, rewritten(packed, tmp_path / "x.vsepack", rename)) == 1
    assert "the runs have no task in common" in capsys.readouterr().err


def test_an_old_pack_is_read():
    with opened(OLD) as old:
        assert old.manifest.name == "old"
        assert list(old.manifest.methods) == ["popularity", "ridge", "random"]
    assert run("compare", OLD, OLD) == 0


def test_a_newer_schema_is_refused(packed, tmp_path, capsys):
    newer = rewritten(packed, tmp_path / "newer.vsepack", lambda m: edit(m, lambda manifest: manifest.update(pack=3)))
    assert "the pack has the schema number 3, but this version of vsebench reads up to 2" in refused(newer, capsys)


def edit(members, change):
    manifest = json.loads(members[MANIFEST])
    change(manifest)
    members[MANIFEST] = json.dumps(manifest).encode()


def test_a_newer_file_in_a_pack_is_refused(packed, tmp_path, capsys):
    def change(members):
        members["settings.json"] = members["settings.json"].replace(b'"schema": 3', b'"schema": 99')

    assert "schema number 99" in refused(rewritten(packed, tmp_path / "newer.vsepack", change), capsys)


def test_a_truncated_pack_is_refused(packed, tmp_path, capsys):
    path = tmp_path / "cut.vsepack"
    path.write_bytes(packed.read_bytes()[:-300])
    assert "cut.vsepack: not a readable pack" in refused(path, capsys)


@pytest.mark.parametrize("name", ["../outside.json", "/etc/x.json", "a/../../x.csv", "program.py", "a\\..\\x.json"])
def test_a_member_with_a_wrong_name_is_refused_and_written_nowhere(name, packed, tmp_path, capsys):
    folder = tmp_path / "inner"
    folder.mkdir()
    path = rewritten(packed, folder / "x.vsepack", lambda members: members.update({name: b"{}"}))
    assert "does not belong in a pack" in refused(path, capsys)
    assert [each.name for each in tmp_path.iterdir()] == ["inner"]


def test_a_huge_member_is_refused(packed, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(archive, "LARGEST", 100_000)
    path = rewritten(packed, tmp_path / "x.vsepack", lambda members: members.update({"claims.csv": b"a" * 100_001}))
    assert "claims.csv has 100,001 bytes, but at most 100,000 are allowed" in refused(path, capsys)
    monkeypatch.setattr(archive, "LARGEST_SUM", 10_000)
    assert "its files have more than 10,000 bytes" in refused(packed, capsys)


def test_a_member_that_is_there_twice_is_refused(packed, tmp_path, capsys):
    path = tmp_path / "twice.vsepack"
    shutil.copy(packed, path)
    with zipfile.ZipFile(path, "a") as again, pytest.warns(UserWarning, match="Duplicate"):
        again.writestr("settings.json", b"{}")
    assert "settings.json occurs twice" in refused(path, capsys)


def test_another_zip_file_is_refused(tmp_path, capsys):
    with zipfile.ZipFile(tmp_path / "x.vsepack", "w") as other:
        other.writestr("data.json", b"{}")
    assert "it has no pack.json" in refused(tmp_path / "x.vsepack", capsys)
    (tmp_path / "y.vsepack").write_text("a page that says: not found")
    assert "not a readable pack" in refused(tmp_path / "y.vsepack", capsys)
    assert "there is no pack" in refused(tmp_path / "z.vsepack", capsys)


def test_a_wrong_manifest_is_refused(packed, tmp_path, capsys):
    path = rewritten(packed, tmp_path / "x.vsepack", lambda m: edit(m, lambda manifest: manifest.update(tasks=3)))
    assert "pack.json is wrong at tasks" in refused(path, capsys)


@given(st.data())
def test_a_pack_with_damaged_bytes_is_read_or_refused_with_one_line(data):
    """A damaged byte is found by a checksum, or is in a part of a zip file that is not read."""
    content = bytearray(OLD.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path = io.BytesIO(bytes(content[: data.draw(st.integers(0, len(content)))]))
    try:
        with archive.checked(path, "x.vsepack") as pack:
            for name in pack.namelist():
                pack.read(name)
    except UserError as error:
        assert str(error).startswith("x.vsepack: ")  # noqa: PT017


def test_settings_that_are_edited_are_listed(first, tmp_path, capsys):
    shutil.copytree(first, tmp_path / "results")

    def change(entries):
        entries[0]["epochs"] = 7

    edit_json(tmp_path / "results/settings.json", change)
    assert run("compare", first, tmp_path / "results") == 0
    assert f"{TASK}, popularity: epochs None -> 7 (seeds 1)" in capsys.readouterr().out
