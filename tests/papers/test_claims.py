"""The tests behind the papers' claims, on planted results."""

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import yaml
from pydantic import ValidationError
from scipy import stats

from vsebench.cli import main
from vsebench.config.method import read_method_config
from vsebench.core import schemas
from vsebench.core.errors import UserError
from vsebench.core.places import Case, Entry, Place
from vsebench.core.storage import write_json, write_table
from vsebench.core.yaml_files import check
from vsebench.evaluation.analyses.base import load_analysis
from vsebench.evaluation.measuring import Ranked
from vsebench.evaluation.sets import LabelSets
from vsebench.methods.base import load_method
from vsebench.papers.base import Paper
from vsebench.papers.claim import ClaimCase
from vsebench.papers.claims.cost_formula import CostFormula
from vsebench.papers.claims.growth import Growth
from vsebench.papers.claims.setting import best_value
from vsebench.papers.evidence import Effect, Evidence, RunPlace, UntestableError, differences, ratio
from vsebench.papers.verdicts import FOLDER, load_test, read_claims, verdicts

PAPERS = sorted((Path(__file__).parents[2] / "config" / "papers").glob("*.yaml"))
METHODS = Path(__file__).parents[2] / "config" / "methods"
DECISIONS = METHODS.parent / "decisions"
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
    return pl.DataFrame(columns | {"right": np.ones(400), "negatives": np.full(400, 99), "cold": np.zeros(400)}).cast(
        schemas.RANKS
    )


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
                all_epochs = {"phase": "training", "seed": repeat - 1, "seconds": 10 * keys["seconds"]}
                timing.append(keys | all_epochs)
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

    def run(places=None, **claim):
        # What is of no data set has no families.
        common = {} if claim["test"] in ("growth", "untested") else {"families": ["iapr"]}
        content = {
            "title": "P",
            "citation": "c",
            "places": places or {},
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


def test_a_claim_can_name_its_protocols(judge):
    claim = {"test": "accuracy", "rivals": ["bad"], "metrics": ["recall@10"]}
    assert judge(**claim, protocols=["images", "distinct"]) == judge(**claim)


@pytest.mark.parametrize(("within", "verdict"), [([0.0, 1.0], "holds"), ([-1.0, 0.0], "fails")])
def test_a_difference_between_values_of_a_setting_is_judged_by_bounds_if_it_has_any(judge, within, verdict):
    rows = {row["dataset"]: row for row in judge(test="setting", parameter="a", within=within, **ABSENT)}
    assert rows["real"]["verdict"] == verdict


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
        (
            {"test": "accuracy", "rivals": ["x", "y"], "metrics": ["mrr"]},
            "The run has no method x or y to compare with.",
        ),
        ({"test": "time_of_epoch", "method": "x", "rivals": ["bad"]}, "The run has no method x on such data."),
        ({"test": "setting", "parameter": "b"} | ABSENT, "The run varies no setting b of good."),
        (
            {"test": "setting", "parameter": "a"} | ABSENT | {"worse": [0.8, 0.9]},
            "The run tries no value from 0.8 to 0.9.",
        ),
        (
            {"test": "accuracy", "rivals": ["bad"], "metrics": ["mrr"], "protocols": ["official", "images"]},
            "The run has no such data set with the protocol official or images.",
        ),
        ({"test": "untested", "reason": "It needs eyes."}, "It needs eyes."),
        (
            {"test": "growth", "variable": "pairs", "between": [0.8, 1.2]},
            "The run does not measure growth; this needs the key scaling.",
        ),
    ],
)
def test_a_claim_that_cannot_be_tested_says_why(judge, claim, reason):
    (row,) = judge(**claim)
    assert (row["verdict"], row["reason"], row["effect"]) == ("not testable here", reason, "")


