"""Stage `report`: write one self-contained page with every table and figure of a run."""

import argparse
import base64
import json
import os
import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import polars as pl
from jinja2 import Environment, PackageLoader, StrictUndefined

from vsebench.core.errors import UserError
from vsebench.core.places import CEILING
from vsebench.core.storage import read_parquet, replacing
from vsebench.evaluation.growth import exponents
from vsebench.papers.audit.findings import AGREES, CONTRADICTS
from vsebench.rendering.audit import findings_table, summary
from vsebench.rendering.captions import HEADLINE, alternative, caption
from vsebench.rendering.claims import claims_table, counted, read_claims
from vsebench.rendering.names import PAPER_FIGURES, PAPER_TABLES, VSE_PAPERS, Pair, figure_names, table_names
from vsebench.rendering.papers import growth_table, paper_table
from vsebench.rendering.results import (
    PROTOCOLS,
    Metric,
    Results,
    add_common_arguments,
    metric_title,
    near_best,
    open_results,
    pick,
)
from vsebench.rendering.style import DOUBLE
from vsebench.rendering.table import Cell, Column, Row, Table, format_interval, format_value
from vsebench.rendering.tables import accuracy_cells, build_table

SHORT: tuple[Metric, ...] = (HEADLINE, ("map", 10), ("ndcg", 10))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the stage's arguments."""
    add_common_arguments(parser)
    parser.add_argument("--figures", type=Path, required=True, help="folder with the figures")
    parser.add_argument("--published", type=Path, required=True, help="folder of the published numbers")
    parser.add_argument("--scaling", type=Path, help="scaling.parquet")
    parser.add_argument("--out", type=Path, required=True, help="page to write")


def run(arguments: argparse.Namespace) -> None:
    """Run the stage."""
    scaling = exponents(read_parquet(arguments.scaling)) if arguments.scaling else None
    page = render(open_results(arguments), arguments.figures, arguments.published, scaling, arguments.out.parent)
    with replacing(arguments.out) as temporary:
        temporary.write_text(page, encoding="utf-8")


