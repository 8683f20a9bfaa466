"""Tests of claims about sizes, siblings, ensembles and cost, on planted results."""

import itertools
from fractions import Fraction
from functools import partial

import numpy as np
import polars as pl
import pytest
from pydantic import ValidationError

from tests.builders import frame
from vsebench.core import schemas
from vsebench.core.tasks import Task
from vsebench.evaluation.analyses.base import load_analysis
from vsebench.papers import evidence as evidence_module
from vsebench.papers.claim import ClaimCase
from vsebench.papers.claims.convergence import TimeToShare
from vsebench.papers.claims.label_vectors import LabelNeighbours
from vsebench.papers.claims.ratios import FullMatrixRatio, ModelBytes, ScoringTime
from vsebench.papers.claims.ratios_of_metric import GainOverBest, ShareOfMetric, SizeSpread
from vsebench.papers.claims.sampling import SampledRank, TrialsOfModel, sampled_loss
from vsebench.papers.claims.siblings import NoisierLabels, SiblingPrecision
from vsebench.papers.evidence import Effect, Evidence, RunTask, UntestableError
from vsebench.papers.verdicts import JUDGED, Claim, ClaimText, judge, lines_of, measured_row

TASK, NOISY = Task("tree", "official"), Task("noisier tree", "official")
FIRST = {  # images in 100 whose label is first
    TASK: {"first": 50, "second": 46, "third": 30, "popular": 2},
    NOISY: {"first": 20, "second": 40},
}
SEEDS = [1, 2]
CLEAN_AND_NOISY = [RunTask(task, "tree", "simulated", list(variants)) for task, variants in FIRST.items()]


def ranks(case):
    """Return ranks of 100 images: the label is first in the images that FIRST counts, and has rank 12 in the others."""
    above = np.where(np.arange(100) < FIRST[case.task][case.variant], 0, 11)
    columns = {"image": np.arange(100), "label": 0, "above": above, "tied": 0, "right": 1, "negatives": 20}
    return pl.DataFrame(columns | {"cold": False}).cast(schemas.RANKS)


def lists(case):
    """Return lists of two: `first` lists the right label 0 and a stranger, the others a sibling twice."""
    labels = [0, 9] if case.variant == "first" else [1, 2]
    lines = [(image, rank, label) for image in range(100) for rank, label in enumerate(labels, start=1)]
    return pl.DataFrame(lines, schema=schemas.LISTS, orient="row")


def evidence(data="other", **tables):
    filled = {"timing": [], "history": []} | tables
    frames = {name: frame(lines, getattr(schemas, name.upper())) for name, lines in filled.items()}
    siblings = pl.DataFrame({"label": [0, 0], "sibling": [1, 2]}, schema={"label": pl.Int32, "sibling": pl.Int32})
    return Evidence(
        tasks=[RunTask(TASK, "tree", data, list(FIRST[TASK]))],
        seeds=SEEDS,
        resamples=200,
        **frames,
        sweeps=None,
        scaling=None,
        read_ranks=ranks,
        read_sweep_ranks=lambda case, parameter: pytest.fail("no sweep is needed"),
        read_lists=lists,
        siblings={"tree": siblings},
    )


def only(test, found):
    """Return the effect of the one case of a test."""
    (case,) = test.cases(found)
    return test.test(found, case)


def test_the_spread_over_sizes_is_relative_to_the_largest():
    make = partial(SizeSpread, method="first", families=["tree"], metrics=["precision@1"])
    near = make(sizes=["first", "second"], below=0.3)
    effect = only(near, evidence())
    assert effect.value == pytest.approx(0.08)
    assert near.verdict(effect, None) == "holds"
    far = make(sizes=["first", "second", "third"], below=0.1)
    assert only(far, evidence()).value == pytest.approx(0.4)
    assert far.verdict(only(far, evidence()), None) == "fails"
    with pytest.raises(UntestableError, match="has results for first and none"):
        list(make(sizes=["first", "none"], below=0.1).cases(evidence()))


