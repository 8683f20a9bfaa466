import dataclasses
from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vsebench.config.dataset import Vocabulary
from vsebench.core.errors import UserError
from vsebench.core.schemas import PAIRS
from vsebench.data.features import Features
from vsebench.formats.annotations import Dropped, RawAnnotations
from vsebench.formats.vocabulary import apply_vocabulary, sample_images

BEFORE = Dropped("words", 3, "before")


def make(pairs, n_images, n_labels):
    """Build annotations in which all data of an image or label identify it."""
    images, labels = np.arange(n_images, dtype=np.float32), np.arange(n_labels, dtype=np.float32)
    rows = [(image, label, 1 + (image + label) % 3) for image, label in sorted(pairs)]
    return RawAnnotations(
        images=pl.Series("id", [f"i{image}" for image in range(n_images)], dtype=pl.String),
        labels=[f"l{label}" for label in range(n_labels)],
        pairs=pl.DataFrame(rows, schema=PAIRS, orient="row"),
        dropped=[BEFORE],
        parts=pl.Series("part", [f"part of i{image}" for image in range(n_images)], dtype=pl.String),
        features=Features(images[:, None], np.arange(n_images) % 3 > 0),
        truth={"image": images[:, None], "label": labels[:, None]},
    )


def twin(pairs, vocabulary, sampled):
    """Filter pairs of names as the module states; return the pairs and the numbers of rare and other removed labels."""
    pairs = {pair for pair in pairs if sampled is None or pair[0] in sampled}

    def drop(which, fewest):
        sizes = Counter(pair[which] for pair in pairs)
        small = {name for name, size in sizes.items() if size < (fewest or 0)}
        pairs.difference_update({pair for pair in pairs if pair[which] in small})
        return len(small)

    rare, rest = drop(1, vocabulary.min_images_per_label), 0
    if vocabulary.top_labels is not None:
        sizes = Counter(label for _, label in pairs)
        order = sorted(sizes, key=lambda label: (-sizes[label], int(label[1:])))
        rest = len(order[vocabulary.top_labels :])
        pairs = {pair for pair in pairs if pair[1] in order[: vocabulary.top_labels]}
    while True:
        images = drop(0, vocabulary.min_labels_per_image)
        labels = drop(1, vocabulary.min_images_per_label)
        rare += labels
        if not images and not labels:
            return pairs, rare, rest


some = st.one_of(st.none(), st.integers(1, 5))
filters = st.builds(
    Vocabulary,
    min_images_per_label=some,
    top_labels=some,
    min_labels_per_image=some,
    sample_images=some,
    seed=some.map(bool).map(int),
)
sets = st.sets(st.tuples(st.integers(0, 9), st.integers(0, 7)), max_size=60)


@given(sets, filters)
def test_filters_do_what_they_say(numbers, vocabulary):
    before = make(numbers, 10, 8)
    try:
        after = apply_vocabulary(before, vocabulary, "here")
    except UserError as error:
        assert_nothing_would_stay(numbers, vocabulary, str(error))
        return
    if not vocabulary.model_dump(exclude_none=True, exclude={"seed"}):
        assert after is before
        return
    old = {(f"i{image}", f"l{label}") for image, label in numbers}
    images, labels = list(after.images), list(after.labels)
    new = {(images[image], labels[label]) for image, label, _ in after.pairs.iter_rows()}

    # The pairs that stay.
    sampled = None
    if vocabulary.sample_images is not None:
        sampled = {f"i{image}" for image in sample_images(before, vocabulary, "here")}
        assert len(sampled) == vocabulary.sample_images
    wanted, rare, rest = twin(old, vocabulary, sampled)
    assert new == wanted
    by_reason = Counter({entry.why.split("(")[-1].rstrip(")"): entry.number for entry in after.dropped[1:]})
    assert (by_reason["min_images_per_label"], by_reason["top_labels"]) == (rare, rest)
    assert new <= old
    per_label, per_image = Counter(label for _, label in new), Counter(image for image, _ in new)
    assert min(per_label.values()) >= (vocabulary.min_images_per_label or 1)
    assert min(per_image.values()) >= (vocabulary.min_labels_per_image or 1)
    assert len(per_label) <= (vocabulary.top_labels or 8)
    assert_consistent(before, after, vocabulary)


