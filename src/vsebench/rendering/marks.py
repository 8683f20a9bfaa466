"""Marks of methods whose fits ended at a limit, and what they mean, for tables, figures and the page."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Mark:
    """What a mark means: a few words for the CSV file, and a sentence for notes."""

    short: str
    meaning: str


EPOCHS, ITERATIONS, EDGE, CASES = "‡", "§", "¶", "‖"
MARKS = {
    EPOCHS: Mark("limit of epochs", "with a seed or more, its limit of epochs stopped the training"),
    ITERATIONS: Mark("limit of iterations", "with a seed or more, its solver stopped before the minimum"),
    EDGE: Mark("edge of the grid", "with a seed or more, a setting is on the edge of the values tried"),
    CASES: Mark("see the cases", "a fit in some cases ended at a limit or on the edge of a grid; the cases name it"),
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
    ['‡: with a seed or more, its limit of epochs stopped the training.']
    """
    found = set().union(*texts)
    return [f"{mark}: {about.meaning}." for mark, about in MARKS.items() if mark in found]


def split(text: str) -> tuple[str, str]:
    """Return a text without its marks, and the few words on each of them.

    >>> split("WARP‡¶")
    ('WARP', 'limit of epochs, edge of the grid')
    """
    words = [about.short for mark, about in MARKS.items() if mark in text]
    return "".join(character for character in text if character not in MARKS), ", ".join(words)
