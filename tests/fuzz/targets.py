"""The readers to fuzz: for each reader whole files, a function that reads them, and their meaning."""

import bz2
import gzip
import io
import struct
import tarfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import numpy as np
import polars as pl
import yaml
from scipy import sparse

from tests.formats.readers.ilsvrc2010_files import KIT, TEST_TRUTH, VALID_TRUTH, meta_mat, sbow_mat, synset
from tests.fuzz import references
from tests.fuzz.mutate import Files
from tests.fuzz.references import Reading
from vsebench.config.dataset import DatasetConfig, FeaturesFile
from vsebench.config.method import MethodConfig
from vsebench.config.run import RunConfig
from vsebench.core.errors import UserError
from vsebench.core.storage import read_arrays, read_json, read_parquet, write_arrays, write_json, write_parquet
from vsebench.core.yaml_files import read_config
from vsebench.formats import features_file
from vsebench.formats.annotations import RawAnnotations
from vsebench.formats.parents import openimages_tree, parent_table, wordnet
from vsebench.formats.readers import (
    ilsvrc2010,
    lear,
    mirflickr,
    mirflickr_concepts,
    mscoco,
    mulan,
    nuswide_concepts,
    nuswide_tags,
    openimages,
    recognize_anything,
    saiapr,
    table,
    visual_genome,
    voc2007,
    xc_repository,
)
from vsebench.formats.scores_file import read_scores
from vsebench.formats.word_vectors import npz_vectors, text_vectors, word2vec_binary

CONFIG = Path(__file__).parents[2] / "config"
REFUSED = "refused"


class FuzzError(AssertionError):
    """A reader accepted damaged files as something else, or failed without a clear message."""


@dataclass(frozen=True)
class Target:
    """A reader.

    Attributes
    ----------
    files : whole files
    read : writes (damaged) files into a folder and reads them
    expect : returns the meaning of files, or None if they are not valid; without it, damaged files have to be refused
        or read like the whole files
    any_result : whether any result is accepted, because the format has no checksum and there is no other reader to
        compare with; only crashes are faults
    """

    files: Files
    read: Callable[[Files, Path], Any]
    expect: Callable[[Files], Any] | None = None
    any_result: bool = False


def check(target: Target, files: Files, folder: Path) -> str:
    """Read damaged files; return "same", "other" or "refused", or raise a `FuzzError` for a fault of the reader."""
    try:
        found = target.read(files, folder)
    except UserError as error:
        message = str(error)
        # A message may quote the content of a file.
        if len(message.splitlines()) != 1 or len(message) > 40_000 or not message.startswith(str(folder)):
            raise FuzzError(f"not one clear line: {message[:300]!r}") from error
        return REFUSED
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a panic of polars is no Exception
        raise FuzzError(f"{type(error).__name__}: {error}"[:500]) from error
    whole = original(target, folder)
    expected = whole if target.expect is None else target.expect(files)
    if not equal(found, expected) and not target.any_result:
        raise FuzzError(f"read {found!r:.600} instead of {expected!r:.600}")
    return "same" if equal(found, whole) else "other"


ORIGINALS: dict[int, Any] = {}


def original(target: Target, folder: Path) -> Any:
    """Return the result of reading the whole files."""
    if id(target) not in ORIGINALS:
        ORIGINALS[id(target)] = target.read(target.files, folder)
    return ORIGINALS[id(target)]


def equal(a: Any, b: Any) -> bool:
    return repr(a) == repr(b) if isinstance(a, float | dict | list) else bool(a == b)


def in_plain_python(annotations: RawAnnotations) -> Reading:
    """Return the annotations as a `Reading`, after the checks that every adapter's result has to pass."""
    images, labels, pairs = annotations.images.to_list(), list(annotations.labels), annotations.pairs
    assert pairs.schema == {"image": pl.Int32, "label": pl.Int32, "count": pl.Int32}
    assert pairs.equals(pairs.sort("image", "label"))
    assert not pairs.select("image", "label").is_duplicated().any()
    assert len(set(images)) == len(images)
    assert len(set(labels)) == len(labels)
    counts = {(images[image], labels[label]): count for image, label, count in pairs.iter_rows()}
    return Reading(images, labels, counts, None if annotations.parts is None else annotations.parts.to_list())


def write_tar(path: Path, members: Files) -> None:
    with tarfile.open(path, "w") as archive:
        for name, data in members.items():
            info = tarfile.TarInfo(f"top/{name}")
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))


def write_zip(path: Path, members: Files) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(f"top/{name}", data)


def into(write: Callable[[Path, Files], None], archive: str) -> Callable[[Path, Files], None]:
    """Return a function that writes files into this archive of a folder."""
    return lambda folder, files: write(folder / archive, files)


