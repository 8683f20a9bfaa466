"""How the comparisons of a claim are combined, and how tasks are pooled."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from scipy import stats
from scipy.special import stdtrit

from tests.papers.planted import planted
from vsebench.core.tasks import Task
from vsebench.core.yaml_files import check
from vsebench.evaluation.estimates import Estimates, stack
from vsebench.evaluation.seed_variance import moderated, typical
from vsebench.evaluation.significance import bootstrap_all
from vsebench.papers.evidence import Effect, Evidence, Fixed, LogRatios, OfMeans, RunTask, pool
from vsebench.papers.judging import decide, decide_by_p
from vsebench.papers.verdicts import load_test

A, B, C = ("warp", "map"), ("warp", "auc"), ("ease", "map")


def effect(value, p):
    return Effect(value, value - 0.1, value + 0.1, p, 0.0)


@pytest.mark.parametrize(
    ("effects", "expected"),
    [
        ({A: (0.1, 0.01), B: (0.2, 0.03)}, (B, 0.03)),  # all in the claimed direction: the largest p-value
        ({A: (0.1, 0.001), B: (-0.2, 0.01), C: (-0.3, 0.4)}, (B, 0.03)),  # the smallest of the others, times 3
        ({A: (0.1, 0.001), B: (-0.01, 0.6)}, (B, 1.0)),
    ],
)
def test_the_weakest_comparison_decides(effects, expected):
    found = decide_by_p({key: effect(*values) for key, values in effects.items()}, forms=False)
    assert found == (expected[0], pytest.approx(expected[1]))


@pytest.mark.parametrize(
    ("effects", "p"),
    [
        ({A: (0.1, 0.001), B: (0.2, 0.02)}, 0.02),
        ({A: (-0.1, 0.001), B: (-0.2, 0.02)}, 0.02),
        ({A: (0.1, 0.001), B: (-0.2, 0.001)}, 1.0),
    ],
)
def test_forms_of_a_quantity_must_agree(effects, p):
    _, found = decide_by_p({key: effect(*values) for key, values in effects.items()}, forms=True)
    assert found == pytest.approx(p)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([(0.2, 0.3), (0.3, 0.4), (0.2, 0.5)], "holds"),
        ([(0.2, 0.3), (-0.3, 0.0), (0.2, 0.5)], "undecided"),
        ([(-0.2, -0.1), (-0.3, 0.0), (-0.2, 0.05)], "fails"),
    ],
)
def test_a_claim_with_bounds_on_forms_is_decided_if_all_agree(values, expected):
    test = check(load_test("threshold_difficulty", ""), {"method": "m/d", "families": ["other"], "above": 0.1,
                 "references": ["bce"]}, "")  # fmt: skip
    measured = {("", str(n)): Fixed(Effect(low, low, high, None, 0.1)) for n, (low, high) in enumerate(values)}
    assert decide(test, measured).verdict(None) == expected


def of_images(means, images, noise, seed=1, n_seeds=3):
    """Return the mean of a value per image for each seed, with noise that all seeds share."""
    shared = np.random.default_rng(seed).normal(0, noise, images)
    tables = [(shared - shared.mean() + mean)[:, None] for mean in means[:n_seeds]]
    return OfMeans(stack(tables, bootstrap_all(tables, 2000)), lambda values: values[:, 0])


def half(measurement):
    found = measurement.effect()
    return (found.high - found.low) / 2


def test_tasks_with_the_same_images_are_no_replicates():
    one = of_images([0.1, 0.1, 0.1], 400, 1.0)
    pooled = pool([("corel5k", one), ("corel5k", one), ("corel5k", one)])
    assert pooled.effect().value == pytest.approx(0.1)
    assert half(pooled) == pytest.approx(half(one))


def test_images_of_different_corpora_are_independent():
    one, other = of_images([0.1, 0.1, 0.1], 400, 1.0), of_images([0.3, 0.3, 0.3], 500, 1.0, seed=2)
    pooled = pool([("corel5k", one), ("mirflickr", other)])
    assert pooled.effect().value == pytest.approx(0.2)
    assert half(pooled) == pytest.approx(np.hypot(half(one), half(other)) / 2, rel=0.05)


def test_tasks_of_a_corpus_with_other_numbers_of_images_count_as_dependent():
    one, other = of_images([0.1, 0.1, 0.1], 400, 1.0), of_images([0.3, 0.3, 0.3], 401, 1.0, seed=2)
    pooled = pool([("corel5k", one), ("corel5k", other)])
    assert half(pooled) == pytest.approx((half(one) + half(other)) / 2, rel=0.03)


def test_seeds_are_paired_over_the_tasks_of_a_corpus():
    up, down = of_images([0.0, 0.1, 0.2], 400, 0.0), of_images([0.2, 0.1, 0.0], 400, 0.0)
    assert half(pool([("a", up), ("a", down)])) == pytest.approx(0, abs=1e-9)
    assert half(pool([("a", up), ("a", up)])) == pytest.approx(half(up))


def test_seeds_of_different_corpora_are_independent():
    """By hand: each corpus has its own number of seeds, and Student's quantile for it."""
    three, two = of_images([0.0, 0.1, 0.2], 400, 0.0), of_images([0.3, 0.1], 400, 0.0)
    halves = stdtrit([2, 1], 0.975) * np.sqrt([0.01 / 3, 0.02 / 2])
    pooled = pool([("a", three), ("b", two)])
    assert pooled.effect().value == pytest.approx((0.1 + 0.2) / 2)
    assert half(pooled) == pytest.approx(np.hypot(*halves) / 2)


