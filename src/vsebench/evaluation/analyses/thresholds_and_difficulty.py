"""Correlate the predicted thresholds of each label with the difficulty of its images.

The difficulty of an image for a label is 1 - sigmoid(score). The score comes from a reference: a method whose scores
are log odds, such as binary cross-entropy or the oracle of simulated labels. Only test images with the label are used,
because among the images without the label, the easy ones get high thresholds.

A ranking loss does not determine the level of an image's scores: if the same number is added to the scores and to the
thresholds, the label sets do not change. Correlations are therefore computed with the thresholds as predicted, which is
what the paper does, and also with thresholds from which a level of the image's scores is subtracted. Three levels are
used: the mean, the log-sum-exp and the maximum of the scores.

Source: Li, Song and Luo, "Improving pairwise ranking for multi-label image classification", CVPR 2017, figure 4, which
shows images of a class in the order of their thresholds.
"""

from dataclasses import replace

import numpy as np
import polars as pl

from vsebench.core.schemas import CASE, Schema
from vsebench.evaluation.analyses.base import AnalysedCase, Reads

SCHEMA: Schema = CASE | {
    "decision": pl.String,
    "reference": pl.String,  # the method whose scores define the difficulty of an image for a label
    "form": pl.String,  # raw: as predicted; minus_mean, minus_log_sum, minus_largest: after subtracting a level
    "label": pl.String,
    "images": pl.Int32,  # number of test images with the label
    "correlation": pl.Float64,  # Spearman's correlation of threshold and difficulty over these images
}
INVARIANT = ("minus_mean", "minus_log_sum", "minus_largest")  # forms that do not depend on the level of the scores
READS = Reads(model=("model.npz",), decided=("thresholds.parquet",), dataset=("labels.parquet",), features=True)
FEWEST_IMAGES = 10  # minimum number of images per label


def analyse(case: AnalysedCase) -> pl.DataFrame | None:
    if not (case.decision and case.methods):
        return None
    thresholds = case.table("thresholds").filter(decision=case.decision).join(levels(case), on="image")
    names = case.dataset.labels.select("label", "name")
    tables = []
    for reference in case.methods:
        difficulty = difficulties(replace(case, case=replace(case.case, variant=reference), decision=""))
        pairs = thresholds.join(difficulty, on=["image", "label"])
        for form in ("raw", *INVARIANT):
            of_form = pairs.with_columns(
                pl.col("threshold").cast(pl.Float64) - (0.0 if form == "raw" else pl.col(form))
            )
            by_label = correlations(of_form).join(names, on="label")
            tables.append(by_label.with_columns(label="name", reference=pl.lit(reference), form=pl.lit(form)))
    return pl.concat(tables)


def levels(case: AnalysedCase) -> pl.DataFrame:
    """Return the three levels of each test image's scores: mean, log-sum-exp and maximum."""
    scores = case.scores.astype(np.float64)
    largest = scores.max(axis=1)
    log_sum = largest + np.log(np.exp(scores - largest[:, None]).sum(axis=1))
    of_forms = zip(INVARIANT, (scores.mean(axis=1), log_sum, largest), strict=True)
    return pl.DataFrame({"image": case.test.images, **dict(of_forms)})


def difficulties(case: AnalysedCase) -> pl.DataFrame:
    """Return the negated scores of a reference for each test image's labels; larger values mean greater difficulty."""
    rows, labels = case.test.right.image_of_pair, case.test.right.label_of_pair
    return pl.DataFrame({"image": case.test.images[rows], "label": labels, "difficulty": -case.scores[rows, labels]})


def correlations(pairs: pl.DataFrame) -> pl.DataFrame:
    """Return Spearman's correlation of threshold and difficulty for each label with `FEWEST_IMAGES` images or more."""
    by_label = pairs.group_by("label").agg(
        images=pl.len(), correlation=pl.corr("threshold", "difficulty", method="spearman")
    )
    return by_label.filter(pl.col("images") >= FEWEST_IMAGES, pl.col("correlation").is_finite()).sort("label")
