"""A partition of one's own: files of image ids, or a column of the table."""

import polars as pl
import pytest

from vsebench.config.dataset import Partition
from vsebench.core.errors import UserError
from vsebench.core.yaml_files import check
from vsebench.formats.annotations import RawAnnotations
from vsebench.formats.partition import apply_partition
from vsebench.formats.readers import table

IMAGES = ["a", "b", "c", "d"]


def divide(folder, monkeypatch, **parts):
    """Write a file of ids per part, and return the parts of the images."""
    monkeypatch.chdir(folder)
    for part, ids in parts.items():
        (folder / f"{part}.txt").write_text("\n".join(ids) + "\n")
    pairs = pl.DataFrame({"image": [0], "label": [0], "count": [1]})
    annotations = RawAnnotations(pl.Series(IMAGES), ["x"], pairs)
    partition = Partition(**{part: f"{part}.txt" for part in parts})
    return apply_partition(annotations, partition, folder, "mine: partition")


def test_images_in_no_file_are_for_training_unless_there_is_a_file_for_these(tmp_path, monkeypatch):
    divided = divide(tmp_path, monkeypatch, test=["d", "b", "stranger"])
    assert divided.parts.to_list() == ["train", "test", "train", "test"]
    assert [(entry.what, entry.number) for entry in divided.dropped] == [("ids", 1)]
    divided = divide(tmp_path, monkeypatch, train=["a"], valid=["c"], test=["d"])
    assert divided.parts.to_list() == ["train", None, "valid", "test"]


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"valid": ["a"], "test": ["a", "b"]}, "'a' is in .*test.txt and also in the part 'valid'"),
        ({"test": ["e"]}, r"test.txt: no id belongs to an image of the data set; ids in the file look like \['e'\]"),
        ({"test": ["a", "a"]}, "the image 'a' occurs 2 times"),
    ],
)
def test_a_mistake_names_the_file(tmp_path, monkeypatch, parts, message):
    with pytest.raises(UserError, match=message):
        divide(tmp_path, monkeypatch, **parts)


def read(folder, text, **options):
    (folder / "t.csv").write_text(text)
    values = {"pairs": str(folder / "t.csv"), "part": "split", **options}
    return table.read(folder, check(table.Options, values, "t"))


def test_a_column_names_the_part_of_each_image(tmp_path):
    annotations = read(tmp_path, "image,label,split\nb,x,test\na,x,Train\na,y,train\nc,y,val\n")
    assert annotations.images.to_list() == ["a", "b", "c"]
    assert annotations.parts.to_list() == ["train", "test", "valid"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("image,label,split\na,x,train\na,y,test\n", "line 3: split: 'a' is in 'test' here, but in 'train'"),
        ("image,label,split\na,x,trian\n", "line 2: split: 'trian' is not a part; use train, valid or test"),
        ("image,label,split\na,x,train\n", "split: no image is in the part 'test'"),
        ("image,label\na,x\n", "no column 'split'"),
    ],
)
def test_a_mistake_in_the_column_names_the_line(tmp_path, text, message):
    with pytest.raises(UserError, match=message):
        read(tmp_path, text)
