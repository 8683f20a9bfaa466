"""The page's interactive chart: its numbers are the run's, and a browser draws a mark for each of them."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import polars as pl
import pytest

from tests.rendering.conftest import PAPERS, figures
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
    for name in figures(results):
        (tmp_path / f"{name}.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>", encoding="utf-8")
    page = tmp_path / "report.html"
    page.write_text(render(results, tmp_path, PAPERS, tmp_path), encoding="utf-8")
    options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=2000", "--dump-dom"]
    shown = subprocess.run([str(CHROMIUM), *options, page.as_uri()], capture_output=True, text=True, check=True).stdout
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
