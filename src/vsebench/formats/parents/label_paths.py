"""Find the parents of labels whose names are paths: the parent of `3/17/172` is `3/17`.

A label without a slash in its name has no parent.
"""

from collections.abc import Sequence
from pathlib import Path

from vsebench.core.yaml_files import Strict

Options = Strict  # this adapter has no options


def read_parents(raw: Path, options: Options, labels: Sequence[str]) -> list[set[str]]:
    """Return the parents of each label; no file is read."""
    return [{parent} if (parent := label.rpartition("/")[0]) else set() for label in labels]
