"""Export a split, score its test images elsewhere, and read the scores in each form that a file can have."""

import re

import numpy as np
import polars as pl
import pytest

from tests.stages.small import case, run, write_processed
from vsebench import models
from vsebench.core.storage import read_json, read_parquet
from vsebench.data import splits
from vsebench.evaluation.ranking import queries_of
from vsebench.formats import scores_file
from vsebench.formats.scores_file import SUFFIXES

N_LABELS = 24


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_processed(tmp_path / "data", features=True)
    assert run_split(tmp_path) == 0
    assert export(tmp_path) == 0
    return tmp_path


def run_split(folder, seed=1):
    to = folder / f"results/tiny/images/seed{seed}/split"
    return run("split", "--processed", folder / "data", "--protocol", "images", "--seed", seed, "--out", to)


def export(folder, to="out", seed=1):
    processed = folder / "processed/tiny"
    if not processed.exists():
        processed.parent.mkdir()
        processed.symlink_to(folder / "data")
    return run("export", "tiny/images", folder / to, "--seed", seed, "--processed", folder / "processed")


def images_to_score(folder):
    images = pl.read_csv(folder / "out/images.csv")
    return images.filter("test")["id"].to_list()


def vectors(folder):
    """Return vectors of the images to score, and of the labels, of four groups."""
    ids = images_to_score(folder)
    image = np.eye(4)[[int(name[1:]) % 4 for name in ids]] + 0.01
    label = np.eye(4)[np.arange(N_LABELS) // 6] * np.linspace(1, 2, N_LABELS)[:, np.newaxis]
    return ids, [f"l{label}" for label in range(N_LABELS)], image.astype(np.float32), label.astype(np.float32)


def write(folder, form, scores=None, hashed=True):
    """Write the same scores in a form; returns the file."""
    ids, labels, image, label = vectors(folder)
    scores = image @ label.T if scores is None else scores
    path = folder / f"scores{'.npz' if form == 'vectors' else form}"
    if form == ".npy":
        np.save(path, scores)
        path.with_suffix(".ids.txt").write_text("\n".join(ids))
        path.with_suffix(".labels.txt").write_text("\n".join(labels))
    elif form == ".npz":
        np.savez(path, scores=scores, ids=ids, labels=labels)
    elif form == "vectors":
        np.savez(path, image_vectors=image, label_vectors=label, ids=ids, labels=labels)
    else:
        pairs = {"image": np.repeat(ids, N_LABELS), "label": np.tile(labels, len(ids)), "score": scores.ravel()}
        frame = pl.DataFrame(pairs)
        frame.write_csv(path) if form == ".csv" else frame.write_parquet(path)
    if hashed:
        path.with_suffix(".split.txt").write_text((folder / "out/split.txt").read_text())
    return path


def fit(folder, path, seed=1):
    """Read the scores as the stage `fit` does, and rank the test labels."""
    at = folder / f"results/tiny/images/seed{seed}"
    arguments = case(folder, "outside_scores", {"file": str(path)}, "images", seed)
    arguments[arguments.index("--split") + 1] = at / "split"
    status = run("fit", *arguments, "--names", folder / "data/labels.parquet", "--out", at / "clip")
    ranks = ["--ranks", at / "ranks.parquet", "--lists", at / "lists.parquet", "--label-ranks", at / "label.parquet"]
    return status or run("rank", "--split", at / "split", "--model", at / "clip/model.npz", *ranks)


@pytest.mark.parametrize("form", [*SUFFIXES, "vectors"])
def test_every_form_gives_the_same_ranks(folder, form):
    ours = folder / "results/tiny/images/seed1/ranks.parquet"
    assert fit(folder, write(folder, ".npz", hashed=False)) == 0
    expected = read_parquet(ours)
    assert expected["above"].max() > 0
    assert fit(folder, write(folder, form)) == 0
    assert read_parquet(ours).equals(expected)


@pytest.mark.parametrize(("form", "small"), [(".parquet", 5), (".csv", scores_file.SMALL)])
def test_a_table_is_read_in_batches_in_any_order(folder, monkeypatch, capsys, form, small):
    monkeypatch.setattr(scores_file, "ROWS_A_BATCH", 7)
    monkeypatch.setattr(scores_file, "SMALL", small)  # the type of the labels changes within the table
    ours = folder / "results/tiny/images/seed1/ranks.parquet"
    assert fit(folder, write(folder, ".npz")) == 0
    expected = read_parquet(ours)
    path = write(folder, form)
    read = pl.read_csv if form == ".csv" else pl.read_parquet
    saved = pl.DataFrame.write_csv if form == ".csv" else pl.DataFrame.write_parquet
    frame = read(path).sample(fraction=1.0, shuffle=True, seed=1)
    saved(frame, path)
    assert fit(folder, path) == 0
    assert read_parquet(ours).equals(expected)
    saved(pl.concat([frame, frame[20:21]]), path)
    assert run("check-scores", path, folder / "out") == 1
    listed = f"{frame['label'][20]!r} is listed more than once for image {frame['image'][20]!r}"
    assert f"rows 21 and {len(frame) + 1}: {listed}" in capsys.readouterr().err
    saved(frame.with_columns(score=pl.when(pl.int_range(pl.len()) == 100).then(None).otherwise("score")), path)
    assert run("check-scores", path, folder / "out") == 1
    assert "row 101: the score is not a finite number" in capsys.readouterr().err


def test_labels_that_a_list_lacks_are_tied_behind_it(folder):
    path = write(folder, ".parquet")
    frame = pl.read_parquet(path).sort("image", "score", descending=[False, True])
    top = frame.group_by("image", maintain_order=True).head(3)
    ranked = top.with_columns(rank=pl.int_range(1, pl.len() + 1).over("image")).drop("score")
    ranked.write_parquet(path)
    assert fit(folder, path) == 0
    model = models.load(folder / "results/tiny/images/seed1/clip/model.npz")
    test = splits.load(folder / "results/tiny/images/seed1/split").test
    scores = model.scores(queries_of(test, None, 0, len(test.images)))
    assert (np.sort(scores, axis=1)[:, -3:] == [-3, -2, -1]).all()
    assert (np.sort(scores, axis=1)[:, :-3] == scores.min()).all()
    assert scores.min() < -3


def test_scores_of_another_split_are_refused(folder, capsys):
    assert run_split(folder, seed=2) == 0
    path = write(folder, ".npy")
    first, second = (read_json(folder / f"results/tiny/images/seed{seed}/split/split.json") for seed in (1, 2))
    assert first["hash"] != second["hash"]
    assert fit(folder, path, seed=2) == 1
    assert f"trained on the split {first['hash'][:12]}, but this is {second['hash'][:12]}" in capsys.readouterr().err
    assert export(folder, "out2", seed=2) == 0
    assert run("check-scores", path, folder / "out2") == 1
    assert run("check-scores", path, folder / "out") == 0
    assert "fits tiny/images, seed 1: all" in capsys.readouterr().out


def test_an_image_or_a_label_without_scores_is_one_line(folder, capsys):
    path = write(folder, ".npy")
    ids, labels = (path.with_suffix(f".{name}.txt") for name in ("ids", "labels"))
    first = ids.read_text().split()[0]
    ids.write_text(ids.read_text().replace(first, "stranger", 1))
    assert run("check-scores", path, folder / "out") == 1
    assert f"test images: 1 of {len(images_to_score(folder))} are missing, such as '{first}'" in capsys.readouterr().err
    ids.write_text(ids.read_text().replace("stranger", first, 1))
    labels.write_text(labels.read_text().replace("l3\n", "other\n"))
    assert run("check-scores", path, folder / "out") == 1
    assert "labels: 1 of 24 are missing, such as 'l3'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("form", "change", "message"),
    [
        (".npy", lambda path: np.save(path, np.full((2, 2), 1.0)), r"shape \(2, 2\), but must have shape \(\d+, 24\)"),
        (".npy", lambda path: np.save(path, np.load(path) * np.nan), "row 1 contains a number that is not finite"),
        (".npy", lambda path: path.with_suffix(".labels.txt").unlink(), r"labels\.txt is missing"),
        (".npz", lambda path: np.savez(path, ids=["i0"], labels=["l0"]), "neither `scores`, nor `image_vectors`"),
        (".npz", lambda path: path.write_bytes(path.read_bytes()[:99]), "not a readable"),
        (".csv", lambda path: path.write_text("image,label\ni0,l0\n"), "needs image, label, and score or rank"),
        (".csv", lambda path: path.write_text("image,label,score\ni0,l0,x\n"), "row 1: the score is not a finite"),
        (".csv", lambda path: path.write_text("image,label,rank\ni0,l0,1\ni0,l0,2\n"), "'l0' is listed more than once"),
        (".csv", lambda path: path.write_text("image,label,rank\n,l0,1\n"), "row 1: the image is missing"),
        (".parquet", lambda path: path.write_bytes(b"PAR1"), "not a readable table"),
    ],
)
def test_a_damaged_file_is_one_line(folder, capsys, form, change, message):
    path = write(folder, form)
    change(path)
    assert run("check-scores", path, folder / "out") == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"vsebench check-scores: {path.parent}")
    assert re.search(message, line), line


