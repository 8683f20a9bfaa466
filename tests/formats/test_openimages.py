import io
import tarfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.openimages_reader import generate
from tests import data_sets
from vsebench.core.errors import UserError
from vsebench.core.storage import read_json, read_parquet
from vsebench.formats.readers import openimages
from vsebench.formats.readers.openimages import Options, read

HEADER = "ImageID,Source,LabelName,Confidence\n"
TRAIN = Options(archive="ann.tar.gz", parts=["train"], min_confidence=0.5)
BOTH = Options(archive="ann.tar.gz", min_confidence=0.5)


def write(folder, archive="ann.tar.gz", **tables):
    """Write the tables of parts; a text stands for a member's whole content, a list for the lines after the header."""
    with tarfile.open(folder / archive, "w:gz", compresslevel=1) as tar:
        for part, table in tables.items():
            text = table if isinstance(table, (str, bytes)) else HEADER + "".join(f"{line}\n" for line in table)
            data = text.encode() if isinstance(text, str) else text
            info = tarfile.TarInfo(f"ann/{part}/labels.csv")
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))


def row(image, label, confidence=0.9, source="machine"):
    return f"{image:016x},{source},{label},{confidence}"


def found(annotations):
    """Return {image: {label: count}}."""
    labels = {image: {} for image in annotations.images}
    for image, label, count in annotations.pairs.rows():
        labels[annotations.images[image]][annotations.labels[label]] = count
    return labels


ROWS = st.lists(
    st.tuples(
        st.integers(0, 3) | st.integers(2**64 - 3, 2**64 - 1) | st.integers(0, 2**64 - 1),
        st.sampled_from(["/m/01", "/m/0k4j", "/g/11", "/m/ü", '"quoted"']),
        st.sampled_from([0, 0.49, 0.5, 1, 1.0, "1e-1", "0.50"]),
    ),
    max_size=40,
)


@given(ROWS, st.sampled_from(["\n", "\r\n"]), st.booleans(), st.integers(10, 200))
def test_what_was_written_is_read(tmp_path_factory, rows, end, last_end, block):
    folder = tmp_path_factory.mktemp("raw")
    text = HEADER.strip() + end + end.join(row(*fields) for fields in rows) + (end if rows and last_end else "")
    write(folder, train=text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(openimages, "BLOCK", block)
        annotations = read(folder, TRAIN)
    wanted = {f"{image:016x}": {} for image, _, _ in rows}
    for image, label, confidence in rows:
        if float(confidence) >= 0.5:
            wanted[f"{image:016x}"][label] = 1
    assert found(annotations) == wanted
    assert annotations.images.to_list() == sorted(wanted)
    assert annotations.labels == sorted({label for labels in wanted.values() for label in labels})
    assert annotations.pairs.equals(annotations.pairs.sort("image", "label"))
    n_sure = sum(float(confidence) >= 0.5 for _, _, confidence in rows)
    repeats = n_sure - sum(map(len, wanted.values()))
    assert [entry.number for entry in annotations.dropped] == [n for n in (len(rows) - n_sure, repeats) if n]


def test_the_official_partition(tmp_path):
    write(tmp_path, train=[row(3, "/m/a"), row(1, "/m/b")], validation=[row(2, "/m/a")])
    annotations = read(tmp_path, BOTH)
    assert [int(image, 16) for image in annotations.images] == [1, 2, 3]
    assert annotations.parts.to_list() == ["train", "test", "train"]
    assert read(tmp_path, TRAIN).parts is None
    assert read(tmp_path, Options(archive="ann.tar.gz", parts=["validation"], min_confidence=0)).parts is None


def test_labels_that_people_saw(tmp_path):
    lines = [row(1, "/m/a", 1), row(1, "/m/b", 0), row(2, "/m/b", 0), row(2, "/m/a", 0), row(2, "/m/a", 1, "crowd")]
    write(tmp_path, train=lines)
    annotations = read(tmp_path, Options(archive="ann.tar.gz", parts=["train"], min_confidence=1))
    assert found(annotations) == {"0000000000000001": {"/m/a": 1}, "0000000000000002": {"/m/a": 1}}


def names_archive(folder, text):
    with tarfile.open(folder / "classes.tar.gz", "w:gz") as tar:
        data = text if isinstance(text, bytes) else text.encode()
        info = tarfile.TarInfo("2017_11/names.csv")
        info.size = len(data)
        tar.addfile(info, io.BytesIO(data))


NAMED = Options(
    archive="ann.tar.gz",
    parts=["train"],
    min_confidence=0.5,
    class_names={"archive": "classes.tar.gz", "member": "names.csv"},
)


def test_names(tmp_path):
    write(tmp_path, train=[row(1, f"/m/{letter}") for letter in "abcde"])
    names_archive(tmp_path, '/m/a,Jaguar\n/m/b,"Fish, dried"\r\n/m/d,Jaguar\n/m/e,\n/m/unused,Jaguar\n')
    assert read(tmp_path, NAMED).labels == ["Jaguar (/m/a)", "Fish, dried", "/m/c", "Jaguar (/m/d)", "/m/e"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("/m/a,Jaguar\n/m/b\n", "names.csv: line 2: has 1 columns"),
        ("/m/a,Jaguar\n/m/a,Tiger\n", "names.csv: line 2: gives /m/a a second name"),
        ('/m/a,"Jaguar\n', "names.csv: line 1: unexpected end of data"),
        (b"/m/a,J\n/m/b,\xff\n", "names.csv: line 2: not UTF-8 text"),
    ],
)
def test_a_fault_of_the_names_is_named(tmp_path, text, message):
    write(tmp_path, train=[row(1, "/m/a")])
    names_archive(tmp_path, text)
    with pytest.raises(UserError) as error:
        read(tmp_path, NAMED)
    assert message in str(error.value)
    assert "classes.tar.gz" in str(error.value)
    assert "\n" not in str(error.value)


