import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from vsebench.core.errors import UserError
from vsebench.formats.readers.nuswide_concepts import Options, read


def column(values, end="\n"):
    return end.join(str(int(value)) for value in values) + end


def write(folder, matrix, n_train, changes=(), end="\n", concepts=None):
    concepts = concepts or [f"c{i}" for i in range(matrix.shape[1])]
    content = {f"Groundtruth/AllLabels/Labels_{concepts[0]}.txt": "ignored"}
    for label, concept in enumerate(concepts):
        content[f"Groundtruth/TrainTestLabels/Labels_{concept}_Train.txt"] = column(matrix[:n_train, label], end)
        content[f"Groundtruth/TrainTestLabels/Labels_{concept}_Test.txt"] = column(matrix[n_train:, label], end)
    content.update(changes)
    with zipfile.ZipFile(folder / "Groundtruth.zip", "w") as archive:
        for name, text in content.items():
            archive.writestr(name, text)
    with zipfile.ZipFile(folder / "ConceptsList.zip", "w") as archive:
        archive.writestr("ConceptsList/Concepts81.txt", end.join(concepts) + end)


@given(st.data())
def test_what_was_written_is_read(tmp_path_factory, data):
    shape = data.draw(st.tuples(st.integers(2, 12), st.integers(1, 6)))
    matrix = data.draw(arrays(bool, shape))
    n_train = data.draw(st.integers(1, shape[0] - 1))
    folder = tmp_path_factory.mktemp("raw")
    write(folder, matrix, n_train, end=data.draw(st.sampled_from(["\n", "\r\n", " \n"])))
    annotations = read(folder, Options())
    assert len(annotations.images) == shape[0]
    assert annotations.images[0] == "Train-000001"
    assert annotations.images[n_train] == "Test-000001"
    assert annotations.parts.to_list() == ["train"] * n_train + ["test"] * (shape[0] - n_train)
    assert annotations.dropped == []
    dense = np.zeros(shape, dtype=int)
    dense[annotations.pairs["image"], annotations.pairs["label"]] = annotations.pairs["count"]
    assert np.array_equal(dense, matrix)


TRAIN = "Groundtruth/TrainTestLabels/Labels_c1_Train.txt"
FAULTS = {
    "other length": ({TRAIN: "0\n"}, "Labels_c1_Train.txt: has 1 lines, but Labels_c0_Train.txt has 2"),
    "no digit": ({TRAIN: "0\nx\n"}, "Labels_c1_Train.txt: line 2: b'x' is neither 0 nor 1"),
    "other digit": ({TRAIN: "0\n2\n"}, "Labels_c1_Train.txt: line 2: b'2' is neither 0 nor 1"),
    "two digits": ({TRAIN: "01\n1\n"}, "Labels_c1_Train.txt: line 1: b'01' is neither 0 nor 1"),
    "blank line": ({TRAIN: "0\n\n1\n"}, "Labels_c1_Train.txt: line 2: b'' is neither 0 nor 1"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_named(tmp_path, fault):
    changes, message = FAULTS[fault]
    write(tmp_path, np.zeros((4, 2), bool), 2, changes)
    with pytest.raises(UserError) as error:
        read(tmp_path, Options())
    assert message in str(error.value)
    assert "Groundtruth.zip" in str(error.value)


def test_the_known_misprint_is_read_as_0_and_noted(tmp_path):
    changes = {"Groundtruth/TrainTestLabels/Labels_lake_Train.txt": "1\n-1130179\n"}
    write(tmp_path, np.ones((3, 1), bool), 2, changes, concepts=["lake"])
    annotations = read(tmp_path, Options())
    assert annotations.pairs["image"].to_list() == [0, 2]
    assert [entry.number for entry in annotations.dropped] == [1]
    assert "-1130179" in annotations.dropped[0].why


def test_the_misprint_is_a_fault_anywhere_else(tmp_path):
    write(tmp_path, np.zeros((4, 2), bool), 2, {TRAIN: "0\n-1130179\n"})
    with pytest.raises(UserError, match="line 2: b'-1130179' is neither 0 nor 1"):
        read(tmp_path, Options())


def test_no_concepts(tmp_path):
    write(tmp_path, np.zeros((4, 1), bool), 2, concepts=[" "])
    with pytest.raises(UserError, match=r"Concepts81\.txt: names no concept"):
        read(tmp_path, Options())
