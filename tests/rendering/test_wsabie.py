"""Tables and figures of a paper on other data than ours: labels in words, cost, own data beside the printed numbers."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import frame
from tests.rendering.conftest import PAPERS, analyses, changed, figure_kind, outline_of, table_kind, values
from vsebench.core import schemas
from vsebench.core.tasks import Task
from vsebench.rendering.kinds import TableKind, make
from vsebench.rendering.page.page import template
from vsebench.rendering.results import Results
from vsebench.rendering.style import style
from vsebench.rendering.table import Cell, Column, Table, literal, spans
from vsebench.rendering.writers.csv import to_csv
from vsebench.rendering.writers.latex import to_latex
from vsebench.rendering.writers.markdown import to_markdown

(PAPER,) = (paper for paper in PAPERS if paper.name == "wsabie")
PRECISION = {"wsabie": 0.4, "wsabie_auc": 0.3, "pamir_ia": 0.35, "one_vs_rest": 0.2}
KEYS = {"dataset": "sim-tree", "protocol": "official"}


def summary() -> list[dict[str, Any]]:
    return [
        KEYS | {"method": variant, "decision": "", "metric": metric, "value": value, "ci_low": value - 0.01}
        | {"ci_high": value + 0.01, "n_seeds": 2}
        | {"best": variant == "wsabie", "p_adjusted": None if variant == "wsabie" else 0.5}
        for variant, value in PRECISION.items()
        for metric in ("precision@1", "map")
    ]  # fmt: skip


def timing() -> list[dict[str, Any]]:
    return [
        KEYS | {"method": "wsabie", "repeat": repeat, "phase": phase, "seconds": seconds, "images": 200}
        | {"model_bytes": 5 << 20}
        for repeat in (1, 2, 3)
        for phase, seconds in (("score", 0.2 * repeat), ("evaluate", 9.0))
    ]  # fmt: skip


def neighbours() -> list[dict[str, Any]]:
    return [
        KEYS | {"method": "wsabie", "seed": seed, "label": label, "frequency": frequency, "rank": rank}
        | {"neighbour": neighbour, "sibling": sibling, "siblings": 1, "n_labels": 3, "cosine": 0.5}
        for seed in (1, 2)
        for label, frequency in (("sky", 9), ("sea", 20), ("car", 1))
        for rank, neighbour, sibling in ((2, "b&w", False), (1, "cloud_s", True))
    ]  # fmt: skip


LISTED = ((3, "car", False, False), (1, "sky", True, True), (2, "cloud", False, True))  # as files may have them


def examples() -> list[dict[str, Any]]:
    return [
        KEYS | {"method": variant, "seed": 1, "image": f"i{number}", "number": number, "truth": "sky, sea"}
        | {"rank": rank, "label": label, "right": right, "sibling": sibling}
        for variant in PRECISION
        for number in (1, 2, 3, 4)
        for rank, label, right, sibling in LISTED
    ]  # fmt: skip


def precision_at(siblings: bool) -> list[dict[str, Any]]:
    return [
        KEYS | {"method": variant, "seed": seed, "cutoff": k, "precision": value / k}
        | {"sibling_precision": value if siblings else None}
        for variant, value in PRECISION.items()
        for seed in (1, 2)
        for k in range(1, 11)
    ]  # fmt: skip


def history() -> list[dict[str, Any]]:
    return [
        KEYS | {"method": variant, "seed": seed, "phase": "selection"}
        | {"epoch": epoch, "seconds": 0.1, "validation": value}
        for variant, value in PRECISION.items()
        for seed in (1, 2)
        for epoch in range(1, 9)
    ]  # fmt: skip


@pytest.fixture
def results() -> Results:
    variants = {variant: (variant.upper(), "paper") for variant in PRECISION}
    return changed(
        outline=outline_of(
            Task("sim-tree", "official"), variants, metrics=["precision@1", "map"], papers={"wsabie": "WSABIE"}
        ),
        datasets={"sim-tree": {"title": "simulated label tree", "simulated": True}},
        settings=[],
        summary=frame(summary(), schemas.SUMMARY),
        timing=frame(timing(), schemas.TIMING),
        history=frame(history(), schemas.HISTORY),
        analysis=analyses(neighbours_of_labels=neighbours(), examples=examples(), precision_at=precision_at(True)),
    )


def table(results: Results, name: str) -> Table:
    return table_kind(results, f"wsabie_{name}").table(results)


@pytest.mark.parametrize("name", [name for name in PAPER.tables if name != "table6"])  # which joins cells, see below
def test_every_printed_cell_of_words_and_percent_is_there(results: Results, name: str) -> None:
    text = to_csv(table(results, name)).replace("\\", "")
    for cell in PAPER.printed(name):
        assert (cell.value if cell.is_words else str(cell.number)) in text, cell


def test_our_rows_stand_below_the_printed_ones_under_their_own_heading(results: Results) -> None:
    found = table(results, "table2")
    own_heading = "Simulated label tree, protocol official"
    assert [heading for heading, _ in found.groups] == ["ImageNet", "Web-data", own_heading]
    own = [row for row in found.rows if row.group == own_heading]
    assert [row.cells[1].value for row in own] == ["ONE_VS_REST", "PAMIR_IA", "WSABIE"]
    assert own[-1].cells[3].value == 0.4
    assert own[-1].cells[3].bold
    assert own[0].cells[3].dagger
    assert own[0].cells[4].value is None  # the run has no precision@10
    assert found.notes[0].startswith("In percent. This run's data sets differ from the paper's")
    assert "random_projection_tree" in found.notes[-1]
    assert "**40.00** [39.00, 41.00]" in to_markdown(found)


def test_a_narrow_screen_shows_numbers_before_settings(results: Results) -> None:
    keys = [column.key for column in table(results, "table2").columns]
    assert keys[1:4] == ["method", "source", "precision@1"]
    assert keys[-1] == "settings"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("table3", "nearest labels in the embedding"),
        ("table4", "accuracy by size D of the embedding"),
        ("table6", "complexity, test time and memory"),
        ("table8", "first labels of example images"),
    ],
)
def test_a_caption_says_what_the_printed_table_is_about(name: str, content: str, results: Results) -> None:
    number = name.removeprefix("table")
    caption = f"WSABIE paper, Table {number}: {content}, published and on this run's data"
    assert table(results, name).caption == caption


def test_siblings_among_the_nearest_labels_are_in_italics(results: Results) -> None:
    found = table(results, "table3")
    assert values(found, "label")[-3:] == ["sea", "sky", "car"]  # by frequency
    assert values(found, "nearest")[-1] == "*cloud_s*, b&w"
    assert "\\textit{cloud\\_s}, b\\&w" in to_latex(found, "tab:x")
    assert "*cloud\\_s*, b&w" in to_markdown(found)


def test_chosen_labels_are_shown_in_their_order(results: Results) -> None:
    parameters = {"paper": str(PAPER.path), "printed": "table3", "method": "wsabie", "labels": ["car", "none", "sky"]}
    found = make(TableKind, "nearest_labels", parameters, "t").table(results)
    assert values(found, "label")[-2:] == ["car", "sky"]


def test_right_labels_of_an_image_are_bold_and_their_siblings_in_italics(results: Results) -> None:
    found = table(results, "table8")
    assert values(found, "labels")[-1] == "**sky**, *cloud*, car"
    assert (values(found, "image")[-1], values(found, "truth")[-1]) == ("i3", "sky, sea")
    assert values(found, "method")[-3:] == ["WSABIE", "PAMIR_IA", "ONE_VS_REST"]
    assert "\\textbf{sky}, \\textit{cloud}, car" in to_latex(found, "tab:x")


def test_words_on_the_page() -> None:
    page = template()
    assert page.filename is not None
    tables = Path(page.filename).with_name("tables.html.j2")
    macro = tables.read_text(encoding="utf-8").partition("{% endmacro %}")[0]
    html = page.environment.from_string(macro + "{% endmacro %}{{ cell(value, column) }}").render(
        value=Cell("**sky**, *cloud* & <sea>"), column=Column("w", "W", "words")
    )
    assert "<strong>sky</strong>, <em>cloud</em> &amp; &lt;sea&gt;" in html


@given(st.lists(st.text(min_size=1), min_size=3, max_size=3))
def test_a_label_keeps_every_character(labels: list[str]) -> None:
    right, sibling, other = labels
    words = f"**{literal(right)}**, *{literal(sibling)}*, {literal(other)}"
    assert spans(words) == [(right, "bold"), (", ", ""), (sibling, "italic"), (f", {other}", "")]


def test_marks_that_do_not_close_stay_as_they_are() -> None:
    assert spans("a * b") == [("a * b", "")]
    assert spans("") == []


def test_cost_by_formula_and_measured(results: Results) -> None:
    found = table(results, "table6")
    lines = list(zip(values(found, "dataset"), values(found, "method"), strict=True))
    position = lines.index(("ImageNet", "WSABIE"))
    assert values(found, "memory_by_formula")[position] == (15952 + 10000) * 100 * 8
    assert values(found, "memory")[position] == 12 * 2**20
    assert values(found, "operations")[position] == (15952 + 245) * 100
    assert values(found, "image_seconds")[position] == pytest.approx(0.0240, abs=5e-5)
    assert values(found, "printed")[position] == "5.6 hours, 12 MB"
    assert values(found, "image_seconds")[lines.index(("ImageNet", "k-NN"))] == pytest.approx(26.25, abs=0.005)
    ours = found.rows[-1].cells
    assert ours[6].value == pytest.approx(0.002)  # the median of 0.2, 0.4 and 0.6 seconds for 200 images
    assert (ours[6].low, ours[6].high) == (pytest.approx(0.001), pytest.approx(0.003))
    assert ours[8].value == 5 << 20


@pytest.mark.parametrize("siblings", [True, False])
def test_a_panel_of_sibling_precision_only_where_there_are_siblings(results: Results, siblings: bool) -> None:
    vars(results)["analysis"] = analyses(precision_at=precision_at(siblings))
    with style():
        figure = figure_kind(results, "wsabie_figure1").figure(results)
    labels = [axis.get_ylabel() for axis in figure.axes]
    assert labels == (["precision@k", "sibling precision@k"] if siblings else ["precision@k"])


def test_validation_is_drawn_against_seconds_of_training(results: Results) -> None:
    with style():
        (axis,) = figure_kind(results, "wsabie_figure2").figure(results).axes
    assert axis.get_xscale() == "log"
    ends = [line.get_xdata()[-1] for line in axis.lines if len(line.get_xdata())]
    assert ends == pytest.approx([0.8] * len(ends))  # eight epochs of a tenth of a second


@pytest.mark.parametrize("name", ["figure1", "figure2"])
def test_a_run_without_its_methods_lacks_a_figure(results: Results, name: str) -> None:
    kind = figure_kind(results, f"wsabie_{name}")
    assert kind.applies(results.outline)
    results.outline.entries["sim-tree/official"] = ["vote_by_cosine"]
    assert not kind.applies(results.outline)