def write_files(folder: Path, files: Files) -> None:
    for name, data in files.items():
        (folder / name).write_bytes(data)


def members_of(npz: bytes) -> Files:
    """Return the files in an .npz file, which is a zip archive of .npy files."""
    with zipfile.ZipFile(io.BytesIO(npz)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def members_of_arrays(**arrays: Any) -> Files:
    """Return the members of an .npz file with these arrays."""
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return members_of(buffer.getvalue())


def with_npz(name: str, read: Callable[[Files, Path], Any]) -> Callable[[Files, Path], Any]:
    """Return a reader that first packs the .npy files into a whole .npz file; damage is then in the arrays alone."""

    def read_packed(files: Files, folder: Path) -> Any:
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            for member, data in files.items():
                if member.endswith(".npy"):
                    archive.writestr(member, data)
        rest = {file: data for file, data in files.items() if not file.endswith(".npy")}
        return read(rest | {name: buffer.getvalue()}, folder)

    return read_packed


def annotations_of(adapter: Any, options: Any, pack: Callable[[Path, Files], None]) -> Callable[[Files, Path], Reading]:
    """Return a reader: pack the files and let an adapter read them."""

    def read(files: Files, folder: Path) -> Reading:
        pack(folder, files)
        return in_plain_python(adapter.read(folder, options))

    return read


# LEAR

ROWS = [[1, 0, 1], [0, 1, 0], [0, 0, 0], [1, 1, 1]]


def hvecs(rows: list[list[int]]) -> bytes:
    return b"".join(struct.pack(f"<{1 + len(row)}h", len(row), *row) for row in rows)


LEAR = {
    "t_dictionary.txt": "sky\ntree house\nÄste\n".encode(),
    "t_train_list.txt": b"01/1\n01/2\n",
    "t_train_annot.hvecs": hvecs(ROWS[:2]),
    "t_test_list.txt": b"02/1\r\n02/2\r\n",
    "t_test_annot.hvecs": hvecs(ROWS[2:]),
}
LEAR_OPTIONS = lear.Options(prefix="t")
pack_lear = into(write_tar, "t.20091111.tar.bz2")

# SAIAPR

SAIAPR = {
    "wlist.txt": b"3\tsky\n7\tman\n12\ttree-top\n13\t\n",
    "00/labels.txt": b"1\t1\t3\n1\t2\t3\n2\t1\t12\n",
    "01/features.txt": b"10\t1\t0.5 -1.25\t7\n11\t1\t0.5 2e-3\t13\n",
    "02/features.txt": b"20 1 1.0 7\n",
    "02/labels.txt": b"20 1 3\n",
}
pack_saiapr = into(write_tar, "saiapr_tc-12.tar.gz")

# NUS-WIDE

CONCEPTS = {
    "Concepts81.txt": b"sky\nlake\n",
    "Labels_sky_Train.txt": b"1\n0\n1\n",
    "Labels_sky_Test.txt": b"0\n1\n",
    "Labels_lake_Train.txt": b"0\n-1130179\n1\n",
    "Labels_lake_Test.txt": b"0 \r\n1\r\n",
}
BOW = {"BoW_Train_int.dat": b"0 1 0 \n2 0 3e0 \n", "BoW_Test_int.dat": b"0.5\t1 0\r\n \n"}
TAGS = {
    "TagList1k.txt": b"sky\nred\nwedding\n",
    "Train_Tags1k.dat": b"1\t0\t1\t\n0\t0\t0\t\n1\t1\t1\t\n",
    "Test_Tags1k.dat": b"0 1 0\n0 0 1\n",
    **CONCEPTS,
}
FINAL = {
    "Final_Tag_List.txt": "sky\nred\ncafé\n".encode(),
    "All_Tags.txt": "100      sky red unknown \n7 café RED sky sky\n100\tred\n9\n".encode(),
}


def pack_nuswide(folder: Path, files: Files) -> None:
    """Write each file into its archive."""
    for archive, holds in (
        ("ConceptsList.zip", lambda name: name.startswith("Concepts")),
        ("Groundtruth.zip", lambda name: name.startswith("Labels")),
        (nuswide_concepts.FEATURES, lambda name: name.startswith("BoW")),
        ("NUS_WID_Tags.zip", lambda name: "Tag" in name),
    ):
        write_zip(folder / archive, {name: data for name, data in files.items() if holds(name)})


def with_two_concepts(read: Callable[[Files, Path], Any]) -> Callable[[Files, Path], Any]:
    """Return a reader of NUS-WIDE with two concepts in place of 81."""

    def read_few(files: Files, folder: Path) -> Any:
        with patch.object(nuswide_concepts, "N_CONCEPTS", 2):
            return read(files, folder)

    return read_few


def read_bow(files: Files, folder: Path) -> list[list[float]]:
    pack_nuswide(folder, files)
    rows: list[list[float]] = nuswide_concepts.read_features(folder, "BoW", {"Train": 2, "Test": 1}).values.tolist()
    return rows


# Open Images

OPENIMAGES = {
    "train/labels.csv": b"""ImageID,Source,LabelName,Confidence
000026e7ee790996,machine,/m/04hgtk,0.5
000026E7ee790996,human,/m/04hgtk,1
000026e7ee790996,machine,/m/07j7r,0.1
000062a39995e348,machine,/m/07j7r,0.90
""",
    "validation/labels.csv": b"""ImageID,Source,LabelName,Confidence\r
ffffffffffffffff,machine,/m/07j7r,1.0\r
00c8b9b8e1a5b1d1,machine,/m/012,0\r
""",
}
OPENIMAGES_OPTIONS = openimages.Options(archive="a.tar.gz", min_confidence=0.5)
pack_openimages = into(write_tar, "a.tar.gz")

# Recognize Anything

RECOGNIZE_ANYTHING = {"a.txt": b"test/01,sky,tree\ntest/02.jpg,palm tree\n03\n", "l.txt": b"sky\ntree\npalm tree\n"}
RECOGNIZE_ANYTHING_OPTIONS = recognize_anything.Options(annotations="a.txt", labels="l.txt")


# MIRFLICKR

MIRFLICKR = {
    "tags1.txt": b"New York\nnyc\nnikonD70\n",
    "tags2.txt": "Straße\r\nSTRASSE\ngeo:lat=5\ndelete\n".encode(),
    "tags30.txt": b"",
    "31.txt": "caf\u00e9\ncafe\u0301\n---\n".encode(),
}
MIRFLICKR_OPTIONS = mirflickr.Options(archives=["a.zip"], stop_lists=[], stop_tags=["delete", "nikon*"])
pack_mirflickr = into(write_zip, "a.zip")

MIRFLICKR_LISTS = {"sky.txt": b"1\r\n25000\r\n3\r\n", "baby_r1.txt": b"3\n4\r\n", "README.txt": b"read me"}
MIRFLICKR_PARTS = mirflickr_concepts.Options(prefix="im", parts={"train": [1, 2], "test": [3, 5]})
pack_lists = into(write_zip, mirflickr_concepts.ARCHIVE)

# PASCAL VOC

VOC_VALUES = b"000001  1\n000002 -1\n000003  0\n"
VOC = {"train.txt": b"000001\n000003\n", "val.txt": b"000002\r\n", "test.txt": b"000004"}
VOC |= {f"{label}_trainval.txt": VOC_VALUES for label in voc2007.CLASSES}
VOC |= {f"{label}_test.txt": b"000004 -1\n" for label in voc2007.CLASSES}


def pack_voc(folder: Path, files: Files) -> None:
    for archive in voc2007.ARCHIVES:
        of_test = archive.startswith("VOCtest")
        lists = {name: data for name, data in files.items() if name.endswith("test.txt") == of_test}
        write_tar(folder / archive, {f"ImageSets/Main/{name}": data for name, data in lists.items()})


# MS-COCO

COCO_CATEGORIES = b"""[
{"supercategory": "animal", "id": 90, "name": "p\\u00e9can"}, {"id": 1, "name": "hot dog"}]"""
COCO = {
    "instances_train2014.json": b"""{"info": {"id": 1}, "images": [{"file_name": "a.jpg", "id": 12}, {"id": 3}],
"annotations": [{"segmentation": [[1.5, 2]], "image_id": 3, "iscrowd": 0, "category_id": 90, "id": 100},
{"segmentation": {"counts": [1], "size": [1, 1]}, "image_id": 3, "iscrowd": 1, "category_id": 90, "id": 101},
{"image_id": 12, "category_id": 1, "id": 103}], "categories": %s}"""
    % COCO_CATEGORIES,
    "instances_val2014.json": b"""{"categories": %s, "images": [{"id": 7}], "annotations": [
{"image_id": 7, "category_id": 1, "id": 100}]}"""
    % COCO_CATEGORIES,
}
pack_coco = into(write_zip, mscoco.ARCHIVE)

# Visual Genome

GENOME = {
    "objects.json": b"""[{"image_id": 3, "objects": [{"synsets": ["p\\u00e9can.n.01"], "h": 5, "names": ["nuts"]},
{"x": 0, "synsets": [], "names": ["lamp post"]}, {"synsets": ["p\\u00e9can.n.01", "tree.n.01"], "names": [" tree"]}]},
{"image_id": 12, "objects": [], "image_url": "a.jpg"}]""",
    "image_data.json": b"""[{"width": 800, "image_id": 12}, {"coco_id": null, "image_id": 3}, {"image_id": 200}]""",
}


def pack_genome(folder: Path, files: Files) -> None:
    for name in GENOME:
        write_zip(folder / f"{name}.zip", {name: files[name]} if name in files else {})


# Mulan

MULAN_LABELS = b"""<?xml version="1.0" encoding="utf-8"?>
<labels xmlns="http://mulan.sourceforge.net/labels">
<label name="sky"><label name="grey sky"></label></label>
</labels>"""
MULAN_HEADER = b"""% blobs and words
@relation 'a b'
@attribute sky {0,1}
@attribute "blob \\"1\\"" real
@attribute 'grey  sky' {'0', "1"}
@attribute x numeric % a number
@data
"""
MULAN = {
    "dense": {"l.xml": MULAN_LABELS, "a.arff": MULAN_HEADER + b"0, .5,1,-2e1\n% no row\n1,3.,0,7\n\n0,0,0,0\n"},
    "sparse": {"l.xml": MULAN_LABELS, "a.arff": MULAN_HEADER + b"{1 0.5,2 1}\n{}\n{0 1, 3\t-2e1} % one\n"},
}


def read_mulan(kind: mulan.Kind) -> Callable[[Files, Path], tuple[Reading, list[list[float]]]]:
    options = mulan.Options(labels="l.xml", arff="a.arff", features=kind, train_rows=1)

    def read(files: Files, folder: Path) -> tuple[Reading, list[list[float]]]:
        write_files(folder, files)
        annotations = mulan.read(folder, options)
        features = annotations.features
        assert features is not None
        assert features.is_sparse == (kind == "sparse")
        rows = features.values.toarray() if features.is_sparse else features.values
        return in_plain_python(annotations), rows.tolist()

    return read


# The Extreme Classification Repository

XC = {
    "x.txt": b"4 5 3\n0,2 0:1 3:.5\n 4:-2e1 1:3.\r\n1\n2,2 2:1  3:0\n",
    "tr.txt": b"1 4\n2 3\n",
    "ts.txt": b"3 1\n",
}


def read_xc(files: Files, folder: Path) -> tuple[Reading, list[list[float]]]:
    write_files(folder, files)
    options = xc_repository.Options(
        features="sparse", data="x.txt", splits={"train": "tr.txt", "test": "ts.txt"}, split=2
    )
    annotations = xc_repository.read(folder, options)
    assert annotations.features is not None
    return in_plain_python(annotations), annotations.features.values.toarray().tolist()


# ILSVRC 2010

ILSVRC_TRUTHS = {VALID_TRUTH: b"2\r\n1\n", TEST_TRUTH: b"1\n"}


def ilsvrc_files(compressed: bool) -> Files:
    """Return meta.mat and visual words of two labels."""
    synsets = [
        synset(1, "n02084071", "dog", 2),
        synset(2, "n02121808", "cat", 2),
        synset(3, "n00001740", "x", 0, [1, 2]),
    ]
    words = {
        "n02084071": [("n02084071_7", [5, 5, 0]), ("n02084071_10", [])],
        "n02121808": [("n02121808_1", [999])],
        "val.0001": [("ILSVRC2010_val_00000002", [1]), ("ILSVRC2010_val_00000001", [2, 2])],
        "test.0001": [("ILSVRC2010_test_00000001", [3])],
    }
    return {"meta.mat": meta_mat(synsets, compressed)} | {
        f"{name}.sbow.mat": sbow_mat(images, compressed) for name, images in words.items()
    }


def read_ilsvrc(files: Files, folder: Path) -> tuple[Reading, list[tuple[Any, ...]]]:
    """Pack the files and read them; ground truths that are not among the files are whole."""
    of_kit = ILSVRC_TRUTHS | {name: data for name, data in files.items() if not name.endswith(".sbow.mat")}
    write_tar(folder / KIT, of_kit)
    write_tar(folder / "words.tar", {name: data for name, data in files.items() if name.endswith(".sbow.mat")})
    options = ilsvrc2010.Options(archives=["words.tar"], features="sparse")
    annotations = ilsvrc2010.read(folder, options)
    assert annotations.features is not None
    counts = sparse.coo_array(annotations.features.values)
    return in_plain_python(annotations), [*zip(*counts.coords, counts.data, strict=True)]


# Tables of the user

CSV = (
    'image,extra,label,count\n01.jpg,,sky,2\n01.jpg,x,"tree, old",1\r\n"02""a.jpg",y,Äste,3\n01.jpg,,sky,1\n\n'.encode()
)
WIDE = b'label,image\nsky  tree,1\n,2\n"sky\nred",3\n'
JSON_LINES = (
    b'{"image": "1", "label": "sky"}\n{"label": "\\u00e9", "image": 2, "count": 3}\n\n{"image": "1", "label": "sky"}\n'
)


def read_table(name: str, layout: str = "long") -> Callable[[Files, Path], Reading]:
    def read(files: Files, folder: Path) -> Reading:
        write_files(folder, files)
        options = table.Options.model_validate({"pairs": str(folder / name), "layout": layout})
        return in_plain_python(table.read(folder / "raw", options))

    return read


COLUMNS = {"image": b"01\nb\n b \n01", "label": "sky\nsky\nÄste\nsky".encode(), "count": b"1\n2\n3\n10"}


def read_columns(files: Files, folder: Path) -> Reading:
    """Write the files as columns of text of a Parquet table, and read the table."""
    columns = references.text_columns(files)
    pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String)).write_parquet(folder / "t.parquet")
    return read_table("t.parquet")({}, folder)


