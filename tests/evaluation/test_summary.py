import numpy as np
import polars as pl
import pytest

from vsebench.core.schemas import RANKS, SUMMARY
from vsebench.core.tasks import Entry, Task
from vsebench.evaluation.measuring import Measured, Ranked, measure
from vsebench.evaluation.metrics import mean_metric
from vsebench.evaluation.summary import summarise

NAMES = ["recall@10", "coverage"]
TASK = Task("d", "distinct")


def ranks(share_right, seed, n=400):
    """Return ranks: 1 for a share of the images, 30 for the others."""
    above = np.where(np.random.default_rng(seed).random(n) < share_right, 0, 29)
    zeros = np.zeros(n, dtype=int)
    columns = (np.arange(n), zeros, above, zeros, zeros + 1, zeros + 49, zeros == 1)
    return pl.DataFrame(dict(zip(RANKS, columns, strict=True))).cast(RANKS)


TESTED = {
    variant: [ranks(share, seed) for seed in seeds]
    for variant, share, seeds in (
        ("weak", 0.2, (1, 2, 21)),
        ("strong", 0.6, (3, 4, 22)),
        ("twin", 0.6, (5, 6, 23)),
        ("oracle", 0.9, (7, 8, 24)),
    )
}


def measured(variants, resamples=500):
    metrics = {Entry(variant): {} for variant in variants}
    for seed in range(3):
        models = [Ranked(TESTED[variant][seed], pl.DataFrame()) for variant in variants]
        for variant, values in zip(variants, measure(models, NAMES, 50, resamples), strict=True):
            metrics[Entry(variant)][seed] = values
    return metrics


@pytest.fixture(scope="module")
def everything():
    return summarise(TASK, measured(TESTED), NAMES, [Entry("oracle")], 100)


@pytest.fixture(scope="module")
def summary(everything):
    return everything.filter(metric="recall@10")


def row(summary, method):
    return summary.row(by_predicate=pl.col("method") == method, named=True)


def test_one_row_per_method_and_metric(everything):
    assert everything.schema == pl.Schema(SUMMARY)
    assert everything.select("method", "metric").rows() == [(variant, name) for variant in TESTED for name in NAMES]


def test_value_is_the_mean_over_seeds(summary):
    expected = np.mean([mean_metric(tested, "recall@10") for tested in TESTED["weak"]])
    assert row(summary, "weak")["value"] == pytest.approx(expected)
    assert row(summary, "weak")["n_seeds"] == 3


def test_best_leaves_the_oracle_out(summary):
    best = summary.filter("best")["method"].to_list()
    assert len(best) == 1
    assert best[0] in ("strong", "twin")
    assert row(summary, "oracle")["p_adjusted"] is None
    assert row(summary, "oracle")["difference"] > 0


def test_the_smallest_value_is_best_where_lower_is_better(everything):
    coverage = everything.filter(metric="coverage")
    best = coverage.filter("best")
    assert best["value"].item() == coverage.filter(pl.col("method") != "oracle")["value"].min()
    assert row(coverage, "weak")["difference"] > 0
    assert row(coverage, "weak")["p_adjusted"] < 0.05


def test_a_clear_difference_is_significant_and_a_small_one_is_not(summary):
    other = "twin" if row(summary, "strong")["best"] else "strong"
    assert row(summary, "weak")["p_adjusted"] < 0.05
    assert row(summary, "weak")["difference_high"] < 0
    assert row(summary, other)["p_adjusted"] > 0.05


def test_intervals_and_tests_contain_the_spread_of_the_choice_of_settings(summary):
    spreads = {"strong": {"recall@10": 0.5}, "twin": {}}
    spread = summarise(TASK, measured(TESTED), NAMES, [Entry("oracle")], 100, spreads).filter(metric="recall@10")
    for method in ("weak", "strong", "twin"):
        narrow, wide = (row(frame, method)["ci_high"] - row(frame, method)["value"] for frame in (summary, spread))
        assert (wide > 1.5 * narrow) if method == "strong" else (wide == pytest.approx(narrow))
    assert spread["value"].equals(summary["value"])
    assert spread.filter(method="strong")["best"].item() == summary.filter(method="strong")["best"].item()
    assert row(summary, "weak")["p_adjusted"] < 0.05
    if row(summary, "strong")["best"]:  # the difference from it is as uncertain as its own value
        assert row(spread, "weak")["p_adjusted"] > row(summary, "weak")["p_adjusted"]


