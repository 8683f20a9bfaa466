from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import Ridge
from sklearn.metrics import label_ranking_average_precision_score

from tests import data_sets
from vsebench.core.errors import UserError
from vsebench.formats.simulators.simulator import (
    LabelsPerImage,
    Options,
    Popularity,
    SimulatedFeatures,
    draw_features,
    draw_lengths,
    draw_topics,
    read,
)
from vsebench.kernels.drawing import draw_labels
from vsebench.kernels.random_numbers import new_state, uniform

FEATURES = SimulatedFeatures(dimensions=7, noise=0.5)


def options(**changes):
    default = {
        "images": 500,
        "labels": 40,
        "occurrences": 2345,
        "topics": 5,
        "concentration": 0.2,
        "spread": 2.0,
        "popularity": Popularity(exponent=0.9, shift=0.01, decay=1.0),
        "labels_per_image": LabelsPerImage(sigma=0.6, maximum=15),
    }
    return Options(**{**default, **changes})


def draw(**changes):
    return read(Path(), options(**changes))


def test_totals_and_limits_hold_exactly():
    pairs = draw().pairs
    assert pairs["count"].to_list() == [1] * 2345
    lengths = np.bincount(pairs["image"], minlength=500)
    assert lengths.min() >= 1
    assert lengths.max() <= 15


def test_repeats_become_counts():
    pairs = draw(novelty=5.0).pairs
    assert pairs["count"].sum() == 2345
    assert pairs["count"].max() > 1
    assert not pairs.select("image", "label").is_duplicated().any()


def test_same_seed_same_data_new_seed_other_data():
    first, again, other = draw(seed=3), draw(seed=3), draw(seed=4)
    assert first.pairs.equals(again.pairs)
    assert all(first.truth[key].tobytes() == again.truth[key].tobytes() for key in ("image", "label"))
    assert not first.pairs.equals(other.pairs)


def test_scale_keeps_labels_per_image():
    small = draw(scale=0.25)
    assert len(small.images) == 125
    assert len(small.labels) == 20
    assert small.pairs["count"].sum() == round(2345 / 4)


def test_truth_is_a_probability_and_its_average_the_shares_of_topics():
    truth = draw().truth
    assert truth["image"].dtype == truth["label"].dtype == np.float32
    assert np.allclose((truth["image"] @ truth["label"].T).sum(axis=1), 1, atol=1e-5)
    rank = (np.arange(40) + 0.5) / 40
    shares = (rank + 0.01) ** -0.9 * np.exp(-rank)
    average = draw_topics(options(), 40, np.random.default_rng(0)).mean(axis=0)
    assert np.allclose(np.sort(average)[::-1], shares / shares.sum(), rtol=1e-3)


def test_features_leave_the_labels_as_they_are():
    without, with_features, again = draw(), draw(features=FEATURES), draw(features=FEATURES)
    assert without.features is None
    assert with_features.pairs.equals(without.pairs)
    for key in ("image", "label"):
        assert with_features.truth[key].tobytes() == without.truth[key].tobytes()
    assert with_features.features.values.tobytes() == again.features.values.tobytes()
    assert (with_features.features.values.shape, with_features.features.values.dtype) == ((500, 7), np.float32)
    assert with_features.features.known.all()


def test_features_follow_their_formula():
    """Without noise, features are linear in the mixtures; the noise has its standard deviation."""
    mixtures = np.random.default_rng(1).dirichlet(np.ones(4), size=20_000).astype(np.float32)
    exact = draw_features(mixtures, SimulatedFeatures(dimensions=3, noise=0), np.random.default_rng(2)).values
    projection, residuals, *_ = np.linalg.lstsq(mixtures.astype(float), exact, rcond=None)
    assert residuals.sum() < 1e-9
    assert np.allclose(exact, mixtures @ np.random.default_rng(2).standard_normal((4, 3)) / 2, atol=1e-6)
    noisy = draw_features(mixtures, SimulatedFeatures(dimensions=3, noise=0.5), np.random.default_rng(2)).values
    noise = (noisy - mixtures @ projection).std(axis=0)
    assert np.allclose(noise, 0.5, atol=0.01)


