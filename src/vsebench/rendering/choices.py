"""Say in words what the settings of a method are and how they were chosen."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from vsebench.core.tasks import Task
from vsebench.protocols.base import load_protocol
from vsebench.rendering.results import Results

CHOICES = {
    "tuned": "searched ({tried}, {seeds})",
    "recorded": "searched before ({tried}, {seeds})",
    "paper": "taken from a paper",
    "untuned": "untuned",
    "elsewhere": "trained elsewhere",
    "command": "trained by a command",
    "weights": "searched for the weights only ({tried})",
    "none": None,
}
NOTE_OF_CHOICES = (
    'Settings: "searched" by this run on validation labels (in brackets, the numbers of configurations and of seeds); '
    '"searched before" by an earlier run on the same data; "taken from a paper"; or "untuned", that is, those in the '
    "method's file. If the cell of one of our methods is empty, the method has no settings to choose. Intervals "
    "contain the spread of a choice that serves all seeds, if the search measured it. A search with one seed measures "
    "this spread without the part that depends on the seed."
)


def how_chosen(entries: Sequence[dict[str, Any]]) -> str | None:
    """Return how the settings of a method were chosen, in words.

    `entries` are the method's entries in settings.json. If the method has no settings to choose, the result is None.
    """
    text = CHOICES[entries[0]["choice"]]
    tried = max(entry["n_configurations"] for entry in entries)
    n_seeds = len({seed for entry in entries for seed in entry["seeds_of_search"]})
    return text and text.format(tried=count(tried, "configuration"), seeds=count(n_seeds, "seed"))


def chosen_at(results: Results, task: Task, variant: str) -> str | None:
    """Return how the settings of a variant on a task were chosen; None if there is nothing to choose."""
    entries = entries_of(results, task, variant)
    return how_chosen(entries) if entries else None


def entries_of(results: Results, task: Task, variant: str) -> list[dict[str, Any]]:
    """Return the entries of settings.json for a variant on a task, one for each seed."""
    keys = task.dataset, task.protocol, variant
    return [entry for entry in results.settings if (entry["dataset"], entry["protocol"], entry["method"]) == keys]


def remarks_on_choices(results: Results, task: Task, methods: Iterable[str]) -> list[str]:
    """Return sentences that state how the settings of a task's methods were chosen.

    Methods with the same answer share a sentence. Methods that have no settings to choose, or were trained elsewhere,
    are left out.
    """
    methods_of: dict[str, list[str]] = {}
    for method in methods:
        entries = entries_of(results, task, method)
        if entries and entries[0]["choice"] not in ("none", "elsewhere", "command"):
            methods_of.setdefault(how_chosen(entries) or "", []).append(results.method_title(method))
    untuned = f"{CHOICES['untuned']} (those in the methods' files, which were not chosen for these data)"
    return [
        f"Settings {untuned if text == CHOICES['untuned'] else text}: {', '.join(titles)}."
        for text, titles in methods_of.items()
    ]


def remark_on_other_splits(results: Results, task: Task, methods: Iterable[str]) -> list[str]:
    """Return sentences that name the methods and seeds whose settings were not searched on the seed's own split.

    There are none under a protocol with one split for all seeds.
    """
    if load_protocol(task.protocol).fixed:
        return []
    methods_of: dict[tuple[int, ...], list[str]] = {}
    for method in methods:
        recorded = [entry for entry in entries_of(results, task, method) if entry["choice"] == "recorded"]
        seeds = sorted(entry["seed"] for entry in recorded if entry["seed"] not in entry["seeds_of_search"])
        if seeds:
            methods_of.setdefault(tuple(seeds), []).append(results.method_title(method))
    return [
        f"For {'seed' if len(seeds) == 1 else 'seeds'} {', '.join(map(str, seeds))}, settings of these methods were "
        f"searched on another seed's split, in which test labels of this split can be validation labels, and intervals "
        f"do not contain the spread of this choice: {', '.join(titles)}."
        for seeds, titles in methods_of.items()
    ]


def in_words(settings: Mapping[str, Any]) -> str:
    """Return settings or options with their values as text; empty values are left out.

    >>> in_words({"normalise": ["root", "l2"], "features": None, "parts": {"train": [1, 9]}, "as_written": True})
    'normalise root, l2; parts (train 1, 9); as_written true'
    """
    stated = {name: value for name, value in settings.items() if value not in (None, "", [], {})}
    return "; ".join(f"{name} {_value_in_words(value)}" for name, value in stated.items())


def _value_in_words(value: Any) -> str:
    match value:
        case Mapping():
            return f"({in_words(value)})"
        case list():
            return ", ".join(map(_value_in_words, value))
        case bool():
            return str(value).lower()  # as in YAML
    return str(value)


def count(number: int, noun: str) -> str:
    """Return a number followed by a noun, which is in the plural unless the number is 1."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
