"""Correlate the thresholds of an image's labels with how difficult the image is for them, label by label.

The difficulty is 1 - sigmoid(score) of a reference: a row whose scores are log odds, such as binary cross-entropy or
the oracle of simulated labels. Over the test images that carry the label, since others get high thresholds where they
are easy.

Source: Li, Song and Luo, "Improving pairwise ranking for multi-label image classification", CVPR 2017, figure 4, which
shows images of a class in the order of their thresholds.
"""

import argparse
import json
from pathlib import Path

import polars as pl

from vsebench import models
from vsebench.cases import add_cases_arguments, named_entries
from vsebench.core.places import Case
from vsebench.core.schemas import THRESHOLDS_AND_DIFFICULTY
from vsebench.core.storage import read_parquet, write_table
from vsebench.data import splits
from vsebench.data.features import Features
from vsebench.data.needs import FEATURES
from vsebench.evaluation.retrieval import scores_of

FEWEST_IMAGES = 10  # of a label


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the stage's arguments."""
    add_cases_arguments(parser)
    parser.add_argument("--features", type=json.loads, required=True, help='JSON: {"dataset": path, ...}')


def run(arguments: argparse.Namespace) -> None:
    """Run the stage."""
    tables = [pl.DataFrame(schema=THRESHOLDS_AND_DIFFICULTY)]
    features = {dataset: FEATURES.load(Path(path)) for dataset, path in arguments.features.items()}
    entries = list(named_entries(arguments))
    for case, decision in (entry for entry in entries if entry[1]):
        names = read_parquet(arguments.processed / case.place.dataset / "labels.parquet").select("label", name="name")
        thresholds = read_parquet(case.folder(arguments.results) / "thresholds.parquet").filter(decision=decision)
        for reference, none in entries:
            if not none and (reference.place, reference.seed) == (case.place, case.seed):
                difficulty = difficulties(reference, arguments.results, features[case.place.dataset])
                found = correlations(thresholds.join(difficulty, on=["image", "label"])).join(names, on="label")
                keys = case.keys | {"decision": decision, "reference": reference.row}
                found = found.with_columns(label="name", **{key: pl.lit(value) for key, value in keys.items()})
                tables.append(found.select(*THRESHOLDS_AND_DIFFICULTY).cast(THRESHOLDS_AND_DIFFICULTY))
    write_table(pl.concat(tables), THRESHOLDS_AND_DIFFICULTY, arguments.out)


def difficulties(case: Case, results: Path, features: Features) -> pl.DataFrame:
    """Return the negative scores of the test images' own labels by a reference, which are ordered as the difficulty."""
    model, test = models.load(case.folder(results) / "model.npz"), splits.load(case.split(results)).test
    scores = scores_of(model, test, features)
    rows, labels = test.right.image_of_pair, test.right.label_of_pair
    return pl.DataFrame({"image": test.images[rows], "label": labels, "difficulty": -scores[rows, labels]})


def correlations(pairs: pl.DataFrame) -> pl.DataFrame:
    """Return Spearman's correlation of threshold and difficulty of each label with enough images: label, images, it."""
    by_label = pairs.group_by("label").agg(
        images=pl.len(), correlation=pl.corr("threshold", "difficulty", method="spearman")
    )
    return by_label.filter(pl.col("images") >= FEWEST_IMAGES, pl.col("correlation").is_finite()).sort("label")
