"""The tables of the claims: every test is there, and a claim's verdict is that of its tests."""

import json
from pathlib import Path
from typing import get_args

import pytest

from vsebench.core.errors import UserError
from vsebench.rendering.claims import (
    MIXED,
    UNTESTABLE,
    VERDICTS,
    claims_table,
    counted,
    overall,
    read_claims,
    summary_table,
)
from vsebench.rendering.results import Results
from vsebench.stages.claims import Verdict


def test_the_verdicts_are_those_of_the_stage() -> None:
    assert get_args(Verdict) == VERDICTS


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


def test_every_test_has_a_row_and_every_claim_one_in_the_summary(results_folder: Path, titles: str) -> None:
    tests = read_claims(results_folder / "claims.csv")
    results = Results(results_folder, json.loads(titles))
    table = claims_table(tests, results)
    assert len(table.rows) == len(tests)
    assert sum(len(claims_table(tests, results, paper).rows) for paper in ("vse_ens", "vse_fs")) == len(tests)
    summary = summary_table(tests)
    claims = {(test["paper"], test["claim"]) for test in tests}
    assert len(summary.rows) == len(claims)
    numbers = [cell.value for row in summary.rows for cell in row.cells[-len(VERDICTS) :]]
    assert sum(value for value in numbers if isinstance(value, int)) == len(tests)
    assert sum(number for _, number, _ in counted(tests)) == len(claims)
    for _, number, verdicts in counted(tests):
        assert sum(count for _, count in verdicts) == number


def test_no_accuracy_on_simulated_data_is_judged(results_folder: Path) -> None:
    tests = read_claims(results_folder / "claims.csv")
    judged = [test for test in tests if test["simulated"] and test["verdict"] != UNTESTABLE]
    assert all(test["metric"].startswith("time ~") for test in judged)


def test_an_unreadable_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"claims\.csv: no such file"):
        read_claims(tmp_path / "claims.csv")
    (tmp_path / "claims.csv").write_text("a,b\n1,2\n")
    with pytest.raises(UserError, match="not a readable list of claims"):
        read_claims(tmp_path / "claims.csv")
