"""`vsebench verify`: what was swapped or edited is found, and nothing in clean results."""

import json
import shutil
from hashlib import sha256

import numpy as np
import polars as pl
import pytest

from tests.packs.runs import TASK, edit_json, write_run
from tests.stages.small import run, write_processed
from vsebench.core.seals import job
from vsebench.core.storage import read_arrays, read_parquet, write_arrays, write_json, write_parquet
from vsebench.formats import own_files
from vsebench.formats.download.recorded import RECORD

SEED = f"results/{TASK.dataset}/{TASK.protocol}/seed"
DATA = f"data/processed/{TASK.dataset}"


@pytest.fixture(scope="module")
def clean(tmp_path_factory):
    """The folder of a run with its data and results."""
    folder = tmp_path_factory.mktemp("verify") / "run"
    write_run(folder)
    return folder


@pytest.fixture
def folder(clean, tmp_path, monkeypatch):
    shutil.copytree(clean, tmp_path / "run")
    monkeypatch.chdir(tmp_path / "run")
    return tmp_path / "run"


def swap(first, second):
    return lambda folder: shutil.copy2(folder / second, folder / first)


def flip(name, at=-300):
    """Change one byte."""

    def change(folder):
        content = bytearray((folder / name).read_bytes())
        content[at] ^= 1
        (folder / name).write_bytes(content)

    return change


def by_polars(name, change):
    """Change a table without this package."""

    def edit(folder):
        metadata = pl.read_parquet_metadata(folder / name)
        kept = {key: metadata[key] for key in ("schema", "seal") if key in metadata}
        change(pl.read_parquet(folder / name)).write_parquet(folder / name, metadata=kept)

    return edit


def rewrite(name, change):
    """Change a table with this package, whose checksum is right then."""
    return lambda folder: write_parquet(change(read_parquet(folder / name)), folder / name)


def by_text(name, old, new):
    def edit(folder):
        text = (folder / name).read_text(encoding="utf-8")
        assert old in text
        (folder / name).write_text(text.replace(old, new), encoding="utf-8")

    return edit


def features(change):
    def edit(folder):
        path = folder / DATA / "features.npy"
        content = path.read_bytes()
        values = change(np.load(path))
        np.save(path, values)
        with path.open("ab") as file:
            file.write(content[path.stat().st_size :])  # with the old seal

    return edit


def one_number(values):
    values[3, 1] += 1e-3
    return values


def model_of_another_fit(folder):
    path = folder / f"{SEED}1/ridge/model.npz"
    arrays = read_arrays(path)
    write_arrays(path, **arrays | {"weights": arrays["weights"] * 2} if "weights" in arrays else arrays | {"x": 1})


def without_seal(folder):
    path = folder / f"{SEED}2/split/split.json"
    value = json.loads(path.read_text(encoding="utf-8"))
    del value["seal"]
    path.write_text(json.dumps(value), encoding="utf-8")


