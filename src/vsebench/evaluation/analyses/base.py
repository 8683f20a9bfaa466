"""Analyses: tables that a run computes from fitted models, one model at a time.

An analysis is a module `evaluation/analyses/<name>.py`; the first line of its docstring is its help text. It defines
SCHEMA, the columns of its table; READS, its input files; and `analyse`, which returns the rows of one fitted model. A
run writes `results/<name>.parquet` only if a table, figure or claim of a paper reads it, and analyses only the methods
that this table, figure or claim names.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np
import polars as pl

from vsebench import models
from vsebench.core.modules import modules_in
from vsebench.core.schemas import OF_MODEL, SIBLINGS, Schema
from vsebench.core.storage import read_json, read_parquet, read_table
from vsebench.core.tasks import Case
from vsebench.data import splits
from vsebench.data.needs import FEATURES
from vsebench.data.problem import HeldOut, LabelMatrix, Matrix, Queries
from vsebench.evaluation.ranking import check_finite, check_labels, chunks, queries_of
from vsebench.models import Embedded, Model, checked_scores, checked_vectors

if TYPE_CHECKING:  # features need SciPy, which most models do not need
    from vsebench.data.features import Features


@dataclass(frozen=True)
class Reads:
    """The inputs of an analysis in addition to the split; the workflow produces them before the analysis runs."""

    model: tuple[str, ...] = ()  # files in the folder of each fitted model
    decided: tuple[str, ...] = ()  # further files in the model's folder if a decision is analysed
    dataset: tuple[str, ...] = ()  # files in the folder of the processed data set
    features: bool = False  # whether the data set's features are read, if it has them
    siblings: bool = False  # whether the data set's siblings are read, if it has them
    metrics: tuple[str, ...] = ()  # names of the metrics that the analysis computes


@dataclass(frozen=True)
class AnalysedDataset:
    """The processed data set of a case; each file is read at its first use."""

    folder: Path
    # data set/protocol/variant -> the files of the sets of features that the variant uses; empty if none are read
    features_files: Mapping[str, Sequence[Path]]
    has_siblings: bool

    @cached_property
    def labels(self) -> pl.DataFrame:
        """The table `schemas.LABELS`, sorted by label."""
        return read_parquet(self.folder / "labels.parquet").sort("label")

    @cached_property
    def images(self) -> pl.DataFrame:
        """The table `schemas.IMAGES`, sorted by image."""
        return read_parquet(self.folder / "images.parquet")

    @cached_property
    def siblings(self) -> pl.DataFrame | None:
        """The table `schemas.SIBLINGS`, or None if the data set has no siblings."""
        return read_table(self.folder / "siblings.parquet", SIBLINGS) if self.has_siblings else None

    @cached_property
    def _loaded(self) -> "dict[tuple[Path, ...], Features]":
        return {}

    def features(self, case: Case) -> "Features | None":
        """Return the features that the method of a case uses, or None if the method uses none."""
        files = tuple(self.features_files.get(f"{case.task}/{case.variant}", ()))
        if files and files not in self._loaded:
            self._loaded[files] = FEATURES.load(files)
        return self._loaded[files] if files else None


@dataclass(frozen=True)
class AnalysedCase:
    """A fitted model and its files; each file is read at its first use."""

    case: Case
    decision: str  # the analysed decision; empty for the model without a decision
    results: Path  # the folder of results
    dataset: AnalysedDataset  # the tested data set
    is_first_seed: bool = True  # whether the seed is the first seed of the run
    methods: Sequence[str] = ()  # the methods that are analysed without a decision on the same task

    def __str__(self) -> str:
        return str(self.case)

    def table(self, name: str) -> pl.DataFrame:
        """Return the table `name`, one of `schemas.OF_MODEL` such as "ranks", from the model's folder."""
        return read_table(self.case.folder(self.results) / f"{name}.parquet", OF_MODEL[name])

    @cached_property
    def record(self) -> dict[str, Any]:
        """The record of the fit, read from `run.json`."""
        return cast(dict[str, Any], read_json(self.case.folder(self.results) / "run.json"))

    @cached_property
    def model(self) -> Model:
        return models.load(self.case.folder(self.results) / "model.npz")

    @cached_property
    def training(self) -> LabelMatrix:
        """The labels that the model was trained on."""
        return splits.load(self.case.split(self.results), refit=self.record["refit"]).final.labels

    @cached_property
    def test(self) -> HeldOut:
        return splits.load(self.case.split(self.results)).test

    @cached_property
    def checked_model(self) -> Model:
        """The model; raises a `UserError` if scores are not finite or the split has a different number of labels."""
        check_finite(self.model, str(self))
        check_labels(self.model, self.test, str(self))
        return self.model

    @cached_property
    def scores(self) -> Matrix:
        """The scores of all labels for the q test images, (q, n_labels) float32."""
        return np.concatenate([checked_scores(self.checked_model, queries) for queries in self._queries()])

    @cached_property
    def vectors(self) -> tuple[Matrix, Matrix] | None:
        """The vectors of the q test images, (q, factors), and the vectors of the labels, (n_labels, factors).

        The biases of a model are left out. The result is None if the model has no vectors.
        """
        model = self.checked_model
        if not isinstance(model, Embedded):
            return None
        images = np.concatenate([checked_vectors(model, queries) for queries in self._queries()])
        kept = slice(None, -1 if model.biased else None)
        return images[:, kept], model.label[:, kept]

    def _queries(self) -> Iterator[Queries]:
        features = self.dataset.features(self.case)
        return (queries_of(self.test, features, *ends) for ends in chunks(self.test))


class Analysis(Protocol):
    """The names that the module of an analysis defines."""

    SCHEMA: Schema
    READS: Reads

    def analyse(self, case: AnalysedCase) -> pl.DataFrame | None:
        """Return a table for one fitted model, or None if there is nothing to analyse.

        The table has the columns of SCHEMA except those that name the case. Raises a `UserError` if the analysis does
        not support this kind of model.
        """


def load_analysis(name: str) -> Analysis:
    return cast(Analysis, import_module(modules_in("evaluation/analyses")[name]))


def normalise_rows(vectors: Matrix) -> Matrix:
    """Scale each vector to length 1; vectors of zeros are unchanged."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0))


def normalised_scores(scores: Matrix) -> Matrix:
    """Subtract from each score the log-sum-exp of all scores of the same image.

    `scores` and the result have shape (n, n_labels), with one row per image.
    """
    largest = scores.max(axis=1, keepdims=True)
    return np.asarray(scores - largest - np.log(np.exp(scores - largest).sum(axis=1, keepdims=True)))
