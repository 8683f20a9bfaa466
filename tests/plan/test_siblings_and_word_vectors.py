"""Where the siblings of labels and the word vectors of a run are from."""

import json
from pathlib import Path

import pytest

from tests.plan.runs import IAPR, ONE, default, own_table, planned
from vsebench.core.errors import UserError
from vsebench.core.tasks import Task
from vsebench.data.needs import NEEDS
from vsebench.formats.word_vectors import text_network
from vsebench.methods.base import load_method
from vsebench.plan import read_plan
from vsebench.plan.checks import left_out_lines
from vsebench.plan.jobs import Wildcards, job
from vsebench.plan.plan import NO_SIBLINGS

LISTS = {"metrics": ["map", "sibling_precision@10"]}


def shown(plan, dataset):
    """Return what tables show of a data set."""
    return json.loads(job(plan, "about", Wildcards(dataset=dataset)).content)


def test_a_metric_of_siblings_is_left_out_where_nothing_says_which_they_are():
    datasets = {"corel5k": ONE, "sim-iapr": ONE}
    plan = planned(datasets=datasets, methods=["popularity"], papers=[], **LISTS)
    assert left_out_lines(plan) == [f"Left out of sim-iapr/distinct: sibling_precision@10: {NO_SIBLINGS}."]
    (entry,) = plan.outline.metrics_left_out
    assert (entry.dataset, entry.metric) == ("sim-iapr", "sibling_precision@10")
    assert plan.siblings["corel5k"].adapter == "wordnet"
    assert shown(plan, "corel5k")["siblings"]["title"] == "WordNet 3.0, nouns"


def test_a_run_without_siblings_refuses_metrics_of_them():
    with pytest.raises(UserError, match=r"metrics: sibling_precision@10: no data set of the run has"):
        planned(**LISTS)


def test_a_users_own_table_of_parents_is_a_path(tmp_path):
    (tmp_path / "p.csv").write_text("label,parent\na,b\n")
    datasets = own_table(tmp_path, siblings=str(tmp_path / "p.csv"))
    plan = planned(datasets=datasets, methods=["popularity"], papers=[], **LISTS)
    assert plan.siblings["mine"].options == {"parents": str(tmp_path / "p.csv")}
    assert plan.datasets["mine"].definition().keys() == {"adapter", "options"}


@pytest.mark.parametrize(
    ("siblings", "message"),
    [
        (
            "wordnett",
            r"datasets\.mine\.data\.siblings: 'wordnett' has no file .*siblings/wordnett\.yaml; did you mean wordnet\?",
        ),
        ("no.csv", r"datasets\.mine\.data\.siblings: there is no file /.*/no\.csv"),
        ("parents.txt", r"datasets\.mine\.data\.siblings: parents: the name must end in \.parquet"),
    ],
)
def test_a_source_of_siblings_that_is_not_there_is_named(tmp_path, siblings, message):
    with pytest.raises(UserError, match=message):
        planned(datasets=own_table(tmp_path, siblings=siblings), papers=[])


def test_a_mistake_in_a_file_of_siblings_names_it(folder):
    path = folder / "siblings" / "saiapr.yaml"
    path.write_text(path.read_text().replace("parents:", "parent_file:"))
    datasets = {"saiapr": ONE}
    with pytest.raises(UserError, match=r"siblings/saiapr\.yaml: options: parents: this key is missing; add it"):
        planned(folder=folder, datasets=datasets, methods=["popularity"], papers=[])


def test_a_run_names_the_words_of_a_data_set():
    datasets = {"sim-iapr": ONE | {"word_vectors": "glove-6b"}, "corel5k": ONE}
    plan = planned(datasets=datasets, methods=["popularity"], papers=[])
    assert list(plan.word_vectors) == ["sim-iapr"]
    assert shown(plan, "sim-iapr")["word_vectors"]["title"] == "GloVe 6B, 300 dimensions"
    assert "word_vectors" in plan.provides(IAPR)
    assert "word_vectors" not in plan.provides(Task("corel5k", "distinct"))
    assert "word_vectors" in plan.outline.files
    assert "word-vectors" in plan.tables


def test_a_run_without_words_makes_no_table_of_them():
    plan = planned(methods=["popularity"], papers=[])
    assert plan.word_vectors == {}
    assert "word_vectors" not in plan.outline.files
    assert "word-vectors" not in plan.tables


def test_a_variant_that_needs_words_is_left_out_where_there_are_none(monkeypatch):
    monkeypatch.setattr(load_method("popularity"), "needs", frozenset({"word_vectors"}))
    datasets = {"sim-iapr": ONE | {"word_vectors": "glove-6b"}, "corel5k": ONE}
    plan = planned(datasets=datasets, methods=["popularity", "random"], papers=[])
    assert plan.variants(IAPR) == ["popularity", "random"]
    assert left_out_lines(plan) == [
        f"Left out of corel5k/distinct: popularity: {NEEDS['word_vectors'].missing_reason}."
    ]


def test_words_of_a_users_own_table_and_of_a_data_sets_file(tmp_path, folder):
    datasets = own_table(tmp_path, word_vectors="word2vec-news")
    plan = planned(datasets=datasets, methods=["popularity"], papers=[])
    assert plan.word_vectors["mine"].adapter == "word2vec_binary"
    path = folder / "datasets" / "corel5k.yaml"
    path.write_text(path.read_text() + "word_vectors: fasttext-crawl\n")
    plan = planned(folder=folder, datasets={"corel5k": ONE}, methods=["popularity"], papers=[])
    assert plan.word_vectors["corel5k"].title == "fastText, Common Crawl, 300 dimensions"


