import json
import tracemalloc
import zipfile
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import data_sets
from vsebench.core.errors import UserError
from vsebench.core.storage import read_json
from vsebench.formats.readers.visual_genome import IMAGES, OBJECTS, Options, read


def of_images(*numbers):
    """Return `image_data.json`, with keys that are not read."""
    return [{"image_id": number, "width": 800, "coco_id": None, "url": f"{number}.jpg"} for number in numbers]


def of_objects(content):
    """Return `objects.json` with these (synsets, names) of the objects of each image, and keys that are not read."""
    return [
        {
            "image_id": number,
            "objects": [
                {"object_id": 9, "merged_object_ids": [7], "x": 0, "h": 5, "synsets": synsets, "names": names}
                for synsets, names in objects
            ],
            "image_url": f"{number}.jpg",
        }
        for number, objects in content.items()
    ]


def write(folder, images, objects):
    for name, value in ((IMAGES, images), (OBJECTS, objects)):
        with zipfile.ZipFile(folder / f"{name}.zip", "w") as archive:
            if value is not None:
                archive.writestr(name, value if isinstance(value, str | bytes) else json.dumps(value))


TREE, MAN = (["tree.n.01"], ["trees"]), (["man.n.01"], [" man "])
CONTENT = {7: [TREE, MAN, TREE], 2: [([], ["lamp post"]), (["man.n.01", "coat.n.01", "man.n.01"], ["man"])]}


def counts_of(found):
    return {(found.images[image], found.labels[label]): count for image, label, count in found.pairs.rows()}


def test_labels_are_synsets(tmp_path):
    write(tmp_path, of_images(7, 10, 2), of_objects(CONTENT))
    found = read(tmp_path, Options())
    assert found.images.to_list() == ["2", "7", "10"]
    assert found.labels == ["coat.n.01", "man.n.01", "tree.n.01"]
    assert found.pairs.rows() == [(0, 0, 1), (0, 1, 1), (1, 1, 1), (1, 2, 2)]
    assert found.parts is None
    assert found.dropped == [("objects", 1, "without synsets")]


def test_labels_are_names(tmp_path):
    write(tmp_path, of_images(7, 10, 2), of_objects(CONTENT))
    found = read(tmp_path, Options(labels="names"))
    assert counts_of(found) == {("2", "lamp post"): 1, ("2", "man"): 1, ("7", "man"): 1, ("7", "trees"): 2}
    assert not found.dropped


def test_images_without_an_object_are_left_out_of_the_data_set(tmp_path):
    (tmp_path / "raw").mkdir()
    write(tmp_path / "raw", of_images(*range(30)), of_objects({number: [TREE] for number in range(25)}))
    assert data_sets.prepare(data_sets.described("visual-genome"), tmp_path / "raw", tmp_path / "out") == 0
    counts = read_json(tmp_path / "out" / "summary.json")["counts"]
    assert (counts["images"], counts["labels"], counts["pairs"]) == (25, 1, 25)


@given(st.data())
def test_what_was_written_is_read(tmp_path_factory, data):
    images = data.draw(st.lists(st.integers(0, 10**7), min_size=1, max_size=6, unique=True))
    names = st.lists(st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=3), max_size=3)
    objects = st.lists(st.tuples(names, names), max_size=4)
    content = data.draw(st.fixed_dictionaries(dict.fromkeys(images, objects)))
    key = data.draw(st.sampled_from(["synsets", "names"]))
    chosen = {
        image: [dict(zip(("synsets", "names"), one, strict=True))[key] for one in content[image]] for image in images
    }
    expected = Counter((str(image), name) for image in images for one in chosen[image] for name in set(one))
    folder = tmp_path_factory.mktemp("raw")
    write(folder, of_images(*images), of_objects(content))
    if not expected:
        with pytest.raises(UserError, match=f"no object has any {key}"):
            read(folder, Options(labels=key))
        return
    found = read(folder, Options(labels=key))
    assert counts_of(found) == expected
    assert found.images.to_list() == [str(image) for image in sorted(images)]
    assert found.labels == sorted({name for _, name in expected})


