"""The findings of the checks of printed numbers, and the file audit.csv, which lists them."""

import csv
import io
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from fractions import Fraction
from pathlib import Path

from vsebench.core.csv_files import read_csv, write_csv
from vsebench.core.errors import UserError
from vsebench.papers.audit.printed import Interval, decimals, rounded, show
from vsebench.papers.published import PrintedCell, PrintedStatement

Printed = PrintedCell | PrintedStatement
OCR = re.compile(r"\bocr:")  # occurs in the note of a cell that may have been misread
UNPRINTED = re.compile(r"([\w ]+, )?not printed\b")  # beginning of the note of a number that the paper does not print
AGREES, DEPENDS, CONTRADICTS = VERDICTS = ("agrees", "depends", "contradicts")


@dataclass(frozen=True)
class Finding:
    """A row of audit.csv, which judges one printed number or statement.

    `cells` names the judged cell or statement, followed by the cells from which it was recomputed. With the verdict
    `DEPENDS`, the judged number contradicts the other numbers only if `condition` is true; the paper does not say
    whether it is true. With other verdicts, `condition` is empty. Findings of a paper that state the same fact have the
    same number `fact` (see `number_facts`). If the verdict is `AGREES`, `fact` is empty.
    """

    paper: str
    table: str
    cells: str
    check: str
    published: str
    recomputed: str
    verdict: str
    explanation: str
    condition: str = ""
    fact: str = ""

    @property
    def judged(self) -> str:
        """The name of the judged cell or statement."""
        return self.cells.partition("; ")[0]


def report(
    check: str,
    cells: Sequence[Printed],
    published: str,
    recomputed: str,
    agrees: bool,
    explanation: str,
    condition: str = "",
    summary: str = "",
) -> Finding:
    """Return a finding that judges the first of the cells.

    If `agrees` is false, the cell contradicts the others only if both `condition` and the cell's own condition are
    true. If these conditions are empty, the condition from `doubt` is used. If that is empty, too, the cell contradicts
    the others in any case. If `summary` is given, it replaces the names of the cells in the finding.
    """
    conditions = dict.fromkeys(filter(None, (condition, cells[0].condition)))
    condition = ", and ".join(conditions) or doubt(cells)
    return Finding(
        paper=cells[0].paper,
        table=cells[0].table,
        cells=summary or names(cells),
        check=check,
        published=published,
        recomputed=recomputed,
        verdict=AGREES if agrees else DEPENDS if condition else CONTRADICTS,
        explanation=explanation,
        condition="" if agrees else condition,
    )


def judge(
    check: str,
    cell: PrintedCell,
    sources: Sequence[Printed],
    recomputed: Interval,
    rule: str,
    reading: Interval | None = None,
    condition: str = "",
) -> Finding:
    """Return a finding that compares a printed number with the values that follow from its `sources`.

    `recomputed` contains all values, in the cell's unit, that follow from possible unrounded sources. `reading`
    contains the possible unrounded values of the cell; by default, these are the values that round to the printed
    digits. `rule` explains how the number was recomputed. `condition` completes the phrase "contradicts only if".
    """
    reading = reading or rounded(cell.value)
    agrees = reading.meets(recomputed)
    digits = decimals(cell.value) + 1
    gap = "" if agrees else f"; {distance(reading, recomputed, digits)}"
    return report(check, [cell, *sources], cell.value, recomputed.show(digits), agrees, rule + gap, condition)


def doubt(cells: Sequence[Printed]) -> str:
    """Return the condition of a contradiction if the first cell may be misread or any cell is not printed.

    The condition completes the phrase "contradicts only if". It is empty if there is no such cell.
    """
    first, *_ = cells
    if isinstance(first, PrintedCell) and OCR.search(first.note):
        return f"the scanned paper was read correctly ({first.note})"
    unprinted = (cell for cell in cells if isinstance(cell, PrintedCell) and UNPRINTED.match(cell.note))
    return next((f"{cell.name} is {cell.value} ({cell.note})" for cell in unprinted), "")


