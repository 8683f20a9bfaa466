"""ILSVRC 2010 with visual words, on small files of the official layout; test_faults.py tests faults of the files."""

import numpy as np

from tests.formats.readers.ilsvrc2010_files import KIT, TEST_TRUTH, VALID_TRUTH, meta_mat, sbow_mat, synset
from tests.fuzz.targets import write_tar
from vsebench.formats.readers.ilsvrc2010 import Options, read

DOG, CAT = "n02084071", "n02121808"
SYNSETS = [synset(1, CAT, "domestic  cat, house cat", 2), synset(2, DOG, "dog", 3)]
# Two labels, of which the second has the smaller WNID.
IN_KIT = {
    "meta.mat": meta_mat([*SYNSETS, synset(3, "n00001740", "entity", children=[1, 2])]),
    VALID_TRUTH: b"2\n1\n",
    TEST_TRUTH: b"1\r\n1\r\n2",
}
# Images are in no order.
WORDS = {
    f"{DOG}.sbow.mat": sbow_mat([(f"{DOG}_10", [5, 5]), (f"{DOG}_9", [0]), (f"{DOG}_700", [999, 1, 999])]),
    f"{CAT}.sbow.mat": sbow_mat([(f"{CAT}_2", []), (f"{CAT}_1", [3])]),
    "val.0002.sbow.mat": sbow_mat([("ILSVRC2010_val_00000001", [7])]),
    "val.0001.sbow.mat": sbow_mat([("ILSVRC2010_val_00000002", [8, 8, 8])]),
    "test.0001.sbow.mat": sbow_mat([(f"ILSVRC2010_test_{i:08}", [i]) for i in (3, 1, 2)]),
    "n00001740.sbow.mat": b"of another synset, so not read",
    "README.txt": b"?",
}


def write(folder, words=WORDS):
    write_tar(folder / KIT, {f"devkit-1.0/data/{name}": data for name, data in IN_KIT.items()})
    write_tar(folder / "words.tar", {f"some/folder/{name}": data for name, data in words.items()})


def test_images_labels_and_words(tmp_path):
    write(tmp_path)
    found = read(tmp_path, Options(archives=["words.tar"], features="sparse"))
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
    words = [[3], [], [0], [5, 5], [1, 999, 999], [7], [8, 8, 8], [1], [2], [3]]
    assert np.array_equal(counts.toarray(), [np.bincount(of_image, minlength=1000) for of_image in words])
    assert found.features.known.all()  # also the image without a descriptor
    assert found.dropped == []


def test_training_images_without_words_are_noted(tmp_path):
    write(tmp_path, WORDS | {f"{DOG}.sbow.mat": sbow_mat([(f"{DOG}_1", [5])])})
    found = read(tmp_path, Options(archives=["words.tar"], features="sparse"))
    assert found.dropped == [("training images", 2, "counted by meta.mat, but without visual words")]
