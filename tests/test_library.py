"""The library gives the workflow's bytes and rankings, and reports mistakes in one line."""

import json
import re
import subprocess
import sys
from importlib.metadata import version

import numpy as np
import polars as pl
import pytest
from scipy import sparse

import vsebench
import vsebench.library
from tests.docs.conftest import ROOT, blocks, page
from tests.stages.small import case, fit, run, split, write_processed
from vsebench.core.errors import UserError
from vsebench.core.storage import read_json, read_parquet, write_parquet
from vsebench.core.yaml_files import read_yaml
from vsebench.data import splits

LABELS = sparse.csr_array(np.array([[2, 1, 0], [0, 1, 0], [1, 0, 1], [1, 1, 0]]))
MANY = sparse.csr_array(np.ones((20, 8), dtype=np.int32) - np.eye(20, 8, dtype=np.int32))  # enough for every part
FEATURES = np.eye(4, 2)


def sparse_of(labels):
    return sparse.csr_array((labels.count_of_pair, labels.label_of_pair, labels.offsets), (labels.n_rows, 24))


@pytest.fixture
def folder(tmp_path):
    write_processed(tmp_path, features=True)
    assert split(tmp_path) == 0
    return tmp_path


def settings_of(row, **more):
    return read_yaml(ROOT / f"config/methods/{row}.yaml")["settings"] | more


@pytest.mark.parametrize(("rate", "learnt"), [(0.05, True), (1e6, False), (1e-12, False)])
@pytest.mark.parametrize("epochs", [5, None])
def test_a_line_says_that_a_model_has_learnt_nothing(capsys, rate, learnt, epochs):
    groups = np.kron(np.eye(3, dtype=np.int32), np.ones((40, 5), dtype=np.int32))
    vsebench.fit("warp", groups, factors=4, epochs=epochs, settings={"learning_rate": rate})
    said = [line for line in capsys.readouterr().err.splitlines() if "no higher for this image than for others" in line]
    assert len(said) == (0 if learnt else 1)


@pytest.mark.parametrize(("row", "more"), [("vse_fs", {"factors": 4}), ("wsabie", {"factors": 4, "normalise": []})])
def test_a_fit_is_the_workflows_byte_for_byte(row, more, folder):
    assert fit(folder, module=row, settings=settings_of(row, **more), epochs={"maximum": 3, "patience": 2}) == 0
    epochs = read_json(folder / "model/run.json")["selection"]["epochs"]
    labels = sparse_of(splits.load(folder / "split").final.labels)
    features = np.load(folder / "features.npy") if row == "wsabie" else None
    vsebench.fit(row, labels, features=features, factors=4, epochs=epochs).save(folder / "own/model.npz")
    assert (folder / "own/model.npz").read_bytes() == (folder / "model/model.npz").read_bytes()


def test_an_evaluation_is_the_workflows(folder):
    pairs = read_parquet(folder / "pairs.parquet")
    labels = sparse.coo_array((pairs["count"], (pairs["image"], pairs["label"])), (80, 24))
    found = vsebench.evaluate(["vse_fs", "ease"], labels, factors=4, metrics=["recall@10", "auc"])
    limits = read_yaml(ROOT / "config/methods/vse_fs.yaml")["epochs"]
    root = folder / "results/sim-tiny/distinct/seed1"
    root.mkdir(parents=True)
    (root / "split").symlink_to(folder / "split")
    for row, more, own in (("vse_fs", {"factors": 4}, limits), ("ease", {}, None)):
        arguments = case(folder, module=row, settings=settings_of(row, **more))
        validated = ["--epochs", json.dumps(own), "--metric", "ndcg@10", "--images", 1000] if own else []
        assert run("fit", *arguments, *validated, "--out", root / row) == 0
        files = ["--ranks", root / row / "ranks.parquet", "--lists", root / row / "lists.parquet"]
        assert run("rank", "--split", folder / "split", "--model", root / row / "model.npz", *files) == 0
    written = ("out", "summary", "cold", "by-frequency")
    files = [word for name in written for word in (f"--{name}", folder / f"{name}.parquet")]
    where = ["--results", folder / "results", "--dataset", "sim-tiny", "--protocol", "distinct", "--seeds", 1]
    more = ["--metrics", "recall@10", "auc", "--bootstrap", 1000, *files]
    assert run("measure", *where, "--variants", "vse_fs", "ease", *more) == 0
    assert found.drop("settings").equals(
        pl.read_parquet(folder / "summary.parquet").select(found.drop("settings").columns)
    )


def test_an_evaluation_says_whose_settings_were_not_searched():
    found = vsebench.evaluate(
        ["ease", "vse_ens_code", "popularity"], MANY, scores={"mine": np.ones((20, 8))}, factors=4, metrics=["mrr"]
    )
    choices = dict(zip(found["method"], found["settings"], strict=True))
    assert choices == {"ease": "untuned", "vse_ens_code": "paper", "popularity": "none", "mine": "elsewhere"}


