"""Read the parents of labels from a table with one row per pair of a label and a parent.

A label may have several parents, like `cactus` in this table:

    label,parent
    cactus,vegetation
    cactus,desert

File formats and names are treated as in `table.py`. Columns that the options do not name are ignored. A label is looked
up by its whole name. If a row lacks the label or the parent, or a label is its own parent, a `UserError` names the line
(CSV, TSV, JSON lines) or the row (Parquet).
"""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from pydantic import field_validator, model_validator
from pydantic_core import PydanticCustomError

from vsebench.core.errors import UserError
from vsebench.core.yaml_files import Strict
from vsebench.formats.own_files import find
from vsebench.formats.readers import table


class Options(Strict):
    """The table, and the names of its columns."""

    parents: str  # the table's file: a name that the configuration lists under `files`, or a path
    label: str = "label"  # name of the column of labels
    parent: str = "parent"  # name of the column of parents

    @field_validator("parents")
    @classmethod
    def _known_format(cls, parents: str) -> str:
        return table.check_format(parents)

    @model_validator(mode="after")
    def _fitting(self) -> "Options":
        if self.label == self.parent:
            raise PydanticCustomError("columns", "label and parent must name different columns")
        return self


def read_parents(raw: Path, options: Options, labels: Sequence[str]) -> list[set[str]]:
    """Read the names of each label's parents."""
    path = find(raw, options.parents)
    columns = table.Options(pairs=options.parents, image=options.label, label=options.parent)
    parents: dict[str, set[str]] = defaultdict(set)
    for row in table.rows_of(path, columns):
        try:
            label, parent = table.name_of(row.image, "label"), table.name_of(row.label, "parent")
            if label == parent:
                raise table.TableError(f"{label!r} is its own parent; remove this row")
        except table.TableError as error:
            raise UserError(f"{table.position(path, row.number)}: {error}") from None
        parents[label].add(parent)
    return [parents.get(label, set()) for label in labels]