def test_a_claim_is_tested_on_real_data_of_any_family_and_on_simulated_data_of_its_own(judge):
    claim = {"test": "accuracy", "rivals": ["bad"], "metrics": ["recall@10"]}
    assert [row["dataset"] for row in judge(**claim)] == ["real", "sim"]
    (row,) = judge(**claim, families=["flickr", "nuswide"])
    assert (row["dataset"], row["data"], row["verdict"]) == ("real", "other", "holds")


def test_without_real_data_or_any_of_its_families_a_claim_cannot_be_tested():
    evidence = replace(planted(), places=[place for place in planted().places if place.data == "simulated"])
    test = check(load_test("memory", "here"), {"method": "good", "families": ["flickr"], "rivals": ["bad"]}, "here")
    with pytest.raises(
        UntestableError, match=r"^The run has neither real data nor simulated data of the family flickr\.$"
    ):
        list(test.cases(evidence))


def test_a_test_says_whether_the_data_is_the_papers_own(judge):
    claim = {"test": "accuracy", "rivals": ["bad"], "metrics": ["recall@10"]}
    assert [(row["dataset"], row["data"]) for row in judge(**claim)] == [("real", "other"), ("sim", "simulated")]
    places = {"theirs": {"title": "T", "dataset": "real"}, "drawn": {"title": "D", "dataset": "sim"}}
    rows = judge(**claim, places=places)
    assert [(row["dataset"], row["data"]) for row in rows] == [("real", "paper"), ("sim", "simulated")]
    assert rows[0]["verdict"] == "holds"


def test_a_row_says_what_its_effect_is_and_why_it_has_no_verdict(judge):
    rows = {row["dataset"]: row for row in judge(test="memory", rivals=["bad"])}
    assert {row["metric"] for row in rows.values()} == {"peak memory, ratio"}
    assert {row["effect_is"] for row in rows.values()} == {"ratio (claimed: above 1)"}
    assert rows["real"]["reason"] == ""
    assert rows["sim"]["reason"] == "Simulated data provides no evidence on the paper's data."


def test_the_correction_is_over_the_claims_of_a_paper_on_real_data(tmp_path, results):
    claims = [
        {"claim": test, "where": "w", "test": test, "method": "good", "families": ["iapr"], "rivals": ["bad"]}
        for test in ("time_of_epoch", "memory")
    ]
    (tmp_path / "p.yaml").write_text(yaml.safe_dump({"title": "P", "citation": "c", "claims": claims}))
    tested = [
        one for one in verdicts(Paper.read(tmp_path / "p.yaml"), planted()).to_dicts() if one["data"] != "simulated"
    ]
    raw = [stats.ttest_1samp(np.log(ratios), 0).pvalue for ratios in RATIOS]
    assert raw[0] < raw[1]
    assert tested[0]["p_adjusted"] == pytest.approx(min(2 * raw[0], raw[1]), rel=1e-4)
    assert tested[1]["p_adjusted"] == pytest.approx(raw[1], rel=1e-4)


def test_the_correction_is_for_each_kind_of_data_apart(tmp_path):
    claims = [
        {"claim": test, "where": "w", "test": test, "method": "good", "families": ["iapr"], "rivals": ["bad"]}
        for test in ("time_of_epoch", "memory")
    ]
    paper = {"title": "P", "citation": "c", "claims": claims, "places": {"a": {"title": "A", "dataset": "own"}}}
    (tmp_path / "p.yaml").write_text(yaml.safe_dump(paper))
    found = verdicts(Paper.read(tmp_path / "p.yaml"), planted(("real", "sim", "own", "more"))).to_dicts()
    assert [row["data"] for row in found] == ["paper", "other", "other", "simulated"] * 2
    small, large = (stats.ttest_1samp(np.log(ratios), 0).pvalue for ratios in RATIOS)
    by_data = {
        data: [row["p_adjusted"] for row in found if row["data"] == data] for data in ("paper", "other", "simulated")
    }
    assert by_data["paper"] == pytest.approx([min(2 * small, large), large], rel=1e-4)  # of two tests, not of six
    assert by_data["other"] == pytest.approx([min(2 * small, large)] * 2 + [large] * 2, rel=1e-4)  # of four
    assert by_data["simulated"] == [None, None]


