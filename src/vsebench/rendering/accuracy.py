"""Cells for tables of accuracy, and remarks on methods and on the protocol."""

from collections.abc import Iterable
from typing import Any

from vsebench.core.tasks import Task
from vsebench.protocols.base import load_protocol
from vsebench.rendering.results import Results, near_best
from vsebench.rendering.table import Cell


def accuracy_cells(results: Results, numbers: dict[str, Any] | None) -> list[Cell]:
    """Return a method's cells for one metric: the mean with its interval, and the p-value.

    `numbers` is the method's row of `summary` for this metric. If it is None, the cells are empty.
    """
    if numbers is None:
        return [Cell(), Cell()]
    best = bool(numbers["best"]) and not results.is_oracle(numbers["method"])
    value = Cell(numbers["value"], numbers["ci_low"], numbers["ci_high"], bold=best, dagger=near_best(numbers))
    return [value, Cell(numbers["p_adjusted"])]


def remark_on_occurrences(results: Results, task: Task) -> str:
    """Return a remark if a protocol holds out single occurrences, but no image has a label twice; otherwise ""."""
    counts = results.datasets[task.dataset]["counts"]
    if not load_protocol(task.protocol).by_occurrence or counts.get("occurrences") != counts["pairs"]:
        return ""
    return (
        "no image has a label twice, so the protocol holds out distinct labels; if labels can occur several times on "
        "an image in your data, give a column of counts (docs/own-data.md)"
    )


def remarks_on_outside(results: Results, methods: Iterable[str]) -> list[str]:
    """Return a sentence on each method trained outside this package: how it was trained, and who chose its settings."""
    variants = {method: results.outline.variants[method] for method in methods}
    return [
        f"{results.method_title(method)} was trained {'by its own command' if variant.by_command else 'elsewhere'}; "
        f"how its settings were chosen: {variant.tuned}."
        for method, variant in variants.items()
        if variant.role == "external"
    ]
