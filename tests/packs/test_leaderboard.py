"""The page that ranks the methods of several packs."""

import json
import re
import shutil
import subprocess
from contextlib import ExitStack
from dataclasses import replace
from html import unescape
from urllib.parse import urlencode

import pytest

from tests.packs.runs import write_run
from tests.stages.small import run
from vsebench.core.errors import UserError
from vsebench.packs.leaderboard import (
    BoardTask,
    change_of,
    chart,
    contestants_of,
    leaderboard,
    names_of,
    rank_table,
    ranked,
    tasks_of,
    value_table,
)
from vsebench.packs.runs import opened

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")


@pytest.fixture(scope="module")
def packs(tmp_path_factory):
    """Packs of a run, of the same run with another setting of ridge, and of a run on other data."""
    folder = tmp_path_factory.mktemp("packs")
    changes = {"new": {}, "old": {"regularisation": 1e5, "verdict": "undecided"}}
    changes["other"] = {"n_images": 84, "name": "other.yaml"}
    for name, change in changes.items():
        results = write_run(folder / name, **change)
        assert run("pack", folder / f"{name}.vsepack", "--results", results) == 0
    return folder


@pytest.fixture
def runs(packs):
    with (
        opened(packs / "new.vsepack") as new,
        opened(packs / "old.vsepack") as old,
        opened(packs / "other.vsepack") as other,
    ):
        yield new, old, other


def text_of(page):
    return unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page)))


def test_runs_with_the_same_splits_share_a_task_and_others_do_not(runs):
    assert [list(task.runs) for task in tasks_of(runs)] == [[0, 1], [2]]
    assert tasks_of(runs)[1].title == "Groups (simulated), images (other)"


def test_packs_and_results_with_equal_names_are_told_apart_in_rows_and_columns(packs, tmp_path):
    paths = [tmp_path / "a/new.vsepack", tmp_path / "b/new.vsepack", tmp_path / "other/b/new.vsepack"]
    for path, name in zip(paths, ("new", "other", "old"), strict=True):
        path.parent.mkdir(parents=True)
        shutil.copy(packs / f"{name}.vsepack", path)
    with ExitStack() as stack:
        runs = [stack.enter_context(opened(path)) for path in [*paths, packs / "new/results", packs / "old/results"]]
        names = ["a/new", "b/new 1", "b/new 2", "new/small", "old/small"]
        assert names_of(runs) == names
        columns = [task.title for task in tasks_of(runs)]
        rows = {row.cells[0].value for row in rank_table(tasks_of(runs), contestants_of(runs), runs).rows}
    of_split = "Groups (simulated), images"
    assert columns == [f"{of_split} (a/new, b/new 2, new/small, old/small)", f"{of_split} (b/new 1)"]
    assert rows == {f"{method} ({name})" for method in ("Popularity", "Ridge", "Random") for name in names}


@pytest.mark.parametrize("metrics", [(["map"], ["recall@5"]), (["gini@5", "map"], ["gini@5"])])
def test_packs_without_a_common_metric_of_quality_are_one_line(runs, metrics):
    described = (
        replace(run, manifest=run.manifest.model_copy(update={"metrics": names}))
        for run, names in zip(runs, metrics, strict=False)
    )
    (task,) = tasks_of([*described])
    with pytest.raises(UserError, match=r"new\.vsepack, .*old\.vsepack have no quality metric in common for"):
        task.metric  # noqa: B018


def test_a_rank_counts_the_methods_with_a_larger_value(runs):
    (task, _), contestants = tasks_of(runs), contestants_of(runs)
    ranks = ranked(task, contestants)
    numbers = task.numbers(task.metric)
    values = {
        index: numbers[each.run, each.method]["value"] for index, each in enumerate(contestants) if index in ranks
    }
    assert len(values) == 6  # three methods of two runs
    for index, (rank, low, high) in ranks.items():
        assert rank == 1 + sum(value > values[index] for value in values.values())
        assert 1 <= low <= rank <= high <= 6
    best = max(values, key=values.__getitem__)
    assert (contestants[best].run, contestants[best].method) == (0, "ridge")


def test_a_rank_is_certain_only_where_intervals_do_not_overlap(runs):
    task, contestants = tasks_of(runs)[0], contestants_of(runs)
    numbers = task.numbers(task.metric)
    row = {index: numbers[each.run, each.method] for index, each in enumerate(contestants[:6])}
    for index, (_, low, high) in ranked(task, contestants).items():
        others = [other for number, other in row.items() if number != index]
        assert low == 1 + sum(other["ci_low"] > row[index]["ci_high"] for other in others)
        assert high == 6 - sum(other["ci_high"] < row[index]["ci_low"] for other in others)


class OfRealData(BoardTask):
    simulated = False


