"""The three adapters of NUS-WIDE on one small archive; tests/fuzz and test_faults.py test faults of the files."""

import numpy as np
import pytest

from tests.builders import rows_of
from tests.fuzz.targets import BOW, CONCEPTS, FINAL, TAGS, pack_nuswide
from vsebench.config.dataset import DatasetDefinition
from vsebench.core.errors import UserError
from vsebench.core.storage import features_file
from vsebench.data.problem import LabelMatrix
from vsebench.formats.readers import nuswide_concepts, nuswide_tags
from vsebench.formats.readers.nuswide_tags import parse_matrix


@pytest.fixture(autouse=True)
def two_concepts(monkeypatch):
    """The small archive has two of the 81 concepts."""
    monkeypatch.setattr(nuswide_concepts, "N_CONCEPTS", 2)


def labels_of(found):
    """Return the names of the labels of each image."""
    rows = rows_of(LabelMatrix.from_pairs(found.pairs, len(found.images), len(found.labels)))
    return [[found.labels[label] for label in row] for row in rows]


def tags_of(folder, tags, files=TAGS):
    pack_nuswide(folder, files)
    return nuswide_tags.read(folder, nuswide_tags.Options(tags=tags))


def test_concepts_and_their_feature(tmp_path):
    pack_nuswide(
        tmp_path, CONCEPTS | BOW | {"BoW_Train_int.dat": b"0 2 \n1 0 \n4 4\n", "BoW_Test_int.dat": b"3 0 \n0 5"}
    )
    found = nuswide_concepts.read(tmp_path, nuswide_concepts.Options(features="BoW"))
    assert labels_of(found) == [["sky"], [], ["sky", "lake"], [], ["sky", "lake"]]
    assert found.images.to_list() == ["Train-000001", "Train-000002", "Train-000003", "Test-000001", "Test-000002"]
    assert found.parts.to_list() == ["train"] * 3 + ["test"] * 2
    ((_, number, why),) = found.dropped
    assert number == 1
    assert "-1130179" in why  # a known misprint, read as 0
    assert found.features.values.tolist() == [[0, 2], [1, 0], [4, 4], [3, 0], [0, 5]]
    definition = DatasetDefinition(adapter="nuswide_concepts", options={"features": "BoW"})
    assert found.features.file_name == features_file("", definition.sets[""].is_sparse)


def test_a_thousand_tags(tmp_path):
    found = tags_of(tmp_path, "1k")
    assert labels_of(found) == [["sky", "wedding"], [], ["sky", "red", "wedding"], ["red"], ["wedding"]]
    assert found.parts.to_list() == ["train"] * 3 + ["test"] * 2


def test_tags_that_are_no_concept(tmp_path):
    found = tags_of(tmp_path, "925")
    assert found.labels == ["red", "wedding"]
    assert labels_of(found) == [["wedding"], [], ["red", "wedding"], ["red"], ["wedding"]]
    assert [(entry.what, entry.number) for entry in found.dropped] == [("tags", 1)]


def test_tags_and_concepts_together(tmp_path):
    found = tags_of(tmp_path, "1006")
    assert found.labels == ["red", "wedding", "sky", "lake"]
    assert labels_of(found)[2:] == [["red", "wedding", "sky", "lake"], ["red"], ["wedding", "sky", "lake"]]


def test_what_the_final_list_leaves_out_is_noted(tmp_path):
    lines = b"7 red sky red cat\n8 Red \xff\xfe\n7 sky\n9\n7 red\n\n"
    found = tags_of(tmp_path, "final", FINAL | {"All_Tags.txt": lines})
    assert found.images.to_list() == ["7", "8", "7-2", "9", "7-3"]
    assert labels_of(found) == [["sky", "red"], [], ["sky"], [], ["red"]]
    assert [(entry.number, entry.why) for entry in found.dropped] == [
        (1, "repeated for the same image"),
        (1, "in the list only in lower case"),
    ]


def test_a_matrix_of_many_blocks():
    matrix = np.random.default_rng(0).random((90, 100)) < 0.1
    text, line = b"".join(b"\t".join(b"%d" % value for value in row) + b"\t\n" for row in matrix), 201

    def parse(data):
        return parse_matrix(data, 100, "x.dat", block_size=1000)

    n_lines, image, tag = parse(text + b"\n \n")
    assert n_lines == 90
    assert np.array_equal(np.stack([image, tag]), np.nonzero(matrix))
    with pytest.raises(UserError, match=r"x\.dat: line 44: '7' must be 0 or 1"):
        parse(text[: 43 * line + 40] + b"7" + text[43 * line + 41 :])
    with pytest.raises(UserError, match=r"x\.dat: line 22: "):
        parse(text[: 21 * line] + b"\n" * 3000 + text[21 * line :])
