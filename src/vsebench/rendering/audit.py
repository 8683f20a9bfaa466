"""The tables of the audit of the papers."""

import csv
from collections import Counter
from dataclasses import fields, replace
from pathlib import Path

from vsebench.core.errors import UserError
from vsebench.papers.audit.findings import AGREES, CONTRADICTS, Finding
from vsebench.rendering.table import Cell, Column, Row, Table

PAPERS = {
    "vse_ens": "VSE-ens",
    "vse_fs": "VSE-fs",
    "wsabie": "WSABIE",
    "sampled_tagging": "Sampled image tagging",
    "lsep": "LSEP",
}
COLUMNS = (
    Column("paper", "Paper", shown=False),
    Column("table", "Tab."),
    Column("cell", "Cell"),
    Column("check", "Check"),
    Column("published", "Published"),
    Column("recomputed", "Recomputed"),
    Column("explanation", "How", shown=False),
    Column("cells", "Recomputed from", shown=False),
)


def read_audit(path: Path) -> list[Finding]:
    """Read audit.csv, the papers in display order."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            lines = list(csv.reader(file, strict=True))
    except FileNotFoundError:
        raise UserError(f"{path}: no such file; run the stage audit first") from None
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UserError(f"{path}: not a readable CSV file ({error}); delete it and run again") from None
    columns = [field.name for field in fields(Finding)]
    if not lines or lines[0] != columns or any(len(line) != len(columns) for line in lines):
        raise UserError(f"{path}: every line must have the columns {','.join(columns)}; delete it and run again")
    order = list(PAPERS)
    found = [Finding(*line) for line in lines[1:]]
    return sorted(found, key=lambda each: order.index(each.paper) if each.paper in order else len(order))


def findings_table(findings: list[Finding], verdict: str, explained: bool = False) -> Table:
    """Return the findings with one verdict; `explained` ones say how they were recomputed."""
    columns = tuple(
        replace(column, shown=column.shown or (explained and column.key == "explanation")) for column in COLUMNS
    )
    rows = tuple(
        Row(tuple(map(Cell, texts(finding))), group=PAPERS.get(finding.paper, finding.paper))
        for finding in findings
        if finding.verdict == verdict
    )
    agree = verdict == AGREES
    return Table(
        columns,
        rows,
        caption="Printed numbers that agree with the others" if agree else "Printed numbers that contradict each other",
        label="tab:audit-agreements" if agree else "tab:audit",
        notes=(
            "Recomputed from other printed numbers, with every value that rounds to them: a number contradicts only if "
            "none of these values gives it.",
            "S: a table of the supplement.",
        ),
    )


def texts(finding: Finding) -> tuple[str, ...]:
    """Return the cells of a row."""
    judged, _, others = finding.cells.partition("; ")
    number = finding.table.replace("supplement_table", "S").removeprefix("table")
    return (
        finding.paper,
        number,
        judged.removeprefix(f"{finding.table} "),
        finding.check,
        finding.published,
        finding.recomputed.replace(" to ", "\N{EN DASH}"),
        finding.explanation,
        others,
    )


def counts_table(findings: list[Finding]) -> Table:
    """Return how many numbers agree and contradict, by paper and check."""
    counts = Counter((finding.paper, finding.check, finding.verdict) for finding in findings)
    kinds = dict.fromkeys((finding.paper, finding.check) for finding in findings)
    return Table(
        (
            Column("paper", "Paper", shown=False),
            Column("check", "Check"),
            Column(AGREES, "Agree", "count"),
            Column(CONTRADICTS, "Contradict", "count"),
        ),
        tuple(
            Row(
                (Cell(paper), Cell(check), *(Cell(counts[paper, check, verdict]) for verdict in (AGREES, CONTRADICTS))),
                group=PAPERS.get(paper, paper),
            )
            for paper, check in kinds
        ),
        caption="Printed numbers that were recomputed",
        label="tab:audit-counts",
    )


def summary(findings: list[Finding]) -> dict[str, int]:
    """Return the numbers for a sentence about the audit."""
    judged = {(finding.paper, finding.cells.partition("; ")[0]) for finding in findings}
    return {
        "checks": len(findings),
        "cells": len(judged),
        "papers": len({finding.paper for finding in findings}),
        "contradictions": sum(finding.verdict == CONTRADICTS for finding in findings),
    }
