"""The tests behind the papers' claims, on planted results."""

import csv
import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy import stats

from vsebench.cli import main
from vsebench.core.errors import UserError
from vsebench.core.storage import write_json, write_parquet
from vsebench.methods.base import load_method
from vsebench.stages.claims import (
    Claim,
    Evidence,
    best_value,
    examine,
    growth_verdict,
    ratio,
    read_claims,
    with_verdicts,
)

ROOT = Path(__file__).parents[2]
CLAIMS = ROOT / "config" / "claims.yaml"
SEEDS = [1, 2, 3]
DATASETS = {
    "real": {"name": "real", "family": "iapr", "simulated": False},
    "sim": {"name": "sim", "family": "iapr", "simulated": True},
}


def ranks(seed, shift):
    """Ranks of 400 images among 100 candidates; a larger shift is worse."""
    rank = np.random.default_rng(seed).integers(1, 20, 400) + shift
    columns = {"image": np.arange(400), "label": np.zeros(400), "rank": rank, "ties": np.zeros(400)}
    return pl.DataFrame(columns | {"candidates": np.full(400, 100)}).cast(pl.Int32)


@pytest.fixture
def results(tmp_path):
    """Two methods on a real and a simulated set: `good` ranks better and needs half the time of `bad`."""
    timing, history, sweeps = [], [], []
    for dataset in DATASETS:
        for seed in SEEDS:
            for method, shift, factor in (("good", 0, 1.0), ("bad", 8, 2.0)):
                folder = tmp_path / dataset / "distinct" / f"seed{seed}" / method
                write_parquet(ranks(seed, shift), folder / "ranks.parquet")
                for epoch in range(1, 21):
                    keys = {"dataset": dataset, "protocol": "distinct", "method": method, "seed": seed, "epoch": epoch}
                    keys |= {"seconds": factor * (1 + 0.01 * seed), "trials_per_step": factor * (1 + 0.1 * epoch)}
                    history.append(keys | {"phase": "selection", "validation": -abs(epoch - 10.0)})
                    history.append(keys | {"phase": "refit", "validation": None})
            swept = [ranks(seed, shift).with_columns(value=pl.lit(value)) for value, shift in ((0.0, 8), (0.5, 0))]
            write_parquet(
                pl.concat(swept), tmp_path / dataset / "distinct" / f"seed{seed}" / "good/sweep/a-ranks.parquet"
            )
            keys = {"dataset": dataset, "protocol": "distinct", "method": "good", "seed": seed, "parameter": "a"}
            keys |= {"metric": "ndcg", "cutoff": 10}
            sweeps += [keys | {"value": 0.0, "validation": 0.2}, keys | {"value": 0.5, "validation": 0.4}]
        for repeat in range(1, 4):
            for method, factor in (("good", 1.0), ("bad", 2.0)):
                keys = {"dataset": dataset, "protocol": "distinct", "method": method, "phase": "epoch"}
                keys |= {"repeat": repeat, "seconds": factor * (1 + 0.02 * repeat), "peak_rss_bytes": int(1e6 * factor)}
                timing.append(keys)
    write_parquet(pl.DataFrame(timing), tmp_path / "timing.parquet")
    write_parquet(pl.DataFrame(history), tmp_path / "history.parquet")
    write_parquet(pl.DataFrame(sweeps), tmp_path / "sweeps.parquet")
    write_json(list(DATASETS.values()), tmp_path / "datasets.json")
    return tmp_path


RUNS = [f"{dataset}/distinct/{method}" for dataset in DATASETS for method in ("good", "bad")]


@pytest.fixture
def judge(results, tmp_path):
    """Test one claim by the command, and return the rows of claims.csv."""

    def run(**claim):
        claim = {"claim": "c", "where": "w", "method": "good", "families": ["iapr"], **claim}
        (tmp_path / "claims.yaml").write_text(json.dumps({"paper": [claim]}))
        out = tmp_path / "claims.csv"
        arguments = ["claims", "--claims", tmp_path / "claims.yaml", "--results", results, "--seeds", *SEEDS]
        arguments += ["--runs", *RUNS, "--bootstrap", 200, "--sweeps", results / "sweeps.parquet", "--out", out]
        assert main([str(argument) for argument in arguments]) == 0
        with out.open() as stream:
            return list(csv.DictReader(stream))

    return run


@pytest.mark.parametrize(
    ("claim", "effect"),
    [
        ({"test": "accuracy", "rivals": ["bad"], "metrics": ["rec@10"]}, None),
        ({"test": "time_to_converge", "rivals": ["bad"]}, 2.0),
        ({"test": "time_of_epoch", "rivals": ["bad"]}, 2.0),
        ({"test": "trials_grow"}, 2.95 / 1.15),
        ({"test": "setting", "parameter": "a", "better": [0.1, 1.0], "worse": [0.0, 0.0]}, None),
    ],
)
def test_a_planted_effect_is_found_on_real_data_only(judge, claim, effect):
    rows = {row["dataset"]: row for row in judge(**claim)}
    assert rows["real"]["verdict"] == "holds"
    assert float(rows["real"]["p_adjusted"]) < 0.05
    assert rows["sim"]["verdict"] == "not testable here"
    assert rows["sim"]["p_adjusted"] == ""
    for row in rows.values():
        assert float(row["ci_low"]) <= float(row["effect"]) <= float(row["ci_high"])
        if effect is not None:
            assert float(row["effect"]) == pytest.approx(effect)


