"""Tables and figures of label sets: rows with decisions, F1 of labels, pooled curves, thresholds against difficulty."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.builders import frame
from tests.rendering.conftest import PAPERS, analyses, changed, column, figure_kind, outline_of, table_kind, values
from vsebench.core import schemas
from vsebench.core.storage import write_json
from vsebench.core.tasks import Task
from vsebench.rendering.kinds import TableKind, make
from vsebench.rendering.page.page import fits_at_limits
from vsebench.rendering.results import Results
from vsebench.rendering.style import style
from vsebench.rendering.writers.csv import to_csv
from vsebench.rendering.writers.latex import to_latex

(PAPER,) = (paper for paper in PAPERS if paper.name == "lsep")
KEYS = {"dataset": "scene", "protocol": "official"}
EXACT = {
    ("lsep", "class_threshold"): 0.62, ("lsep", "top_k"): 0.69, ("bce", "score_above_0"): 0.6,
    ("oracle", "best_exact_match"): 0.9,
}  # fmt: skip


def summary() -> list[dict[str, Any]]:
    common = {"n_seeds": 2, "ci_low": 0.5, "ci_high": 0.95}
    ranked = [
        KEYS | common | {"method": name, "decision": "", "metric": "map", "value": 0.8, "best": name == "lsep"}
        for name in ("lsep", "bce", "oracle")
    ]
    best = max(value for (name, _), value in EXACT.items() if name != "oracle")
    decided = [
        KEYS | common | {"method": name, "decision": decision, "metric": metric, "value": value}
        | {"best": metric == "exact_match" and value == best, "p_adjusted": None if value in (best, 0.9) else 0.01}
        for (name, decision), value in EXACT.items() for metric in ("exact_match", "set_size")
    ]  # fmt: skip
    return ranked + decided


@pytest.fixture
def results() -> Results:
    task = Task("scene", "official")
    decisions = {
        "top_k": ("Top k", "paper"),
        "class_threshold": ("Class thresholds", "paper"),
        "score_above_0": ("Score above 0", "baseline"),
        "best_exact_match": ("Best", "oracle"),
    }
    outline = outline_of(
        task,
        {"lsep": ("LSEP", "paper"), "bce": ("BCE", "baseline"), "oracle": ("Oracle", "oracle")},
        metrics=["map"],
        decision_metrics=["exact_match", "set_size"],
        decisions=outline_of(task, decisions, metrics=["map"], papers={}).variants,
        decided=[task],
        papers={"lsep": "LSEP"},
        entries={"scene/official": ["lsep", "bce", "oracle", *(f"{name}/{decision}" for name, decision in EXACT)]},
    )
    rng = np.random.default_rng(1)
    curves = [
        KEYS | {"method": name, "seed": seed, "normalised": form, "recall": recall, "precision": 1 - recall / 2}
        | {"average_precision": 0.75}
        for name in ("lsep", "bce") for seed in (1, 2) for form in (False, True) for recall in (0.2, 0.6, 1.0)
    ]  # fmt: skip
    scores = [
        KEYS | {"method": "lsep", "decision": "class_threshold", "seed": seed, "label": f"label {label:02d}"}
        | {"images": 10 * label, "precision": 0.5, "recall": 0.5, "f1": label / 20}
        for label in range(14) for seed in (1, 2)
    ]  # fmt: skip
    correlated = [
        KEYS | {"method": "lsep", "decision": "class_threshold", "seed": seed, "reference": reference}
        | {"form": form, "label": str(label), "images": 20}
        | {"correlation": 0.9 if form != "raw" else 0.3 if reference == "oracle" else rng.random() / 9}
        for reference in ("bce", "oracle") for form in ("raw", "minus_mean") for label in range(6) for seed in (1, 2)
    ]  # fmt: skip
    made = analyses(pooled_precision=curves, label_scores=scores, thresholds_and_difficulty=correlated)
    datasets = {"scene": {"title": "scene", "simulated": False}}
    settings = [
        KEYS | {"method": name, "seed": seed, "choice": choice, "n_configurations": tried, "seeds_of_search": seeds}
        for name, choice, tried, seeds in (("lsep", "recorded", 8, [1, 2, 3]), ("bce", "untuned", 1, []))
        for seed in (1, 2)
    ]
    ranked = frame(summary(), schemas.SUMMARY)
    return changed(summary=ranked, analysis=made, outline=outline, datasets=datasets, settings=settings)


def test_a_row_per_method_and_decision_with_oracles_apart(results: Results) -> None:
    table = table_kind(results, "decisions-scene-official").table(results)
    names = list(zip(values(table, "method"), values(table, "decision"), strict=True))
    assert names == [
        ("lsep", "top_k"),
        ("lsep", "class_threshold"),
        ("bce", "score_above_0"),
        ("oracle", "best_exact_match"),
    ]
    assert [row.apart for row in table.rows] == [False, False, False, True]
    cells = column(table, "exact_match")
    assert [cell.value for cell in cells] == [EXACT[name] for name in names]
    assert [cell.bold for cell in cells] == [True, False, False, False]
    assert not any(cell.bold for cell in column(table, "set_size"))
    assert "Best (ceiling)" in to_latex(table, "decisions")
    assert "exact_match_p_adjusted" in to_csv(table)


def test_who_tuned_a_model_trained_elsewhere_is_said_once(results: Results) -> None:
    outside = results.outline.variants["lsep"].model_copy(update={"role": "external", "tuned": "by its author"})
    variants = results.outline.variants | {"lsep": outside}
    seen = changed(results, **vars(results) | {"outline": results.outline.model_copy(update={"variants": variants})})
    said = table_kind(seen, "decisions-scene-official").table(seen).notes
    assert said.count("LSEP was trained elsewhere; how its settings were chosen: by its author.") == 1


def test_decisions_whose_training_a_limit_stopped_are_marked(results: Results, tmp_path: Path) -> None:
    stopped = {"class_threshold": {"epoch": 240, "at_limit": True}, "top_k": {"k": 3}}
    write_json([KEYS | {"method": "lsep", "seed": 2, "decisions": stopped}], tmp_path / "decisions.json")
    outline = results.outline.model_copy(update={"files": [*results.outline.files, "decisions"]})
    seen = changed(Results(tmp_path), **vars(results) | {"folder": tmp_path, "outline": outline})
    table = table_kind(seen, "decisions-scene-official").table(seen)
    assert values(table, "decision_title")[:2] == ["Top k", "Class thresholds‡"]
    assert "LSEP, Class thresholds‡" in values(table_kind(seen, "lsep_table1").table(seen), "method")
    (line,) = fits_at_limits(seen)
    assert line.endswith(": LSEP, Class thresholds (Scene, protocol official; seeds 2).")


@pytest.mark.parametrize("name", ["table1", "table2"])
def test_our_rows_with_decisions_stand_below_the_printed_ones(results: Results, name: str) -> None:
    table = table_kind(results, f"lsep_{name}").table(results)
    lines = list(zip(values(table, "source"), values(table, "method"), values(table, "exact_match"), strict=True))
    ours = {method: value for source, method, value in lines if source == "here"}
    assert ours["LSEP, Class thresholds"] == 0.62
    printed = [value for source, _, value in lines if source == "published"]
    assert printed[0] is not None
    assert any("Left out, because this run lacks these methods" in note for note in table.notes)
    chosen = {(source, how) for source, how in zip(values(table, "source"), values(table, "settings"), strict=True)}
    searched = {("published", None), ("here", "searched before (8 configurations, 3 seeds)")}
    assert chosen == (searched | {("here", "untuned")} if name == "table1" else searched)


def test_our_tasks_of_other_protocols_are_left_out_if_the_table_names_its_own(results: Results) -> None:
    for protocols, sources in ((["images"], {"published"}), (["images", "official"], {"published", "here"})):
        parameters = {"paper": str(PAPER.path), "printed": "table1", "protocols": protocols}
        table = make(TableKind, "accuracy_beside_own_data", parameters, "t").table(results)
        assert set(values(table, "source")) == sources


def test_the_most_frequent_labels_are_shown_with_the_first_on_top(results: Results) -> None:
    with style():
        (axis,) = figure_kind(results, "lsep_figure2").figure(results).axes
    assert [label.get_text() for label in axis.get_yticklabels()] == [f"label {n:02d}" for n in range(13, 3, -1)]
    assert axis.lines[0].get_xdata().tolist() == pytest.approx([n / 20 for n in range(13, 3, -1)])
    assert axis.yaxis_inverted()


def test_curves_by_raw_scores_and_by_scores_of_one_level(results: Results) -> None:
    figure3 = figure_kind(results, "lsep_figure3")
    with style():
        axes = figure3.figure(results).axes
    assert [axis.get_title().split("\n")[1] for axis in axes] == ["raw scores", "scores minus their log-sum-exp"]
    assert "LSEP 0.750 and 0.750, BCE 0.750 and 0.750" in figure3.caption(results)


def test_difficulty_is_that_of_the_oracle_where_there_is_one(results: Results) -> None:
    with style():
        (axis,) = figure_kind(results, "lsep_figure4").figure(results).axes
    assert axis.get_xlabel() == "correlation, mean 0.30"
    assert axis.lines[0].get_xdata() == pytest.approx([0.3] * 6)


@pytest.mark.parametrize("name", ["figure2", "figure3", "figure4"])
def test_a_run_without_its_methods_lacks_a_figure(results: Results, name: str) -> None:
    kind = figure_kind(results, f"lsep_{name}")
    assert kind.applies(results.outline)
    results.outline.entries["scene/official"] = ["oracle"]
    assert not kind.applies(results.outline)


def test_a_rival_with_a_decision_has_both_titles(results: Results) -> None:
    claim = {
        "paper": "lsep", "claim": "c", "where": "w", "dataset": "scene", "protocol": "official", "data": "other",
        "method": "lsep/class_threshold", "rival": "lsep/top_k", "metric": "exact_match", "effect_is": "difference",
        "effect": 0.1, "ci_low": 0.0, "ci_high": 0.2, "level": "case",
    }  # fmt: skip
    vars(results)["claims"] = frame([claim], schemas.CLAIMS)
    assert values(table_kind(results, "claims").table(results), "against") == ["LSEP, Top k"]
