"""Test the claims of the papers on the results of a run, and judge them.

A claim is tested on the paper's own data sets and on other data sets (`verdict.Data`). p-values are corrected for
multiple tests over the claims of one paper, separately for each kind of data. Simulated data provides no evidence on
accuracy and speed on a paper's data: the effect is shown, but the verdict is "not testable here", unless the claim has
`judge_simulated`; then the reason states that the data is simulated.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl
from pydantic import Field

from vsebench.core.errors import UserError
from vsebench.core.modules import modules_that_define
from vsebench.core.schemas import CLAIMS
from vsebench.core.yaml_files import Strict, check
from vsebench.evaluation.metrics.base import module_of_metric
from vsebench.papers.base import Paper
from vsebench.papers.claim import ClaimCase, ClaimTest
from vsebench.papers.evidence import Effect, Evidence, StoppedError, UntestableError, adjust
from vsebench.papers.verdict import DATA, UNTESTABLE, Data

ON_SIMULATED = "Simulated data provides no evidence on the paper's data."
JUDGED = "The data is simulated; the verdict holds for such data only."


class ClaimText(Strict):
    """The keys that every claim has; all other keys are parameters of its test."""

    claim: str  # the claim in one sentence
    where: str  # position in the paper
    test: str = Field(pattern="^[a-z][a-z0-9_]*$")  # the name of a test in vsebench.papers.claims


@dataclass(frozen=True)
class Claim:
    """A claim of a paper with its test."""

    text: ClaimText
    test: ClaimTest


@dataclass(frozen=True)
class Tested:
    """A claim with its effect in one case, or with the reason why no effect could be measured."""

    claim: Claim
    case: ClaimCase | None
    effect: Effect | None
    reason: str | None


def read_claims(paper: Paper) -> list[Claim]:
    """Validate the claims of a paper; a wrong key raises a `UserError` with file, number of the claim and key."""
    claims = []
    for n, values in enumerate(paper.claims, start=1):
        where = f"{paper.path}: claim {n}"
        common = {key: value for key, value in values.items() if key in ClaimText.model_fields}
        text = check(ClaimText, common, where)
        test = load_test(text.test, where)
        defaults = {key: value for key, value in paper.claim_defaults.items() if key in test.model_fields}
        parameters = {key: value for key, value in values.items() if key not in common}
        claims.append(Claim(text, check(test, defaults | parameters, where)))
    return claims


def load_test(name: str, where: str) -> type[ClaimTest]:
    """Return the test with this name; an unknown name raises a `UserError` that lists the known names."""
    modules = modules_that_define("TESTS", "papers/claims")
    if name not in modules:
        raise UserError(f"{where}: test: there is no test {name!r}; there are {', '.join(modules)}")
    test: type[ClaimTest] = modules[name].TESTS[name]
    return test


def claim_modules(papers: Sequence[Paper]) -> list[str]:
    """Return the modules of the tests and metrics of the papers' claims: the inputs of the rule of the claims."""
    claims = [claim for paper in papers for claim in read_claims(paper)]
    modules = modules_that_define("TESTS", "papers/claims")
    tests = {modules[claim.text.test].__name__ for claim in claims}
    metrics = {module_of_metric(metric) for claim in claims for metric in claim.test.metrics_read()}
    return [*sorted(tests), *sorted(metrics)]


def claims_read(papers: Sequence[Paper]) -> set[str]:
    """Return the optional inputs of the papers' claims (`ClaimTest.reads`)."""
    return {name for paper in papers for claim in read_claims(paper) for name in claim.test.reads}


def verdicts(paper: Paper, evidence: Evidence) -> pl.DataFrame:
    """Test and judge the claims of a paper; return the table CLAIMS of `core.schemas`.

    The rows of a claim are sorted by the kind of data, the paper's own data sets (those in its `tasks`) first.
    """
    seen = evidence.seen_by(paper.datasets)
    tested = [row for claim in read_claims(paper) for row in sorted(examine(claim, seen), key=_order)]
    adjusted: dict[str, float] = {}
    for data in {_data(row) for row in tested}:
        adjusted |= adjust(
            {
                str(n): row.effect.p
                for n, row in enumerate(tested)
                if _data(row) == data and row.effect is not None and row.effect.p is not None and not _no_evidence(row)
            }
        )
    rows = [{"paper": paper.name} | _row(row, adjusted.get(str(n))) for n, row in enumerate(tested)]
    return pl.DataFrame(rows, schema=CLAIMS)


def examine(claim: Claim, evidence: Evidence) -> list[Tested]:
    """Test a claim in every possible case; without any such case, return a single entry with the first reason."""
    rows, reasons = [], []
    try:
        for case in claim.test.cases(evidence):
            try:
                rows.append(Tested(claim, case, claim.test.test(evidence, case), None))
            except StoppedError as reason:
                rows.append(Tested(claim, case, None, str(reason)))
            except UntestableError as reason:
                reasons.append(str(reason))
    except UntestableError as reason:
        reasons.append(str(reason))
    return rows or [Tested(claim, None, None, reasons[0])]


def _data(row: Tested) -> Data | None:
    return None if row.case is None else row.case.data


def _order(row: Tested) -> int:
    data = _data(row)
    return len(DATA) if data is None else DATA.index(data)


def _no_evidence(row: Tested) -> bool:
    """Return whether the case's data provides no evidence on the paper's data."""
    test = row.claim.test
    return _data(row) == "simulated" and not (test.on_simulated or test.judge_simulated)


def _row(row: Tested, p: float | None) -> dict[str, Any]:
    text, test = row.claim.text, row.claim.test
    columns: dict[str, Any] = {"claim": text.claim, "where": text.where, "method": test.method}
    untested = {"verdict": UNTESTABLE, "reason": row.reason}
    if row.case is None:
        return columns | untested
    case, effect = row.case, row.effect
    columns |= {"dataset": case.task.dataset or None, "protocol": case.task.protocol or None}
    columns |= {"data": case.data, "rival": case.rival or None, "metric": case.measured}
    if effect is None:
        return columns | untested
    columns |= {
        "effect_is": test.effect,
        "effect": effect.value,
        "ci_low": effect.low,
        "ci_high": effect.high,
        "p_adjusted": p,
    }
    if _no_evidence(row):
        return columns | {"verdict": UNTESTABLE, "reason": ON_SIMULATED}
    judged = JUDGED if case.data == "simulated" and case.task.dataset else None
    return columns | {"verdict": test.verdict(effect, p), "reason": judged}