RATIOS = [np.array([1.9, 2.0, 2.2]), np.array([1.1, 1.3, 1.9])]  # of seconds, rival over method; of memory, the inverse


def planted(datasets=("real", "sim")):
    """Return evidence with these ratios in three repeats, on real data sets and a simulated one."""
    timing = [
        {"dataset": dataset, "protocol": "distinct", "method": method, "phase": "epoch", "repeat": repeat}
        | {"seconds": RATIOS[0][repeat] if method == "bad" else 1.0}
        | {"peak_rss_bytes": int(1e9 * RATIOS[1][repeat]) if method == "good" else 10**9}
        for dataset in datasets
        for method in ("good", "bad")
        for repeat in range(3)
    ]
    return Evidence(
        places=[
            RunPlace(Place(name, "distinct"), "iapr", "simulated" if name == "sim" else "other", ["good", "bad"])
            for name in datasets
        ],
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
    with pytest.raises(UntestableError, match="at least two seeds"):
        ratio(np.array([2.0]), np.array([1.0]), "seeds")
    assert ratio(np.array([2.0, 2.0]), np.array([1.0, 1.0]), "seeds").value == pytest.approx(2.0)


def test_two_rows_are_compared_on_the_same_images_only():
    other = ranks(1, 0).with_columns(image=pl.col("image") + 1)
    with pytest.raises(UserError, match=r"different test images; delete these files and run again"):
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
        for repeat in (1, 2, 3)
    ]
    nothing = frame([], schemas.TIMING)
    evidence = Evidence([], SEEDS, 100, nothing, nothing, None, frame(scaling, schemas.SCALING), ranks, ranks)
    test = CostFormula(method="good", terms=[{"factors": 2}, {"pairs": 1}], within=0.2)
    (case,) = test.cases(evidence)
    assert test.verdict(test.test(evidence, case), None) == expected
    with pytest.raises(UntestableError, match="The growth of bad was not measured"):
        CostFormula(method="bad", terms=[{"pairs": 1}], within=0.2).test(evidence, case)


def test_growth_is_read_off_the_measurement():
    scaling = [
        {"method": "good", "variable": "pairs", "size": size, "repeat": repeat, "seconds": size * 1e-6}
        for size in (10, 20, 40)
        for repeat in (1, 2)
    ]
    nothing = frame([], schemas.TIMING)
    evidence = Evidence([], SEEDS, 100, nothing, nothing, None, frame(scaling, schemas.SCALING), ranks, ranks)
    growth = Growth(method="good", variable="pairs", between=[0.8, 1.2])
    assert list(growth.cases(evidence)) == [ClaimCase("exponent of pairs", data="simulated")]
    assert growth.test(evidence, ClaimCase("exponent of pairs")).value == pytest.approx(1.0)
    with pytest.raises(UntestableError, match="The growth of good with the labels was not measured"):
        Growth(method="good", variable="labels", between=[0.8, 1.2]).test(evidence, ClaimCase("exponent of labels"))


# The real papers, and mistakes in a paper's file


@pytest.mark.parametrize("path", PAPERS, ids=lambda path: path.stem)
def test_the_claims_of_the_papers_name_what_exists(path):
    for claim in read_claims(Paper.read(path)):
        for entry in map(Entry.of, (*claim.test.rows_read(), *getattr(claim.test, "rivals", []))):
            assert (METHODS / f"{entry.row}.yaml").is_file()
            assert not entry.decision or (DECISIONS / f"{entry.decision}.yaml").is_file()
        if hasattr(claim.test, "parameter"):
            module = read_method_config(METHODS / f"{claim.test.method}.yaml").method
            assert claim.test.parameter in load_method(module).settings_type.model_fields


def test_no_claim_of_a_paper_is_lost():
    assert [len(read_claims(Paper.read(path))) for path in PAPERS] == [27, 55, 20, 25, 31]


