"""How claims are tested and judged, on planted results."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
import yaml
from scipy import stats

from tests.papers.planted import RATIOS, SEEDS, decided, frame, planted, ranks
from vsebench.cli import main
from vsebench.core import schemas
from vsebench.core.errors import UserError
from vsebench.core.storage import read_parquet, write_json, write_table
from vsebench.core.tasks import Case, Task
from vsebench.core.yaml_files import check
from vsebench.papers import evidence as evidence_module
from vsebench.papers.base import Paper
from vsebench.papers.claims.ratios import Memory, TimeOfEpoch
from vsebench.papers.evidence import Effect, UntestableError, metric_difference, ratio
from vsebench.papers.verdicts import Claim, ClaimText, lines_of, load_test, measured_row, verdicts
from vsebench.papers.verdicts import judge as judge_claim
from vsebench.stages.claims import at_limit_of

ABSENT = {"better": [0.1, 1.0], "worse": [0.0, 0.0], "metric": "ndcg@10"}


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
    lines = {line["dataset"]: line for line in judge(**claim)}
    assert lines["real"]["verdict"] == "holds"
    assert float(lines["real"]["p_adjusted"]) < 0.05
    assert lines["sim"]["verdict"] == "not testable here"
    assert lines["sim"]["p_adjusted"] == ""
    for line in judge(**claim, level="case"):
        assert float(line["ci_low"]) <= float(line["effect"]) <= float(line["ci_high"])
        if effect is not None:
            assert float(line["effect"]) == pytest.approx(effect)


def test_two_methods_are_compared_on_the_seeds_that_both_have():
    task = Task("d", "official")
    entries = task, "one/sharp", "other/blunt", "exact_match"
    fewer, two, three = (
        decided(**changes).both(*entries)
        for changes in ({"own_seeds": {"d/official/other": [1, 2]}}, {"seeds": [1, 2]}, {})
    )
    assert (fewer.by_seed == two.by_seed).all()
    assert (fewer.samples == two.samples).all()
    assert len(three.by_seed) == 3


def test_a_training_that_its_limit_stopped_gives_no_time_to_converge(judge, results):
    """The planted ratio is 2 in seconds and 1 in epochs."""
    stopped = "Training of {} was stopped by its limit on epochs (seeds 2)."
    for methods, words in ((["bad"], "at least {}"), (["good"], "at most {}"), (["good", "bad"], "unknown")):
        write_json([entry | {"at_limit": entry["seed"] == 2} for entry in fits(*methods)], results / "settings.json")
        for unit, value in (("seconds", 2), ("epochs", 1)):
            claim = {"test": "time_to_converge", "counted_in": unit, "rivals": ["bad"]}
            lines = [judge(**claim, level=level)[0] for level in ("claim", "case")]
            assert (lines[0]["data"], lines[0]["verdict"]) == ("other", "not testable here")
            reason = f"{' '.join(map(stopped.format, methods))} So the ratio is {words.format(value)}."
            assert {line["reason"] for line in lines} == {reason}
            for line in lines:
                assert (line["effect"], line["ci_low"], line["ci_high"], line["p_adjusted"]) == ("",) * 4


def fits(*methods, **changes):
    """Return entries of settings.json on the real data set, one per method and seed."""
    keys = {"dataset": "real", "protocol": "distinct", "epochs": 20}
    return [keys | {"method": method, "seed": seed} | changes for method in methods for seed in (1, 2, 3)]


def test_a_time_to_a_share_of_the_best_needs_five_seeds(judge):
    line = judge(test="time_to_share", rivals=["bad"], share=0.9, times=1.5)[0]
    assert line["verdict"] == "not testable here"
    assert line["reason"] == "A claim on time or memory needs 5 repeats; the run has 3 (seeds)."
    assert line["effect"] == ""


def test_a_time_to_a_share_of_the_best_is_no_number_where_the_best_is_unknown(judge, results, monkeypatch):
    monkeypatch.setattr(evidence_module, "FEWEST_REPEATS", 3)
    claim = {"test": "time_to_share", "rivals": ["bad"], "share": 0.9, "times": 1.5, "level": "case"}
    assert judge(**claim)[0]["effect"] != ""
    write_json(fits("good", at_limit=True), results / "settings.json")
    line = judge(**claim)[0]
    assert (line["effect"], line["ci_low"], line["ci_high"]) == ("",) * 3
    assert line["reason"].endswith("(seeds 1, 2, 3). So the ratio is unknown.")


def test_a_claim_on_accuracy_names_the_fits_at_a_limit_and_is_judged(judge, results):
    stopped = [
        *fits("good", at_limit=True, epochs=None),
        *fits("bad", at_limit=False, on_edges=["factors", "gamma"]),
    ]
    claim = {"test": "accuracy", "rivals": ["bad"], "metrics": ["recall@10"]}
    before = judge(**claim)
    write_json(stopped, results / "settings.json")
    after, case = judge(**claim)[0], judge(**claim, level="case")[0]
    assert (after["verdict"], after["effect"]) == (before[0]["verdict"], before[0]["effect"])
    assert (before[0]["remark"], after["remark"]) == (
        "", "In 1 of 1 cases, a fit ended at a limit, or a setting is at the edge of a grid."
    )  # fmt: skip
    assert case["remark"] == (
        "Training of good was stopped by its limit on iterations (seeds 1, 2, 3). "
        "At the edge of the range tried: factors, gamma of bad."
    )


def test_a_claim_on_a_setting_names_the_values_whose_fits_a_limit_stopped(judge, results):
    path = results / "sweeps.parquet"
    stopped = (pl.col("value") == 0.5) & (pl.col("seed") > 1) & (pl.col("dataset") == "real")
    write_table(read_parquet(path).with_columns(at_limit=stopped, epochs=20), schemas.SWEEPS, path)
    claim = {"test": "setting", "parameter": "a", "metric": "ndcg@10", "better": [0.1, 1.0], "worse": [0.0, 0.0]}
    line = judge(**claim, level="case")[0]
    assert line["remark"] == "Training of good with a = 0.5 was stopped by its limit on epochs (seeds 2, 3)."
    assert judge(**claim)[0]["verdict"] == "holds"


def test_a_claim_can_name_its_protocols(judge):
    claim = {"test": "accuracy", "rivals": ["bad"], "metrics": ["recall@10"]}
    assert judge(**claim, protocols=["images", "distinct"]) == judge(**claim)


@pytest.mark.parametrize(("within", "verdict"), [([0.0, 1.0], "holds"), ([-1.0, 0.0], "fails")])
def test_a_difference_between_values_of_a_setting_is_judged_by_bounds_if_it_has_any(judge, within, verdict):
    lines = {line["dataset"]: line for line in judge(test="setting", parameter="a", within=within, **ABSENT)}
    assert lines["real"]["verdict"] == verdict


def test_models_from_outside_the_run_change_no_verdict(judge, results):
    """Their seeds vary much more than those of the methods in the claim."""
    path, rng = results / "metrics.parquet", np.random.default_rng(2)

    def add(methods, spread):
        keys = {"dataset": "real", "protocol": "distinct", "decision": "", "metric": "recall@10", "n": 100}
        rows = [
            keys | {"method": method, "seed": seed, "value": rng.normal(0.5, spread), "ci_low": 0.0, "ci_high": 1.0}
            for method in methods
            for seed in SEEDS
        ]
        write_table(pl.concat([read_parquet(path), frame(rows, schemas.METRICS)]), schemas.METRICS, path)

    claim = {"test": "accuracy", "rivals": ["bad"], "metrics": ["recall@10"]}
    add(["good", "bad", "third", "fourth"], 0.01)
    alone = judge(**claim)
    outside = ["elsewhere", "good@earlier", "bad@earlier", "third@earlier"]
    add(outside, 0.2)
    assert judge(**claim, outside=outside) == alone
    assert judge(**claim) != alone


def test_the_opposite_fails(judge):
    lines = judge(test="accuracy", method="bad", rivals=["good"], metrics=["recall@10", "map@10"])
    assert {line["verdict"] for line in lines if line["dataset"] == "real"} == {"fails"}
    lines = judge(test="memory", rivals=["bad"])
    assert {line["verdict"] for line in lines if line["dataset"] == "real"} == {"fails"}


def test_no_difference_is_undecided(judge):
    lines = judge(test="accuracy", rivals=["good"], metrics=["recall@10"])
    (line,) = [line for line in lines if line["dataset"] == "real"]
    assert line["verdict"] == "undecided"
    assert float(line["effect"]) == 0


@pytest.mark.parametrize(
    ("claim", "reason"),
    [
        ({"test": "memory", "rivals": ["x", "y"]}, "The run has no method x or y to compare with."),
        (
            {"test": "time_of_epoch", "method": "x", "rivals": ["bad"]},
            "No task of the claim's families and protocols has results for x.",
        ),
        ({"test": "setting", "parameter": "b"} | ABSENT, "The run does not vary the setting b of good."),
        (
            {"test": "setting", "parameter": "a"} | ABSENT | {"worse": [0.8, 0.9]},
            "No value of the setting from 0.8 to 0.9 has results for all seeds.",
        ),
        (
            {"test": "accuracy", "rivals": ["bad"], "metrics": ["mrr"], "protocols": ["official", "images"]},
            "No data set of the claim's families has the protocol official or images.",
        ),
        ({"test": "untested", "reason": "It needs eyes."}, "It needs eyes."),
        (
            {"test": "growth", "variable": "pairs", "between": [0.8, 1.2]},
            "The run does not measure how times grow; this needs the key `scaling`.",
        ),
    ],
)
def test_a_claim_that_cannot_be_tested_says_why(judge, claim, reason):
    (line,) = judge(**claim)
    assert (line["verdict"], line["reason"], line["effect"]) == ("not testable here", reason, "")


def test_a_claim_is_tested_on_data_of_its_families_only_real_or_simulated(judge):
    claim = {"test": "accuracy", "rivals": ["bad"], "metrics": ["recall@10"]}
    assert [line["dataset"] for line in judge(**claim)] == ["real", "sim"]
    (line,) = judge(**claim, families=["flickr", "nuswide"])
    assert line["verdict"] == "not testable here"
    assert line["reason"] == "The run has no data of the family flickr or nuswide."


def test_a_claim_on_simulated_data_only_is_not_tested_on_real_data(judge):
    (line,) = judge(test="accuracy", rivals=["bad"], metrics=["recall@10"], only_simulated=True)
    assert (line["dataset"], line["data"], line["verdict"]) == ("sim", "simulated", "holds")


def test_a_test_says_whether_the_data_is_the_papers_own(judge):
    claim = {"test": "accuracy", "rivals": ["bad"], "metrics": ["recall@10"]}
    assert [(line["dataset"], line["data"]) for line in judge(**claim)] == [("real", "other"), ("sim", "simulated")]
    tasks = {"theirs": {"title": "T", "dataset": "real"}, "drawn": {"title": "D", "dataset": "sim"}}
    lines = judge(**claim, tasks=tasks)
    assert [(line["dataset"], line["data"]) for line in lines] == [("real", "paper"), ("sim", "simulated")]
    assert lines[0]["verdict"] == "holds"


def test_a_line_says_what_its_effect_is_and_why_it_has_no_verdict(judge):
    lines = {line["dataset"]: line for line in judge(test="memory", rivals=["bad"])}
    cases = {line["dataset"]: line for line in judge(test="memory", rivals=["bad"], level="case")}
    assert {line["metric"] for line in cases.values()} == {"peak memory, ratio"}
    assert {line["effect_is"] for line in cases.values()} == {"ratio (claimed: above 1)"}
    assert {line["verdict"] for line in cases.values()} == {""}
    assert cases["sim"]["reason"] == lines["sim"]["reason"]
    assert lines["real"]["reason"] == ""
    assert lines["sim"]["reason"] == "Results on simulated data are no evidence on the paper's data."


@pytest.mark.parametrize(
    ("claim", "bounds"),
    [
        ({"test": "accuracy", "metrics": ["recall@10"]}, ("0.0", "")),
        ({"test": "accuracy_by_margin", "metrics": ["recall@10"], "by": 0.03}, ("0.03", "")),
        ({"test": "same_accuracy", "metrics": ["recall@10"], "within": [-0.1, 0.1]}, ("-0.1", "0.1")),
        ({"test": "time_of_epoch", "times": 1.5}, ("1.5", "")),
        ({"test": "memory"}, ("1.0", "")),
    ],
)
def test_a_line_has_the_bounds_by_which_the_claim_is_judged(judge, claim, bounds):
    lines = [*judge(**claim, rivals=["bad"]), *judge(**claim, rivals=["bad"], level="case")]
    measured = [line for line in lines if line["effect"]]
    assert len(measured) > 1
    assert {(line["bound_low"], line["bound_high"]) for line in measured} == {bounds}


@pytest.mark.parametrize(
    ("keys", "effect"),
    [
        ({}, "difference of a metric (claimed: above 0)"),
        ({"within": [0.0, 1.0]}, "difference of a metric (claimed: within the claim's bounds)"),
        ({"ratio_at_least": 1.5}, "ratio (claimed: at least the claim's bound)"),
    ],
)
def test_a_claim_on_a_setting_says_whether_its_effect_is_a_difference_or_a_ratio(judge, keys, effect):
    lines = judge(test="setting", parameter="a", **keys, **ABSENT, level="case")
    assert {line["effect_is"] for line in lines} == {effect}


def test_the_correction_is_for_each_kind_of_data_apart(tmp_path):
    claims = [
        {"claim": test, "where": "w", "test": test, "method": "good", "families": ["iapr"], "rivals": ["bad"]}
        for test in ("time_of_epoch", "memory")
    ]
    paper = {"title": "P", "citation": "c", "claims": claims, "tasks": {"a": {"title": "A", "dataset": "own"}}}
    (tmp_path / "p.yaml").write_text(yaml.safe_dump(paper))
    lines = verdicts(Paper.read(tmp_path / "p.yaml"), planted(("real", "sim", "own", "more"))).to_dicts()
    found = [line for line in lines if line["level"] == "claim"]
    assert [line["data"] for line in found] == ["paper", "other", "simulated"] * 2
    assert [line["n_tasks"] for line in found] == [1, 2, None] * 2
    small, large = (stats.ttest_1samp(np.log(ratios), 0).pvalue for ratios in RATIOS)
    assert small < large
    by_data = {
        data: [line["p_adjusted"] for line in found if line["data"] == data] for data in ("paper", "other", "simulated")
    }
    assert by_data["paper"] == pytest.approx([min(2 * small, large), large], rel=1e-4)  # of two tests, not of six
    assert by_data["other"] == pytest.approx([min(2 * small, large), large], rel=1e-4)  # tasks are alike
    assert by_data["simulated"] == [None, None]


def test_other_verdicts_do_not_depend_on_measured_seconds_and_memory(tmp_path):
    """Two claims on a small difference, corrected together; a timed claim changes nothing."""
    common = {"where": "w", "families": ["iapr"], "rivals": ["bad"], "method": "good"}
    accuracy = [{"test": "accuracy", "metrics": [metric]} for metric in ("recall@10", "map@10")]
    costs = [{"test": "time_of_epoch"}, {"test": "memory"}, {"test": "scoring_time", "times": 2}]
    evidence = replace(planted(("real",)), read_ranks=lambda case: ranks(case.seed, 0 if case.variant == "good" else 1))

    def adjusted(*tests):
        claims = [common | {"claim": str(n)} | test for n, test in enumerate(tests)]
        (tmp_path / "p.yaml").write_text(yaml.safe_dump({"title": "P", "citation": "c", "claims": claims}))
        lines = verdicts(Paper.read(tmp_path / "p.yaml"), evidence).filter(level="claim")
        return lines["p_adjusted"].to_list()

    alone, together = adjusted(*accuracy), adjusted(*accuracy, *costs)
    assert together[:2] == alone
    assert alone != [p for test in accuracy for p in adjusted(test)]
    assert together[2:] == adjusted(*costs)


def test_a_ratio_needs_two_pairs():
    with pytest.raises(UntestableError, match="at least two seeds"):
        ratio(np.array([2.0]), np.array([1.0]), "seeds")
    with pytest.raises(UntestableError, match="the same number of repeats"):
        ratio(np.array([2.0, 2.0, 2.0]), np.array([1.0, 1.0]), "repeats")
    assert ratio(np.array([2.0, 2.0]), np.array([1.0, 1.0]), "seeds").effect().value == pytest.approx(2.0)


def test_two_variants_are_compared_on_the_same_images_only():
    other = ranks(1, 0).with_columns(image=pl.col("image") + 1)
    with pytest.raises(UserError, match=r"different test images; delete this file of both methods and run again"):
        metric_difference([ranks(1, 0)], [other], "mrr", 100)


def test_the_order_of_the_images_in_a_file_does_not_matter():
    shuffled = ranks(1, 0).sample(fraction=1, shuffle=True, seed=3)
    assert metric_difference([ranks(1, 0)], [shuffled], "mrr", 100).effect() == Effect(0.0, 0.0, 0.0, 1.0, 0.0)


def test_a_size_is_judged_on_the_named_data_set_only(judge):
    claim = {"test": "time_of_epoch", "rivals": ["bad"], "times": 1.5}
    (line, _) = judge(**claim, named=["real"])
    assert (line["dataset"], line["verdict"]) == ("real", "holds")
    (line, _) = judge(**claim, named=["elsewhere"])
    assert (line["verdict"], line["reason"]) == ("not testable here", "The paper states this only for elsewhere.")
    (case, _) = judge(**claim, named=["elsewhere"], level="case")
    assert float(case["effect"]) == pytest.approx(2.0)


def test_a_sweep_has_a_verdict_only_if_the_other_settings_were_tuned(judge, results):
    claim = {"test": "setting", "parameter": "a"} | ABSENT
    (line, _) = judge(**claim)
    assert line["verdict"] == "holds"
    arguments = ["claims", "--papers", results / "p.yaml", "--results", results, "--seeds", 1, 2, 3, "--bootstrap", 200]
    arguments += ["--variants", "real/distinct/good", "--sweeps", results / "sweeps.parquet"]
    assert main(["stage", *map(str, arguments), "--out", str(results / "claims.csv")]) == 0
    line, case = pl.read_csv(results / "claims.csv").to_dicts()
    assert line["reason"] == case["reason"] == "The other settings of good were not tuned at each value of a."
    assert (line["verdict"], case["verdict"]) == ("not testable here", None)


def test_a_claim_that_the_paper_does_not_make_is_shown_without_a_verdict(judge):
    claim = {"test": "memory", "rivals": ["bad"], "no_verdict": "It is a control.", "quotation": "much memory"}
    for line in judge(**claim):
        assert (line["verdict"], line["reason"]) == ("not testable here", "It is a control.")
        assert line["quotation"] == "much memory"
    assert all(float(case["effect"]) == pytest.approx(0.5) for case in judge(**claim, level="case"))


@pytest.mark.parametrize(("labels", "expected"), [(199, "not testable here"), (200, "holds"), (0, "holds")])
def test_a_claim_can_need_labels_for_each_factor(labels, expected):
    evidence = planted(("real",))
    tasks = [replace(task, labels=labels) for task in evidence.tasks]
    factors = {"good": 100, "bad": 500}
    evidence = replace(evidence, tasks=tasks, selection=lambda case: {"settings": {"factors": factors[case.variant]}})
    keys = {"families": ["iapr"], "rivals": ["bad"], "labels_per_factor": 2, "method": "good"}
    claim = Claim(
        ClaimText(claim="c", where="w", test="time_of_epoch"), check(load_test("time_of_epoch", ""), keys, "")
    )
    (judged,) = judge_claim(claim, evidence)
    line, *_ = lines_of(judged, 0.01)
    assert line["verdict"] == expected
    if labels == 199:
        assert line["reason"] == "The claim needs 200 labels or more; the data have 199."


@pytest.mark.parametrize(("stated", "verdict"), [(0.5, "holds"), (0.0, "fails")])
def test_a_stated_optimum_is_held_against_the_value_that_validates_best(judge, stated, verdict):
    claim = {"test": "stated_optimum", "parameter": "a", "metric": "ndcg@10", "at_most": 0.005}
    (line,) = judge(**claim, optimum={"real": stated})
    assert (line["dataset"], line["verdict"]) == ("real", verdict)
    (line,) = judge(**claim, optimum={"elsewhere": stated})
    assert line["reason"] == "The paper states this only for elsewhere."
    (line,) = judge(**claim, optimum={"real": 0.25})
    assert line["reason"] == "The run does not try good with a = 0.25."


@pytest.mark.parametrize(("bound", "verdict"), [(1.1, "holds"), (90.0, "fails")])
def test_the_ratio_between_values_of_a_setting_is_judged_by_its_bound(judge, bound, verdict):
    (line, _) = judge(test="setting", parameter="a", ratio_at_least=bound, **ABSENT)
    assert line["verdict"] == verdict
    assert 1.1 < float(line["effect"]) < 90


def test_measured_times_and_memory_need_five_repeats():
    evidence = planted()
    few = replace(evidence, timing=evidence.timing.filter(pl.col("repeat") < 4))
    for test in (TimeOfEpoch, Memory):
        claim = test(method="good", families=["iapr"], rivals=["bad"])
        case = next(iter(claim.cases(evidence)))
        assert claim.test(evidence, case).value > 1
        with pytest.raises(UntestableError, match=r"needs 5 repeats; the run has 4 \(timing.repeats\)"):
            claim.test(few, case)


@pytest.mark.parametrize(
    ("test", "keys", "measured", "ends"),
    [
        ("accuracy", {"rivals": ["bad"], "metrics": ["recall@10"]}, "recall@10", (-1, 1)),
        ("accuracy", {"rivals": ["bad"], "metrics": ["coverage"]}, "coverage", (-2, 2.5)),  # it counts labels
        ("same_accuracy", {"rivals": ["bad"], "metrics": ["map"], "within": [0, 1]}, "map", (-1, 1)),
        ("sibling_precision", {"rivals": ["bad"], "cutoff": 3}, "sibling_precision@3", (-1, 1)),
        ("sibling_precision", {"rivals": ["bad"], "cutoff": 3, "ratio": True}, "a ratio", (-2, 2.5)),
        ("setting", {"parameter": "a"} | ABSENT, "ndcg@10", (-1, 1)),
        ("setting", {"parameter": "a", "ratio_at_least": 1.5} | ABSENT, "ndcg@10", (0, 2.5)),
        ("share_of_metric", {"control": "bad", "metric": "map", "below": 0.5}, "map", (0, 2.5)),
        ("size_spread", {"sizes": ["a", "b"], "metrics": ["map"], "below": 0.5}, "map", (0, 1)),
        ("pooled_precision", {"rivals": ["bad"]}, "pooled average precision", (-1, 1)),
        ("time_of_epoch", {"rivals": ["bad"]}, "seconds", (-2, 2.5)),
    ],
)
def test_no_interval_extends_beyond_the_possible_effects(test, keys, measured, ends):
    made = check(load_test(test, ""), {"method": "good", "families": ["iapr"]} | keys, "")
    row = measured_row("bad", measured, made, Effect(0.5, -2.0, 2.5, None, 0.0))
    assert (row["ci_low"], row["effect"], row["ci_high"]) == (ends[0], 0.5, ends[1])


def test_a_claim_on_label_sets_names_the_decisions_whose_training_a_limit_stopped():
    record = {"dataset": "d", "protocol": "official", "method": "one", "seed": 2}
    decisions = {"sharp": {"epoch": 39, "at_limit": True}, "blunt": {"epoch": 3, "at_limit": False}, "k": {"k": 3}}
    at_limit = at_limit_of([record | {"decisions": decisions}])
    assert at_limit == {Case(Task("d", "official"), "one/sharp", 2): "epochs"}
    evidence = decided(at_limit=at_limit)
    keys = {"method": "one/sharp", "rivals": ["one/blunt"], "metrics": ["exact_match"], "families": ["other"]}
    test = check(load_test("accuracy", ""), keys, "")
    (case,) = test.cases(evidence)
    assert test.remark(evidence, case) == "Training of one/sharp was stopped by its limit on epochs (seeds 2)."


def test_a_case_does_not_count_if_the_settings_of_a_method_were_not_chosen_for_the_data(judge, results):
    claim = {"test": "accuracy", "rivals": ["bad"], "metrics": ["recall@10"]}
    reason = "No search chose the settings of {} for these data."
    for choice, words in (("recorded", ""), ("paper", ""), ("untuned", "good and bad")):
        write_json([*fits("good", choice=choice), *fits("bad", choice=choice)], results / "settings.json")
        verdict, case = judge(**claim)[0], judge(**claim, level="case")[0]
        assert verdict["verdict"] == ("not testable here" if words else "holds")
        assert case["reason"] == (reason.format(words) if words else "")
    assert judge(test="time_of_epoch", rivals=["bad"])[0]["verdict"] == "holds"  # settings change times little
