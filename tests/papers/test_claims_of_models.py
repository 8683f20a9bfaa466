"""Tests of claims about accuracy, decisions, convergence, and what lies in a model; on planted evidence."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from tests.builders import frame
from tests.papers.planted import SEEDS, analysed, decided, effects, only_effect
from vsebench.core import schemas
from vsebench.core.errors import UserError
from vsebench.core.tasks import Case, Task
from vsebench.core.yaml_files import check
from vsebench.evaluation.analyses.thresholds_and_difficulty import INVARIANT
from vsebench.papers.evidence import UntestableError
from vsebench.papers.verdicts import Claim, ClaimText, judge, load_test


def test_label_sets_of_decisions_are_compared_on_the_same_images():
    found = effects("accuracy", decided(), method="one/sharp", rivals=["one/blunt"],
                    metrics=["exact_match", "macro_f1", "map"])  # fmt: skip
    effect, verdict = found["exact_match"]
    assert effect.value == pytest.approx(0.2, abs=0.04)
    assert effect.low < 0.2 < effect.high
    assert verdict == "holds"
    assert found["macro_f1"][0].value > 0
    assert found["map"][0].value == 0  # both decisions are of the same ranking


def test_methods_are_compared_with_the_same_decision():
    claim = {"method": "one", "rivals": ["other", "nobody"], "decisions": ["sharp", "blunt", "none"]}
    test = check(
        load_test("accuracy_with_decisions", ""), {"families": ["other"], "metrics": ["exact_match"]} | claim, ""
    )
    cases = list(test.cases(decided()))
    assert [case.rival for case in cases] == ["other/sharp", "other/blunt"]
    # The label sets of both methods are the same.
    assert [test.test(decided(), case).value for case in cases] == [0, 0]
    with pytest.raises(UserError, match="map does not measure the quality of label sets"):
        check(load_test("accuracy_with_decisions", ""), {"families": ["other"], "metrics": ["map"]} | claim, "")
    with pytest.raises(UntestableError, match="applies none of the claim's decisions both to one and to nobody"):
        list(test.model_copy(update={"rivals": ["nobody"]}).cases(decided()))


def tried(rate, epochs, at_limit=False):
    """Return the record of a configuration with the best epochs of the seeds of a search."""
    of_seeds = {"epochs_by_seed": epochs} if len(epochs) > 1 else {"epochs": epochs[0]}
    return {"settings": {"learning_rate": rate}, "at_limit": at_limit} | of_seeds


def searched(**tries):
    """Return the evidence of `decided`, with a search of the first seed, which chooses the settings of all seeds."""
    task = Task("d", "official")
    return decided(tries={Case(task, variant, SEEDS[0]): of_variant for variant, of_variant in tries.items()})


def test_epochs_are_compared_at_equal_settings():
    judge = partial(only_effect, "epochs_at_equal_settings", method="one", rivals=["other"])
    ours = [tried(0.1, [10, 12, 15]), tried(0.2, [5, 5, 5]), tried(0.3, [4, None, 4]), tried(0.4, [1, 1, 1])]
    theirs = [tried(0.1, [20, 24, 30]), tried(0.2, [40, 40, 40]), tried(0.3, [1, 1, 1])]
    effect, verdict = judge(searched(one=ours, other=theirs))
    assert (effect.value, verdict) == (pytest.approx(4), "holds")  # the mean of 2 and 8; the others are not shared
    with pytest.raises(UntestableError, match="the limit on epochs ended training too early"):
        judge(searched(one=ours, other=[tried(0.1, [20, 24, 30]), tried(0.2, [40, 40, 40], at_limit=True)]))
    # What only one method tried may end at the limit.
    assert judge(searched(one=[*ours, tried(0.5, [9, 9, 9], at_limit=True)], other=theirs))[0].value == pytest.approx(4)
    with pytest.raises(UntestableError, match="No settings are known that a search tried with both one and other"):
        judge(searched(one=ours[3:], other=theirs))
    with pytest.raises(UntestableError, match="two seeds of the search"):
        judge(searched(one=[tried(0.1, [10])], other=[tried(0.1, [20])]))


@pytest.mark.parametrize(("by", "verdict"), [(0.1, "holds"), (0.2, "undecided"), (0.3, "fails")])
def test_an_advantage_is_tested_against_the_claims_margin(by, verdict):
    margin = {"metrics": ["exact_match"], "by": by}
    effect, judged = only_effect("accuracy_by_margin", decided(), method="one/sharp", rivals=["one/blunt"], **margin)
    assert effect.neutral == by
    assert effect.value == pytest.approx(0.2, abs=0.04)
    assert judged == verdict


@pytest.mark.parametrize(
    ("rival", "within", "verdict"),
    [("one", [-0.01, 0.01], "holds"), ("other", [-1, 0.01], "fails"), ("other", [0.01, 1], "holds")],
)
def test_accuracies_that_are_about_the_same(rival, within, verdict):
    """The variant `other` has a wrong label before its two right ones: MAP (1/2 + 2/3) / 2."""
    claim = {"method": "one", "rivals": [rival], "metrics": ["map"], "within": within}
    effect, judged = only_effect("same_accuracy", decided(), **claim)
    assert effect.value == pytest.approx(0 if rival == "one" else 1 - 7 / 12)
    assert judged == verdict


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"method": "one/sharp", "rivals": ["other/sharp"], "metrics": ["map"]}, "none is for label sets"),
        ({"method": "one", "rivals": ["other/sharp"], "metrics": ["map"]}, "none is for label sets"),
        ({"method": "one/sharp", "rivals": ["one/blunt"], "metrics": ["set_size"]}, "neither large nor small values"),
        ({"method": "one/sharp", "rivals": ["other"], "metrics": ["macro_f1"]}, "so name other with a decision"),
    ],
)
def test_a_claim_that_cannot_be_tested_is_refused(parameters, message):
    with pytest.raises(UserError, match=message):
        effects("accuracy", None, **parameters)


def test_a_metric_that_cannot_be_computed_gets_no_verdict():
    """Images were not ranked, so there is no MAP of labels."""
    with pytest.raises(UntestableError, match="label_map cannot be computed on d/official"):
        effects("accuracy", decided(), method="one", rivals=["other"], metrics=["label_map"])


def test_epochs_to_the_best_are_compared_as_seconds_are():
    lines = [
        {"dataset": "d", "protocol": "official", "method": variant, "seed": seed, "phase": "selection", "epoch": epoch,
         "seconds": 1.0, "validation": -abs(epoch - best)}
        for variant, best in (("one", 5), ("other", 10)) for seed in SEEDS for epoch in range(1, 15)
    ]  # fmt: skip
    evidence = decided(history=frame(lines, schemas.HISTORY))
    effect, _ = only_effect("time_to_converge", evidence, method="one", rivals=["other"], counted_in="epochs")
    assert effect.value == pytest.approx(2)


def test_seconds_to_the_best_epoch_need_to_have_been_timed():
    evidence = decided(timing=frame([], schemas.TIMING))
    with pytest.raises(UntestableError, match=r"set timing\.to_best_epoch: true"):
        effects("time_to_converge", evidence, method="one", rivals=["other"])


def test_thresholds_that_grow_with_difficulty():
    lines = [
        {"method": "one", "seed": seed, "decision": "sharp", "reference": name, "form": form, "label": str(label)}
        | {"images": 20, "correlation": 0.4 + 0.02 * label if name == "oracle" or form == "raw" else -0.5}
        for name in ("bce", "oracle") for form in ("raw", *INVARIANT) for seed in SEEDS for label in range(9)
    ]  # fmt: skip
    evidence = analysed("thresholds_and_difficulty", lines)
    judge = partial(effects, "threshold_difficulty", evidence, method="one/sharp", above=0.1)
    found = judge(references=["oracle", "bce"])
    assert len(found) == 3
    for effect, verdict in found.values():
        assert (effect.value, verdict) == (pytest.approx(0.48), "holds")
    assert {verdict for _, verdict in judge(references=["bce"]).values()} == {"fails"}
    with pytest.raises(UntestableError, match="The run has no method nobody to measure the difficulty with"):
        judge(references=["nobody"])


def test_words_that_training_pulls_apart():
    """Colours have the cosine 1 before and 0 after, animals 1 before and 0.5 after: the falls are 1 and 0.5."""
    same = [[1.0, 0.0, 0.0, 0.0]] * 3
    corners = np.eye(3, 4).tolist()
    shared = (np.hstack([np.eye(3), np.ones((3, 1))]) / np.sqrt(2)).tolist()
    vectors = {"other": same + same, "one": corners + shared}
    lines = [
        {"method": variant, "seed": seed, "label": label, "vector": vector}
        for variant, of_variant in vectors.items()
        for seed in SEEDS
        for label, vector in zip(["red", "blue", "green", "cat", "dog", "cow"], of_variant, strict=True)
    ]
    judge = partial(only_effect, "words_apart", analysed("label_vectors", lines), method="one")
    colours, animals = ["red", "blue", "green", "unknown"], ["cat", "dog", "cow"]
    effect, verdict = judge(fixed="other", words=colours, beside=animals)
    assert (effect.value, effect.low, effect.high) == pytest.approx((0.5, 0.5, 0.5))
    assert verdict == "holds"
    effect, verdict = judge(fixed="other", words=animals, beside=colours)
    assert (effect.value, verdict) == (pytest.approx(-0.5), "fails")
    with pytest.raises(UntestableError, match="fewer than 3 words of one of the claim's groups"):
        judge(fixed="other", words=colours, beside=["cat", "dog", "ox"])
    with pytest.raises(UntestableError, match="has results for one and nobody"):
        judge(fixed="nobody", words=colours, beside=animals)


def test_a_full_sample_loss_is_compared_at_one_beta_0_by_seeds():
    lines = [
        {"method": name, "seed": seed, "beta_0": beta_0, "loss": loss * beta_0}
        for name, loss in (("one", 0.1), ("other", 0.2))
        for seed in SEEDS
        for beta_0 in (1.0, 2.0)
    ]
    evidence = analysed("full_sample_loss", lines)
    judge = partial(only_effect, "full_sample_loss", evidence, method="one", rivals=["other"])
    effect, verdict = judge(beta_0=2.0)
    assert (effect.value, verdict) == (pytest.approx(2.0), "holds")
    with pytest.raises(UntestableError, match="no full-sample loss of one with beta_0 = 3"):
        judge(beta_0=3.0)


@pytest.mark.parametrize(("at_most", "verdict"), [(0.3, "holds"), (0.1, "fails")])
def test_the_distance_of_a_sampler_is_judged_by_its_interval(at_most, verdict):
    distances = [0.5 * (0.15 + 0.01 * (image % 10)) for image in range(50)]
    lines = [
        {"method": "one", "seed": seed, "image": image, "uniform": 0.5, "lists": distance}
        for seed in SEEDS
        for image, distance in enumerate(distances)
    ]
    evidence = analysed("sampler_distance", lines)
    effect, judged = only_effect("sampler_distance", evidence, method="one", at_most=at_most)
    assert effect.value == pytest.approx(0.195)
    assert effect.low < 0.195 < effect.high
    assert judged == verdict


def test_pooled_precision_is_compared_by_raw_and_by_normalised_scores():
    lines = [
        {"method": variant, "seed": seed, "normalised": normalised, "image": image}
        | {"value": 0.5 + 0.01 * (image % 3) + (0.1 if (variant == "one") != normalised else 0.0)}
        for variant, seeds in (("one", SEEDS), ("other", SEEDS[:-1]))  # `other` has fewer seeds
        for seed in seeds for normalised in (False, True) for image in range(30)
    ]  # fmt: skip
    evidence = replace(analysed("pooled_average_precision", lines), own_seeds={"d/official/other": SEEDS[:-1]})
    found = effects("pooled_precision", evidence, method="one", rivals=["other"])
    raw, normalised = found["pooled average precision"], found["pooled average precision of normalised scores"]
    assert (raw[0].value, raw[1]) == (pytest.approx(0.1), "holds")
    assert (normalised[0].value, normalised[1]) == (pytest.approx(-0.1), "fails")
    keys = {"method": "one", "rivals": ["other"], "families": ["other"]}
    claim = Claim(ClaimText(claim="c", where="w", test="x"), check(load_test("pooled_precision", ""), keys, ""))
    (judged,) = judge(claim, evidence)
    assert judged.decided.verdict(judged.decided.effect.p) == "undecided"  # the two forms disagree


@pytest.mark.parametrize(("sizes", "verdict"), [({}, "holds"), ({"map": 0.001}, "holds"), ({"map": 0.5}, "undecided"),
                                                ({"map": None}, "undecided")])  # fmt: skip
def test_pooled_precision_contains_the_largest_spread_of_the_choice_of_settings(sizes, verdict):
    lines = [
        {"method": variant, "seed": seed, "normalised": normalised, "image": image}
        | {"value": 0.5 + 0.01 * (image % 3) + (0.1 if variant == "one" else 0.0)}
        for variant in ("one", "other") for seed in SEEDS for normalised in (False, True) for image in range(30)
    ]  # fmt: skip
    evidence = analysed("pooled_average_precision", lines)
    evidence = replace(evidence, spreads={(evidence.tasks[0].task, "one"): sizes})
    found = effects("pooled_precision", evidence, method="one", rivals=["other"])
    assert {each[1] for each in found.values()} == {verdict}
