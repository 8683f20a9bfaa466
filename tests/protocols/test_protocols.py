"""What every protocol holds out, on drawn data sets; and splits that are frozen."""

import hashlib
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import dense, matrix_of, rows_of
from vsebench.core.errors import UserError
from vsebench.core.schemas import PAIRS
from vsebench.data.problem import Dataset, LabelMatrix
from vsebench.data.splits import pairs_of
from vsebench.evaluation.metrics.base import RankMetric, load_metric
from vsebench.protocols.base import Protocol, known_protocols, load_protocol

LABELS = ["distinct", "regions"]  # hold out labels of known images
IMAGES = ["images", "labelled_images", "official"]  # hold out whole images
ONLY_UNSEEN = ["unseen_labels", "unseen_labels_by_frequency"]  # never train some labels, and ask for these alone
UNSEEN = [*ONLY_UNSEEN, "unseen_labels_all"]


def split(dataset, protocol, seed=1):
    rules = load_protocol(protocol)
    return rules.split(dataset, rules.generator(protocol, seed))


def parts_of(split):
    return {"train": split.first.labels.to_pairs(), "valid": pairs_of(split.valid), "test": pairs_of(split.test)}


@st.composite
def datasets(draw):
    """A data set of up to 25 images with a partition, some without labels."""
    n_images = draw(st.integers(1, 25))
    cells = draw(st.sets(st.tuples(st.integers(0, n_images - 1), st.integers(0, 9)), max_size=80))
    rows = [(image, label, draw(st.integers(1, 4))) for image, label in sorted(cells)]
    names = draw(st.sampled_from([["train", "test"], ["train", "valid", "test"]]))
    parts = draw(st.lists(st.sampled_from(names), min_size=n_images, max_size=n_images))
    matrix = LabelMatrix.from_pairs(pl.DataFrame(rows, schema=PAIRS, orient="row"), n_images, 10)
    return Dataset(matrix, np.array(parts))


@st.composite
def datasets_with_word_vectors(draw):
    """A data set of which six labels or more have a word vector, with or without a partition."""
    dataset, n_words = draw(datasets()), draw(st.integers(6, 10))
    with_word_vectors = np.isin(np.arange(10), draw(st.permutations(range(10)))[:n_words])
    return replace(dataset, with_word_vectors=with_word_vectors, parts=draw(st.sampled_from([dataset.parts, None])))


def test_every_protocol_is_tested_here():
    assert known_protocols() == sorted(LABELS + IMAGES + UNSEEN)


@pytest.mark.parametrize("name", known_protocols())
def test_a_protocol_says_what_it_does(name):
    protocol = load_protocol(name)
    assert isinstance(protocol, Protocol)
    assert protocol.description
    assert protocol.new_images == (name not in LABELS)
    assert protocol.unseen == (name in UNSEEN)
    assert protocol.only_unseen == (name in ONLY_UNSEEN)
    metric = load_metric(protocol.validation_metric)
    assert isinstance(metric, RankMetric)
    assert not metric.lower_is_better


@pytest.mark.parametrize("name", ["leave_two_out", "base", "labels", "unseen", "", "../splits"])
def test_a_wrong_name_is_refused(name):
    with pytest.raises(UserError, match=r"there is no protocol .*; .*the protocols are "):
        load_protocol(name)


@given(datasets(), st.sampled_from(LABELS + IMAGES), st.integers(0, 2**31))
def test_parts_add_up_to_the_data_set(dataset, protocol, seed):
    found = split(dataset, protocol, seed)
    total = pl.concat(parts_of(found).values()).group_by("image", "label").agg(pl.col("count").sum())
    assert total.sort("image", "label").equals(dataset.labels.to_pairs())


