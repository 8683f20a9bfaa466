import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from vsebench.datasets.nuswide_concepts import Options, read
from vsebench.errors import UserError


def column(values, end="\n"):
    return end.join(str(int(value)) for value in values) + end


def write(folder, matrix, n_train, changes=(), end="\n"):
    concepts = [f"c{i}" for i in range(matrix.shape[1])]
    content = {"Groundtruth/AllLabels/Labels_c0.txt": "ignored"}
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
    dense = np.zeros(shape, dtype=int)
    dense[annotations.pairs["image"], annotations.pairs["label"]] = annotations.pairs["count"]
    assert np.array_equal(dense, matrix)


TRAIN = "Groundtruth/TrainTestLabels/Labels_c1_Train.txt"
FAULTS = {
    "other length": ({TRAIN: "0\n"}, "Labels_c1_Train.txt: has 1 lines where Labels_c0_Train.txt has 2"),
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