PLANTED = {
    "a model of another seed": (swap(f"{SEED}1/ridge/model.npz", f"{SEED}2/ridge/model.npz"), "ridge/model.npz"),
    "a model of another method": (swap(f"{SEED}1/ridge/model.npz", f"{SEED}1/random/model.npz"), "ridge/model.npz"),
    "a model with other weights": (model_of_another_fit, "not the version with which"),
    "a byte of a model": (flip(f"{SEED}1/ridge/model.npz", 400), "ridge/model.npz"),
    "a byte of a seal": (flip(f"{SEED}1/ridge/model.npz", -90), "ridge/model.npz"),
    "ranks of another method": (swap(f"{SEED}1/ridge/ranks.parquet", f"{SEED}1/random/ranks.parquet"), "ranks.parquet"),
    "ranks of another seed": (swap(f"{SEED}1/ridge/ranks.parquet", f"{SEED}2/ridge/ranks.parquet"), "ranks.parquet"),
    "a byte of ranks": (flip(f"{SEED}1/ridge/ranks.parquet", 20), "ranks.parquet"),
    "better ranks": (by_polars(f"{SEED}1/ridge/ranks.parquet", lambda table: table.with_columns(above=0)), "ranks"),
    "impossible ranks": (by_polars(f"{SEED}1/ridge/ranks.parquet", lambda t: t.with_columns(above=-9)), "ranks"),
    "ranks in another order": (
        rewrite(f"{SEED}1/ridge/ranks.parquet", lambda t: t.reverse()),
        "not the version with which",
    ),
    "training labels of another seed": (swap(f"{SEED}1/split/final.parquet", f"{SEED}2/split/final.parquet"), "final"),
    "fewer training labels": (
        rewrite(f"{SEED}1/split/final.parquet", lambda t: t.head(9)),
        "not the version with which",
    ),
    "test labels of another seed": (swap(f"{SEED}1/split/test.parquet", f"{SEED}2/split/test.parquet"), "test.parquet"),
    "features in another order": (features(lambda values: values[::-1]), "features.npy"),
    "one number of the features": (features(one_number), "features.npy"),
    "images in another order": (rewrite(f"{DATA}/images.parquet", lambda t: t.reverse()), "not the version with which"),
    "a better metric": (by_polars("results/metrics.parquet", lambda t: t.with_columns(value=1.0)), "metrics.parquet"),
    "another summary": (flip("results/summary.parquet", 30), "summary.parquet"),
    "another setting": (by_text("results/settings.json", '"regularisation": 1.0', '"regularisation": 2.0'), "settings"),
    "another hash of a split": (by_text(f"{SEED}1/split/split.json", '"hash": "', '"hash": "0'), "split.json"),
    "a split without a seal": (without_seal, "split.json: has no checksum"),
    "a file that was cut": (lambda folder: (folder / "results/settings.json").write_bytes(b"{"), "settings.json"),
    "another verdict": (by_text("results/claims.csv", "holds", "fails"), "results/claims.csv: it was changed after"),
    "another checksum of a CSV file": (by_text("results/claims.csv.json", '"sha256": "', '"sha256": "0'), "claims.csv"),
    "no CSV file": (lambda folder: (folder / "results/claims.csv").unlink(), "results/claims.csv: no such file"),
    "an empty file": (lambda folder: (folder / f"{SEED}1/random/model.npz").write_bytes(b""), "random/model.npz"),
}


@pytest.mark.parametrize("planted", PLANTED)
def test_what_was_planted_is_found(folder, capsys, planted):
    change, named = PLANTED[planted]
    change(folder)
    assert run("verify") == 1
    captured = capsys.readouterr()
    problems = captured.out.splitlines()
    assert 1 <= len(problems) <= 3
    assert any(named in problem for problem in problems)
    assert "Traceback" not in captured.err


def test_nothing_is_found_in_clean_results_or_in_copies(clean, folder, tmp_path, capsys):
    assert run("verify") == 0
    here = capsys.readouterr().out
    assert "files checked: all match their checksums" in here
    shutil.copytree(folder / "results", tmp_path / "copy")
    assert run("verify", tmp_path / "copy") == 0
    assert run("verify", "results", "data") == 0
    assert here in capsys.readouterr().out


def test_a_pack_is_verified(folder, tmp_path, capsys):
    pack = tmp_path / "run.vsepack"
    assert run("pack", pack) == 0
    assert run("verify", pack) == 0
    edit_json(folder / "results/settings.json", lambda entries: entries[0].update(epochs=7))
    swap(f"{SEED}1/ridge/ranks.parquet", f"{SEED}1/random/ranks.parquet")(folder)
    assert run("pack", pack) == 0
    capsys.readouterr()
    assert run("verify", pack) == 1
    assert f"{pack}: {TASK.dataset}/{TASK.protocol}/seed1/ridge/ranks.parquet: written as" in capsys.readouterr().out


def share_data(folder, project, number=0):
    """Move a run's prepared data to where runs with folders of their own share it, and link it there."""
    shared = project / f"data/prepared/{TASK.dataset}-{number:012x}"
    shared.parent.mkdir(parents=True, exist_ok=True)
    (folder / DATA).rename(shared)
    (folder / DATA).symlink_to(shared, target_is_directory=True)


def add_word_vectors(folder, number):
    """Write word vectors that were made with the data set's labels, after a change of the labels."""
    labels = folder / DATA / "labels.parquet"
    write_parquet(read_parquet(labels).head(number), labels)
    with job():
        read_parquet(labels)
        write_arrays(folder / DATA / "word_vectors.npz", vectors=np.zeros((number, 2)))


