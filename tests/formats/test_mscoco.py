import json
import tracemalloc
import zipfile
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import data_sets
from vsebench.core.errors import UserError
from vsebench.core.storage import read_json, read_parquet
from vsebench.formats.readers.mscoco import ARCHIVE, Options, read

TRAIN, VAL = "annotations/instances_train2014.json", "annotations/instances_val2014.json"
CATEGORIES = {90: "toothbrush", 1: "person", 44: "bottle"}


def content(images, annotations, categories=None):
    """Return a file with these numbers of images and (image, category) of annotations, with keys that are not read."""
    categories = CATEGORIES if categories is None else categories
    return {
        "info": {"year": 2014, "id": 7},
        "licenses": [{"id": 1, "name": "None"}],
        "images": [{"license": 1, "file_name": f"COCO_{image:012d}.jpg", "id": image} for image in images],
        "annotations": [
            {
                "segmentation": [[1.5, 2.0, 3.25]] if number else {"counts": [3, 4], "size": [2, 2]},
                "iscrowd": int(not number),
                "image_id": image,
                "category_id": category,
                "id": 1000 + number,
            }
            for number, (image, category) in enumerate(annotations)
        ],
        "categories": [{"supercategory": "x", "id": number, "name": name} for number, name in categories.items()],
    }


def write(folder, train, val):
    with zipfile.ZipFile(folder / ARCHIVE, "w") as archive:
        for name, value in ((TRAIN, train), (VAL, val), ("annotations/captions_train2014.json", "{")):
            if value is not None:
                archive.writestr(name, value if isinstance(value, str | bytes) else json.dumps(value))


TRAIN_CONTENT = content([581921, 9, 25], [(9, 44), (581921, 1), (9, 44), (581921, 90)])
VAL_CONTENT = content([42, 73], [(73, 90), (73, 1), (73, 1)])


def test_labels_counts_and_parts(tmp_path):
    write(tmp_path, TRAIN_CONTENT, VAL_CONTENT)
    found = read(tmp_path, Options())
    assert found.images.to_list() == ["9", "25", "581921", "42", "73"]
    assert found.parts.to_list() == ["train"] * 3 + ["test"] * 2
    assert found.labels == ["person", "bottle", "toothbrush"]
    assert found.pairs.rows() == [(0, 1, 2), (2, 0, 1), (2, 2, 1), (4, 0, 2), (4, 2, 1)]


def test_a_crowd_is_a_label_once(tmp_path):
    train = content([9], [(9, 44), (9, 44), (9, 1)])
    assert train["annotations"][0]["iscrowd"] == 1
    write(tmp_path, train, VAL_CONTENT)
    assert read(tmp_path, Options()).pairs.rows()[:2] == [(0, 0, 1), (0, 1, 2)]


def test_no_annotation_at_all(tmp_path):
    write(tmp_path, content([1], []), content([2], []))
    found = read(tmp_path, Options())
    assert (found.images.to_list(), found.pairs.height) == (["1", "2"], 0)


def test_images_without_a_label_are_left_out_of_the_data_set(tmp_path):
    (tmp_path / "raw").mkdir()
    write(tmp_path / "raw", TRAIN_CONTENT, VAL_CONTENT)
    assert data_sets.prepare(data_sets.described("mscoco"), tmp_path / "raw", tmp_path / "out") == 0
    images = read_parquet(tmp_path / "out" / "images.parquet")
    assert list(zip(images["id"], images["part"], strict=True)) == [("9", "train"), ("581921", "train"), ("73", "test")]
    summary = read_json(tmp_path / "out" / "summary.json")
    assert summary["mismatches"] == {
        "images": {"expected": 122_218, "found": 3},
        "labels": {"expected": 80, "found": 3},
    }


@given(st.data())
def test_what_was_written_is_read(tmp_path_factory, data):
    numbers = data.draw(st.lists(st.integers(0, 10**7), min_size=2, max_size=9, unique=True))
    split = data.draw(st.integers(1, len(numbers) - 1))
    names = st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=5)
    categories = data.draw(st.dictionaries(st.integers(0, 99), names, min_size=1, max_size=6))
    categories = {number: f"{name} {number}" for number, name in categories.items()}
    folder = tmp_path_factory.mktemp("raw")
    drawn = []
    for images in (numbers[:split], numbers[split:]):
        pairs = st.tuples(st.sampled_from(images), st.sampled_from(sorted(categories)))
        drawn.append(data.draw(st.lists(pairs, max_size=20)))
    write(folder, content(numbers[:split], drawn[0], categories), content(numbers[split:], drawn[1], categories))
    found = read(folder, Options())
    assert found.images.to_list() == [str(image) for image in sorted(numbers[:split]) + sorted(numbers[split:])]
    assert found.labels == [categories[number] for number in sorted(categories)]
    counts = {(int(found.images[image]), found.labels[label]): count for image, label, count in found.pairs.rows()}
    assert counts == Counter((image, categories[category]) for image, category in drawn[0] + drawn[1])


