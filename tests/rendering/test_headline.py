"""What the report says first."""

import polars as pl
import pytest

from tests.builders import frame
from tests.rendering.conftest import changed, outline_of
from vsebench.core import schemas
from vsebench.core.tasks import Task
from vsebench.papers.base import Paper
from vsebench.rendering import choices
from vsebench.rendering.figures.accuracy import Accuracy, Overview
from vsebench.rendering.figures.accuracy_against_time import front
from vsebench.rendering.page.headline import CHOICES, headlines, what_was_run
from vsebench.rendering.results import best_sentence
from vsebench.rendering.timing import training_seconds

ROLES = {
    "ours": "paper",
    "theirs": "paper",
    "ease": "baseline",
    "ceiling": "oracle",
    "random": "control",
    "clip": "external",
} | {f"rival_{n}": "baseline" for n in range(5)}


def run(values, equal=(), simulated=False, choice="tuned", metrics=("recall@10",)):
    """Return results with `values` of recall@10; those in `equal` are not significantly different from the best.

    If there are more metrics, recall@10 is 1 for all methods, and the other metrics have half the values.
    """
    keys = {"dataset": "d", "protocol": "distinct"}
    best = max((variant for variant in values if ROLES[variant] != "oracle"), key=values.get, default=None)
    lines = []
    for variant, value in values.items():
        p_value = None if variant == best or ROLES[variant] == "oracle" else 0.5 if variant in equal else 0.001
        line = keys | {"method": variant, "decision": "", "best": variant == best, "p_adjusted": p_value}
        line |= {"ci_low": value - 0.01, "ci_high": value + 0.01, "n_seeds": 3}
        lines.append(line | {"metric": metrics[0], "value": value if len(metrics) == 1 else 1.0})
        lines += [line | {"metric": metric, "value": value / 2} for metric in metrics[1:]]
    variants = {variant: (variant.title(), ROLES[variant]) for variant in values}
    settings = {"seed": 1, "choice": choice}
    return changed(
        outline=outline_of(Task("d", "distinct"), variants, seeds=[1, 2, 3], metrics=list(metrics), papers={}),
        summary=frame(lines, schemas.SUMMARY),
        datasets={"d": {"title": "photos", "simulated": simulated}},
        settings=[
            keys | settings | {"method": variant, "settings": {"factors": 8} if variant == "ours" else {}}
            for variant in values
        ],
        machine={"git_commit": "abc"},
    )


def test_the_best_method_and_the_best_of_the_papers_methods():
    assert headlines(run({"ours": 0.4, "theirs": 0.3, "ease": 0.5, "ceiling": 0.9}), []) == [
        "Photos, protocol distinct: Ease is best, Recall@10 0.5000 (95 % interval 0.4900 to 0.5100). "
        "The papers' methods reach at most 0.4000 (Ours), which is significantly lower (by 0.1000)."
    ]


def test_a_best_model_from_elsewhere_stands_with_how_its_settings_were_chosen():
    results = run({"clip": 0.6, "ease": 0.5})
    variants = results.outline.variants
    variants["clip"] = variants["clip"].model_copy(update={"tuned": "by its authors, on other data"})
    (text,) = headlines(results, [])
    assert "Clip is best, Recall@10 0.6000 (95 % interval 0.5900 to 0.6100). Clip was trained elsewhere" in text
    told = "how its settings were chosen: by its authors, on other data."
    assert told in text
    assert told in Overview().caption(results)
    assert told in Accuracy(task="d/distinct").caption(results)


def test_menus_and_panels_show_the_short_title_of_a_data_set():
    results = run({"ease": 0.5})
    results.datasets["d"]["short"] = "pics"
    assert results.short_task_title(Task("d", "distinct")) == "Pics, protocol distinct"
    assert results.short_title("d") == "Pics"
    assert results.task_title(Task("d", "distinct")) == "Photos, protocol distinct"