OBJECT = of_objects({1: [TREE]})
FAULTS = {
    "no file": (None, "contains no objects.json; is it the official archive?"),
    "no text": (b"\xff[]", "objects.json: not readable JSON ('utf-8'"),
    "no JSON": (json.dumps(OBJECT)[:-1], "objects.json: not readable JSON (Expecting"),
    "deep nesting": ("[" * 10**5, "objects.json: not readable JSON (maximum recursion depth"),
    "key twice": ('[{"image_id": 1, "image_id": 1}]', "not readable JSON (an object has a duplicate key)"),
    "no list": ({"image_id": 1}, "objects.json: is not a list of images"),
    "no image": ([], "objects.json: is not a list of images"),
    "number": ([7], "entry 1: is not an object with a whole number 'image_id'"),
    "text": ([{"image_id": "1"}], "entry 1: is not an object with a whole number 'image_id'"),
    "truth": ([{"image_id": True}], "entry 1: is not an object with a whole number 'image_id'"),
    "image twice": ([*OBJECT, *OBJECT], "entry 2: image 1 occurs earlier"),
    "unknown image": (of_objects({1: [TREE], 3: []}), "image 3 is not in image_data.json"),
    "no objects": ([{"image_id": 1}], "image 1: has no list 'objects'"),
    "object": ([{"image_id": 1, "objects": [[]]}], "image 1: object 1 has no list 'synsets'"),
    "one text": (of_objects({1: [("tree.n.01", [])]}), "image 1: object 1 has no list 'synsets'"),
    "empty": (of_objects({1: [TREE, ([" "], [])]}), "image 1: object 2: ' ' is not printable text"),
    "half a pair": (of_objects({1: [(["a\ud800"], [])]}), r"image 1: object 1: 'a\ud800' is not printable text"),
    "no label": (of_objects({1: [([], ["tree"])]}), "objects.json: no object has any synsets"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_named(tmp_path, fault):
    objects, message = FAULTS[fault]
    write(tmp_path, of_images(1), objects)
    with pytest.raises(UserError) as error:
        read(tmp_path, Options())
    assert str(error.value).startswith(f"{tmp_path / OBJECTS}.zip: ")
    assert message in str(error.value)
    assert len(str(error.value).splitlines()) == 1


def test_a_fault_of_the_list_of_images_names_its_archive(tmp_path):
    write(tmp_path, [{"image_id": 1}, {"image_id": 1}], OBJECT)
    with pytest.raises(UserError) as error:
        read(tmp_path, Options())
    assert str(error.value) == f"{tmp_path / IMAGES}.zip: image_data.json: entry 2: image 1 occurs earlier"


def test_boxes_do_not_stay_in_memory(tmp_path):
    objects = of_objects({1: [TREE] * 20})
    for entry in objects[0]["objects"]:
        entry["merged_object_ids"] = [number + 0.5 for number in range(10_000)]
    write(tmp_path, of_images(1), objects)
    size = len(json.dumps(objects))
    tracemalloc.start()
    read(tmp_path, Options())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3 * size + 10**6


def test_the_first_images_of_the_real_file(mirror, tmp_path):
    """Image 1 is also one of the 10,000 of VG-500, which has its synsets' words as labels."""
    path = mirror.parent / "formats" / "visualgenome" / "objects.json"
    if not path.is_file():
        pytest.skip(f"beside VSEBENCH_MIRROR there is no formats/visualgenome/{path.name}")
    write(tmp_path, of_images(1, 2), path.read_bytes())
    found = read(tmp_path, Options())
    counts = counts_of(found)
    assert sum(counts.values()) == 31 + 25 - 4
    assert found.dropped == [("objects", 4, "without synsets")]
    assert counts["1", "tree.n.01"] == 2
    words = {label.partition(".")[0].replace("_", " ") for image, label in counts if image == "1"}
    samples = json.loads((mirror / "vg500_test.json").read_bytes())["samples"]
    (labels,) = (sample["image_labels"] for sample in samples if sample["image_name"] == "1.jpg")
    assert {label.partition(" (")[0] for label in labels} == words - {"chin", "parking meter"}
