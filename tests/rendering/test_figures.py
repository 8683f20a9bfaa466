"""Stage `figure`: files that a publisher accepts, that do not change, and that say what is simulated."""

import json
from itertools import combinations
from pathlib import Path

import polars as pl
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from vsebench.rendering.names import PAPER_FIGURES, figure_names
from vsebench.rendering.paper_figures import draw as draw_paper_figure

from vsebench.cli import main
from vsebench.core.storage import read_parquet
from vsebench.rendering import paper_figures
from vsebench.rendering.figures import draw, validation_history
from vsebench.rendering.results import Results
from vsebench.rendering.style import looks, save, style

NAMES = figure_names([("sim-iapr", "distinct"), ("saiapr", "regions")])


@pytest.fixture(scope="module")
def results(results_folder: Path, titles: str) -> Results:
    return Results(results_folder, json.loads(titles))


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


@pytest.mark.parametrize("name", NAMES)
def test_a_figure_says_what_is_simulated_and_fits_its_page(name: str, results: Results) -> None:
    with style():
        figure = draw(results, name)
        assert ("imulated" in texts(figure)) == ("saiapr" not in name)
        check_page(figure)


@pytest.mark.parametrize("name", PAPER_FIGURES)
@pytest.mark.parametrize("swept", [True, False])
def test_a_figure_of_a_paper_fits_its_page_with_and_without_sweeps(name: str, swept: bool, results: Results) -> None:
    sweeps = read_parquet(results.folder / "sweeps.parquet")
    with style():
        figure = draw_paper_figure(name, results, sweeps if swept else sweeps.clear())
        assert "imulated" in texts(figure)
        panels = {"vse_ens_figure1": 2, "vse_fs_figure2": 2 * (4 if swept else 1)}
        assert len(figure.axes) == panels[name]
        check_page(figure)


def test_many_data_sets_share_a_row_of_panels(results: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paper_figures, "MOST_ROWS", 1)
    with style():
        figure = draw_paper_figure("vse_fs_figure2", results, read_parquet(results.folder / "sweeps.parquet"))
        assert "imulated" in texts(figure)
        assert len(figure.axes) == 4
        assert len(figure.legends[0].get_texts()) == 2
        check_page(figure)


def test_no_two_names_of_the_mean_ranks_overlap(results: Results) -> None:
    with style():
        figure = draw(results, "mean-ranks")
        FigureCanvasAgg(figure).draw()
        boxes = [text.get_window_extent() for text in figure.axes[0].texts]
        assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))


def test_the_same_results_give_the_same_bytes_with_truetype_fonts(
    results_folder: Path, titles: str, tmp_path: Path, results: Results
) -> None:
    name = "convergence-sim-iapr-distinct"
    command = ["figure", name, "--results", str(results_folder), "--titles", titles, "--out", str(tmp_path / name)]
    assert main(command) == 0
    with style():
        save(draw(results, name), tmp_path / "again")
    for suffix in ("pdf", "svg", "png"):
        assert (tmp_path / f"{name}.{suffix}").read_bytes() == (tmp_path / f"again.{suffix}").read_bytes(), suffix
    pdf = (tmp_path / f"{name}.pdf").read_bytes()
    assert b"/FontFile2" in pdf
    assert b"/Type3" not in pdf
    assert b"CreationDate" not in pdf
    svg = (tmp_path / f"{name}.svg").read_text(encoding="utf-8")
    assert "<text" not in svg  # letters are shapes, so that no font is needed
    assert "<dc:date>" not in svg


def test_a_mean_ends_where_the_first_seed_stops(results: Results) -> None:
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
    shown = validation_history(history)
    assert shown["epoch"].to_list() == [1, 2, 1, 2]
    assert shown["training_seconds"].to_list() == [2.0, 4.0, 2.0, 4.0]


@pytest.mark.parametrize("name", ["trials", "convergence-saiapr-regions"])
def test_a_run_without_trained_methods_says_so(name: str, results_folder: Path, titles: str) -> None:
    results = Results(results_folder, json.loads(titles))
    results.__dict__["history"] = results.history.clear()
    with style():
        assert "o method of this run" in texts(draw(results, name))


def test_methods_differ_without_colour(results: Results) -> None:
    trained = [method for method in results.titles if method not in ("random", "popularity", "oracle")]
    look = looks(results, [])
    assert len({look[method].marker for method in trained}) == len(trained)
    assert len({str(look[method].dashes) for method in trained}) == len(trained)
