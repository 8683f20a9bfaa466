"""The tests behind the papers' claims, on planted results."""

import csv
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import yaml
from scipy import stats

from vsebench.cli import main
from vsebench.core import schemas
from vsebench.core.errors import UserError
from vsebench.core.places import Case, Place
from vsebench.core.storage import write_json, write_table
from vsebench.methods.base import load_method
from vsebench.papers.base import Paper
from vsebench.papers.claim import ClaimCase
from vsebench.papers.claims.growth import Growth
from vsebench.papers.claims.setting import best_value
from vsebench.papers.evidence import Effect, Evidence, RunPlace, UntestableError, differences, ratio
from vsebench.papers.verdicts import FOLDER, load_test, read_claims, verdicts

PAPERS = sorted((Path(__file__).parents[2] / "config" / "papers").glob("*.yaml"))
METHODS = Path(__file__).parents[2] / "config" / "methods"
SEEDS = [1, 2, 3]
DATASETS = [
    {"name": "real", "family": "iapr", "simulated": False},
    {"name": "sim", "family": "iapr", "simulated": True},
]
ROWS = [f"{entry['name']}/distinct/{method}" for entry in DATASETS for method in ("good", "bad")]


def ranks(seed, shift):
    """Return ranks of 400 images among 100 candidates; a larger shift is worse."""
    above = np.random.default_rng(seed).integers(0, 19, 400) + shift
    columns = {"image": np.arange(400), "label": np.zeros(400), "above": above, "tied": np.zeros(400)}
    return pl.DataFrame(columns | {"right": np.ones(400), "negatives": np.full(400, 99)}).cast(pl.Int32)


def frame(rows, schema):
    return pl.DataFrame(rows, schema=schema)


@pytest.fixture
def results(tmp_path):
    """Two methods on a real and a simulated set: `good` ranks better and needs half the time of `bad`."""
    timing, history, sweeps = [], [], []
    for entry in DATASETS:
        place = Place(entry["name"], "distinct")
        for method, shift, factor in (("good", 0, 1.0), ("bad", 8, 2.0)):
            for case in (Case(place, method, seed) for seed in SEEDS):
                write_table(ranks(case.seed, shift), schemas.RANKS, case.folder(tmp_path) / "ranks.parquet")
                for epoch in range(1, 21):
                    keys = case.keys | {"epoch": epoch, "seconds": factor * (1 + 0.01 * case.seed), "loss": 1.0}
                    keys |= {"trials_per_step": factor * (1 + 0.1 * epoch)}
                    history.append(keys | {"phase": "selection", "validation": -abs(epoch - 10.0)})
                    history.append(keys | {"phase": "refit", "validation": None})
            for repeat in (1, 2, 3):
                keys = {"dataset": place.dataset, "protocol": "distinct", "method": method, "phase": "epoch"}
                keys |= {"repeat": repeat, "seconds": factor * (1 + 0.02 * repeat), "peak_rss_bytes": int(1e6 * factor)}
                timing.append(keys)
        for case in (Case(place, "good", seed) for seed in SEEDS):
            swept = [ranks(case.seed, 8).with_columns(value=0.0), ranks(case.seed, 0).with_columns(value=0.5)]
            write_table(
                pl.concat(swept).select(*schemas.SWEEP_RANKS),
                schemas.SWEEP_RANKS,
                case.folder(tmp_path) / "sweep" / "a-ranks.parquet",
            )
            keys = case.keys | {"parameter": "a", "metric": "ndcg@10"}
            sweeps += [keys | {"value": 0.0, "validation": 0.2}, keys | {"value": 0.5, "validation": 0.4}]
    write_table(frame(timing, schemas.TIMING), schemas.TIMING, tmp_path / "timing.parquet")
    write_table(frame(history, schemas.HISTORY), schemas.HISTORY, tmp_path / "history.parquet")
    write_table(frame(sweeps, schemas.SWEEPS), schemas.SWEEPS, tmp_path / "sweeps.parquet")
    write_json(DATASETS, tmp_path / "datasets.json")
    return tmp_path


@pytest.fixture
def judge(results, tmp_path):
    """Test one claim by the command, and return the rows of claims.csv."""

    def run(**claim):
        # Growth is of no data set, so it has no families.
        common = {} if claim["test"] == "growth" else {"families": ["iapr"]}
        content = {
            "title": "P",
            "citation": "c",
            "claims": [{"claim": "c", "where": "w", "method": "good"} | common | claim],
        }
        (tmp_path / "p.yaml").write_text(yaml.safe_dump(content))
        arguments = ["claims", "--papers", tmp_path / "p.yaml", "--results", results, "--seeds", *SEEDS]
        arguments += ["--rows", *ROWS, "--bootstrap", 200, "--sweeps", results / "sweeps.parquet"]
        assert main([str(argument) for argument in [*arguments, "--out", tmp_path / "claims.csv"]]) == 0
        with (tmp_path / "claims.csv").open() as stream:
            return list(csv.DictReader(stream))

    return run


