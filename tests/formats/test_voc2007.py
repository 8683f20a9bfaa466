import io
import tarfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vsebench.core.errors import UserError
from vsebench.formats.readers.voc2007 import CLASSES, Options, read

TRAINVAL, TEST = "VOCtrainval_06-Nov-2007.tar", "VOCtest_06-Nov-2007.tar"
MAIN = "VOCdevkit/VOC2007/ImageSets/Main"


def pack(path, members):
    with tarfile.open(path, "w") as archive:
        for name, text in members.items():
            data = text if isinstance(text, bytes) else text.encode()
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))


def lines(words):
    return "".join(f"{word}\n" for word in words)


def archives(parts, values=None):
    """Return the members of both archives: `parts` has the images of each list, `values` what is not -1."""
    values = values or {}
    members = {}
    for archive, of_classes, lists in ((TRAINVAL, "trainval", ("train", "val")), (TEST, "test", ("test",))):
        images = sorted(image for name in lists for image in parts[name])
        content = {f"{MAIN}/{name}.txt": lines(parts[name]) for name in lists}
        for label in CLASSES:
            rows = (f"{image} {values.get((image, label), -1):2d}" for image in images)
            content[f"{MAIN}/{label}_{of_classes}.txt"] = lines(rows)
        members[archive] = content
    return members


def write(folder, members):
    for archive, content in members.items():
        pack(folder / archive, content)


PARTS = {"train": ["000005", "000012"], "val": ["000007"], "test": ["000001", "000006"]}
VALUES = {("000005", "chair"): 1, ("000005", "sofa"): 0, ("000006", "train"): 1, ("000012", "aeroplane"): 0}


def test_labels_and_parts(tmp_path):
    write(tmp_path, archives(PARTS, VALUES))
    found = read(tmp_path, Options())
    assert found.images.to_list() == ["000001", "000005", "000006", "000007", "000012"]
    assert found.parts.to_list() == ["test", "train", "test", "valid", "train"]
    assert (found.labels[8], found.labels[18], len(found.labels)) == ("chair", "train", 20)
    assert found.pairs.rows() == [(1, 8, 1), (2, 18, 1)]
    assert [(entry.what, entry.number) for entry in found.dropped] == [("labels", 2)]


def test_difficult_objects_are_labels_where_the_option_says_so(tmp_path):
    write(tmp_path, archives(PARTS, VALUES))
    found = read(tmp_path, Options(difficult=True))
    assert found.pairs.rows() == [(1, 8, 1), (1, 17, 1), (2, 18, 1), (4, 0, 1)]
    assert found.dropped == []


def test_what_else_is_in_the_archives_is_not_read(tmp_path):
    members = archives(PARTS, VALUES)
    broken = ["Main/trainval", "Main/cat_train", "Main/cat_val", "Layout/train", "Segmentation/train"]
    members[TRAINVAL] |= {f"VOCdevkit/VOC2007/ImageSets/{name}.txt": "x" for name in broken}
    members[TRAINVAL]["VOCdevkit/VOC2007/JPEGImages/000005.jpg"] = b"\xff\xd8"
    write(tmp_path, members)
    assert read(tmp_path, Options()).pairs.rows() == [(1, 8, 1), (2, 18, 1)]


@given(st.data())
def test_what_was_written_is_read(tmp_path_factory, data):
    numbers = data.draw(st.lists(st.integers(1, 999_999), min_size=3, max_size=9, unique=True))
    ids = [f"{number:06d}" for number in numbers]
    first, second = sorted(data.draw(st.sets(st.integers(1, len(ids) - 1), min_size=2, max_size=2)))
    parts = {"train": ids[:first], "val": ids[first:second], "test": ids[second:]}
    cells = st.tuples(st.sampled_from(ids), st.sampled_from(CLASSES))
    values = data.draw(st.dictionaries(cells, st.sampled_from([-1, 0, 1]), max_size=30))
    folder = tmp_path_factory.mktemp("raw")
    write(folder, archives(parts, values))
    for difficult in (False, True):
        found = read(folder, Options(difficult=difficult))
        assert found.images.to_list() == [f"{number:06d}" for number in sorted(numbers)]
        given_part = {image: part for part, images in parts.items() for image in images}
        assert found.parts.to_list() == [given_part[image].replace("val", "valid") for image in found.images]
        pairs = {(found.images[image], CLASSES[label]) for image, label, _ in found.pairs.rows()}
        assert pairs == {cell for cell, value in values.items() if value == 1 or (value == 0 and difficult)}
        assert set(found.pairs["count"]) <= {1}


