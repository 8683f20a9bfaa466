"""The page's interactive chart: its numbers are the run's, and a browser draws a mark for each of them."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import polars as pl
import pytest

from tests.rendering.conftest import PAPERS, figures
from vsebench.rendering.page import explore
from vsebench.rendering.page.explore import numbers
from vsebench.rendering.page.page import render
from vsebench.rendering.results import Results

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")


def test_the_chart_has_every_value_of_the_summary(results: Results) -> None:
    found = numbers(results)
    tasks = results.tasks_of(results.summary)
    metrics, variants = results.outline.metrics, list(results.outline.variants)
    assert [task["title"] for task in found["tasks"]] == [results.task_title(task) for task in tasks]
    values = {(p, m, r): (value, low, high) for p, m, r, value, low, high, _ in found["values"]}
    expected = {}
    for entry in results.summary.filter(pl.col("metric").is_in(metrics), decision="").iter_rows(named=True):
        task = next(n for n, p in enumerate(tasks) if (p.dataset, p.protocol) == (entry["dataset"], entry["protocol"]))
        key = (task, metrics.index(entry["metric"]), variants.index(entry["method"]))
        expected[key] = tuple(entry[name] for name in ("value", "ci_low", "ci_high"))
    assert values.keys() == expected.keys()
    for key, wanted in expected.items():
        assert values[key] == pytest.approx(wanted, abs=1e-5)


def test_each_metric_has_one_best_method_in_a_task(results: Results) -> None:
    best = [(p, m) for p, m, *_, mark in numbers(results)["values"] if mark == 2]
    assert len(best) == len(set(best)) > 0


def test_colours_are_ones_that_a_browser_knows(results: Results) -> None:
    assert all(re.fullmatch("#[0-9a-f]{6}", method["colour"]) for method in numbers(results)["methods"])


@pytest.mark.skipif(CHROMIUM is None, reason="needs chromium, to run the page's script")
def test_a_browser_draws_a_mark_for_each_timed_method(results: Results, tmp_path: Path) -> None:
    shown = in_browser(results, tmp_path)
    data = json.loads(re.search('id="numbers">(.*?)</script>', shown, re.DOTALL)[1])  # type: ignore[index]
    metric = data["tasks"][0]["metric"]
    measured = {method for task, what, method, *_ in data["values"] if (task, what) == (0, metric)}
    timed = {method for task, method, _ in data["seconds"] if task == 0} & measured
    assert timed
    chart = re.search('<div class="chart">(.*?)</div>', shown, re.DOTALL)
    assert chart is not None
    assert len(re.findall('class="mark"', chart[1])) == len(timed)
    for method in timed:
        assert f'aria-label="{data["methods"][method]["title"]}: ' in chart[1]


# Counts the pairs of names in the chart that overlap.
COUNT_OVERLAPS = """<script>
  const boxes = [...document.querySelectorAll(".chart .name")].map((name) => name.getBBox());
  const apart = (a, b) => a.x + a.width < b.x || b.x + b.width < a.x || a.y + a.height < b.y || b.y + b.height < a.y;
  const overlaps = boxes.flatMap((box, number) => boxes.slice(number + 1).filter((other) => !apart(box, other)));
  document.body.dataset.overlaps = overlaps.length;
</script>
</body>"""


@pytest.mark.skipif(CHROMIUM is None, reason="needs chromium, to run the page's script")
def test_names_of_crowded_marks_do_not_overlap_and_the_best_method_has_one(
    results: Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    crowded = numbers(results)
    timed = [entry for entry in crowded["seconds"] if entry[0] == 0]
    order = {method: number for number, (_, method, _) in enumerate(timed)}
    for entry in timed:
        entry[2] = 1 + 1e-3 * order[entry[1]]
    for entry in crowded["values"]:
        if entry[0] == 0 and entry[2] in order:
            entry[3] = 0.4 + 1e-4 * order[entry[2]]
        elif entry[0] == 0:
            entry[3] = 0.1
    crowded["seconds"].append([0, next(n for n in range(len(crowded["methods"])) if n not in order), 0.01])
    monkeypatch.setattr(explore, "numbers", lambda results: crowded)
    shown = in_browser(results, tmp_path, COUNT_OVERLAPS)
    names = re.findall('<text class="name"[^>]*>([^<]*)</text>', shown)
    assert 1 < len(names) < len(timed)
    assert crowded["methods"][timed[-1][1]]["title"] in names
    assert 'data-overlaps="0"' in shown


@pytest.mark.skipif(CHROMIUM is None, reason="needs chromium, to run the page's script")
@pytest.mark.parametrize("sign", [1, -1])
def test_the_line_ends_at_the_best_method_also_where_small_values_are_better(
    sign: int, results: Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    of_run = numbers(results)
    of_run["signs"] = [sign] * len(of_run["metrics"])
    monkeypatch.setattr(explore, "numbers", lambda results: of_run)
    metric, timed = of_run["tasks"][0]["metric"], {method for task, method, _ in of_run["seconds"] if task == 0}
    values = {row[2]: row[3] for row in of_run["values"] if row[:2] == [0, metric] and row[2] in timed}
    best = of_run["methods"][max(values, key=lambda method: sign * values[method])]["title"]
    assert best in re.findall('<text class="name"[^>]*>([^<]*)</text>', in_browser(results, tmp_path))


@pytest.mark.skipif(CHROMIUM is None, reason="needs chromium, to run the page's script")
@pytest.mark.parametrize("timed", [True, False])
def test_the_chart_begins_with_intervals_if_the_best_method_was_not_timed(
    timed: bool, results: Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    of_run = numbers(results)
    metric = of_run["tasks"][0]["metric"]
    (best,) = (row[2] for row in of_run["values"] if row[:2] == [0, metric] and row[-1] == 2)
    of_run["seconds"] = [row for row in of_run["seconds"] if row[:2] != [0, best]] + ([[0, best, 0.5]] if timed else [])
    monkeypatch.setattr(explore, "numbers", lambda results: of_run)
    labels = re.findall('<svg [^>]*role="group" aria-label="([^"]*)"', in_browser(results, tmp_path))
    assert [("against seconds" in label, "with 95 % intervals" in label) for label in labels] == [(timed, not timed)]


def in_browser(results: Results, folder: Path, end: str = "</body>") -> str:
    """Return the page as it is after its scripts have run; `end` replaces the end of its body."""
    for name in figures(results):
        (folder / f"{name}.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'></svg>", encoding="utf-8")
    page = folder / "report.html"
    page.write_text(render(results, folder, PAPERS, folder).replace("</body>", end), encoding="utf-8")
    options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=2000", "--dump-dom"]
    return subprocess.run([str(CHROMIUM), *options, page.as_uri()], capture_output=True, text=True, check=True).stdout
