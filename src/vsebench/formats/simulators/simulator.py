"""Simulate labels by drawing them from a topic model, so that the true ranking is known.

    popularity of label l   g_l ~ (r_l + shift)^-exponent * exp(-decay * r_l),  r_l = (rank of l - 1/2) / n_labels
    topic t                 phi_tl = a_t b_l g_l exp(spread * z_tl),  z_tl ~ N(0, 1)
    image i                 theta_i ~ Dirichlet(concentration, ..., concentration) over the topics
    number of labels        k_i = m * exp(sigma * y_i), y_i ~ N(0, 1), rounded and clipped to [minimum, maximum]
    labels                  drawn from p_il = sum over t of theta_it phi_tl without replacement;
                            with `novelty`, label n + 1 of an image is a copy of one of the n labels before it with
                            probability n / (n + novelty) (Hoppe's urn), so labels can repeat, as in images with
                            labelled regions

where g_l is proportional to the formula and adds up to 1 over all labels. This is a Zipf-Mandelbrot distribution with a
cut-off. r_l is a share of the vocabulary, so the distribution does not depend on the vocabulary's size. Labels are
numbered in random order. The factors a_t and b_l are chosen such that each topic adds up to 1 and the average of the
topics is g, however different the topics are. The factor m makes the k_i add up to `occurrences`; if rounding leaves a
few labels over, random images get them. No method can do better than to rank the labels of image i by p_il, as the
method `oracle` does.

`scale` multiplies the numbers of images and occurrences; its square root multiplies the size of the vocabulary. Thus
the mean number of labels per image stays the same, and a label has sqrt(scale) times as many images. At most half of
the vocabulary is drawn for an image.

With the option `features`, images also have features, a noisy linear map of their topic mixtures:

    features of image i     x_i = theta_i P / sqrt(T) + noise * e_i

where T is the number of topics, and the (T, dimensions) matrix P and the vectors e_i consist of independent standard
normal numbers. Features have their own stream of random numbers, so labels are the same with and without features.
"""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from vsebench.core.errors import UserError
from vsebench.core.yaml_files import Strict
from vsebench.data.features import Features
from vsebench.data.streams import Stream
from vsebench.formats.annotations import RawAnnotations, count_pairs, image_ids

KNOWS = frozenset({"truth"})  # needs (`vsebench.data.needs`) that only a simulator can meet
BALANCING = 50  # number of sweeps over topics and labels; further sweeps change the labels' popularity by less than 1 %


class Popularity(Strict):
    """How unequal the labels' frequencies are; see the module's formula."""

    exponent: float = Field(ge=0)  # frequencies decline as (r + shift)^-exponent, where r = rank / number of labels
    shift: float = Field(gt=0)  # added to r in the formula; see `exponent`
    decay: float = Field(default=0.0, ge=0)  # frequencies also decline as exp(-decay * r)


class LabelsPerImage(Strict):
    """Options: the distribution of the number of labels per image; `Options.occurrences` determines the mean."""

    sigma: float = Field(ge=0)  # standard deviation of the logarithm of the number of labels
    minimum: int = Field(default=1, ge=0)  # smallest number of labels per image
    maximum: int = Field(ge=1)  # largest number of labels per image


class SimulatedFeatures(Strict):
    """Options: image features; see the module's formula."""

    dimensions: int = Field(ge=1)  # number of features
    noise: float = Field(ge=0)  # standard deviation of the noise added to each feature


class Options(Strict):
    """Options: the size, label distribution, features and seed of a simulated set."""

    images: int = Field(ge=1)  # number of images, before `scale`
    labels: int = Field(ge=2)  # size of the vocabulary, before `scale`
    occurrences: int = Field(ge=1)  # total number of labels over all images, before `scale`
    # Label n + 1 of an image is a copy of an earlier one with probability n / (n + novelty); none: no label repeats.
    novelty: float | None = Field(default=None, gt=0)
    scale: float = Field(default=1.0, gt=0)  # multiplies images and occurrences; its square root multiplies labels
    topics: int = Field(ge=1)  # T, the number of topics
    concentration: float = Field(gt=0)  # Dirichlet parameter; with a smaller one, images have fewer topics
    # How different topics are. Above 6, a topic has so few labels that drawing distinct labels would take very long.
    spread: float = Field(ge=0, le=6)
    popularity: Popularity  # how unequal the labels' frequencies are
    labels_per_image: LabelsPerImage  # number of labels per image; its mean follows from `occurrences`
    features: SimulatedFeatures | None = None  # image features, a noisy linear map of the topics; none: no features
    seed: int = Field(default=0, ge=0)  # seed of the whole set


