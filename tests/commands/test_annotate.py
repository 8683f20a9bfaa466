"""The command `vsebench annotate`: the first labels of new images, by a fitted model and their features."""

import re
import shutil

import numpy as np
import polars as pl
import pytest
from scipy import sparse

from tests.stages.small import case, run, split, write_labels, write_processed
from vsebench.commands import annotate
from vsebench.core.errors import UserError
from vsebench.core.storage import write_parquet

GROUPS = [2, 0, 3, 3, 1]


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """A processed set whose features are an image's group, and a ridge model; group g has labels 6 g to 6 g + 5."""
    folder = tmp_path_factory.mktemp("fitted")
    write_processed(folder, features=True)
    assert split(folder, "official") == 0
    assert run("fit", *case(folder, "ridge", {"regularisation": 1.0}, "official"), "--out", folder / "row") == 0
    return folder


def command(fitted, features, *more):
    files = ["--model", fitted / "row" / "model.npz", "--labels", fitted / "labels.parquet", "--features", features]
    return ["annotate", *files, "--out", features.with_name("found.csv"), *more]


def write(folder, suffix, ids=None):
    path, values = folder / f"new.{suffix}", np.eye(4, dtype=np.float32)[GROUPS]
    if suffix == "npy":
        np.save(path, values)
    elif suffix == "npz":
        sparse.save_npz(path, sparse.csr_matrix(values))
    else:
        columns = {f"f{number}": values[:, number] for number in range(4)}
        pl.DataFrame({"photo": ids or list("abcde")} | columns).write_parquet(path)
    return path


@pytest.mark.parametrize("batch", [2, 1000])
@pytest.mark.parametrize("suffix", ["npy", "npz", "parquet"])
def test_an_image_gets_the_labels_of_its_group(suffix, batch, fitted, tmp_path, monkeypatch):
    monkeypatch.setattr(annotate, "BATCH", batch)
    path = write(tmp_path, suffix)
    assert run(*command(fitted, path, "--top", 6, "--image", "photo")) == 0
    found = pl.read_csv(tmp_path / "found.csv", schema_overrides={"image": pl.String})
    assert found.columns == ["image", "rank", "label", "score"]
    names = list("abcde") if suffix == "parquet" else list("12345")
    assert found["image"].unique(maintain_order=True).to_list() == names
    for name, group in zip(names, GROUPS, strict=True):
        own = found.filter(image=name)
        assert own["rank"].to_list() == [1, 2, 3, 4, 5, 6]
        assert set(own["label"]) == {f"l{label}" for label in range(6 * group, 6 * group + 6)}
        assert own["score"].is_sorted(descending=True)


def test_names_are_those_of_the_file_of_ids(fitted, tmp_path):
    path, ids = write(tmp_path, "npy"), tmp_path / "ids.txt"
    ids.write_text("v\nw\nx\ny\nz\n")
    assert run(*command(fitted, path, "--ids", ids)) == 0
    found = pl.read_csv(tmp_path / "found.csv")
    assert found["image"].to_list() == [name for name in "vwxyz" for _ in range(5)]