def assert_nothing_would_stay(numbers, vocabulary, message):
    assert message.startswith("here: ")
    sizes = Counter(image for image, _ in numbers)
    eligible = sum(size >= (vocabulary.min_labels_per_image or 1) for size in sizes.values())
    if "sample_images" in message:
        assert eligible < vocabulary.sample_images
        assert f"sample_images: is {vocabulary.sample_images}, but only {eligible} images have" in message
    elif vocabulary.sample_images is None:
        assert message == "here: no image keeps a label with these filters; relax them"
        assert twin({(f"i{i}", f"l{j}") for i, j in numbers}, vocabulary, None)[0] == set()


def assert_consistent(before, after, vocabulary):
    """Check that the data of an image or label were removed with it, and that nothing else changed."""
    images, labels = [int(image[1:]) for image in after.images], [int(label[1:]) for label in after.labels]
    assert images == sorted(images)
    assert labels == sorted(labels)
    assert list(after.parts) == [f"part of i{image}" for image in images]
    assert after.features.values[:, 0].tolist() == images
    assert after.features.known.tolist() == [image % 3 > 0 for image in images]
    assert after.truth["image"][:, 0].tolist() == images
    assert after.truth["label"][:, 0].tolist() == labels
    assert after.pairs.schema == before.pairs.schema
    rows = after.pairs.rows()
    assert rows == sorted(rows)
    assert [count for _, _, count in rows] == [1 + (images[i] + labels[j]) % 3 for i, j, _ in rows]
    used_images, used_labels = {images[i] for i, _, _ in rows}, {labels[j] for _, j, _ in rows}
    if vocabulary.sample_images is None and vocabulary.min_labels_per_image is None:
        assert images == list(range(10))
    else:
        assert set(images) == used_images
    if vocabulary.min_images_per_label is None and vocabulary.top_labels is None:
        assert labels == list(range(8))
    else:
        assert set(labels) == used_labels
    assert after.dropped[0] == BEFORE
    assert all(entry.number > 0 for entry in after.dropped)
    assert 10 - len(images) == sum(entry.number for entry in after.dropped if entry.what == "images")


dense = {(image, label) for image in range(30) for label in range(6) if (image * label) % 4 != 1}


@given(st.integers(1, 30), st.integers(0, 2**40))
def test_a_sample_is_exact_and_seeded(number, seed):
    vocabulary = Vocabulary(sample_images=number, seed=seed)
    first, second = (apply_vocabulary(make(dense, 30, 6), vocabulary, "here") for _ in range(2))
    assert len(first.images) == number
    assert list(first.images) == list(second.images)
    assert len(first.labels) == 6  # a sample alone leaves the vocabulary
    kept = {int(image[1:]) for image in first.images}
    assert len(first.pairs) == sum(image in kept for image, _ in dense)


def test_samples_of_other_seeds_differ_and_every_image_can_be_drawn():
    samples = [
        frozenset(apply_vocabulary(make(dense, 30, 6), Vocabulary(sample_images=10, seed=seed), "here").images)
        for seed in range(30)
    ]
    assert len(set(samples)) == 30
    assert len(frozenset.union(*samples)) == 30


def test_a_sample_is_of_images_with_enough_labels():
    pairs = {(image, label) for image in range(20) for label in range(1 + image % 3)}
    result = apply_vocabulary(make(pairs, 25, 3), Vocabulary(sample_images=6, min_labels_per_image=3), "here")
    assert len(result.images) == 6
    assert len(result.pairs) == 18
    with pytest.raises(
        UserError, match=r"here: sample_images: is 7, but only 6 images have enough labels \(at least 3\)"
    ):
        apply_vocabulary(make(pairs, 25, 3), Vocabulary(sample_images=7, min_labels_per_image=3), "here")


