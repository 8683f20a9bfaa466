"""ILSVRC 2010 with visual words, on small files of the official layout."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import data_sets
from tests.formats.ilsvrc2010_files import KIT, TEST_TRUTH, VALID_TRUTH, mat, meta_mat, sbow_mat, synset, write_tar
from tests.stages.small import split as run_split
from vsebench.core.errors import UserError
from vsebench.core.storage import read_json, read_parquet
from vsebench.core.yaml_files import check
from vsebench.data.features import read_features
from vsebench.formats.readers.ilsvrc2010 import Options, read

DOG, CAT = "n02084071", "n02121808"
ENTITY = synset(3, "n00001740", "entity", children=[1, 2])
OPTIONS = Options(archives=["words.tar"], features="sparse")


def kit(**changes):
    """Return the kit's files: two labels, of which the second has the smaller WNID."""
    files = {
        "meta.mat": meta_mat([synset(1, CAT, "domestic  cat, house cat", 2), synset(2, DOG, "dog", 3), ENTITY]),
        VALID_TRUTH: b"2\n1\n",
        TEST_TRUTH: b"1\r\n1\r\n2",
    }
    return {f"devkit-1.0/data/{name}": data for name, data in (files | changes).items() if data is not None}


def words(**changes):
    """Return the archive's files; images are in no order."""
    files = {
        f"{DOG}.sbow.mat": sbow_mat([(f"{DOG}_10", [5, 5]), (f"{DOG}_9", [0]), (f"{DOG}_700", [999, 1, 999])]),
        f"{CAT}.sbow.mat": sbow_mat([(f"{CAT}_2", []), (f"{CAT}_1", [3])]),
        "val.0002.sbow.mat": sbow_mat([("ILSVRC2010_val_00000001", [7])]),
        "val.0001.sbow.mat": sbow_mat([("ILSVRC2010_val_00000002", [8, 8, 8])]),
        "test.0001.sbow.mat": sbow_mat([(f"ILSVRC2010_test_{i:08}", [i]) for i in (3, 1, 2)]),
        "n00001740.sbow.mat": b"of another synset, so not read",
        "README.txt": b"?",
    }
    return {f"some/folder/{name}": data for name, data in (files | changes).items() if data is not None}


def write(folder, of_kit, of_words):
    write_tar(folder / KIT, of_kit)
    write_tar(folder / "words.tar", of_words)


def test_images_labels_and_words(tmp_path):
    write(tmp_path, kit(), words())
    found = read(tmp_path, OPTIONS)
    assert found.images.to_list() == [
        *(f"{CAT}_1", f"{CAT}_2", f"{DOG}_9", f"{DOG}_10", f"{DOG}_700"),
        *("ILSVRC2010_val_00000001", "ILSVRC2010_val_00000002"),
        *(f"ILSVRC2010_test_{i:08}" for i in (1, 2, 3)),
    ]
    assert found.labels == [f"{CAT} domestic cat", f"{DOG} dog"]
    assert found.parts.to_list() == ["train"] * 5 + ["valid"] * 2 + ["test"] * 3
    assert found.pairs["label"].to_list() == [0, 0, 1, 1, 1, 1, 0, 0, 0, 1]
    assert found.pairs["image"].to_list() == list(range(10))
    assert set(found.pairs["count"]) == {1}
    counts = found.features.values
    assert (counts.shape, counts.dtype, counts.indices.dtype) == ((10, 1000), np.float32, np.int32)
    entries = [(3, 1), None, (0, 1), (5, 2), [(1, 1), (999, 2)], (7, 1), (8, 3), (1, 1), (2, 1), (3, 1)]
    expected = np.zeros((10, 1000))
    for image, entry in enumerate(entries):
        for word, times in [entry] if isinstance(entry, tuple) else entry or []:
            expected[image, word] = times
    assert np.array_equal(counts.toarray(), expected)
    assert found.features.known.all()  # also the image without a descriptor
    assert found.dropped == []


@st.composite
def collections(draw):
    """Draw the words of each image: of labels, and of validation and test with their labels."""
    bag = st.lists(st.integers(0, 999), max_size=6)
    training = draw(st.lists(st.dictionaries(st.integers(0, 10**9 - 1), bag, max_size=4), min_size=1, max_size=4))
    others = st.lists(st.tuples(bag, st.integers(1, len(training))), min_size=1, max_size=6)
    return training, {"val": draw(others), "test": draw(others)}