@pytest.mark.parametrize(
    ("datasets", "message"),
    [
        (
            {"sim-iapr": ONE | {"word_vectors": "glove"}},
            r"datasets\.sim-iapr\.word_vectors: 'glove' has no file .*word_vectors/glove\.yaml",
        ),
        (
            {"sim-iapr": ONE | {"word_vectors": "../glove"}},
            r"datasets\.sim-iapr\.word_vectors: '\.\./glove' has no file",
        ),
    ],
)
def test_a_word_vectors_config_that_is_not_there_is_named(datasets, message):
    with pytest.raises(UserError, match=message):
        planned(datasets=datasets, methods=["popularity"], papers=[])


def test_a_users_own_file_of_words_has_to_be_there(folder, tmp_path):
    path = folder / "word_vectors" / "mine.yaml"
    lines = ["title: t", "licence: l", "citation: c", "adapter: text_vectors", "options:", f"  file: {tmp_path}/w.txt"]
    path.write_text("\n".join(lines) + "\n")
    values = default(datasets={"sim-iapr": ONE | {"word_vectors": "mine"}}, methods=["popularity"], papers=[])
    with pytest.raises(UserError, match=r"word_vectors/mine\.yaml: options\.file: there is no file"):
        read_plan(folder, values, [])
    (tmp_path / "w.txt").write_text("sky 1 2\n")
    assert read_plan(folder, values, []).word_vectors["sim-iapr"].own_files == {"file": f"{tmp_path}/w.txt"}


def test_a_text_network_needs_its_files_and_packages(folder, tmp_path, monkeypatch):
    lines = ["title: t", "licence: l", "citation: c", "adapter: text_network"]
    lines.append(f"options: {{file: {tmp_path}/text.onnx, tokenizer: {tmp_path}/tokenizer.json, output: text}}")
    (folder / "word_vectors" / "mine.yaml").write_text("\n".join(lines) + "\n")
    values = default(datasets={"sim-iapr": ONE | {"word_vectors": "mine"}}, methods=["popularity"], papers=[])
    (tmp_path / "text.onnx").touch()
    with pytest.raises(UserError, match=r"word_vectors/mine\.yaml: options\.tokenizer: there is no file"):
        read_plan(folder, values, [])
    (tmp_path / "tokenizer.json").touch()
    monkeypatch.setattr(text_network, "PACKAGES", ("no_such_package",))
    with pytest.raises(UserError, match=r"mine\.yaml: adapter: text_network: it needs the package no_such_package"):
        read_plan(folder, values, [])
    monkeypatch.setattr(text_network, "PACKAGES", ())
    own = read_plan(folder, values, []).word_vectors["sim-iapr"].own_files
    assert own == {"file": f"{tmp_path}/text.onnx", "tokenizer": f"{tmp_path}/tokenizer.json"}


@pytest.mark.parametrize("protocol", ["official", "unseen_labels", "unseen_labels_all"])
def test_named_unseen_labels_are_read_by_the_splits_that_would_draw_them(tmp_path, protocol):
    path = tmp_path / "unseen.txt"
    path.write_text("sky\n")
    entry = {"protocols": ["official", "unseen_labels", "unseen_labels_all"], "word_vectors": "glove-6b-subset"}
    datasets = {"corel5k-densehue": entry | {"unseen_labels": str(path)}}
    made = job(planned(datasets=datasets, methods=["ridge", "conse"], papers=[]), "split", at(protocol))
    named = [str(path)] if protocol != "official" else []
    assert made.inputs["unseen_labels"] == named
    assert (f"--unseen-labels {path}" in made.options) == bool(named)


def test_a_list_that_comes_with_the_project_is_named_without_its_folder():
    entry = {"protocols": ["unseen_labels"], "word_vectors": "glove-6b-subset", "unseen_labels": "nuswide81"}
    plan = planned(datasets={"corel5k-densehue": entry}, methods=["conse"], papers=[])
    (named,) = job(plan, "split", at("unseen_labels")).inputs["unseen_labels"]
    assert Path(named) == plan.folder / "unseen_labels" / "nuswide81.txt"
    datasets = {"corel5k-densehue": entry | {"unseen_labels": "nuswide82"}}
    with pytest.raises(UserError, match=r"unseen_labels: there is no file .*unseen_labels/nuswide82\.txt"):
        planned(datasets=datasets, methods=["conse"], papers=[])


def at(protocol):
    return Wildcards(dataset="corel5k-densehue", protocol=protocol, seed="1")


@pytest.mark.parametrize(("exists", "message"), [(False, "there is no file"), (True, "has no protocol of unseen")])
def test_named_unseen_labels_that_cannot_be_used_are_one_line(tmp_path, exists, message):
    path = tmp_path / "unseen.txt"
    if exists:
        path.write_text("sky\n")
    datasets = {"sim-iapr": ONE | {"unseen_labels": str(path)}}
    with pytest.raises(UserError, match=rf"datasets\.sim-iapr\.unseen_labels: .*{message}"):
        planned(datasets=datasets, methods=["popularity"], papers=[])
