"""Simulated tags and word vectors: frequencies, noise, the best scores given the features, similarity of words."""

from pathlib import Path

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import expit, logit

from tests import data_sets
from tests.builders import dense
from vsebench.config.dataset import WordVectorsConfig
from vsebench.core.errors import UserError
from vsebench.core.yaml_files import check, read_config
from vsebench.data.problem import LabelMatrix
from vsebench.formats.simulators import simulated_tags, simulated_words
from vsebench.formats.simulators.simulated_tags import biases, frequencies, label_names, looks, posterior

RHOS = ("rho0", "rho05", "rho1")


def options_of(**changes):
    values = data_sets.described("sim-tags-rho05").options | changes
    return check(simulated_tags.Options, values, "here")


def draw(**changes):
    return simulated_tags.read(Path(), options_of(**changes))


def given_of(drawn):
    """Return the labels of the images, (n_images, n_labels) bool."""
    return dense(LabelMatrix.from_pairs(drawn.pairs, len(drawn.images), len(drawn.labels))).astype(bool)


def words_of(wanted=None, **changes):
    values = {"labels": 300, "latent": 20, "dimensions": 50, "correlation": 0.5, "common": 0.0, "seed": 1} | changes
    options = check(simulated_words.Options, values, "here")
    names = label_names(options.labels) if wanted is None else wanted
    read = simulated_words.read_vectors(Path(), options, set(names))
    return np.array([read.vectors[name] for name in names if name in read.vectors], dtype=np.float64)


def test_labels_are_as_frequent_as_they_should_be():
    frequency, given = frequencies(options_of()), given_of(draw())
    assert frequency.sum() == pytest.approx(4)
    deviation = np.sqrt(frequency * (1 - frequency) / len(given))
    assert np.abs((given.mean(axis=0) - frequency) / deviation).max() < 4.5


def test_images_that_test_carry_the_truth_or_tags():
    truth, tags = (given_of(draw(images=500, tag_noise=0.5, tested_on=name)) for name in ("truth", "tags"))
    is_test = (draw(images=500).parts == "test").to_numpy()
    assert (truth[~is_test] == tags[~is_test]).all()
    assert (truth[is_test] == given_of(draw(images=500))[is_test]).all()  # without noise
    kept = tags[is_test][truth[is_test]]
    assert kept.mean() == pytest.approx(0.76, abs=5 * np.sqrt(0.76 * 0.24 / kept.size))  # 1 - eta/2 and chance hits


def test_no_label_is_on_more_than_half_of_the_images():
    assert frequencies(options_of(labels=6)).max() == 0.5


def test_biases_give_the_frequencies_by_another_integration():
    frequency, deviation = np.array([0.001, 0.05, 0.5]), np.array([0.5, 3.0, 4.0])
    for b, pi, s in zip(biases(frequency, deviation), frequency, deviation, strict=True):
        found, _ = integrate.quad(lambda g, b=b, s=s: expit(b + s * g) * stats.norm.pdf(g), -12, 12, limit=400)
        assert found == pytest.approx(pi, rel=2e-3)


def test_a_larger_set_begins_with_a_smaller_one():
    small, large = draw(images=1500), draw(images=3200)
    assert np.array_equal(given_of(small), given_of(large)[:1500])
    assert np.array_equal(small.features.values, large.features.values[:1500])
    assert np.array_equal(small.truth["weight"], large.truth["weight"])


def test_noise_changes_the_tags_of_other_images_than_those_that_test():
    """The noise removes a quarter of the true labels; the labels that it adds are about half of the tags."""
    clean, noisy = draw(), draw(tag_noise=0.5)
    tests = (clean.parts == "test").to_numpy()
    true, tags = given_of(clean), given_of(noisy)
    assert np.array_equal(true[tests], tags[tests])
    true, tags = true[~tests], tags[~tests]
    assert (tags & true).sum() / true.sum() == pytest.approx(0.76, abs=0.01)
    assert (tags & ~true).sum() / tags.sum() == pytest.approx(0.48, abs=0.01)


def test_the_best_scores_are_the_log_odds_given_the_features():
    """The mean over t given x is computed by integration, with one latent number and two features."""
    options = options_of(labels=4, latent=1, dimensions=2, beta=1.0, feature_noise=0.7)
    z, feature_map = looks(4, 1, options.seed), np.array([[1.2], [-0.4]])
    bias = np.array([-3.0, -1.0, 0.0, 1.0])
    weight, offset = posterior(options, z, bias, feature_map)
    for x in ([0.3, -0.2], [-2.0, 1.5], [1.0, 1.0]):

        def density(t, x=x):
            return stats.norm.pdf(t) * stats.norm.pdf(x - feature_map[:, 0] * t, scale=0.7).prod()

        total, _ = integrate.quad(density, -8, 8)
        for label in range(4):
            mean, _ = integrate.quad(lambda t, label=label: density(t) * expit(bias[label] + t * z[label, 0]), -8, 8)
            assert np.array(x) @ weight[:, label] + offset[label] == pytest.approx(logit(mean / total), abs=0.04)


@pytest.mark.parametrize(("rho", "low", "high"), [(0.0, -0.05, 0.05), (0.5, 0.15, 0.4), (1.0, 1 - 1e-6, 1 + 1e-6)])
def test_words_are_as_alike_as_looks_in_proportion_to_their_correlation(rho, low, high):
    z, vectors = looks(300, 20, 1), words_of(correlation=rho)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-6)
    z /= np.linalg.norm(z, axis=1, keepdims=True)
    pairs = np.triu_indices(300, 1)
    assert low <= np.corrcoef((z @ z.T)[pairs], (vectors @ vectors.T)[pairs])[0, 1] <= high


def test_a_common_direction_raises_every_inner_product():
    pairs = np.triu_indices(300, 1)
    plain, shared = ((vectors @ vectors.T)[pairs].mean() for vectors in (words_of(), words_of(common=0.3)))
    assert shared - 0.91 * plain == pytest.approx(0.09, abs=0.02)


def test_only_wanted_words_are_returned():
    assert np.array_equal(words_of(["label-0007", "label-0999", "dog"]), words_of()[[6]])


def test_too_few_dimensions_are_refused():
    with pytest.raises(UserError, match="dimensions: must be at least `latent`"):
        words_of(dimensions=19)


@pytest.mark.parametrize("name", [*(f"sim-tags-{rho}" for rho in RHOS), "sim-tags-rho05-noisy"])
def test_the_words_of_a_described_set_have_its_parameters(name):
    dataset = data_sets.described(name)
    words = read_config(WordVectorsConfig, data_sets.CONFIGS.parent / "word_vectors" / f"{dataset.word_vectors}.yaml")
    shared = ("labels", "latent", "seed")
    assert [words.options[key] for key in shared] == [dataset.options[key] for key in shared]
