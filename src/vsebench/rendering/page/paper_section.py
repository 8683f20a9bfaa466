"""The sections of the page on each paper and on the audit of the printed numbers."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from vsebench.papers.audit.findings import AGREES, VERDICTS, read_findings, summarise
from vsebench.papers.base import Paper
from vsebench.papers.verdict import UNTESTABLE
from vsebench.rendering.choices import count
from vsebench.rendering.claims import count_testable, paper_title
from vsebench.rendering.kinds import FigureKind, Instance, TableKind, instances_of_paper, make
from vsebench.rendering.outline import GATHERED, Outline
from vsebench.rendering.results import Results
from vsebench.rendering.table import Table


@dataclass(frozen=True)
class PaperSection:
    """The section on one paper, made from the paper's YAML and CSV files and the results of the run."""

    id: str
    title: str
    citation: str
    link: str | None
    tables: dict[str, Table]
    figures: dict[str, Instance]
    left_out: list[str]  # names of tables and figures without content, such as "table 2"
    claims: Table | None  # the paper's claims with all cases
    has_results: bool  # whether the run recomputes a printed number, or tests a claim on data


def tables_of(paper: Paper, outline: Outline | None = None) -> dict[str, Instance]:
    """Return the tables in a paper's file by their names; with an outline, only those that apply to the run."""
    return instances_of_paper(TableKind, paper.path, paper.tables, outline)


def figures_of(paper: Paper, outline: Outline | None = None) -> dict[str, Instance]:
    """Return the figures in a paper's file by their names; with an outline, only those that apply to the run."""
    return instances_of_paper(FigureKind, paper.path, paper.figures, outline)


def with_content(figures: Mapping[str, Instance], results: Results) -> dict[str, Instance]:
    """Return the figures for which the results contain something to draw."""
    kinds = {name: make(FigureKind, figure.kind, figure.parameters, name) for name, figure in figures.items()}
    return {name: figure for name, figure in figures.items() if not kinds[name].is_empty(results)}


def make_table(results: Results, instance: Instance) -> Table:
    return make(TableKind, instance.kind, instance.parameters, instance.name).table(results)


def position_in_paper(results: Results, figure: Instance) -> str:
    """Return the beginning of a figure's caption, which names the paper and the figure in words.

    If the figure does not belong to a paper, the result is "".
    """
    if figure.paper is None:
        return ""
    return f"{paper_title(results, figure.paper)}, {name_in_paper(figure)}, on this run's data. "


def name_in_paper(instance: Instance) -> str:
    """Return the name of a paper's table or figure in words.

    >>> name_in_paper(Instance("vse_fs_table4_improve", "accuracy", {}, "vse_fs"))
    'table 4 improve'
    """
    name = instance.name.removeprefix(f"{instance.paper}_").replace("_", " ")
    return re.sub(r"(table|figure) ?(?=\w*\d)", r"\1 ", name)


def describe_paper(paper: Paper, results: Results) -> PaperSection | None:
    """Return the section on one paper, or None if it is empty."""
    made = {name: make_table(results, table) for name, table in tables_of(paper, results.outline).items()}
    tables = {name: table for name, table in made.items() if table.rows}
    figures = with_content(figures_of(paper, results.outline), results)
    every = tables_of(paper) | figures_of(paper)
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
        [name_in_paper(instance) for name, instance in every.items() if name not in {*tables, *figures}],
        claims,
        has_results=len(compared) + len(on_data.filter(pl.col("verdict") != UNTESTABLE)) > 0,
    )


def how_many_claims(results: Results, papers: Sequence[Paper]) -> str:
    """Return how many of the papers' claims this run tests, and which commands test the others; "" without claims."""
    tested, number = count_testable(results)
    if not number:
        return ""
    sentence = f"{tested} of {number} claims can be tested on the data of this run."
    runs: dict[str, list[str]] = {}
    for paper in papers:
        if paper.claims and paper.run and paper.run not in results.outline.configuration.split(" + "):
            runs.setdefault(paper.run, []).append(paper.title)
    commands = [f"make CONFIG=config/{run} ({', '.join(titles)})" for run, titles in runs.items()]
    return f"{sentence} For the others, run {'; '.join(commands)}." if commands and tested < number else sentence


def describe_audit(results: Results) -> dict[str, Any]:
    """Return the page's data on the audit of the printed numbers: a summary, and one table per verdict."""
    tables = {verdict: make(TableKind, "audit", {"verdict": verdict}, "audit").table(results) for verdict in VERDICTS}
    numbers = summarise(read_findings(results.folder / GATHERED["audit"]))
    return {"summary": audit_in_words(numbers), "agrees": numbers[AGREES], "tables": tables}


def audit_in_words(numbers: Mapping[str, int]) -> str:
    """Return sentences on the audit, given the numbers that `summarise` returns."""

    def of(number: int, verb: str) -> str:
        return f"{verb}s" if number == 1 else verb

    agrees, depends, contradicts = (numbers[verdict] for verdict in VERDICTS)
    one = numbers["papers"] == 1
    papers = "the paper" if one else f"the {numbers['papers']} papers"
    return (
        f"Many numbers printed in {papers} follow from other numbers printed there. {numbers['cells']} of them were "
        f"recomputed, in {count(numbers['checks'], 'check')}, of which {agrees} {of(agrees, 'agree')}. The others show "
        f"{count(contradicts, 'fact')} that {of(contradicts, 'contradict')} other numbers, and {depends} that "
        f"{of(depends, 'contradict')} them only under a condition; a fact that several cells state counts once. This "
        f"concerns only the {'paper' if one else 'papers'}, not the results of this run."
    )
