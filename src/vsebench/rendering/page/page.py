"""The report: one self-contained page with every table and figure of a run."""

import base64
import gzip
import json
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from vsebench.config.dataset import Pictures
from vsebench.core.errors import UserError
from vsebench.core.tasks import Task
from vsebench.papers.base import Paper
from vsebench.papers.verdict import UNTESTABLE
from vsebench.rendering.accuracy import remark_on_occurrences
from vsebench.rendering.choices import count, in_words
from vsebench.rendering.claims import NOT_TESTED, count_claims
from vsebench.rendering.kinds import FigureKind, Instance, TableKind, by_section, instances_of_run, make
from vsebench.rendering.page import explore
from vsebench.rendering.page.headline import headlines, what_was_run
from vsebench.rendering.page.paper_section import (
    describe_audit,
    describe_paper,
    how_many_claims,
    make_table,
    position_in_paper,
    with_content,
)
from vsebench.rendering.page.pictures import find_pictures, ids_in
from vsebench.rendering.results import Results
from vsebench.rendering.table import Table, format_cell, format_interval, format_value, spans

PAGE_REM = 58  # width on the page of a figure of 7 inches, the width of both columns of a paper
PAGE_INCHES = 7.0


@dataclass(frozen=True)
class Drawing:
    """A figure on the page."""

    svg: str
    file: str  # the address of the figure, relative to the page
    width: str
    ratio: str
    caption: str
    alternative: str


def render(
    results: Results,
    figures: Path,
    papers: Sequence[Paper],
    folder: Path,
    pictures: Mapping[str, Pictures] | None = None,
) -> str:
    """Return the page as HTML.

    Parameters
    ----------
    figures : folder with the figures
    papers : the papers with a section on the page
    folder : the folder of the page; links are relative to it
    pictures : data set -> the location of the pictures of its images
    """
    drawn = with_content(instances_of_run(FigureKind, results.outline), results)
    described = [section for paper in papers if (section := describe_paper(paper, results)) is not None]
    of_papers = {name: figure for section in described for name, figure in section.figures.items()}
    instances = instances_of_run(TableKind, results.outline)
    made = {name: make_table(results, instance) for name, instance in instances.items()}
    shown = {name: table for name, table in made.items() if table.rows}
    tables = {name: instances[name] for name in shown}
    table_names = [*tables, *(name for section in described for name in section.tables)]
    of_described = (table for section in described for table in section.tables.values())
    seen = find_pictures([*shown.values(), *of_described], pictures or {})
    drawings = {name: drawing(results, figures, figure, folder) for name, figure in (drawn | of_papers).items()}
    return template().render(
        headlines=headlines(results, papers),
        numbers=explore.numbers(results),
        summary=what_was_run(results),
        simulated=[results.dataset_title(name) for name in results.datasets if results.is_simulated(name)],
        real=[results.dataset_title(name) for name in results.datasets if not results.is_simulated(name)],
        notices=[*notices(results), *seen.notices],
        pictures=seen.pictures,
        claims=count_claims(results),
        untestable=UNTESTABLE,
        testable=how_many_claims(results, papers),
        tested=split_by_testability(results),
        audit=describe_audit(results) if papers else None,
        papers=described,
        tables=shown,
        figures=drawings,
        packed=pack({name: figure.svg for name, figure in drawings.items()}),
        tasks=[describe_task(results, task, tables, drawn) for task in results.outline.tasks],
        tables_of=by_section(TableKind, tables),
        figures_of=by_section(FigureKind, not_in_papers(drawn, of_papers)),
        datasets=[(results.dataset_title(name), entry) for name, entry in results.datasets.items()],
        sources=[(results.method_title(name), variant.source) for name, variant in results.outline.variants.items()],
        machine=list(about_machine(results.machine)),
        downloads=files(results.folder / "tables", table_names, figures, [*drawn, *of_papers], folder),
    )


