"""The simulated sets with known Bayes decisions: independent labels, and label sets of a catalogue."""

from pathlib import Path

import numpy as np
import pytest

from tests import data_sets
from tests.builders import dense
from vsebench.core.errors import UserError
from vsebench.core.yaml_files import check
from vsebench.data.problem import LabelMatrix
from vsebench.formats.simulators import simulated_catalogue, simulated_independent

ADAPTERS = {"independent": simulated_independent, "catalogue": simulated_catalogue}
both = pytest.mark.parametrize("name", ADAPTERS)


def draw(name, **changes):
    adapter = ADAPTERS[name]
    options = data_sets.described(f"sim-{name}").options | changes
    return adapter.read(Path(), check(adapter.Options, options, name))


def given_of(drawn):
    """Return the labels of the images, (n_images, 20) bool."""
    return dense(LabelMatrix.from_pairs(drawn.pairs, len(drawn.images), 20))


def sets_of(truth):
    return {tuple(np.flatnonzero(row).tolist()) for row in truth["members"]}


def chances(name, truth, x):
    """Return the probability of each label for one image, by the formulas of the modules with loops."""
    logits = [sum(x[i] * truth["weight"][i, j] for i in range(16)) + b for j, b in enumerate(truth["bias"])]
    if name == "independent":
        return [1 / (1 + np.exp(-logit)) for logit in logits]
    weights = np.exp(np.array(logits) - max(logits))
    return [weights[truth["members"][:, label]].sum() / weights.sum() for label in range(20)]


@both
def test_the_official_parts_have_the_published_sizes_in_every_stretch(name):
    drawn = draw(name)
    assert drawn.parts.value_counts().sort("part").rows() == [("test", 4000), ("train", 8000), ("valid", 1000)]
    assert drawn.parts[13:26].to_list() == ["train"] * 8 + ["valid"] + ["test"] * 4


@both
def test_features_are_standard_normal_float32(name):
    values = draw(name).features.values
    assert (values.shape, values.dtype) == ((13000, 16), np.float32)
    assert np.abs(values.mean(axis=0)).max() < 4 / np.sqrt(13000)
    assert np.abs(np.cov(values.T) - np.eye(16)).max() < 5 * np.sqrt(2 / 13000)


@both
def test_every_label_is_as_frequent_as_the_truth_says(name):
    drawn = draw(name, images=3000)
    chance = np.array([chances(name, drawn.truth, x) for x in drawn.features.values.astype(float)])
    error = np.sqrt((chance * (1 - chance)).sum(axis=0))
    assert (np.abs(given_of(drawn).sum(axis=0) - chance.sum(axis=0)) < 4 * error).all()
    # Also given the features: as many of the likely pairs are present as expected.
    likely = chance > 0.5
    error = np.sqrt((chance * (1 - chance))[likely].sum())
    assert abs(given_of(drawn)[likely].sum() - chance[likely].sum()) < 4 * error


def test_images_without_an_independent_label_are_kept():
    drawn = draw("independent")
    given = given_of(drawn)
    assert len(given) == 13000
    assert given.sum(axis=1).mean() == pytest.approx(3.77, abs=0.05)
    assert (~given.any(axis=1)).mean() == pytest.approx(0.0145, abs=0.004)


def test_independent_labels_are_uncorrelated_given_the_features():
    drawn = draw("independent")
    chance = 1 / (1 + np.exp(-(drawn.features.values @ drawn.truth["weight"] + drawn.truth["bias"])))
    rest = (given_of(drawn) - chance) / np.sqrt(chance * (1 - chance)).clip(0.05)
    correlation = np.corrcoef(rest.T)[np.triu_indices(20, 1)]
    assert np.abs(correlation).max() < 5 / np.sqrt(13000)


def test_a_catalogue_has_forty_different_sets_and_every_image_has_one():
    drawn = draw("catalogue")
    sets = sets_of(drawn.truth)
    assert len(sets) == 40
    assert {len(labels) for labels in sets} == {1, 2, 3, 4, 5, 7}
    assert {tuple(np.flatnonzero(row).tolist()) for row in given_of(drawn)} <= sets


def test_the_sizes_of_the_sets_of_images_are_as_measured_before():
    sizes = np.bincount(given_of(draw("catalogue")).sum(axis=1), minlength=9) / 13000
    assert sizes == pytest.approx([0, 0.16, 0.18, 0.21, 0.33, 0.08, 0, 0.04, 0], abs=0.015)


@both
def test_a_larger_set_begins_with_the_images_of_a_smaller_one(name):
    drawn, small = draw(name), draw(name, scale=0.1)
    assert len(small.images) == 1300
    assert small.images.equals(drawn.images[:1300])
    assert small.parts.equals(drawn.parts[:1300])
    assert np.array_equal(small.features.values, drawn.features.values[:1300])
    assert np.array_equal(given_of(small), given_of(drawn)[:1300])


@both
def test_a_seed_draws_the_images_and_not_the_parameters(name):
    first, again, other = draw(name), draw(name), draw(name, seed=2)
    assert again.features.values.tobytes() == first.features.values.tobytes()
    assert again.pairs.equals(first.pairs)
    assert not other.pairs.equals(first.pairs)
    assert all(other.truth[key].tobytes() == array.tobytes() for key, array in first.truth.items())


@both
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"features": "sparse"}, "features: "),
        ({"parts": {"train": 0, "valid": 1, "test": 1}}, "parts.train: "),
        ({"labels": 6}, "labels: unknown key"),
    ],
)
def test_a_wrong_option_is_named(name, changes, message):
    with pytest.raises(UserError) as error:
        draw(name, **changes)
    assert str(error.value).startswith(f"{name}: {message}")
