"""Test the claims of the papers on the results of a run, and judge them.

A claim is measured in cases: on each task, against each rival and in each metric. For each kind of data
(`verdict.Data`), a claim gets one verdict, from the mean effects over the tasks. It must hold in each comparison (a
rival and a metric), so the weakest comparison decides. The p-values of a paper's claims are corrected for multiple
testing, separately for each kind of data. Claims about measured seconds and memory are corrected separately from other
claims, because these measurements differ from run to run. Thus all other verdicts depend only on the models.

A case that provides no evidence for or against the claim (`ClaimTest.obstacle`) is shown, but does not count.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, isfinite, isnan
from typing import Any

import polars as pl
from pydantic import Field

from vsebench.core.errors import UserError
from vsebench.core.modules import classes_by_name
from vsebench.core.schemas import CLAIMS
from vsebench.core.yaml_files import Strict, check
from vsebench.evaluation.metrics.base import module_of_metric
from vsebench.evaluation.significance import adjust
from vsebench.papers.base import Paper
from vsebench.papers.claim import ClaimCase, ClaimTest
from vsebench.papers.evidence import Effect, Evidence, Measurement, UntestableError, pool
from vsebench.papers.judging import Decided, decide
from vsebench.papers.verdict import DATA, UNTESTABLE, Data

JUDGED = "The data are simulated; the verdict applies only to such data."


class ClaimText(Strict):
    """The keys that every claim has or may have; all other keys of a claim are parameters of its test."""

    claim: str  # the claim in one sentence
    where: str  # position in the paper
    quotation: str | None = None  # the paper's sentence
    no_verdict: str | None = None  # if given, the reason why effects are shown without a verdict
    test: str = Field(pattern="^[a-z][a-z0-9_]*$")  # the name of a test in vsebench.papers.claims


@dataclass(frozen=True)
class Claim:
    """A claim of a paper, and its test."""

    text: ClaimText
    test: ClaimTest


@dataclass(frozen=True)
class Tested:
    """The measurement of a claim in one case.

    `obstacle` is the reason why the case does not count for the verdict; None if it counts. `remark` is about the fits.
    """

    case: ClaimCase
    measurement: Measurement
    obstacle: str | None
    remark: str | None


@dataclass(frozen=True)
class Judged:
    """A claim and its cases on one kind of data, with the effect that decides if any case counts."""

    claim: Claim
    data: Data | None
    cases: list[Tested]
    decided: Decided | None
    reason: str | None  # why there is no verdict; None: there is one

    @property
    def family(self) -> tuple[Data | None, bool]:
        """The kind of data, and whether the claim is about a measured cost.

        The p-values of all claims with the same family are corrected together.
        """
        return self.data, self.claim.test.is_measured_cost()


def read_claims(paper: Paper) -> list[Claim]:
    """Validate and return the claims of a paper.

    Raise a `UserError` if a key is wrong, or if two claims make the same test. The message names the file, the number
    of the claim and, if a key is wrong, the key.
    """
    claims = []
    for n, values in enumerate(paper.claims, start=1):
        where = f"{paper.path}: claim {n}"
        common = {key: value for key, value in values.items() if key in ClaimText.model_fields}
        text = check(ClaimText, common, where)
        test = load_test(text.test, where)
        defaults = {key: value for key, value in paper.claim_defaults.items() if key in test.model_fields}
        parameters = {key: value for key, value in values.items() if key not in common}
        claims.append(Claim(text, check(test, defaults | parameters, where)))
        for number, earlier in enumerate(claims[:-1], start=1):
            if earlier.test.repeats(claims[-1].test):
                raise UserError(f"{where}: makes the same test as claim {number}; remove one of the two")
    return claims


def load_test(name: str, where: str) -> type[ClaimTest]:
    """Return the test with this name; an unknown name raises a `UserError` that lists the known names."""
    tests = known_tests()
    if name not in tests:
        raise UserError(f"{where}: test: there is no test {name!r}; the tests are {', '.join(tests)}")
    return tests[name]


def known_tests() -> Mapping[str, type[ClaimTest]]:
    """Return the tests of claims, keyed and sorted by name."""
    return classes_by_name(ClaimTest, "papers/claims")


def claim_modules(papers: Sequence[Paper]) -> list[str]:
    """Return the modules that define the tests and metrics of the papers' claims, for the rule `test_claims`."""
    claims = [claim for paper in papers for claim in read_claims(paper)]
    tests = {type(claim.test).__module__ for claim in claims}
    metrics = {module_of_metric(metric) for claim in claims for metric in claim.test.metrics_read()}
    return [*sorted(tests), *sorted(metrics)]


def claims_read(papers: Sequence[Paper]) -> set[str]:
    """Return the optional inputs that the tests of the papers' claims need (`ClaimTest.reads`)."""
    return {name for paper in papers for claim in read_claims(paper) for name in claim.test.reads}


def verdicts(paper: Paper, evidence: Evidence) -> pl.DataFrame:
    """Test and judge the claims of a paper; return the table CLAIMS of `core.schemas`.

    For each claim and kind of data, there is a line with the verdict, followed by a line for each case. The paper's
    own data sets (listed in its `tasks`) come before other data.
    """
    seen = evidence.seen_by(paper.datasets)
    judged = [each for claim in read_claims(paper) for each in judge(claim, seen)]
    adjusted: dict[str, float] = {}
    for family in {each.family for each in judged}:
        of_family = {str(n): each.decided for n, each in enumerate(judged) if each.family == family}
        adjusted |= adjust(
            {n: decided.effect.p for n, decided in of_family.items() if decided and decided.effect.p is not None}
        )
    lines = [line for n, each in enumerate(judged) for line in lines_of(each, adjusted.get(str(n)))]
    return pl.DataFrame([{"paper": paper.name} | line for line in lines], schema=CLAIMS)


