"""The tables of the claims: every test is there, and a claim's verdict is that of its tests."""

import pytest

from tests.rendering.conftest import table_kind
from vsebench.papers.claims.growth import Growth
from vsebench.papers.verdict import UNTESTABLE, VERDICTS
from vsebench.rendering.claims import MIXED, claim_tests, count_claims, overall
from vsebench.rendering.results import Results


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        (["holds", "holds"], "holds"),
        (["holds", UNTESTABLE], "holds"),
        (["fails"], "fails"),
        (["holds", "fails"], MIXED),
        (["holds", "undecided"], MIXED),
        (["undecided"], "undecided"),
        ([UNTESTABLE, UNTESTABLE], UNTESTABLE),
    ],
)
def test_a_claim_holds_where_every_test_that_could_be_made_holds(verdicts: list[str], expected: str) -> None:
    assert overall([{"verdict": verdict} for verdict in verdicts]) == expected


def test_every_test_has_a_row_and_every_claim_one_in_the_summary(results: Results) -> None:
    tests = claim_tests(results)
    assert len(table_kind(results, "claims").table(results).rows) == len(tests)
    summary = table_kind(results, "claims-summary").table(results)
    claims = {(test["paper"], test["claim"]) for test in tests}
    assert len(summary.rows) == len(claims)
    numbers = [cell.value for row in summary.rows for cell in row.cells[-len(VERDICTS) :]]
    assert sum(value for value in numbers if isinstance(value, int)) == len(tests)
    assert sum(number for _, number, _ in count_claims(results)) == len(claims)
    for _, number, verdicts in count_claims(results):
        assert sum(count for _, count in verdicts) == number


def test_no_accuracy_on_simulated_data_is_judged(results: Results) -> None:
    judged = [test for test in claim_tests(results) if test["simulated"] and test["verdict"] != UNTESTABLE]
    assert judged
    assert {test["effect_is"] for test in judged} == {Growth.effect}