def test_intervals_of_a_share_stay_between_0_and_1():
    shares = {1: 0.05, 2: 0.95}
    of_seeds = {seed: Measured(np.array([x]), np.full((50, 1), x), np.array([40])) for seed, x in shares.items()}
    frame = summarise(TASK, {Entry("wide"): of_seeds}, ["recall@10"], [], 100)
    assert frame["ci_high"].item() == 1.0
    assert frame["ci_low"].item() == 0.0


def test_the_interval_of_a_number_of_labels_ends_at_the_number_of_candidates():
    of_seeds = {
        seed: Measured(np.array([x]), np.full((50, 1), x), np.array([40])) for seed, x in {1: 35.0, 2: 39.0}.items()
    }
    frame = summarise(TASK, {Entry("wide"): of_seeds}, ["n_plus@5"], [], 40)
    assert frame["ci_high"].item() == 40
    assert frame["ci_low"].item() > 0


def test_interval_holds_the_value(summary):
    assert (summary["ci_low"] <= summary["value"]).all()
    assert (summary["value"] <= summary["ci_high"]).all()


def test_where_there_is_only_an_oracle_it_is_the_best():
    alone = summarise(TASK, measured(["oracle"], 100), NAMES, [Entry("oracle")], 100)
    assert alone["best"].all()


def test_methods_with_fewer_seeds_are_compared_on_the_seeds_that_both_have():
    complete = measured(TESTED)
    two_of_weak = complete | {Entry("weak"): {seed: complete[Entry("weak")][seed] for seed in (0, 1)}}
    two_of_all = {entry: {seed: seeds[seed] for seed in (0, 1)} for entry, seeds in complete.items()}
    oracles = [Entry("oracle")]
    mixed, two, three = (
        summarise(TASK, of_run, NAMES, oracles, 100).filter(metric="recall@10")
        for of_run in (two_of_weak, two_of_all, complete)
    )
    assert dict(mixed.select("method", "n_seeds").iter_rows()) == {"weak": 2, "strong": 3, "twin": 3, "oracle": 3}
    best = mixed.filter("best")["method"][0]
    assert best == three.filter("best")["method"][0]  # the weak one is never the best
    for key in ("value", "ci_low", "difference", "difference_low", "difference_high"):
        assert row(mixed, "weak")[key] == pytest.approx(row(two, "weak")[key]), key
    assert row(mixed, "strong")["value"] == row(three, "strong")["value"] != row(two, "strong")["value"]


def test_the_same_method_from_a_pack_adds_nothing_to_the_variance_between_seeds():
    """The interval of another method's difference stays as wide."""
    rng = np.random.default_rng(3)
    run = {Entry(name): of_constants(*rng.normal(0.5, 0.1, 3)) for name in "abcd"}
    packed = {Entry(f"{name}@earlier"): run[Entry(name)] for name in "abcd"}
    alone, beside = (summarise(TASK, each, ["recall@10"], [], 100) for each in (run, run | packed))
    keys = ("difference_low", "difference_high", "ci_low", "ci_high")
    for name in "abcd":
        assert [row(beside, name)[key] for key in keys] == [row(alone, name)[key] for key in keys]
    other = {Entry(f"x{name}@earlier"): of_constants(*rng.normal(0.5, 0.1, 3)) for name in "abcd"}
    beside = summarise(TASK, run | other, ["recall@10"], [], 100)
    assert row(beside, "a")["ci_low"] != row(alone, "a")["ci_low"]  # a method that only the pack has counts


def of_constants(*values):
    """Return what a method measured that is equally good at each image of a seed."""
    return {seed: Measured(np.array([x]), np.full((50, 1), x), np.array([40])) for seed, x in enumerate(values)}


@pytest.mark.parametrize(
    ("of_fewer", "best"),
    [
        (0.5, "steady"),  # the seeds of all methods alone would name "early", which "steady" exceeds on three seeds
        # "fewer" exceeds "steady" by 0.03, "steady" exceeds "early" by 0.22, and "early" exceeds "fewer" by 0.02
        (0.58, "fewer"),
    ],
)
def test_the_best_method_is_exceeded_least_on_the_seeds_of_both(of_fewer, best):
    entries = {"fewer": (of_fewer, of_fewer), "early": (0.6, 0.6, 0.2), "steady": (0.55, 0.55, 0.9)}
    frame = summarise(
        TASK, {Entry(name): of_constants(*values) for name, values in entries.items()}, NAMES[:1], [], 100
    )
    assert frame.filter("best")["method"].to_list() == [best]
    differences = [of_fewer - 0.55, -0.2, 0] if best == "steady" else [0, 0.02, -0.03]
    assert frame["difference"].to_list() == pytest.approx(differences)
