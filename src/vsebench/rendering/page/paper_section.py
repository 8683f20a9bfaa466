"""The page's sections on the papers, and the audit of their printed numbers."""

from dataclasses import dataclass
from typing import Any

import polars as pl

from vsebench.papers.audit.findings import VERDICTS, read_findings, summarise
from vsebench.papers.base import Paper
from vsebench.papers.verdict import UNTESTABLE
from vsebench.rendering.claims import paper_title
from vsebench.rendering.kinds import FigureKind, Instance, TableKind, instances_of_paper, make
from vsebench.rendering.outline import GATHERED
from vsebench.rendering.results import Results
from vsebench.rendering.table import Table


@dataclass(frozen=True)
class PaperSection:
    """The section on one paper, made from its two files and the results."""

    id: str
    title: str
    citation: str
    link: str | None
    tables: dict[str, Table]
    figures: list[str]  # names
    claims: Table | None  # the paper's claims with all cases
    has_results: bool  # whether the run has a number for a printed number, or a test of a claim on data


def tables_of(paper: Paper) -> dict[str, Instance]:
    """Return the tables that a paper's file defines, by their names."""
    return instances_of_paper(TableKind, paper.path, paper.tables)


def figures_of(paper: Paper) -> dict[str, Instance]:
    """Return the figures that a paper's file defines, by their names."""
    return instances_of_paper(FigureKind, paper.path, paper.figures)


def make_table(results: Results, instance: Instance) -> Table:
    return make(TableKind, instance.kind, instance.parameters, instance.name).table(results)


def position_in_paper(results: Results, figure: Instance) -> str:
    """Return the beginning of a caption: the paper and the number of the figure, or "" for a figure of the run."""
    if figure.paper is None:
        return ""
    name = figure.name.removeprefix(f"{figure.paper}_").replace("figure", "figure ").replace("_", " ")
    return f"{paper_title(results, figure.paper)}, {name}, on this run's data. "


def describe_paper(paper: Paper, results: Results) -> PaperSection | None:
    """Return the section on one paper, or None if it is empty."""
    tables = {name: make_table(results, instance) for name, instance in tables_of(paper).items()}
    figures = list(figures_of(paper))
    tested = results.claims.filter(paper=paper.name)
    claims = make(TableKind, "claims", {"of": paper.name}, "claims").table(results) if len(tested) else None
    if not tables and not figures and claims is None:
        return None
    compared, on_data = results.comparison.filter(paper=paper.name), tested.filter(pl.col("data").is_not_null())
    return PaperSection(
        paper.name,
        paper_title(results, paper.name),
        paper.citation,
        paper.link,
        tables,
        figures,
        claims,
        has_results=len(compared) + len(on_data.filter(pl.col("verdict") != UNTESTABLE)) > 0,
    )


def describe_audit(results: Results) -> dict[str, Any]:
    """Return the page's data on the audit of the printed numbers: counts, and one table per verdict."""
    tables = {verdict: make(TableKind, "audit", {"verdict": verdict}, "audit").table(results) for verdict in VERDICTS}
    return summarise(read_findings(results.folder / GATHERED["audit"])) | {"tables": tables}
