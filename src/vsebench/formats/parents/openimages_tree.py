"""Find the parents of labels in Open Images' hierarchy of 600 classes.

A mid is the id of a class in Open Images. The hierarchy is a JSON file of nested classes. Each class is an object
`{"LabelName": mid, "Subcategory": [classes], "Part": [classes]}`. The classes in `Subcategory` are the children of the
class; those in `Part` are not. A class can have several parents. The parents are returned as mids.

A label can be written in three ways, as in `openimages.py`:

- a mid
- the name of a mid in the table `class_names`; if several mids share the name, the label has the parents of all of them
- such a name, followed by the mid in brackets

Source: Kuznetsova et al., "The Open Images dataset V4", IJCV 128, 2020, https://storage.googleapis.com/openimages.
"""

import json
import re
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from vsebench.core.errors import UserError
from vsebench.core.yaml_files import Strict
from vsebench.formats.readers.openimages import ClassNames, read_class_names

HIERARCHY = "bbox_labels_600_hierarchy.json"
NAME_AND_MID = re.compile(r".* \((/[a-z]/\w+)\)")


class Options(Strict):
    """The file with the names of the classes."""

    class_names: ClassNames | None = None  # the file with the names of the classes; none: labels are class ids (mids)


def read_parents(raw: Path, options: Options, labels: Sequence[str]) -> list[set[str]]:
    """Read the mids of each label's parents."""
    parents = _read_hierarchy(raw / HIERARCHY)
    names = {} if options.class_names is None else read_class_names(raw, options.class_names)
    mids_of: dict[str, list[str]] = defaultdict(list)
    for mid in parents:
        mids_of[names.get(mid) or mid].append(mid)

    def find(label: str) -> set[str]:
        with_mid = NAME_AND_MID.fullmatch(label)
        mids = [with_mid[1]] if with_mid else [label, *mids_of.get(label, [])]
        return set().union(*(parents.get(mid, set()) for mid in mids))

    return [find(label) for label in labels]


def _read_hierarchy(path: Path) -> dict[str, set[str]]:
    """Return the parents of each class."""
    try:
        root = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise UserError(f"{path}: no such file; run the download stage") from None
    except (OSError, ValueError, RecursionError) as error:
        raise UserError(f"{path}: not readable JSON ({error})") from None
    parents: dict[str, set[str]] = defaultdict(set)
    waiting: list[tuple[Any, str | None]] = [(root, None)]
    while waiting:
        node, parent = waiting.pop()
        mid = node.get("LabelName") if isinstance(node, dict) else None
        children = node.get("Subcategory", []) if isinstance(node, dict) else None
        if not isinstance(mid, str) or not isinstance(children, list):
            where = "at the top" if parent is None else f"under {parent}"
            raise UserError(f"{path}: a class {where} must be an object with a LabelName; a Subcategory must be a list")
        if parent is not None:
            parents[mid].add(parent)
        waiting += [(child, mid) for child in children]
    return parents