# Parents of labels

PARENTS_CSV = b'regions,label,parent\n1,cactus,"plant, green"\r\n2,cactus,dessert\n\n3, lamp,thing\n'
HIERARCHY = b"""{"LabelName": "/m/0", "Subcategory": [{"LabelName": "cactus", "Subcategory": [{"LabelName": "lamp"}]},
 {"LabelName": "/m/4", "Part": [{"LabelName": "x"}], "Subcategory": [{"LabelName": "lamp"}]}]}"""
NOUNS = {
    wordnet.SENSES: b"lemma\tsynsets\ncactus\tn00000003|n00000009\nlamp\tn00000004\n",
    wordnet.HYPERNYMS: b"synset\tlemmas\thypernyms\tinstance_hypernyms\n"
    b"n00000003\tcactus\tn00000001|n00000002\t\nn00000004\tlamp\t\tn00000002\n",
    wordnet.EXCEPTIONS: b"cacti cactus\n",
}
LABELS_TO_FIND = ["cactus", "lamp", "cacti"]


def read_parents(adapter: Any, options: dict[str, str]) -> Callable[[Files, Path], list[list[str]]]:
    def read(files: Files, folder: Path) -> list[list[str]]:
        for name, data in files.items():
            (folder / {"h.json": openimages_tree.HIERARCHY}.get(name, name)).write_bytes(data)
        placed = {key: str(folder / name) for key, name in options.items()}
        found = adapter.read_parents(folder, adapter.Options(**placed), LABELS_TO_FIND)
        return [sorted(parents) for parents in found]

    return read


