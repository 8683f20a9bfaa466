"""Correlate the thresholds of an image's labels with how difficult the image is for them, label by label.

The difficulty is 1 - sigmoid(score) of a reference: a row whose scores are log odds, such as binary cross-entropy or
the oracle of simulated labels. Over the test images that carry the label, since others get high thresholds where they
are easy.

Source: Li, Song and Luo, "Improving pairwise ranking for multi-label image classification", CVPR 2017, figure 4, which
shows images of a class in the order of their thresholds.
"""

import polars as pl

from vsebench.core.schemas import CASE, Schema
from vsebench.evaluation.analyses.base import AnalysedCase, Reads

SCHEMA: Schema = CASE | {
    "decision": pl.String,
    "reference": pl.String,  # the row whose scores say how difficult an image is for a label
    "label": pl.String,
    "images": pl.Int32,  # test images with the label
    "correlation": pl.Float64,  # Spearman's, of threshold and difficulty over these images
}
READS = Reads(model=("model.npz",), decided=("thresholds.parquet",), dataset=("labels.parquet",), features=True)
FEWEST_IMAGES = 10  # of a label


def analyse(case: AnalysedCase) -> pl.DataFrame | None:
    """Return the correlations of a decision's thresholds with the difficulty by each reference."""
    if not (case.decision and case.others):
        return None
    thresholds = case.table("thresholds").filter(decision=case.decision)
    names = case.dataset.labels.select("label", "name")
    tables = []
    for reference in case.others:
        difficulty = difficulties(case.of_method(reference))
        found = correlations(thresholds.join(difficulty, on=["image", "label"])).join(names, on="label")
        tables.append(found.with_columns(label="name", reference=pl.lit(reference)))
    return pl.concat(tables)


def difficulties(case: AnalysedCase) -> pl.DataFrame:
    """Return the negative scores of the test images' own labels by a reference, which are ordered as the difficulty."""
    rows, labels = case.test.right.image_of_pair, case.test.right.label_of_pair
    return pl.DataFrame({"image": case.test.images[rows], "label": labels, "difficulty": -case.scores[rows, labels]})


def correlations(pairs: pl.DataFrame) -> pl.DataFrame:
    """Return Spearman's correlation of threshold and difficulty of each label with enough images: label, images, it."""
    by_label = pairs.group_by("label").agg(
        images=pl.len(), correlation=pl.corr("threshold", "difficulty", method="spearman")
    )
    return by_label.filter(pl.col("images") >= FEWEST_IMAGES, pl.col("correlation").is_finite()).sort("label")
