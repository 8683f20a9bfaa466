"""What simulators share: the official partition, and images with standard normal features.

    features of image i     x_i ~ N(0, I_16), rounded to float32 before the labels are drawn given x_i

The options of such a set change its size and its seed, but not the label distribution given the features, whose
parameters have their own seeds. `scale` multiplies the number of images. Features and labels are drawn image by image
from separate streams of random numbers, so a larger set begins with the images of a smaller one.
"""

from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pydantic import Field

from vsebench.core.yaml_files import Strict
from vsebench.data.features import Features
from vsebench.formats.annotations import RawAnnotations, count_pairs, image_ids

DIMENSIONS, LABELS = 16, 20
FEATURES, GIVEN = 0, 1  # streams of the seed


class Parts(Strict):
    """The official partition: images are dealt to its parts in rounds, this number to each."""

    train: int = Field(ge=1)  # training images per round
    valid: int = Field(ge=0)  # validation images per round
    test: int = Field(ge=1)  # test images per round

    def of(self, n_images: int) -> pl.Series:
        """Return the part of each image, (n_images,) String: in each round train comes first, then valid, then test."""
        parts = np.repeat(["train", "valid", "test"], [self.train, self.valid, self.test])
        return pl.Series("part", parts[np.arange(n_images) % len(parts)])


class NormalOptions(Strict):
    """Size and seed of a set of images with standard normal features."""

    images: int = Field(ge=1)  # number of images, before `scale`
    parts: Parts  # the official partition: numbers of images per round
    features: Literal["dense"]  # how features are stored
    scale: float = Field(default=1.0, gt=0)  # multiplies the number of images
    seed: int = Field(default=0, ge=0)  # of the images and their labels


def draw_features(options: NormalOptions) -> NDArray[np.float32]:
    """Draw the features of the images, (n_images, DIMENSIONS) float32."""
    n_images = max(1, round(options.images * options.scale))
    rng = np.random.default_rng([options.seed, FEATURES])
    return rng.standard_normal((n_images, DIMENSIONS)).astype(np.float32)


def given_stream(options: NormalOptions) -> np.random.Generator:
    """Return the random generator for the labels."""
    return np.random.default_rng([options.seed, GIVEN])


def annotate(
    options: NormalOptions,
    features: NDArray[np.float32],
    given: NDArray[np.bool_],
    truth: dict[str, NDArray[Any]],
) -> RawAnnotations:
    """Return a drawn set; images without a label are kept.

    Parameters
    ----------
    features : (n_images, DIMENSIONS) float32
    given : (n_images, LABELS) bool, the labels of each image
    truth : parameters of the label distribution; `label`, the number that each label has there, is added
    """
    n_images = len(features)
    images, labels = np.nonzero(given)
    return RawAnnotations(
        images=image_ids(f"image-{image + 1}" for image in range(n_images)),
        labels=[f"label-{label + 1:02d}" for label in range(LABELS)],
        pairs=count_pairs(images, labels, LABELS),
        parts=options.parts.of(n_images),
        features=Features(features, np.ones(n_images, dtype=bool)),
        truth={"label": np.arange(LABELS, dtype=np.int32), **truth},
    )