def test_first_labels_follow_the_truth():
    n_images, mixture = 40_000, np.array([0.5, 0.3, 0.2], dtype=np.float32)
    topics = np.random.default_rng(0).dirichlet(np.full(12, 2.0), size=3)
    cumulative = np.cumsum(topics, axis=1)
    cumulative[:, -1] = 1
    offsets = 2 * np.arange(n_images + 1)
    labels = draw_labels(np.tile(mixture, (n_images, 1)), cumulative, offsets, np.inf, new_state(1)).reshape(-1, 2)
    truth = mixture @ topics
    first_labels = np.bincount(labels[:, 0], minlength=12)
    assert stats.chisquare(first_labels, truth * first_labels.sum()).pvalue > 1e-4
    # Drawing without replacement: the second label given the first is the truth without that label.
    first = int(truth.argmax())
    second = np.bincount(labels[labels[:, 0] == first, 1], minlength=12)
    assert second[first] == 0
    others = np.arange(12) != first
    expected = truth[others] / truth[others].sum() * second.sum()
    assert stats.chisquare(second[others], expected).pvalue > 1e-4


def draw_labels_twin(mixtures, cumulative, offsets, novelty, rng):
    rows = []
    for mixture, length in zip(mixtures, np.diff(offsets), strict=True):
        row = []
        for n in range(length):
            if uniform(rng) * (n + novelty) < n:
                row.append(row[int(uniform(rng) * n)])
                continue
            label = None
            while label is None or label in row:
                topic = np.searchsorted(np.cumsum(mixture, dtype=float)[:-1], uniform(rng), side="right")
                label = int(np.searchsorted(cumulative[topic], uniform(rng), side="right"))
            row.append(label)
        rows += row
    return np.array(rows, dtype=np.int32)


@pytest.mark.parametrize("novelty", [np.inf, 4.0])
def test_the_kernel_equals_its_twin(novelty):
    rng = np.random.default_rng(5)
    mixtures = rng.dirichlet(np.ones(4), size=60).astype(np.float32)
    cumulative = np.cumsum(rng.dirichlet(np.ones(20), size=4), axis=1)
    cumulative[:, -1] = 1
    offsets = np.concatenate([[0], np.cumsum(rng.integers(0, 9, size=60))])
    drawn = draw_labels(mixtures, cumulative, offsets, novelty, new_state(2))
    assert np.array_equal(drawn, draw_labels_twin(mixtures, cumulative, offsets, novelty, new_state(2)))


def test_lengths_meet_their_total_even_without_spread():
    labels_per_image = LabelsPerImage(sigma=0.0, minimum=1, maximum=9)
    lengths = draw_lengths(10, 100, 37, labels_per_image, np.random.default_rng(0))
    assert lengths.sum() == 37
    assert set(lengths) == {3, 4}


@pytest.mark.parametrize("total", [9, 91])
def test_a_total_that_cannot_be_met_is_refused(total):
    labels_per_image = LabelsPerImage(sigma=0.5, minimum=1, maximum=9)
    with pytest.raises(UserError, match=f"occurrences: {total} labels cannot be distributed over 10 images"):
        draw_lengths(10, 100, total, labels_per_image, np.random.default_rng(0))


@pytest.mark.parametrize("name", ["sim-iapr", "sim-flickr", "sim-nuswide", "sim-openimages"])
@pytest.mark.parametrize("scale", [0.002, 0.01])
def test_the_sets_of_the_configuration_can_be_drawn_small(name, scale):
    config = data_sets.described(name)
    annotations = read(Path(), Options(**{**config.options, "scale": scale}))
    assert "simulated" in config.title
    mean = config.options["occurrences"] / config.options["images"]
    assert annotations.pairs["count"].sum() / len(annotations.images) == pytest.approx(mean, abs=0.02)


def test_the_simulated_features_of_the_configuration_tell_images_apart():
    """Ridge regression on the features ranks labels better than popularity does, and worse than the truth."""
    annotations = read(Path(), Options(**data_sets.described("sim-features").options))
    n_images = len(annotations.images)
    matrix = np.zeros((n_images, len(annotations.labels)))
    matrix[annotations.pairs["image"], annotations.pairs["label"]] = 1
    test = np.arange(n_images) % 5 == 0
    known, asked = matrix[~test], matrix[test]
    ridge = Ridge(alpha=100).fit(annotations.features.values[~test], known).predict(annotations.features.values[test])
    truth = annotations.truth["image"][test] @ annotations.truth["label"].T
    scores = [np.tile(known.mean(axis=0), (len(asked), 1)), ridge, truth]
    popularity, found, best = (label_ranking_average_precision_score(asked, score) for score in scores)
    assert found > popularity + 0.05
    assert best > found + 0.05
