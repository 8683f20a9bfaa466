"""What the page says of the papers: a section for each, the verdicts on claims, and the audit of printed numbers."""

from dataclasses import dataclass
from typing import Any

from vsebench.papers.base import Paper
from vsebench.rendering.audit import read_audit, summary
from vsebench.rendering.claims import counted, read_claims
from vsebench.rendering.kinds import FigureKind, Instance, TableKind, instances_of_paper, make
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
    claims: Table | None  # every test of the paper's claims


def tables_of(paper: Paper) -> dict[str, Instance]:
    """Return the tables that a paper's file asks for, by their names."""
    return instances_of_paper(TableKind, paper.path, {key: entry.model_dump() for key, entry in paper.tables.items()})


def figures_of(paper: Paper) -> dict[str, Instance]:
    """Return the figures that a paper's file asks for, by their names."""
    return instances_of_paper(FigureKind, paper.path, {key: entry.model_dump() for key, entry in paper.figures.items()})


def describe_paper(paper: Paper, results: Results) -> PaperSection | None:
    """Return the section on one paper, or None where its file asks for nothing that a section could show."""
    tables = {
        name: make(TableKind, instance.kind, instance.parameters, name).table(results)
        for name, instance in tables_of(paper).items()
    }
    figures = list(figures_of(paper))
    tested = results.claims.filter(paper=paper.name)
    claims = make(TableKind, "claims", {"only": paper.name}, "claims").table(results) if len(tested) else None
    if not tables and not figures and claims is None:
        return None
    return PaperSection(paper.name, f"{paper.title} paper", paper.citation, paper.link, tables, figures, claims)


def describe_audit(results: Results) -> dict[str, Any]:
    """Return what the page says of the papers' own numbers: counts for a sentence, and the checks in two tables."""
    contradicting = {"verdict": "contradicts", "explained": True}
    agreeing = {"verdict": "agrees", "explained": True}
    return {
        **summary(read_audit(results.folder / "audit.csv")),
        "contradicting": make(TableKind, "audit", contradicting, "audit").table(results),
        "agreeing": make(TableKind, "audit", agreeing, "audit").table(results),
    }


def count_claims(results: Results) -> list[tuple[str, int, list[tuple[str, int]]]]:
    """Return for each paper its title, the number of its claims, and the numbers of claims by verdict."""
    return counted(read_claims(results.folder / "claims.csv"))