def test_popularity_by_hand():
    labels, scores = vsebench.fit("popularity", LABELS).top([0, 2, 3], k=2)
    assert labels.tolist() == [[2, -1], [1, -1], [2, -1]]
    assert labels.dtype == np.int32
    assert scores.dtype == np.float32
    assert np.isneginf(scores[:, 1]).all()


def test_a_matrix_is_not_changed_and_its_form_does_not_matter():
    doubled = sparse.coo_array((np.array([1.0, 1.0, 0.0, 1.0]), ([0, 0, 1, 1], [0, 0, 0, 1])), (2, 2))
    model = vsebench.fit("popularity", doubled)
    assert doubled.nnz == 4
    assert model.labels.count_of_pair.tolist() == [2, 1]


def test_labels_and_images_with_names_come_back_by_name():
    pairs = {"image": ["sea", "sea", "wood", "park"], "label": ["water", "sky", "tree", "tree"]}
    model = vsebench.fit("popularity", pl.DataFrame(pairs))
    labels, scores = model.top(["wood", "sea"], k=3)
    assert labels.tolist() == [["sky", "water", ""], ["tree", "", ""]]
    assert np.isneginf(scores).tolist() == [[False, False, True], [False, True, True]]
    with pytest.raises(vsebench.UserError, match="images: there is no image 'moon'"):
        model.top(["moon"])
    similar = vsebench.fit("item_knn", [["water", "sky"], ["water", "sky"], ["tree"]])
    assert similar.annotate(labels=[["sky"]], k=1)[0].tolist() == [["water"]]


def test_a_dense_matrix_is_as_good_as_a_sparse_one():
    dense, given = vsebench.fit("ease", LABELS.toarray()), vsebench.fit("ease", LABELS)
    np.testing.assert_array_equal(dense.top()[1], given.top()[1])


def test_a_notebook_completes_the_names_of_the_library():
    assert set(vsebench.__all__) < set(dir(vsebench))
    assert vsebench.__version__ == version("vsebench")


def test_new_images_by_their_features_or_labels(folder):
    tagger = vsebench.fit("ridge", LABELS, features=FEATURES)
    tagger.save(folder / "tagger.npz")
    loaded = vsebench.load(folder / "tagger.npz")
    for new in (FEATURES[:2], sparse.csr_array(FEATURES[:2])):
        np.testing.assert_array_equal(loaded.annotate(new, k=3)[1], tagger.annotate(FEATURES[:2], k=3)[1])
    assert loaded.annotate(FEATURES[1:2], k=1)[0].tolist() == [[1]]  # the image of these features has label 1 alone
    labels, _ = vsebench.fit("ease", LABELS).annotate(labels=LABELS[[0]], k=3)
    assert labels.tolist() == [[2, -1, -1]]
    with pytest.raises(vsebench.UserError, match="knows only the images of its data set"):
        vsebench.fit("vse_fs", LABELS, epochs=1, factors=2).annotate(labels=LABELS)
    with pytest.raises(vsebench.UserError, match="a loaded model does not contain the labels"):
        vsebench.load(folder / "tagger.npz").top()


@pytest.mark.parametrize(
    ("method", "matrix", "more", "message"),
    [
        ("vse_sf", LABELS, {}, "there is no method 'vse_sf'; did you mean vse_fs"),
        ("ease", {"a": 1}, {}, "but is dict of shape () and type object; give a matrix of images x labels"),
        ("ease", LABELS * 0, {}, "matrix: no image has a label"),
        ("ease", -LABELS, {}, "matrix: numbers from -2 to -1; all must be whole numbers from 0"),
        ("ease", LABELS * 0.5, {}, "matrix: numbers from 0.5 to 1; all must be whole"),
        ("ease", LABELS * np.nan, {}, "matrix: a number is not finite; use whole numbers >= 0"),
        ("ease", sparse.csr_array((0, 3)), {}, "matrix: shape (0, 3)"),
        ("ease", LABELS, {"settings": {"lambda": 1.0}}, "ease: settings: lambda: unknown key"),
        ("ease", LABELS, {"epochs": 3}, "ease: epochs: this method is not trained in epochs; leave `epochs` out"),
        ("vse_fs", LABELS, {"epochs": 0}, "epochs: is 0; give a whole number of at least 1"),
        ("vse_fs", LABELS, {"factors": 0}, "vse_fs: settings: factors: Input should be greater"),
        ("vse_fs", LABELS, {"seed": -1}, "seed: is -1; give a whole number of at least 0"),
        ("vse_fs", LABELS, {"seed": 2**63}, f"seed: is {2**63}; give a whole number up to {2**63 - 1}"),
        ("ridge", LABELS, {}, "ridge: this method needs the argument features"),
        ("ridge", LABELS, {"features": FEATURES[:3]}, "features: shape (3, 2); give a matrix with 4 rows"),
        ("ridge", LABELS, {"features": FEATURES * np.nan}, "not finite"),
        (
            "x_ent",
            LABELS,
            {"features": FEATURES, "word_vectors": np.eye(2)},
            "word_vectors: shape (2, 2); give a matrix with 3 rows",
        ),
        ("oracle", LABELS, {}, "oracle: cannot run here: true label probabilities exist only"),
        ("wsabie_100_200", LABELS, {}, "wsabie_100_200: an ensemble combines other methods of a run"),
        (
            "opt_auc",
            LABELS,
            {"epochs": 9, "settings": {"learning_rate": 1e12}},
            "opt_auc on matrix (distinct, seed 1): tr",
        ),
        ("vse_fs", sparse.csr_array(np.eye(3)), {}, "protocol 'distinct' leaves no label for validation"),
    ],
)
def test_a_mistake_is_one_line(method, matrix, more, message):
    with pytest.raises(vsebench.UserError, match=re.escape(message)) as caught:
        vsebench.fit(method, matrix, **more)
    assert "\n" not in str(caught.value)


