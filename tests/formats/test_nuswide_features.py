import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tests.formats.test_nuswide_concepts import write as write_concepts
from vsebench.config.dataset import DatasetDefinition
from vsebench.core.errors import UserError
from vsebench.formats.readers.nuswide_concepts import Options, read
from vsebench.formats.readers.nuswide_features import ARCHIVE, parse_rows, read_features

FILES = {"BoW": "BoW_{}_int.dat"} | {
    name: f"{{}}_Normalized_{name}.dat" for name in ("CH", "CORR", "EDH", "WT", "CM55")
}


def lines_of(rows, end=" \n"):
    return "".join(" ".join(f"{value!r}" for value in row) + end for row in rows.tolist())


def write(folder, members):
    with zipfile.ZipFile(folder / ARCHIVE, "w") as archive:
        for name, text in members.items():
            archive.writestr(f"Low_Level_Features/{name}", text)


@given(st.data())
def test_what_was_written_is_read(tmp_path_factory, data):
    sizes = {"Train": data.draw(st.integers(1, 5)), "Test": data.draw(st.integers(1, 5))}
    elements = st.floats(width=32, allow_nan=False, allow_infinity=False)
    rows = data.draw(arrays(np.float32, (sum(sizes.values()), data.draw(st.integers(1, 5))), elements=elements))
    name = data.draw(st.sampled_from(list(FILES)))
    end = data.draw(st.sampled_from([" \n", "\n", "\t\r\n"]))
    folder = tmp_path_factory.mktemp("raw")
    parts = {"Train": rows[: sizes["Train"]], "Test": rows[sizes["Train"] :]}
    others = {"README.txt": "?", "Test_Normalized_CH_Lite.dat": "?"}
    write(folder, others | {FILES[name].format(part): lines_of(values, end) for part, values in parts.items()})
    features = read_features(folder, name, sizes)
    assert features.values.dtype == np.float32
    assert np.array_equal(features.values, rows)
    assert features.known.all()


def test_concepts_and_their_feature(tmp_path):
    write_concepts(tmp_path, np.array([[1, 0], [0, 1], [1, 1]], dtype=bool), 2)
    assert read(tmp_path, Options()).features is None
    write(tmp_path, {"BoW_Train_int.dat": "0 2 \n1 0 \n", "BoW_Test_int.dat": "3 0 \n"})
    found = read(tmp_path, Options(features="BoW"))
    assert found.features.values.tolist() == [[0, 2], [1, 0], [3, 0]]
    assert (
        found.features.file_name
        == DatasetDefinition(adapter="nuswide_concepts", options={"features": "BoW"}).features_name
    )


FAULTS = {
    "too few lines": (b"1 2\n", "has 1 lines of numbers, but Groundtruth.zip has 2 images"),
    "too many lines": (b"1 2\n3 4\n5 6\n", "has 3 lines of numbers, but Groundtruth.zip has 2 images"),
    "nothing": (b"", "has 0 lines of numbers, but Groundtruth.zip has 2 images"),
    "blank line": (b"1 2\n\n3 4\n", "has 3 lines of numbers"),
    "other length": (b"1 2\n3\n", "line 2: has 1 numbers, but line 1 has 2"),
    "a word": (b"1 2\n3 x\n", "line 2: contains something other than numbers: '3 x'"),
    "no number": (b"1 2\n3 1e\n", "line 2: contains something other than numbers: '3 1e'"),
    "not finite": (b"1 nan\n3 4\n", "line 1: contains something other than numbers: '1 nan'"),
    "underscore": (b"1 2\n3 1_0\n", "line 2: contains something other than numbers"),
    "too big": (b"1 2\n3 1e39\n", "line 2: contains a number that is too big: '3 1e39'"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_named(fault):
    data, message = FAULTS[fault]
    with pytest.raises(UserError) as error:
        parse_rows(data, 2, "here")
    assert str(error.value).startswith(f"here: {message}")


def test_parts_that_do_not_fit(tmp_path):
    write(tmp_path, {"Train_Normalized_CH.dat": "1 2\n", "Test_Normalized_CH.dat": "1 2 3\n"})
    with pytest.raises(UserError, match=r"feature CH: lines have 2 \(Train\) and 3 \(Test\) numbers"):
        read_features(tmp_path, "CH", {"Train": 1, "Test": 1})
    with pytest.raises(UserError, match=r"contains no Train_Normalized_WT\.dat; is it the official archive\?"):
        read_features(tmp_path, "WT", {"Train": 1, "Test": 1})
