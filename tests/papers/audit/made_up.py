"""Made-up papers for the tests of the audit: cells as lines of words, and statements."""

import shlex
from collections.abc import Iterable

from vsebench.papers.audit.checking import audit
from vsebench.papers.audit.findings import Finding
from vsebench.papers.published import PrintedCell, PrintedCells, PrintedStatement


def cells(lines: str, *statements: PrintedStatement) -> PrintedCells:
    """Make the cells of lines "paper table row column value unit [protocol [note]]"; a value of words is in quotes."""
    fields = [shlex.split(line) for line in lines.strip().splitlines()]
    printed = (PrintedCell(*words, *("settings", "")[len(words) - 6 :]) for words in fields)
    return PrintedCells(tuple(printed), statements)


def findings(check: str, lines: str, *statements: PrintedStatement) -> list[Finding]:
    """Return what one check finds."""
    return [finding for finding in audit(cells(lines, *statements)) if finding.check == check]


def verdicts(check: str, lines: str, *statements: PrintedStatement) -> list[str]:
    return [finding.verdict for finding in findings(check, lines, *statements)]


def accuracies(values: dict[str, str], method: str = "p", paper: str = "p") -> str:
    """Return the lines of a row of accuracies on a data set d, with one held-out label per image."""
    return "".join(f"{paper} table1 d/{method} {name} {value} 1 leave_one_out\n" for name, value in values.items())


def percents(values: dict[str, str], row: str = "d/m") -> str:
    """Return the lines of a row of accuracies in percent."""
    return "".join(f"p table1 {row} {name} {value} percent held_out_images\n" for name, value in values.items())


def table(metric: str, **methods: str) -> str:
    """Return the lines of a metric, with each method's values on the data sets d, e and f in this order."""
    return "".join(
        percents({metric: value}, f"{dataset}/{method}")
        for method, values in methods.items()
        for dataset, value in zip("def", values.split(), strict=False)
    )


def statement(rows: dict[str, str | Iterable[str]], comparison: str = "above", **keys: object) -> PrintedStatement:
    values = {"quotation": "it is best", "where": "section 5", "comparison": comparison, "rows": rows} | keys
    return PrintedStatement.model_validate({"paper": "p", "name": "text p is best"} | values)