def test_more_factors_than_the_memory_holds_are_one_line():
    """A matrix of products would have 364 TiB."""
    with pytest.raises(vsebench.UserError, match=r"vse_fs on matrix .*: needs at least .* GiB; lower `factors`, leave"):
        vsebench.fit("vse_fs", LABELS, factors=10**7, epochs=1)


def test_memory_that_runs_out_in_a_fit_is_one_line(monkeypatch):
    monkeypatch.setattr(vsebench.library, "refit", lambda *arguments: np.empty(1 << 55))
    with pytest.raises(vsebench.UserError, match=r"ease on matrix .*: memory ran out .*; lower `factors`, or leave"):
        vsebench.fit("ease", LABELS)


@pytest.mark.parametrize("epochs", [None, 9])
def test_divergence_names_the_settings_and_no_file_since_the_caller_gave_them(epochs):
    with pytest.raises(vsebench.UserError, match="training diverged") as caught:
        vsebench.fit("opt_auc", MANY, epochs=epochs, factors=2, settings={"learning_rate": 1e12})
    message = str(caught.value)
    assert '"learning_rate": 1000000000000.0' in message
    assert "lower learning_rate or increase regularisation" in message
    assert "config/methods" not in message
    assert "validation" not in message


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"methods": "ease"}, "methods: must be a list of one or more different names, not 'ease'"),
        ({"protocol": "every"}, "there is no protocol 'every'"),
        ({"metrics": ["recall"]}, "the metric 'recall' needs a cut-off"),
        ({"seeds": 0}, "seeds: is 0; give a whole number of at least 1"),
        ({"seeds": [1, 1]}, "seeds: give one or more different numbers"),
        ({"protocol": "images"}, "vse_fs: cannot run here: the test images are new"),
    ],
)
def test_a_mistake_in_an_evaluation_is_one_line(more, message):
    arguments = {"methods": ["vse_fs"], "matrix": LABELS} | more
    with pytest.raises(vsebench.UserError, match=re.escape(message)):
        vsebench.evaluate(**arguments)


def test_a_finished_run_is_read(tmp_path):
    with pytest.raises(vsebench.UserError, match=r"no metrics\.parquet"):
        vsebench.read(tmp_path)
    write_parquet(pl.DataFrame({"value": [0.5]}), tmp_path / "metrics.parquet")
    found = vsebench.read(tmp_path)
    assert found.metrics["value"].to_list() == [0.5]
    assert found.tables == ["metrics"]
    with pytest.raises(vsebench.UserError, match="no table 'summary'; the tables are metrics"):
        _ = found.summary
    pl.DataFrame({"value": [0.5]}).write_parquet(tmp_path / "metrics.parquet", metadata={"schema": "99"})
    with pytest.raises(vsebench.UserError, match=r"metrics\.parquet: schema number 99"):
        _ = found.metrics


def test_no_module_takes_the_place_of_a_name_of_the_library():
    names = [name for name in vsebench.__all__ if name.islower()]
    code = "import sys, vsebench, vsebench.methods.base, vsebench.library; "
    code += f"print([name for name in {names} if not callable(getattr(vsebench, name))])"
    found = subprocess.run([sys.executable, "-c", code], text=True, capture_output=True, check=True)
    assert found.stdout == "[]\n"