def judge(claim: Claim, evidence: Evidence) -> list[Judged]:
    """Test a claim in every possible case and combine the cases on each kind of data.

    If no case is possible, the result has one entry, which states the first reason.
    """
    cases, reasons = examine(claim, evidence)
    if not cases:
        return [Judged(claim, None, [], None, reasons[0])]
    kinds: list[Data | None] = [data for data in (*DATA, None) if any(each.case.data == data for each in cases)]
    judged = []
    for data in kinds:
        of_kind = [each for each in cases if each.case.data == data]
        counted = [each for each in of_kind if each.obstacle is None]
        decided = decide(claim.test, comparisons(counted, evidence)) if counted else None
        judged.append(Judged(claim, data, of_kind, decided, None if counted else of_kind[0].obstacle))
    return judged


def examine(claim: Claim, evidence: Evidence) -> tuple[list[Tested], list[str]]:
    """Measure a claim in every possible case; return the cases, and the reasons why other cases are impossible."""
    cases, reasons = [], []
    try:
        for case in claim.test.cases(evidence):
            try:
                measurement = claim.test.measure(evidence, case)
                obstacle = claim.text.no_verdict or claim.test.obstacle(evidence, case)
                cases.append(Tested(case, measurement, obstacle, claim.test.remark(evidence, case)))
            except UntestableError as reason:
                reasons.append(str(reason))
    except UntestableError as reason:
        reasons.append(str(reason))
    return cases, reasons


def comparisons(cases: Sequence[Tested], evidence: Evidence) -> dict[tuple[str, str], Measurement]:
    """Return the mean effect over the tasks for each pair of a rival and a measured quantity."""
    parts: dict[tuple[str, str], list[Tested]] = {}
    for each in cases:
        parts.setdefault((each.case.rival, each.case.measured), []).append(each)
    together: dict[tuple[str, str], Measurement] = {}
    for key, tested in parts.items():
        corpora = evidence.corpora([each.case.task for each in tested])
        together[key] = pool([(corpus, each.measurement) for corpus, each in zip(corpora, tested, strict=True)])
    return together


def lines_of(judged: Judged, p: float | None) -> list[dict[str, Any]]:
    """Return the table rows of a claim on one kind of data: first its verdict, then its cases."""
    text, test = judged.claim.text, judged.claim.test
    shared: dict[str, Any] = {"claim": text.claim, "where": text.where, "quotation": text.quotation}
    shared |= {"data": judged.data, "method": test.method}
    line = shared | {"level": "claim"}
    of_data = {each.case.task for each in judged.cases if judged.decided is None or each.obstacle is None}
    if len(of_data) == 1 and (only := of_data.pop()).dataset:
        line |= {"dataset": only.dataset, "protocol": only.protocol}
    if judged.decided is None:
        line |= {"verdict": UNTESTABLE, "reason": judged.reason}
    else:
        rival, measured = judged.decided.weakest
        counted = [each for each in judged.cases if each.obstacle is None]
        of_weakest = [each for each in counted if (each.case.rival, each.case.measured) == (rival, measured)]
        tasks = {each.case.task for each in of_weakest if each.case.task.dataset}
        line |= {
            "n_tasks": len(tasks) or None,
            "n_comparisons": len({(each.case.rival, each.case.measured) for each in counted}),
        }
        line |= measured_row(rival, measured, test, judged.decided.effect)
        judged_on = JUDGED if judged.data == "simulated" and tasks else None
        limited = sum(each.remark is not None for each in counted)
        remark = f"In {limited} of {len(counted)} cases, a fit ended at a limit, or a setting is at the edge of a grid."
        line |= {
            "p_adjusted": p,
            "verdict": judged.decided.verdict(p),
            "reason": judged_on,
            "remark": remark if limited else None,
        }
    return [line, *(shared | {"level": "case"} | _case(each, test) for each in judged.cases)]


def _case(tested: Tested, test: ClaimTest) -> dict[str, Any]:
    case = tested.case
    keys = {"dataset": case.task.dataset or None, "protocol": case.task.protocol or None, "reason": tested.obstacle}
    keys["remark"] = tested.remark
    return keys | measured_row(case.rival, case.measured, test, tested.measurement.effect())


def measured_row(rival: str, measured: str, test: ClaimTest, effect: Effect) -> dict[str, Any]:
    """Return the columns of claims.csv that state an effect.

    No interval extends beyond the possible effects. An infinite interval, whose width is not known, is left out.
    """
    columns = {"rival": rival or None, "metric": measured, "effect_is": test.effect_in_words()}
    is_known = isfinite(effect.low) and isfinite(effect.high)
    least, largest = test.possible(measured)
    ends = (max(effect.low, least), min(effect.high, largest)) if is_known else (None, None)
    bounds = dict(zip(("bound_low", "bound_high"), test.bounds() or (effect.neutral, inf), strict=True))
    return (
        columns
        | {"effect": None if isnan(effect.value) else effect.value, "ci_low": ends[0], "ci_high": ends[1]}
        | {name: bound if isfinite(bound) else None for name, bound in bounds.items()}
    )