def test_every_module_of_the_folder_is_a_test():
    for path in FOLDER.glob("[a-z]*.py"):
        assert load_test(path.stem, "here").__module__ == f"vsebench.papers.claims.{path.stem}"


@pytest.mark.parametrize(
    ("claim", "message"),
    [
        ("{where: w, test: memory}", "claim 1: claim: this key is missing"),
        (
            "{claim: c, where: w, test: guess}",
            "claim 1: test: there is no test 'guess'; there are accuracy, accuracy_by_margin, cost_formula, ",
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


def decided(place):
    """Evidence of two rows with two decisions each on 400 images of six labels, of which two are right.

    The decision `sharp` chooses the right labels of most images, `blunt` of few; all else is the same.
    """
    right = pl.DataFrame({"image": np.repeat(np.arange(400), 2), "label": np.tile([0, 3], 400)})

    def read_sets(case, decision):
        share = {"sharp": 0.8, "blunt": 0.6}[decision]
        hit = np.random.default_rng(case.seed).random(400) < share
        wrong = right.with_columns(pl.when(pl.Series(np.repeat(hit, 2))).then("label").otherwise(pl.col("label") + 1))
        return LabelSets.of_pairs(wrong, right, pl.Series(np.arange(400)), 6)

    def read_ranked(case):
        above = {"one": 0, "other": 1}[case.row]
        found = right.with_columns(above=pl.lit(above), tied=pl.lit(0), right=pl.int_range(2).over("image") + 1)
        return Ranked(
            found.with_columns(negatives=pl.lit(4), cold=pl.lit(value=False))
            .select(*schemas.RANKS)
            .cast(schemas.RANKS),
            pl.DataFrame(),
        )

    rows = [*("one", "other"), *(f"{row}/{decision}" for row in ("one", "other") for decision in ("sharp", "blunt"))]
    empty = {name: pl.DataFrame() for name in ("timing", "history")}
    return Evidence([RunPlace(place, "other", "other", rows)], SEEDS, 400, **empty, sweeps=None, scaling=None,
                    read_ranks=lambda case: read_ranked(case).ranks, read_sweep_ranks=None, read_ranked=read_ranked,
                    read_sets=read_sets, n_labels=lambda case: 6)  # fmt: skip


def effects(test, evidence, **parameters):
    """Return the verdict and effect of each case of a test."""
    made = check(load_test(test, "here"), {"families": ["other"], **parameters}, "here")
    found = [(case.measured, made.test(evidence, case)) for case in made.cases(evidence)]
    return {name: (effect, made.verdict(effect, effect.p)) for name, effect in found}


def test_label_sets_of_decisions_are_compared_on_the_same_images():
    found = effects("accuracy", decided(Place("d", "official")), method="one/sharp", rivals=["one/blunt"],
                    metrics=["exact_match", "macro_f1", "map"])  # fmt: skip
    effect, verdict = found["exact_match"]
    assert effect.value == pytest.approx(0.2, abs=0.04)
    assert effect.low < 0.2 < effect.high
    assert verdict == "holds"
    assert found["macro_f1"][0].value > 0
    assert found["map"][0].value == 0  # both decisions are of the same ranking


@pytest.mark.parametrize(("by", "verdict"), [(0.1, "holds"), (0.2, "undecided"), (0.3, "fails")])
def test_an_advantage_is_tested_against_the_claims_margin(by, verdict):
    found = effects("accuracy_by_margin", decided(Place("d", "official")), method="one/sharp", rivals=["one/blunt"],
                    metrics=["exact_match"], by=by)  # fmt: skip
    effect, judged = found["exact_match"]
    assert effect.neutral == by
    assert effect.value == pytest.approx(0.2, abs=0.04)
    assert judged == verdict


@pytest.mark.parametrize(
    ("rival", "within", "verdict"),
    [("one", [-0.01, 0.01], "holds"), ("other", [-1, 0.01], "fails"), ("other", [0.01, 1], "holds")],
)
def test_accuracies_that_are_about_the_same(rival, within, verdict):
    """The row `other` has a wrong label before its two right ones: MAP (1/2 + 2/3) / 2."""
    found = effects("same_accuracy", decided(Place("d", "official")), method="one", rivals=[rival], metrics=["map"],
                    within=within)  # fmt: skip
    assert found["map"][0].value == pytest.approx(0 if rival == "one" else 1 - 7 / 12)
    assert found["map"][1] == verdict


def test_a_metric_of_label_sets_needs_rows_with_decisions():
    with pytest.raises(UserError, match="metrics: one is of label sets, so name other with a decision"):
        effects("accuracy", None, method="one/sharp", rivals=["other"], metrics=["macro_f1"])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"method": "one/sharp", "rivals": ["other/sharp"], "metrics": ["map"]}, "none is of label sets"),
        ({"method": "one", "rivals": ["other/sharp"], "metrics": ["map"]}, "none is of label sets"),
        (
            {"method": "one/sharp", "rivals": ["one/blunt"], "metrics": ["set_size"]},
            "set_size is not better where",
        ),
    ],
)
def test_a_claim_that_cannot_be_tested_is_refused(parameters, message):
    with pytest.raises(UserError, match=message):
        effects("accuracy", None, **parameters)


