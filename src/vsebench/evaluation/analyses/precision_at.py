"""Compute precision and sibling precision for the first k labels, with k from 1 to 10."""

import polars as pl

from vsebench.core.schemas import CASE, Schema
from vsebench.evaluation.analyses.base import AnalysedCase, Reads
from vsebench.evaluation.metrics import list_values, values
from vsebench.evaluation.ranking import LIST_LENGTH

SCHEMA: Schema = CASE | {"cutoff": pl.Int32, "precision": pl.Float64, "sibling_precision": pl.Float64}
READS = Reads(model=("ranks.parquet", "lists.parquet"), siblings=True, metrics=("precision@1", "sibling_precision@1"))


def analyse(case: AnalysedCase) -> pl.DataFrame:
    ranks, siblings, cutoffs = case.table("ranks"), case.dataset.siblings, range(1, LIST_LENGTH + 1)
    precision = values(ranks, [f"precision@{k}" for k in cutoffs]).mean(axis=0)
    means = pl.DataFrame({"cutoff": cutoffs, "precision": precision, "sibling_precision": None})
    if siblings is None:
        return means
    names = [f"sibling_precision@{k}" for k in cutoffs]
    of_siblings = list_values(case.table("lists"), ranks, names, siblings).mean(axis=0)
    return means.with_columns(sibling_precision=pl.Series(of_siblings))