@given(datasets(), st.sampled_from(LABELS + IMAGES), st.integers(0, 2**31))
def test_the_final_model_learns_from_all_but_the_test_labels(dataset, protocol, seed):
    found = split(dataset, protocol, seed)
    both = pl.concat([found.first.labels.to_pairs(), pairs_of(found.valid)])
    both = both.group_by("image", "label").agg(pl.col("count").sum()).sort("image", "label")
    assert found.final.labels.to_pairs().equals(both)
    for part, training in ((found.valid, found.first), (found.test, found.final)):
        assert dense(part.known).tolist() == dense(training.labels)[part.images].tolist()
        assert part.candidates.all()
        assert training.learnt.all()
        assert (np.diff(part.images) > 0).all()


@given(datasets(), st.sampled_from(LABELS), st.integers(0, 2**31))
def test_one_label_per_image_is_held_out_where_there_are_enough(dataset, protocol, seed):
    found = split(dataset, protocol, seed)
    rest = dataset.labels.to_pairs()
    for part in (found.test, found.valid):
        size = rest.group_by("image").agg(n=pl.col("count").sum() if protocol == "regions" else pl.len())
        enough = size.filter(pl.col("n") >= (1 if protocol == "regions" else 2))["image"]
        assert part.images.tolist() == sorted(enough)
        assert (part.right.n_labels_of_row == 1).all()
        if protocol == "regions":
            assert (part.right.count_of_pair == 1).all()
        taken = pairs_of(part).rename({"count": "taken"})
        rest = (
            rest.join(taken, on=["image", "label"], how="left")
            .with_columns(count=pl.col("count") - pl.col("taken").fill_null(0))
            .filter(pl.col("count") > 0)
            .drop("taken")
        )


@given(datasets(), st.integers(0, 2**31))
def test_a_held_out_label_is_no_training_label_unless_regions_repeat(dataset, seed):
    found = split(dataset, "distinct", seed)
    for part in (found.valid, found.test):
        assert not (dense(part.right) & dense(part.known)).any()


@given(datasets(), st.sampled_from(IMAGES), st.integers(0, 2**31))
def test_no_test_image_is_learnt_from(dataset, protocol, seed):
    found = split(dataset, protocol, seed)
    first, valid, test = (set(part.images.tolist()) for part in (found.first, found.valid, found.test))
    labelled = set(np.flatnonzero(dataset.labels.n_labels_of_row).tolist())
    every = labelled if protocol == "labelled_images" else set(range(dataset.labels.n_rows))
    assert first | valid | test == every  # those without a label among them
    assert not first & valid
    assert not (first | valid) & test
    assert set(found.final.images.tolist()) == first | valid
    for part in (found.valid, found.test):
        assert part.known.n_pairs == 0
        assert rows_of(part.right) == [rows_of(dataset.labels)[image] for image in part.images]


