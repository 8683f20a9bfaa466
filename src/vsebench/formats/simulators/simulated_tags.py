"""Simulate images with noisy tags, from random appearance vectors of the labels and random vectors of the images.

    appearance of label l     z_l ~ N(0, I_m / m)
    frequency                 pi_l = (rank_l + 5)^-zipf, scaled to add up to labels_per_image, then cut off at 1/2;
                              ranks from 0, in random order
    image i                   t_i ~ N(0, I_m)
    truth                     y_il ~ Bernoulli(sigmoid(b_l + beta <t_i, z_l>)); b_l is chosen so that the mean of
                              the probability over t is pi_l
    features                  x_i = B t_i + sigma e_i,  B_jk ~ N(0, 1/m),  e_i ~ N(0, I)
    tags with noise eta       each true label is kept with probability 1 - eta/2; then a Poisson number of labels is
                              added, each of which is label l with probability proportional to pi_l; the expected share
                              of wrong labels among an image's tags is about eta

Training and validation images have tags; test images have the true labels, or tags if `tested_on` is `tags`.
`simulated_words.py` draws word vectors that have a given correlation with the appearance vectors z_l of the labels.
Appearance vectors, frequencies and B have their own streams of random numbers, so they depend neither on the number of
images nor on the noise. Images are drawn one by one, so a larger set begins with the images of a smaller one.

The best scores that can be computed from the features x are the probabilities of the labels given x. Given x, the
vector t of the image has the distribution N(mu, S). By the usual approximation of the mean of a sigmoid, the
probability of label l given x is

    sigmoid((b_l + beta <mu, z_l>) / sqrt(1 + pi/8 beta^2 z_l' S z_l)),
    mu = S B'x / sigma^2,   S = (I + B'B / sigma^2)^-1.

Here, pi is the number 3.14..., not a frequency. The argument of this sigmoid is linear in x, so the method `oracle`
computes these probabilities with the model `IndependentLabels` (`methods.controls.label_probabilities`).

Source: made for this project.
"""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field
from scipy.special import expit

from vsebench.data.streams import generator
from vsebench.formats.annotations import RawAnnotations
from vsebench.formats.simulators.simulated_images import SimulatedOptions, annotate

KNOWS = frozenset({"truth"})  # needs (`vsebench.data.needs`) that only a simulator can meet
LOOKS, RANKS, MAP, IMAGES, NOISE, GIVEN, KEPT, WRONG = range(8)  # random streams, all derived from the seed
SHIFT, MOST = 5, 0.5  # number added to the ranks; largest frequency
CHUNK = 1000  # number of images whose labels are drawn together
STEPS, NODES = 60, 64  # steps of the bisection; nodes of the Gauss-Hermite quadrature

Values = NDArray[np.float64]


class Options(SimulatedOptions):
    """Options: the label distribution, features and noise of the set."""

    labels: int = Field(ge=2)  # size of the vocabulary
    latent: int = Field(ge=1)  # m, the number of dimensions of the appearance vectors
    beta: float = Field(gt=0)  # how strongly the vector t of an image determines its labels
    labels_per_image: float = Field(gt=0)  # mean number of true labels per image
    zipf: float = Field(ge=0)  # exponent of the labels' frequencies
    features: Literal["dense"]  # how features are stored
    dimensions: int = Field(ge=1)  # number of features
    feature_noise: float = Field(gt=0)  # sigma, the standard deviation of the noise
    tag_noise: float = Field(default=0.0, ge=0, lt=1)  # eta, the expected share of wrong tags
    tested_on: Literal["truth", "tags"] = "truth"  # labels of the test images: the true labels, or noisy tags


def looks(n_labels: int, latent: int, seed: int) -> Values:
    """Return the appearance vectors of the labels, (n_labels, latent)."""
    return generator(seed, LOOKS).standard_normal((n_labels, latent)) / math.sqrt(latent)


def label_names(n_labels: int) -> list[str]:
    """Return the names of the labels."""
    return [f"label-{label + 1:04d}" for label in range(n_labels)]


