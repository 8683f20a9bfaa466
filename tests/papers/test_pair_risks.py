"""The minimisers of losses over pairs of labels, beside a general minimiser of risks that loops over pairs."""

from itertools import product
from math import exp, log, log1p

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from scipy.optimize import minimize

from vsebench.papers.claims.minimiser import Minimiser
from vsebench.papers.pair_risks import (
    all_sets,
    derivatives,
    distance_from_formula,
    draw,
    has_minimiser,
    independent,
    marginals,
    minimisers,
    violates_order,
)

LOSSES = ["log_sum_exp", "exponential", "bp_mll"]


def chances_of(labels, sets):
    """Return one distribution, (1, 2^labels), from label sets and their chances."""
    chances = np.zeros((1, 2**labels))
    for members, chance in sets:
        chances[0, sum(2**label for label in members)] = chance
    return chances


def risk(scores, chances, loss):
    """Return the risk of one distribution, pair by pair."""
    total = 0.0
    for number, chance in enumerate(chances):
        there = [k for k in range(len(scores)) if number >> k & 1]
        pairs = list(product(there, set(range(len(scores))) - set(there)))
        gaps = [scores[v] - scores[u] for u, v in pairs]
        if loss == "log_sum_exp":
            total += chance * log1p(sum(map(exp, gaps)))
        elif loss == "exponential":
            total += chance * sum(exp(gap / 2) for gap in gaps)
        elif pairs:
            total += chance * sum(map(exp, gaps)) / len(pairs)
    return total


def general(chances, loss):
    """Return the minimiser that SciPy finds without derivatives of ours."""
    labels = len(chances).bit_length() - 1
    found = minimize(risk, np.zeros(labels), (chances, loss), method="BFGS", options={"gtol": 1e-7}).x
    return found - found.mean()


def centred(values):
    return np.subtract(values, np.mean(values))


ONE_LABEL = chances_of(4, [({0}, 0.5), ({1}, 0.3), ({2}, 0.15), ({3}, 0.05)])
INDEPENDENT = independent(np.array([[0.6, 0.3, 0.2, 0.05]]))
DEPENDENT = chances_of(4, [({0, 1, 2}, 0.4), ({1}, 0.3), ({2, 3}, 0.2), ({0, 1}, 0.1)])
THREE = chances_of(3, [({0, 2}, 0.7), ({1, 2}, 0.1), ({0}, 0.2)])


@pytest.mark.parametrize(
    ("chances", "loss", "scores"),
    [
        (ONE_LABEL, "log_sum_exp", centred(np.log([0.5, 0.3, 0.15, 0.05]))),
        (INDEPENDENT, "log_sum_exp", [1.5648, 0.3255, -0.2033, -1.6869]),
        (INDEPENDENT, "exponential", centred([log(p / (1 - p)) for p in (0.6, 0.3, 0.2, 0.05)])),
        (DEPENDENT, "log_sum_exp", centred([0.1229, 1.3136, 0.0136, -1.4501])),
        (THREE, "exponential", [0.7868, -1.9147, 1.1280]),
    ],
    ids=["one label", "independent", "independent, exponential", "dependent", "three labels, exponential"],
)
def test_minimisers_of_worked_cases(chances, loss, scores):
    assert minimisers(chances, loss)[0] == pytest.approx(scores, abs=1e-3)
    assert general(chances[0], loss) == pytest.approx(scores, abs=1e-3)


def test_a_less_probable_label_can_score_above_a_more_probable_one():
    assert marginals(DEPENDENT)[0] == pytest.approx([0.5, 0.8, 0.6, 0.2])
    assert violates_order(minimisers(DEPENDENT, "log_sum_exp"), DEPENDENT).tolist() == [True]
    assert marginals(THREE)[0] == pytest.approx([0.9, 0.1, 0.8])
    for loss, violated in zip(LOSSES, [False, True, True], strict=True):
        assert violates_order(minimisers(THREE, loss), THREE).tolist() == [violated]


def test_two_labels_differ_by_the_odds_of_one_without_the_other():
    chances = chances_of(2, [({0}, 0.3), ({1}, 0.1), ({0, 1}, 0.4), (set(), 0.2)])
    first, second = minimisers(chances, "log_sum_exp")[0]
    assert first - second == pytest.approx(log(0.3 / 0.1))  # not log(0.7 / 0.5)


def test_the_formula_holds_for_one_label_an_image_only():
    assert distance_from_formula(minimisers(ONE_LABEL, "log_sum_exp"), ONE_LABEL).max() < 1e-6
    found = minimisers(INDEPENDENT, "log_sum_exp")
    # Label 0 is the furthest: 1.5648 in place of 1.0692.
    assert distance_from_formula(found, INDEPENDENT) == pytest.approx([1.5648 - 1.0692], abs=1e-3)