def render(results: Results, figures: Path, published: Path, scaling: pl.DataFrame | None, folder: Path) -> str:
    """Return the page; its links are relative to `folder`."""
    environment = Environment(
        loader=PackageLoader("vsebench.rendering"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(format_value=format_value, format_interval=format_interval)
    return environment.get_template("report.html.j2").render(
        summary=what_was_run(results),
        simulated=[results.dataset_title(name) for name in results.datasets if results.is_simulated(name)],
        real=[results.dataset_title(name) for name in results.datasets if not results.is_simulated(name)],
        notices=list(notices(results)),
        claims=counted(read_claims(results.folder / "claims.csv")),
        papers=[describe_paper(results, paper, published, scaling) for paper in VSE_PAPERS],
        growth=None if scaling is None else growth_table(scaling, results),
        best=best_table(results),
        audit=audit_section(results),
        tables={name: build_table(results, name) for name in table_names(results.pairs) if name != "claims"},
        figures={name: figure(results, figures, name) for name in [*figure_names(results.pairs), *PAPER_FIGURES]},
        pairs=[describe_pair(results, pair) for pair in results.pairs],
        settings=settings_table(results),
        sources=sources(results),
        datasets=[(results.dataset_title(name), entry) for name, entry in results.datasets.items()],
        machine=list(flatten(results.machine)),
        files=files(results, figures, folder),
    )


def audit_section(results: Results) -> dict[str, Any]:
    """Return what the page says of the papers' own numbers."""
    return {
        **summary(results.audit),
        "contradicting": findings_table(results.audit, CONTRADICTS, explained=True),
        "agreeing": findings_table(results.audit, AGREES, explained=True),
    }


def what_was_run(results: Results) -> list[tuple[str, str]]:
    """Return the facts that come first."""
    methods = [results.method_title(method) for method in results.methods_of(results.summary)]
    protocols = dict.fromkeys(protocol for _, protocol in results.pairs)
    return [
        ("Data sets", ", ".join(results.dataset_title(name) for name in results.datasets)),
        ("Protocols", "; ".join(f"{name}: {PROTOCOLS.get(name, name)}" for name in protocols)),
        ("Methods", ", ".join(methods)),
        ("Seeds", str(max(results.summary["n_seeds"].to_list()))),
    ]


def notices(results: Results) -> Iterator[str]:
    """Yield what a reader should know before believing the numbers."""
    for name, entry in results.datasets.items():
        title = results.dataset_title(name)
        for key, numbers in entry["mismatches"].items():
            expected, found = (format_value(numbers[part], "count") for part in ("expected", "found"))
            yield f"{title}: {found} {key.replace('_', ' ')}, but {expected} were expected."
        for dropped in entry["dropped"]:
            yield f"{title}: dropped {format_value(dropped['number'], 'count')} {dropped['what']} ({dropped['why']})."
    diverged: dict[str, int] = {}
    for entry in results.settings:
        diverged[entry["method"]] = diverged.get(entry["method"], 0) + entry["diverged"]
    for method, number in diverged.items():
        if number:
            runs = "run of one configuration" if number == 1 else "runs of one configuration each"
            yield f"{results.method_title(method)}: {number} {runs} diverged while tuning, and none of them was chosen."


def best_table(results: Results) -> Table:
    """Return the best method of each data set and protocol with its numbers."""
    columns = (
        Column("title", "Data set"),
        Column("protocol", "Protocol"),
        Column("method", f"Best in {metric_title(HEADLINE)}"),
        *(Column("_".join(map(str, metric)), metric_title(metric), "score", interval=True) for metric in SHORT),
        Column("equal", "Not significantly different"),
        Column("ceiling", f"Ceiling, {metric_title(HEADLINE)}", "score"),
    )
    return Table(
        columns,
        tuple(Row(best_cells(results, pair)) for pair in results.pairs),
        caption=f"The method with the highest {metric_title(HEADLINE)} on each data set",
        label="tab:best",
        notes=(
            "Means over seeds with bootstrap 95 % intervals over images and seeds; bold: the best in that metric, too. "
            "The ceiling knows the truth that simulated data was drawn from.",
        ),
    )


def best_cells(results: Results, pair: Pair) -> tuple[Cell, ...]:
    """Return the row of one data set and protocol."""
    accuracy = results.accuracy(pair)
    rows = {method: pick(accuracy, HEADLINE, method) for method in results.methods_of(accuracy) if method != CEILING}
    best = next((method for method, row in rows.items() if row and row["best"]), "")
    equal = [results.method_title(method) for method, row in rows.items() if row and near_best(row)]
    ceiling = pick(accuracy, HEADLINE, CEILING)
    return (
        Cell(results.dataset_title(pair[0])),
        Cell(pair[1]),
        Cell(results.method_title(best) or None),
        *(accuracy_cells(pick(accuracy, metric, best))[0] for metric in SHORT),
        Cell(", ".join(equal) or "none"),
        Cell(ceiling["value"] if ceiling else None),
    )


def settings_table(results: Results) -> Table:
    """Return the settings that each method ran with; seeds with the same settings share a row."""
    columns = (
        Column("method", "Method"),
        Column("seeds", "Seeds"),
        Column("settings", "Settings"),
        Column("chosen", "Chosen"),
        Column("epochs", "Epochs"),
        Column("validation", "Validation"),
    )

    def same(entry: dict[str, Any]) -> str:
        return json.dumps(
            [entry[key] for key in ("dataset", "protocol", "method", "tuned", "settings")], sort_keys=True
        )

    order = list(results.titles)
    place = {pair: number for number, pair in enumerate(results.pairs)}

    def display_order(entry: dict[str, Any]) -> tuple[int, int, str, int]:
        pair = place.get((entry["dataset"], entry["protocol"]), len(place))
        method = entry["method"]
        return (pair, order.index(method) if method in order else len(order), same(entry), entry["seed"])

    rows = [
        settings_row(results, list(entries))
        for _, entries in groupby(sorted(results.settings, key=display_order), key=same)
    ]
    return Table(
        columns,
        tuple(rows),
        caption="Settings of each method",
        label="tab:settings",
        notes=("Tuned: chosen on the validation labels from the configurations tried; test labels play no part.",),
    )


def settings_row(results: Results, entries: list[dict[str, Any]]) -> Row:
    """Return one row for the seeds that ran with the same settings."""
    first = entries[0]
    settings = ", ".join(f"{key} {value}" for key, value in first["settings"].items()) or None
    chosen = f"tuned, {first['n_configurations']} tried" if first["tuned"] else "fixed"
    epochs = [str(entry["epochs"]) for entry in entries if entry["epochs"] is not None]
    values = [f"{e['validation_value']:.4f}" for e in entries if e["validation_value"] is not None]
    metric = first["validation_metric"]
    texts = (
        results.method_title(first["method"]),
        ", ".join(str(entry["seed"]) for entry in entries),
        settings,
        chosen,
        ", ".join(epochs) or None,
        f"{metric}: {', '.join(values)}" if values else None,
    )
    return Row(tuple(map(Cell, texts)), group=results.pair_title((first["dataset"], first["protocol"])))


def sources(results: Results) -> list[tuple[str, str]]:
    """Return where each method and its settings come from."""
    found = {entry["method"]: str(entry["source"]) for entry in results.settings}
    return [(results.method_title(m), found[m]) for m in results.methods_of(results.summary) if m in found]


def describe_pair(results: Results, pair: Pair) -> dict[str, Any]:
    """Return what the page needs to know of one data set and protocol."""
    name = "-".join(pair)
    return {
        "id": name,
        "title": results.pair_title(pair),
        "protocol": PROTOCOLS.get(pair[1], pair[1]),
        "simulated": results.is_simulated(pair[0]),
        "table": f"accuracy-{name}",
        "figures": [f"accuracy-{name}", f"convergence-{name}"],
    }


def describe_paper(results: Results, paper: str, published: Path, scaling: pl.DataFrame | None) -> dict[str, Any]:
    """Return a paper's tables with our numbers, its figure, and its claims."""
    names = [name for name in PAPER_TABLES if name.startswith(paper)]
    return {
        "id": paper,
        "title": f"{VSE_PAPERS[paper]} paper",
        "tables": {name: paper_table(name, published, results, scaling) for name in names},
        "figure": next(name for name in PAPER_FIGURES if name.startswith(paper)),
        "claims": claims_table(read_claims(results.folder / "claims.csv"), results, paper),
    }


PAGE_REM = 58  # the width of a figure over both columns of a paper, on the page


def figure(results: Results, figures: Path, name: str) -> dict[str, str]:
    """Return a figure as an address that holds all of its data, with its words."""
    path = figures / f"{name}.svg"
    try:
        drawing = path.read_bytes()
    except FileNotFoundError:
        raise UserError(f"{path}: no such file; run the stage figure with {name} first") from None
    points = re.search(rb'<svg [^>]*?width="([0-9.]+)pt"', drawing[:2000])
    share = min(1.0, float(points[1]) / (72 * DOUBLE)) if points else 1.0  # of the width of a page
    return {
        "source": f"data:image/svg+xml;base64,{base64.b64encode(drawing).decode('ascii')}",
        "width": f"{PAGE_REM * share:.0f}rem",
        "caption": caption(results, name),
        "alternative": alternative(results, name),
    }


def flatten(value: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield nested entries under joined names.

    >>> list(flatten({"machine": {"cores": 2, "memory_bytes": 2**31}}))
    [('machine: cores', '2'), ('machine: memory', '2.0 GiB')]
    """
    for key, entry in value.items():
        name = prefix + key.removesuffix("_bytes").replace("_", " ")
        if isinstance(entry, dict):
            yield from flatten(entry, f"{name}: ")
        elif key.endswith("_bytes") and isinstance(entry, int):
            yield name, f"{entry / 2**30:.1f} GiB"
        else:
            yield name, f"{entry:.3g}" if isinstance(entry, float) else str(entry)


def files(results: Results, figures: Path, folder: Path) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return the files of each table and figure that are there, as links relative to the page."""
    tables, drawn = [*table_names(results.pairs), *PAPER_TABLES], [*figure_names(results.pairs), *PAPER_FIGURES]
    places = [(results.folder / "tables", name, ("csv", "md", "tex")) for name in tables]
    places += [(figures, name, ("pdf", "svg", "png")) for name in drawn]
    found = []
    for place, name, suffixes in places:
        paths = [(suffix, place / f"{name}.{suffix}") for suffix in suffixes]
        links = [(suffix, Path(os.path.relpath(path, folder)).as_posix()) for suffix, path in paths if path.exists()]
        if links:
            found.append((f"{'table' if 'csv' in suffixes else 'figure'} {name}", links))
    return found
