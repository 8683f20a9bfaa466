import gzip
import re

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from vsebench.config.dataset import DatasetDefinition
from vsebench.core.errors import UserError
from vsebench.core.storage import features_file
from vsebench.core.yaml_files import check
from vsebench.formats.readers import mulan

names = st.text(st.characters(exclude_categories=["C", "Z"], exclude_characters="<&\x85"), min_size=1, max_size=8)


def options(**given):
    return check(mulan.Options, {"labels": "l.xml", **given}, "options")


def quoted(name):
    return "'" + name.replace("\\", "\\\\").replace("'", "\\'") + "'"


def xml(labels):
    names = (name.replace("&", "&amp;").replace(chr(34), "&quot;") for name in labels)
    return "<labels>" + "".join(f'<label name="{name}"/>' for name in names) + "</labels>"


def arff(attributes, rows):
    return (
        "\n".join(["@relation r", *(f"@ATTRIBUTE {name} {kind}" for name, kind in attributes), "@data", *rows]) + "\n"
    )


def write(folder, **files):
    for name, content in files.items():
        data = content if isinstance(content, bytes) else content.encode()
        (folder / name.replace("_", ".")).write_bytes(data)


def matrix_of(annotations):
    dense = np.zeros((len(annotations.images), len(annotations.labels)), dtype=int)
    dense[annotations.pairs["image"], annotations.pairs["label"]] = annotations.pairs["count"]
    return dense


def values_of(annotations):
    values = annotations.features.values
    return values.toarray() if sparse.issparse(values) else values


@given(st.data())
def test_what_was_written_is_read(tmp_path_factory, data):
    """Labels are anywhere among the attributes, and in another order in the XML file."""
    width, n = data.draw(st.integers(2, 7)), data.draw(st.integers(1, 6))
    attributes = data.draw(st.lists(names, min_size=width, max_size=width, unique=True))
    n_labels = data.draw(st.integers(1, width - 1))
    labels = data.draw(st.permutations(range(width)))[:n_labels]
    elements = st.floats(width=32, allow_nan=False, allow_infinity=False)
    matrix = data.draw(arrays(np.float32, (n, width), elements=elements))
    matrix[:, labels] = data.draw(arrays(bool, (n, n_labels)))
    kind = data.draw(st.sampled_from(["sparse", "dense"]))
    train = data.draw(st.one_of(st.none(), st.integers(1, n)))
    assume(train != n)
    types = ["{0, 1}" if column in labels and data.draw(st.booleans()) else "numeric" for column in range(width)]
    written = [
        [f"{value:g}" if column in labels else repr(float(value)) for column, value in enumerate(row)] for row in matrix
    ]
    rows = (
        [",".join(row) for row in written]
        if kind == "dense"
        else [
            "{" + ",".join(f"{column} {value}" for column, value in enumerate(row) if matrix[i, column]) + "}"
            for i, row in enumerate(written)
        ]
    )
    folder = tmp_path_factory.mktemp("raw")
    header = [(quoted(name), of) for name, of in zip(attributes, types, strict=True)]
    write(folder, l_xml=xml([attributes[label] for label in labels]), a_arff=arff(header, rows))
    annotations = mulan.read(folder, options(arff="a.arff", features=kind, train_rows=train))
    others = [column for column in range(width) if column not in labels]
    assert annotations.labels == [attributes[label] for label in labels]
    assert np.array_equal(matrix_of(annotations), matrix[:, labels])
    assert annotations.features.is_sparse == (kind == "sparse")
    assert values_of(annotations).dtype == np.float32
    assert np.array_equal(values_of(annotations), matrix[:, others])
    assert annotations.features.known.all()
    assert annotations.images.to_list() == [f"a-{row:06d}" for row in range(1, n + 1)]
    parts = None if train is None else ["train"] * train + ["test"] * (n - train)
    assert (None if annotations.parts is None else annotations.parts.to_list()) == parts


@given(st.data())
def test_files_of_plain_names_are_read_as_by_liac_arff(tmp_path_factory, data):
    """Names with escapes, comments, blank lines, and rows of both kinds; scikit-learn contains liac-arff."""
    liac_arff = pytest.importorskip("sklearn.externals._arff")
    signs = st.sampled_from(["a", "B", "7", "_", ".", "é", "\\'", '\\"', "\\~", "\\\\"])
    name = st.lists(signs, min_size=1, max_size=5).map("".join).filter(lambda name: name[-1] not in "'\"")
    width = data.draw(st.integers(2, 5))
    keys = data.draw(st.lists(name, min_size=width, max_size=width, unique=True))
    assume(len({re.sub(r"\\(.)", r"\1", key) for key in keys}) == width)
    labels = data.draw(st.integers(1, width - 1))
    kinds = ["{0,1}"] * labels + data.draw(st.lists(st.sampled_from(["real", "{0,1}"]), min_size=width - labels))
    kinds = (kinds + ["numeric"] * width)[:width]
    number = st.floats(-1000, 1000, width=32).map(repr)
    cell = [st.sampled_from("01") if kind == "{0,1}" else number for kind in kinds]
    cells = data.draw(st.lists(st.tuples(*cell), min_size=1, max_size=5))
    kind = data.draw(st.sampled_from(["sparse", "dense"]))
    separator = data.draw(st.sampled_from([",", ", "]))
    rows = [
        separator.join(row)
        if kind == "dense"
        else "{" + separator.join(f"{at} {value}" for at, value in enumerate(row) if float(value)) + "}"
        for row in cells
    ]
    between = data.draw(st.lists(st.sampled_from(["", "% a comment"]), max_size=2))
    text = arff(list(zip(keys, kinds, strict=True)), [*between, *rows])
    folder = tmp_path_factory.mktemp("raw")
    write(folder, l_xml=xml(keys[:labels]), a_arff=text)
    annotations = mulan.read(folder, options(arff="a.arff", features=kind))
    theirs = liac_arff.loads(text)
    assert [name for name, _ in theirs["attributes"]] == keys
    matrix = np.array([[float(value) for value in row] for row in theirs["data"]], dtype=np.float32)
    assert annotations.labels == [re.sub(r"\\(.)", r"\1", key) for key in keys[:labels]]
    assert np.array_equal(matrix_of(annotations), matrix[:, :labels])
    assert np.array_equal(values_of(annotations), matrix[:, labels:])


