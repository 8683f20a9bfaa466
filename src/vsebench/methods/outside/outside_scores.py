"""Scores of a model that was trained outside this package, read from a file (`vsebench.formats.scores_file`)."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vsebench.core.errors import UserError
from vsebench.data.needs import NAMES, PARTS, Names, Parts
from vsebench.data.problem import Ids, Mask, Problem
from vsebench.formats.scores_file import SMALL, ScoredLists, Scores, VectorPairs, read_scores
from vsebench.methods.base import Control, Settings
from vsebench.methods.outside.given_scores import ScoreLists, ScoreMatrix, ScoreVectors
from vsebench.models import Model


class OutsideSettings(Settings):
    """Settings of a model of which only the scores are given."""

    file: str  # the file of scores: .npy, .npz, .parquet or .csv; docs/outside.md describes the formats


class OutsideScores(Control):
    """The scores in a file, matched to the data set's images by id and to its labels by name."""

    settings_type = OutsideSettings
    needs = frozenset({NAMES.key, PARTS.key})
    ranks_unseen = True
    settings: OutsideSettings

    def __init__(self, problem: Problem, settings: OutsideSettings) -> None:
        super().__init__(problem, settings)
        self.names, self.parts = NAMES.of(problem), PARTS.of(problem)

    @classmethod
    def knows_labels_alone(cls) -> bool:
        """Return False: it is unknown what the model was trained on, so its scores are used for all images."""
        return False

    def model(self) -> Model:
        scores = read_scores(Path(self.settings.file))
        check_scores(scores, self.names, self.parts)
        return model_of(scores, self.names)


def check_scores(scores: Scores, names: Names, parts: Parts) -> None:
    """Raise a `UserError` unless the scores fit this split and cover all its test images and candidate labels.

    If the file contains lists of scored labels, the list of a test image may lack some or all candidate labels. At
    least one list of a test image must contain a candidate label.
    """
    if scores.split and parts.hash and scores.split != parts.hash:
        raise UserError(
            f"{scores.path}: the model of these scores was trained on the split {scores.split[:12]}, not on"
            f" {parts.hash[:12]}; export the split {parts.hash[:12]} (vsebench export), and train the model on it"
        )
    check_all_there(names.images, parts.test, scores.ids, f"{scores.path}: test images")
    if not isinstance(scores.values, ScoredLists):
        check_all_there(names.labels, parts.candidates, scores.labels, f"{scores.path}: labels")
    elif not has_candidate(scores, scores.values, names, parts).any():
        candidate = names.labels[int(np.flatnonzero(parts.candidates)[0])]
        raise UserError(
            f"{scores.path}: no list of a test image has a candidate label; labels in the file look like"
            f" {scores.labels[0]!r}, those of the data set like {candidate!r}"
        )


def has_candidate(scores: Scores, lists: ScoredLists, names: Names, parts: Parts) -> Mask:
    """Return a mask that states which lists of test images contain a candidate label.

    The mask has one bool for each test image in the file of scores, in the order of the file.
    """
    is_test = is_one_of(scores.ids, names.images, parts.test)
    listed = is_one_of(scores.labels, names.labels, parts.candidates)[lists.label]
    has: Mask = np.logical_or.reduceat(listed, lists.start[:-1])[is_test]  # no list in a file is empty
    return has


def is_one_of(given: list[str], names: list[str], wanted: Mask) -> Mask:
    """Return a mask that states which names in `given` belong to a wanted image or label.

    `names` are the names of all images or labels of the data set, and `wanted` is a mask of `names`. Names are
    compared, not numbers, because an image that two joined data sets share has one name and two numbers.
    """
    known = {names[index] for index in np.flatnonzero(wanted)}
    return np.array([name in known for name in given], dtype=np.bool_)


def check_all_there(names: list[str], needed: Mask, given: list[str], what: str) -> None:
    """Raise a `UserError` that begins with `what` if `given` lacks a name that the mask `needed` selects in `names`."""
    present = set(given)
    missing = [names[index] for index in np.flatnonzero(needed) if names[index] not in present]
    if missing:
        raise UserError(
            f"{what}: {len(missing)} of {int(needed.sum())} are missing, such as {missing[0]!r};"
            f" names in the file look like {''.join(given[:1])!r}"
        )


def model_of(scores: Scores, names: Names) -> Model:
    """Return the model with the scores of a data set's images and labels; other scores are left out."""
    image_of, label_of = index_of(scores.ids, names.images), index_of(scores.labels, names.labels)
    rows, columns = np.flatnonzero(image_of >= 0), np.flatnonzero(label_of >= 0)
    row_of_image = np.full(len(names.images), -1, dtype=np.int32)
    row_of_image[image_of[rows]] = np.arange(len(rows), dtype=np.int32)
    row_of_image = row_of_image[index_of(names.images, names.images)]  # two joined data sets can share images
    n_labels, values = len(names.labels), scores.values
    if isinstance(values, VectorPairs):
        label = np.zeros((n_labels, values.label.shape[1]), dtype=np.float32)
        label[label_of[columns]] = values.label[columns]
        image = values.image if len(rows) == len(values.image) else values.image[rows]
        return ScoreVectors(row_of_image, image, label)
    if isinstance(values, ScoredLists):
        return _lists_of(values, image_of, label_of, row_of_image, n_labels)
    matrix = np.zeros((len(rows), n_labels), dtype=np.float32)
    matrix[:, label_of[columns]] = values[np.ix_(rows, columns)]
    return ScoreMatrix(row_of_image, matrix)


def _lists_of(values: ScoredLists, image_of: Ids, label_of: Ids, row_of_image: Ids, n_labels: int) -> ScoreLists:
    """Return the lists of the data set's images, without labels of other data sets.

    For each image or label of the file, `image_of` and `label_of` contain its number in the data set, or -1. There can
    be tens of millions of listed labels, so arrays of this length are created only where they are needed.
    """
    lengths, given, score = np.diff(values.start), values.label, values.score
    if (image_of < 0).any() or (label_of < 0).any():
        ours = np.repeat(image_of >= 0, lengths) & (label_of >= 0)[given]
        lengths = np.add.reduceat(ours, values.start[:-1], dtype=np.int64)
        given, score = given[ours], score[ours]
    label: NDArray[Any] = label_of.astype(np.uint16 if n_labels <= SMALL else np.int32)[given]
    offsets = np.concatenate([[0], np.cumsum(lengths[image_of >= 0])])
    return ScoreLists(n_labels, row_of_image, offsets, label, score)


def index_of(given: list[str], names: list[str]) -> Ids:
    """Return the index in `names` of each name in `given`, as an int32 array.

    The index is -1 for a name that `names` lacks. If a name occurs twice in `names`, its last index is returned.
    """
    index = {name: number for number, name in enumerate(names)}
    return np.array([index.get(name, -1) for name in given], dtype=np.int32)


METHODS = {"outside_scores": OutsideScores}
