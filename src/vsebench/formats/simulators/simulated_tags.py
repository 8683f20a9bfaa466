"""Simulated images with tags, whose words may or may not be alike where their looks are alike.

    looks of label l          z_l ~ N(0, I_m / m)
    frequency                 pi_l = labels_per_image / (rank_l + 5)^zipf, scaled, at most 1/2; ranks are a permutation
    image i                   t_i ~ N(0, I_m)
    truth                     y_il ~ Bernoulli(sigmoid(b_l + beta <t_i, z_l>)), b_l such that its mean over t is pi_l
    features                  x_i = B t_i + sigma e_i,  B_jk ~ N(0, 1/m),  e_i ~ N(0, I)
    tags, of noise eta        a true label is kept with chance 1 - eta/2; wrong labels are drawn from pi, Poisson in
                              number, such that their expected share among an image's tags is about eta

Images that train and validate carry tags, images that test carry the truth, or tags by the option `tested_on`.
`simulated_words.py` has words for the labels, of which a share looks as the labels do. Looks, frequencies and B have
streams of random numbers of their own, so other sizes and noises are of the same law; images are drawn row by row, so a
larger set begins with a smaller one.

The best scores given the features rank by the probability of a label given x. With t | x ~ N(mu, S) it is, by the
usual approximation of the mean of a sigmoid,

    sigmoid((b_l + beta <mu, z_l>) / sqrt(1 + pi/8 beta^2 z_l' S z_l)),
    mu = S B'x / sigma^2,   S = (I + B'B / sigma^2)^-1

which is linear in x inside of the sigmoid, so `methods.independent_labels` is the oracle.

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

from vsebench.core.yaml_files import Strict
from vsebench.data.features import Features
from vsebench.formats.annotations import RawAnnotations, count_pairs, image_ids
from vsebench.formats.simulators.simulated_images import Parts

KNOWS = frozenset({"truth"})  # needs (`vsebench.data.needs`) that only a simulator can satisfy
LOOKS, RANKS, MAP, IMAGES, NOISE, GIVEN, KEPT, WRONG = range(8)  # streams of the seed
SHIFT, MOST = 5, 0.5  # of frequencies
CHUNK = 1000  # images whose labels are drawn together
STEPS, NODES = 60, 64  # of the bisection; of the Gauss-Hermite sum

Values = NDArray[np.float64]


class Options(Strict):
    """Size, law and draw of the set."""

    images: int = Field(ge=1)  # before `scale`
    parts: Parts  # how images are dealt to the official partition, in rounds
    labels: int = Field(ge=2)  # in the vocabulary
    latent: int = Field(ge=1)  # m, the dimensions of looks
    beta: float = Field(gt=0)  # how far an image decides its labels
    labels_per_image: float = Field(gt=0)  # on average
    zipf: float = Field(ge=0)  # exponent of the labels' frequencies
    features: Literal["dense"]  # how they are kept
    dimensions: int = Field(ge=1)  # of features
    feature_noise: float = Field(gt=0)  # sigma, the deviation of the noise
    tag_noise: float = Field(default=0.0, ge=0, lt=1)  # eta, the expected share of wrong tags
    tested_on: Literal["truth", "tags"] = "truth"  # what images that test carry
    scale: float = Field(default=1.0, gt=0)  # multiplies the images
    seed: int = Field(default=0, ge=0)  # of the draw


def looks(n_labels: int, latent: int, seed: int) -> Values:
    """Return the looks of the labels, (n_labels, latent)."""
    return np.random.default_rng([seed, LOOKS]).standard_normal((n_labels, latent)) / math.sqrt(latent)


def label_names(n_labels: int) -> list[str]:
    """Return the labels' names."""
    return [f"label-{label + 1:04d}" for label in range(n_labels)]


def read(raw: Path, options: Options) -> RawAnnotations:
    """Draw a set; `raw` is not read. The same options give the same set.

    The truth is what `methods.independent_labels` reads.
    """
    n_images = max(1, round(options.images * options.scale))
    z, frequency = looks(options.labels, options.latent, options.seed), frequencies(options)
    bias = biases(frequency, options.beta * np.linalg.norm(z, axis=1))
    feature_map = _stream(options, MAP).standard_normal((options.dimensions, options.latent)) / math.sqrt(
        options.latent
    )
    t = _stream(options, IMAGES).standard_normal((n_images, options.latent))
    noise = _stream(options, NOISE).standard_normal((n_images, options.dimensions))
    features = (t @ feature_map.T + options.feature_noise * noise).astype(np.float32)
    parts = options.parts.of(n_images)
    is_clean = (parts == "test").to_numpy() & (options.tested_on == "truth")
    given = np.vstack(list(_labels(options, t, z, frequency, bias, is_clean)))
    images, labels = np.nonzero(given)
    weight, offset = posterior(options, z, bias, feature_map)
    return RawAnnotations(
        images=image_ids(f"image-{image + 1}" for image in range(n_images)),
        labels=label_names(options.labels),
        pairs=count_pairs(images, labels, options.labels),
        parts=parts,
        features=Features(features, np.ones(n_images, dtype=bool)),
        truth={"label": np.arange(options.labels, dtype=np.int32), "weight": weight, "bias": offset},
    )


def frequencies(options: Options) -> Values:
    """Return the share of images that truly have each label, (n_labels,)."""
    ranks = _stream(options, RANKS).permutation(options.labels)
    shares = 1.0 / (ranks + SHIFT) ** options.zipf
    return np.asarray(np.minimum(options.labels_per_image * shares / shares.sum(), MOST))


def biases(frequency: Values, deviation: Values) -> Values:
    """Return b, (n_labels,): the mean of sigmoid(b + s g) over g ~ N(0, 1) is the frequency, s the deviation."""
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
    """Return weights (dimensions, n_labels) and biases (n_labels,) of the labels' log odds given the features."""
    precision = options.feature_noise**-2
    covariance = np.linalg.inv(np.eye(options.latent) + precision * feature_map.T @ feature_map)
    variance = options.beta**2 * np.einsum("lk,kj,lj->l", z, covariance, z)
    shrinking = 1 / np.sqrt(1 + math.pi / 8 * variance)
    weight = precision * options.beta * (feature_map @ covariance @ z.T) * shrinking
    return np.ascontiguousarray(weight), bias * shrinking


def _labels(
    options: Options, t: Values, z: Values, frequency: Values, bias: Values, is_clean: NDArray[np.bool_]
) -> Iterator[NDArray[np.bool_]]:
    """Yield the labels of a number of images at a time, (m, n_labels) bool: the truth where it is clean, or tags."""
    given, kept, wrong = (_stream(options, name) for name in (GIVEN, KEPT, WRONG))
    eta, total = options.tag_noise, frequency.sum()
    wrong_ones = eta / (1 - eta) * total * (1 - eta / 2)  # expected number of an image
    for start in range(0, len(t), CHUNK):
        rows = t[start : start + CHUNK]
        truth = given.random((len(rows), len(z))) < expit(bias + options.beta * rows @ z.T)
        tags = truth & (kept.random(truth.shape) < 1 - eta / 2)
        # Independent Poisson numbers of each label are a Poisson number of draws from pi.
        tags |= wrong.random(truth.shape) < -np.expm1(-wrong_ones * frequency / total)
        yield np.where(is_clean[start : start + CHUNK, np.newaxis], truth, tags)


def _stream(options: Options, name: int) -> np.random.Generator:
    return np.random.default_rng([options.seed, name])