@given(collections(), st.data())
def test_what_was_written_is_read(tmp_path_factory, collection, data):
    training, others = collection
    folder, compressed = tmp_path_factory.mktemp("raw"), data.draw(st.booleans())
    dtype = data.draw(st.sampled_from([np.int16, np.uint16, np.float64, np.uint32]))
    synsets = [synset(i, f"n{9 * i:08}", f"word {i}", len(bags)) for i, bags in enumerate(training, 1)]
    files = {}
    for i, bags in enumerate(training, 1):
        images = data.draw(st.permutations([(f"n{9 * i:08}_{number}", bag) for number, bag in bags.items()]))
        files[f"n{9 * i:08}.sbow.mat"] = sbow_mat(images, compressed, dtype) if images else no_images()
    for part, images in others.items():
        named = [(f"ILSVRC2010_{part}_{i:08}", bag) for i, (bag, _) in enumerate(images, 1)]
        cut = data.draw(st.integers(1, len(named)))
        named = data.draw(st.permutations(named))
        pieces = [piece for piece in (named[:cut], named[cut:]) if piece]
        files |= {f"{part}.{n:04}.sbow.mat": sbow_mat(piece, compressed, dtype) for n, piece in enumerate(pieces, 1)}
    truths = {name: "\n".join(str(label) for _, label in others[part]).encode() for part, name in TRUTHS.items()}
    write_tar(folder / KIT, {"meta.mat": meta_mat(data.draw(st.permutations(synsets)), compressed)} | truths)
    names = data.draw(st.permutations(sorted(files)))
    in_first = data.draw(st.integers(0, len(names)))
    write_tar(folder / "a.tar", {name: files[name] for name in names[:in_first]} | {"z": b""})
    write_tar(folder / "b.tar.gz", {f"x/{name}": files[name] for name in names[in_first:]} | {"z": b""})
    found = read(folder, Options(archives=["a.tar", "b.tar.gz"], features="sparse"))

    bags = [bag for of_label in training for _, bag in sorted(of_label.items())]
    bags += [bag for images in others.values() for bag, _ in images]
    labels = [label for label, of_label in enumerate(training) for _ in of_label]
    labels += [label - 1 for images in others.values() for _, label in images]
    assert found.pairs["label"].to_list() == labels
    assert found.features.values.toarray().tolist() == [np.bincount(bag, minlength=1000).tolist() for bag in bags]
    assert found.images.n_unique() == len(bags)
    assert found.parts.value_counts().sort("part").rows() == sorted(
        (part, n)
        for part, n in (
            ("train", sum(map(len, training))),
            ("valid", len(others["val"])),
            ("test", len(others["test"])),
        )
        if n
    )


TRUTHS = {"val": VALID_TRUTH, "test": TEST_TRUTH}


def no_images():
    return mat({"image_sbow": np.empty((0, 0), dtype=[("ID", object), ("sbow", object)])})


def test_a_ground_truth_may_be_in_an_archive_of_words(tmp_path):
    write(tmp_path, kit(**{TEST_TRUTH: None}), words(**{TEST_TRUTH: b"1\n1\n2\n"}))
    assert read(tmp_path, OPTIONS).pairs["label"].to_list()[-3:] == [0, 0, 1]


def test_training_images_without_words_are_noted(tmp_path):
    write(tmp_path, kit(), words(**{f"{DOG}.sbow.mat": sbow_mat([(f"{DOG}_1", [5])])}))
    found = read(tmp_path, OPTIONS)
    assert len(found.images) == 8
    assert [tuple(entry) for entry in found.dropped] == [
        ("training images", 2, "counted by meta.mat, but without visual words")
    ]


def images_of(*bags, prefix=DOG):
    return sbow_mat([(f"{prefix}_{i}", bag) for i, bag in enumerate(bags)])


def one(**changes):
    """Return meta.mat with a changed first synset."""
    return meta_mat([synset(1, CAT, "cat", 2) | changes, synset(2, DOG, "dog", 3), ENTITY])