def test_the_opposite_fails(judge):
    rows = judge(test="accuracy", method="bad", rivals=["good"], metrics=["rec@10", "map@10"])
    assert {row["verdict"] for row in rows if row["dataset"] == "real"} == {"fails"}
    rows = judge(test="memory", rivals=["bad"])
    assert {row["verdict"] for row in rows if row["dataset"] == "real"} == {"fails"}


def test_no_difference_is_undecided(judge):
    (row,) = [row for row in judge(test="accuracy", rivals=["good"], metrics=["rec@10"]) if row["dataset"] == "real"]
    assert row["verdict"] == "undecided"
    assert float(row["effect"]) == 0


@pytest.mark.parametrize(
    "claim",
    [
        {"test": "accuracy", "rivals": ["absent"], "metrics": ["rec@10"]},
        {"test": "accuracy", "rivals": ["bad"], "metrics": ["rec@10"], "families": ["flickr"]},
        {"test": "setting", "parameter": "b", "better": [0.1, 1.0], "worse": [0.0, 0.0]},
        {"test": "growth", "variable": "pairs", "between": [0.8, 1.2]},
        {"test": "time_of_epoch", "method": "absent", "rivals": ["bad"]},
    ],
)
def test_what_the_run_does_not_have_is_not_testable(judge, claim):
    (row,) = judge(**claim)
    assert row["verdict"] == "not testable here"
    assert row["effect"] == ""


def test_holms_correction_is_over_the_claims_of_a_paper():
    claim = Claim(claim="c", where="w", test="accuracy", method="m")
    rows = [{"test": claim, "simulated": False, "finding": ratio(np.exp(x), np.ones(3))} for x in CASES]
    judged = with_verdicts(rows)
    raw = [stats.ttest_1samp(x, 0).pvalue for x in CASES]
    assert judged[0]["p_adjusted"] == pytest.approx(min(1, raw[0] * 2), rel=1e-4)
    assert judged[1]["p_adjusted"] == pytest.approx(max(raw[1], min(1, raw[0] * 2)), rel=1e-4)


CASES = [np.array([0.5, 0.6, 0.55]), np.array([0.1, -0.3, 0.2])]


# The 97.5 % points of Student's t, as tables print them.
PUBLISHED_T = {1: 12.7062047362, 2: 4.3026527299, 3: 3.1824463053, 9: 2.2621571628, 30: 2.0422724563}


@pytest.mark.parametrize(("freedom", "t"), PUBLISHED_T.items())
def test_the_interval_and_p_value_of_a_ratio_are_those_of_students_t(freedom, t):
    """Logarithms whose t statistic is the 97.5 % point have p = 5 %, and an interval that begins at no difference."""
    spread = np.linspace(-1, 1, freedom + 1)
    logs = spread + t * spread.std(ddof=1) / np.sqrt(freedom + 1)
    found = ratio(np.exp(logs), np.ones(freedom + 1))
    assert found.p == pytest.approx(0.05, rel=1e-6)
    assert np.log(found.low) == pytest.approx(0, abs=1e-6)
    assert np.log(found.high) == pytest.approx(2 * logs.mean(), rel=1e-6)


def test_a_ratio_needs_two_pairs():
    assert ratio(np.array([2.0]), np.array([1.0])) is None
    found = ratio(np.array([2.0, 2.0]), np.array([1.0, 1.0]))
    assert found is not None
    assert found.effect == pytest.approx(2.0)


def test_the_best_value_is_chosen_on_validation_among_those_that_no_seed_diverged_with():
    sweep = pl.DataFrame({"value": [0.0, 0.0, 0.5, 0.5, 1.0], "validation": [0.3, 0.3, 0.2, 0.5, 0.9]})
    assert best_value(sweep, [0.0, 1.0], 2) == 0.5
    assert best_value(sweep, [0.9, 1.0], 2) is None


@pytest.mark.parametrize(
    ("low", "high", "expected"), [(0.9, 1.1, "holds"), (1.3, 1.4, "fails"), (1.1, 1.3, "undecided"), (0, 0.7, "fails")]
)
def test_growth_is_judged_by_its_interval(low, high, expected):
    from vsebench.stages.claims import Finding

    assert growth_verdict(Finding(1.0, low, high, None, 0.0), [0.8, 1.2]) == expected


def test_growth_is_read_off_the_measurement(tmp_path):
    scaling = pl.DataFrame(
        [("good", "pairs", size, repeat, size * 1e-6) for size in (10, 20, 40) for repeat in (1, 2)],
        schema=["method", "variable", "size", "repeat", "seconds"], orient="row",
    )  # fmt: skip
    evidence = Evidence(tmp_path, SEEDS, 100, pl.DataFrame(), pl.DataFrame(), None, scaling)
    claim = Claim(claim="c", where="w", test="growth", method="good", variable="pairs", between=[0.8, 1.2])
    (row,) = with_verdicts(examine(claim, evidence, {}, []))
    assert row["verdict"] == "holds"
    assert row["effect"] == pytest.approx(1.0)


def test_the_claims_of_the_papers_are_readable_and_name_what_exists():
    for claims in read_claims(CLAIMS).values():
        for claim in claims:
            for row in (claim.method, *claim.rivals):
                assert (ROOT / "config" / "methods" / f"{row}.yaml").is_file()
            if claim.parameter:
                assert claim.parameter in load_method(claim.method).settings_type.model_fields


def test_a_mistake_names_the_claim(tmp_path):
    (tmp_path / "claims.yaml").write_text("paper: [{claim: c, where: w, method: m, test: guess}]")
    with pytest.raises(UserError, match=r"claims\.yaml: paper: claim 1: test"):
        read_claims(tmp_path / "claims.yaml")