def read_wordnet(files: Files, folder: Path) -> list[list[str]]:
    return read_parents(wordnet, {})({name: gzip.compress(data) for name, data in files.items()}, folder)


# Word vectors

WORDS_WANTED = ["sky", ". . .", "t-shirt", "Äste"]
GLOVE = "sky 0.5 -1.25 3e-2\n. . . 1 2 3\n<unk> 7 8 9\nt-shirt -0.25 .5 1.\nÄste 0 0 1\nsky 4 5 6\n".encode()
FASTTEXT = b"4 2\n, 1 2 \nsky 0.5 -1.25 \ntree 7 8 \nt-shirt 3 4 \n"
WORD2VEC = b"3 2\n" + b"".join(
    word + b" " + struct.pack("<2f", *numbers) + b"\n"
    for word, numbers in ((b"</s>", (1, 2)), (b"sky", (0.5, -1.25)), (b"t-shirt", (3, 4)))
)


def read_words(adapter: Any, name: str) -> Callable[[Files, Path], dict[str, list[float]]]:
    def read(files: Files, folder: Path) -> dict[str, list[float]]:
        write_files(folder, files)
        found = adapter.read_vectors(folder, adapter.Options(file=str(folder / name)), WORDS_WANTED)
        return {word: vector.tolist() for word, vector in sorted(found.vectors.items())}

    return read