def read(raw: Path, options: Options) -> RawAnnotations:
    """Draw a data set; `raw` is not used. The same options give the same data set."""
    # Imported here because the plan of a run reads only `Options`, and numba takes half a second to import.
    from vsebench.kernels.drawing import draw_labels
    from vsebench.kernels.random_numbers import new_state

    n_images, n_labels, total = scaled_sizes(options)
    streams = (np.random.default_rng(stream) for stream in np.random.SeedSequence(options.seed).spawn(4))
    topic_rng, image_rng, length_rng, feature_rng = streams
    topics = draw_topics(options, n_labels, topic_rng)
    mixtures = draw_mixtures(n_images, options, image_rng)
    offsets = np.zeros(n_images + 1, dtype=np.int64)
    np.cumsum(draw_lengths(n_images, n_labels, total, options.labels_per_image, length_rng), out=offsets[1:])

    cumulative = np.cumsum(topics, axis=1)
    cumulative /= cumulative[:, -1:].copy()
    state = new_state(options.seed, Stream.SIMULATED_LABELS)
    labels = draw_labels(mixtures, cumulative, offsets, options.novelty or np.inf, state)
    images = np.repeat(np.arange(n_images, dtype=np.int32), np.diff(offsets))
    return RawAnnotations(
        images=image_ids(_names("image", n_images)),
        labels=_names("label", n_labels),
        pairs=count_pairs(images, labels, n_labels),
        features=None if options.features is None else draw_features(mixtures, options.features, feature_rng),
        truth={"image": mixtures, "label": np.ascontiguousarray(topics.T, dtype=np.float32)},
    )


def scaled_sizes(options: Options) -> tuple[int, int, int]:
    """Return the numbers of images, labels and occurrences after scaling by `options.scale`."""
    n_images = max(1, round(options.images * options.scale))
    n_labels = max(2, round(options.labels * options.scale**0.5))
    return n_images, n_labels, max(1, round(options.occurrences * n_images / options.images))


def draw_topics(options: Options, n_labels: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw the label distribution of each topic, (n_topics, n_labels) float64; each row adds up to 1."""
    formula = options.popularity
    rank = (rng.permutation(n_labels) + 0.5) / n_labels
    popularity = (rank + formula.shift) ** -formula.exponent * np.exp(-formula.decay * rank)
    popularity /= popularity.sum()
    topics = popularity * np.exp(options.spread * rng.standard_normal((options.topics, n_labels)))
    for _ in range(BALANCING):
        topics *= popularity / topics.mean(axis=0)
        topics /= topics.sum(axis=1, keepdims=True)
    return np.asarray(topics)


def draw_mixtures(n_images: int, options: Options, rng: np.random.Generator) -> NDArray[np.float32]:
    """Draw the topic mixture of each image, (n_images, n_topics) float32; each row adds up to 1."""
    weights = rng.standard_gamma(options.concentration, size=(n_images, options.topics), dtype=np.float32)
    weights += np.float32(1e-30)  # with a small concentration a whole row can underflow
    weights /= weights.sum(axis=1, keepdims=True)
    return weights


def draw_lengths(
    n_images: int, n_labels: int, total: int, options: LabelsPerImage, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Draw the number of labels of each image, (n_images,) int64; the numbers add up to `total`."""
    minimum, maximum = options.minimum, min(options.maximum, n_labels // 2)
    if not minimum * n_images <= total <= maximum * n_images:
        sizes = f"{minimum} to {maximum} labels each (an image can have at most half of the {n_labels} labels)"
        goal = f"distributed over {n_images} images with {sizes}"
        raise UserError(f"simulator: occurrences: {total} labels cannot be {goal}")
    relative = np.exp(options.sigma * rng.standard_normal(n_images))

    def lengths(factor: float) -> NDArray[Any]:
        return np.clip(np.rint(factor * relative), minimum, maximum)

    low, high = 0.0, 1.0
    while lengths(high).sum() < total:
        low, high = high, 2 * high
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if lengths(middle).sum() <= total else (low, middle)
    result = lengths(low).astype(np.int64)
    # Images with equal `relative` grow together, so the sum can be below `total`; random images get the missing labels.
    while missing := total - int(result.sum()):
        below = np.flatnonzero(result < maximum)
        result[rng.choice(below, min(missing, len(below)), replace=False)] += 1
    return result


def draw_features(mixtures: NDArray[np.float32], options: SimulatedFeatures, rng: np.random.Generator) -> Features:
    """Draw the features of images from their topic mixtures, (n_images, n_topics)."""
    (n_images, n_topics), dimensions = mixtures.shape, options.dimensions
    projection = rng.standard_normal((n_topics, dimensions))
    values = mixtures @ projection / np.sqrt(n_topics) + options.noise * rng.standard_normal((n_images, dimensions))
    return Features(values.astype(np.float32), np.ones(n_images, dtype=bool))


def _names(what: str, count: int) -> list[str]:
    width = len(str(count))
    return [f"{what}-{number:0{width}d}" for number in range(1, count + 1)]