DOGS, VAL, TEST = f"{DOG}.sbow.mat", "val.0001.sbow.mat", "test.0001.sbow.mat"
OF_KIT = {
    "no kit's data": ({"meta.mat": None}, "contains no meta.mat; is it the official archive?"),
    "no MATLAB file": ({"meta.mat": b"?"}, "meta.mat: not a MATLAB file as expected: SciPy cannot read it"),
    "no synsets": ({"meta.mat": mat({"x": 1.0})}, "meta.mat: not a MATLAB file as expected: there is no variable 'syn"),
    "a field missing": (
        {"meta.mat": meta_mat([{"WNID": DOG, "words": "dog"}])},
        "meta.mat: not a MATLAB file as expected: synsets has no field 'ILSVRC2010_ID'",
    ),
    "id twice": ({"meta.mat": one(ILSVRC2010_ID=2.0)}, "meta.mat: synset 2: ILSVRC2010_ID: 2 occurs twice"),
    "ids with a gap": ({"meta.mat": one(ILSVRC2010_ID=7.0)}, "meta.mat: the ids of the 2 synsets without children are"),
    "no whole id": ({"meta.mat": one(ILSVRC2010_ID=1.5)}, "meta.mat: synset 1: ILSVRC2010_ID: is not one whole number"),
    "id that is text": ({"meta.mat": one(ILSVRC2010_ID="1")}, "meta.mat: synset 1: ILSVRC2010_ID: is not one whole"),
    "WNID": ({"meta.mat": one(WNID="../dog")}, "meta.mat: synset 1: WNID: '../dog' is not n and eight digits"),
    "WNID twice": ({"meta.mat": one(WNID=DOG)}, f"meta.mat: duplicate WNID '{DOG}' (2 times)"),
    "no words": ({"meta.mat": one(words="")}, "meta.mat: synset 1: words: '' does not begin with a word"),
    "no label": (
        {"meta.mat": meta_mat([ENTITY])},
        "meta.mat: the ids of the 0 synsets without children are not 1 to 0",
    ),
    "no ground truth": ({TEST_TRUTH: None}, f"contains no {TEST_TRUTH}, nor does any archive of visual words"),
    "id beyond": ({VALID_TRUTH: b"2\n3\n"}, f"{VALID_TRUTH}: line 2: '3' is not the id of a label, 1 to 2"),
    "id below": ({TEST_TRUTH: b"0\n1\n1\n"}, f"{TEST_TRUTH}: line 1: '0' is not the id of a label, 1 to 2"),
    "id that is a word": ({TEST_TRUTH: b"1\ndog\n1\n"}, f"{TEST_TRUTH}: line 2: 'dog' is not the id of a label"),
    "empty ground truth": ({TEST_TRUTH: b"\n"}, f"{TEST_TRUTH}: is empty"),
    "longer ground truth": (
        {VALID_TRUTH: b"1\n1\n2\n1\n"},
        f"{VALID_TRUTH}: has 4 lines, but no val.*.sbow.mat has image 3 and 1 others",
    ),
}
OF_WORDS = {
    "shorter ground truth": (
        {TEST: sbow_mat([(f"ILSVRC2010_test_{i:08}", [i]) for i in (1, 2, 3, 4)])},
        f"words.tar: {TEST}: has the image ILSVRC2010_test_00000004, but ",
    ),
    "image in two files": (
        {VAL: sbow_mat([("ILSVRC2010_val_00000001", [7])])},
        "words.tar: val.0002.sbow.mat: the image ILSVRC2010_val_00000001 also occurs in ",
    ),
    "synset missing": ({DOGS: None}, f": there is no {DOGS} in words.tar"),
    "synsets missing": (
        {DOGS: None, f"{CAT}.sbow.mat": None},
        f": there is no {CAT}.sbow.mat and 1 others like it in words.tar",
    ),
    "ground truth twice": ({TEST_TRUTH: b"1\n1\n2\n"}, f"words.tar: contains {TEST_TRUTH}, which also occurs earlier"),
    "file twice": ({f"again/{DOGS}": images_of([1])}, f"words.tar: contains {DOGS}, which also occurs earlier"),
    "too many images": (
        {DOGS: images_of([], [], [], [])},
        f"words.tar: {DOGS}: has 4 images, but meta.mat counts 3 to train on",
    ),
    "image twice": (
        {DOGS: sbow_mat([(f"{DOG}_1", [1]), (f"{DOG}_2", []), (f"{DOG}_1", [])])},
        f"words.tar: {DOGS}: the image {DOG}_1 occurs twice",
    ),
    "image of another synset": (
        {DOGS: images_of([1], prefix=CAT)},
        f"words.tar: {DOGS}: the image id '{CAT}_0' should be {DOG}_ and a number",
    ),
    "test image in training": (
        {DOGS: sbow_mat([("ILSVRC2010_test_00000001", [1])])},
        f"words.tar: {DOGS}: the image id 'ILSVRC2010_test_00000001' should be {DOG}_ and",
    ),
    "word beyond": ({DOGS: images_of([1, 1000])}, f"words.tar: {DOGS}: {DOG}_0: the word 1000 is not one of 0 to 999"),
    "word below": ({DOGS: images_of([1], [-1])}, f"words.tar: {DOGS}: {DOG}_1: the word -1 is not one of 0 to 999"),
    "part of a word": (
        {DOGS: sbow_mat([(f"{DOG}_0", [1.5])], dtype=np.float32)},
        f"words.tar: {DOGS}: {DOG}_0: the word 1.5 is not one of 0 to 999",
    ),
    "not a number": (
        {DOGS: sbow_mat([(f"{DOG}_0", [np.nan, np.inf])], dtype=np.float32)},
        f"words.tar: {DOGS}: {DOG}_0: the word nan is not one of 0 to 999",
    ),
    "cells in place of structs": (
        {DOGS: mat({"image_sbow": [{"ID": f"{DOG}_0", "sbow": {"word": "12"}}]})},
        f"words.tar: {DOGS}: not a MATLAB file as expected: image_sbow is not a struct",
    ),
    "another variable": (
        {DOGS: mat({"image_vldsift": np.eye(2)})},
        f"words.tar: {DOGS}: not a MATLAB file as expected: there is no variable 'image_sbow'",
    ),
    "no MATLAB file": ({DOGS: b"<html>"}, f"words.tar: {DOGS}: not a MATLAB file as expected: SciPy cannot read it"),
    "cut off": (
        {DOGS: images_of([1, 2, 3])[:-20]},
        f"words.tar: {DOGS}: not a MATLAB file as expected: SciPy cannot read it",
    ),
    "no field": (
        {DOGS: mat({"image_sbow": {"ID": f"{DOG}_0", "sbow": {"x": 1.0}}})},
        f"words.tar: {DOGS}: not a MATLAB file as expected: image_sbow(1).sbow has no field 'word'",
    ),
    "words that are text": (
        {DOGS: mat({"image_sbow": {"ID": f"{DOG}_0", "sbow": {"word": "12"}}})},
        f"words.tar: {DOGS}: {DOG}_0: sbow: should be one struct with numbers, but has 1 structs or text",
    ),
}
FAULTS = [*(("kit", *fault) for fault in OF_KIT.values()), *(("words", *fault) for fault in OF_WORDS.values())]


