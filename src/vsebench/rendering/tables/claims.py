"""Show the papers' claims: one row per claim with its verdict, or all cases on which the verdicts are based."""

import re

from vsebench.core.tasks import Task
from vsebench.rendering.claims import KINDS, Line, by_kind, claim_lines, paper_title
from vsebench.rendering.kinds import TableKind
from vsebench.rendering.marks import CASES
from vsebench.rendering.metrics import metric_title
from vsebench.rendering.results import Results
from vsebench.rendering.table import Cell, Column, Row, Table

TEXTS = (
    "paper", "claim", "where", "quotation", "level", "dataset", "protocol", "data", "method", "rival", "effect_is",
    "reason", "remark",
)  # fmt: skip
COLUMNS_OF_CASES = (
    *(Column(name, name, shown=False) for name in TEXTS),
    Column("task", "Data", width=0.2),
    Column("against", "Against", width=0.15),
    Column("metric", "Effect on", width=0.13),
    Column("effect", "Effect", "effect", interval=True),
    Column("p_adjusted", "p", "p"),
    Column("verdict", "Verdict"),
)
COLUMNS_OF_SUMMARY = (
    Column("paper", "Paper", shown=False),
    Column("data", "Data", shown=False),
    Column("claim", "Claim", width=0.34),
    Column("verdict", "Verdict", width=0.13),
    Column("where", "In the paper", width=0.14),
    Column("metric", "Effect on", width=0.13),
    Column("against", "Against", width=0.13),
    Column("effect", "Effect", "effect", interval=True),
    Column("n_tasks", "Tasks", "count"),
    Column("n_comparisons", "Comparisons", "count"),
)


class Claims(TableKind):
    """A table of all claims, or of the claims of one paper, with the cases on which their verdicts are based."""

    needs = ("claims", "datasets")
    made_for = "run"
    section = None

    of: str | None = None  # a paper's name

    def table(self, results: Results) -> Table:
        lines = claim_lines(results, self.of)
        caption = "The papers' claims" if self.of is None else f"Claims of the {paper_title(results, self.of)}"
        kinds = list(dict.fromkeys(line["effect_is"] for line in lines if line["effect_is"]))
        effect = f"Effect: {'; '.join(kinds)}. Brackets: 95 % interval, if its width is known."
        notes = (
            effect if kinds else "No claim could be tested.",
            "A line with a verdict shows the mean effect over data sets and protocols. With several rivals or "
            "metrics, the claim must hold for all of them, and the line shows the weakest effect. The lines below show "
            "the individual cases.",
            "p: for the null hypothesis that there is no effect, or that the effect equals the claim's bound. p is "
            "corrected for the number of the paper's judged claims, separately for the paper's own data sets, other "
            "real ones and simulated ones, and separately for measured seconds and memory.",
            "A verdict on simulated data applies only to such data.",
        )
        return Table(COLUMNS_OF_CASES, [self._row(results, line) for line in lines], caption, notes, small=True)

    def _row(self, results: Results, line: Line) -> Row:
        title = f"{line['claim']} ({line['where']})"
        quoted = f'{title}: "{line["quotation"]}"' if line["quotation"] else title
        return Row.of(
            *(line[name] for name in TEXTS),
            where_tested(results, line),
            results.entry_title(line["rival"]) if line["rival"] else None,
            effect_on(line),
            Cell(line["effect"], line["ci_low"], line["ci_high"]),
            line["p_adjusted"],
            line["verdict"],
            group=quoted if self.of else f"{paper_title(results, line['paper'])}: {quoted}",
        )


def where_tested(results: Results, line: Line) -> str:
    """Return a text that states on which data a claim or a case was tested.

    For a case that does not count, the text also says why. For a claim without an effect, it says only why there is
    none.
    """
    if line["level"] == "claim":
        if line["effect"] is None:
            return str(line["reason"])
        if (line["n_tasks"] or 0) > 1:
            return f"Mean over {line['n_tasks']} tasks"
    uncounted = ""
    if line["level"] == "case":
        uncounted = f"; not counted: {line['reason']}" if line["reason"] else ""
        uncounted += f"; {line['remark']}" if line["remark"] and line["remark"] not in uncounted else ""
    if line["dataset"] is None:
        return ("Simulated, sizes varied" if line["data"] == "simulated" else "Computed") + uncounted
    task = results.task_title(Task(line["dataset"], line["protocol"]))
    return (f"{task} (the paper's data)" if line["data"] == "paper" else task) + uncounted


def effect_on(line: Line) -> str | None:
    """Return the metric and the kind of an effect, such as "MAP, difference", or None if there is no metric.

    The kind is the beginning of `effect_is`. For example, it is "difference" for "difference of a metric (claimed:
    above 0)". The kind is left out if the title of the metric makes it clear.
    """
    if not line["metric"]:
        return None
    title, kind = metric_title(line["metric"]), re.split(" of | over | by |,| \\(", line["effect_is"])[0]
    return title if kind in title.lower() or title.endswith("ratio") else f"{title}, {kind}"


class ClaimsSummary(TableKind):
    """A table of the verdicts on claims for each kind of data; claims that are not testable come last."""

    needs = ("claims",)
    made_for = "run"
    section = None

    def table(self, results: Results) -> Table:
        rows = []
        for kind, line in by_kind(claim_lines(results)):
            paper = line["paper"]
            row = Row.of(
                paper,
                kind,
                line["claim"],
                line["verdict"],
                line["where"],
                effect_on(line),
                results.entry_title(line["rival"]) if line["rival"] else None,
                Cell(line["effect"], line["ci_low"], line["ci_high"], marks=CASES if line["remark"] else ""),
                line["n_tasks"],
                line["n_comparisons"],
                group=f"{paper_title(results, paper)}, {KINDS[kind]}",
            )
            rows.append(row)
        notes = (
            "Effect: the mean over the tasks (data sets under a protocol), with its 95 % interval, if its "
            "width is known. A claim must hold in all comparisons (rivals and metrics); the effect is that of the "
            "weakest comparison. A difference is the method's value minus the rival's; a ratio above 1 supports the "
            "claim.",
            "Undecided: p is at least 0.05 after a correction for all comparisons and claims. The interval is not "
            "corrected, so it can lie on one side of the claim's bound.",
            "A verdict on other real data shows whether the claim generalises. A verdict on simulated data says "
            "nothing about real data, unless the claim is about cost (time or memory).",
        )
        return Table(COLUMNS_OF_SUMMARY, rows, "Verdicts on the papers' claims", notes, small=True)
