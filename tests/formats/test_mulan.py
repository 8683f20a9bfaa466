import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from vsebench.config.dataset import DatasetDefinition
from vsebench.core.errors import UserError
from vsebench.core.yaml_files import check
from vsebench.formats.readers import mulan

names = st.text(st.characters(exclude_categories=["C", "Z"], exclude_characters="<&\x85"), min_size=1, max_size=8)


def options(**given):
    return check(mulan.Options, {"labels": "l.xml", **given}, "options")


def quoted(name):
    return "'" + name.replace("\\", "\\\\").replace("'", "\\'") + "'"


def xml(labels, nested=False):
    inner = "".join(
        f'<label name="{name.replace("&", "&amp;").replace(chr(34), "&quot;")}">' + ("" if nested else "</label>")
        for name in labels
    )
    return f'<labels xmlns="http://mulan.sourceforge.net/labels">{inner}{"</label>" * len(labels) * nested}</labels>'


def arff(attributes, rows):
    return (
        "\n".join(["@relation r", *(f"@ATTRIBUTE {name} {kind}" for name, kind in attributes), "@data", *rows]) + "\n"
    )


def dense_rows(matrix):
    return [",".join(str(value) for value in row) for row in matrix]


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
    """Labels stand anywhere among the attributes, and the XML file has them in an order of its own."""
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
        dense_rows(written)
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


BY_HAND = """\ufeff% made by hand
@RELATION 'a set % of 3'

@attribute blob1 {0,1}   % the first
@Attribute "a \\"sea\\" view"\tREAL
@attribute sky {'0', "1"}
@attribute 'grey  sky' Integer
\t@attribute b%c numeric
@DATA
% rows

"""


def test_comments_quotes_blank_lines_and_nested_labels(tmp_path):
    nested = '<labels><label name="sky"><label name="grey sky"/></label></labels>'
    text = BY_HAND.replace("b%c", "c") + " 1 , -.5e1 ,0, 1, 3.\r\n% between\n0,0,1,0,+2 % behind\r\n"
    write(tmp_path, l_xml=nested, a_arff=text)
    annotations = mulan.read(tmp_path, options(arff="a.arff", features="dense"))
    assert annotations.labels == ["sky", "grey sky"]
    assert matrix_of(annotations).tolist() == [[0, 1], [1, 0]]
    assert values_of(annotations).tolist() == [[1, -5, 3], [0, 0, 2]]
    write(tmp_path, a_arff=BY_HAND.replace("b%c", "c") + "{}\n{ 0 1 , 1\t2.5,3 1, 4 0 }\n{2 1,4 1e-60}")
    annotations = mulan.read(tmp_path, options(arff="a.arff", features="sparse"))
    assert matrix_of(annotations).tolist() == [[0, 0], [0, 1], [1, 0]]
    assert values_of(annotations).tolist() == [[0, 0, 0], [1, 2.5, 0], [0, 0, 0]]
    assert annotations.features.values.nnz == 2


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
    with pytest.raises(UserError, match=r"s-test\.arff: its attributes differ from those of s-train\.arff\.gz"):
        mulan.read(tmp_path, options(parts=parts, features="sparse"))


@pytest.mark.parametrize(("kind", "name"), [("sparse", "features.npz"), ("dense", "features.npy")])
def test_the_features_have_the_name_that_the_workflow_waits_for(tmp_path, kind, name):
    rows = {"sparse": ["{1 1}", "{0 2}"], "dense": ["0,1", "2,0"]}[kind]
    write(tmp_path, l_xml=xml(["y"]), a_arff=arff([("x", "numeric"), ("y", "{0,1}")], rows))
    given = {"labels": "l.xml", "arff": "a.arff", "features": kind}
    assert DatasetDefinition(adapter="mulan", options=given).features_name == name
    assert mulan.read(tmp_path, options(**given)).features.file_name == name


