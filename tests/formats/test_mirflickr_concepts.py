import zipfile

import pytest

from vsebench.core.errors import UserError
from vsebench.core.yaml_files import check
from vsebench.formats.readers import mirflickr_concepts

PARTS = {"train": [1, 2], "test": [4, 25000]}


def read(raw, **given):
    return mirflickr_concepts.read(raw, check(mirflickr_concepts.Options, given, "options"))


def write(folder, members):
    with zipfile.ZipFile(folder / mirflickr_concepts.ARCHIVE, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)


@pytest.mark.parametrize("folder", ["", "annotations/"])
def test_the_lists_are_read(tmp_path, folder):
    lists = {"sky.txt": "1\r\n25000\r\n3\r\n", "plant_life_r1.txt": "3", "README.txt": "read me", "empty.txt": ""}
    write(tmp_path, {f"{folder}{name}": content for name, content in lists.items()})
    found = read(tmp_path)
    assert found.labels == ["empty", "plant_life_r1", "sky"]
    assert (len(found.images), found.images[0], found.images[24_999]) == (25_000, "1", "25000")
    assert found.pairs.rows() == [(0, 2, 1), (2, 1, 1), (2, 2, 1), (24_999, 2, 1)]
    assert found.parts is None
    named = read(tmp_path, prefix="im", parts=PARTS)
    assert named.images[:2].to_list() == ["im1", "im2"]
    assert named.parts.to_list() == ["train"] * 2 + [None] + ["test"] * 24_997


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"README.txt": "1"}, "contains no list <concept>.txt; is it the official archive?"),
        ({"a/sky.txt": "1", "sky.txt": "1"}, "duplicate concept 'sky' (2 times)"),
        ({"sky.txt": "1\n0"}, "sky.txt: line 2: '0' is not the number of an image, 1 to 25000"),
        ({"sky.txt": "1\n25001"}, "sky.txt: line 2: '25001' is not the number of an image"),
        ({"sky.txt": "1\n\n2"}, "sky.txt: line 2: '' is not the number of an image"),
        ({"sky.txt": "1\n\u0661"}, "sky.txt: line 2: '\u0661' is not the number of an image"),
        ({"sky.txt": "7\n1\n07"}, "sky.txt: line 3: image 7 is in line 1 already"),
        ({"sky.txt": b"\xff"}, "sky.txt: line 1: not UTF-8 text"),
    ],
)
def test_a_fault_is_named(tmp_path, members, message):
    write(tmp_path, members)
    with pytest.raises(UserError) as error:
        read(tmp_path)
    assert message in str(error.value)
    assert str(tmp_path / mirflickr_concepts.ARCHIVE) in str(error.value)
    assert len(str(error.value).splitlines()) == 1


@pytest.mark.parametrize(
    "parts", [{"train": [3, 2]}, {"train": [1, 5], "test": [5, 9]}, {"test": [1, 9], "valid": [2, 3]}]
)
def test_parts_that_overlap_or_are_upside_down(parts):
    with pytest.raises(UserError, match="a part ends before it begins, or two parts have an image in common"):
        check(mirflickr_concepts.Options, {"parts": parts}, "options")