@pytest.mark.parametrize("loss", LOSSES)
@settings(max_examples=10)
@given(number=st.integers(0, 10**6), labels=st.integers(2, 4))
def test_a_general_minimiser_finds_the_same(loss, number, labels):
    chances = np.random.default_rng(number).dirichlet(np.ones(2**labels), 1)
    assert minimisers(chances, loss)[0] == pytest.approx(general(chances[0], loss), abs=1e-3)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_gradient_is_that_of_the_risk(loss):
    rng = np.random.default_rng(3)
    chances, scores = rng.dirichlet(np.ones(16), 1), rng.normal(size=4)
    scale = 2 if loss == "exponential" else 1  # `derivatives` takes the halved scores
    nudges = 1e-5 * np.eye(4)
    slopes = [(risk(scale * (scores + n), chances[0], loss) - risk(scale * (scores - n), chances[0], loss)) / 2e-5
              for n in nudges]  # fmt: skip
    assert derivatives(scores[None], chances, loss)[0][0] == pytest.approx(slopes, abs=1e-7)


def test_a_constant_added_to_the_scores_changes_no_derivative():
    chances, scores = np.full((1, 8), 0.125), np.array([[1.0, -2.0, 0.5]])
    for one, other in zip(
        derivatives(scores, chances, "bp_mll"), derivatives(scores + 7, chances, "bp_mll"), strict=True
    ):
        assert one == pytest.approx(other)


@pytest.mark.parametrize(
    ("sets", "exists"),
    [
        ([({0}, 0.5), ({1}, 0.25), ({2}, 0.25)], True),
        ([({0}, 0.5), ({0, 1}, 0.25), ({1, 2}, 0.25)], True),  # 2 is never without 1, but 1 without 0, and 0 without 2
        ([({0}, 0.5), ({0, 1}, 0.25), ({0, 2}, 0.25)], False),  # nothing is without 0
        ([({0, 1, 2}, 1.0)], False),
    ],
)
def test_a_minimiser_exists_where_each_label_can_do_without_the_others(sets, exists):
    assert has_minimiser(chances_of(3, sets)[0]) == exists


@pytest.mark.parametrize("sets", ["any", "independent", "one_label"])
def test_drawn_distributions_are_of_their_kind(sets):
    chances = draw(sets, 3, 50, np.random.default_rng(2))
    assert chances.sum(axis=1) == pytest.approx(np.ones(50))
    single = all_sets(3).sum(axis=1) == 1
    assert (chances[:, ~single] == 0).all() == (sets == "one_label")
    product_of_marginals = independent(marginals(chances))
    assert np.allclose(chances, product_of_marginals) == (sets == "independent")


# The shares of 1,000 other draws (another generator): 0.105; 0.108 and 0.199. Within four standard errors.
@pytest.mark.parametrize(
    ("loss", "labels", "share"),
    [("log_sum_exp", 3, 0.0), ("log_sum_exp", 4, 0.105), ("exponential", 3, 0.108), ("exponential", 4, 0.199)],
)
def test_how_often_dependent_labels_violate_the_order(loss, labels, share):
    chances = draw("any", labels, 1000, np.random.default_rng(1))
    found = violates_order(minimisers(chances, loss), chances).mean()
    assert abs(found - share) <= 4 * (2 * share * (1 - share) / 1000) ** 0.5


def claim(**changed):
    keys = {"method": "m", "loss": "log_sum_exp", "sets": "any", "says": "order", "labels": [3, 4], "draws": 200}
    return Minimiser.model_validate(keys | changed)


@pytest.mark.parametrize(
    ("changed", "verdicts"),
    [
        ({}, ["holds", "fails"]),
        ({"sets": "independent"}, ["holds", "holds"]),
        ({"sets": "one_label", "says": "formula"}, ["holds", "holds"]),
        ({"sets": "independent", "says": "formula"}, ["fails", "fails"]),
        ({"loss": "exponential"}, ["fails", "fails"]),
    ],
)
def test_what_holds_of_the_theorem(changed, verdicts):
    test = claim(**changed)
    cases = list(test.cases(None))
    assert cases[0].measured.endswith("K = 3")
    assert [test.verdict(test.test(None, case), None) for case in cases] == verdicts


def test_a_claim_takes_few_labels_only():
    with pytest.raises(ValidationError, match="less than or equal to 8"):
        claim(labels=[20])