HEADER = [("x", "numeric"), ("y", "{0,1}")]
FAULTS = {
    "missing file": ({"a_arff": None}, "a.arff: no such file; the download stage puts it there"),
    "missing labels": ({"l_xml": None}, "l.xml: no such file"),
    "not text": ({"a_arff": b"@data\n\xff"}, "a.arff: line 2: not UTF-8 text"),
    "no data": ({"a_arff": "@attribute x numeric\n"}, "a.arff: has no line @data; is it a whole ARFF file?"),
    "no row": ({"a_arff": arff(HEADER, ["% nothing"])}, "a.arff: contains no row after @data"),
    "no attribute": ({"a_arff": "@data\n1"}, "a.arff: line 1: @data comes before the first @attribute"),
    "unknown line": (
        {"a_arff": "@relation x\nhello\n"},
        "a.arff: line 2: 'hello' is not @relation, @attribute or @data",
    ),
    "no type": ({"a_arff": "@attribute x\n@data"}, "a.arff: line 1: the type '' of 'x' is neither {0,1} nor numeric"),
    "open quote": (
        {"a_arff": "@attribute 'x numeric\n"},
        'line 1: "@attribute \'x numeric" is not of the form `@attribute name type`',
    ),
    "text": ({"a_arff": "@attribute x string\n"}, "line 1: the type 'string' of 'x' is neither {0,1} nor numeric"),
    "one first": ({"a_arff": "@attribute x {1,0}\n"}, "line 1: the type '{1,0}' of 'x' is neither {0,1} nor numeric"),
    "attribute twice": (
        {"a_arff": arff([*HEADER, HEADER[0]], ["1,0,1"])},
        "a.arff: line 4: the attribute 'x' occurs twice",
    ),
    "too few values": ({"a_arff": arff(HEADER, ["1,0", "1"])}, "a.arff: line 6: has 1 values for 2 attributes"),
    "too many values": ({"a_arff": arff(HEADER, ["1,0,"])}, "a.arff: line 5: has 3 values for 2 attributes"),
    "missing value": ({"a_arff": arff(HEADER, ["?,0"])}, "a.arff: line 5: '?' is not a number"),
    "not a number": ({"a_arff": arff(HEADER, ["nan,0"])}, "a.arff: line 5: 'nan' is not a number"),
    "underscore": ({"a_arff": arff(HEADER, ["1_0,0"])}, "a.arff: line 5: '1_0' is not a number"),
    "too big": ({"a_arff": arff(HEADER, ["1e39,0"])}, "a.arff: line 5: 1e39 is too big for a 32-bit number"),
    "label of 2": ({"a_arff": arff(HEADER, ["2,1", "1,2"])}, "a.arff: line 6: 'y' is 2, neither 0 nor 1"),
    "sparse row": (
        {"a_arff": arff(HEADER, ["1,0", "{}"])},
        "line 6: the row is sparse, but the data set has `features: dense`",
    ),
    "label unknown": ({"l_xml": xml(["z"])}, "l.xml: the label 'z' is not an attribute of a.arff"),
    "only labels": (
        {"l_xml": xml(["x", "y"])},
        "l.xml: names all attributes of a.arff as labels, so there is no feature",
    ),
    "no label": ({"l_xml": "<labels/>"}, "l.xml: names no label"),
    "label twice": ({"l_xml": xml(["y", "y"])}, "l.xml: line 1: the label 'y' occurs twice"),
    "label without name": ({"l_xml": "<labels>\n<label/></labels>"}, "l.xml: line 2: a label without a name"),
    "other element": (
        {"l_xml": "<labels>\n<b/></labels>"},
        "l.xml: line 2: an element 'b'; only `label` elements in one",
    ),
    "other root": ({"l_xml": "<label name='y'/>"}, "l.xml: line 1: an element 'label'; only"),
    "not XML": ({"l_xml": "<labels>\n<label"}, "l.xml: line 2: not readable XML (unclosed token)"),
    "other encoding": ({"l_xml": "<?xml version='1.0' encoding='utf-7'?><labels/>"}, "l.xml: line 1: not readable XML"),
    "entities": (
        {"l_xml": '<!DOCTYPE l [<!ENTITY y SYSTEM "file:///etc/hostname">]>\n<labels><label name="&y;"/></labels>'},
        "l.xml: line 1: a document type (<!DOCTYPE); remove it",
    ),
}
SPARSE_FAULTS = {
    "dense row": ("1,0", "the row is dense, but the data set has `features: sparse`"),
    "open": ("{0 1", "the sparse row does not end in a brace"),
    "lone brace": ("{", "the sparse row does not end in a brace"),
    "no value": ("{0}", "'0' is not the number of an attribute and a value"),
    "empty entry": ("{0 1,}", "'' is not the number of an attribute and a value"),
    "weight": ("{0 1}, {5}", "'0 1}' is not the number of an attribute and a value"),
    "negative": ("{-1 1}", "'-1 1' is not the number of an attribute and a value"),
    "missing value": ("{0 ?}", "'0 ?' is not the number of an attribute and a value"),
    "too far": ("{2 1}", "attribute 2 is not one of the 2; attribute numbers ascend from 0 to 1"),
    "not ascending": ("{1 1,0 1}", "attribute 0 comes after 1; attribute numbers ascend from 0 to 1"),
    "twice": ("{0 1,0 1}", "attribute 0 comes after 0"),
    "immense": ("{99999999999 1}", "is not the number of an attribute and a value"),
    "too big": ("{0 -4e38}", "-4e38 is too big for a 32-bit number"),
    "label of 0.5": ("{1 0.5}", "'y' is 0.5, neither 0 nor 1"),
}