def test_an_escaped_quote_in_a_name_without_quotes(tmp_path):
    """As in Mulan's `delicious-train.arff`, line 1115, and in its XML file."""
    header = [("x", "numeric"), (r"TAG_m\'usica", "{0,1}"), ("TAG_musica", "{0,1}"), (r"TAG_dise\~no", "{0,1}")]
    write(
        tmp_path,
        l_xml=xml(["TAG_musica", r"TAG_m\'usica", r"TAG_dise\~no"]),
        a_arff=arff(header, ["{0 2,1 1}", "{2 1}"]),
    )
    annotations = mulan.read(tmp_path, options(arff="a.arff", features="sparse"))
    assert annotations.labels == ["TAG_musica", "TAG_m'usica", "TAG_dise~no"]
    assert matrix_of(annotations).tolist() == [[0, 1, 0], [1, 0, 0]]


def test_two_labels_that_differ_only_in_an_escape_are_refused(tmp_path):
    header = [("x", "numeric"), (r"a\'b", "{0,1}"), ('"a\'b"', "{0,1}")]
    write(tmp_path, l_xml=xml([r"a\'b", "a'b"]), a_arff=arff(header, ["1,0,1"]))
    with pytest.raises(UserError, match=r"l\.xml: the label \"a'b\" occurs 2 times; names must be unique"):
        mulan.read(tmp_path, options(arff="a.arff", features="dense"))


def test_files_that_are_parts(tmp_path):
    header = [("x", "numeric"), ("y", "{0,1}")]
    packed = gzip.compress(arff(header, ["{0 2}", "{1 1}"]).encode())
    (tmp_path / "s-train.arff.gz").write_bytes(packed)
    (tmp_path / "s-test.arff").write_text(arff(header, ["{0 3,1 1}"]))
    write(tmp_path, l_xml=xml(["y"]))
    parts = {"train": "s-train.arff.gz", "test": "s-test.arff"}
    annotations = mulan.read(tmp_path, options(parts=parts, features="sparse"))
    assert annotations.images.to_list() == ["s-train-000001", "s-train-000002", "s-test-000001"]
    assert annotations.parts.to_list() == ["train", "train", "test"]
    assert values_of(annotations).tolist() == [[2], [0], [3]]
    assert matrix_of(annotations).tolist() == [[0], [1], [1]]
    (tmp_path / "s-test.arff").write_text(arff([("z", "numeric"), ("y", "{0,1}")], ["{}"]))
    with pytest.raises(
        UserError, match=r"s-test\.arff: its attributes differ in name, type or order from those of s-train\.arff\.gz"
    ):
        mulan.read(tmp_path, options(parts=parts, features="sparse"))


@pytest.mark.parametrize(("kind", "name"), [("sparse", "features.npz"), ("dense", "features.npy")])
def test_the_features_have_the_name_that_the_workflow_waits_for(tmp_path, kind, name):
    rows = {"sparse": ["{1 1}", "{0 2}"], "dense": ["0,1", "2,0"]}[kind]
    write(tmp_path, l_xml=xml(["y"]), a_arff=arff([("x", "numeric"), ("y", "{0,1}")], rows))
    given = {"labels": "l.xml", "arff": "a.arff", "features": kind}
    (features,) = DatasetDefinition(adapter="mulan", options=given).sets.values()
    assert features_file("", features.is_sparse) == name
    assert mulan.read(tmp_path, options(**given)).features.file_name == name


def test_a_damaged_gz_is_refused(tmp_path):
    whole = gzip.compress(arff([("x", "numeric"), ("y", "{0,1}")], ["1,0"]).encode())
    write(tmp_path, l_xml=xml(["y"]), a_arff_gz=whole[:-9])
    with pytest.raises(UserError, match=r"a\.arff\.gz: not a readable file"):
        mulan.read(tmp_path, options(arff="a.arff.gz", features="dense"))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "name the files in either `arff` or `parts`"),
        ({"arff": "a.arff", "parts": {"train": "b.arff"}}, "name the files in either `arff` or `parts`"),
        ({"parts": {"train": "b.arff"}, "train_rows": 3}, "`train_rows` applies to a single file (`arff`)"),
        ({"arff": "../a.arff"}, "options: arff: "),
    ],
)
def test_options_that_do_not_fit(given, message):
    with pytest.raises(UserError, match=re.escape(message)):
        options(features="dense", **given)
