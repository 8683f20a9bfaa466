import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vsebench.cli import main
from vsebench.core.storage import read_parquet, write_parquet
from vsebench.problem import SCHEMA
from vsebench.stages.split import split

PROTOCOLS = ["distinct", "regions", "images"]


@st.composite
def label_matrices(draw):
    """A table of pairs with counts over up to 25 images, some without labels."""
    n_images = draw(st.integers(1, 25))
    cells = draw(st.sets(st.tuples(st.integers(0, n_images - 1), st.integers(0, 9)), max_size=80))
    rows = [(image, label, draw(st.integers(1, 4))) for image, label in sorted(cells)]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row"), n_images


def total(parts):
    return pl.concat(parts.values()).group_by("image", "label").agg(pl.col("count").sum()).sort("image", "label")


@settings(max_examples=150, deadline=None)
@given(label_matrices(), st.sampled_from(PROTOCOLS), st.integers(0, 2**31))
def test_parts_add_up_to_the_input(matrix, protocol, seed):
    pairs, n_images = matrix
    parts = split(pairs, n_images, protocol, seed)
    assert total(parts).equals(pairs.cast(SCHEMA).sort("image", "label"))
    assert all((part["count"] > 0).all() for part in parts.values())


@settings(max_examples=100, deadline=None)
@given(label_matrices(), st.sampled_from(["distinct", "regions"]), st.integers(0, 2**31))
def test_one_label_an_image_is_held_out_where_there_are_enough(matrix, protocol, seed):
    pairs, n_images = matrix
    parts = split(pairs, n_images, protocol, seed)
    fewest = 1 if protocol == "regions" else 2
    rest = pairs
    for name in ("test", "valid"):
        held_out = parts[name]
        size = rest.group_by("image").agg(n=pl.col("count").sum() if protocol == "regions" else pl.len())
        enough = set(size.filter(pl.col("n") >= fewest)["image"])
        assert held_out["image"].is_unique().all()
        assert set(held_out["image"]) == enough
        if protocol == "regions":
            assert (held_out["count"] == 1).all()
        taken = held_out.rename({"count": "taken"})
        rest = (
            rest.join(taken, on=["image", "label"], how="left")
            .with_columns(count=pl.col("count") - pl.col("taken").fill_null(0))
            .filter(pl.col("count") > 0)
            .drop("taken")
        )


@settings(max_examples=50, deadline=None)
@given(label_matrices(), st.sampled_from(PROTOCOLS), st.integers(0, 2**31))
def test_order_of_rows_does_not_matter(matrix, protocol, seed):
    pairs, n_images = matrix
    shuffled = pairs.sample(fraction=1, shuffle=True, seed=seed % 1000) if len(pairs) else pairs
    first, second = split(pairs, n_images, protocol, seed), split(shuffled, n_images, protocol, seed)
    assert all(first[name].equals(second[name]) for name in first)


@pytest.fixture(scope="module")
def large():
    rng = np.random.default_rng(0)
    cells = np.unique(rng.integers(0, [2000, 30], (10000, 2)), axis=0)
    counts = rng.integers(1, 4, len(cells))
    return pl.DataFrame({"image": cells[:, 0], "label": cells[:, 1], "count": counts}, schema=SCHEMA), 2000


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_new_seed_gives_another_split(large, protocol):
    assert not split(*large, protocol, 1)["test"].equals(split(*large, protocol, 2)["test"])


def test_images_are_held_out_whole(large):
    parts = split(*large, "images", 1)
    images = [set(part["image"]) for part in parts.values()]
    assert not images[0] & images[1]
    assert not images[0] & images[2]
    assert not images[1] & images[2]
    assert 190 <= len(images[1]) <= 200
    assert 190 <= len(images[2]) <= 200