def refused(folder, changes, given):
    write(folder, l_xml=xml(["y"]), a_arff=arff(HEADER, ["1,0"]))
    write(folder, **{name: content for name, content in changes.items() if content is not None})
    for name in (name for name, content in changes.items() if content is None):
        (folder / name.replace("_", ".")).unlink()
    with pytest.raises(UserError) as error:
        mulan.read(folder, options(arff="a.arff", **given))
    assert len(str(error.value).splitlines()) == 1
    assert str(error.value).startswith(str(folder))
    return str(error.value)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_named(tmp_path, fault):
    changes, message = FAULTS[fault]
    assert message in refused(tmp_path, changes, {"features": "dense"})


@pytest.mark.parametrize("fault", SPARSE_FAULTS)
def test_a_fault_of_a_sparse_row_is_named(tmp_path, fault):
    row, message = SPARSE_FAULTS[fault]
    found = refused(tmp_path, {"a_arff": arff(HEADER, ["{}", "", row])}, {"features": "sparse"})
    assert "a.arff: line 7: " in found
    assert message in found


def test_a_damaged_gz_and_no_test_rows(tmp_path):
    write(tmp_path, l_xml=xml(["y"]), a_arff=arff(HEADER, ["1,0"]))
    with pytest.raises(UserError, match=r"a\.arff: has 1 rows, but `train_rows` is 1, so no row is left to test"):
        mulan.read(tmp_path, options(arff="a.arff", features="dense", train_rows=1))
    (tmp_path / "b.arff.gz").write_bytes(gzip.compress(arff(HEADER, ["1,0"]).encode())[:-9])
    with pytest.raises(UserError, match=r"b\.arff\.gz: not a readable file"):
        mulan.read(tmp_path, options(arff="b.arff.gz", features="dense"))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "either `arff` or `parts` names the files"),
        ({"arff": "a.arff", "parts": {"train": "b.arff"}}, "either `arff` or `parts` names the files"),
        ({"parts": {"train": "b.arff"}, "train_rows": 3}, "`train_rows` needs a single file (`arff`)"),
        ({"arff": "../a.arff"}, "options: arff: "),
    ],
)
def test_options_that_do_not_fit(given, message):
    with pytest.raises(UserError) as error:
        options(features="dense", **given)
    assert message in str(error.value)


# how features are kept, numbers of features and labels, images of the parts, pairs of the parts
REAL = {
    "Corel16k010": ("sparse", 500, 144, (5_197, 1_761), (16_277, 5_445)),
    "scene": ("dense", 294, 6, (1_211, 1_196), (1_286, 1_299)),
    "emotions": ("dense", 72, 6, (391, 202), (709, 399)),
}


@pytest.mark.parametrize("name", REAL)
def test_counts_of_real_files(mirror: Path, name):
    kind, dimensions, n_labels, sizes, pairs = REAL[name]
    found = {part: sorted(mirror.glob(f"{name}-{part}*.arff*"))[:1] for part in ("train", "test")}
    if not all(found.values()):
        pytest.skip(f"VSEBENCH_MIRROR has no {name}")
    parts = {part: paths[0].name for part, paths in found.items()}
    annotations = mulan.read(mirror, options(labels=f"{name}.xml", parts=parts, features=kind))
    assert (annotations.features.dimensions, len(annotations.labels)) == (dimensions, n_labels)
    assert np.bincount(annotations.parts == "test").tolist() == list(sizes)
    is_test = (annotations.parts == "test").to_numpy()[annotations.pairs["image"].to_numpy()]
    assert np.bincount(is_test).tolist() == list(pairs)