def test_a_metric_that_cannot_be_computed_gets_no_verdict():
    """Images were not ranked, so there is no MAP of labels."""
    with pytest.raises(UntestableError, match="label_map cannot be computed on d/official"):
        effects("accuracy", decided(Place("d", "official")), method="one", rivals=["other"], metrics=["label_map"])


def test_epochs_to_the_best_are_compared_as_seconds_are():
    rows = [
        {"dataset": "d", "protocol": "official", "method": row, "seed": seed, "phase": "selection", "epoch": epoch,
         "seconds": 1.0, "validation": -abs(epoch - best)}
        for row, best in (("one", 5), ("other", 10)) for seed in SEEDS for epoch in range(1, 15)
    ]  # fmt: skip
    history = frame(rows, schemas.HISTORY)
    evidence = Evidence(**(vars(decided(Place("d", "official"))) | {"history": history}))
    found = effects("time_to_converge", evidence, method="one", rivals=["other"], counted_in="epochs")
    assert found["epochs to best epoch, ratio"][0].value == pytest.approx(2)


def test_seconds_to_the_best_epoch_need_to_have_been_timed():
    tables = {"timing": frame([], schemas.TIMING)}
    evidence = Evidence(**(vars(decided(Place("d", "official"))) | tables))
    with pytest.raises(UntestableError, match=r"needs timing\.to_best_epoch: true"):
        effects("time_to_converge", evidence, method="one", rivals=["other"])


def test_thresholds_that_grow_with_difficulty():
    table = [
        {"dataset": "d", "protocol": "official", "method": "one", "seed": seed, "decision": "sharp", "reference": row,
         "label": str(label), "images": 20, "correlation": 0.4 + 0.02 * label if row == "oracle" else -0.5}
        for row in ("bce", "oracle") for seed in SEEDS for label in range(9)
    ]  # fmt: skip
    tables = {"thresholds_and_difficulty": frame(table, load_analysis("thresholds_and_difficulty").SCHEMA)}
    evidence = Evidence(**(vars(decided(Place("d", "official"))) | {"on_request": tables}))
    asked = {"method": "one/sharp", "above": 0.1}
    ((effect, verdict),) = effects("threshold_difficulty", evidence, references=["oracle", "bce"], **asked).values()
    assert effect.value == pytest.approx(0.48)
    assert verdict == "holds"
    ((_, verdict),) = effects("threshold_difficulty", evidence, references=["bce"], **asked).values()
    assert verdict == "fails"
    with pytest.raises(UntestableError, match="The run has no row nobody to tell the difficulty by"):
        effects("threshold_difficulty", evidence, references=["nobody"], **asked)


