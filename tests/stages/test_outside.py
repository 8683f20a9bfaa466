"""Export a split, score its test images elsewhere, and read the scores in each form that a file can have."""

import json
import re

import numpy as np
import polars as pl
import pytest

from tests.stages.small import case, run, write_labels, write_processed
from vsebench import models
from vsebench.core.schemas import PAIRS
from vsebench.core.storage import read_json, read_parquet, write_arrays, write_table
from vsebench.data import splits
from vsebench.evaluation.ranking import queries_of
from vsebench.formats import scores_file
from vsebench.formats.scores_file import SUFFIXES

N_LABELS = 24


DATA = "data/processed/tiny"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_processed(tmp_path / DATA, features=True)
    assert run_split(tmp_path) == 0
    assert export(tmp_path) == 0
    return tmp_path


def run_split(folder, seed=1, protocol="images", *options):
    processed, to = folder / DATA, folder / f"results/tiny/{protocol}/seed{seed}/split"
    if (joined := processed / protocol).is_dir():
        processed = joined
    return run("split", "--processed", processed, "--protocol", protocol, "--seed", seed, "--out", to, *options)


def export(folder, to="out", seed=1, protocol="images"):
    return run("export", f"tiny/{protocol}", folder / to, "--seed", seed)


def images_to_score(folder, *parts):
    images = pl.read_csv(folder / "out/images.csv")
    return images.filter(pl.any_horizontal("test", *parts))["id"].to_list()