def test_official_test_images_are_the_test_images(large):
    pairs, n_images = large
    official = pl.Series(["train", "test", "train", "train"] * (n_images // 4))
    parts = split(pairs, n_images, "official", 1, official)
    assert total(parts).equals(pairs)
    assert set(parts["test"]["image"] % 4) == {1}
    assert set(parts["train"]["image"]) | set(parts["valid"]["image"]) <= set(np.flatnonzero(official == "train"))
    assert not set(parts["train"]["image"]) & set(parts["valid"]["image"])
    assert 190 <= parts["valid"]["image"].n_unique() <= 200
    other_seed = split(pairs, n_images, "official", 2, official)
    assert other_seed["test"].equals(parts["test"])
    assert not other_seed["valid"].equals(parts["valid"])


@pytest.mark.parametrize("part", [True, False])
def test_official_needs_a_partition(tmp_path, capsys, large, part):
    pairs, n_images = large
    write_parquet(pairs, tmp_path / "pairs.parquet")
    images = pl.DataFrame({"image": np.arange(n_images)}).with_columns(part=pl.lit(None, pl.String))
    if part:
        images = images.with_columns(
            part=pl.when(pl.col("image") < 500).then(pl.lit("test")).otherwise(pl.lit("train"))
        )
    write_parquet(images, tmp_path / "images.parquet")
    write_parquet(pl.DataFrame({"label": np.arange(30)}), tmp_path / "labels.parquet")
    arguments = ["split", "--processed", str(tmp_path), "--protocol", "official", "--seed", "1"]
    status = main([*arguments, "--out", str(tmp_path / "out")])
    if part:
        assert status == 0
        of_test = pairs.filter(pl.col("image") < 500)
        assert read_parquet(tmp_path / "out" / "test.parquet").equals(of_test)
    else:
        assert status == 1
        assert "no partition of its own" in capsys.readouterr().err


def test_known_split_is_the_same_on_every_machine():
    """Frozen result: a change of this is a change of every published number."""
    rows = [(image, label, 1 + (image + label) % 3) for image in range(6) for label in range(image % 4 + 1)]
    pairs = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    test = {protocol: split(pairs, 6, protocol, 1)["test"].rows() for protocol in ("distinct", "regions")}
    assert test == KNOWN


KNOWN = {
    "distinct": [(1, 1, 3), (2, 1, 1), (3, 2, 3), (5, 1, 1)],
    "regions": [(0, 0, 1), (1, 1, 1), (2, 0, 1), (3, 2, 1), (4, 0, 1), (5, 0, 1)],
}


@pytest.mark.parametrize(("protocol", "weights"), [("distinct", [1, 1, 1]), ("regions", [1, 2, 3])])
def test_held_out_label_is_drawn_uniformly(protocol, weights):
    """Labels of an image with counts 1, 2, 3: each alike under `distinct`, by its count under `regions`."""
    n = 6000
    pairs = pl.DataFrame(
        {"image": np.repeat(np.arange(n), 3), "label": np.tile([0, 1, 2], n), "count": np.tile([1, 2, 3], n)},
        schema=SCHEMA,
    )
    counts = np.bincount(split(pairs, n, protocol, 3)["test"]["label"], minlength=3)
    expected = n * np.array(weights) / sum(weights)
    assert ((counts - expected) ** 2 / expected).sum() < 13.8  # 99.9 % of chi-square with two degrees of freedom


def test_regions_of_saiapr_leave_what_the_papers_print(mirror, tmp_path):
    """79,527 training pairs, 20,000 test pairs; a fifth of the test labels stay in training, 923 images lose all."""
    from vsebench.formats import saiapr

    annotations = saiapr.read(mirror, saiapr.Options(archive="saiapr_tc-12.tar.gz"))
    parts = split(annotations.pairs, 20000, "regions", 1)
    rest = pl.concat([parts["train"], parts["valid"]])
    assert rest["count"].sum() == 79527
    assert parts["test"]["count"].sum() == 20000
    known = parts["test"].join(rest.select("image", "label").unique(), on=["image", "label"], how="semi")
    assert 0.185 < known.height / 20000 < 0.205
    assert 20000 - rest["image"].n_unique() == 923