def changed(**changes):
    return VAL_CONTENT | changes


def with_annotation(**changes):
    return changed(annotations=[*VAL_CONTENT["annotations"], {"id": 7, "image_id": 42, "category_id": 1} | changes])


KNOWN = VAL_CONTENT["categories"]
FAULTS = {
    "no file": (None, "contains no instances_val2014.json; is it the official archive?"),
    "no text": (b"\xff{}", "instances_val2014.json: not readable JSON ('utf-8'"),
    "no JSON": (json.dumps(VAL_CONTENT)[:-1], "instances_val2014.json: not readable JSON (Expecting"),
    "deep nesting": ("[" * 10**5, "instances_val2014.json: not readable JSON (maximum recursion depth"),
    "key twice": ('{"images": [], "images": []}', "not readable JSON (an object has a duplicate key)"),
    "other JSON": ([VAL_CONTENT], "instances_val2014.json: is not an object with a list 'images' of objects"),
    "no list": (changed(annotations={}), "is not an object with a list 'annotations' of objects"),
    "list of others": (changed(categories=[1]), "is not an object with a list 'categories' of objects"),
    "no image": (changed(images=[]), "instances_val2014.json: has no images"),
    "no category": (changed(categories=[]), "instances_val2014.json: has no categories"),
    "image without id": (changed(images=[{"id": 1}, {}]), "images: entry 2: the id None is not a whole number"),
    "id as text": (changed(images=[{"id": "1"}]), "images: entry 1: the id '1' is not a whole number"),
    "id as truth": (changed(images=[{"id": True}]), "images: entry 1: the id True is not a whole number"),
    "image twice": (changed(images=[{"id": 1}, {"id": 1}]), "images: entry 2: the id 1 is also that of entry 1"),
    "annotation twice": (with_annotation(id=1001), "annotations: entry 4: the id 1001 is also that of entry 2"),
    "unknown image": (with_annotation(image_id=9), "annotations: entry 4: image_id 9 is not the id of any image"),
    "fraction": (with_annotation(image_id=42.0), "annotations: entry 4: image_id 42.0 is not the id of any image"),
    "gap of categories": (
        with_annotation(category_id=2),
        "annotations: entry 4: category_id 2 is not the id of any category",
    ),
    "list as id": (
        with_annotation(category_id=[1]),
        "annotations: entry 4: category_id [1] is not the id of any category",
    ),
    "name": (changed(categories=[{"id": 1, "name": "a\ud800"}]), r"entry 1: the name 'a\ud800' is not printable text"),
    "name twice": (changed(categories=[*KNOWN, {"id": 2, "name": "bottle"}]), "duplicate category 'bottle' (2 times)"),
    "other categories": (
        changed(categories=[*KNOWN, {"id": 2, "name": "x"}]),
        "differ from those of instances_train2014",
    ),
    "image of both": (
        changed(images=[{"id": 42}, {"id": 73}, {"id": 25}]),
        "image 25 is also in instances_train2014.json",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_named(tmp_path, fault):
    val, message = FAULTS[fault]
    write(tmp_path, TRAIN_CONTENT, val)
    with pytest.raises(UserError) as error:
        read(tmp_path, Options())
    assert str(error.value).startswith(f"{tmp_path / ARCHIVE}: ")
    assert message in str(error.value)
    assert len(str(error.value).splitlines()) == 1


def test_outlines_do_not_stay_in_memory(tmp_path):
    """200,000 numbers of outlines take 6 MB as Python's own; what is left of each annotation a few hundred bytes."""
    train = content([9], [(9, 1)] * 200)
    for annotation in train["annotations"]:
        annotation["segmentation"] = [[number + 0.5 for number in range(1000)]]
    write(tmp_path, train, VAL_CONTENT)
    size = len(json.dumps(train))
    tracemalloc.start()
    read(tmp_path, Options())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3 * size + 10**6


def test_the_real_files_of_2017(mirror, tmp_path):
    path = mirror.parent / "formats" / "coco" / "instances_val2017.json"
    if not path.is_file():
        pytest.skip(f"beside VSEBENCH_MIRROR there is no formats/coco/{path.name}")
    given = json.loads(path.read_bytes())
    images = sorted(image["id"] for image in given["images"])
    halves = []
    for part in (images[:30], images[30:]):
        of_part = {"images": [image for image in given["images"] if image["id"] in part]}
        halves.append(given | of_part | {"annotations": [a for a in given["annotations"] if a["image_id"] in part]})
    write(tmp_path, *halves)
    found = read(tmp_path, Options())
    assert (len(found.images), len(found.labels), found.labels[-1]) == (50, 80, "toothbrush")
    assert (found.pairs.height, found.pairs["count"].sum(), found.pairs["label"].n_unique()) == (172, 404, 64)
    without = np.bincount(found.pairs["image"], minlength=50) == 0
    assert sorted(found.images.filter(without)) == ["226111", "58636"]
    assert found.parts.to_list() == ["train"] * 30 + ["test"] * 20