def test_a_metric_that_is_1_for_all_methods_says_nothing():
    (text,) = headlines(run({"ours": 0.6, "ease": 0.5}, metrics=("recall@10", "map@10")), [])
    assert "Ours is best, MAP@10 0.3000" in text


def test_what_no_test_tells_apart_is_said():
    (text,) = headlines(run({"ours": 0.4, "theirs": 0.3, "ease": 0.5}, equal=["ours"]), [])
    assert "not significantly different from it: Ours." in text
    assert "not significantly lower (by 0.1000)." in text


def test_methods_with_other_seeds_are_compared_on_the_seeds_that_both_have():
    results = run({"ours": 0.4, "ease": 0.5})
    is_ours = pl.col("method") == "ours"  # its mean over its own seeds is the largest
    fewer = results.summary.with_columns(
        value=pl.when(is_ours).then(0.6).otherwise("value"),
        n_seeds=pl.when(is_ours).then(2).otherwise("n_seeds").cast(pl.Int32),
        difference=pl.when(is_ours).then(-0.05),
    )
    (text,) = headlines(changed(results, **vars(results) | {"summary": fewer}), [])
    own = "The papers' methods reach at most 0.6000 (Ours), which is significantly lower"
    assert text.endswith(f"{own} on the seeds that both have (by 0.0500).")


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (4, "; not significantly different from it: Rival_0, Rival_1, Rival_2, Rival_3."),
        (5, "; 5 other methods are not significantly different († in the tables)."),
    ],
)
def test_more_than_four_methods_that_no_test_tells_apart_are_counted(number, words):
    equal = [f"rival_{n}" for n in range(number)]
    (text,) = headlines(run({"ours": 0.5} | dict.fromkeys(equal, 0.4), equal), [])
    assert text.endswith(words)


@pytest.fixture
def paper(tmp_path):
    """The paper "Theirs", whose own method is `theirs`; its file also names one of this project's other methods."""
    path = tmp_path / "theirs.yaml"
    path.write_text("""
title: THEIRS
citation: Nobody
rows:
  theirs: {title: Theirs, ours: [theirs, theirs/threshold]}
  ours: {title: Ours, ours: [ours]}
""")
    return Paper.read(path)


def test_a_papers_own_method_that_is_significantly_worse_is_named_with_its_number(paper):
    (text,) = headlines(run({"ours": 0.5, "theirs": 0.3, "ease": 0.4}), [paper])
    own = "Theirs, the THEIRS paper's own method, reaches 0.3000, which is significantly lower (by 0.2000)."
    assert text.endswith(f"(95 % interval 0.4900 to 0.5100). {own}")


@pytest.mark.parametrize(
    ("values", "equal"),
    [
        ({"ours": 0.5, "theirs": 0.4}, ["theirs"]),
        ({"ours": 0.4, "theirs": 0.5}, []),
        ({"ours": 0.5, "ease": 0.4}, []),
    ],
    ids=["it is not significantly worse", "it is the best", "it was not run"],
)
def test_there_is_no_sentence_on_a_papers_own_method_if(values, equal, paper):
    assert headlines(run(values, equal), [paper]) == headlines(run(values, equal), [])


def test_a_papers_own_method_that_leads_the_papers_methods_is_named_once(paper):
    (text,) = headlines(run({"ours": 0.3, "theirs": 0.4, "ease": 0.5}), [paper])
    assert text.endswith("The papers' methods reach at most 0.4000 (Theirs), which is significantly lower (by 0.1000).")


def test_a_best_method_of_a_paper_needs_one_sentence():
    (text,) = headlines(run({"ours": 0.6, "ease": 0.5}), [])
    assert text.count(".") == text.count("0.") + 1
    assert "Ours is best" in text


def test_one_method_is_not_called_best_and_oracles_alone_are_no_result():
    assert "Ease is the only method" in headlines(run({"ease": 0.5}), [])[0]
    assert headlines(run({"ceiling": 0.5}), []) == []


