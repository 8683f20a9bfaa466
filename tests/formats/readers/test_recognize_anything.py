"""The labels of Recognize Anything: lines of an image and its labels; malformed files and the real ones."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import data_sets
from vsebench.core.errors import UserError
from vsebench.formats.readers import recognize_anything
from vsebench.formats.readers.recognize_anything import Options


def read(folder, annotations, labels="sky\ntree\npalm tree\n"):
    (folder / "a.txt").write_text(annotations, encoding="utf-8")
    (folder / "l.txt").write_text(labels, encoding="utf-8")
    return recognize_anything.read(folder, Options(annotations="a.txt", labels="l.txt"))


def labels_of(found):
    """Return the labels of each image by its id."""
    by_image = {image: [] for image in found.images}
    for image, label, count in found.pairs.iter_rows():
        assert count == 1
        by_image[found.images[image]].append(found.labels[label])
    return by_image


def test_images_are_in_the_order_of_the_file_and_may_have_no_label(tmp_path):
    found = read(tmp_path, "test/02,tree\ntest/01.jpg,palm tree,sky\n03\n")
    assert found.images.to_list() == ["02", "01", "03"]
    assert labels_of(found) == {"02": ["tree"], "01": ["sky", "palm tree"], "03": []}
    assert found.parts is None


names = st.text(st.characters(codec="utf-8", categories=["L", "N", "S"]), min_size=1)


@given(st.lists(names, min_size=1, max_size=5, unique=True), st.data())
def test_what_was_written_is_read(tmp_path_factory, labels, data):
    images = data.draw(st.lists(st.lists(st.sampled_from(labels), unique=True), min_size=1, max_size=6))
    lines = [",".join([f"test/{number:03}", *of_image]) for number, of_image in enumerate(images)]
    found = read(tmp_path_factory.mktemp("ram"), "\n".join([*lines, ""]), "\n".join([*labels, ""]))
    assert list(found.labels) == labels
    assert [set(of_image) for of_image in labels_of(found).values()] == [set(of_image) for of_image in images]


@pytest.mark.parametrize(
    ("annotations", "labels", "message"),
    [
        ("test/1,sea\n", "sky\n", r"a\.txt: line 1: 'sea' is not in l\.txt"),
        ("test/1,\n", "sky\n", r"a\.txt: line 1: '' is not in l\.txt"),
        ("test/1\n\ntest/2,sky\n", "sky\n", r"a\.txt: line 2: the image has an empty name"),
        ("test/1,sky,sky\n", "sky\n", r"a\.txt: line 1: the label 'sky' occurs 2 times"),
        ("test/1,sky\nother/1.png,sky\n", "sky\n", r"a\.txt: the image '1' occurs 2 times"),
        ("test/1,sky\n", "sky\n\ntree\n", r"l\.txt: line 2: the label has an empty name"),
        ("test/1\x07,sky\n", "sky\n", r"a\.txt: line 1: the image '1\\x07' contains '\\x07'"),
        ("test/1,sky\n", "sky\ntr", r"l\.txt: has no line break at its end, so a part of it may be missing"),
        ("test/1,sky\ntest/2,tree,s", "sky\ntree\ns\n", r"a\.txt: has no line break at its end"),
        ("test/1,sky\n", "sky\nsky\n", r"l\.txt: the label 'sky' occurs 2 times"),
    ],
)
def test_a_malformed_line_is_named(tmp_path, annotations, labels, message):
    with pytest.raises(UserError, match=message):
        read(tmp_path, annotations, labels)


def test_a_missing_file_is_one_line(tmp_path):
    with pytest.raises(UserError, match=r"l\.txt: No such file or directory; run the download stage"):
        recognize_anything.read(tmp_path, Options(annotations="a.txt", labels="l.txt"))


@pytest.mark.parametrize(("name", "without"), [("openimages-common214", 157), ("openimages-rare200", 0)])
def test_counts_of_the_real_files(mirror, name, without):
    config, folder = data_sets.described(name), Path(mirror).parent / "openimages"
    for file in config.files:
        if not (folder / file.name).is_file():
            pytest.skip(f"beside VSEBENCH_MIRROR there is no openimages/{file.name}")
        assert (folder / file.name).stat().st_size == file.size
    found = recognize_anything.read(folder, Options(**config.options))
    counts = len(found.images), found.pairs["label"].n_unique(), len(found.pairs)
    assert counts == (config.expected.images, config.expected.labels, config.expected.pairs)
    assert len(found.images) - found.pairs["image"].n_unique() == without
