"""Seals: files that were changed, damaged, renamed or made with other versions are refused in one line."""

import json
import shutil

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vsebench.core import storage
from vsebench.core.errors import UserError
from vsebench.core.seals import below, job
from vsebench.core.storage import (
    as_sealed_json,
    map_array,
    read_arrays,
    read_json,
    read_parquet,
    seal_of,
    write_array,
    write_arrays,
    write_json,
    write_parquet,
)

FRAME = pl.DataFrame({"image": [1, 2, 3], "rank": [1.5, 2.0, 7.0]})
WRITERS = {
    "a.parquet": (lambda path: write_parquet(FRAME, path), read_parquet),
    "a.json": (lambda path: write_json({"seed": 1, "names": ["\u00e4", "0" * 64]}, path), read_json),
    "a.npz": (lambda path: write_arrays(path, image=np.arange(9.0), label=np.ones((2, 3))), read_arrays),
    "a.npy": (lambda path: write_array(np.arange(20.0).reshape(4, 5), path), map_array),
}


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The content of one file of each kind, and a folder of results to write to."""
    folder = tmp_path_factory.mktemp("seals") / "results"
    for name, (write, _) in WRITERS.items():
        write(folder / name)
    return folder, {name: (folder / name).read_bytes() for name in WRITERS}


@given(name=st.sampled_from(sorted(WRITERS)), at=st.integers(0, 10**6), mask=st.integers(1, 255))
def test_no_changed_byte_is_read(written, name, at, mask):
    folder, contents = written
    changed = bytearray(contents[name])
    changed[at % len(changed)] ^= mask
    (folder / name).write_bytes(changed)
    with pytest.raises(UserError):
        WRITERS[name][1](folder / name)


@given(name=st.sampled_from(sorted(WRITERS)), left=st.integers(0, 10**6))
def test_no_file_that_was_cut_is_read(written, name, left):
    folder, contents = written
    (folder / name).write_bytes(contents[name][: left % len(contents[name])])
    with pytest.raises(UserError):
        WRITERS[name][1](folder / name)


@pytest.mark.parametrize("name", WRITERS)
def test_a_file_under_another_name_in_a_run_is_refused(tmp_path, name):
    write, read = WRITERS[name]
    path, other = tmp_path / "results/scene/seed1" / name, tmp_path / "results/scene/seed2" / name
    write(path)
    other.parent.mkdir()
    shutil.copy2(path, other)
    with pytest.raises(UserError, match=f"{other}: written as scene/seed1/{name}, then renamed or copied; delete"):
        read(other)
    copied = shutil.copy2(path, tmp_path / f"my-{name}")  # outside of a run, a file may have any name
    assert repr(read(copied)) == repr(read(path))


@pytest.mark.parametrize("name", WRITERS)
def test_the_seal_names_what_the_job_read_before(tmp_path, name):
    data, model = tmp_path / "data/processed/scene/pairs.parquet", tmp_path / "results/scene" / name
    write_parquet(FRAME, data)
    with job():
        read_parquet(data)
        WRITERS[name][0](model)
    stated = seal_of(model)["made_with"]
    assert stated == {"processed/scene/pairs.parquet": seal_of(data)["checksum"]}
    with job():
        WRITERS[name][1](model)
        read_parquet(data)


@pytest.mark.parametrize("model_first", [True, False])
def test_files_that_were_not_made_with_each_other_are_refused(tmp_path, model_first):
    split, model = tmp_path / "results/split.parquet", tmp_path / "results/model.npz"
    write_parquet(FRAME, split)
    with job():
        read_parquet(split)
        write_arrays(model, weights=np.ones(3))
    write_parquet(FRAME.head(2), split)
    readers = [lambda: read_arrays(model), lambda: read_parquet(split)]
    with job():
        readers[not model_first]()
        with pytest.raises(UserError, match=r"model\.npz: made with another version of .*split\.parquet; delete "):
            readers[model_first]()


def test_two_files_that_were_made_with_different_versions_are_refused(tmp_path):
    split, models = tmp_path / "results/split.parquet", [tmp_path / f"results/{name}.npz" for name in "ab"]
    for rows, model in enumerate(models, 1):
        write_parquet(FRAME.head(rows), split)
        with job():
            read_parquet(split)
            write_arrays(model, weights=np.ones(3))
    with job():
        read_arrays(models[0])
        with pytest.raises(UserError, match=r"made with different versions of split\.parquet; delete both and"):
            read_arrays(models[1])


def test_what_differs_between_equal_runs_is_not_named_in_seals(tmp_path):
    times, record, table = (tmp_path / "results" / name for name in ("t.parquet", "r.json", "m.parquet"))
    with job():
        write_parquet(FRAME.with_columns(seconds=1.0), times)
        write_json({"machine": "a"}, record)
        write_parquet(FRAME, table)
    assert seal_of(table)["made_with"] == {}


def test_files_of_a_pack_were_made_with_those_of_another_run(tmp_path):
    first, second = tmp_path / "first/results", tmp_path / "second/results"
    for results, rows in ((first, 1), (second, 2)):
        write_parquet(FRAME.head(rows), results / "scene/split.parquet")
        with job():
            read_parquet(results / "scene/split.parquet")
            write_parquet(FRAME, results / "scene/ranks.parquet")
    shutil.copytree(second / "scene", first / "packs/other/scene")
    with job():
        for folder in (first, first / "packs/other"):
            read_parquet(folder / "scene/split.parquet")
            read_parquet(folder / "scene/ranks.parquet")


def test_a_text_that_a_command_writes_is_sealed(tmp_path):
    path = tmp_path / "results/outline.json"
    path.parent.mkdir()
    path.write_text(as_sealed_json({"tasks": ["b", "a"], "checksum": "0" * 64}, path) + "\n", encoding="utf-8")
    assert read_json(path) == {"tasks": ["b", "a"], "checksum": "0" * 64}
    path.write_text(path.read_text(encoding="utf-8").replace("tasks", "tusks"), encoding="utf-8")
    with pytest.raises(UserError, match=r"outline\.json: it was changed after it was written"):
        read_json(path)


@pytest.mark.parametrize("seal", [None, 1, [], {}, {"checksum": 1}, "x"])
def test_a_seal_of_another_form_is_refused(tmp_path, seal):
    path = tmp_path / "results/a.json"
    path.parent.mkdir()
    path.write_text(json.dumps({"schema": 3, "seal": seal}))
    with pytest.raises(UserError, match=r"a\.json: has no checksum"):
        read_json(path)


def test_sealed_arrays_can_be_read_by_numpy(tmp_path):
    write_array(np.arange(6.0).reshape(2, 3), tmp_path / "a.npy")
    for mode in (None, "r"):
        assert np.array_equal(np.load(tmp_path / "a.npy", mmap_mode=mode), np.arange(6.0).reshape(2, 3))
    write_arrays(tmp_path / "a.npz", image=np.arange(9))
    with np.load(tmp_path / "a.npz") as arrays:
        assert arrays["image"].tolist() == list(range(9))


def test_paths_are_those_below_the_last_folder_of_results_or_data(tmp_path):
    assert below(tmp_path / "data" / "a" / "results" / "scene" / "x.json") == "scene/x.json"
    assert below(tmp_path / "data" / "processed" / "scene" / "x.json") == "processed/scene/x.json"
    assert below(tmp_path / "data.json") == "data.json"


def test_what_is_renamed_into_place_is_on_the_disk(tmp_path, monkeypatch):
    flushed = []
    monkeypatch.setattr(storage.os, "fsync", lambda number: flushed.append(number))
    write_parquet(FRAME, tmp_path / "a.parquet")
    assert len(flushed) == 2  # the file, and the names in its folder
