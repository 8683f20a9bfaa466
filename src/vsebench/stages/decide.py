"""Choose label sets for test images from a model's scores, with each decision rule that the run names for the model.

A rule is fitted on the model's training images and tuned on the validation images. If a rule has its own threshold for
each image and label, thresholds.parquet contains these thresholds for the true labels of each test image.
"""

import argparse
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from tqdm import tqdm

from vsebench import models
from vsebench.config.method import Decided
from vsebench.core.errors import UserError
from vsebench.core.schemas import DECISIONS, THRESHOLDS, Schema
from vsebench.core.storage import write_json, write_table
from vsebench.core.tasks import Case, Task
from vsebench.core.yaml_files import check
from vsebench.data import splits
from vsebench.data.chunks import even_chunks
from vsebench.data.features import Features
from vsebench.data.needs import FEATURES, TRUTH
from vsebench.data.problem import HeldOut, LabelMatrix, Matrix, Queries, Training
from vsebench.evaluation.decisions.base import Decision, Labelled, Scored, ThresholdDecision, Tuning, make_decision
from vsebench.evaluation.ranking import QUERIES_A_CHUNK, check_finite, check_labels, queries_of
from vsebench.models import Embedded, Model, Thresholded


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--split", type=Path, required=True, help="folder of the split")
    parser.add_argument("--model", type=Path, required=True, help="model.npz of a fit with --no-refit")
    parser.add_argument("--features", type=Path, nargs="+", help="image features, if the model uses them")
    parser.add_argument("--truth", type=Path, help="truth.npz of a simulated data set, for oracles")
    parser.add_argument("--dataset", required=True)
    parser.add_argument("--protocol", required=True)
    parser.add_argument("--variant", required=True)
    parser.add_argument("--seed", type=int, required=True)
    form = 'JSON: {"name": {"decision": module, "settings": {...}, "tuned_for": metric}, ...}'
    parser.add_argument("--decisions", type=json.loads, required=True, help=form)
    parser.add_argument("--out", type=Path, required=True, help="decisions.parquet to write")
    parser.add_argument("--thresholds", type=Path, required=True, help="thresholds.parquet to write")
    parser.add_argument("--record", type=Path, required=True, help="decisions.json to write")


def run(arguments: argparse.Namespace) -> None:
    case = Case(Task(arguments.dataset, arguments.protocol), arguments.variant, arguments.seed)
    split = splits.load(arguments.split, refit=False)
    model = models.load(arguments.model)
    check_labels(model, split.test, str(arguments.model))
    check_finite(model, str(arguments.model))
    features = FEATURES.load(arguments.features) if arguments.features else None
    label_distribution = TRUTH.load(arguments.truth) if arguments.truth else None
    decisions = {
        name: make(name, check(Decided, values, f"--decisions: {name}"), arguments.seed, label_distribution)
        for name, values in arguments.decisions.items()
    }
    training = held_out_of(split.first)
    if not any(decision.trains for decision in decisions.values()):
        training = training.take(np.empty(0, dtype=np.int32))
    try:
        first, valid = (labelled(model, part, features) for part in (training, split.valid))
    except UserError as error:
        raise UserError(f"{case}: {error}") from None
    test = scored(model, split.test, features)
    chosen, thresholds, records = [pl.DataFrame(schema=DECISIONS)], [pl.DataFrame(schema=THRESHOLDS)], {}
    for name, decision in tqdm(decisions.items(), desc=str(case), mininterval=5):
        records[name] = decision.fit(first, valid)
        rows, labels = np.nonzero(decision.decide(test))
        chosen.append(table_of(name, DECISIONS, image=split.test.images[rows], label=labels))
        if isinstance(decision, ThresholdDecision):
            right = split.test.right
            own = decision.thresholds(test)[right.image_of_pair, right.label_of_pair]
            images = split.test.images[right.image_of_pair]
            thresholds.append(table_of(name, THRESHOLDS, image=images, label=right.label_of_pair, threshold=own))
    write_table(pl.concat(chosen), DECISIONS, arguments.out)
    write_table(pl.concat(thresholds), THRESHOLDS, arguments.thresholds)
    write_json({**case.keys, "decisions": records}, arguments.record)


def make(name: str, decided: Decided, seed: int, label_distribution: Mapping[str, NDArray[Any]] | None) -> Decision:
    """Return the decision rule that the file config/decisions/<name>.yaml defines.

    `decided` is the content of this file.
    """
    tuning = Tuning(decided.tuned_for, seed, label_distribution)
    return make_decision(decided.decision, tuning, decided.settings, f"config/decisions/{name}.yaml: settings")


def held_out_of(training: Training) -> HeldOut:
    """Return the training images in the form of held-out images, so that the model can score them."""
    right = training.labels.rows(training.images)
    return HeldOut(training.images, right, LabelMatrix.empty(right.n_rows, right.n_labels), training.learnt)


def labelled(model: Model, images: HeldOut, features: Features | None) -> Labelled:
    """Return images with their scores and labels.

    If the model uses features, images without features are left out.
    """
    if features is not None:
        images = images.take(np.flatnonzero(features.known[images.images]).astype(np.int32))
    return Labelled(**vars(scored(model, images, features)), right=images.right.mask())


def scored(model: Model, images: HeldOut, features: Features | None) -> Scored:
    """Return images with their scores, which are computed in chunks."""

    def gather(values: Callable[[Queries], Matrix]) -> Matrix:
        ends = even_chunks(len(images.images), QUERIES_A_CHUNK) or [(0, 0)]
        return np.concatenate([values(queries_of(images, features, *pair)) for pair in ends])

    scores = gather(model.scores)
    return Scored(
        scores,
        gather(model.vectors) if isinstance(model, Embedded) else scores,
        (lambda: None) if features is None else (lambda: features.rows(images.images)),
        gather(model.thresholds) if isinstance(model, Thresholded) else None,
    )


def table_of(decision: str, schema: Schema, **columns: NDArray[Any]) -> pl.DataFrame:
    """Return a table of the given columns, and of a column `decision` that contains the name of the decision rule."""
    return pl.DataFrame(columns).select(pl.lit(decision).alias("decision"), pl.all()).cast(schema)