def test_the_import_is_quick_since_it_loads_nothing():
    code = "import sys, vsebench; print(sorted({'numba', 'numpy', 'polars', 'scipy'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_the_pages_example_runs(monkeypatch):
    monkeypatch.chdir(ROOT)
    names = {}
    for block in blocks(page("docs/library.md"), "python"):
        exec(block, names)
    assert names["labels"].shape == (3, 5)
    assert set(names["table"]["method"]) == {"popularity", "ease", "vse_fs"}
    assert names["new"].shape == (1, 5)


def test_scores_from_elsewhere_stand_beside_methods(tmp_path):
    matrix = sparse.csr_array(np.kron(np.eye(2), np.ones((20, 5))))
    image, label = np.repeat(np.eye(2), 20, axis=0), np.repeat(np.eye(2), 5, axis=0)
    ids, names = [f"i{row}" for row in range(40)], list("abcdefghij")
    np.savez(tmp_path / "clip.npz", scores=image @ label.T, ids=ids[::-1], labels=names)
    given = {"dense": image @ label.T, "vectors": (image, label), "file": tmp_path / "clip.npz"}
    values = {
        name: vsebench.evaluate(
            ["popularity"], matrix, scores={name: value}, names=(ids, names), metrics=["mrr"], bootstrap=100
        )
        .filter(method=name)["value"]
        .item()
        for name, value in given.items()
    }
    assert values["dense"] == values["vectors"] == 1
    assert values["file"] < 0.3  # its rows are those of the other group
    for value, message in [(np.ones((3, 3)), "shape (3, 3), but the matrix"), (tmp_path / "no.csv", "there is no")]:
        with pytest.raises(vsebench.UserError, match=re.escape(message)):
            vsebench.evaluate([], matrix, scores={"mine": value}, names=(ids, names), metrics=["mrr"])


def test_several_sets_of_features_are_a_mapping():
    sets = {"hue": FEATURES, "network": np.eye(4, 3, k=-1)}
    both = vsebench.fit("ridge", LABELS, features=sets)
    alone = vsebench.fit("ridge_network", LABELS, features=sets)
    same = vsebench.fit("ridge", LABELS, features=sets["network"])
    images = np.arange(4)
    assert np.array_equal(alone.top(images, k=2)[1], same.top(images, k=2)[1])
    assert not np.array_equal(both.top(images, k=2)[1], same.top(images, k=2)[1])
    new = {"network": sets["network"][:2], "hue": FEATURES[:2]}  # in another order
    np.testing.assert_array_equal(both.annotate(new, k=3)[1], both.annotate({"hue": FEATURES[:2]} | new, k=3)[1])
    many = {name: np.random.default_rng(1).normal(size=(20, 3)) for name in sets}
    table = vsebench.evaluate(["ridge", "ridge_network"], MANY, features=many, metrics=["recall@1"], bootstrap=100)
    assert table["method"].to_list() == ["ridge", "ridge_network"]


@pytest.mark.parametrize(
    ("method", "features", "message"),
    [
        ("ridge_network", {"hue": FEATURES}, "ridge_network: this method needs the features network"),
        ("ridge", {"hue": FEATURES, "network": FEATURES[:3]}, r"features\['network'\]: shape \(3, 2\); give a matrix"),
        ("ridge", {}, "a mapping of the names of sets"),
        ("ridge", {"hue": FEATURES, "network": sparse.csr_array(FEATURES)}, "all dense or all sparse"),
    ],
)
def test_a_mistake_in_sets_of_features_is_one_line(method, features, message):
    with pytest.raises(vsebench.UserError, match=message):
        vsebench.fit(method, LABELS, features=features)


def test_new_images_need_the_sets_that_the_model_sees():
    both = vsebench.fit("ridge", LABELS, features={"hue": FEATURES, "network": FEATURES})
    for wrong in (FEATURES, {"hue": FEATURES}):
        with pytest.raises(vsebench.UserError, match="this model uses the sets hue, network; give features="):
            both.annotate(wrong)
    with pytest.raises(vsebench.UserError, match="one set of features without a name"):
        vsebench.fit("ridge", LABELS, features=FEATURES).annotate({"hue": FEATURES})


def test_rows_beside_a_table_in_another_order_are_refused():
    """Images are numbered in the order of their ids, so the rows would belong to other images."""
    table = pl.DataFrame({"image": ["b", "a"] * 20, "label": [f"l{n % 5}" for n in range(40)]})
    rows = np.ones((2, 3))
    for refused, mistake in (
        (lambda: vsebench.fit("ridge", table, features=rows), "features"),
        (lambda: vsebench.evaluate([], table, scores={"mine": np.ones((2, 5))}), r"scores\['mine'\]"),
        (lambda: vsebench.fit("ridge", table.sort("image"), features=rows).annotate(rows, table), "features"),
    ):
        with pytest.raises(UserError, match=f"{mistake}: the rows must be in the order of the image ids"):
            refused()