@given(datasets_with_word_vectors(), st.sampled_from(UNSEEN), st.integers(0, 2**31))
def test_training_sees_no_pair_of_an_unseen_label(dataset, protocol, seed):
    found = split(dataset, protocol, seed)
    n_words = dataset.with_word_vectors.sum()
    unseen, asked = dataset.with_word_vectors & ~found.final.learnt, found.final.learnt & ~found.first.learnt
    assert unseen.sum() == n_words // 5
    assert asked.sum() == (n_words - n_words // 5) // 5
    for training in (found.first, found.final):
        assert not (training.learnt & ~dataset.with_word_vectors).any()
        assert not dense(training.labels)[:, ~training.learnt].any()
    assert not (found.first.learnt & ~found.final.learnt).any()
    alone = protocol in ONLY_UNSEEN
    assert found.test.candidates.tolist() == (unseen if alone else dataset.with_word_vectors).tolist()
    assert found.valid.candidates.tolist() == (asked if alone else found.final.learnt).tolist()


@given(datasets_with_word_vectors(), st.sampled_from(UNSEEN), st.integers(0, 2**31))
def test_no_image_trains_and_is_asked_for_unseen_labels(dataset, protocol, seed):
    found = split(dataset, protocol, seed)
    first, valid, test = (set(part.images.tolist()) for part in (found.first, found.valid, found.test))
    assert first | valid | test == set(range(dataset.labels.n_rows))  # those without a label to learn among them
    assert not first & valid
    assert not (first | valid) & test
    assert set(found.final.images.tolist()) == first | valid
    if dataset.parts is not None:
        assert test == set(np.flatnonzero(dataset.parts == "test").tolist())


@given(datasets_with_word_vectors(), st.sampled_from(UNSEEN), st.integers(0, 2**31))
def test_a_test_image_is_asked_for_all_its_labels_among_the_candidates(dataset, protocol, seed):
    found = split(dataset, protocol, seed)
    carried = dense(dataset.labels)
    for part in (found.valid, found.test):
        assert dense(part.right).tolist() == (carried[part.images] & part.candidates).tolist()
        assert part.known.n_pairs == 0
    for training in (found.first, found.final):
        assert dense(training.labels)[training.images].tolist() == (carried[training.images] & training.learnt).tolist()


@pytest.fixture(scope="module")
def large():
    rng = np.random.default_rng(0)
    cells = np.unique(rng.integers(0, [2000, 30], (10000, 2)), axis=0)
    pairs = pl.DataFrame({"image": cells[:, 0], "label": cells[:, 1], "count": rng.integers(1, 4, len(cells))})
    matrix = LabelMatrix.from_pairs(pairs, 2000, 30)
    with_word_vectors = np.arange(30) % 15 != 7
    return Dataset(matrix, np.tile(["train", "test", "train", "train"], 500), with_word_vectors=with_word_vectors)


@pytest.mark.parametrize("protocol", [*LABELS, "images", "labelled_images", *UNSEEN])
def test_another_seed_gives_another_split(large, protocol):
    one, other = (parts_of(split(large, protocol, seed))["train"] for seed in (1, 2))
    assert not one.equals(other)


def test_a_tenth_of_the_images_is_held_out_each_for_validation_and_test(large):
    found = split(large, "images")
    assert len(found.valid.images) == len(found.test.images) == 200


def test_of_nuswides_images_with_a_concept_150_000_train():
    n_images, n_labelled = 210_000, 209_347
    dataset = Dataset(matrix_of([[0]] * n_labelled + [[]] * (n_images - n_labelled), 1))
    found = split(dataset, "labelled_images")
    assert (len(found.final.images), len(found.test.images)) == (150_000, 59_347)
    assert len(found.valid.images) == 7_500
    assert found.final.images.max() < n_labelled


def test_official_validates_on_every_ninth_training_image(large):
    found = split(large, "official")
    training = np.flatnonzero(large.parts == "train")
    assert found.test.images.tolist() == np.flatnonzero(large.parts == "test").tolist()
    assert found.valid.images.tolist() == training[8::9].tolist()
    other = split(large, "official", seed=2)
    assert other.valid.images.tolist() == found.valid.images.tolist()


def test_official_takes_the_partitions_own_validation_images():
    dataset = Dataset(matrix_of([[0]] * 6, 2), np.array(["train", "valid", "test", "train", "valid", "train"]))
    found = split(dataset, "official")
    assert (found.first.images.tolist(), found.valid.images.tolist()) == ([0, 3, 5], [1, 4])
    assert (found.final.images.tolist(), found.test.images.tolist()) == ([0, 1, 3, 4, 5], [2])


@pytest.mark.parametrize("protocol", IMAGES + UNSEEN)
def test_an_image_without_features_is_never_validated_or_tested_on(large, protocol):
    with_features = np.random.default_rng(1).random(2000) < 0.7
    found = split(replace(large, with_features=with_features), protocol)
    every = split(large, protocol)
    for part, before in ((found.valid, every.valid), (found.test, every.test)):
        assert part.images.tolist() == [image for image in before.images if with_features[image]]
    assert found.first.images.tolist() == every.first.images.tolist()


@pytest.mark.parametrize("protocol", ["unseen_labels", "unseen_labels_all"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_first_three_seeds_draw_the_labels_of_the_prototypes(large, protocol, seed):
    labels = np.flatnonzero(large.with_word_vectors)
    unseen = labels[np.random.default_rng(100 + seed - 1).permutation(len(labels))[:5]]
    found = split(large, protocol, seed)
    assert np.flatnonzero(large.with_word_vectors & ~found.final.learnt).tolist() == sorted(unseen)


@pytest.mark.parametrize("seed", range(1, 5))
def test_of_every_five_labels_by_frequency_one_is_unseen(large, seed):
    frequency = np.bincount(large.labels.label_of_pair, minlength=30)
    found = split(large, "unseen_labels_by_frequency", seed)
    labels = np.flatnonzero(large.with_word_vectors)
    order = sorted(labels, key=lambda label: (-frequency[label], label))
    unseen = [int(not found.final.learnt[label]) for label in order]
    assert [sum(unseen[start : start + 5]) for start in range(0, 25, 5)] == [1] * 5
    assert sum(unseen) == 5


@pytest.mark.parametrize("protocol", UNSEEN)
def test_named_labels_are_unseen_and_validation_labels_are_drawn_among_the_others(large, protocol):
    labels = np.flatnonzero(large.with_word_vectors)
    named = np.isin(np.arange(30), labels[[2, 3, 11]])
    validated = set()
    for seed in range(1, 6):
        found = split(replace(large, unseen=named), protocol, seed)
        assert (found.final.learnt == (large.with_word_vectors & ~named)).all()
        assert (found.test.candidates == (named | found.final.learnt * (protocol == "unseen_labels_all"))).all()
        asked = found.final.learnt & ~found.first.learnt
        assert asked.sum() == (len(labels) - 3) // 5
        validated.add(tuple(np.flatnonzero(asked)))
    assert len(validated) > 1
    with pytest.raises(UserError, match=r"at least 5 are needed; to rank all labels with methods"):
        split(replace(large, unseen=np.isin(np.arange(30), labels[4:])), protocol)


@pytest.mark.parametrize("protocol", UNSEEN)
def test_labels_can_be_unseen_where_enough_have_a_word_vector(large, protocol):
    with pytest.raises(
        UserError, match="no word vectors are configured for this data set; name a source under `word_vectors`"
    ):
        split(replace(large, with_word_vectors=None), protocol)
    with pytest.raises(UserError, match="only 5 labels have a word vector; at least 6 are needed"):
        split(replace(large, with_word_vectors=np.arange(30) < 5), protocol)


@pytest.mark.parametrize(("protocol", "weights"), [("distinct", [1, 1, 1]), ("regions", [1, 2, 3])])
def test_held_out_label_is_drawn_uniformly(protocol, weights):
    """Labels of an image with counts 1, 2, 3: each alike under `distinct`, by its count under `regions`."""
    n = 6000
    dataset = Dataset(matrix_of([[0, 1, 2]] * n, 3, counts=[1, 2, 3] * n))
    counts = np.bincount(split(dataset, protocol, 3).test.right.label_of_pair, minlength=3)
    expected = n * np.array(weights) / sum(weights)
    assert ((counts - expected) ** 2 / expected).sum() < 13.8  # 99.9 % of chi-square with two degrees of freedom


@pytest.mark.parametrize("protocol", LABELS + IMAGES + UNSEEN)
def test_a_split_is_the_same_on_every_machine(large, protocol):
    """Frozen result: a change of this is a change of every published number."""
    digest = hashlib.sha256()
    for part in parts_of(split(large, protocol, 7)).values():
        digest.update(part.to_numpy().astype("<i4").tobytes())
    assert digest.hexdigest()[:16] == DIGESTS[protocol]


DIGESTS = {
    "distinct": "d23f4825b7761b8d",
    "regions": "76d4bed7829d4415",
    "images": "fd69f84ac607871f",
    "labelled_images": "94618536e76f6486",
    "official": "7ee59eac0b2c8d74",
    "unseen_labels": "cc4ed441e9c20565",
    "unseen_labels_by_frequency": "e8ab03e8d2bd2b13",
    "unseen_labels_all": "ae10f6f517df6aa5",
}
