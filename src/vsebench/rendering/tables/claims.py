"""The papers' claims: one row per test, under each claim's heading."""

from vsebench.core.tasks import Task
from vsebench.rendering.claims import Test, claim_tests, paper_title
from vsebench.rendering.kinds import TableKind
from vsebench.rendering.metrics import metric_title
from vsebench.rendering.results import Results
from vsebench.rendering.table import Cell, Column, Row, Table

TEXTS = ("paper", "claim", "where", "dataset", "protocol", "data", "method", "rival", "effect_is", "reason")
COLUMNS = (
    *(Column(name, name, shown=False) for name in TEXTS),
    Column("task", "Data", width=0.2),
    Column("against", "Against", width=0.15),
    Column("metric", "Effect on", width=0.13),
    Column("effect", "Effect", "effect", interval=True),
    Column("p_adjusted", "p", "p"),
    Column("verdict", "Verdict"),
)


class Claims(TableKind):
    """All tests, or those of one paper."""

    needs = ("claims", "datasets")
    made_for = "run"
    section = None

    of: str | None = None  # a paper's name

    def table(self, results: Results) -> Table:
        tests = claim_tests(results, self.of)
        caption = "The papers' claims" if self.of is None else f"Claims of the {paper_title(results, self.of)}"
        kinds = list(dict.fromkeys(test["effect_is"] for test in tests if test["effect_is"]))
        notes = (
            f"Effect: {'; '.join(kinds)}. Brackets: 95 % interval." if kinds else "No claim could be tested.",
            "p: for the null hypothesis of no effect, or of the claim's bound. It is corrected for the number of "
            "judged tests of the paper, separately on the paper's own, other real and simulated data sets.",
            "A verdict on simulated data holds for such data only.",
        )
        return Table(COLUMNS, [self._row(results, test) for test in tests], caption, notes, small=True)

    def _row(self, results: Results, test: Test) -> Row:
        title = f"{test['claim']} ({test['where']})"
        return Row.of(
            *(test[name] for name in TEXTS),
            where_tested(results, test),
            results.entry_title(test["rival"]) if test["rival"] else None,
            metric_title(test["metric"]) if test["metric"] else None,
            Cell(test["effect"], test["ci_low"], test["ci_high"]),
            test["p_adjusted"],
            test["verdict"],
            group=title if self.of else f"{paper_title(results, test['paper'])}: {title}",
        )


def where_tested(results: Results, test: Test) -> str:
    """Return the data on which a claim was tested, or the reason why it was not tested."""
    if test["effect"] is None:
        return str(test["reason"])
    if test["dataset"] is None:
        return "Simulated, sizes varied" if test["data"] == "simulated" else "Computed"
    task = results.task_title(Task(test["dataset"], test["protocol"]))
    return f"{task} (the paper's data)" if test["data"] == "paper" else task