# Image features of the user


FEATURES = np.array([[0.5, 0, 0, 1], [0, 0, 2, 0], [0, 3, 0, 0]], dtype=np.float32)
FEATURES_CSV = 'f1,image,"f,2"\r\n0.5,01,1e-3\n 2,b,"-0.25"\n0,Äste,7\n'.encode()


def read_features(name: str) -> Callable[[Files, Path], list[Any]]:
    def read(files: Files, folder: Path) -> list[Any]:
        write_files(folder, files)
        ids = None if name.endswith(".csv") else str(folder / "ids.txt")
        source = FeaturesFile(file=str(folder / name), ids=ids)
        features, dropped = features_file.read_features_file(folder / "raw", source, ["01", "b", "Äste"])
        return [features.rows(np.flatnonzero(features.known)).sum(axis=1).tolist(), features.known.tolist(), dropped]

    return read


def saved(save: Callable[[Any], object], name: str = "f.npy") -> Files:
    """Return a file as NumPy or SciPy writes it, and the ids of its rows."""
    buffer = io.BytesIO()
    save(buffer)
    return {name: buffer.getvalue(), "ids.txt": "01\nb\nÄste\n".encode()}


def parquet_of(frame: pl.DataFrame) -> bytes:
    buffer = io.BytesIO()
    frame.write_parquet(buffer, compression="zstd", statistics=False)
    return buffer.getvalue()