def test_nothing_is_found_in_data_that_runs_share_even_if_two_definitions_have_the_same_name(tmp_path, monkeypatch):
    for number in (1, 2):
        write_processed(tmp_path / f"runs/{number}" / DATA)
        add_word_vectors(tmp_path / f"runs/{number}", number)
        share_data(tmp_path / f"runs/{number}", tmp_path, number)
    monkeypatch.chdir(tmp_path)
    assert run("verify") == 0
    assert run("verify", "data/prepared", "runs/1", "runs/2") == 0
    assert run("verify", "runs") == 0


def test_changed_data_that_runs_share_is_found_by_its_own_folder_and_by_a_run(folder, tmp_path, monkeypatch, capsys):
    rewrite(f"{DATA}/images.parquet", lambda table: table.reverse())(folder)
    flip(f"{DATA}/pairs.parquet")(folder)
    share_data(folder, tmp_path)
    monkeypatch.chdir(tmp_path)
    assert run("verify") == 1
    assert f"{TASK.dataset}-{0:012x}/pairs.parquet" in capsys.readouterr().out
    assert run("verify", "run") == 1
    found = capsys.readouterr().out
    assert f"run/{DATA}/pairs.parquet" in found
    assert f"run/{DATA}/images.parquet: " in found
    assert "not the version with which" in found


def test_a_link_that_leads_back_is_not_followed(folder, capsys):
    assert run("verify") == 0
    (folder / DATA / "back").symlink_to(folder / "data", target_is_directory=True)
    assert run("verify") == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first == second


def test_two_runs_are_not_mixed_up(clean, folder, tmp_path, capsys):
    write_run(tmp_path / "other", n_images=100)
    assert run("verify", clean, tmp_path / "other") == 0
    shutil.copytree(tmp_path / "other" / f"{SEED}1/split", folder / f"{SEED}1/split", dirs_exist_ok=True)
    capsys.readouterr()
    assert run("verify", folder) == 1
    alone = capsys.readouterr().out
    assert "split/labels.parquet: " in alone
    for other in (clean, tmp_path / "other"):
        assert run("verify", other, folder) == 1
        assert capsys.readouterr().out == alone


def test_two_packs_of_different_runs_are_not_mixed_up(folder, tmp_path):
    packs = [tmp_path / "first.vsepack", tmp_path / "second.vsepack"]
    assert run("pack", packs[0]) == 0
    write_run(tmp_path / "other", n_images=100)
    assert run("pack", packs[1], "--results", tmp_path / "other/results") == 0
    assert run("verify", *packs, folder) == 0


def test_a_folder_without_a_file_to_check_is_a_mistake(folder, tmp_path, capsys):
    (tmp_path / "empty/results/logs").mkdir(parents=True)
    assert run("verify", tmp_path / "empty", folder) == 1
    assert f"{tmp_path / 'empty'}: has no file to check; name" in capsys.readouterr().err


def test_a_downloaded_file_that_was_changed_is_found(folder, capsys):
    raw = folder / "data/raw/own"
    raw.mkdir(parents=True)
    (raw / "a.csv").write_text("x")
    record = {"name": "a.csv", "source": "x", "bytes": 1, "sha256": "0" * 64}
    edit = {"files": [record]}

    write_json(edit, raw / "provenance.json")
    assert run("verify", "data") == 1
    assert "a.csv: was changed after its sha256 was recorded" in capsys.readouterr().out


@pytest.mark.parametrize(("text", "status"), [("x", 0), ("y", 1)])
def test_the_users_own_file_is_found_from_the_runs_folder(folder, tmp_path, monkeypatch, text, status):
    (folder / "a.csv").write_text(text)
    raw = folder / "data/raw/own"
    raw.mkdir(parents=True)
    write_json({"files": [own_files.record(raw, "a.csv") | {"sha256": sha256(b"x").hexdigest()}]}, raw / RECORD)
    monkeypatch.chdir(tmp_path)
    assert run("verify", "run") == status


def test_without_folders_it_says_what_to_name(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run("verify") == 1
    assert "there is no folder results or data here; name a folder or a pack" in capsys.readouterr().err