def test_no_test_label_is_in_an_export(folder):
    split_folder = folder / "results/tiny/images/seed1/split"
    test = read_parquet(split_folder / "test.parquet")
    ids = set(images_to_score(folder))
    assert len(test) > 0
    assert {f"i{image}" for image in test["image"].unique()} <= ids
    files = sorted(path for path in (folder / "out").iterdir())
    assert [path.name for path in files] == [
        "README.md", "features.npy", "final.csv", "images.csv", "labels.csv", "split.json", "split.txt", "train.csv",
        "valid.csv",
    ]  # fmt: skip
    for name in ("train", "valid", "final"):
        assert not ids & set(pl.read_csv(folder / f"out/{name}.csv")["image"])
    assert pl.read_csv(folder / "out/labels.csv").columns == ["name", "trained", "candidate"]
    assert set(pl.read_csv(folder / "out/images.csv").columns) == {"id", "train", "valid", "final", "test"}
    assert np.array_equal(np.load(folder / "out/features.npy"), np.load(folder / "data/features.npy"))


def test_an_export_of_a_split_that_is_not_there_names_the_command(folder, capsys):
    assert run("export", "tiny/images", folder / "new", "--seed", 9) == 1
    command = "`snakemake results/tiny/images/seed9/split/split.json --configfile FILE` makes it"
    assert command in capsys.readouterr().err
    assert export(folder) == 1
    assert "exists already" in capsys.readouterr().err