@pytest.mark.parametrize(
    ("values", "more", "message"),
    [
        (np.ones((2, 5), dtype=np.float32), [], "fitted to 4 features per image, but these images have 5"),
        (np.ones(4, dtype=np.float32), [], "features have shape (4,); give a matrix with one row per image"),
        (np.float32(1), [], "features have shape (1,); give a matrix with one row per image"),
        (np.ones((0, 4), dtype=np.float32), [], "features have shape (0, 4); give a matrix with one row per image"),
        (np.full((2, 4), np.nan, dtype=np.float32), [], "row 1: contains a number that is not finite"),
        (np.ones((2, 4), dtype=np.float32), ["--top", 0], "--top: is 0, but should be 1 or more"),
        (
            np.ones((2, 4), dtype=np.float32),
            ["--ids", "ids.txt"],
            "number of rows of features: 2, number of ids in ids.txt: 1",
        ),
        (np.ones((2, 4), dtype=np.float32), ["--ids", "no.txt"], "no.txt: no such file"),
    ],
)
def test_a_mistake_is_one_line_and_writes_nothing(values, more, message, fitted, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ids.txt").write_text("a\n")
    np.save(tmp_path / "new.npy", values)
    assert run(*command(fitted, tmp_path / "new.npy", *more)) == 1
    (line,) = [line for line in capsys.readouterr().err.splitlines() if line.startswith("vsebench annotate: ")]
    assert message in line
    assert not (tmp_path / "found.csv").exists()


def test_a_file_of_features_of_another_type_is_one_line(fitted, tmp_path, capsys):
    path = tmp_path / "new.txt"
    path.write_text("1,0,0,0\n")
    assert run(*command(fitted, path)) == 1
    types = "features must be in a file of one of the types .npy, .npz, .parquet, .csv"
    assert capsys.readouterr().err == f"vsebench annotate: {path}: {types}\n"


@pytest.mark.parametrize("n_files", [1, 2])
def test_ids_that_would_not_be_read_are_refused(n_files, tmp_path):
    paths = [tmp_path / "hue.parquet", tmp_path / "sift.parquet"]
    ids = [tmp_path / f"ids{number}.txt" for number in range(n_files)]
    message = f"--ids: {ids[0]} would not be read, because {paths[0]} has a column of ids"
    with pytest.raises(UserError, match=re.escape(message)):
        annotate.check_ids_used(paths, ids)
    annotate.check_ids_used([tmp_path / "hue.npy", paths[1]], ids[:1])


@pytest.mark.parametrize("option", ["--model", "--labels"])
def test_a_folder_in_place_of_a_file_is_one_line_without_advice_to_delete_it(option, fitted, tmp_path, capsys):
    assert run(*command(fitted, write(tmp_path, "npy"), option, tmp_path)) == 1
    assert capsys.readouterr().err == f"vsebench annotate: {tmp_path}: is a folder or a device; name a file\n"


def test_labels_of_another_data_set_are_refused(fitted, tmp_path, capsys):
    other = pl.read_parquet(fitted / "labels.parquet").head(3)
    write_parquet(other, tmp_path / "labels.parquet")
    path = write(tmp_path, "npy")
    assert run(*command(fitted, path, "--labels", tmp_path / "labels.parquet")) == 1
    assert "labels.parquet: 3 labels, but" in capsys.readouterr().err


@pytest.fixture
def of_run(tmp_path):
    """A model in the folder of a run, and the labels of its data; returns the options that name both."""
    data, at = tmp_path / "data/processed/tiny", tmp_path / "results/tiny/images/seed1"
    write_processed(data, features=True)
    assert run("split", "--processed", data, "--protocol", "images", "--seed", 1, "--out", at / "split") == 0
    arguments = case(data, "ridge", {"regularisation": 1.0}, "images")
    arguments[arguments.index("--split") + 1] = at / "split"
    assert run("fit", *arguments, "--out", at / "ridge") == 0
    return {"--model": at / "ridge/model.npz", "--labels": data / "labels.parquet"}


def annotate_with(options, folder):
    named = [word for option in options.items() for word in option]
    return run("annotate", *named, "--features", write(folder, "npy"), "--out", folder / "found.csv")


def test_other_names_of_as_many_labels_are_refused_if_the_split_of_the_model_is_there(of_run, tmp_path, capsys):
    assert annotate_with(of_run, tmp_path) == 0
    assert "labels" not in capsys.readouterr().err
    other = tmp_path / "data/processed/other"
    write_labels(other, [f"other {label}" for label in range(24)])
    assert annotate_with(of_run | {"--labels": other / "labels.parquet"}, tmp_path) == 1
    advice = "use data/processed/<data set>/labels.parquet of the model's run"
    refused = f"{other}/labels.parquet: not the labels with which {of_run['--model']} was trained; {advice}"
    assert capsys.readouterr().err == f"vsebench annotate: {refused}\n"


def test_names_that_cannot_be_compared_are_used_and_a_line_says_so(of_run, tmp_path, capsys):
    copy = tmp_path / "model.npz"
    shutil.copy(of_run["--model"], copy)
    assert annotate_with(of_run | {"--model": copy}, tmp_path) == 0
    why = f"this was not checked, because the split of this model is not in {copy.parent.parent / 'split'}"
    assert f"Check that {of_run['--labels']} has the model's labels: {why}\n" in capsys.readouterr().err
    assert run("split", "--processed", of_run["--labels"].parent, "--protocol", "images", "--seed", 2, "--out",
               of_run["--model"].parent.parent / "split") == 0  # fmt: skip
    assert annotate_with(of_run, tmp_path) == 0
    assert "this was not checked, because" in capsys.readouterr().err
