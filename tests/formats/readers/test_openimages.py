import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz.targets import write_tar
from vsebench.core.errors import UserError
from vsebench.formats.readers import openimages
from vsebench.formats.readers.openimages import Options, read

HEADER = "ImageID,Source,LabelName,Confidence"
TRAIN = Options(archive="ann.tar.gz", parts=["train"], min_confidence=0.5)
BOTH = Options(archive="ann.tar.gz", min_confidence=0.5)


def write(folder, **tables):
    """Write the tables of parts; a text stands for a member's whole content, a list for the lines after the header."""
    texts = {part: table if isinstance(table, str) else "\n".join([HEADER, *table]) for part, table in tables.items()}
    write_tar(folder / "ann.tar.gz", {f"{part}/labels.csv": text.encode() for part, text in texts.items()})


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
    text = HEADER + end + end.join(row(*fields) for fields in rows) + (end if rows and last_end else "")
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


NAMED = Options(
    archive="ann.tar.gz",
    parts=["train"],
    min_confidence=0.5,
    class_names={"archive": "classes.tar.gz", "member": "names.csv"},
)


def test_names(tmp_path):
    write(tmp_path, train=[row(1, f"/m/{letter}") for letter in "abcde"])
    names = b'/m/a,Jaguar\n/m/b,"Fish, dried"\r\n/m/d,Jaguar\n/m/e,\n/m/unused,Jaguar\n'
    write_tar(tmp_path / "classes.tar.gz", {"names.csv": names})
    assert read(tmp_path, NAMED).labels == ["Jaguar (/m/a)", "Fish, dried", "/m/c", "Jaguar (/m/d)", "/m/e"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"/m/a,Jaguar\n/m/b\n", "names.csv: line 2: has 1 columns"),
        (b"/m/a,Jaguar\n/m/a,Tiger\n", "names.csv: line 2: gives /m/a a second name"),
        (b'/m/a,"Jaguar\n', "names.csv: line 1: unexpected end of data"),
        (b"/m/a,J\n/m/b,\xff\n", "names.csv: line 2: not UTF-8 text"),
        (b'/m/a,J\n/m/b,"two\nlines"\n', r"names.csv: line 3: the name 'two\nlines' contains '\n'; remove control"),
    ],
)
def test_a_fault_of_the_names_is_named(tmp_path, text, message):
    write(tmp_path, train=[row(1, "/m/a")])
    write_tar(tmp_path / "classes.tar.gz", {"names.csv": text})
    with pytest.raises(UserError) as error:
        read(tmp_path, NAMED)
    assert message in str(error.value)
    assert "classes.tar.gz" in str(error.value)


GOOD = row(1, "/m/a")


def test_the_line_of_a_fault_in_a_later_block_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(openimages, "BLOCK", 1000)  # bytes
    write(tmp_path, train=[*[GOOD] * 100, "1,machine,/m/a,0.5", GOOD, "another,fault"])
    with pytest.raises(UserError, match=r"ann\.tar\.gz: top/train/labels\.csv: line 102: b'1' is not an image id"):
        read(tmp_path, TRAIN)


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
