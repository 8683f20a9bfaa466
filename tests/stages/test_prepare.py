import io
import json
import tarfile
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from vsebench.cli import main
from vsebench.core.configuration import DatasetConfig, read_config
from vsebench.core.storage import read_arrays, read_json, read_parquet
from vsebench.formats.adapters import load_adapter

CONFIGS = Path(__file__).parents[2] / "config" / "datasets"
SIMULATED = {
    "images": 60,
    "labels": 20,
    "occurrences": 200,
    "topics": 3,
    "concentration": 0.3,
    "spread": 1.0,
    "popularity": {"exponent": 0.8, "shift": 0.01},
    "labels_per_image": {"sigma": 0.5, "maximum": 9},
}


def write_config(folder, **changes):
    config = {
        "title": "simulated",
        "family": "other",
        "adapter": "simulator",
        "options": SIMULATED,
        "licence": "l",
        "citation": "c",
        **changes,
    }
    (folder / "tiny.yaml").write_text(json.dumps(config))
    return folder / "tiny.yaml"


@pytest.fixture
def prepare(tmp_path, capsys):
    def run(config, options="{}", out="out"):
        arguments = [
            "--config",
            str(config),
            "--options",
            options,
            "--raw",
            str(tmp_path),
            "--out",
            str(tmp_path / out),
        ]
        status = main(["prepare", *arguments])
        return status, capsys.readouterr().err, tmp_path / out

    return run


def test_the_tables_fit_together(prepare, tmp_path):
    status, err, out = prepare(write_config(tmp_path))
    assert (status, err) == (0, "")
    pairs, images, labels = (read_parquet(out / f"{name}.parquet") for name in ("pairs", "images", "labels"))
    assert pairs.schema == {"image": pl.Int32, "label": pl.Int32, "count": pl.Int32}
    assert images.schema == {"image": pl.Int32, "id": pl.String}
    assert labels.schema == {"label": pl.Int32, "name": pl.String, "frequency": pl.Int32, "occurrences": pl.Int32}
    assert pairs.equals(pairs.sort("image", "label"))
    assert images["image"].to_list() == list(range(60))
    assert labels["frequency"].to_list() == np.bincount(pairs["label"], minlength=20).tolist()
    assert labels["occurrences"].sum() == 200
    truth = read_arrays(out / "truth.npz")
    assert truth["image"].shape == (60, 3)
    assert truth["label"].shape == (20, 3)


def test_the_summary_counts(prepare, tmp_path):
    summary = read_json(
        prepare(write_config(tmp_path, expected={"images": 60, "occurrences": 200}))[2] / "summary.json"
    )
    assert summary["name"] == "tiny"
    assert summary["simulated"] is True
    assert summary["options"]["scale"] == 1.0
    assert summary["counts"]["images"] == 60
    assert summary["counts"]["vocabulary"] == 20
    assert summary["counts"]["labels_per_image"]["mean"] == pytest.approx(200 / 60)
    assert summary["mismatches"] == {}
    assert summary["dropped"] == []


def test_the_same_input_gives_the_same_bytes(prepare, tmp_path):
    config = write_config(tmp_path)
    first, again = prepare(config)[2], prepare(config, out="again")[2]
    names = sorted(path.name for path in first.iterdir())
    assert names == ["images.parquet", "labels.parquet", "pairs.parquet", "summary.json", "truth.npz"]
    assert all((first / name).read_bytes() == (again / name).read_bytes() for name in names)


def test_counts_that_differ_are_warned_of_and_noted(prepare, tmp_path):
    config = write_config(tmp_path, expected={"images": 61, "occurrences": 200})
    status, err, out = prepare(config)
    assert status == 0
    assert err == f"warning: {config}: expected.images: 61, found 60\n"
    assert read_json(out / "summary.json")["mismatches"] == {"images": {"expected": 61, "found": 60}}


def test_expected_counts_do_not_apply_at_another_scale(prepare, tmp_path):
    config = write_config(tmp_path, expected={"images": 61})
    _, err, out = prepare(config, '{"scale": 0.5}')
    assert err == ""
    summary = read_json(out / "summary.json")
    assert (summary["counts"]["images"], summary["mismatches"]) == (30, {})


def test_labels_and_images_without_a_pair_stay(prepare, tmp_path):
    rows = np.array([[3, 1, 0, 0], [3, 0, 0, 0]], dtype="<i2")
    content = {
        "t_dictionary.txt": b"a\nb\nc\n",
        "t_train_list.txt": b"x\ny\n",
        "t_train_annot.hvecs": rows.tobytes(),
        "t_test_list.txt": b"",
        "t_test_annot.hvecs": b"",
    }
    with tarfile.open(tmp_path / "t.20091111.tar.bz2", "w:bz2") as archive:
        for name, data in content.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    status, _, out = prepare(write_config(tmp_path, title="t", adapter="lear", options={"prefix": "t"}))
    assert status == 0
    assert read_parquet(out / "labels.parquet")["frequency"].to_list() == [1, 0, 0]
    counts = read_json(out / "summary.json")["counts"]
    assert (counts["images"], counts["images_without_label"], counts["vocabulary"], counts["labels"]) == (2, 1, 3, 1)
    assert not (out / "truth.npz").exists()


MISTAKES = {
    "unknown option": ({}, '{"sclae": 0.1}', "sclae: unknown key"),
    "wrong type": ({}, '{"scale": "small"}', "scale: Input should be a valid number"),
    "not JSON": ({}, "scale=1", "--options: not JSON"),
    "not an object": ({}, "[1]", "--options: a JSON object is needed"),
    "unknown adapter": ({"adapter": "nothing"}, "{}", "adapter: there is no adapter named 'nothing'"),
    "no adapter": ({"adapter": "download"}, "{}", "adapter: there is no adapter named 'download'"),
    "unknown option in the file": ({"options": {**SIMULATED, "popularity": {"slope": 1}}}, "{}", "popularity.slope"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_one_line_that_names_file_and_key(prepare, tmp_path, mistake):
    changes, options, message = MISTAKES[mistake]
    config = write_config(tmp_path, **changes)
    status, err, out = prepare(config, options)
    assert status == 1
    assert message in err
    assert err.count("\n") == 1
    assert "--options" in message or str(config) in err
    assert not out.exists()


@pytest.mark.parametrize("path", sorted(CONFIGS.glob("*.yaml")), ids=lambda path: path.stem)
def test_every_data_set_of_the_configuration_is_valid(path):
    config = read_config(DatasetConfig, path)
    adapter = load_adapter(config.adapter, path)
    adapter.Options(**config.options)
    assert config.simulated == ("simulated" in config.title)
    assert config.simulated == (not config.files and not hasattr(adapter, "fetch"))
