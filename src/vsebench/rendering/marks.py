"""Marks of methods whose fits ended at a limit, and the meanings of these marks.

In tables, figures and the page, marks such as ‡ follow the titles of methods. A method also has a mark if one of its
settings is at the edge of the range that was tried.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Mark:
    """A mark's meaning, in a few words for the CSV file and in a sentence for the notes below a table."""

    short: str
    meaning: str


EPOCHS, ITERATIONS, EDGE, CASES = "‡", "§", "¶", "‖"
MARKS = {
    EPOCHS: Mark("limit on epochs", "for at least one seed, the limit on epochs stopped the training"),
    ITERATIONS: Mark("limit on iterations", "for at least one seed, the solver stopped before the minimum"),
    EDGE: Mark("edge of the grid", "for at least one seed, a setting is at the edge of the range tried"),
    CASES: Mark("see the cases", "a fit ended at a limit, or a setting is at the edge of a grid; see the cases"),
}


def marks_of(fits: Iterable[Mapping[str, Any]]) -> str:
    """Return the marks of a method, given the entries of its fits in settings.json."""
    found = set()
    for fit in fits:
        found |= {ITERATIONS if fit["epochs"] is None else EPOCHS} if fit.get("at_limit") else set()
        found |= {EDGE} if fit.get("on_edges") else set()
    return "".join(mark for mark in MARKS if mark in found)


def meanings(texts: Iterable[str]) -> list[str]:
    """Return a sentence for each mark that occurs in the texts.

    >>> meanings(["WARP‡", "EASE"])
    ['‡: for at least one seed, the limit on epochs stopped the training.']
    """
    found = set().union(*texts)
    return [f"{mark}: {about.meaning}." for mark, about in MARKS.items() if mark in found]


def split(text: str) -> tuple[str, str]:
    """Return a text without its marks, and a few words about each of these marks.

    >>> split("WARP‡¶")
    ('WARP', 'limit on epochs, edge of the grid')
    """
    words = [about.short for mark, about in MARKS.items() if mark in text]
    return "".join(character for character in text if character not in MARKS), ", ".join(words)
