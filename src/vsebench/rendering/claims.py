"""The tables of the papers' claims: every test, and one line a claim."""

from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import polars as pl

from vsebench.core.errors import UserError
from vsebench.rendering.names import VSE_PAPERS
from vsebench.rendering.results import METRIC_NAMES, Results, metric_title
from vsebench.rendering.table import Cell, Column, Row, Table

UNTESTABLE = "not testable here"
VERDICTS = ("holds", "fails", "undecided", UNTESTABLE)
MIXED = "mixed"
NUMBERS = ("effect", "ci_low", "ci_high", "p_adjusted")
Test = dict[str, Any]  # a row of claims.csv


def read_claims(path: Path) -> list[Test]:
    """Read claims.csv, in the order of the claims."""
    try:
        frame = pl.read_csv(path, infer_schema=False)
        return frame.with_columns(pl.col(NUMBERS).cast(pl.Float64), simulated=pl.col("simulated") == "true").to_dicts()
    except FileNotFoundError:
        raise UserError(f"{path}: no such file; run the stage claims first") from None
    except (OSError, pl.exceptions.PolarsError) as error:
        raise UserError(f"{path}: not a readable list of claims ({error}); delete it and run again") from None


def of_paper(tests: list[Test], paper: str) -> list[Test]:
    """Return the tests of one paper's claims."""
    return [test for test in tests if test["paper"] == paper]


def claims_of(tests: list[Test]) -> Iterator[tuple[Test, list[Test]]]:
    """Yield each claim with all of its tests."""
    for _, group in groupby(tests, key=lambda test: (test["paper"], test["claim"])):
        found = list(group)
        yield found[0], found


def claims_table(tests: list[Test], results: Results, paper: str | None = None) -> Table:
    """Return a row a test, under each claim's heading; with `paper` those of one paper."""
    texts = ("paper", "claim", "where", "dataset", "protocol", "simulated", "method", "rival")
    columns = [Column(name, name, shown=False) for name in texts]
    columns += [Column("place", "Data"), Column("against", "Against"), Column("metric", "Effect on")]
    columns += [Column("effect", "Effect", "effect", interval=True), Column("p_adjusted", "p", "p")]
    columns += [Column("verdict", "Verdict")]
    rows = []
    for test in tests if paper is None else of_paper(tests, paper):
        cells = [Cell(str(test[name]) if test[name] is not None else None) for name in texts]
        cells += [Cell(place(test, results)), Cell(results.method_title(test["rival"]) if test["rival"] else None)]
        cells += [Cell(effect_title(test["metric"])), Cell(test["effect"], test["ci_low"], test["ci_high"])]
        cells += [Cell(test["p_adjusted"]), Cell(test["verdict"])]
        title = f"{test['claim']} ({test['where']})"
        rows.append(Row(tuple(cells), group=title if paper else f"{VSE_PAPERS[test['paper']]} paper: {title}"))
    return Table(
        tuple(columns),
        tuple(rows),
        caption="The papers' claims" if paper is None else f"Claims of the {VSE_PAPERS[paper]} paper",
        label="tab:claims",
        notes=(
            "Effect: difference of a metric, ratio of seconds or memory, or exponent of growth, with a 95 % interval. "
            "A claim says that differences are above 0, ratios above 1 and exponents within its bounds.",
            "p: paired bootstrap over images and seeds or paired t-test, Holm-corrected over a paper's claims.",
        ),
        small=True,
    )


def place(test: Test, results: Results) -> str | None:
    """Return where a claim was tested."""
    if test["dataset"]:
        return f"{results.dataset_title(test['dataset'])}, {test['protocol']}"
    return "Simulated, sizes varied" if test["effect"] is not None else None


def effect_title(metric: str | None) -> str | None:
    """Return what an effect is measured on.

    >>> effect_title("rec@10"), effect_title("time ~ pairs"), effect_title("peak memory, ratio")
    ('Rec@10', 'Exponent of pairs', 'Peak memory, ratio')
    """
    if not metric:
        return None
    name, _, cutoff = metric.partition("@")
    if name in METRIC_NAMES:
        return metric_title((name, int(cutoff) if cutoff else None))
    if metric.startswith("trials"):
        return "Trials, last over first tenth"  # of the epochs, a step
    if metric.startswith("time ~ "):
        return "Exponent of " + metric.removeprefix("time ~ ")
    return metric[0].upper() + metric[1:]


def summary_table(tests: list[Test]) -> Table:
    """Return a row a claim: its verdict over all tests, and how many tests ended how."""
    columns = [Column("paper", "Paper", shown=False), Column("claim", "Claim", width=0.34)]
    columns += [Column("verdict", "Verdict", width=0.13), Column("where", "In the paper", width=0.14)]
    titles = ("Holds", "Fails", "Undecided", "Not\ntestable")
    columns += [Column(key, title, "count") for key, title in zip(VERDICTS, titles, strict=True)]
    rows = []
    for claim, found in claims_of(tests):
        counts = Counter(test["verdict"] for test in found)
        texts = [Cell(text) for text in (claim["paper"], claim["claim"], overall(found), claim["where"])]
        numbers = [Cell(counts[verdict]) for verdict in VERDICTS]
        rows.append(Row((*texts, *numbers), group=f"{VSE_PAPERS[claim['paper']]} paper"))
    return Table(
        tuple(columns),
        tuple(rows),
        caption="Verdicts on the papers' claims",
        label="tab:claims-summary",
        notes=(
            "Numbers: the tests of a claim, one for each data set, protocol, rival and metric.",
            "Verdict: that of all tests that could be made here, or mixed where they differ.",
        ),
        small=True,
    )


def overall(tests: list[Test]) -> str:
    """Return the verdict of a claim's tests, of those that could be made."""
    found = {test["verdict"] for test in tests} - {UNTESTABLE}
    return found.pop() if len(found) == 1 else MIXED if found else UNTESTABLE


def counted(tests: list[Test]) -> list[tuple[str, int, list[tuple[str, int]]]]:
    """Return for each paper its title, its number of claims, and the numbers of claims by verdict."""
    found = []
    for paper, title in VSE_PAPERS.items():
        counts = Counter(overall(group) for _, group in claims_of(of_paper(tests, paper)))
        verdicts = [(verdict, counts[verdict]) for verdict in (*VERDICTS[:2], MIXED, *VERDICTS[2:]) if counts[verdict]]
        found.append((title, counts.total(), verdicts))
    return found
