"""The stage `word_vectors`, and how the vectors of labels reach a method that needs them."""

import json
import sys
from argparse import Namespace
from gzip import compress
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from tests.builders import frame
from tests.stages.small import EPOCHS, case, run, split, write_labels, write_processed
from vsebench import models
from vsebench.config.dataset import WordVectorsConfig
from vsebench.core.errors import UserError
from vsebench.core.schemas import HISTORY, WORD_VECTORS
from vsebench.core.storage import read_json, read_parquet, write_arrays, write_json, write_table
from vsebench.core.yaml_files import check
from vsebench.data import needs
from vsebench.formats.parents.wordnet import EXCEPTIONS
from vsebench.methods.base import FactorSettings, Method, Progress
from vsebench.models import LabelWeights
from vsebench.stages import time as timing

TEXT = "sky 0.5 0 0\nt-shirt 0 1 0\ntv 0 0 2\nmonitor 0 0 4\ngoose 1 1 1\nsky 9 9 9\n"


@pytest.fixture
def stage(tmp_path, capsys):
    """Run the stage on labels and a text of word vectors; return its status and standard error."""
    (tmp_path / "w.txt").write_text(TEXT)

    def start(names, **definition):
        write_labels(tmp_path, names)
        definition = {"adapter": "text_vectors", "options": {"file": "w.txt"}} | definition
        status = run(
            "word_vectors", "--dataset", "mine", "--name", "small", "--definition", json.dumps(definition),
            "--raw", tmp_path, "--labels", tmp_path / "labels.parquet", "--out", tmp_path / "word_vectors.npz",
            "--rules", tmp_path / "word_vectors.parquet", "--summary", tmp_path / "word_vectors.json",
        )  # fmt: skip
        return status, capsys.readouterr().err

    return start


def test_vectors_rules_and_coverage_are_written(stage, tmp_path):
    (tmp_path / EXCEPTIONS).write_bytes(compress(b"geese goose\n"))
    labels = ["Sky", "tee-shirt", "tv monitor", "sky/sea", "geese", "sea"]
    more = {"aliases": {"tee-shirt": "t-shirt"}, "missing": "leave_out", "exceptions": EXCEPTIONS}
    status, said = stage(labels, **more)
    assert status == 0
    assert said == "small: no word vector for 1 of 6 labels of mine: sea\n"
    word_vectors = needs.WORD_VECTORS.load(tmp_path / "word_vectors.npz")
    assert word_vectors.vectors.tolist() == [[0.5, 0, 0], [0, 1, 0], [0, 0, 3], [0.5, 0, 0], [1, 1, 1], [0, 0, 0]]
    assert word_vectors.known.tolist() == [True] * 5 + [False]
    rules = read_parquet(tmp_path / "word_vectors.parquet")
    assert rules.schema == WORD_VECTORS
    assert rules.select("rule", "words", "without").rows() == [
        ("whole", "sky", ""),
        ("alias", "t-shirt", ""),
        ("parts", "tv monitor", ""),
        ("some parts", "sky", "sea"),
        ("singular", "goose", ""),
        ("missing", "", "sea"),
    ]
    found = {"whole": 1, "alias": 1, "parts": 1, "some parts": 1, "singular": 1, "missing": 1}
    assert read_json(tmp_path / "word_vectors.json") == {
        "dataset": "mine", "source": "small", "dimensions": 3, "labels": 6, "rules": found,
        "sharing": 2, "rank": 3, "repeated": 1,
    }  # fmt: skip


def test_a_label_without_a_vector_is_an_error_unless_it_may_be_left_out(stage, tmp_path):
    status, said = stage(["sky", "sea"])
    assert status == 1
    assert "small: no word vector for 1 of 2 labels of mine: sea; add words for them under `aliases`" in said
    assert "missing: leave_out" in said
    assert not (tmp_path / "word_vectors.npz").exists()


def test_a_file_that_knows_no_label_is_refused(stage):
    status, said = stage(["sea", "Meer"], missing="leave_out")
    assert status == 1
    assert "small: no word vector for 2 of 2 labels of mine: sea, Meer; check the language" in said


def test_words_that_the_source_leaves_out_are_not_used(stage, tmp_path):
    (tmp_path / "not.txt").write_text("sky\n")
    assert stage(["sky", "t-shirt"], without="not.txt", missing="leave_out")[0] == 0
    assert needs.WORD_VECTORS.load(tmp_path / "word_vectors.npz").known.tolist() == [False, True]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"exceptions": "e.gz"}, "exceptions: the file is not among `files`"),
        ({"without": "n.txt"}, "without: the file is not among `files`"),
        ({"missing": "zero"}, "missing: Input should be 'error' or 'leave_out'"),
        ({"alias": {}}, "alias: unknown key"),
    ],
)
def test_a_mistake_in_a_file_of_words_names_the_key(change, message):
    values = {"title": "t", "licence": "l", "citation": "c", "adapter": "text_vectors", "options": {"file": "w.txt"}}
    assert check(WordVectorsConfig, values, "w.yaml").own_files == {"file": "w.txt"}
    with pytest.raises(UserError, match=message):
        check(WordVectorsConfig, values | change, "w.yaml")