def test_words_that_training_pulls_apart():
    """Colours have the cosine 1 before and 0 after, animals 1 before and 0.5 after: the falls are 1 and 0.5."""
    same = [[1.0, 0.0, 0.0, 0.0]] * 3
    corners = np.eye(3, 4).tolist()
    shared = (np.hstack([np.eye(3), np.ones((3, 1))]) / np.sqrt(2)).tolist()
    vectors = {"other": same + same, "one": corners + shared}
    table = [
        {"dataset": "d", "protocol": "official", "method": row, "seed": seed, "label": label, "vector": vector}
        for row, of_row in vectors.items() for seed in SEEDS
        for label, vector in zip(["red", "blue", "green", "cat", "dog", "cow"], of_row, strict=True)
    ]  # fmt: skip
    tables = {"label_vectors": frame(table, load_analysis("label_vectors").SCHEMA)}
    evidence = Evidence(**(vars(decided(Place("d", "official"))) | {"on_request": tables}))
    colours, animals = ["red", "blue", "green", "unknown"], ["cat", "dog", "cow"]
    asked = {"method": "one", "fixed": "other"}
    ((effect, verdict),) = effects("words_apart", evidence, words=colours, beside=animals, **asked).values()
    assert (effect.value, effect.low, effect.high) == pytest.approx((0.5, 0.5, 0.5))
    assert verdict == "holds"
    ((effect, verdict),) = effects("words_apart", evidence, words=animals, beside=colours, **asked).values()
    assert effect.value == pytest.approx(-0.5)
    assert verdict == "fails"
    with pytest.raises(UntestableError, match="fewer than 3 words of a group"):
        effects("words_apart", evidence, words=colours, beside=["cat", "dog", "ox"], **asked)
    with pytest.raises(UntestableError, match="no row nobody to compare with"):
        effects("words_apart", evidence, method="one", fixed="nobody", words=colours, beside=animals)


def test_a_full_sample_loss_is_compared_at_one_beta_0_by_seeds():
    table = [
        {"dataset": "d", "protocol": "official", "method": row, "seed": seed, "beta_0": beta_0, "loss": loss * beta_0}
        for row, loss in (("one", 0.1), ("other", 0.2)) for seed in SEEDS for beta_0 in (1.0, 2.0)
    ]  # fmt: skip
    tables = {"full_sample_loss": frame(table, load_analysis("full_sample_loss").SCHEMA)}
    evidence = Evidence(**(vars(decided(Place("d", "official"))) | {"on_request": tables}))
    asked = {"method": "one", "rivals": ["other"]}
    ((effect, verdict),) = effects("full_sample_loss", evidence, beta_0=2.0, **asked).values()
    assert effect.value == pytest.approx(2.0)
    assert verdict == "holds"
    with pytest.raises(UntestableError, match="no full-sample loss of one with beta_0 = 3"):
        effects("full_sample_loss", evidence, beta_0=3.0, **asked)


@pytest.mark.parametrize(("at_most", "verdict"), [(0.3, "holds"), (0.1, "fails")])
def test_the_distance_of_a_sampler_is_judged_by_its_interval(at_most, verdict):
    table = [
        {"dataset": "d", "protocol": "official", "method": "one", "seed": seed, "image": image, "uniform": 0.5,
         "lists": 0.5 * (0.15 + 0.01 * (image % 10))}
        for seed in SEEDS for image in range(50)
    ]  # fmt: skip
    tables = {"sampler_distance": frame(table, load_analysis("sampler_distance").SCHEMA)}
    evidence = Evidence(**(vars(decided(Place("d", "official"))) | {"on_request": tables}))
    ((effect, judged),) = effects("sampler_distance", evidence, method="one", at_most=at_most).values()
    assert effect.value == pytest.approx(0.195)
    assert effect.low < 0.195 < effect.high
    assert judged == verdict