def test_simulated_tasks_do_not_count_in_the_mean_rank_and_methods_of_more_real_tasks_come_first(runs):
    (shared, other), contestants = tasks_of(runs), contestants_of(runs)
    real = OfRealData(shared.task, shared.runs, shared.title)
    table = rank_table([real, other], contestants, runs)
    ranks = {index: rank for index, (rank, *_) in ranked(real, contestants).items()}
    assert [row.cells[1].value for row in table.rows] == [1] * 6 + [0] * 3
    assert [row.cells[2].value for row in table.rows] == [*sorted(ranks.values()), None, None, None]
    assert [row.cells[1].value for row in rank_table([shared, other], contestants, runs).rows] == [1] * 9
    values = value_table([real, other], contestants, runs)
    assert [row.cells[0].value for row in values.rows] == [row.cells[0].value for row in table.rows]


def test_tasks_with_real_data_come_first(runs, monkeypatch):
    simulated = tasks_of(runs)
    monkeypatch.setattr(BoardTask, "simulated", property(lambda task: 0 in task.runs))
    assert [each.title for each in tasks_of(runs)] == [each.title for each in reversed(simulated)]


def test_fits_at_a_limit_are_marked_and_each_method_says_how_its_settings_were_chosen(runs):
    (task, _), contestants = tasks_of(runs), contestants_of(runs)
    ridge = next(each for each in contestants if (each.run, each.method) == (0, "ridge"))
    limited = BoardTask(task.task, task.runs, task.title)
    fit = task.fits[0, "ridge"][0]
    stopped = fit | {"at_limit": True, "epochs": 3, "choice": "tuned", "n_configurations": 8, "seeds_of_search": [1]}
    limited.__dict__["fits"] = task.fits | {(0, "ridge"): [stopped]}
    table = value_table(
        [limited], [ridge, replace(ridge, shown=ridge.shown.model_copy(update={"tuned": "by hand"}))], runs
    )
    assert [row.cells[2].marks for row in table.rows] == ["‡", "‡"]
    assert table.notes == ("‡: for at least one seed, the limit on epochs stopped the training.",)
    searched, stated = (row.cells[1].value for row in table.rows)
    assert searched == "searched (8 configurations, 1 seed)"
    assert stated == f"settings: by hand; {searched}"
    assert rank_table([limited], [ridge], runs).rows[0].cells[3].marks == "‡"
    assert chart([limited], [ridge], runs)["marks"] == [[0, 0, "‡", "limit on epochs"]]


def test_the_page_says_that_data_is_simulated_and_has_the_values_for_the_chart(runs):
    page = leaderboard(runs)
    assert "Simulated data: Groups (simulated)" in text_of(page).replace(" :", ":")
    assert "Ridge (new)" in page
    data = json.loads(re.search('id="numbers">(.*?)</script>', page, re.DOTALL)[1])
    assert len(data["values"]) == 9 * 3  # three methods and metrics of three runs
    assert "#chart?" in page  # the script that keeps the state of the chart in the address


@pytest.mark.skipif(CHROMIUM is None, reason="needs chromium, to run the page's script")
def test_a_link_restores_the_state_of_the_chart(runs, tmp_path):
    page = tmp_path / "page.html"
    page.write_text(leaderboard(runs), encoding="utf-8")
    task = chart(tasks_of(runs), contestants_of(runs), runs)["tasks"][1]["id"]
    state = {"data": task, "metric": "Recall@5", "view": "intervals", "hidden": "ridge@2"}
    shown = dumped(f"{page.as_uri()}#chart?{urlencode(state)}")
    names = re.findall('aria-label="([^":]+): Recall@5 ', shown)
    assert sorted(names) == ["Popularity (other)", "Random (other)"]
    pressed = re.findall('<button[^>]* aria-pressed="(true|false)"[^>]*>(?:<svg.*?</svg>)?([^<]+)<', shown)
    assert {name: on for on, name in pressed}["Ridge (other)"] == "false"
    assert "Ridge (other): Recall@5" in dumped(page.as_uri() + f"#chart?{urlencode(state | {'hidden': ''})}")


def dumped(address):
    """Return the page at an address after its script has run."""
    options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=2000", "--dump-dom"]
    return subprocess.run([CHROMIUM, *options, address], capture_output=True, text=True, check=True).stdout


def test_what_changed_since_an_older_pack_is_on_the_page(packs, tmp_path, capsys):
    out = tmp_path / "page.html"
    assert run("leaderboard", packs / "new.vsepack", "--since", packs / "old.vsepack", "--out", out) == 0
    text = text_of(out.read_text())
    assert "ridge-wins (simulated): undecided -> holds" in text
    assert "ridge: regularisation 100000.0 -> 1.0" in text
    table = re.search('<table id="table-changes-0">(.*?)</table>', out.read_text(), re.DOTALL)[1]
    assert "Ridge" in table
    assert "Popularity" not in table  # its values are the same
    assert run("leaderboard", packs / "new.vsepack", "--since", packs / "other.vsepack", "--out", out) == 1
    assert "other.vsepack belongs to the run other, but the page shows only small" in capsys.readouterr().err


def test_what_changed_is_shown_in_a_metric_that_packs_can_give(runs):
    new, old, _ = (
        replace(run, manifest=run.manifest.model_copy(update={"metrics": ["psp@3", *run.manifest.metrics]}))
        for run in runs
    )
    change = change_of(old, new, 0)
    assert {row.cells[2].value for row in change["table"].rows} == {"Recall@5"}