@pytest.mark.parametrize(
    "arrays",
    [
        {"vectors": np.ones((2, 3), dtype=np.float32)},
        {"vectors": np.ones((2, 3)), "known": np.ones(2, dtype=bool)},
        {"vectors": np.ones((2, 3), dtype=np.float32), "known": np.ones(3, dtype=bool)},
        {"vectors": np.ones((2, 3), dtype=np.float32), "known": np.zeros(2, dtype=bool)},
    ],
)
def test_damaged_words_are_one_line(tmp_path, arrays):
    write_arrays(tmp_path / "word_vectors.npz", **arrays)
    with pytest.raises(UserError, match=r"word_vectors\.npz: not a file of word vectors .*; delete it and run again"):
        needs.WORD_VECTORS.load(tmp_path / "word_vectors.npz")


# A small method that needs word vectors


class ByWords(Method):
    """A method that scores a label by its vector's cosines with those of the known labels, without training."""

    settings_type = FactorSettings
    needs = frozenset({"word_vectors"})

    def __init__(self, problem, settings):
        self.word_vectors = problem.word_vectors

    def epoch(self):
        return Progress(loss=0.0)

    def model(self):
        unit = self.word_vectors.scaled("unit")
        return LabelWeights(np.ascontiguousarray(unit @ unit.T))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A split of a small data set whose labels have word vectors, and the method as a module."""
    monkeypatch.setitem(sys.modules, "by_words", SimpleNamespace(METHODS={"by_words": ByWords}))
    monkeypatch.setattr("vsebench.methods.base.modules_by_key", lambda *_: {"by_words": "by_words"})
    write_processed(tmp_path)
    vectors = np.repeat(np.eye(4, dtype=np.float32), 6, axis=0)  # the labels of a group have the same vector
    write_arrays(tmp_path / "word_vectors.npz", vectors=vectors, known=np.ones(24, dtype=bool))
    assert split(tmp_path) == 0
    return tmp_path


def command(folder):
    chosen = ["--epochs", json.dumps(EPOCHS), "--metric", "ndcg@10", "--images", 1000]
    return [*case(folder, module="by_words", settings={"factors": 2}), *chosen]


def test_a_method_that_needs_words_is_fitted_with_them(folder):
    assert run("fit", *command(folder), "--word-vectors", folder / "word_vectors.npz", "--out", folder / "model") == 0
    model = models.load(folder / "model/model.npz").arrays()
    expected = np.kron(np.eye(4), np.ones((6, 6))).astype(np.float32)
    assert any(np.array_equal(array, expected) for array in model.values())


def test_without_words_it_is_refused_in_one_line(folder, capsys):
    assert run("fit", *command(folder), "--out", folder / "model") == 1
    assert (
        "--word-vectors: missing; this method needs the word vectors of the data set's labels"
        in capsys.readouterr().err
    )


def test_it_is_swept_with_word_vectors(folder):
    word_vectors = ["--word-vectors", folder / "word_vectors.npz"]
    assert run("fit", *command(folder), *word_vectors, "--out", folder / "model") == 0
    varied = ["--chosen", folder / "model/run.json", "--parameter", "factors", "--values", "[2, 3]"]
    files = ["--ranks", folder / "r.parquet", "--out", folder / "s.parquet"]
    assert run("sweep", *command(folder), *word_vectors, *varied, *files) == 0
    assert read_parquet(folder / "s.parquet")["value"].to_list() == [2.0, 3.0]


def test_it_is_timed_with_word_vectors(folder, monkeypatch):
    results = folder / "results"
    case = results / "tiny" / "distinct" / "seed1"
    out = ["--out", case / "split"]
    assert run("split", "--processed", folder, "--protocol", "distinct", "--seed", 1, *out) == 0
    write_json({"selection": {"settings": {"factors": 2}, "epochs": 5}}, case / "my_row" / "run.json")
    keys = {"seed": 1, "phase": "selection", "seconds": 0.1}
    values = enumerate([0.1, 0.2, 0.3, 0.2, 0.1], 1)
    history = frame([keys | {"epoch": epoch, "validation": value} for epoch, value in values], HISTORY)
    write_table(history, HISTORY, case / "my_row" / "history.parquet")
    monkeypatch.setattr(timing.os, "sched_setaffinity", lambda process, cores: None)
    arguments = Namespace(results=results, dataset="tiny", protocol="distinct", no_refit=False, features=None, epochs=2,
                          feature_sets={}, variants={"my_row": "by_words"}, word_vectors=folder / "word_vectors.npz",
                          to_best_epoch=True)  # fmt: skip
    phases = timing.time_one(arguments, 1, "my_row")
    assert [phase["phase"] for phase in phases] == ["compile", "epoch", "epoch", "training", "evaluate", "score"]
    assert all(phase["seed"] == 1 for phase in phases)
    first, second, all_epochs = (phase["seconds"] for phase in phases[1:4])
    assert all_epochs > first + second
    assert timing.best_epoch(case / "my_row" / "history.parquet") == 3
    write_table(history.with_columns(validation=pl.lit(None, pl.Float64)), HISTORY, case / "my_row" / "history.parquet")
    assert timing.best_epoch(case / "my_row" / "history.parquet") == 0