@pytest.mark.parametrize(
    ("values", "equal"), [({"ours": 0.4, "random": 0.3}, ["random"]), ({"random": 0.5, "ease": 0.3}, [])]
)
def test_what_does_not_beat_random_is_not_called_best(values, equal):
    results = run(values, equal)
    assert headlines(results, []) == [
        "Photos, protocol distinct: no method is significantly better than Random in Recall@10."
    ]
    assert (
        best_sentence(results, Task("d", "distinct"))
        == "Photos, protocol distinct: no method is significantly better than Random."
    )


def test_what_beats_random_is_called_best():
    results = run({"ours": 0.4, "random": 0.3})
    assert "Ours is best" in headlines(results, [])[0]
    assert "best Recall@10 on the test labels: Ours" in best_sentence(results, Task("d", "distinct"))


def test_simulated_data_is_called_so():
    assert headlines(run({"ease": 0.5}, simulated=True), [])[0].startswith("Photos (simulated), protocol distinct")


@pytest.mark.parametrize(
    ("choice", "words"),
    [
        ("tuned", "2 of 2 fits: chosen by this run on validation labels"),
        ("recorded", "2 of 2 fits: chosen by an earlier search on validation labels of the same data"),
        ("elsewhere", "2 of 2 fits: models that were trained elsewhere"),
        ("untuned", "2 of 2 fits: not chosen for these data (untuned)"),
        ("none", "no method has settings to choose"),
    ],
)
def test_how_settings_were_chosen(choice, words):
    facts = dict(what_was_run(run({"ours": 0.4, "ease": 0.5}, choice=choice)))
    assert facts["Settings"] == words
    assert (facts["Factors"], facts["Commit"], facts["Seeds"]) == ("8", "abc", "3")


def test_fits_of_packs_are_counted_apart():
    results = run({"ours": 0.4, "ease": 0.5, "theirs": 0.3})
    variants = results.outline.variants
    variants["ease"] = variants["ease"].model_copy(update={"pack": "Fitted in the run other"})
    chosen = "2 of 2 fits: chosen by this run on validation labels; 1 fit from packs: see the table of settings"
    assert dict(what_was_run(results))["Settings"] == chosen


def test_training_seconds_are_measured_for_all_epochs_or_taken_from_the_fits():
    def laps(*found):
        lines = [{"phase": phase, "repeat": repeat, "seconds": seconds} for phase, repeat, seconds in found]
        return frame(lines, schemas.TIMING)

    keys = {"phase": "selection", "loss": 0.0}
    fits = [
        {"seed": seed, "epoch": epoch, "seconds": seconds, "validation": validation, **keys}
        for seed, *epochs in ((1, (4.0, 0.1), (6.0, 0.3), (8.0, 0.2)), (2, (5.0, 0.1), (9.0, 0.4)))
        for epoch, (seconds, validation) in enumerate(epochs, start=1)
    ]
    fits, none = frame(fits, schemas.HISTORY), frame([], schemas.HISTORY)
    epochs = [("epoch", 1, 2.0), ("epoch", 2, 5.0)]
    assert training_seconds(laps(*epochs), fits) == (10 + 14) / 2
    assert training_seconds(laps(*epochs, ("training", 1, 7.0), ("training", 2, 9.0)), fits) == 8
    assert training_seconds(laps(("fit", 1, 0.5)), none) == 0.5
    assert training_seconds(laps(), fits) is None


def test_the_front_has_equal_variants_and_none_that_is_beaten():
    points = {"a": (1.0, 0.5), "b": (1.0, 0.5), "c": (1.0, 0.4), "d": (2.0, 0.5), "e": (3.0, 0.6)}
    assert front(points) == ["a", "b", "e"]


def test_each_way_of_choosing_has_its_words():
    assert set(CHOICES) == set(choices.CHOICES) - {"none"}
