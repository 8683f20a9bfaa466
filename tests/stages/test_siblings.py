import json

import numpy as np
import pytest

from tests.stages.small import write_labels
from vsebench.cli import main
from vsebench.core.schemas import SIBLINGS
from vsebench.core.storage import read_json, read_parquet
from vsebench.stages.siblings import pair_up


def test_labels_with_a_common_parent_are_siblings_and_siblings_of_siblings_need_not_be():
    found = pair_up([{"a"}, {"a", "b"}, {"b"}, set(), {"c"}])
    assert found.rows() == [(0, 1), (1, 0), (1, 2), (2, 1)]
    assert found.schema == SIBLINGS


def test_pairs_agree_with_a_comparison_of_every_two_labels():
    rng = np.random.default_rng(1)
    parents = [{str(p) for p in rng.choice(12, rng.integers(0, 4), replace=False)} for _ in range(40)]
    expected = [(i, j) for i in range(40) for j in range(40) if i != j and parents[i] & parents[j]]
    assert pair_up(parents).rows() == expected


@pytest.fixture
def run(tmp_path, capsys):
    names = ["dog", "cat", "sky", "sea"]
    write_labels(tmp_path, names)

    def stage(text):
        (tmp_path / "p.csv").write_text(text)
        definition = {"adapter": "parent_table", "options": {"parents": str(tmp_path / "p.csv")}}
        arguments = [
            "stage",
            "siblings",
            "--name",
            "mine",
            "--definition",
            json.dumps(definition),
            "--raw",
            str(tmp_path),
        ]
        for option, name in (("--labels", "labels.parquet"), ("--out", "s.parquet"), ("--summary", "s.json")):
            arguments += [option, str(tmp_path / name)]
        return main(arguments), capsys.readouterr().err

    return stage


def test_the_summary_counts_labels_without_a_parent(run, tmp_path):
    status, said = run("label,parent\ndog,pet\ncat,pet\nsea,water\nhorse,pet\n")
    assert status == 0
    assert said == "mine: no parent for 1 of 4 labels: sky\n"
    assert read_parquet(tmp_path / "s.parquet").rows() == [(0, 1), (1, 0)]
    assert read_json(tmp_path / "s.json") == {
        "source": "mine",
        "labels": 4,
        "labels_with_parent": 3,
        "labels_with_sibling": 2,
        "median_siblings": 0.5,
        "most_siblings": 1,
    }


def test_a_source_that_knows_no_label_is_refused(run, tmp_path):
    status, said = run("label,parent\nhorse,pet\n")
    assert status == 1
    assert "mine: none of the 4 labels" in said
    assert not (tmp_path / "s.parquet").exists()
