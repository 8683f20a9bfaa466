"""Write the label vectors, each scaled to length 1, of the models that have label vectors."""

import numpy as np
import polars as pl

from vsebench.core.schemas import CASE, Schema
from vsebench.evaluation.analyses.base import AnalysedCase, Reads, normalise_rows
from vsebench.models import Embedded

SCHEMA: Schema = CASE | {"label": pl.String, "vector": pl.List(pl.Float32)}
READS = Reads(model=("model.npz",), dataset=("labels.parquet",))


def analyse(case: AnalysedCase) -> pl.DataFrame | None:
    model, names = case.model, case.dataset.labels["name"]
    if not isinstance(model, Embedded):
        return None
    # If a second data set is used for training only, its additional labels come last.
    vectors = normalise_rows(model.label[: len(names), : -1 if model.biased else None]).astype(np.float32)
    return pl.DataFrame({"label": names, "vector": vectors})
