"""What a run consists of: its configuration, data sets and methods, read and checked before the first job starts."""

from vsebench.plan.files import DATASET_NAME, ROW_NAME
from vsebench.plan.plan import FEATURES, Plan

__all__ = ["DATASET_NAME", "FEATURES", "ROW_NAME", "Plan"]
