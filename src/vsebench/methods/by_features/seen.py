"""The images on which methods on image features are trained, and the normalised features of these images."""

from dataclasses import dataclass

from pydantic import Field

from vsebench.core.errors import UserError
from vsebench.core.yaml_files import Strict
from vsebench.data.features import Normalisation, Rows, Step
from vsebench.data.problem import LabelMatrix, Problem
from vsebench.methods.base import Control, Settings


class NormaliseSettings(Strict):
    """Settings of the normalisation of features."""

    # Normalisation steps, in this order; none: the steps in the data set's file.
    normalise: tuple[Step, ...] | None = Field(default=None, strict=False)


class FeatureSettings(NormaliseSettings, Settings):
    """Settings of a method on image features."""


@dataclass(frozen=True)
class Seen:
    """The images that a method is trained on: the training images with features.

    Attributes
    ----------
    rows : (n, d) float32, the normalised features of these images, dense or CSR
    labels : n rows, the labels of these images
    normalisation : the normalisation fitted to these images
    """

    rows: Rows
    labels: LabelMatrix
    normalisation: Normalisation


def see(problem: Problem, settings: NormaliseSettings, *, only_labelled: bool = False) -> Seen:
    """Return the images to learn from, with normalised features; `only_labelled` leaves out images without labels.

    Raises
    ------
    UserError
        None of the images has both features and a label, or the normalisation does not suit the features.
    """
    features, training = problem.features, problem.training
    assert features is not None
    images = training.images[features.known[training.images]]
    if only_labelled:
        images = images[training.labels.n_labels_of_row[images] > 0]
    labels = training.labels.rows(images)
    if labels.n_pairs == 0:
        raise UserError("no image to learn from has both features and a label")
    normalisation = Normalisation.fit(settings.normalise or (), features, images)
    return Seen(normalisation.apply(features.rows(images)), labels, normalisation)


class FeatureControl(Control):
    """Base class of closed forms and look-ups on image features; images without features are left out of the fit."""

    needs = frozenset({"features"})
