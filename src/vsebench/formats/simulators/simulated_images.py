"""Options and functions that several simulators share: the official partition, and standard normal features of images.

    features of image i     x_i ~ N(0, I_16), rounded to float32 before the labels are drawn given x_i

The options of a data set with these features are its size, its official partition and its seed. The label distribution
given the features is fixed, because its parameters have their own seeds. Features and labels are drawn image by image
from separate streams of random numbers, so a larger set begins with the images of a smaller one.
"""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pydantic import Field

from vsebench.core.yaml_files import Strict
from vsebench.data.features import Features
from vsebench.data.streams import generator
from vsebench.formats.annotations import RawAnnotations, count_pairs, image_ids

DIMENSIONS, LABELS = 16, 20
LABEL_NAMES = [f"label-{label + 1:02d}" for label in range(LABELS)]
FEATURES, GIVEN = 0, 1  # random streams, all derived from the seed


class Parts(Strict):
    """The official partition, which repeats in rounds of `train` + `valid` + `test` images.

    In each round, the first images go to train, the next to valid, and the last to test.
    """

    train: int = Field(ge=1)  # training images per round
    valid: int = Field(ge=0)  # validation images per round
    test: int = Field(ge=1)  # test images per round

    def of(self, n_images: int) -> pl.Series:
        """Return the part of each image, "train", "valid" or "test", as a String series of length `n_images`."""
        parts = np.repeat(["train", "valid", "test"], [self.train, self.valid, self.test])
        return pl.Series("part", parts[np.arange(n_images) % len(parts)])


class SimulatedOptions(Strict):
    """Number of images, official partition and seed of a simulated set."""

    images: int = Field(ge=1)  # number of images, before `scale`
    parts: Parts  # the official partition: in each round, first training images, then validation, then test images
    scale: float = Field(default=1.0, gt=0)  # multiplies the number of images
    seed: int = Field(default=0, ge=0)  # seed of the whole set

    @property
    def n_images(self) -> int:
        return max(1, round(self.images * self.scale))


class NormalOptions(SimulatedOptions):
    """Size, official partition and seed of a set of images with standard normal features."""

    features: Literal["dense"]  # how features are stored
    seed: int = Field(default=0, ge=0)  # seed of the images and their labels

    def draw_features(self) -> NDArray[np.float32]:
        """Draw the features of the images, (n_images, DIMENSIONS) float32."""
        return generator(self.seed, FEATURES).standard_normal((self.n_images, DIMENSIONS)).astype(np.float32)


def annotate(
    options: SimulatedOptions,
    features: NDArray[np.float32],
    given: NDArray[np.bool_],
    truth: dict[str, NDArray[Any]],
    names: Sequence[str] = LABEL_NAMES,
) -> RawAnnotations:
    """Return a simulated data set of images with the given features and labels.

    `features` has shape (n_images, n_features). `given` is a mask of shape (n_images, n_labels): whether each image has
    each label. Images without a label are kept. `truth` contains the parameters of the label distribution. In the
    result, `truth` also has the array `label`: the index of each label in these parameters, 0 to n_labels - 1.
    """
    n_images = len(features)
    images, labels = np.nonzero(given)
    return RawAnnotations(
        images=image_ids(f"image-{image + 1}" for image in range(n_images)),
        labels=names,
        pairs=count_pairs(images, labels, len(names)),
        parts=options.parts.of(n_images),
        features=Features(features, np.ones(n_images, dtype=bool)),
        truth={"label": np.arange(len(names), dtype=np.int32), **truth},
    )