def test_the_spread_of_sibling_precision_over_sizes():
    test = SizeSpread(
        method="first", families=["tree"], metrics=["sibling_precision@2"], sizes=["first", "second"], below=0.4
    )
    effect = only(test, evidence())
    assert effect.value == pytest.approx(0.5)  # 0.5 and 1, as in the lists above
    assert test.verdict(effect, None) == "fails"


def test_sibling_precision_is_not_decided_if_a_search_chose_the_settings_without_measuring_it():
    """Without a search, all images and seeds agree, so the effect is certain."""
    test = SiblingPrecision(method="second", families=["tree"], rivals=["first"], cutoff=2)
    (case,) = test.cases(evidence())
    certain = test.test(evidence(), case)
    assert certain.low == certain.high == 0.5
    searched = Evidence(**(vars(evidence()) | {"spreads": {(TASK, "first"): {"map": 0.001}}}))
    effect = test.test(searched, case)
    assert effect.value == 0.5
    assert effect.low < 0 < effect.high
    assert test.verdict(effect, effect.p) == "undecided"
    # Precision itself is decided: 0.46 against 0.5.
    choices = searched.sibling_precisions(TASK, ["first", "second"], 2).choices
    np.testing.assert_allclose(choices.sum(axis=0), [0.001 * 0.25, np.inf, 0, 0])


def test_the_measured_spread_of_sibling_precision_is_used():
    test = SiblingPrecision(method="second", families=["tree"], rivals=["first"], cutoff=2)
    (case,) = test.cases(evidence())
    spread = {"map": 0.001, "sibling_precision@2": 0.02}
    searched = Evidence(**(vars(evidence()) | {"spreads": {(TASK, "first"): spread}}))
    effect = test.test(searched, case)
    assert 0 < effect.low < 0.5 < effect.high
    assert test.verdict(effect, effect.p) == "holds"
    choices = searched.sibling_precisions(TASK, ["first", "second"], 2).choices
    np.testing.assert_allclose(choices.sum(axis=0), [0.001 * 0.25, 0.02 * 0.5, 0, 0])


def test_an_ensemble_is_held_against_its_best_member():
    make = partial(GainOverBest, method="first", families=["tree"], metrics=["precision@1"], at_least=0.1)
    effect = only(make(members=["second", "third"]), evidence())
    assert effect.value == pytest.approx(50 / 46 - 1)
    assert effect.low < effect.value < effect.high
    low = make(members=["third"])
    assert low.verdict(only(low, evidence()), None) == "holds"
    assert low.verdict(Effect(0.02, 0.01, 0.03, None, 0.1), None) == "fails"
    assert low.verdict(Effect(0.1, 0.05, 0.15, None, 0.1), None) == "undecided"


def test_the_share_of_a_control():
    test = ShareOfMetric(method="first", families=["tree"], control="popular", metric="precision@1", below=0.2)
    effect = only(test, evidence())
    assert effect.value == pytest.approx(2 / 50)
    assert test.verdict(effect, None) == "holds"


@pytest.mark.parametrize(("low", "shown"), [(-0.2, 0.0), (0.1, 0.1)])
def test_the_interval_of_a_share_is_shown_from_0_on(low, shown):
    test = ShareOfMetric(method="first", families=["tree"], control="popular", metric="precision@1", below=0.2)
    assert measured_row("popular", "precision@1", test, Effect(0.1, low, 0.4, None, 0.2))["ci_low"] == shown
    gain = GainOverBest(method="first", families=["tree"], members=["second"], metrics=["precision@1"], at_least=0.1)
    assert measured_row("second", "precision@1", gain, Effect(0.1, low, 0.4, None, 0.2))["ci_low"] == low


def test_sibling_precision_and_its_ratio_to_precision():
    test = SiblingPrecision(method="second", families=["tree"], rivals=["first"], cutoff=2)
    (case,) = test.cases(evidence())
    assert case.measured == "sibling_precision@2"
    assert test.test(evidence(), case).value == pytest.approx(1.0 - 0.5)
    turned = SiblingPrecision(method="first", families=["tree"], rivals=["first"], cutoff=2, ratio=True)
    (of_ratio,) = turned.cases(evidence())
    assert of_ratio.measured == "sibling_precision@2 over precision@2"
    assert turned.test(evidence(), of_ratio).value == 0
    without = Evidence(**(vars(evidence()) | {"siblings": {}}))
    with pytest.raises(UntestableError, match="tree has no table of siblings"):
        test.test(without, case)
    without = Evidence(**(vars(evidence()) | {"read_lists": None}))
    with pytest.raises(UntestableError, match="no lists of the first labels"):
        test.test(without, case)


