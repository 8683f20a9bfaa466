import gzip
import json
import random
import shutil
import subprocess
from collections import Counter

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vsebench.core.errors import UserError
from vsebench.core.yaml_files import check
from vsebench.formats.own_files import find
from vsebench.formats.readers import table

ROWS = [
    ("007", "Zürich"),
    ("b,1", 'say "x"'),
    ("two  words", "sky"),
    ("007", "sky"),
    ("007", "sky"),
    ("猫", "sky blue"),
]
NAMES = ["t.csv", "t.tsv", "t.jsonl", "t.ndjson", "t.csv.gz", "t.tsv.zst", "t.jsonl.gz", "t.ndjson.zst", "t.csv.zst"]


def write(path, rows, header=("image", "label")):
    """Write a table as other programs do: polars for CSV and Parquet, json for JSON lines."""
    frame = pl.DataFrame(rows, schema=list(header), orient="row")
    plain = path.with_suffix("") if path.suffix in (".gz", ".zst") else path
    if plain.suffix == ".parquet":
        frame.write_parquet(plain)
    elif plain.suffix.lower() in (".csv", ".tsv"):
        frame.write_csv(plain, separator="\t" if plain.suffix == ".tsv" else ",")
    else:
        lines = [json.dumps(dict(zip(header, row, strict=True)), ensure_ascii=False) for row in rows]
        plain.write_text("\n".join(lines) + "\n", encoding="utf-8")
    compress(plain, path)
    return path


def compress(plain, path):
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(plain.read_bytes()))
    if path.suffix == ".zst":
        path.write_bytes(zstd(plain.read_bytes()))


def zstd(content):
    """A frame of raw blocks, so that no zstd program is needed (RFC 8878)."""
    blocks = [content[start : start + 1000] for start in range(0, len(content), 1000)] or [b""]
    out = b"\x28\xb5\x2f\xfd\x00\x58"  # magic, no options, window of 2 MiB
    for number, block in enumerate(blocks):
        out += (len(block) << 3 | (number == len(blocks) - 1)).to_bytes(3, "little") + block
    return out


def read(path, **options):
    annotations = table.read(path.parent / "raw", check(table.Options, {"pairs": str(path), **options}, "here"))
    images, labels = list(annotations.images), list(annotations.labels)
    assert images == sorted(images)
    assert labels == sorted(labels)
    pairs = annotations.pairs
    assert pairs.schema == {"image": pl.Int32, "label": pl.Int32, "count": pl.Int32}
    assert pairs.rows() == sorted(pairs.rows())
    return images, labels, {(images[i], labels[j]): count for i, j, count in pairs.rows()}


@pytest.mark.parametrize("name", [*NAMES, "t.parquet", "T.CSV", "t[1]*.parquet", "t[1]*.csv.zst"])
def test_every_format_reads_the_same(tmp_path, name):
    images, labels, pairs = read(write(tmp_path / name, ROWS))
    assert pairs == Counter(ROWS)
    assert images == sorted({row[0] for row in ROWS})
    assert labels == sorted({row[1] for row in ROWS})


@pytest.mark.skipif(shutil.which("zstd") is None, reason="no zstd program here")
def test_what_the_zstd_program_writes_is_read(tmp_path):
    plain = write(tmp_path / "t.csv", ROWS * 500)
    subprocess.run(["zstd", "-q", plain], check=True)
    assert read(tmp_path / "t.csv.zst") == read(plain)


def test_columns_counts_and_others(tmp_path):
    path = write(
        tmp_path / "t.csv", [("x", "a", 2, "L"), ("x", "a", 3, "M"), ("x", "b", 1, "L")], ("w", "id", "n", "tag")
    )
    assert read(path, image="w", label="tag", count="n")[2] == {("x", "L"): 3, ("x", "M"): 3}
    assert read(path, image="w", label="tag")[2] == {("x", "L"): 2, ("x", "M"): 1}
    named_count = write(tmp_path / "u.csv", [("x", "a", 7)], ("image", "label", "count"))
    assert read(named_count)[2] == {("x", "a"): 7}


def test_a_cell_of_another_column_may_have_several_lines(tmp_path):
    path = write(tmp_path / "t.csv", [("x", "a", "two\nlines"), ("y", "b", "")], ("image", "label", "note"))
    assert read(path)[2] == {("x", "a"): 1, ("y", "b"): 1}


@pytest.mark.parametrize("name", ["t.parquet", "t.jsonl"])
def test_numbers_are_ids_as_well(tmp_path, name):
    path = write(tmp_path / name, [(7, "a", 2), (12345678901234567890 % 2**62, "b", 1)], ("image", "label", "count"))
    assert read(path)[2] == {("7", "a"): 2, (str(12345678901234567890 % 2**62), "b"): 1}


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl.zst", "t.parquet"])
def test_a_wide_table(tmp_path, name):
    rows = [("b", "sky  sea\tsky"), ("a", ""), ("b", "tree"), ("c", "sea")]
    images, _, pairs = read(write(tmp_path / name, rows), layout="wide")
    assert images == ["a", "b", "c"]  # a has no label
    assert pairs == {("b", "sky"): 2, ("b", "sea"): 1, ("b", "tree"): 1, ("c", "sea"): 1}