def names(cells: Sequence[Printed]) -> str:
    """Return the names of cells, separated by semicolons.

    The name of the paper precedes the name of each cell that is not from the first cell's paper.
    """
    home = cells[0].paper
    return "; ".join(cell.name if cell.paper == home else f"{cell.paper} {cell.name}" for cell in cells)


def distance(published: Interval, recomputed: Interval, digits: int) -> str:
    """Return, in words, the smallest distance that the rounding allows between a printed and a recomputed number."""
    above = published.low > recomputed.high
    gap = published.low - recomputed.high if above else recomputed.low - published.high
    while show(gap, digits) == show(Fraction(0), digits):
        digits += 1
    compared = "larger" if above else "smaller"
    return f"the printed number is {compared} than the recomputed one by at least {show(gap, digits)}"


def write_findings(findings: Sequence[Finding], out: Path) -> None:
    """Write findings to a CSV file such as audit.csv."""
    file = io.StringIO(newline="")
    writer = csv.DictWriter(file, [field.name for field in fields(Finding)], lineterminator="\n")
    writer.writeheader()
    writer.writerows(asdict(finding) for finding in findings)
    write_csv(file.getvalue(), out)


def read_findings(path: Path) -> list[Finding]:
    """Read audit.csv; a missing or damaged file raises a `UserError`."""
    try:
        lines = list(csv.reader(io.StringIO(read_csv(path).decode(), newline=""), strict=True))
    except (UnicodeDecodeError, csv.Error) as error:
        raise UserError(f"{path}: not a readable CSV file ({error}); delete it and run again") from None
    columns = [field.name for field in fields(Finding)]
    if not lines or lines[0] != columns or any(len(line) != len(columns) for line in lines):
        raise UserError(f"{path}: every line must have the columns {','.join(columns)}; delete it and run again")
    return [Finding(*line) for line in lines[1:]]


def number_facts(findings: Sequence[Finding], same_fact: Mapping[tuple[str, str], str]) -> list[Finding]:
    """Return the findings with `fact` set to the number of the fact, counted from 1 in each paper.

    A finding that agrees states no fact and gets no number. Findings of one check on one paper state the same fact if
    they depend on the same condition, because they all question that condition. Findings also state the same fact if
    `same_fact` maps their pairs (paper, judged cell) to the same name. Every other finding states a fact of its own.
    """
    numbers: dict[tuple[str, ...], int] = {}
    counts: Counter[str] = Counter()
    numbered = []
    for finding in findings:
        if finding.verdict == AGREES:
            numbered.append(finding)
            continue
        own = ("condition", finding.condition) if finding.condition else ("cells", finding.cells)
        named = same_fact.get((finding.paper, finding.judged))
        key = (finding.paper, named) if named else (finding.paper, finding.check, *own)
        if key not in numbers:
            counts[finding.paper] += 1
            numbers[key] = counts[finding.paper]
        numbered.append(replace(finding, fact=str(numbers[key])))
    return numbered


def counted(findings: Sequence[Finding]) -> list[Finding]:
    """Return all findings that agree, and one finding for each fact.

    This finding is the first contradiction that states the fact or, if there is none, the first finding that states it.
    """
    first: dict[tuple[str, str], Finding] = {}
    for finding in findings:
        key = (finding.paper, finding.fact)
        if finding.fact and (key not in first or (finding.verdict, first[key].verdict) == (CONTRADICTS, DEPENDS)):
            first[key] = finding
    chosen = {id(finding) for finding in first.values()}
    return [finding for finding in findings if finding.verdict == AGREES or id(finding) in chosen]


def summarise(findings: Sequence[Finding]) -> dict[str, int]:
    """Return the numbers of checks made, judged cells and papers, and the number of findings with each verdict.

    Each finding is one check. All findings that agree are counted. Other findings are counted once for each fact,
    because several of them can state the same fact.
    """
    return {
        "checks": len(findings),
        "cells": len({(finding.paper, finding.judged) for finding in findings}),
        "papers": len({finding.paper for finding in findings}),
        **{name: sum(finding.verdict == name for finding in counted(findings)) for name in VERDICTS},
    }