@pytest.mark.parametrize(
    ("claim", "effect"),
    [
        ({"test": "accuracy", "rivals": ["bad"], "metrics": ["recall@10"]}, None),
        ({"test": "time_to_converge", "rivals": ["bad"]}, 2.0),
        ({"test": "time_of_epoch", "rivals": ["bad"]}, 2.0),
        ({"test": "trials_grow"}, 2.95 / 1.15),
        ({"test": "setting", "parameter": "a", "metric": "ndcg@10", "better": [0.1, 1.0], "worse": [0.0, 0.0]}, None),
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
    rows = judge(test="accuracy", method="bad", rivals=["good"], metrics=["recall@10", "map@10"])
    assert {row["verdict"] for row in rows if row["dataset"] == "real"} == {"fails"}
    rows = judge(test="memory", rivals=["bad"])
    assert {row["verdict"] for row in rows if row["dataset"] == "real"} == {"fails"}


def test_no_difference_is_undecided(judge):
    (row,) = [row for row in judge(test="accuracy", rivals=["good"], metrics=["recall@10"]) if row["dataset"] == "real"]
    assert row["verdict"] == "undecided"
    assert float(row["effect"]) == 0


ABSENT = {"better": [0.1, 1.0], "worse": [0.0, 0.0], "metric": "ndcg@10"}


@pytest.mark.parametrize(
    ("claim", "reason"),
    [
        ({"test": "accuracy", "rivals": ["x", "y"], "metrics": ["mrr"]}, "The run has no row x or y to compare with."),
        (
            {"test": "accuracy", "rivals": ["bad"], "metrics": ["mrr"], "families": ["flickr", "nuswide"]},
            "The run has no data set of the family flickr or nuswide.",
        ),
        ({"test": "time_of_epoch", "method": "x", "rivals": ["bad"]}, "The run has no row x on such data."),
        ({"test": "setting", "parameter": "b"} | ABSENT, "The run varies no setting b of good."),
        (
            {"test": "setting", "parameter": "a"} | ABSENT | {"worse": [0.8, 0.9]},
            "The run tries no value from 0.8 to 0.9.",
        ),
        (
            {"test": "growth", "variable": "pairs", "between": [0.8, 1.2]},
            "The run measures no growth; it needs the key scaling.",
        ),
    ],
)
def test_a_claim_that_cannot_be_tested_says_why(judge, claim, reason):
    (row,) = judge(**claim)
    assert (row["verdict"], row["reason"], row["effect"]) == ("not testable here", reason, "")


def test_a_row_says_what_its_effect_is_and_why_it_has_no_verdict(judge):
    rows = {row["dataset"]: row for row in judge(test="memory", rivals=["bad"])}
    assert {row["metric"] for row in rows.values()} == {"peak memory, ratio"}
    assert {row["effect_is"] for row in rows.values()} == {"ratio (claimed: above 1)"}
    assert rows["real"]["reason"] == ""
    assert rows["sim"]["reason"] == "Simulated data says nothing about the paper's data."


def test_holms_correction_is_over_the_claims_of_a_paper_on_real_data(tmp_path, results):
    claims = [
        {"claim": test, "where": "w", "test": test, "method": "good", "families": ["iapr"], "rivals": ["bad"]}
        for test in ("time_of_epoch", "memory")
    ]
    (tmp_path / "p.yaml").write_text(yaml.safe_dump({"title": "P", "citation": "c", "claims": claims}))
    tested = [one for one in verdicts(Paper.read(tmp_path / "p.yaml"), planted()).to_dicts() if not one["simulated"]]
    raw = [stats.ttest_1samp(np.log(ratios), 0).pvalue for ratios in RATIOS]
    assert raw[0] < raw[1]
    assert tested[0]["p_adjusted"] == pytest.approx(2 * raw[0], rel=1e-4)
    assert tested[1]["p_adjusted"] == pytest.approx(max(raw[1], 2 * raw[0]), rel=1e-4)


RATIOS = [np.array([1.9, 2.0, 2.2]), np.array([1.1, 1.3, 1.9])]  # of seconds, rival over method; of memory, the inverse


def planted():
    """Return evidence with these ratios in three repeats, on a real and on a simulated data set."""
    timing = [
        {"dataset": dataset, "protocol": "distinct", "method": method, "phase": "epoch", "repeat": repeat}
        | {"seconds": RATIOS[0][repeat] if method == "bad" else 1.0}
        | {"peak_rss_bytes": int(1e9 * RATIOS[1][repeat]) if method == "good" else 10**9}
        for dataset in ("real", "sim")
        for method in ("good", "bad")
        for repeat in range(3)
    ]
    return Evidence(
        places=[RunPlace(Place(name, "distinct"), "iapr", name == "sim", ["good", "bad"]) for name in ("real", "sim")],
        seeds=SEEDS,
        resamples=100,
        timing=frame(timing, schemas.TIMING),
        history=frame([], schemas.HISTORY),
        sweeps=None,
        scaling=None,
        read_ranks=lambda case: pytest.fail("no ranks are needed"),
        read_sweep_ranks=lambda case, parameter: pytest.fail("no ranks are needed"),
    )


def test_a_ratio_needs_two_pairs():
    with pytest.raises(UntestableError, match="two seeds or more"):
        ratio(np.array([2.0]), np.array([1.0]), "seeds")
    assert ratio(np.array([2.0, 2.0]), np.array([1.0, 1.0]), "seeds").value == pytest.approx(2.0)


def test_two_rows_are_compared_on_the_same_images_only():
    other = ranks(1, 0).with_columns(image=pl.col("image") + 1)
    with pytest.raises(UserError, match=r"different test images; delete them and run again"):
        differences([ranks(1, 0)], [other], ["mrr"], 100)


def test_the_order_of_the_images_in_a_file_does_not_matter():
    shuffled = ranks(1, 0).sample(fraction=1, shuffle=True, seed=3)
    assert differences([ranks(1, 0)], [shuffled], ["mrr"], 100)["mrr"] == Effect(0.0, 0.0, 0.0, 1.0, 0.0)


def test_the_best_value_is_chosen_on_validation_among_those_that_no_seed_diverged_with():
    sweep = pl.DataFrame({"value": [0.0, 0.0, 0.5, 0.5, 1.0], "validation": [0.3, 0.3, 0.2, 0.5, 0.9]})
    assert best_value(sweep, [0.0, 1.0], 2) == 0.5
    with pytest.raises(UntestableError, match=r"no value from 0\.9 to 1"):
        best_value(sweep, [0.9, 1.0], 2)


@pytest.mark.parametrize(
    ("low", "high", "expected"), [(0.9, 1.1, "holds"), (1.3, 1.4, "fails"), (1.1, 1.3, "undecided"), (0, 0.7, "fails")]
)
def test_growth_is_judged_by_its_interval(low, high, expected):
    growth = Growth(method="good", variable="pairs", between=[0.8, 1.2])
    assert growth.verdict(Effect(1.0, low, high, None, 0.0), None) == expected


def test_growth_is_read_off_the_measurement():
    scaling = [
        {"method": "good", "variable": "pairs", "size": size, "repeat": repeat, "seconds": size * 1e-6}
        for size in (10, 20, 40)
        for repeat in (1, 2)
    ]
    nothing = frame([], schemas.TIMING)
    evidence = Evidence([], SEEDS, 100, nothing, nothing, None, frame(scaling, schemas.SCALING), ranks, ranks)
    growth = Growth(method="good", variable="pairs", between=[0.8, 1.2])
    assert list(growth.cases(evidence)) == [ClaimCase("exponent of pairs", simulated=True)]
    assert growth.test(evidence, ClaimCase("exponent of pairs")).value == pytest.approx(1.0)
    with pytest.raises(UntestableError, match="The growth of good with the labels was not measured"):
        Growth(method="good", variable="labels", between=[0.8, 1.2]).test(evidence, ClaimCase("exponent of labels"))


# The real papers, and mistakes in a paper's file


@pytest.mark.parametrize("path", PAPERS, ids=lambda path: path.stem)
def test_the_claims_of_the_papers_name_what_exists(path):
    for claim in read_claims(Paper.read(path)):
        for row in (claim.test.method, *getattr(claim.test, "rivals", [])):
            assert (METHODS / f"{row}.yaml").is_file()
        if hasattr(claim.test, "parameter"):
            assert claim.test.parameter in load_method(claim.test.method).settings_type.model_fields


def test_no_claim_of_a_paper_is_lost():
    assert [len(read_claims(Paper.read(path))) for path in PAPERS] == [0, 0, 7, 12, 31]


def test_every_module_of_the_folder_is_a_test():
    for path in FOLDER.glob("[a-z]*.py"):
        assert load_test(path.stem, "here").__module__ == f"vsebench.papers.claims.{path.stem}"


@pytest.mark.parametrize(
    ("claim", "message"),
    [
        ("{where: w, test: memory}", "claim 1: claim: this key is missing"),
        (
            "{claim: c, where: w, test: guess}",
            "claim 1: test: there is no test 'guess'; there are accuracy, expected_trials, ",
        ),
        ("{claim: c, where: w, test: memory, method: m}", "claim 1: families: this key is missing"),
        (
            "{claim: c, where: w, test: growth, method: m, variable: pairs, between: [0.0, 1.0], rivals: [x]}",
            "claim 1: rivals: unknown key",
        ),
        (
            "{claim: c, where: w, test: accuracy, method: m, families: [iapr], rivals: [x], metrics: [rec@10]}",
            "claim 1: metrics.0: there is no metric 'rec@10'",
        ),
    ],
)
def test_a_mistake_names_file_claim_and_key(tmp_path, claim, message):
    (tmp_path / "p.yaml").write_text(f"{{title: P, citation: c, claims: [{claim}]}}")
    with pytest.raises(UserError) as error:
        read_claims(Paper.read(tmp_path / "p.yaml"))
    assert str(error.value).startswith(f"{tmp_path}/p.yaml: {message}")