def written(write: Callable[[Any, Path], None], value: Any, name: str) -> Files:
    """Return a file as the package writes it."""
    with TemporaryDirectory() as folder:
        write(value, Path(folder) / name)
        return {name: (Path(folder) / name).read_bytes()}


def read_scores_file(files: Files, folder: Path) -> list[Any]:
    write_files(folder, files)
    scores = read_scores(folder / "s.npz")
    values = [scores.values] if isinstance(scores.values, np.ndarray) else [scores.values.image, scores.values.label]
    return [scores.ids, scores.labels, [array.tolist() for array in values]]


WORD_ARRAYS = {"words": np.array(WORDS_WANTED), "vectors": np.arange(1, 9, dtype=np.float32).reshape(4, 2)}
WORDS_NPZ = saved(lambda buffer: np.savez(buffer, **WORD_ARRAYS), "w.npz")["w.npz"]
FEATURES_NPZ = saved(lambda buffer: sparse.save_npz(buffer, sparse.csr_array(FEATURES)), "f.npz")
FEATURES_MEMBERS = {"ids.txt": FEATURES_NPZ["ids.txt"]} | members_of(FEATURES_NPZ["f.npz"])
del FEATURES_MEMBERS["_is_array.npy"]  # SciPy's mark of an array, which is not read

# Archives as such: a damaged archive is refused or has the same content.


def packed(pack: Callable[[Path, Files], None], files: Files, name: str) -> bytes:
    with TemporaryDirectory() as folder:
        pack(Path(folder), files)
        return (Path(folder) / name).read_bytes()


# Configuration


def read_settings(model: Any, files: Files, folder: Path) -> dict[str, Any]:
    write_files(folder, files)
    settings: dict[str, Any] = read_config(model, folder / "c.yaml").model_dump(exclude_unset=True)
    return plain(settings)


def plain(value: Any) -> Any:
    """Make numbers comparable: a whole number may be given for a number."""
    if isinstance(value, dict):
        return {key: plain(value[key]) for key in sorted(value, key=repr)}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


def settings_meant(files: Files) -> dict[str, Any] | None:
    """Return the plain content of a YAML file; None if a key occurs twice in a mapping, which is ambiguous."""
    text = files["c.yaml"].decode()
    nodes = [yaml.compose(text, yaml.CSafeLoader)]
    while nodes:
        node = nodes.pop()
        if isinstance(node, yaml.MappingNode):
            keys = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
            if len(set(keys)) < len(keys):
                return None
            nodes += [value for _, value in node.value]
        elif isinstance(node, yaml.SequenceNode):
            nodes += node.value
    meant: dict[str, Any] = plain(yaml.load(text, yaml.CSafeLoader))  # the loader in Python refuses some tabs
    return meant


def config_target(model: Any, path: Path) -> Target:
    return Target({"c.yaml": path.read_bytes()}, partial(read_settings, model), settings_meant)


# Results


def of_a_run(files: Files, folder: Path) -> Path:
    """Write files to a folder of results, where those without a seal are refused; return the folder."""
    results = folder / "results"
    results.mkdir(exist_ok=True)
    write_files(results, files)
    return results


def read_frame(files: Files, folder: Path) -> list[Any]:
    frame = read_parquet(of_a_run(files, folder) / "a.parquet")
    return [frame.schema, frame.to_dict(as_series=False)]


def read_npz(files: Files, folder: Path) -> list[Any]:
    arrays = read_arrays(of_a_run(files, folder) / "a.npz")
    return [(name, array.dtype.str, array.shape, array.tobytes()) for name, array in arrays.items()]


def read_record(files: Files, folder: Path) -> list[Any]:
    return [read_json(of_a_run(files, folder) / "a.json")]


FRAME = pl.DataFrame({"image": [0, 0, 1, 5], "label": [1, 2, 2, 0], "count": [1, 1, 3, 1]}).cast(pl.Int32)
NAMES = pl.DataFrame({"image": ["01", "b", "b"], "label": ["sky", "sky", "Äste"], "count": [1, 2, 3]})
ARRAYS = {"image": np.arange(12, dtype=np.float32).reshape(4, 3), "label": np.ones((2, 3), np.float32)}
RECORD = {
    "dataset": "a",
    "seed": 1,
    "selection": {"epochs": 3, "settings": {"alpha": 0.5, "note": None}},
    "list": [1, "é"],
}

