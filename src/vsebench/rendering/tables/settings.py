"""Show the settings of each fitted method; seeds with the same settings share a row."""

import json
from itertools import groupby
from typing import Any

from vsebench.core.tasks import Task
from vsebench.rendering.choices import how_chosen, in_words
from vsebench.rendering.kinds import TableKind
from vsebench.rendering.marks import marks_of
from vsebench.rendering.metrics import metric_title
from vsebench.rendering.results import Results
from vsebench.rendering.table import Column, Row, Table

COLUMNS = (
    Column("method", "Method", width=0.18),
    Column("seeds", "Seeds"),
    Column("settings", "Settings", width=0.24),
    Column("chosen", "Chosen", width=0.12),
    Column("epochs", "Epochs", width=0.1),
    Column("validation", "Validation", width=0.16),
)

NOTES = (
    "Searched: chosen on validation labels (in brackets, the numbers of configurations tried and of seeds); test "
    "labels are not used. If all seeds share a split, one search chooses the settings for all seeds, by the mean "
    "validation metric over the seeds that the search uses. On the edge: the best value is the smallest or largest "
    "value tried, and the method allows values beyond it.",
    "Searched before: by an earlier run on the same data; seeds missing in that run use the settings of its first "
    "seed. Untuned: the settings were not chosen on these data.",
)


class Settings(TableKind):
    """A table of each method's fixed and tuned settings, and of its number of epochs."""

    needs = ("settings", "datasets")
    made_for = "run"
    section = "settings"

    def table(self, results: Results) -> Table:
        tasks, variants = results.outline.tasks, list(results.outline.variants)

        def display_order(entry: dict[str, Any]) -> tuple[Any, ...]:
            task = Task(entry["dataset"], entry["protocol"])
            return (tasks.index(task), variants.index(entry["method"]), shared(entry), entry["seed"])

        entries = groupby(sorted(results.settings, key=display_order), key=shared)
        rows = [row_of(results, list(same)) for _, same in entries]
        return Table(COLUMNS, rows, "Settings of each method", NOTES, small=True)


def shared(entry: dict[str, Any]) -> str:
    """Return a key for an entry of settings.json; entries with the same key share a row.

    Such entries have the same task, method and settings, and the settings were chosen in the same way.
    """
    return json.dumps([entry[key] for key in ("dataset", "protocol", "method", "choice", "settings")], sort_keys=True)


def row_of(results: Results, entries: list[dict[str, Any]]) -> Row:
    """Return the row for entries of settings.json that have the same key (see `shared`)."""
    first = entries[0]
    settings = first["settings"]
    if first["choice"] == "weights":  # the settings are weights of members, some of which this run may lack
        titles = {name: results.method_title(name) for name in settings if name in results.outline.variants}
        settings = {titles.get(name, name): weight for name, weight in settings.items()}
    tuned = results.outline.variants[first["method"]].tuned
    choice = "; ".join(filter(None, [how_chosen(entries), tuned and f"settings: {tuned}"]))
    edges = sorted({name for entry in entries for name in entry.get("on_edges", [])})
    edge = f"; {', '.join(edges)} on the edge" if edges else ""
    limits = sorted({entry["limit"] for entry in entries if entry.get("at_limit")})
    limit = f" (limit {', '.join(map(str, limits))})" if limits else ""
    epochs = [str(entry["epochs"]) for entry in entries if entry["epochs"] is not None]
    values = [f"{e['validation_value']:.4f}" for e in entries if e["validation_value"] is not None]
    return Row.of(
        results.method_title(first["method"]) + marks_of(entries),
        ", ".join(str(entry["seed"]) for entry in entries),
        in_words(settings) or None,
        choice + edge if choice else None,
        (", ".join(epochs) + limit).strip() or None,
        f"{metric_title(first['validation_metric'])}: {', '.join(values)}" if values else None,
        group=results.task_title(Task(first["dataset"], first["protocol"])),
    )
