"""A table of annotations: the user's own data."""

from pathlib import Path

from vsebench.config import Strict
from vsebench.datasets.annotations import RawAnnotations


class Options(Strict):
    """What the table is, and what its columns are called."""

    pairs: str  # the file: one that the configuration lists under `files`, or a path


def read(raw: Path, options: Options) -> RawAnnotations:
    """Read the table."""
    raise NotImplementedError