def test_filters_are_repeated_until_all_of_them_hold():
    # In this chain each image has two labels, and each label two images, except at the ends: it is removed from there.
    chain = {(image, image) for image in range(8)} | {(image, image + 1) for image in range(8)}
    both = Vocabulary(min_images_per_label=2, min_labels_per_image=2)
    with pytest.raises(UserError, match="here: no image keeps a label with these filters; relax them"):
        apply_vocabulary(make(chain, 8, 9), both, "here")
    ring = {(image, label % 8) for image, label in chain}
    assert len(apply_vocabulary(make(ring, 8, 9), both, "here").pairs) == 16


def test_without_parts_features_and_truth():
    bare = dataclasses.replace(make(dense, 30, 6), parts=None, features=None, truth=None)
    result = apply_vocabulary(bare, Vocabulary(top_labels=1), "here")
    assert (result.parts, result.features, result.truth) == (None, None, None)


def in_parts(numbers, parts):
    return dataclasses.replace(make(numbers, 10, 8), parts=pl.Series("part", parts, dtype=pl.String))


@given(sets, some, some, st.lists(st.sampled_from(["train", "test", None]), min_size=10, max_size=10))
def test_only_parts_is_the_last_filter(numbers, min_images, min_labels, parts):
    """Images of no part count in the filters of labels; then they are removed, and labels that only they have stay."""
    before = in_parts(numbers, parts)
    given = {"min_images_per_label": min_images, "min_labels_per_image": min_labels}
    only_parts = Vocabulary(**given, only_parts=True)
    wanted = twin({(f"i{image}", f"l{label}") for image, label in numbers}, only_parts, None)[0]
    if not any(parts[int(image[1:])] for image, _ in wanted):
        what = "only_parts: no image of the partition has a label" if wanted else "no image keeps a label with these"
        with pytest.raises(UserError, match=f"here: {what}"):
            apply_vocabulary(before, only_parts, "here")
        return
    other = apply_vocabulary(before, Vocabulary(**given), "here")
    after = apply_vocabulary(before, only_parts, "here")
    stay = [row for row, part in enumerate(other.parts) if part is not None]
    assert list(after.labels) == list(other.labels)
    assert list(after.images) == [other.images[row] for row in stay]
    assert list(after.parts) == [other.parts[row] for row in stay]
    assert after.pairs.rows() == [(stay.index(i), j, count) for i, j, count in other.pairs.rows() if i in stay]
    assert after.pairs.schema == before.pairs.schema
    assert after.features.values[:, 0].tolist() == [int(image[1:]) for image in after.images]
    assert after.truth["image"][:, 0].tolist() == [int(image[1:]) for image in after.images]
    assert after.truth["label"][:, 0].tolist() == [int(label[1:]) for label in after.labels]
    gone = [entry.number for entry in after.dropped if "only_parts" in entry.why]
    assert gone == ([len(other.images) - len(stay)] if len(stay) < len(other.images) else [])


def test_only_parts_without_a_partition():
    before = dataclasses.replace(make({(0, 0)}, 10, 8), parts=None)
    with pytest.raises(UserError, match="here: only_parts: the data set has no official partition"):
        apply_vocabulary(before, Vocabulary(only_parts=True), "here")


def test_only_named_labels_are_kept_before_other_filters():
    """Without l1, the images i0 and i2 have one label less; images stay, unless a filter on images removes them."""
    before = make({(0, 0), (0, 1), (1, 2), (2, 1)}, 4, 3)
    after = apply_vocabulary(before, Vocabulary(only_labels=["l2", "l0"]), "here")
    assert list(after.labels) == ["l0", "l2"]
    assert after.images.to_list() == ["i0", "i1", "i2", "i3"]
    assert [row[:2] for row in after.pairs.iter_rows()] == [(0, 0), (1, 1)]
    assert Dropped("labels", 1, "not in the list (only_labels)") in after.dropped
    assert after.truth["label"].ravel().tolist() == [0, 2]
    fewer = apply_vocabulary(before, Vocabulary(only_labels=["l2", "l0"], min_labels_per_image=1), "here")
    assert fewer.images.to_list() == ["i0", "i1"]


def test_a_named_label_that_the_data_set_lacks_is_one_line():
    with pytest.raises(UserError, match="here: only_labels: the data set has no label 'l9'"):
        apply_vocabulary(make({(0, 0)}, 1, 1), Vocabulary(only_labels=["l0", "l9"]), "here")