@pytest.mark.parametrize(("where", "changes", "message"), FAULTS, ids=[*OF_KIT, *OF_WORDS])
def test_a_fault_is_one_line_that_names_the_file(tmp_path, where, changes, message):
    write(tmp_path, kit(**(changes if where == "kit" else {})), words(**(changes if where == "words" else {})))
    with pytest.raises(UserError) as error:
        read(tmp_path, OPTIONS)
    assert message in str(error.value)
    assert str(error.value).startswith(f"{tmp_path / KIT}: " if where == "kit" else str(tmp_path))
    assert "\n" not in str(error.value)


def test_an_archive_that_is_not_there_is_named(tmp_path):
    write_tar(tmp_path / KIT, kit())
    with pytest.raises(UserError, match=r"words\.tar: no such file"):
        read(tmp_path, OPTIONS)


def test_the_data_set_is_prepared_and_split(tmp_path):
    """The configuration's own data set on small files of the names in it: from `prepare` to the protocol `official`."""
    config = data_sets.described("imagenet2010")
    assert [KIT, *check(Options, config.options, "here").archives] == [file.name for file in config.files]
    raw, out = tmp_path / "raw", tmp_path / "processed"
    raw.mkdir()
    write_tar(raw / KIT, kit())
    for name, start in zip(config.options["archives"], ("n", "val", "test"), strict=True):
        write_tar(
            raw / name, {f"a/{file}": data for file, data in words().items() if file.split("/")[-1].startswith(start)}
        )
    assert data_sets.download(config, raw) == 0
    assert data_sets.prepare(config, raw, out) == 0
    assert read_json(out / "summary.json")["mismatches"]["images"] == {"expected": 1461406, "found": 10}
    images = read_parquet(out / "images.parquet")
    features = read_features(out / config.features_name, images["has_features"].to_numpy())
    assert features.values.sum(axis=1).tolist() == [1, 0, 1, 2, 3, 1, 3, 1, 1, 1]

    assert run_split(out, "official") == 0
    labels = {part: read_parquet(out / f"split/{part}.parquet").rows() for part in ("train", "valid", "test")}
    assert labels == {
        "train": [(0, 0, 1), (1, 0, 1), (2, 1, 1), (3, 1, 1), (4, 1, 1)],
        "valid": [(5, 1, 1), (6, 0, 1)],
        "test": [(7, 0, 1), (8, 0, 1), (9, 1, 1)],
    }


def test_the_counts_of_the_challenge_are_expected():
    expected = data_sets.described("imagenet2010").expected
    assert expected.images == expected.pairs == 1_261_406 + 50_000 + 150_000
    assert expected.labels == 1000
