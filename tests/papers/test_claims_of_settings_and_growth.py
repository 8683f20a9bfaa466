"""Tests of claims about the values of a setting, and about how a time grows with a size."""

import polars as pl
import pytest
from pydantic import ValidationError

from tests.builders import frame
from tests.papers.planted import SEEDS, ranks
from vsebench.core import schemas
from vsebench.papers.claim import ClaimCase
from vsebench.papers.claims.growth import CostFormula, Growth
from vsebench.papers.claims.setting import best_value
from vsebench.papers.evidence import Effect, Evidence, UntestableError


def test_the_best_value_is_chosen_on_validation_among_those_that_no_seed_diverged_with():
    sweep = pl.DataFrame({"value": [0.0, 0.0, 0.5, 0.5, 1.0], "validation": [0.3, 0.3, 0.2, 0.5, 0.9]})
    assert best_value(sweep, [0.0, 1.0], 2) == 0.5
    with pytest.raises(UntestableError, match=r"No value of the setting from 0\.9 to 1 has"):
        best_value(sweep, [0.9, 1.0], 2)


@pytest.mark.parametrize(
    ("low", "high", "expected"), [(0.9, 1.1, "holds"), (1.3, 1.4, "fails"), (1.1, 1.3, "undecided"), (0, 0.7, "fails")]
)
def test_growth_is_judged_by_its_interval(low, high, expected):
    growth = Growth(method="good", variable="pairs", between=[0.8, 1.2])
    assert growth.verdict(Effect(1.0, low, high, None, 0.0), None) == expected


@pytest.mark.parametrize(("high", "expected"), [(0.8, "holds"), (1.0, "holds"), (1.2, "undecided")])
def test_a_claimed_upper_bound_is_no_lower_one(high, expected):
    growth = Growth(method="good", variable="factors", at_most=1.0)
    assert growth.verdict(Effect(0.75, 0.7, high, None, 0.0), None) == expected


def test_a_growth_claim_has_one_kind_of_bound():
    for bounds in ({}, {"at_most": 1.0, "between": [0.8, 1.2]}):
        with pytest.raises(ValidationError, match="give either `between` or `at_most`"):
            Growth(method="good", variable="pairs", **bounds)


@pytest.mark.parametrize(("power", "expected"), [(2, "holds"), (3, "fails")])
def test_a_cost_formula_holds_where_it_describes_the_times(power, expected):
    """Seconds of factors^power + 3 pairs, held against factors^2 + pairs."""
    scaling = [
        {"method": "good", "variable": "pairs", "size": pairs, "repeat": repeat, "pairs": pairs, "factors": factors}
        | {"seconds": (factors**power + 3.0 * pairs) * (1 + 0.01 * repeat)}
        for pairs in (100, 1000, 10000)
        for factors in (8, 32, 128, 512)
        for repeat in range(1, 6)
    ]
    nothing = frame([], schemas.TIMING)
    evidence = Evidence([], SEEDS, 100, nothing, nothing, None, frame(scaling, schemas.SCALING), ranks, ranks)
    test = CostFormula(method="good", terms=[{"factors": 2}, {"pairs": 1}], within=0.2)
    (case,) = test.cases(evidence)
    assert test.verdict(test.test(evidence, case), None) == expected
    with pytest.raises(UntestableError, match="How the time of bad grows was not measured"):
        CostFormula(method="bad", terms=[{"pairs": 1}], within=0.2).test(evidence, case)


def test_growth_is_read_off_the_measurement():
    scaling = [
        {"method": "good", "variable": "pairs", "size": size, "repeat": repeat, "seconds": size * 1e-6}
        for size in (10, 20, 40)
        for repeat in range(1, 6)
    ]
    nothing = frame([], schemas.TIMING)
    evidence = Evidence([], SEEDS, 100, nothing, nothing, None, frame(scaling, schemas.SCALING), ranks, ranks)
    growth = Growth(method="good", variable="pairs", between=[0.8, 1.2])
    assert list(growth.cases(evidence)) == [ClaimCase("exponent of pairs", data="simulated")]
    assert growth.test(evidence, ClaimCase("exponent of pairs")).value == pytest.approx(1.0)
    with pytest.raises(UntestableError, match="How the time of good grows with the number of labels was not measured"):
        Growth(method="good", variable="labels", between=[0.8, 1.2]).test(evidence, ClaimCase("exponent of labels"))
