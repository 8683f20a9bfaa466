"""Figures that a publisher accepts, that do not change, and that say what is simulated."""

import json
import re
from itertools import combinations
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from tests.builders import frame
from tests.rendering.conftest import SMALL, VARIANTS, changed, figure_kind, figures
from vsebench.cli import main
from vsebench.core import schemas
from vsebench.core.tasks import Task
from vsebench.papers.base import read_papers
from vsebench.papers.verdicts import read_claims
from vsebench.rendering.drawing import draw_lines, explain_marks, logarithmic, stacks
from vsebench.rendering.figures import (
    accuracy_against_time,
    effects_of_claims,
    memory_and_settings,
    precision,
    wins_and_losses,
)
from vsebench.rendering.figures.mean_ranks import MeanRanks, ranking_of
from vsebench.rendering.figures.training import TrainingTime, Trials, validated_epochs
from vsebench.rendering.kinds import FigureKind, instances_of_run, make
from vsebench.rendering.results import Results
from vsebench.rendering.style import COLOURS, looks, save, style


def texts(figure: Figure) -> str:
    return "\n".join(text.get_text() for text in figure.findobj(match=lambda artist: hasattr(artist, "get_text")))


def check_page(figure: Figure) -> None:
    """Check that nothing is drawn outside of the page, and no legend over a panel."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    width, height = figure.get_size_inches()
    box = figure.get_tightbbox(canvas.get_renderer())  # around everything that is drawn
    slack = 0.02
    assert box.x0 >= -slack
    assert box.y0 >= -slack
    assert box.x1 <= width + slack
    assert box.y1 <= height + slack
    legends = [legend.get_window_extent() for legend in figure.legends]
    assert not any(legend.overlaps(axis.get_tightbbox()) for legend in legends for axis in figure.axes)


def test_a_figure_fits_its_page_and_says_what_is_simulated(results: Results) -> None:
    for name, instance in figures(results).items():
        kind = figure_kind(results, name)
        with style():
            figure = kind.figure(results)
            check_page(figure)
        if instance.paper is None and "comparison" not in kind.needs:  # papers print numbers of real data alone
            task = instance.parameters.get("task")
            of_real_data = task is not None and not results.is_simulated(Task.of(task).dataset)
            assert ("imulated" in texts(figure)) == (not of_real_data), name


def test_a_figure_has_a_caption_and_an_alternative_in_sentences(results: Results) -> None:
    for name in figures(results):
        kind = figure_kind(results, name)
        for text in (kind.caption(results), kind.alternative(results)):
            assert len(text) > 20, name
            assert text[0].isupper(), name
            assert text.endswith("."), name
            assert "@0" not in text, name


def test_the_alternative_names_the_best_method(results: Results) -> None:
    alternative = figure_kind(results, "overview").alternative(results)
    value = results.accuracy(SMALL[0]).filter(metric="recall@10", best=True)["value"].item()
    assert f"best Recall@10 on the test labels: VSE-fs, {value:.4f}." in alternative


@pytest.mark.parametrize("swept", [True, False])
def test_settings_are_drawn_where_the_run_varies_them(swept: bool, results: Results) -> None:
    with style():
        figure = figure_kind(results, "vse_fs_figure2").figure(results if swept else changed(results, sweeps=None))
        assert len(figure.axes) == 2 * (4 if swept else 1)
        check_page(figure)


def test_many_tasks_share_a_row_of_panels(results: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_and_settings, "MOST_ROWS", 1)
    with style():
        figure = figure_kind(results, "vse_fs_figure2").figure(results)
        assert "imulated" in texts(figure)
        assert len(figure.axes) == 4
        assert len(figure.legends[0].get_texts()) == 2
        check_page(figure)


def with_long_titles(results: Results) -> Results:
    long = {
        name: variant.model_copy(update={"title": f"{variant.title} of another program", "short": None})
        for name, variant in results.outline.variants.items()
    }
    return changed(results, outline=results.outline.model_copy(update={"variants": long}))


@pytest.mark.parametrize("name", ["wins-and-losses", "labels-by-frequency", "accuracy-against-time"])
def test_long_titles_fit_the_page(name: str, results: Results) -> None:
    kind = figure_kind(results, name)
    with style():
        figure = kind.figure(with_long_titles(results))
        check_page(figure)


def test_the_names_of_a_few_methods_do_not_overlap(results: Results) -> None:
    few = results.metrics.filter(pl.col("method").is_in(results.methods_of(results.metrics)[:3]))
    with style():
        figure = wins_and_losses.WinsAndLosses().figure(
            changed(results, outline=with_long_titles(results).outline, metrics=few)
        )
        check_page(figure)
        (axis,) = figure.axes
        boxes = [label.get_window_extent() for label in axis.get_yticklabels()]
        assert len(boxes) > 1
        assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))
        assert axis.yaxis.label.get_window_extent().height <= axis.get_window_extent().height * 1.2


def with_a_third_data_set(results: Results) -> Results:
    """Return results whose first data set occurs again under another name."""
    task = Task("sim-nuswide", SMALL[0].protocol)
    copied = results.metrics.filter(dataset=SMALL[0].dataset).with_columns(dataset=pl.lit(task.dataset))
    entries = results.outline.entries | {str(task): results.outline.entries[str(SMALL[0])]}
    outline = results.outline.model_copy(update={"tasks": [*SMALL, task], "entries": entries})
    return changed(results, outline=outline, metrics=pl.concat([results.metrics, copied]))


def test_no_two_names_of_the_mean_ranks_overlap(results: Results) -> None:
    with style():
        figure = MeanRanks().figure(with_a_third_data_set(results))
        FigureCanvasAgg(figure).draw()
        boxes = [text.get_window_extent() for text in figure.axes[0].texts]
        assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))


def test_mean_ranks_leave_the_oracle_out_and_name_their_data_sets(results: Results) -> None:
    three = with_a_third_data_set(results)
    with style():
        figure = MeanRanks().figure(three)
        check_page(figure)
    assert "Oracle" not in texts(figure)
    assert "3 data sets, part of the data simulated" in texts(figure)
    assert "over Simulated IAPR TC-12; SAIAPR TC-12 (region labels); Sim-nuswide;" in MeanRanks().caption(three)


def test_mean_ranks_are_drawn_for_three_data_sets_and_not_for_fewer(results: Results) -> None:
    assert "mean-ranks" in instances_of_run(FigureKind, with_a_third_data_set(results).outline)
    one = results.outline.model_copy(update={"tasks": list(SMALL[1:])})
    for fewer in (results.outline, one):
        assert "mean-ranks" not in instances_of_run(FigureKind, fewer)
        assert "wins-and-losses" in instances_of_run(FigureKind, fewer)


def test_the_stage_writes_stable_files_with_truetype_fonts(results: Results, tmp_path: Path) -> None:
    name = "vse_ens_figure1"
    instance = figures(results)[name]
    options = {"--kind": instance.kind, "--parameters": json.dumps(dict(instance.parameters))}
    options |= {"--results": str(results.folder), "--out": str(tmp_path / name)}
    assert main(["stage", "figure", name, *(word for option in options.items() for word in option)]) == 0
    with style():
        save(figure_kind(results, name).figure(results), tmp_path / "again")
    for suffix in ("pdf", "svg", "png"):
        assert (tmp_path / f"{name}.{suffix}").read_bytes() == (tmp_path / f"again.{suffix}").read_bytes(), suffix
    pdf = (tmp_path / f"{name}.pdf").read_bytes()
    assert b"/FontFile2" in pdf
    assert b"/Type3" not in pdf
    assert b"CreationDate" not in pdf
    svg = (tmp_path / f"{name}.svg").read_text(encoding="utf-8")
    fonts = set(re.findall(r"font-family: ([^;\"]*)", svg))
    # A browser has one of the three; the page adds the last one to formulas, which Matplotlib writes with the first.
    assert fonts <= {"'DejaVu Sans', 'Verdana', sans-serif", "'DejaVu Sans'"}
    assert "<dc:date>" not in svg


def test_a_mean_ends_where_the_first_seed_stops() -> None:
    history = pl.DataFrame(
        {
            "method": ["warp"] * 5,
            "phase": ["selection"] * 5,
            "seed": [0, 0, 0, 1, 1],
            "epoch": [1, 2, 3, 1, 2],
            "seconds": [1.0, 1.0, 1.0, 3.0, 3.0],
            "validation": [0.1, 0.2, 0.3, 0.1, 0.2],
        }
    )
    shown = validated_epochs(history)
    assert shown["epoch"].to_list() == [1, 2, 1, 2]
    assert shown["training_seconds"].to_list() == [2.0, 4.0, 2.0, 4.0]


PANELS = {"one loss": ["warp"], "another loss": ["vse_ens", "vse_fs"], "no method of the run": ["s_x_ent"]}


@pytest.mark.parametrize("quantity", ["loss", "validation"])
def test_curves_over_epochs_show_the_means_over_seeds_of_each_panels_methods(quantity: str, results: Results) -> None:
    kind = make(FigureKind, "curves_over_epochs", {"quantity": quantity, "panels": PANELS}, "curves")
    assert kind.applies(results.outline)
    assert not kind.is_empty(results)
    with style():
        figure = kind.figure(results)
        check_page(figure)
    drawn = [[line for line in axis.get_lines() if len(line.get_xdata())] for axis in figure.axes]
    assert [len(lines) for lines in drawn] == [1, 2] * len(SMALL)
    history = results.history.filter(dataset=SMALL[0].dataset, protocol=SMALL[0].protocol, method="warp")
    selection = history.filter(phase="selection")
    shortest = selection.group_by("seed").agg(pl.col("epoch").max())["epoch"].to_numpy().min()
    means = selection.filter(pl.col("epoch") <= shortest).group_by("epoch").agg(pl.col(quantity).mean()).sort("epoch")
    assert drawn[0][0].get_xdata().tolist() == means["epoch"].to_list()
    assert drawn[0][0].get_ydata().tolist() == pytest.approx(means[quantity].to_list())
    assert f"WARP from {means[quantity][0]:.4f} to {means[quantity][-1]:.4f}." in kind.alternative(results)


def test_a_run_without_the_methods_of_curves_lacks_the_figure(results: Results) -> None:
    kind = figure_kind(results, "sampled_tagging_figure2_bottom")
    assert not kind.applies(results.outline)
    assert kind.is_empty(results)


def test_methods_that_report_no_loss_leave_no_curves(results: Results) -> None:
    kind = make(FigureKind, "curves_over_epochs", {"quantity": "loss", "panels": PANELS}, "curves")
    without = changed(results, history=results.history.with_columns(loss=pl.lit(None, pl.Float64)))
    assert kind.is_empty(without)
    with style():
        assert "Nothing to draw" in texts(kind.figure(without))


def test_a_run_without_trained_methods_lacks_their_figures(results: Results) -> None:
    names = {"trials", "convergence-saiapr-regions", "training-time", "accuracy-against-time", "vse_fs_figure2"}
    assert names <= set(figures(results))
    entries = {str(task): ["random", "ease"] for task in SMALL}
    untrained = {"trained": [], "searching": [], "entries": entries, "timed": {str(task): [] for task in SMALL}}
    other = changed(results, outline=results.outline.model_copy(update=untrained))
    assert names.isdisjoint(figures(other))


def test_a_metric_that_is_the_same_for_all_methods_is_not_in_the_overview(results: Results) -> None:
    same = pl.when(pl.col("metric") == "recall@10", pl.col("dataset") == "saiapr").then(1.0).otherwise("value")
    other = changed(results, summary=results.summary.with_columns(value=same))
    kind = figure_kind(results, "overview")
    with style():
        labels = [axis.get_xlabel() for axis in kind.figure(other).axes]
    assert labels == ["Recall@10", "MAP@10"]
    assert "best MAP@10 on the test labels: " in kind.alternative(other)


@pytest.mark.parametrize(("low", "high"), [(1.1, 1.3), (0.7, 9.0), (3.0, 40.0), (0.01, 80.0)])
def test_a_logarithmic_axis_has_two_labels_or_more_without_factors(low: float, high: float) -> None:
    with style():
        figure = Figure()
        axis = figure.subplots()
        axis.plot([1, 2], [low, high])
        logarithmic(axis.yaxis)
        FigureCanvasAgg(figure).draw()
        bottom, top = axis.get_ylim()
        shown = [label.get_text() for label in axis.get_yticklabels() if bottom <= label.get_position()[1] <= top]
    assert len([text for text in shown if text]) >= 2
    assert not any("times" in text for text in shown)


def test_the_effects_of_many_claims_fit_a_page(results: Results) -> None:
    many = pl.concat([results.claims.filter(paper="vse_fs")] * 30)
    kind = figure_kind(results, "effects-of-claims-vse-fs")
    with style():
        for run in (results, changed(results, claims=many.sort("claim", maintain_order=True))):
            assert kind.figure(run).get_figheight() <= effects_of_claims.PAGE


def test_a_paper_without_judged_claims_has_no_effects(results: Results) -> None:
    assert {name for name in figures(results) if name.startswith("effects")} == {
        "effects-of-claims-vse-ens",
        "effects-of-claims-vse-fs",
    }


def test_a_panel_of_training_times_names_only_the_methods_timed_there_and_all_panels_have_the_same_scale(
    results: Results,
) -> None:
    one = pl.col("dataset") == SMALL[0].dataset
    timing = results.timing.filter(~one | pl.col("method").is_in(["warp", "vse_fs"]))
    with style():
        figure = TrainingTime().figure(changed(results, timing=timing))
        check_page(figure)
    names = [[label.get_text() for label in axis.get_yticklabels()] for axis in figure.axes]
    trained = [results.method_title(method, short=True) for method in results.methods_of(results.timing)]
    assert names == [["WARP", "VSE-fs"], trained]
    assert [axis.get_xlim() for axis in figure.axes] == [figure.axes[0].get_xlim()] * 2
    assert [axis.get_xlabel() for axis in figure.axes] == ["seconds per epoch (log)"] * 2


def test_stacked_panels_share_their_scale_and_have_heights_in_proportion_to_their_lines() -> None:
    with style():
        figure, axes, lowest = stacks([13, 5, 3, 10, 1], 7)
        axes[2].set_xlim(3, 4)
        FigureCanvasAgg(figure).draw()
        boxes = [axis.get_position() for axis in axes]
    assert {axis.get_xlim() for axis in axes} == {(3, 4)}
    assert [box.x0 > 0.5 for box in boxes] == [False, True, True, True, False]
    assert lowest == [axes[4], axes[3]]
    assert boxes[1].height == pytest.approx(5 / 3 * boxes[2].height)
    assert boxes[1].y0 > boxes[2].y1


def test_each_panel_of_trials_has_titles_of_its_axes(results: Results) -> None:
    tasks = [SMALL[0], *(Task(f"d{n}", SMALL[0].protocol) for n in range(4))]
    of_task = results.history.filter(dataset=SMALL[0].dataset)
    other = changed(
        results,
        outline=results.outline.model_copy(update={"tasks": tasks}),
        history=pl.concat([of_task.with_columns(dataset=pl.lit(task.dataset)) for task in tasks]),
    )
    with style():
        figure = Trials().figure(other)
        check_page(figure)
    titles = [(axis.get_xlabel(), axis.get_ylabel()) for axis in figure.axes]
    assert titles == [("epoch", "trials per step (log)")] * 5


def test_a_method_with_one_epoch_is_a_marker(results: Results) -> None:
    task = SMALL[1]
    frame = results.history.filter(dataset=task.dataset, protocol=task.protocol)
    once = frame.filter(pl.col("epoch") == pl.col("epoch").min().over("method"))
    figure = Figure()
    axis = figure.subplots()
    draw_lines(axis, results, once, "epoch", "validation")
    drawn = [line for line in axis.get_lines() if len(line.get_path().vertices)]
    assert drawn
    assert all(line.get_markevery() is None for line in drawn)


@pytest.mark.parametrize("colour", COLOURS)
def test_no_colour_vanishes_on_white(colour: str) -> None:
    channels = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in to_rgb(colour)]
    luminance = sum(weight * value for weight, value in zip((0.2126, 0.7152, 0.0722), channels, strict=True))
    assert 1.05 / (luminance + 0.05) > 2.7  # the contrast of WCAG 2


def test_methods_differ_without_colour_and_controls_are_grey(results: Results) -> None:
    look = looks(results)
    ranked = results.outline.variants_of_role("paper", "baseline")
    assert len({look[row].marker for row in ranked}) == len(ranked)
    assert len({look[variant].colour for variant in ranked}) == len(ranked)
    assert len({str(look[row].dashes) for row in ranked}) == len(ranked)
    controls = results.outline.variants_of_role("control")
    assert {look[variant].colour for variant in controls} == {"0.45"}
    assert len({look[variant].marker for variant in controls}) == len(controls) == 2
    assert look["oracle"].colour == "black"


def test_wins_are_counted_by_hand(results: Results) -> None:
    lines = [("ease", 1, 0.4), ("warp", 1, 0.3), ("vse_fs", 1, 0.4), ("ease", 2, 0.1), ("warp", 2, 0.3)]
    keys = {"dataset": "saiapr", "protocol": "regions", "decision": "", "metric": "recall@10"}
    metrics = pl.DataFrame([keys | {"method": variant, "seed": seed, "value": value} for variant, seed, value in lines])
    methods, wins, comparisons = wins_and_losses.count_wins(changed(results, metrics=metrics))
    assert methods == ["vse_fs", "ease", "warp"]  # 1.5 of 2, 1.5 of 3, 1 of 3
    assert wins.tolist() == [[0, 0.5, 1], [0.5, 0, 1], [0, 1, 0]]
    assert comparisons.tolist() == [[0, 1, 1], [1, 0, 2], [1, 2, 0]]


def test_where_small_values_are_better_all_orders_are_the_other_way_round(results: Results) -> None:
    """With one minus recall as "one_error", all methods keep their places."""
    one_minus = {"metric": pl.lit("one_error"), "value": 1 - pl.col("value")}
    other = changed(
        results,
        outline=results.outline.model_copy(update={"metrics": ["one_error"]}),
        metrics=results.metrics.filter(metric="recall@10").with_columns(**one_minus),
        summary=results.summary.filter(metric="recall@10").with_columns(**one_minus),
    )
    same = changed(results, outline=results.outline.model_copy(update={"metrics": ["recall@10"]}))
    assert wins_and_losses.count_wins(other)[0] == wins_and_losses.count_wins(same)[0]
    assert ranking_of(other) == ranking_of(same)
    for task in results.tasks_of(results.summary):
        assert precision.best_first(other, task) == precision.best_first(same, task)
        fronts = [
            accuracy_against_time.front_of(run, task, accuracy_against_time.points(run, task)) for run in (other, same)
        ]
        assert fronts[0] == fronts[1] != []


def test_of_many_methods_labels_by_frequency_shows_the_controls_the_first_and_the_best_of_each_task(
    results: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = precision.LabelsByFrequency()
    monkeypatch.setattr(precision, "MOST_LINES", 9)
    assert "methods:" not in kind.caption(results)
    monkeypatch.setattr(precision, "MOST_LINES", 5)
    best = {"saiapr": "warp_published", "sim-iapr": "vse_fs"}
    first = pl.col("method") == pl.col("dataset").replace_strict(best, default="")
    other = changed(results, summary=results.summary.with_columns(value=pl.when(first).then(2.0).otherwise("value")))
    assert precision.few_methods(other) == ["random", "popularity", "ease", "vse_fs", "warp_published"]
    assert "The figure shows 5 of 9 methods: the first 2 controls, " in kind.caption(other)
    with style():
        figure = kind.figure(other)
        check_page(figure)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [
        results.method_title(method, short=True) for method in VARIANTS if method in precision.few_methods(other)
    ]
    assert {axis.get_ylabel() for axis in figure.axes} == {"recall@10 of a label"}


def test_a_method_that_won_on_one_of_many_tasks_is_not_first_and_its_name_says_so(results: Results) -> None:
    keys = {"protocol": "distinct", "decision": "", "metric": "recall@10", "seed": 1}
    values = {"ease": [0.4, 0.4, 0.4], "vse_fs": [0.3, 0.3, 0.2], "warp": [0.2, 0.2, 0.1], "vse_ens": [0.5]}
    metrics = pl.DataFrame(
        [
            keys | {"dataset": dataset, "method": method, "value": value}
            for method, of_method in values.items()
            for dataset, value in zip(("sim-iapr", "sim-nuswide", "sim-flickr"), of_method, strict=False)
        ]
    )
    tasks = [Task(name, "distinct") for name in ("sim-iapr", "sim-nuswide", "sim-flickr")]
    outline = results.outline.model_copy(update={"tasks": tasks})
    summary = pl.concat(
        [results.summary.filter(dataset="sim-iapr").with_columns(dataset=pl.lit(t.dataset)) for t in tasks]
    )
    other = changed(results, outline=outline, metrics=metrics, summary=summary)
    assert wins_and_losses.count_wins(other)[0] == ["ease", "vse_ens", "vse_fs", "warp"]
    kind = wins_and_losses.WinsAndLosses()
    with style():
        figure = kind.figure(other)
        check_page(figure)
    names = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert names == ["EASE", "VSE-ens (1 of 3)", "VSE-fs", "WARP"]
    assert "(1 of 3) after a name: run on 1 of 3 tasks" in kind.caption(other)
    assert " of 3" not in kind.caption(changed(other, metrics=metrics.filter(pl.col("method") != "vse_ens")))


def test_the_title_of_wins_between_many_methods_is_on_the_page(results: Results) -> None:
    names = [f"method {n} with a long name¶" for n in range(34)]
    variants = {name: results.outline.variants["ease"].model_copy(update={"title": name}) for name in names}
    rows = results.metrics.filter(method="ease")
    other = changed(
        results,
        outline=results.outline.model_copy(update={"variants": variants}),
        metrics=pl.concat([rows.with_columns(method=pl.lit(name)) for name in names]),
    )
    with style():
        figure = wins_and_losses.WinsAndLosses().figure(other)
        explain_marks(figure)
        check_page(figure)


def test_the_effects_are_those_of_the_judged_claims(results: Results) -> None:
    drawn = [
        test
        for panel in effects_of_claims.PANELS
        for _, of in effects_of_claims.judged_tests_of_panel(results, "vse_fs", panel)
        for test in of
    ]
    wanted = [
        test
        for test in results.claims.filter(paper="vse_fs").to_dicts()
        if test["verdict"] in ("holds", "fails", "undecided")
        and str(test["effect_is"]).startswith(("difference of a metric", "ratio ("))
    ]
    assert len(drawn) == len(wanted) > 0
    with style():
        lines = figure_kind(results, "effects-of-claims-vse-fs").figure(results)
    marks = [line for axis in lines.axes for line in axis.get_lines() if line.get_marker() == "o"]
    assert len(marks) == len(wanted)


def test_each_beginning_of_an_effect_is_that_of_a_shipped_claim() -> None:
    papers = read_papers(sorted((Path(__file__).parents[2] / "config" / "papers").glob("*.yaml")))
    effects = {claim.test.effect_in_words() for paper in papers for claim in read_claims(paper)}
    unknown = [
        start
        for panel in effects_of_claims.PANELS
        for start in panel.effects
        if not any(effect.startswith(start) for effect in effects)
    ]
    assert unknown == []


def test_published_numbers_lie_on_the_horizontal_axis(results: Results) -> None:
    with style():
        figure = figure_kind(results, "published-against-ours").figure(results)
    marks = {
        (float(line.get_xdata()[0]), float(line.get_ydata()[0]))  # type: ignore[index]
        for axis in figure.axes
        for line in axis.get_lines()
        if line.get_marker() not in ("None", "_")
    }
    assert marks >= set(results.comparison.select("published", "ours").iter_rows())


def claims_with(*lines: dict[str, Any]) -> pl.DataFrame:
    """Return a table of claims of the paper vse_fs that hold on real data, one for each line."""
    common = {"paper": "vse_fs", "level": "claim", "data": "other", "verdict": "holds", "ci_low": 0.04, "ci_high": 0.06}
    return frame((common | {"claim": str(n)} | line for n, line in enumerate(lines)), schemas.CLAIMS)


DIFFERENCE = {"effect_is": "difference of a metric (claimed: above 0)", "effect": 0.05, "bound_low": 0.0}
GROWTH = {"effect_is": "exponent of growth (claimed: within the claim's bounds)", "effect": 0.5, "bound_high": 0.7}


@pytest.mark.parametrize(
    ("line", "marks"),
    [
        (DIFFERENCE, []),
        (DIFFERENCE | {"bound_low": 0.03}, [0.03]),
        (DIFFERENCE | {"bound_low": -0.01, "bound_high": 0.06}, [-0.01, 0.06]),
        (DIFFERENCE | {"bound_low": -0.02, "bound_high": 1.0}, [-0.02]),  # no difference of a metric is larger than 1
        ({"effect_is": "ratio of bytes, an exact number", "effect": 61.0, "bound_low": 100.0}, [100.0]),
        ({"effect_is": "ratio (claimed: above 1)", "effect": 3.0, "bound_low": 1.0}, []),
    ],
)
def test_a_bound_of_a_claim_is_marked_inside_the_panel_unless_it_is_no_effect(
    line: dict[str, Any], marks: list[float], results: Results
) -> None:
    kind = figure_kind(results, "effects-of-claims-vse-fs")
    with style():
        figure = kind.figure(changed(results, claims=claims_with(line)))
        check_page(figure)
    (axis,) = figure.axes
    drawn = [float(each.get_xdata()[0]) for each in axis.get_lines() if each.get_marker() == "|"]  # type: ignore[index]
    assert drawn == marks
    low, high = axis.get_xlim()
    assert all(low < mark < high for mark in marks)
    assert ("bound" in texts(figure)) == bool(marks)


def test_the_caption_of_effects_counts_the_claims_that_do_not_fit_the_panels(results: Results) -> None:
    kind = figure_kind(results, "effects-of-claims-vse-fs")
    both = changed(results, claims=claims_with(DIFFERENCE, DIFFERENCE, GROWTH))
    assert "2 of the 3 claims with a verdict are shown; the effects of the others " in kind.caption(both)
    assert "All claims with a verdict are shown." in kind.caption(changed(results, claims=claims_with(DIFFERENCE)))
    assert kind.is_empty(changed(results, claims=claims_with(GROWTH)))


def test_names_of_claims_do_not_overlap_in_a_figure_of_few_claims(results: Results) -> None:
    name = "A claim whose name is so long that it needs a second line at the left of the panel"
    claims = claims_with(*(DIFFERENCE | {"claim": f"{name} ({n})"} for n in range(2)))
    with style():
        figure = figure_kind(results, "effects-of-claims-vse-fs").figure(changed(results, claims=claims))
        FigureCanvasAgg(figure).draw()
        one, other = (label.get_window_extent() for label in figure.axes[0].get_yticklabels())
    assert not one.overlaps(other)