# The readers by what a table says about them.
GROUPS: dict[str, dict[str, Target]] = {
    (
        "of data sets: LEAR, SAIAPR, NUS-WIDE (concepts, features, tags), Open Images, MIRFLICKR (tags, "
        "concepts), Recognize Anything, VOC 2007, MS-COCO, Visual Genome (objects, names), Mulan (dense, "
        "sparse), Extreme Classification Repository, ILSVRC 2010 (two kinds of file)"
    ): {
        "lear": Target(LEAR, annotations_of(lear, LEAR_OPTIONS, pack_lear), references.lear),
        "saiapr": Target(SAIAPR, annotations_of(saiapr, saiapr.Options(), pack_saiapr), references.saiapr),
        "nuswide concepts": Target(
            CONCEPTS,
            with_two_concepts(annotations_of(nuswide_concepts, nuswide_concepts.Options(), pack_nuswide)),
            references.nuswide_concepts,
        ),
        "nuswide features": Target(BOW, read_bow, references.nuswide_bow),
        "nuswide tags, 1006": Target(
            TAGS,
            with_two_concepts(annotations_of(nuswide_tags, nuswide_tags.Options(tags="1006"), pack_nuswide)),
            references.nuswide_1006,
        ),
        "nuswide tags, final": Target(
            FINAL,
            annotations_of(nuswide_tags, nuswide_tags.Options(tags="final"), pack_nuswide),
            references.nuswide_final,
        ),
        "open images": Target(
            OPENIMAGES, annotations_of(openimages, OPENIMAGES_OPTIONS, pack_openimages), references.openimages
        ),
        "mirflickr": Target(
            MIRFLICKR, annotations_of(mirflickr, MIRFLICKR_OPTIONS, pack_mirflickr), references.mirflickr
        ),
        "mirflickr concepts": Target(
            MIRFLICKR_LISTS,
            annotations_of(mirflickr_concepts, MIRFLICKR_PARTS, pack_lists),
            references.mirflickr_concepts,
        ),
        "recognize_anything": Target(
            RECOGNIZE_ANYTHING,
            annotations_of(recognize_anything, RECOGNIZE_ANYTHING_OPTIONS, write_files),
            references.recognize_anything,
        ),
        "voc2007": Target(VOC, annotations_of(voc2007, voc2007.Options(), pack_voc), references.voc2007),
        "mscoco": Target(COCO, annotations_of(mscoco, mscoco.Options(), pack_coco), references.mscoco),
        "Visual Genome": Target(
            GENOME,
            annotations_of(visual_genome, visual_genome.Options(), pack_genome),
            references.visual_genome,
        ),
        "Visual Genome, names": Target(
            GENOME,
            annotations_of(visual_genome, visual_genome.Options(labels="names"), pack_genome),
            partial(references.visual_genome, key="names"),
        ),
        "mulan, dense": Target(MULAN["dense"], read_mulan("dense"), partial(references.mulan, kind="dense")),
        "mulan, sparse": Target(MULAN["sparse"], read_mulan("sparse"), partial(references.mulan, kind="sparse")),
        "XC repository": Target(XC, read_xc, partial(references.xc_repository, split=2)),
        # Words and numbers have no checksum in a MATLAB file that is not compressed.
        "ILSVRC 2010": Target(ILSVRC_TRUTHS | ilsvrc_files(compressed=False), read_ilsvrc, any_result=True),
        "ILSVRC 2010, compressed": Target(ilsvrc_files(compressed=True), read_ilsvrc),
    },
    "of a user's table: CSV, wide CSV, CSV.gz, JSON lines, Parquet, cells of Parquet": {
        "table, CSV": Target({"t.csv": CSV}, read_table("t.csv"), references.table_csv),
        "table, wide CSV": Target(
            {"t.csv": WIDE}, read_table("t.csv", "wide"), partial(references.table_csv, wide=True)
        ),
        "table, JSON lines": Target({"t.jsonl": JSON_LINES}, read_table("t.jsonl"), references.table_jsonl),
        "table, CSV.gz": Target({"t.csv.gz": gzip.compress(CSV)}, read_table("t.csv.gz")),
        "table, Parquet": Target({"t.parquet": parquet_of(NAMES)}, read_table("t.parquet"), any_result=True),
        "table, cells of Parquet": Target(COLUMNS, read_columns, references.table_columns),
    },
    "of a user's image features: npy, npz, CSV": {
        "features, npy": Target(
            saved(lambda buffer: np.save(buffer, FEATURES)), read_features("f.npy"), any_result=True
        ),
        "features, npz": Target(
            FEATURES_MEMBERS,
            with_npz("f.npz", read_features("f.npz")),
            any_result=True,
        ),
        "features, CSV": Target({"f.csv": FEATURES_CSV}, read_features("f.csv"), any_result=True),
    },
    "of a user's scores: npz with scores, npz with vectors": {
        "scores, npz": Target(
            members_of_arrays(ids=np.array(["01", "b"], dtype="S2"), labels=LABELS_TO_FIND, scores=np.eye(2, 3)),
            with_npz("s.npz", read_scores_file),
            any_result=True,
        ),
        "scores, npz with vectors": Target(
            members_of_arrays(
                ids=[1, 2], labels=["sky", "Äste"], image_vectors=np.eye(2), label_vectors=np.eye(2, dtype=np.float16)
            ),
            with_npz("s.npz", read_scores_file),
            any_result=True,
        ),
    },
    "of word vectors: GloVe, fastText, word2vec, GloVe.gz, word2vec.gz, npz": {
        "words, GloVe": Target(
            {"w.txt": GLOVE},
            read_words(text_vectors, "w.txt"),
            partial(references.words_text, wanted=WORDS_WANTED),
        ),
        "words, fastText": Target(
            {"w.txt": FASTTEXT},
            read_words(text_vectors, "w.txt"),
            partial(references.words_text, wanted=WORDS_WANTED),
        ),
        "words, GloVe.gz": Target({"w.txt": gzip.compress(GLOVE)}, read_words(text_vectors, "w.txt")),
        "words, word2vec": Target({"w.bin": WORD2VEC}, read_words(word2vec_binary, "w.bin"), any_result=True),
        "words, word2vec.gz": Target({"w.bin": gzip.compress(WORD2VEC)}, read_words(word2vec_binary, "w.bin")),
        "words, npz": Target(
            members_of(WORDS_NPZ), with_npz("w.npz", read_words(npz_vectors, "w.npz")), any_result=True
        ),
    },
    "of the parents of labels: CSV, JSON of Open Images, WordNet": {
        "parents, CSV": Target(
            {"p.csv": PARENTS_CSV},
            read_parents(parent_table, {"parents": "p.csv"}),
            partial(references.parents_csv, labels=LABELS_TO_FIND),
        ),
        "parents, JSON": Target(
            {"h.json": HIERARCHY},
            read_parents(openimages_tree, {}),
            partial(references.parents_json, labels=LABELS_TO_FIND),
        ),
        "parents, WordNet": Target(NOUNS, read_wordnet, partial(references.parents_wordnet, labels=LABELS_TO_FIND)),
    },
    "of archives: tar.bz2, tar.gz, zip, npz": {
        "tar.bz2 (LEAR)": Target(
            {"t.20091111.tar.bz2": bz2.compress(packed(pack_lear, LEAR, "t.20091111.tar.bz2"))},
            annotations_of(lear, LEAR_OPTIONS, write_files),
        ),
        "tar.gz (SAIAPR)": Target(
            {"saiapr_tc-12.tar.gz": gzip.compress(packed(pack_saiapr, SAIAPR, "saiapr_tc-12.tar.gz"))},
            annotations_of(saiapr, saiapr.Options(), write_files),
        ),
        "zip (NUS-WIDE)": Target(
            {name: packed(pack_nuswide, CONCEPTS, name) for name in ("ConceptsList.zip", "Groundtruth.zip")},
            with_two_concepts(annotations_of(nuswide_concepts, nuswide_concepts.Options(), write_files)),
        ),
        "npz (word vectors)": Target({"w.npz": WORDS_NPZ}, read_words(npz_vectors, "w.npz")),
        "npz (features)": Target(
            {"f.npz": FEATURES_NPZ["f.npz"]},
            lambda files, folder: read_features("f.npz")({"ids.txt": FEATURES_NPZ["ids.txt"]} | files, folder),
        ),
    },
    "of the configuration of a run, a data set, a method": {
        "configuration of a run": config_target(RunConfig, CONFIG / "config.yaml"),
        "configuration of a data set": config_target(DatasetConfig, CONFIG / "datasets" / "nuswide81.yaml"),
        "configuration of a method": config_target(MethodConfig, CONFIG / "methods" / "vse_fs.yaml"),
    },
    "of the pipeline's own results: JSON, npz, Parquet": {
        "results, JSON": Target(written(write_json, RECORD, "a.json"), read_record),
        "results, npz": Target(written(lambda arrays, path: write_arrays(path, **arrays), ARRAYS, "a.npz"), read_npz),
        "results, Parquet": Target(written(write_parquet, FRAME, "a.parquet"), read_frame),
    },
}
TARGETS = {name: target for group in GROUPS.values() for name, target in group.items()}