def test_a_wide_table_with_a_separator(tmp_path):
    path = write(tmp_path / "t.tsv", [("a", "blue sky; sea ;;"), ("b", ";")])
    assert read(path, layout="wide", separator=";") == (
        ["a", "b"],
        ["blue sky", "sea"],
        {("a", "blue sky"): 1, ("a", "sea"): 1},
    )


@pytest.mark.parametrize("name", ["t.jsonl", "t.parquet"])
def test_a_wide_table_with_lists(tmp_path, name):
    path = write(tmp_path / name, [("a", ["blue sky", "sea"]), ("b", [])], ("image", "labels"))
    images, _, pairs = read(path, layout="wide", label="labels")
    assert images == ["a", "b"]
    assert pairs == {("a", "blue sky"): 1, ("a", "sea"): 1}


def test_white_space_around_names_goes_and_other_differences_stay(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(
        '\ufeff image ,label\r\n 1 ,sky\r\n01, Sky\r\n\r\n1,"sky "\r\n1,e\u0301\r\n1,\u00e9\r\n', newline=""
    )
    assert read(path)[2] == {("1", "sky"): 2, ("01", "Sky"): 1, ("1", "e\u0301"): 1, ("1", "\u00e9"): 1}


@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "t.jsonl.gz"])
def test_the_order_of_the_rows_does_not_matter(tmp_path, name):
    rows = [(f"i{n % 50}", f"l{n % 7}") for n in range(400)]
    first = read(write(tmp_path / name, rows))
    random.Random(1).shuffle(rows)
    assert read(write(tmp_path / name, rows)) == first


names = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Zl", "Zp"]), min_size=1).filter(str.strip)


@given(rows=st.lists(st.tuples(names, names), min_size=1), name=st.sampled_from([*NAMES, "t.parquet"]))
def test_any_text_without_control_characters_is_an_id(tmp_path_factory, rows, name):
    path = write(tmp_path_factory.mktemp("any") / name, rows)
    assert read(path)[2] == Counter((image.strip(), label.strip()) for image, label in rows)


@pytest.mark.parametrize("name", ["t.csv.gz", "t.csv.zst", "t.parquet"])
@pytest.mark.parametrize("damage", ["cut off", "another file"])
def test_a_damaged_file_is_one_line(tmp_path, name, damage):
    path = write(tmp_path / name, [(str(number), "a") for number in range(3000)])
    content = path.read_bytes()
    path.write_bytes({"cut off": content[: len(content) // 2], "another file": b"\x89PNG\xff\xff" * 9}[damage])
    with pytest.raises(UserError) as error:
        read(path)
    assert str(path) in str(error.value)


@pytest.mark.parametrize("suffix", [".csv.gz", ".jsonl.gz"])
def test_an_endless_line_is_refused_before_it_fills_the_memory(tmp_path, suffix):
    path = tmp_path / f"t{suffix}"
    with gzip.open(path, "wb", compresslevel=1) as stream:
        stream.write(b"image,label\n" if "csv" in suffix else b"\n")
        for _ in range(40):
            stream.write(b"x" * (1 << 20))
    with pytest.raises(
        UserError, match=f"t{suffix}: line 2: has 16777216 bytes or more; check that the file is a table"
    ):
        read(path)


def test_parquet_columns_have_to_be_text_or_whole_numbers(tmp_path):
    path = write(tmp_path / "t.parquet", [(1.5, "a")])
    with pytest.raises(UserError, match="the column 'image' is Float64, but must be text or whole numbers"):
        read(path)
    path = write(tmp_path / "t.parquet", [("1", "a"), ("2", None)])
    with pytest.raises(UserError, match="row 2: the label is missing"):
        read(path)
    with pytest.raises(UserError, match="no column 'img'; the columns are 'image', 'label'"):
        read(path, image="img")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pairs": "t.xls"}, "here: pairs: the name must end in .parquet, or in .csv"),
        ({"pairs": "t.parquet.gz"}, "here: pairs: the name must end in"),
        ({"layout": "wide", "count": "n"}, "count: a wide table has no counts"),
        ({"separator": ";"}, "separator: only a wide table has one"),
        ({"image": "x", "label": "x"}, "image, label, count and part must name different columns"),
        ({"colour": "x"}, "here: colour: unknown key"),
        ({"seperator": ";"}, "here: seperator: unknown key; did you mean separator?"),
    ],
)
def test_options_are_checked(options, message):
    with pytest.raises(UserError, match=message):
        check(table.Options, {"pairs": "t.csv", **options}, "here")


def test_a_table_is_found_among_the_downloads_or_at_its_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    raw = tmp_path / "raw"
    raw.mkdir()
    with pytest.raises(UserError, match=r"t\.csv: no such file"):
        find(raw, "t.csv")
    (raw / "t.csv").write_text("x")
    assert find(raw, "t.csv") == raw / "t.csv"
    (tmp_path / "t.csv").write_text("y")
    with pytest.raises(UserError, match=r"both .* exist; move or rename one"):
        find(raw, "t.csv")
