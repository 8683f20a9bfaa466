"""Fitted models with the test images of their split, for what is computed from scores or vectors after a run."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from vsebench import models
from vsebench.core.places import Case
from vsebench.data import splits
from vsebench.data.needs import FEATURES
from vsebench.data.problem import HeldOut
from vsebench.evaluation.ranking import check_finite, check_labels
from vsebench.models import Model

if TYPE_CHECKING:  # features need SciPy, which most models do without
    from vsebench.data.features import Features


def fitted(
    cases: Iterable[Case], results: Path, features: Mapping[str, str]
) -> Iterator[tuple[Case, Model, HeldOut, "Features | None"]]:
    """Yield each case with its model, its test images and the features of its data set.

    Parameters
    ----------
    cases : fitted models
    results : folder with the results
    features : data set -> file of its features, of those that have some

    Raises
    ------
    UserError
        A model has numbers that are not finite, or does not fit the labels of its split.
    """
    of_dataset = {dataset: FEATURES.load(Path(path)) for dataset, path in features.items()}
    for case in cases:
        model, test = models.load(case.folder(results) / "model.npz"), splits.load(case.split(results)).test
        check_finite(model, str(case))
        check_labels(model, test, str(case))
        yield case, model, test, of_dataset.get(case.place.dataset)