def test_what_noisier_labels_leave_of_two_variants():
    found = Evidence(**(vars(evidence()) | {"tasks": CLEAN_AND_NOISY}))
    make = partial(NoisierLabels, clean="tree", noisy="noisier tree", metric="precision@1")
    falls = make(method="first", steadier="second")
    (case,) = falls.cases(found)
    assert (case.task, case.data, case.rival, case.measured) == (NOISY, "simulated", "second", "precision@1")
    effect = falls.test(found, case)
    assert effect.value == pytest.approx((40 / 46) / (20 / 50))
    assert 1 < effect.low < effect.value < effect.high
    assert falls.verdict(effect, effect.p) == "holds"
    turned = only(make(method="second", steadier="first"), found)
    assert turned.value == pytest.approx(1 / effect.value)
    with pytest.raises(UntestableError, match="The run lacks results for the claim's methods on tree or noisier tree"):
        list(make(method="first", steadier="third").cases(found))


def test_what_noisier_labels_leave_of_sibling_precision():
    siblings = dict.fromkeys(("tree", "noisier tree"), evidence().siblings["tree"])
    found = Evidence(**(vars(evidence()) | {"tasks": CLEAN_AND_NOISY, "siblings": siblings}))
    make = partial(NoisierLabels, clean="tree", noisy="noisier tree", method="first")
    test = make(metric="precision@2")
    (case,) = test.cases(found)
    assert case.measured == "sibling_precision@2 and precision@2"
    # The lists, and so the sibling precision, are the same in both.
    assert test.test(found, case).value == pytest.approx(50 / 20)
    for metric in ("map", "precision@99"):
        with pytest.raises(ValidationError, match="without `steadier`, use precision@1 to"):
            make(metric=metric)


def history(variant, seconds, values):
    keys = {"dataset": "tree", "protocol": "official", "method": variant, "phase": "selection"}
    return [
        keys | {"seed": seed, "epoch": epoch, "seconds": seconds * (1 + 0.01 * seed), "validation": value}
        for seed in SEEDS
        for epoch, value in enumerate(values, start=1)
    ]


def test_the_time_to_a_share_of_the_quality_that_both_reach(monkeypatch):
    monkeypatch.setattr(evidence_module, "FEWEST_REPEATS", 2)
    # 95 % of 0.4, the worse of the two bests: after 2 epochs of 1 s, and after 4 of 2 s.
    found = evidence(history=history("first", 1.0, [0.3, 0.39, 0.5]) + history("second", 2.0, [0.1, 0.2, 0.3, 0.4]))
    test = TimeToShare(method="first", families=["tree"], rivals=["second"], share=0.95, times=3.0)
    effect = only(test, found)
    assert effect.value == pytest.approx(4)
    assert effect.neutral == 3
    assert test.verdict(effect, effect.p) == "holds"
    with pytest.raises(UntestableError, match="did not validate both first and third epoch by epoch"):
        only(test.model_copy(update={"rivals": ["third"]}), found)


def timing(variant, seconds, size):
    keys = {"dataset": "tree", "protocol": "official", "method": variant, "model_bytes": size}
    return [keys | {"repeat": n, "phase": "score", "seconds": seconds * (1 + n / 100)} for n in range(1, 6)]


def test_scoring_time_and_bytes_are_ratios_to_the_rival():
    found = evidence(timing=timing("first", 1.0, 1000) + timing("second", 5.0, 2500))
    faster = ScoringTime(method="first", families=["tree"], rivals=["second"], times=3.0)
    effect = only(faster, found)
    assert effect.value == pytest.approx(5)
    assert faster.verdict(effect, effect.p) == "holds"
    smaller = ModelBytes(method="first", families=["tree"], rivals=["second"], times=1.0)
    assert only(smaller, found).value == 2.5
    assert smaller.verdict(only(smaller, found), None) == "holds"
    assert smaller.model_copy(update={"times": 3.0}).verdict(only(smaller, found), None) == "fails"
    with pytest.raises(UntestableError, match="did not time both first and third"):
        only(smaller.model_copy(update={"rivals": ["third"]}), found)