CAT = f"{MAIN}/cat_trainval.txt"
FAULTS = {
    "no class list": (
        TRAINVAL,
        {CAT: None},
        "contains no ImageSets/Main/cat_trainval.txt; is it the official archive?",
    ),
    "no list of images": (TEST, {f"{MAIN}/test.txt": None}, "contains no ImageSets/Main/test.txt; is it the"),
    "two lists": (TRAINVAL, {"VOC2012/ImageSets/Main/val.txt": "1"}, "several lists ImageSets/Main/val.txt"),
    "no image": (TEST, {f"{MAIN}/test.txt": "\n"}, "test.txt: names no image"),
    "two words": (TEST, {f"{MAIN}/test.txt": "000001\n000006 1\n"}, "test.txt: line 2: '000006 1' is not the number"),
    "blank line": (TEST, {f"{MAIN}/test.txt": "000001\n\n000006\n"}, "test.txt: line 2: '' is not the number of an"),
    "image twice": (
        TEST,
        {f"{MAIN}/test.txt": "000001\n000001\n"},
        "line 2: image '000001' occurs twice or in another",
    ),
    "two parts": (TRAINVAL, {f"{MAIN}/val.txt": "000005\n"}, "val.txt: line 1: image '000005' occurs twice or in"),
    "other archive": (
        TEST,
        {f"{MAIN}/test.txt": "000001\n000007\n"},
        "test.txt: line 2: image '000007' occurs twice",
    ),
    "other value": (
        TRAINVAL,
        {CAT: "000005  2\n"},
        "cat_trainval.txt: line 1: '000005  2' is not the number of an image",
    ),
    "no value": (TRAINVAL, {CAT: "000005 -1\n000007\n"}, "cat_trainval.txt: line 2: '000007' is not the number of an"),
    "value as another text": (
        TRAINVAL,
        {CAT: "000005 +1\n"},
        "line 1: '000005 +1' is not the number of an image and -1",
    ),
    "line twice": (
        TRAINVAL,
        {CAT: "000005 -1\n000005 -1\n"},
        "cat_trainval.txt: line 2: image '000005' occurs twice",
    ),
    "missing line": (
        TRAINVAL,
        {CAT: "000005 -1\n000012 -1\n"},
        "cat_trainval.txt: image '000007' is not in it, but in train.txt or val.txt",
    ),
    "foreign line": (
        TRAINVAL,
        {CAT: "000005 -1\n000007 -1\n000012 -1\n000099  1\n"},
        "cat_trainval.txt: image '000099' is not in train.txt or val.txt",
    ),
    "no text": (TRAINVAL, {CAT: b"\xff"}, "cat_trainval.txt: line 1: not UTF-8 text"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_named(tmp_path, fault):
    archive, changes, message = FAULTS[fault]
    members = archives(PARTS, VALUES)
    members[archive] = {name: text for name, text in (members[archive] | changes).items() if text is not None}
    write(tmp_path, members)
    with pytest.raises(UserError) as error:
        read(tmp_path, Options())
    assert str(error.value).startswith(f"{tmp_path / archive}: ")
    assert message in str(error.value)
    assert len(str(error.value).splitlines()) == 1


def test_a_missing_archive_is_named(tmp_path):
    write(tmp_path, archives(PARTS))
    (tmp_path / TEST).unlink()
    with pytest.raises(UserError, match=f"{TEST}: no such file"):
        read(tmp_path, Options())
