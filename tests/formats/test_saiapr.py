import io
import tarfile
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vsebench.core.errors import UserError
from vsebench.formats.readers.saiapr import Options, read

OPTIONS = Options()
WORDS = b"3\tsky\n7\tman\n9\ttree\n"


def write(folder, content):
    with tarfile.open(folder / OPTIONS.archive, "w:gz") as archive:
        for name, data in content.items():
            info = tarfile.TarInfo(f"benchmark/{name}")
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))


def table(regions, with_features):
    features = "\t0.5 1.25 -3" if with_features else ""
    return "".join(f"{image}\t{region}{features}\t{code}\n" for image, region, code in regions).encode()


@given(
    counts=st.dictionaries(
        st.integers(1, 99), st.lists(st.sampled_from([3, 7, 9]), min_size=1, max_size=6), min_size=1, max_size=8
    ),
    with_features=st.lists(st.booleans(), min_size=3, max_size=3),
)
def test_what_was_written_is_read(tmp_path_factory, counts, with_features):
    content = {"wlist.txt": WORDS}
    for folder in range(3):
        regions = [(i, r, c) for i, codes in counts.items() if i % 3 == folder for r, c in enumerate(codes, start=1)]
        name = "features.txt" if with_features[folder] else "labels.txt"
        content[f"saiapr_tc-12/{folder:02d}/{name}"] = table(regions, with_features[folder])
    path = tmp_path_factory.mktemp("raw")
    write(path, content)
    annotations = read(path, OPTIONS)
    assert annotations.labels == ["sky", "man", "tree"]
    assert annotations.images.to_list() == [str(i) for i in sorted(counts)]
    found = {
        (int(annotations.images[image]), (3, 7, 9)[label]): count
        for image, label, count in annotations.pairs.iter_rows()
    }
    assert found == Counter((image, code) for image, codes in counts.items() for code in codes)


def test_labels_go_before_features(tmp_path):
    features, labels = table([(1, 1, 3)], True), table([(1, 1, 7)], False)
    write(tmp_path, {"wlist.txt": WORDS, "00/features.txt": features, "00/labels.txt": labels})
    assert read(tmp_path, OPTIONS).pairs["label"].to_list() == [1]


FAULTS = {
    "unknown code": ({"00/labels.txt": b"1\t1\t3\n1\t2\t8\n"}, "00/labels.txt: line 2: the label code 8"),
    "no number": ({"00/labels.txt": b"1\tx\t3\n"}, "00/labels.txt: line 1: image, region and code are not whole"),
    "too few fields": ({"00/labels.txt": b"1\t3\n"}, "00/labels.txt: line 1: has 2 fields"),
    "features in labels": ({"00/labels.txt": b"1\t1\t0.5 0.5\t3\n"}, "00/labels.txt: line 1: has 5 fields"),
    "region twice": (
        {"00/labels.txt": b"1\t1\t3\n", "01/labels.txt": b"1\t1\t7\n"},
        "01/labels.txt: line 1: duplicate region 1 of image 1",
    ),
    "huge number": (
        {"00/labels.txt": b"99999999999999999999\t1\t3\n"},
        "labels.txt: line 1: image, region and code are",
    ),
    "digits of another script": ({"00/labels.txt": "\u0661\t1\t3\n".encode()}, "labels.txt: line 1: image, region"),
    "underscore": ({"00/labels.txt": b"1_0\t1\t3\n"}, "labels.txt: line 1: image, region and code are not"),
    "huge code": ({"wlist.txt": b"9" * 5000 + b"\ta\n", "00/labels.txt": b""}, "wlist.txt: line 1:"),
    "no table": ({"00/other.txt": b""}, "contains no labels.txt or features.txt"),
    "no words": ({"wlist.txt": None, "00/labels.txt": b""}, "contains 0 files named wlist.txt"),
    "code twice": (
        {"wlist.txt": b"1\ta\n1\tb\n", "00/labels.txt": b""},
        "wlist.txt: line 2: '1\\tb' is not a new code",
    ),
    "word twice": (
        {"wlist.txt": b"1\ta\n2\ta\n", "00/labels.txt": b""},
        "wlist.txt: line 2: duplicate word 'a'",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_named(tmp_path, fault):
    change, message = FAULTS[fault]
    content = {name: data for name, data in {"wlist.txt": WORDS, **change}.items() if data is not None}
    write(tmp_path, content)
    with pytest.raises(UserError) as error:
        read(tmp_path, OPTIONS)
    assert message in str(error.value)
    assert OPTIONS.archive in str(error.value)