def test_a_corpus_counts_as_often_as_it_has_tasks():
    low, high = of_images([0.1, 0.1], 400, 0.0), of_images([0.4, 0.4], 400, 0.0)
    assert pool([("a", low), ("b", high), ("a", low)]).effect().value == pytest.approx(0.2)


def test_a_corpus_with_few_units_does_not_widen_the_interval_of_another():
    """By hand: the mean of two independent means, of which the one over six labels hardly varies."""
    few, many = of_images([0.1, 0.1], 6, 1e-6), of_images([0.2, 0.2], 400, 1.0)
    assert half(pool([("a", few), ("b", many)])) == pytest.approx(half(many) / 2, rel=1e-3)


@pytest.mark.parametrize(
    ("protocols", "expected"),
    [
        (("official", "official", "official"), ["A", "B", "C"]),
        (("from-c", "official", "official"), ["A", "B", "A"]),
        (("from-c", "from-c", "official"), ["B", "B", "B"]),
        (("from-elsewhere", "from-elsewhere", "official"), ["B", "B", "C"]),
        (("from-b", "from-c", "from-a"), ["C", "C", "C"]),
    ],
)
def test_corpora_on_which_models_trained_on_the_same_data_are_tested_are_one(protocols, expected):
    known = [RunTask(Task(name, "official"), name.upper(), "other", []) for name in "abc"]
    evidence = Evidence(known, [1, 2], 10, *([None] * 6))
    found = evidence.corpora([Task(name, protocol) for name, protocol in zip("abc", protocols, strict=True)])
    assert len(set(found)) == len(set(expected))
    assert [found.index(name) for name in found] == [expected.index(name) for name in expected]


def test_methods_run_on_all_tasks_help_to_estimate_the_spread_of_a_pooled_effect():
    """By hand: the means over the tasks of every pair of the methods that both tasks have."""
    rng = np.random.default_rng(5)
    by_task = [dict(zip(names, rng.normal(0, 0.1, (6, 3)), strict=True)) for names in ("abcdef", "abcdex")]

    def of_pair(values):
        return OfMeans(
            Estimates(np.stack([values["a"], values["b"]], axis=1), np.zeros((3, 50, 2)), 400, values),
            lambda pair: pair[:, 0] - pair[:, 1],
        )

    found = pool([("one corpus", of_pair(values)) for values in by_task])
    means = {name: (by_task[0][name] + by_task[1][name]) / 2 for name in "abcde"}
    gaps = np.stack([means[one] - means[other] for one, other in combinations("abcde", 2)], axis=1)
    expected, freedom = moderated(gaps[:, :1].var(axis=0, ddof=1), 2, typical(gaps.var(axis=0, ddof=1), 2, 5))
    estimate = found.estimates.of(found.statistic)
    assert estimate.freedom == freedom > 2
    assert estimate.seeds == pytest.approx(expected.item() / 3)


def test_ratios_are_averaged_pair_by_pair():
    logs = np.log([2.0, 3.0, 4.0])
    pooled = pool([("a", LogRatios(logs, 1.5)), ("a", LogRatios(-logs, 1.5))])
    assert isinstance(pooled, LogRatios)
    assert (pooled.logs.tolist(), pooled.bound) == ([0, 0, 0], 1.5)


def test_ratios_on_different_corpora_are_independent():
    """SciPy's intervals for the means of the logarithms on each corpus, put together by hand."""
    logs = np.log([2.0, 3.0, 4.0]), np.log([1.0, 1.5, 1.2, 1.1])
    tests = [stats.ttest_1samp(each, np.log(1.5)) for each in logs]
    assert LogRatios(logs[0], 1.5).effect().p == pytest.approx(tests[0].pvalue, rel=1e-6)
    ends = [test.confidence_interval() for test in tests]
    half_width = np.hypot(*((high - low) / 2 for low, high in ends)) / 2
    mean = (logs[0].mean() + logs[1].mean()) / 2
    found = pool([("a", LogRatios(logs[0], 1.5)), ("b", LogRatios(logs[1], 1.5))]).effect()
    expected = np.exp([mean, mean - half_width, mean + half_width])
    assert [found.value, found.low, found.high] == pytest.approx(expected.tolist())
    assert found.neutral == 1.5


def test_a_claim_has_one_verdict_over_its_tasks(judge):
    lines = judge(test="accuracy", rivals=["bad"], metrics=["recall@10", "map@10"])
    assert [(line["data"], line["n_tasks"], line["n_comparisons"]) for line in lines] == [
        ("other", "1", "2"),
        ("simulated", "", ""),
    ]


def test_a_corpus_is_a_family_of_real_data_or_a_data_set():
    task = planted().tasks[0]
    assert task.corpus == "iapr"
    assert replace(task, family="other").corpus == replace(task, data="simulated").corpus == "real"
