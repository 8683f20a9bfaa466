"""The columns of the tables that stages write, in their order, and the numbers that columns can contain.

`storage.write_table` checks the columns; `storage.read_table` checks the columns and the numbers. An analysis
(`vsebench.evaluation.analyses`) defines the columns of its table in its own module.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import polars as pl

Schema = dict[Any, type[pl.DataType] | pl.DataType]  # names and types of columns, in their order

TASK: Schema = {"dataset": pl.String, "protocol": pl.String}
CASE: Schema = TASK | {"method": pl.String, "seed": pl.Int64}  # method: the name of its file in config/methods

# data/processed/<dataset>/
PAIRS: Schema = {"image": pl.Int32, "label": pl.Int32, "count": pl.Int32}
LABELS: Schema = {"label": pl.Int32, "name": pl.String, "frequency": pl.Int32, "occurrences": pl.Int32}
JOINED_LABELS: Schema = {  # data/processed/<dataset>/from-<data set>/
    "label": pl.Int32,
    "name": pl.String,
    "trained": pl.Boolean,  # whether the label is in the data set that methods are trained on
    "tested": pl.Boolean,  # whether the label is in the data set that methods are tested on
}
SIBLINGS: Schema = {"label": pl.Int32, "sibling": pl.Int32}  # each pair in both directions; no pair of equal labels
WORD_VECTORS: Schema = {
    "label": pl.Int32,
    "name": pl.String,
    "rule": pl.String,  # how the vector was found; `missing`: the label has none
    "words": pl.String,  # the words whose vectors were averaged, separated by spaces
    "without": pl.String,  # the parts of the name that have no vector
}
IMAGES: Schema = {"image": pl.Int32, "id": pl.String, "part": pl.String, "has_features": pl.Boolean}

# results/<dataset>/<protocol>/seed<k>/split/
SPLIT_IMAGES: Schema = {
    "image": pl.Int32,
    "first": pl.Boolean,  # whether models are trained on the image while settings are chosen
    "final": pl.Boolean,  # whether the tested model is trained on the image
    "valid": pl.Boolean,
    "test": pl.Boolean,
}
SPLIT_LABELS: Schema = {
    "label": pl.Int32,
    "first": pl.Boolean,  # whether models are trained on the label while settings are chosen
    "final": pl.Boolean,  # whether the tested model is trained on the label
    "valid": pl.Boolean,  # whether the label is a candidate in validation
    "test": pl.Boolean,
}

# .../<variant>/
HISTORY: Schema = CASE | {
    "phase": pl.String,  # selection (with the winning settings) or refit
    "epoch": pl.Int32,
    "seconds": pl.Float64,  # time of training alone
    "loss": pl.Float64,
    "trials_per_step": pl.Float64,
    "validation": pl.Float64,
}
COUNTS: Schema = {  # the position of a relevant item in a ranking; in RANKS, the items are the labels of an image
    "above": pl.Int32,  # negatives that score higher; null: the item is not a candidate, which counts as a miss
    "tied": pl.Int32,  # negatives that score the same
    "right": pl.Int32,  # relevant items that score at least as high as this item, including it
    "negatives": pl.Int32,
}
# A test image is `cold` if it has no training label, although other test images have some.
RANKS: Schema = {"image": pl.Int32, "label": pl.Int32} | COUNTS | {"cold": pl.Boolean}
THRESHOLDS: Schema = {  # thresholds of each test image's true labels, for decisions with one per image and label
    "decision": pl.String,
    "image": pl.Int32,
    "label": pl.Int32,
    "threshold": pl.Float32,
}
DECISIONS: Schema = {"decision": pl.String, "image": pl.Int32, "label": pl.Int32}  # the chosen label sets
LISTS: Schema = {"image": pl.Int32, "rank": pl.Int32, "label": pl.Int32}
LABEL_RANKS: Schema = {"label": pl.Int32, "image": pl.Int32} | COUNTS  # test images are ranked for each label

# results/<dataset>/<protocol>/ and, combined over all tasks, results/
METRICS: Schema = CASE | {
    "decision": pl.String,  # empty for metrics of the ranking
    "metric": pl.String,  # as in a run's `metrics`, such as recall@10
    "value": pl.Float64,
    "ci_low": pl.Float64,
    "ci_high": pl.Float64,
    "n": pl.Int64,  # number of images, or of labels for a metric of labels, over which the value is a mean
}
COLD: Schema = CASE | {  # metrics on cold images and on the others, for tasks with cold images
    "metric": pl.String,
    "images": pl.String,  # all, cold, or others
    "value": pl.Float64,
    "n": pl.Int64,  # number of images over which the value is a mean
}
BY_FREQUENCY: Schema = CASE | {  # recall in equally large groups of labels, from frequent to rare in training
    "band": pl.Int64,  # 1 has the most frequent labels
    "labels": pl.Int64,
    "fewest": pl.Int64,  # smallest number of training images of a label
    "most": pl.Int64,
    "cutoff": pl.Int64,
    "value": pl.Float64,  # mean over the labels of the group
}
SUMMARY: Schema = TASK | {
    "method": pl.String,
    "decision": pl.String,
    "metric": pl.String,
    "value": pl.Float64,  # mean over seeds
    "ci_low": pl.Float64,
    "ci_high": pl.Float64,
    "n_seeds": pl.Int32,
    "best": pl.Boolean,
    "difference": pl.Float64,  # difference from the best method
    "difference_low": pl.Float64,
    "difference_high": pl.Float64,
    "p_adjusted": pl.Float64,  # null for the best method and for methods that are not compared
}
SWEEP: Schema = CASE | {
    "parameter": pl.String,
    "value": pl.Float64,
    "chosen": pl.Boolean,
    "epochs": pl.Int32,
    "at_limit": pl.Boolean,  # whether training stopped at its limit on epochs or iterations
    "validation": pl.Float64,
}
SWEEPS: Schema = SWEEP | {"metric": pl.String, "test": pl.Float64}
SWEEP_RANKS: Schema = {"value": pl.Float64} | RANKS
TIMING: Schema = TASK | {
    "method": pl.String,
    "threads": pl.Int32,
    "seed": pl.Int64,  # the seed whose split and settings were timed
    "repeat": pl.Int32,
    # compile; epoch; training (all epochs up to the best one), or fit (of a method without epochs); score (one
    # pass over the images); evaluate; or command (one run of a user's command, while other jobs may run)
    "phase": pl.String,
    "seconds": pl.Float64,
    "images": pl.Int64,  # number of test images; null for phases that do not score them
    "peak_rss_bytes": pl.Int64,
    "model_bytes": pl.Int64,  # size of the model's arrays, as they are saved
    "machine": pl.String,
    "others": pl.Float64,  # mean number of cores that other processes used meanwhile; null if unknown
}
SCALING: Schema = {
    "method": pl.String,
    "variable": pl.String,
    "size": pl.Int64,  # the value of the variable, which is also in the variable's own column
    "repeat": pl.Int32,
    "images": pl.Int64,  # number of training images
    "labels": pl.Int64,
    "pairs": pl.Int64,
    "factors": pl.Int64,  # null for a method without factors
    "terms": pl.Int64,  # mean number of non-zero features of a scored image; null without features
    "phase": pl.String,  # epoch, or score (all labels for one image)
    "seconds": pl.Float64,
    "machine": pl.String,
}

# the tables in the folder of a fitted model: name of the file without suffix -> columns
OF_MODEL: dict[str, Schema] = {
    "history": HISTORY,
    "ranks": RANKS,
    "lists": LISTS,
    "label_ranks": LABEL_RANKS,
    "decisions": DECISIONS,
    "thresholds": THRESHOLDS,
}
# the tables in the folder of results: name of the file without suffix -> columns
OF_RESULTS: dict[str, Schema] = {
    "metrics": METRICS,
    "summary": SUMMARY,
    "cold": COLD,
    "by_frequency": BY_FREQUENCY,
    "history": HISTORY,
    "timing": TIMING,
    "sweeps": SWEEPS,
    "scaling": SCALING,
}

# the CSV file that the command `annotate` writes
ANNOTATIONS: Schema = {"image": pl.String, "rank": pl.Int32, "label": pl.String, "score": pl.Float32}

# results/
CLAIMS: Schema = {
    "paper": pl.String,
    "claim": pl.String,
    "where": pl.String,
    "quotation": pl.String,  # the paper's sentence
    "level": pl.String,  # claim: mean effect over tasks, with a verdict; case: one task, rival and metric, no verdict
    "dataset": pl.String,
    "protocol": pl.String,
    "data": pl.String,  # paper: data that the paper uses; other: other real data; simulated; null: no data needed
    "method": pl.String,
    "rival": pl.String,
    "metric": pl.String,  # the metric, or the name of another measured quantity
    "n_tasks": pl.Int32,  # for a claim: the number of tasks over which its effect is a mean; null without tasks
    "n_comparisons": pl.Int32,  # for a claim: the number of (rival, metric) pairs; the row shows the weakest pair
    "effect_is": pl.String,  # a difference, a ratio or an exponent, and for which values the claim holds
    "effect": pl.Float64,
    "ci_low": pl.Float64,
    "ci_high": pl.Float64,
    "bound_low": pl.Float64,  # the claim holds for effects above this bound; null: without a lower bound
    "bound_high": pl.Float64,  # the claim holds for effects below this bound; null: without an upper bound
    "p_adjusted": pl.Float64,
    "verdict": pl.String,
    "reason": pl.String,  # why there is no verdict, why a case does not count, or that the data are simulated
    "remark": pl.String,  # which fits stopped at a limit, or have a setting at the edge of the range tried
}
COMPARISON: Schema = {
    "paper": pl.String,
    "table": pl.String,
    "row": pl.String,
    "column": pl.String,
    "dataset": pl.String,
    "protocol": pl.String,
    "method": pl.String,
    "unit": pl.String,
    "published": pl.Float64,
    "ours": pl.Float64,
    "ci_low": pl.Float64,
    "ci_high": pl.Float64,
    "difference": pl.Float64,
    "verdict": pl.String,
}


def _at_least(name: str, least: int, table: pl.DataFrame) -> pl.Series:
    return table[name] >= least


# Name of a column -> which of its numbers are possible; only columns of the type Int32 are checked.
NUMBERS: dict[str, Callable[[pl.DataFrame], pl.Series]] = {
    **{name: partial(_at_least, name, 0) for name in ("image", "label", "negatives")},
    **{name: partial(_at_least, name, 1) for name in ("rank", "count", "right")},
    "above": lambda table: (table["above"] >= 0) & (table["above"] <= table["negatives"]),
    "tied": lambda table: (table["tied"] >= 0) & (table["tied"] <= table["negatives"] - table["above"]),
}
CAN_BE_NULL = ("above", "tied", "right")  # all other columns in NUMBERS have a number in each row
