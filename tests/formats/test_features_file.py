"""A user's own features: they are read as they were written, and a mistake is one line that names the file."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from vsebench.config.dataset import FeaturesFile
from vsebench.core.errors import UserError
from vsebench.formats.annotations import Dropped
from vsebench.formats.features_file import read_features_file

IMAGES = ["a", "b", "c", "d"]
VALUES = np.array([[1, 0, 2], [0, 0, 0], [0, 3, 0], [4, 5, 6]], dtype=np.float32)


def read(folder, file, ids=None, images=IMAGES, **options):
    return read_features_file(folder / "raw", FeaturesFile(file=str(folder / file), ids=ids, **options), images)


def plain(features):
    return features.values.toarray() if features.is_sparse else np.asarray(features.values)


def write(path, values, ids, layout="columns"):
    """Write features in the format of the name; return the file of the ids, or None if they are in the same file."""
    if path.suffix in (".parquet", ".csv"):
        table = {"image": ids}
        if layout == "columns":
            table |= {f"f{i}": column for i, column in enumerate(values.T)}
        else:
            table["f"] = pl.Series(values.tolist(), dtype=pl.List(pl.Float64)) if layout == "list" else values
        frame = pl.DataFrame(table)
        if path.suffix == ".csv":
            frame.write_csv(path)
        else:
            frame.write_parquet(path)
        return None
    if path.suffix == ".npz":
        sparse.save_npz(path, sparse.csr_array(values))
    else:
        np.save(path, values)
    path.with_suffix(".txt").write_text("".join(f"{image}\n" for image in ids))
    return str(path.with_suffix(".txt"))


LAYOUTS = [
    ("f.npy", ""), ("f.npz", ""), ("f.parquet", "columns"), ("f.parquet", "list"), ("f.parquet", "array"),
    ("f.csv", "columns"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "layout"), LAYOUTS)
@given(data=st.data())
def test_features_are_matched_by_the_ids_of_images(tmp_path_factory, name, layout, data):
    folder = tmp_path_factory.mktemp("features")
    ids = data.draw(st.permutations([*IMAGES, "x", "y"]))[: data.draw(st.integers(1, 6))]
    numbers = st.floats(-1000, 1000, width=32)
    values = data.draw(arrays(np.float32, (len(ids), data.draw(st.integers(1, 4))), elements=numbers))
    source = write(folder / name, values, ids, layout)
    if not set(ids) & set(IMAGES):
        with pytest.raises(UserError, match="no row belongs to an image of the data set"):
            read(folder, name, source)
        return
    features, dropped = read(folder, name, source)
    assert features.is_sparse == (name == "f.npz")
    assert features.known.tolist() == [image in ids for image in IMAGES]
    wanted = np.array([values[ids.index(image)] if image in ids else 0 * values[0] for image in IMAGES])
    assert np.array_equal(plain(features), wanted)
    extra = len(set(ids) - set(IMAGES))
    assert dropped == ([Dropped("rows of features", extra, "their images are not in the data set")] if extra else [])


@pytest.mark.parametrize("name", ["f.npy", "f.npz"])
def test_without_ids_rows_are_in_the_order_of_the_images(tmp_path, name):
    write(tmp_path / name, VALUES, IMAGES)
    features, dropped = read(tmp_path, name)
    assert np.array_equal(plain(features), VALUES)
    assert features.known.all()
    assert dropped == []


def test_a_file_among_the_downloads_is_found_by_its_name(tmp_path):
    (tmp_path / "raw").mkdir()
    source = write(tmp_path / "raw" / "f.npy", VALUES, IMAGES)
    assert source
    found, _ = read_features_file(tmp_path / "raw", FeaturesFile(file="f.npy", ids="f.txt"), IMAGES)
    assert np.array_equal(found.values, VALUES)


TYPES = {
    "half precision stays": (VALUES.astype(np.float16), np.float16),
    "double": (VALUES.astype(np.float64), np.float32),
    "whole numbers": (VALUES.astype(np.int64), np.float32),
    "big-endian": (VALUES.astype(">f4"), np.float32),
    "big-endian half": (VALUES.astype(">f2"), np.float16),
    "by columns": (np.asfortranarray(VALUES), np.float32),
}


@pytest.mark.parametrize("case", TYPES)
def test_types_of_numbers(tmp_path, case):
    values, wanted = TYPES[case]
    np.save(tmp_path / "f.npy", values)
    features, _ = read(tmp_path, "f.npy")
    assert features.values.dtype == wanted
    assert features.values.dtype.isnative
    assert np.array_equal(features.values, VALUES)


def test_ids_of_a_table_may_be_whole_numbers_in_a_column_of_another_name(tmp_path):
    pl.DataFrame({"photo": [7, 3], "f": [1.0, 2.0]}).write_parquet(tmp_path / "f.parquet")
    features, _ = read(tmp_path, "f.parquet", images=["3", "7"], image="photo")
    assert features.values.tolist() == [[2.0], [1.0]]


def test_ids_in_a_csv_file_are_text_and_its_numbers_may_have_spaces(tmp_path):
    (tmp_path / "f.csv").write_text('"f, 1",photo,f2\n 0.5,007,1e-3\n-2, 08 ,3 \n', encoding="utf-8-sig")
    features, _ = read(tmp_path, "f.csv", images=["08", "007"], image="photo")
    assert np.array_equal(features.values, np.array([[-2, 3], [0.5, 1e-3]], dtype=np.float32))


def npy(values):
    return lambda folder: np.save(folder / "f.npy", values)


def ids(text):
    def make(folder):
        np.save(folder / "f.npy", VALUES)
        (folder / "ids.txt").write_bytes(text)

    return make


def table(**columns):
    return lambda folder: pl.DataFrame(columns).write_parquet(folder / "f.parquet")


def csv(text):
    data = text if isinstance(text, bytes) else text.encode()
    return lambda folder: (folder / "f.csv").write_bytes(data)


def archive(**changes):
    def make(folder):
        stored = {"format": np.array(b"csr"), "shape": np.array([4, 3]), "data": np.ones(2, np.float32)}
        stored |= {"indices": np.array([0, 2]), "indptr": np.array([0, 1, 2, 2, 2])} | changes
        np.savez(folder / "f.npz", **{name: array for name, array in stored.items() if array is not None})

    return make


NAN = np.where(VALUES == 6, np.nan, VALUES)
MISTAKES = {
    "NaN": (npy(NAN), "f.npy: row 4: contains a number that is not finite"),
    "infinite": (npy(np.where(VALUES == 3, np.inf, VALUES)), "f.npy: row 3: contains a number that is not finite"),
    "too big": (npy(VALUES.astype(np.float64) * 1e300), "f.npy: row 1: contains a number that is not finite"),
    "one dimension": (npy(VALUES[:, 0]), "f.npy: features have shape (4,)"),
    "three dimensions": (npy(VALUES[None]), "f.npy: features have shape (1, 4, 3)"),
    "text": (npy(np.array([["a"]] * 4)), "f.npy: features should be numbers, but are <U1"),
    "objects": (npy(np.array([[None]] * 4)), "f.npy: not a readable .npy file"),
    "too few rows": (npy(VALUES[:3]), "f.npy: 3 rows of features, but 4 images in the data set; list the image ids"),
    "fewer ids than rows": (ids(b"a\nb\nc\n"), "f.npy: 4 rows of features, but 3 ids in "),
    "an id twice": (ids(b"a\nb\na\nd\n"), "ids.txt: the image 'a' occurs 2 times; names must be unique"),
    "a blank line": (ids(b"a\n\nc\nd\n"), "ids.txt: line 2: the image has an empty name"),
    "other ids": (
        ids(b"1\n2\n3\n4\n"),
        "f.npy: no row belongs to an image of the data set; the file's ids look like ['1'], the data set's ids like",
    ),
    "no column of ids": (table(photo=["a"], f=[1.0]), "f.parquet: no column 'image' with image ids; the columns are"),
    "ids that are numbers": (table(image=[1.5], f=[1.0]), "f.parquet: the column 'image' is Float64"),
    "a control character in an id": (
        ids(b"a\nb\x1b[31m\nc\nd\n"),
        r"ids.txt: line 2: the image 'b\x1b[31m' contains '\x1b'; remove control characters",
    ),
    "an id of two lines": (
        table(image=["a", "b\nc"], f=[1.0, 2.0]),
        r"f.parquet: row 2: the image 'b\nc' contains '\n'; remove control characters",
    ),
    "no id": (table(image=["a", None], f=[1.0, 2.0]), "f.parquet: row 2: the image has an empty name"),
    "a table's id twice": (
        table(image=["a", "a"], f=[1.0, 2.0]),
        "f.parquet: the image 'a' occurs 2 times; names must be unique",
    ),
    "a column of text": (
        table(image=["a"], f=["x"]),
        "f.parquet: the column 'f' is String; convert it to numbers",
    ),
    "an empty cell": (
        table(image=["a", "b"], f=[1.0, None]),
        "f.parquet: the column 'f' has empty cells; fill them or remove the rows",
    ),
    "no features": (table(image=["a"]), "f.parquet: features have shape (1, 0)"),
    "lists of two lengths": (
        table(image=["a", "b"], f=[[1.0], [1.0, 2.0]]),
        "f.parquet: row 2: has 2 features, but row 1 has 1",
    ),
    "no list": (table(image=["a", "b"], f=[[1.0], None]), "f.parquet: row 2: has None features, but row 1 has 1"),
    "text in a CSV file": (
        csv("image,f1,f2\na,1,2\nb,3,n/a\n"),
        "f.csv: row 2: the column 'f2' is 'n/a', which is not a number",
    ),
    "NaN in a CSV file": (csv("image,f1\na,1\nb,nan\n"), "f.csv: row 2: contains a number that is not finite"),
    "an empty cell in a CSV file": (csv("image,f1,f2\na,1,\n"), "f.csv: the column 'f2' has empty cells"),
    "a short row in a CSV file": (csv("image,f1,f2\na,1\n"), "f.csv: the column 'f2' has empty cells"),
    "a long row in a CSV file": (csv("image,f1\na,1,2\n"), "f.csv: not a readable .csv file"),
    "no header": (csv("a,1,2\nb,3,4\n"), "f.csv: no column 'image' with image ids; the columns are a, 1, 2"),
    "an empty CSV file": (csv(""), "f.csv: not a readable .csv file"),
    "a CSV file that is not UTF-8": (csv("image,f1\n\xe4,1\n".encode("latin-1")), "f.csv: not a readable .csv file"),
    "a damaged table": (
        lambda folder: (folder / "f.parquet").write_bytes(b"PAR1"),
        "f.parquet: not a readable .parquet file",
    ),
    "dense in .npz": (lambda folder: np.savez(folder / "f.npz", VALUES), "f.npz: not a sparse matrix"),
    "by columns": (archive(format=np.array(b"csc")), "f.npz: the sparse matrix is not in CSR format"),
    "an array called .npz": (
        lambda folder: np.save((folder / "f.npz").open("wb"), VALUES),
        "f.npz: contains an array, not a sparse",
    ),
    "a column too far": (archive(indices=np.array([0, 3])), "f.npz: offsets or column numbers"),
    "offsets that fall": (archive(indptr=np.array([0, 2, 1, 2, 2])), "f.npz: offsets or column numbers"),
    "columns of floats": (archive(indices=np.array([0.0, 2.0])), "f.npz: not a sparse matrix (columns and offsets"),
    "a column twice": (
        archive(indices=np.array([1, 1]), indptr=np.array([0, 2, 2, 2, 2])),
        "f.npz: row 1: column numbers of sparse features must be ascending, without repeats",
    ),
    "sparse NaN": (archive(data=np.array([1, np.nan])), "f.npz: row 2: contains a number that is not finite"),
    "no data": (archive(data=None), "f.npz: not a sparse matrix"),
    "a huge shape": (archive(shape=np.array([4, 1 << 62])), "f.npz: offsets or column numbers"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_one_line_that_names_the_file(tmp_path, mistake):
    make, message = MISTAKES[mistake]
    make(tmp_path)
    name = next((name for name in ("f.parquet", "f.npz", "f.csv") if (tmp_path / name).exists()), "f.npy")
    source = str(tmp_path / "ids.txt") if (tmp_path / "ids.txt").exists() else None
    with pytest.raises(UserError) as error:
        read(tmp_path, name, source)
    assert str(error.value).startswith(str(tmp_path))
    assert message in str(error.value)
