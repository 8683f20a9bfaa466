"""The images on which methods on image features are trained, and the normalised features of these images."""

from dataclasses import dataclass

from vsebench.config.dataset import StepsOfSets
from vsebench.core.errors import UserError
from vsebench.core.yaml_files import Strict
from vsebench.data.features import Normalisation, Rows
from vsebench.data.problem import LabelMatrix, Problem
from vsebench.methods.base import Control, Settings


class NormaliseSettings(Strict):
    """Settings of the normalisation of features."""

    # Normalisation steps for every set of features, in the order in which they are applied; or a mapping from the name
    # of each set to the steps for this set. If this is null, or the mapping lacks a set, the steps in the data set's
    # file are used.
    normalise: StepsOfSets | None = None


class FeatureSettings(NormaliseSettings, Settings):
    """Settings of a method on image features."""


@dataclass(frozen=True)
class Seen:
    """The images that a method is trained on: the training images with features.

    Attributes
    ----------
    rows : (n, d) float32, the images' normalised features, dense or CSR; `Problem.feature_blocks` names the sets of
        features
    labels : n rows, the images' labels
    normalisation : the normalisation fitted to these images
    """

    rows: Rows
    labels: LabelMatrix
    normalisation: Normalisation


def see(
    problem: Problem, settings: NormaliseSettings, *, only_labelled: bool = False, unit_length: bool = False
) -> Seen:
    """Return the training images that have features, with their normalised features.

    Parameters
    ----------
    problem : a problem with image features
    settings : the normalisation steps
    only_labelled : whether images without labels are left out
    unit_length : whether whole rows, with all sets of features, are scaled to unit length after the other steps

    Raises
    ------
    UserError
        No training image has both features and a label, or the normalisation does not suit the features.
    """
    features, training = problem.features, problem.training
    assert features is not None
    images = training.images[features.known[training.images]]
    if only_labelled:
        images = images[training.labels.n_labels_of_row[images] > 0]
    labels = training.labels.rows(images)
    if labels.n_pairs == 0:
        raise UserError("no training image has both features and a label")
    normalisation = Normalisation.fit(settings.normalise or (), features, images, unit_length)
    return Seen(normalisation.apply(features.rows(images)), labels, normalisation)


class FeatureControl(Control):
    """Base class of methods that use image features and are trained without epochs.

    Images without features are left out of the fit.
    """

    needs = frozenset({"features"})