def template(name: str = "report.html.j2") -> Template:
    """Return the Jinja template of a page, such as the report."""
    environment = Environment(
        loader=PackageLoader("vsebench.rendering.page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(
        count=count,
        filters_in_words=filters_in_words,
        format_cell=format_cell,
        format_value=format_value,
        format_interval=format_interval,
        ids_in=ids_in,
        in_words=in_words,
        spans=spans,
    )
    return environment.get_template(name)


def filters_in_words(filters: Mapping[str, Any]) -> str:
    """Return the filters of a data set as text, with the seed only if images were sampled."""
    sampled = "sample_images" in filters
    return in_words({name: value for name, value in filters.items() if sampled or name != "seed"})


def split_by_testability(results: Results) -> tuple[Table, Table]:
    """Return the summary of the tested claims, and the summary of the claims that this run cannot test."""
    table = make(TableKind, "claims_summary", {}, "claims-summary").table(results)
    data = next(index for index, column in enumerate(table.columns) if column.key == "data")
    tested = [row for row in table.rows if row.cells[data].value != NOT_TESTED]
    untested = [row for row in table.rows if row.cells[data].value == NOT_TESTED]
    caption = "Claims that this run cannot test"
    return replace(table, rows=tested), replace(table, rows=untested, notes=(), caption=caption)


def notices(results: Results) -> Iterator[str]:
    """Yield warnings that a reader needs to judge the numbers."""
    if warning := results.outline.few_seeds:
        yield f"{warning[0].upper()}{warning[1:]}."
    for name, entry in results.datasets.items():
        title = results.dataset_title(name)
        for dropped in entry["dropped"]:
            yield f"{title}: dropped {format_value(dropped['number'], 'count')} {dropped['what']} ({dropped['why']})."
        yield from (f"{title}: {lacking}." for lacking in lacking_features(entry))
    for task in results.outline.tasks:
        if remark := remark_on_occurrences(results, task):
            yield f"{results.task_title(task)}: {remark}."
    for task in results.outline.tasks:
        yield from (f"{results.task_title(task)}: {sentence}" for sentence in results.left_out_of(task))
    yield from fits_at_limits(results)
    diverged: Counter[str] = Counter()
    for entry in results.settings:
        diverged[entry["method"]] += entry["diverged"]
    for method, number in diverged.items():
        if number:
            runs = "training run" if number == 1 else "training runs"
            title = results.method_title(method)
            yield f"{title}: {number} {runs} diverged during tuning; the settings of diverged runs cannot be chosen."


def lacking_features(entry: dict[str, Any]) -> Iterator[str]:
    """Yield a clause on each set of features that some images of a data set lack.

    The clause states the number of these images. `entry` is the entry of the data set in `datasets.json`.
    """
    for name, features in {"": entry.get("features") or {}, **entry.get("feature_sets", {})}.items():
        if number := features.get("images_without"):
            what = f"features in the set {name}" if name else "features"
            number = "1 image has" if number == 1 else f"{format_value(number, 'count')} images have"
            yield f"{number} no {what}; protocols with new images do not use such images for validation or test"


def fits_at_limits(results: Results) -> Iterator[str]:
    """Yield a line on fits that a limit on epochs stopped, and a line on solvers that stopped before the minimum."""
    sentences = {
        "epochs": "Stopped by a limit on epochs; more epochs might change the results",
        "iterations": "Solvers that stopped before the minimum, at a limit on iterations or because of rounding",
    }
    for unit, sentence in sentences.items():
        texts = []
        for (task, method), fits in results.fits.items():
            stopped = [fit for fit in fits if fit.get("at_limit") and (fit["epochs"] is None) == (unit == "iterations")]
            if stopped:
                seeds = ", ".join(str(fit["seed"]) for fit in stopped)
                limits = ", ".join(map(str, sorted({fit["limit"] for fit in stopped if fit.get("limit")})))
                after = (
                    f"limit {limits or 'unknown'}"
                    if unit == "epochs"
                    else f"after {limits or 'an unknown number of'} iterations"
                )
                where = f"{results.task_title(task)}; seeds {seeds}; {after}"
                texts.append(f"{results.method_title(method)} ({where})")
        if unit == "epochs":
            texts += [
                f"{results.entry_title(name)} ({results.task_title(task)}; seeds {', '.join(map(str, seeds))})"
                for (task, name), seeds in results.stopped_decisions.items()
            ]
        if texts:
            yield f"{sentence}: {'; '.join(texts)}."


def describe_task(
    results: Results, task: Task, tables: Mapping[str, Instance], figures: Mapping[str, Instance]
) -> dict[str, Any]:
    """Return the page's data on one task."""

    def names(instances: Mapping[str, Instance]) -> list[str]:
        return [name for name, instance in instances.items() if instance.parameters.get("task") == str(task)]

    # The table of all metrics is initially collapsed if there is also a table of a few metrics.
    folded = f"accuracy-{task.name}" if f"accuracy-few-{task.name}" in tables else None
    return {
        "id": task.name,
        "title": results.task_title(task),
        "protocol": results.outline.protocols[task.protocol],
        "simulated": results.is_simulated(task.dataset),
        "tables": [name for name in names(tables) if name != folded],
        "folded": folded,
        "figures": names(figures),
    }


def not_in_papers(instances: Mapping[str, Instance], of_papers: Mapping[str, Instance]) -> dict[str, Instance]:
    """Return the figures of a run, except those that the section on a paper also shows."""
    shown = [(figure.kind, figure.parameters) for figure in of_papers.values()]
    return {name: figure for name, figure in instances.items() if (figure.kind, figure.parameters) not in shown}


def drawing(results: Results, figures: Path, instance: Instance, folder: Path) -> Drawing:
    """Return a figure with its caption and alternative text.

    `figures` is the folder with the figures, and `folder` is the folder of the page.
    """
    path = figures / f"{instance.name}.svg"
    try:
        svg = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise UserError(f"{path}: no such file; first run the stage `figure` for {instance.name}") from None
    if not svg.rstrip().endswith("</svg>"):
        raise UserError(f"{path}: its end is missing; delete it and run again")
    size = re.search(r'<svg [^>]*?width="([0-9.]+)pt" height="([0-9.]+)pt"', svg[:2000])
    width, height = (float(size[1]), float(size[2])) if size else (72 * PAGE_INCHES, 36 * PAGE_INCHES)
    kind = make(FigureKind, instance.kind, instance.parameters, instance.name)
    return Drawing(
        svg=svg,
        file=link(path, folder),
        width=f"{PAGE_REM * min(1.0, width / (72 * PAGE_INCHES)):.0f}rem",
        ratio=f"{width:g} / {height:g}",
        caption=position_in_paper(results, instance) + kind.caption(results),
        alternative=kind.alternative(results),
    )


def pack(drawings: dict[str, str]) -> str:
    """Return drawings as a text that the page's script can unpack.

    The text is a JSON object that maps names to drawings, compressed with gzip and encoded in base64.

    >>> json.loads(gzip.decompress(base64.b64decode(pack({"overview": "<svg/>"}))))
    {'overview': '<svg/>'}
    """
    text = json.dumps(drawings).encode()
    return base64.b64encode(gzip.compress(text, mtime=0)).decode()  # without a date: equal drawings give equal bytes


def link(path: Path, folder: Path) -> str:
    """Return a file's address, relative to the folder of the page."""
    return Path(os.path.relpath(path, folder)).as_posix()


def about_machine(machine: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the entries of machine.json as pairs of a name and a text, with a single line about all kernels.

    >>> kernels = {"warp": {"functions_compiled": 5, "seconds": 2.5}, "ease": {"functions_compiled": 0, "seconds": 0.1}}
    >>> list(about_machine({"kernels": kernels, "machine": {"cores": 2}}))
    [('machine: cores', '2'), ('kernels', '5 functions compiled, the others loaded, in 2.6 s')]
    """
    yield from flatten({name: machine[name] for name in ("machine", "versions", "git_commit") if name in machine})
    kernels = machine["kernels"].values()
    functions = count(sum(each["functions_compiled"] for each in kernels), "function")
    yield "kernels", f"{functions} compiled, the others loaded, in {sum(each['seconds'] for each in kernels):.3g} s"


def flatten(value: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield the entries of nested mappings as pairs of a name and a text; the name consists of the joined keys.

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


def files(
    tables: Path, table_names: Sequence[str], figures: Path, figure_names: Sequence[str], folder: Path
) -> dict[str, list[tuple[str, str]]]:
    """Return the existing files of each table and figure, as pairs of a suffix and a link relative to `folder`."""
    paths = {f"table {name}": [tables / f"{name}.{suffix}" for suffix in ("csv", "md", "tex")] for name in table_names}
    for name in figure_names:
        paths[f"figure {name}"] = [figures / f"{name}.{suffix}" for suffix in ("pdf", "svg", "png")]
    links = {
        name: [(path.suffix.removeprefix("."), link(path, folder)) for path in of_name if path.exists()]
        for name, of_name in paths.items()
    }
    return {name: links_of_name for name, links_of_name in links.items() if links_of_name}