def read(raw: Path, options: Options) -> RawAnnotations:
    """Draw a data set; `raw` is not used. The same options give the same data set.

    `IndependentLabels` in `methods.controls.label_probabilities` describes the arrays in `truth`.
    """
    z, frequency = looks(options.labels, options.latent, options.seed), frequencies(options)
    bias = biases(frequency, options.beta * np.linalg.norm(z, axis=1))
    map_rng, image_rng, noise_rng = (generator(options.seed, stream) for stream in (MAP, IMAGES, NOISE))
    feature_map = map_rng.standard_normal((options.dimensions, options.latent)) / math.sqrt(options.latent)
    t = image_rng.standard_normal((options.n_images, options.latent))
    noise = noise_rng.standard_normal((options.n_images, options.dimensions))
    features = (t @ feature_map.T + options.feature_noise * noise).astype(np.float32)
    is_clean = (options.parts.of(len(t)) == "test").to_numpy() & (options.tested_on == "truth")
    given = np.vstack(list(_labels(options, t, z, frequency, bias, is_clean)))
    weight, offset = posterior(options, z, bias, feature_map)
    return annotate(options, features, given, {"weight": weight, "bias": offset}, label_names(options.labels))


def frequencies(options: Options) -> Values:
    """Return the frequency pi_l of each label: the expected share of images with the true label l, (n_labels,)."""
    ranks = generator(options.seed, RANKS).permutation(options.labels)
    shares = 1.0 / (ranks + SHIFT) ** options.zipf
    return np.asarray(np.minimum(options.labels_per_image * shares / shares.sum(), MOST))


def biases(frequency: Values, deviation: Values) -> Values:
    """Return the bias b of each label, chosen so that the label has the given frequency.

    For each label, the mean of sigmoid(b + deviation g) over g ~ N(0, 1) equals the frequency. All arrays have shape
    (n_labels,).
    """
    nodes, weights = np.polynomial.hermite_e.hermegauss(NODES)
    weights = weights / weights.sum()
    spread = np.multiply.outer(deviation, nodes)
    low, high = np.full(len(frequency), -100.0), np.full(len(frequency), 100.0)
    for _ in range(STEPS):
        middle = (low + high) / 2
        above = expit(middle[:, np.newaxis] + spread) @ weights > frequency
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return np.asarray((low + high) / 2)


def posterior(options: Options, z: Values, bias: Values, feature_map: Values) -> tuple[Values, Values]:
    """Return the weights and the biases that give the log odds of the labels as linear functions of the features.

    The weights have shape (dimensions, n_labels). The biases have shape (n_labels,).
    """
    precision = options.feature_noise**-2
    covariance = np.linalg.inv(np.eye(options.latent) + precision * feature_map.T @ feature_map)
    variance = options.beta**2 * np.einsum("lk,kj,lj->l", z, covariance, z)
    shrinking = 1 / np.sqrt(1 + math.pi / 8 * variance)
    weight = precision * options.beta * (feature_map @ covariance @ z.T) * shrinking
    return np.ascontiguousarray(weight), bias * shrinking


def _labels(
    options: Options, t: Values, z: Values, frequency: Values, bias: Values, is_clean: NDArray[np.bool_]
) -> Iterator[NDArray[np.bool_]]:
    """Yield the labels of at most CHUNK images at a time.

    Each array is a mask of shape (n, n_labels): whether each image has each label. Images where `is_clean` is True get
    their true labels. All other images get tags.
    """
    given, kept, wrong = (generator(options.seed, stream) for stream in (GIVEN, KEPT, WRONG))
    eta, total = options.tag_noise, frequency.sum()
    n_wrong = eta / (1 - eta) * total * (1 - eta / 2)  # expected number of wrong labels per image
    for start in range(0, len(t), CHUNK):
        rows = t[start : start + CHUNK]
        truth = given.random((len(rows), len(z))) < expit(bias + options.beta * rows @ z.T)
        tags = truth & (kept.random(truth.shape) < 1 - eta / 2)
        # If the total number of draws from pi is a Poisson number, each label is drawn a Poisson number of times,
        # independently of the other labels.
        tags |= wrong.random(truth.shape) < -np.expm1(-n_wrong * frequency / total)
        yield np.where(is_clean[start : start + CHUNK, np.newaxis], truth, tags)