def vectors(folder, *parts):
    """Return vectors of the images to score, and of the labels, of four groups."""
    ids = images_to_score(folder, *parts)
    image = np.eye(4)[[int(name[1:]) % 4 for name in ids]] + 0.01
    label = np.eye(4)[np.arange(N_LABELS) // 6] * np.linspace(1, 2, N_LABELS)[:, np.newaxis]
    return ids, [f"l{label}" for label in range(N_LABELS)], image.astype(np.float32), label.astype(np.float32)


def write(folder, form, *parts, scores=None, hashed=True):
    """Write the scores of the test images, and of those of other parts, in a form; returns the file."""
    ids, labels, image, label = vectors(folder, *parts)
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


def fit(folder, path, seed=1, protocol="images", data=None):
    """Read the scores as the stage `fit` does, and rank the test labels."""
    at = folder / f"results/tiny/{protocol}/seed{seed}"
    arguments = case(folder, "outside_scores", {"file": str(path)}, protocol, seed)
    arguments[arguments.index("--split") + 1] = at / "split"
    status = run("fit", *arguments, "--names", (data or folder / DATA) / "labels.parquet", "--out", at / "clip")
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


def test_images_that_two_joined_data_sets_share_have_their_scores(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = prepare(tmp_path, "from-other")
    assert read_parquet(data / "images.parquet")["id"].is_duplicated().all()
    assert export(tmp_path, protocol="from-other") == 0
    assert fit(tmp_path, write(tmp_path, ".csv"), protocol="from-other", data=data) == 0
    ranks = read_parquet(tmp_path / "results/tiny/from-other/seed1/ranks.parquet")
    assert ranks["above"].max() < 6  # the labels of an image's group are the first six


DECISIONS = {
    "best_k": {"decision": "top_k", "tuned_for": "exact_match"},  # fitted on validation images
    "count": {"decision": "label_count", "settings": {"hidden": [8], "epochs": 5}},  # on training images, too
}


def decide(folder, *names):
    at = folder / "results/tiny/images/seed1"
    decisions = json.dumps({name: DECISIONS[name] for name in names})
    return run("decide", "--split", at / "split", "--model", at / "clip/model.npz", "--dataset", "tiny", "--protocol",
               "images", "--variant", "clip", "--seed", 1, "--decisions", decisions, "--out", at / "decisions.parquet",
               "--thresholds", at / "thresholds.parquet", "--record", at / "decisions.json")  # fmt: skip


@pytest.mark.parametrize("form", [".npy", ".csv", "vectors"])
def test_decisions_have_label_sets_if_the_images_they_are_fitted_on_are_scored(folder, form):
    assert fit(folder, write(folder, form, "valid")) == 0
    assert decide(folder, "best_k") == 0
    assert fit(folder, write(folder, form, "valid", "train")) == 0
    assert decide(folder, *DECISIONS) == 0
    at = folder / "results/tiny/images/seed1"
    sets = read_parquet(at / "decisions.parquet")
    assert set(sets["decision"]) == set(DECISIONS)
    best = sets.filter(decision="best_k").group_by("image").agg("label")
    k = read_json(at / "decisions.json")["decisions"]["best_k"]["k"]
    largest = [6 * (image % 4) + 6 - k for image in best["image"]]  # of the labels of its group, the last have most
    assert [min(labels) for labels in best["label"]] == largest
    assert len(best) == len(images_to_score(folder))


def test_decisions_without_scores_of_validation_or_training_images_are_one_line(folder, capsys):
    for parts, names, missing in (((), ["best_k"], "valid"), (("valid",), ["count"], "train")):
        assert fit(folder, write(folder, ".npy", *parts)) == 0
        assert decide(folder, *names) == 1
        lacking = len(images_to_score(folder, missing)) - len(images_to_score(folder))
        message = (
            f"clip on tiny (images, seed 1): the file of scores lacks {lacking} of {lacking} images; decisions need "
        )
        assert message in capsys.readouterr().err


def test_scores_of_another_split_are_refused(folder, capsys):
    assert run_split(folder, seed=2) == 0
    path = write(folder, ".npy")
    first, second = (read_json(folder / f"results/tiny/images/seed{seed}/split/split.json") for seed in (1, 2))
    assert first["hash"] != second["hash"]
    assert fit(folder, path, seed=2) == 1
    message = f"trained on the split {first['hash'][:12]}, not on {second['hash'][:12]}"
    assert message in capsys.readouterr().err
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


@pytest.mark.parametrize("form", [".csv", ".parquet"])
def test_lists_without_a_name_of_the_data_set_are_refused(folder, capsys, form):
    path = write(folder, form)
    read, saved = (pl.read_csv, "write_csv") if form == ".csv" else (pl.read_parquet, "write_parquet")
    getattr(read(path).with_columns(pl.col("label").str.to_uppercase()), saved)(path)
    message = (
        "no list of a test image has a candidate label; labels in the file look like 'L0',"
        " those of the data set like 'l0'"
    )
    assert run("check-scores", path, folder / "out") == 1
    assert capsys.readouterr().err == f"vsebench check-scores: {path}: {message}\n"
    assert fit(folder, path) == 1
    assert message in capsys.readouterr().err


def test_lists_may_lack_labels_and_an_image_all_of_them_and_the_command_counts_them(folder, capsys):
    path = write(folder, ".csv")
    frame = pl.read_csv(path).filter(pl.col("label").is_in(["l0", "l6", "l12"]))
    of_first = frame["image"] == frame["image"][0]
    first = pl.when(of_first).then(pl.lit("other ") + pl.col("label")).otherwise("label")
    frame.with_columns(label=first).write_csv(path)
    assert run("check-scores", path, folder / "out") == 0
    n_images = len(images_to_score(folder))
    covered = (
        f"all {n_images} test images, whose lists have 3 of 24 candidate labels (images whose lists have none: 1); "
    )
    assert f"seed 1: {covered}" in capsys.readouterr().out
    assert fit(folder, path) == 0


@pytest.mark.parametrize(
    ("form", "change", "message"),
    [
        (".npy", lambda path: np.save(path, np.full((2, 2), 1.0)), r"shape \(2, 2\), but must have shape \(\d+, 24\)"),
        (".npy", lambda path: np.save(path, np.load(path) * np.nan), "row 1 contains a number that is not finite"),
        (".npy", lambda path: path.with_suffix(".labels.txt").unlink(), r"labels\.txt is missing"),
        (".npz", lambda path: np.savez(path, ids=["i0"], labels=["l0"]), "neither `scores`, nor `image_vectors`"),
        (".npz", lambda path: np.savez(path, ids=["i0", ""], labels=["l0"]), "ids: entry 2: the id has an empty name"),
        (".npz", lambda path: path.write_bytes(path.read_bytes()[:99]), "not a readable"),
        (".csv", lambda path: path.write_text("image,label\ni0,l0\n"), "and either score or rank"),
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


def test_the_hash_of_a_split_may_be_saved_with_a_mark_at_its_beginning_but_must_be_utf_8(folder, capsys):
    path = write(folder, ".npy")
    record = path.with_suffix(".split.txt")
    text = record.read_text()
    record.write_text(text, encoding="utf-8-sig")
    assert run("check-scores", path, folder / "out") == 0
    record.write_text(text, encoding="utf-16")
    assert run("check-scores", path, folder / "out") == 1
    assert capsys.readouterr().err == f"vsebench check-scores: {record}: line 1: not UTF-8 text\n"


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("images.csv", "", "not a readable table (empty CSV)"),
        ("images.csv", "id;train;valid;final;test\ni0;true;false;true;false\n", "has no column 'id'"),
        ("images.csv", "id,test\ni0,TRUE\n", "the column 'test' has values other than true and false"),
        ("labels.csv", "name,candidate\nl0,\n", "the column 'candidate' has values other than true and false"),
        ("split.json", '{"task": "tiny/images"}', "lacks the task, the seed or the hash"),
    ],
)
def test_an_exported_file_that_was_changed_is_one_line(folder, capsys, name, text, message):
    scores, path = write(folder, ".npy"), folder / "out" / name
    path.write_text(text)
    assert run("check-scores", scores, folder / "out") == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"vsebench check-scores: {path}: {message}")
    assert line.endswith("export the split again")


def prepare(folder, protocol):
    """Write what a protocol splits, with single occurrences to hold out, and split it; return the folder of the data.

    For `from-other`, that is a data set to test on, joined with one to train on.
    """
    sets = [folder / DATA, folder / "data/processed/other"]
    for data in sets:
        write_processed(data, features=True)
        pairs = read_parquet(data / "pairs.parquet")
        write_table(pairs.with_columns(count=1 + pairs["image"] % 2), PAIRS, data / "pairs.parquet")
        vectors = np.eye(N_LABELS, dtype=np.float32)
        write_arrays(data / "word_vectors.npz", vectors=vectors, known=np.ones(N_LABELS, dtype=bool))
    data = sets[0]
    if protocol == "from-other":
        data /= protocol
        features = [one / "features.npy" for one in sets]
        assert run("join", "--tested", sets[0], "--trained", sets[1], "--features", *features, "--out", data) == 0
    words = ["--word-vectors", data / "word_vectors.npz"] if "unseen" in protocol or "from-" in protocol else []
    assert run_split(folder, 1, protocol, *words) == 0
    return data


def named_pairs(frame, data):
    """Return image id, label name -> count, for pairs of image and label numbers."""
    ids, names = read_parquet(data / "images.parquet")["id"], read_parquet(data / "labels.parquet")["name"]
    return {(ids[image], names[label]): count for image, label, count in frame.select(*PAIRS).iter_rows()}


@pytest.mark.parametrize("protocol", ["images", "distinct", "regions", "unseen_labels_all", "from-other"])
def test_no_test_label_is_in_an_export(tmp_path, monkeypatch, protocol):
    monkeypatch.chdir(tmp_path)
    data = prepare(tmp_path, protocol)
    split = tmp_path / f"results/tiny/{protocol}/seed1/split"
    assert export(tmp_path, protocol=protocol) == 0
    files = sorted(path for path in (tmp_path / "out").iterdir())
    assert [path.name for path in files] == [
        "README.md", "features.npy", "final.csv", "images.csv", "labels.csv", "split.json", "split.txt", "train.csv",
        "valid.csv", "word_vectors.npz",
    ]  # fmt: skip
    test = named_pairs(read_parquet(split / "test.parquet"), data)
    every = named_pairs(read_parquet(data / "pairs.parquet"), data)
    left = {pair: count - test.get(pair, 0) for pair, count in every.items()}
    held_out = {pair for pair in test if left[pair] == 0}
    assert held_out
    assert (held_out == test.keys()) == (protocol != "regions")
    for path in files:
        if path.suffix in (".npy", ".npz"):
            assert not path.is_symlink()  # the folder can be moved
            assert path.read_bytes() == (data / path.name).read_bytes()
            continue
        for line in path.read_text().splitlines():
            words = set(re.findall(r"\w+", line))
            assert not [pair for pair in held_out if words.issuperset(pair)], f"{path.name}: {line}"
    for name in ("train", "valid", "final"):
        for image, label, count in pl.read_csv(tmp_path / f"out/{name}.csv").iter_rows():
            assert count <= left[image, label]
    assert pl.read_csv(tmp_path / "out/labels.csv").columns == ["name", "trained", "candidate"]
    assert pl.read_csv(tmp_path / "out/images.csv").columns == ["id", "train", "valid", "final", "test"]


def test_an_export_of_a_split_that_is_not_there_names_the_command(folder, capsys):
    assert run("export", "tiny/images", folder / "new", "--seed", 9) == 1
    command = "`vsebench run FILE results/tiny/images/seed9/split/split.json`"
    assert f"results has no split of tiny/images with seed 9; to make it, run {command}; " in capsys.readouterr().err
    assert run("export", "tiny/images", folder / "new", "--seed", 9, "--results", "runs/mine/results") == 1
    assert f"{command[:-1]} --out runs/mine`; " in capsys.readouterr().err
    assert export(folder) == 1
    assert "exists already" in capsys.readouterr().err


def test_an_export_of_a_split_of_another_version_of_the_data_is_refused(folder, capsys):
    write_labels(folder / DATA, [f"l{label}" for label in reversed(range(N_LABELS))])
    assert export(folder, "new") == 1
    split = "results/tiny/images/seed1/split/split.json"
    other = f"made with another version of {DATA}/labels.parquet; delete {split} and run again"
    assert capsys.readouterr().err == f"vsebench export: {split}: {other}\n"
    assert not (folder / "new").exists()


def test_an_export_that_failed_leaves_nothing_and_can_be_repeated(folder):
    labels = folder / "results/tiny/images/seed1/split/labels.parquet"
    content, before = labels.read_bytes(), set(folder.iterdir())
    labels.write_bytes(content[:99])
    assert export(folder, "new") == 1
    assert set(folder.iterdir()) == before
    labels.write_bytes(content)
    assert export(folder, "new") == 0
    assert np.load(folder / "new/features.npy").shape == (80, 4)


@pytest.mark.parametrize(
    ("task", "message"),
    [
        ("tinny/images", "results has no split of tinny/images with seed 1; did you mean tiny/images? to make it, "),
        ("tiny/imagse", "there is no protocol 'imagse'; did you mean images? the protocols are "),
        ("tiny", "'tiny': a task is <data set>/<protocol>, such as tiny/images"),
        ("tinny", "'tinny': a task is <data set>/<protocol>, such as tiny/images"),
    ],
)
def test_a_misspelt_task_is_one_line_with_the_nearest_name(folder, capsys, task, message):
    assert run("export", task, folder / "new", "--seed", 1) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"vsebench export: {message}")


def test_the_data_of_a_run_in_a_folder_of_its_own_are_found(folder):
    """The prepared data of such a run are often links to those that several runs share."""
    own = folder / "runs/mine"
    own.mkdir(parents=True)
    (folder / "results").rename(own / "results")
    (folder / "data").rename(folder / "shared")
    (own / "data/processed").mkdir(parents=True)
    (own / "data/processed/tiny").symlink_to(folder / "shared/processed/tiny")
    assert run("export", "tiny/images", "again", "--seed", 1, "--results", "runs/mine/results") == 0
    assert (folder / "again/images.csv").read_text() == (folder / "out/images.csv").read_text()
    assert np.load(folder / "again/features.npy").shape == (80, 4)