def test_the_full_matrix_is_sixty_times_as_large_by_the_formula():
    test = FullMatrixRatio(method="first", labels=15952, features=10000, factors=100, times=100)
    (case,) = test.cases(evidence())
    effect = test.test(evidence(), case)
    assert effect.value == pytest.approx(61.5, abs=0.05)
    assert test.verdict(effect, None) == "fails"


def test_the_sampled_loss_by_hand():
    # Three labels, two negatives. One violator: the first draw finds it in half of the cases, the second in a quarter;
    # L(2) = 3/2, L(1) = 1. Two violators: the first draw finds one.
    assert sampled_loss(3).tolist() == pytest.approx([Fraction(3, 4) + Fraction(1, 4), Fraction(3, 2)])
    test = SampledRank(method="first", labels=[3, 374])
    for case in test.cases(evidence()):
        effect = test.test(evidence(), case)
        assert effect.value >= 0
        assert test.verdict(effect, None) == "holds"
    assert test.verdict(Effect(-1e-3, -1e-3, -1e-3, None, 0.0), None) == "fails"


@pytest.mark.parametrize(("scores", "verdict"), [(4.0, "holds"), (12.0, "fails")])
def test_scores_of_a_step_are_compared_with_the_bound(scores, verdict):
    lines = [
        {"method": "first", "seed": seed, "dataset": "tree", "protocol": "official", "image": image, "label": 0}
        | {"scores": scores + image % 3, "bound": 10.0}
        for seed in SEEDS
        for image in range(60)
    ]
    found = Evidence(
        **(vars(evidence()) | {"on_request": {"trials_by_rank": frame(lines, load_analysis("trials_by_rank").SCHEMA)}})
    )
    test = TrialsOfModel(method="first", families=["tree"])
    effect = only(test, found)
    assert effect.value == pytest.approx((scores + 1) / 10)
    assert test.verdict(effect, None) == verdict


def neighbours(seed):
    keys = {"dataset": "tree", "protocol": "official", "method": "first", "seed": seed, "n_labels": 21, "cosine": 0.5}
    for siblings, near in ((2, [True, True]), (2, [True, False]), (0, [False, False])):
        for number, (rank, sibling) in itertools.product(range(20), enumerate(near, start=1)):
            label = f"{siblings} {near} {number}"
            yield keys | {"label": label, "siblings": siblings, "rank": rank, "sibling": sibling}


def test_siblings_among_the_nearest_labels_are_held_against_chance():
    lines = [line for seed in SEEDS for line in neighbours(seed)]
    table = frame(lines, load_analysis("neighbours_of_labels").SCHEMA)
    found = Evidence(**(vars(evidence()) | {"on_request": {"neighbours_of_labels": table}}))
    test = LabelNeighbours(method="first", families=["tree"], nearest=2, times=4.0)
    effect = only(test, found)
    assert effect.value == pytest.approx(0.75 / (2 / 20))  # of the labels with siblings
    assert test.verdict(effect, None) == "holds"
    with pytest.raises(UntestableError, match="no analysis neighbours_of_labels"):
        only(test, evidence())


@pytest.mark.parametrize("judged", [False, True])
def test_a_verdict_on_simulated_data_says_so(judged):
    test = ShareOfMetric(
        method="first", families=["tree"], control="popular", metric="precision@1", below=0.2, judge_simulated=judged
    )
    claim = Claim(ClaimText(claim="c", where="w", test="share_of_metric"), test)
    (of_kind,) = judge(claim, evidence(data="simulated"))
    line, case = lines_of(of_kind, None)
    assert line["verdict"] == ("holds" if judged else "not testable here")
    assert (line["reason"] == JUDGED) is judged
    assert case["effect"] == pytest.approx(2 / 50)
    assert "verdict" not in case


def test_a_case_without_a_task_is_of_no_data():
    assert ClaimCase("x").task == Task("", "")