GOOD = row(1, "/m/a")
FAULTS = {
    "too few columns": (f"{5:016x},machine,/m/a", "has 3 columns, not ImageID,Source,LabelName,Confidence"),
    "too many columns": (GOOD + ",0.5", "has 5 columns"),
    "blank line": ("", "has 1 columns"),
    "no hexadecimal digits": ("000000000000000g,machine,/m/a,0.5", "b'000000000000000g' is not an image id of 16"),
    "sign": ("+000000000000001,machine,/m/a,0.5", "b'+000000000000001' is not an image id"),
    "short id": ("1,machine,/m/a,0.5", "b'1' is not an image id"),
    "no label": (row(1, ""), "names no label"),
    "no confidence": (row(1, "/m/a", ""), "the confidence b'' is not a number"),
    "confidence a word": (row(1, "/m/a", "high"), "the confidence b'high' is not a number"),
    "confidence not a number": (row(1, "/m/a", "nan"), "the confidence b'nan' is not between 0 and 1"),
    "confidence too high": (row(1, "/m/a", 1.01), "the confidence b'1.01' is not between 0 and 1"),
    "confidence negative": (row(1, "/m/a", -0.1), "the confidence b'-0.1' is not between 0 and 1"),
    "carriage return": (row(1, "/m/a\r"), "contains a carriage return"),
    "underscore": (row(1, "/m/a", "0_1"), "the confidence b'0_1' is not a number"),
    "not UTF-8": (b"0000000000000001,machine,/m/\xff,0.5", "not UTF-8 text"),
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("n_before", [0, 100])
def test_a_fault_is_named(tmp_path, monkeypatch, fault, n_before):
    monkeypatch.setattr(openimages, "BLOCK", 1000)  # bytes, so that the second case is in a later block
    line, message = FAULTS[fault]
    line = line if isinstance(line, bytes) else line.encode()
    start = (HEADER + f"{GOOD}\n" * n_before).encode()
    write(tmp_path, train=start + line + f"\n{GOOD}\nanother,fault\n".encode())
    with pytest.raises(UserError) as error:
        read(tmp_path, TRAIN)
    assert f"ann.tar.gz: ann/train/labels.csv: line {n_before + 2}: {message}" in str(error.value)
    assert "\n" not in str(error.value)


def mutate(line, rng):
    """Replace, insert or delete a few bytes, mostly near the confidence."""
    for _ in range(rng.integers(1, 5)):
        at = rng.integers(len(line) - 6 if rng.random() < 0.6 else 0, len(line) + 1)
        byte = rng.choice(list(b'015.eE+-_ \t\r\n\v",#naifx\0\xc3\xa9\xff'))
        line = line[:at] + bytes([byte]) * rng.integers(0, 2) + line[at + rng.integers(0, 2) :]
    return line


def test_polars_and_the_search_for_the_fault_agree():
    rng = np.random.default_rng(0)
    outcomes = set()
    for _ in range(1000):
        lines = (GOOD.encode(), mutate(GOOD.encode(), rng), GOOD.encode())
        block = b"\n".join(lines) + b"\n"
        faults = [openimages._find_fault(line.removesuffix(b"\r")) for line in block[:-1].split(b"\n")]
        if any(faults):
            first = next(number for number, fault in enumerate(faults, start=1) if fault)
            with pytest.raises(UserError) as error:
                openimages._parse_block(block, 0, "here")
            assert str(error.value) == f"here: line {first}: {faults[first - 1]}"
        else:
            assert len(openimages._parse_block(block, 0, "here")) == len(faults)
        outcomes.add(any(faults))
    assert outcomes == {False, True}


def test_other_faults_of_an_archive_are_named(tmp_path):
    write(tmp_path, train="ImageID,Label\n")
    with pytest.raises(UserError, match=r"ann/train/labels\.csv: line 1: is b'ImageID,Label\\n', not ImageID,Source"):
        read(tmp_path, TRAIN)
    write(tmp_path, train=[GOOD])
    with pytest.raises(UserError, match=r"ann\.tar\.gz: contains no validation/labels\.csv"):
        read(tmp_path, BOTH)
    write(tmp_path, train=[GOOD, row(2, "/m/a")], validation=[row(2, "/m/b")])
    with pytest.raises(UserError, match=r"image 0000000000000002 is in several of the tables of train, validation"):
        read(tmp_path, BOTH)


@pytest.fixture(scope="module")
def generated(tmp_path_factory):
    """An archive of 200,000 lines, and what is in it."""
    folder = tmp_path_factory.mktemp("generated")
    return folder, generate(folder / "ann.tar.gz", 200_000, seed=1)


def prepare(folder, out, vocabulary):
    options = {"archive": "ann.tar.gz", "min_confidence": 0.5}
    definition = {"adapter": "openimages", "options": options, "vocabulary": vocabulary}
    assert data_sets.prepare(definition, folder, out) == 0
    return read_json(out / "summary.json")


def test_a_generated_table_becomes_the_label_matrix_it_was_made_from(generated, tmp_path):
    folder, made = generated
    summary = prepare(folder, tmp_path, {})
    assert summary["counts"]["images"] == made["images"]
    assert summary["counts"]["pairs"] == made["pairs"] == 200_000 - made["repeats"]
    assert [entry["number"] for entry in summary["dropped"]] == [made["repeats"]]
    labels = read_parquet(tmp_path / "labels.parquet")
    assert dict(labels.select("name", "frequency").rows()) == made["frequency"]
    parts = read_parquet(tmp_path / "images.parquet")["part"].to_list()
    assert 0 < parts.count("test") < 0.1 * len(parts)


def test_a_sample_like_that_of_the_papers(generated, tmp_path):
    folder, _ = generated
    vocabulary = {"sample_images": 5000, "top_labels": 2000, "min_labels_per_image": 2, "seed": 3}
    counts = prepare(folder, tmp_path / "a", vocabulary)["counts"]
    assert 4900 < counts["images"] <= 5000
    assert counts["labels"] == 2000
    prepare(folder, tmp_path / "b", vocabulary)
    assert (tmp_path / "a" / "pairs.parquet").read_bytes() == (tmp_path / "b" / "pairs.parquet").read_bytes()
    lengths = np.bincount(read_parquet(tmp_path / "a" / "pairs.parquet")["image"])
    assert lengths.min() >= 2
