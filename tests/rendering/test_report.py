"""Stage `report`: one page that holds everything, needs nothing else, and shows the tables' numbers."""

import base64
import csv
import gzip
import io
import json
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path

import polars as pl
import pytest

from tests.rendering.conftest import PAPERS, SMALL, changed, figures, make_results, table_kind, tables
from vsebench.cli import main
from vsebench.core.storage import read_json, write_json
from vsebench.rendering.claims import count_claims
from vsebench.rendering.page.page import about_machine, not_in_papers, notices
from vsebench.rendering.page.paper_section import audit_in_words, how_many_claims
from vsebench.rendering.results import Results
from vsebench.rendering.writers.csv import to_csv
from vsebench.stages.table import write_table

ROOT = Path(__file__).parents[2]
SVG = "<svg xmlns='http://www.w3.org/2000/svg'></svg>"
VOID = {"meta", "img", "br", "link", "input", "hr"}
SHOWN = tuple(paper.name for paper in PAPERS if paper.claims)  # xmc, without claims, has nothing to show here


class Page(HTMLParser):
    """The elements, numbers and text of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.numbers: dict[str, list[str]] = {}
        self.text: list[str] = []
        self.open: list[str] = []
        self.table = ""
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {key: value or "" for key, value in attrs}
        self.elements.append((tag, found))
        if tag not in VOID:
            self.open.append(tag)
        if tag == "table":
            self.table = found["id"]
        if "data-value" in found:
            self.numbers.setdefault(self.table, []).append(found["data-value"])

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in ("style", "script"):
            self.text.append(data)


@pytest.fixture(scope="module")
def folder(results: Results, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    shutil.copytree(results.folder, folder / "results")
    (folder / "figures").mkdir()
    for name in figures(results):
        (folder / "figures" / f"{name}.svg").write_text(SVG, encoding="utf-8")
    for name in tables(results):
        write_table(table_kind(results, name).table(results), name, folder / "results" / "tables" / name, {})
    assert main(command(folder)) == 0
    return folder


def command(folder: Path) -> list[str]:
    papers = [str(paper.path) for paper in PAPERS]
    options = ["--results", str(folder / "results"), "--figures", str(folder / "figures"), "--papers", *papers]
    return ["stage", "report", *options, "--out", str(folder / "results" / "report.html")]


@pytest.fixture(scope="module")
def text(folder: Path) -> str:
    return (folder / "results" / "report.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def page(text: str) -> Page:
    return Page(text)


def words(page: Page) -> str:
    return " ".join(" ".join(page.text).split())


def shown_tables(page: Page) -> list[str]:
    return [attributes["id"].removeprefix("table-") for tag, attributes in page.elements if tag == "table"]


def test_nothing_is_loaded_from_elsewhere(page: Page, text: str) -> None:
    links = [paper.link for paper in PAPERS if paper.link]
    for tag, attributes in page.elements:
        assert tag not in ("link", "iframe", "object", "embed", "base")
        if "src" in attributes:
            assert attributes["src"].startswith("../figures/"), tag
        address = attributes.get("href", "")
        assert address in links or not address.startswith(("http:", "https:", "//", "/", "file:"))
    assert "url(" not in text
    assert "@import" not in text


def test_an_interval_is_smaller_than_its_value_on_paper_too(text: str) -> None:
    # Tables are smaller in print, so a size that is not relative to the table's would stay as it is on a screen.
    size = re.search(r"^\.interval {.*font-size: ([0-9.]+)em;", text, re.MULTILINE)
    assert size is not None
    assert float(size[1]) < 1


def test_links_lead_to_files_and_sections(page: Page, folder: Path, results: Results) -> None:
    ids = {attributes["id"] for _, attributes in page.elements if "id" in attributes}
    assert len(ids) == sum("id" in attributes for _, attributes in page.elements)
    links = [attributes["href"] for tag, attributes in page.elements if tag == "a"]
    assert {link[1:] for link in links if link.startswith("#")} <= ids
    files = [link for link in links if not link.startswith(("#", "https:"))]
    # All are under "Files", and beside the table or figure as well; the list of all claims is shown in parts, and
    # what `trials` shows is in a paper's section.
    assert len(set(files)) == 3 * len(tables(results)) + len(figures(results))
    for file in set(files):
        assert files.count(file) == (1 if Path(file).stem in ("claims", "trials") else 2), file
    assert all((folder / "results" / link).is_file() for link in files)


def test_every_figure_and_table_is_shown_once(page: Page, results: Results) -> None:
    images = [attributes for tag, attributes in page.elements if tag == "img"]
    drawn = figures(results)
    of_papers = {name: figure for name, figure in drawn.items() if figure.paper is not None}
    of_run = {name: figure for name, figure in drawn.items() if figure.paper is None}
    assert len(images) == len(of_papers) + len(not_in_papers(of_run, of_papers))
    assert all(len(image["alt"]) > 20 for image in images)
    # The claims are shown paper by paper, and with the audit the numbers that agree.
    others = ["audit-agreements", "claims-not-tested", *(f"claims-{paper}" for paper in SHOWN)]
    assert sorted(shown_tables(page)) == sorted([*(name for name in tables(results) if name != "claims"), *others])
    assert [tag for tag, _ in page.elements].count("caption") == len(shown_tables(page))


def test_every_figure_is_packed_in_the_page(page: Page, text: str, results: Results) -> None:
    packed = re.search(r'<script type="application/gzip" id="drawings">(.*?)</script>', text)
    assert packed is not None
    drawings = json.loads(gzip.decompress(base64.b64decode(packed[1])))
    assert drawings == dict.fromkeys(figures(results), SVG)
    images = [attributes for tag, attributes in page.elements if tag == "img"]
    assert {image["data-drawing"] for image in images} <= drawings.keys()
    assert all(image["src"] == f"../figures/{image['data-drawing']}.svg" for image in images)
    unpacking, *others = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    assert "DecompressionStream" in unpacking  # a browser without it stops there, and goes on with the next script
    assert others
    assert "DecompressionStream" not in "".join(others)


def test_the_page_has_the_numbers_of_the_csv(page: Page, folder: Path, results: Results) -> None:
    for name in tables(results).keys() - {"claims"}:
        table = table_kind(results, name).table(results)
        keys = [column.key for column in table.columns if column.shown and not column.is_text]
        written = (folder / "results" / "tables" / f"{name}.csv").read_text(encoding="utf-8")
        assert written == to_csv(table)
        expected = [row[key] for row in csv.DictReader(io.StringIO(written)) for key in keys]
        shown = page.numbers.get(f"table-{name}", [])
        if name == "claims-summary":  # what the run cannot test is in a table of its own
            shown = shown + page.numbers.get("table-claims-not-tested", [])
        assert shown == expected, name


def test_each_paper_has_a_section_with_its_tables_and_all_its_claims(
    page: Page, folder: Path, results: Results
) -> None:
    sections = [attributes["id"] for tag, attributes in page.elements if tag == "section"]
    expected = ["result", "claims", "overview", *SHOWN, *(task.name for task in SMALL)]
    assert sections[: len(expected)] == expected
    of_papers = [name for name in shown_tables(page) if name.startswith(SHOWN)]
    applying = tables(results)
    names = [f"{paper.name}_{key}" for paper in PAPERS for key in paper.tables]
    assert of_papers == [name for name in names if name in applying]
    assert 0 < len(of_papers) < len(names)
    with (folder / "results" / "tables" / "claims.csv").open(encoding="utf-8") as file:
        tests = list(csv.DictReader(file))
    for paper in SHOWN:
        expected = [row[key] for row in tests if row["paper"] == paper for key in ("effect", "p_adjusted")]
        assert page.numbers[f"table-claims-{paper}"] == expected


def test_claims_cannot_be_judged_on_simulated_data(folder: Path, page: Page, tmp_path: Path) -> None:
    sentence = "they cannot be judged on simulated data"
    assert sentence not in words(page)
    make_results(tmp_path / "results", tasks=SMALL[:1])
    shutil.copytree(folder / "figures", tmp_path / "figures")
    assert main(command(tmp_path)) == 0
    assert sentence in " ".join((tmp_path / "results" / "report.html").read_text(encoding="utf-8").split())


def test_what_a_reader_must_know_is_said(page: Page) -> None:
    text = words(page)
    assert "Part of the data is simulated:" in text
    assert "95 % intervals over images and seeds" in text
    assert "Ties count against a method." in text
    assert "(nothing to rank <for it>)" in text  # escaped in the source
    assert (
        "SAIAPR TC-12 (region labels), protocol regions: Left out: Oracle (ceiling) (it needs simulated data)." in text
    )
    assert "Filters top_labels 600" in text
    assert "VSE-fs: 12 training runs diverged" in text
    assert "searched (12 configurations, 3 seeds)" in text
    assert "a made-up source of warp, equation 4 (simulated)" in text
    assert "0123456789ab" in text
    assert "8.0 GiB" in text


def test_the_page_counts_verdicts_and_only_claims_that_are_not_tested_as_claims(page: Page, results: Results) -> None:
    text = words(page)
    assert "A claim has a verdict for each kind of data on which it can be tested." in text
    for title, number, verdicts in count_claims(results):
        noun = "claim" if title.endswith("not testable here") else "verdict"
        plural = "" if number == 1 else "s"
        first, times = verdicts[0]
        end = "." if noun == "claim" else f": {first} {times}"
        assert f"{title}{':' if noun == 'claim' else ','} {number} {noun}{plural}{end}" in text


def test_the_rules_between_rows_reach_below_the_first_column_which_stays_in_view(text: str) -> None:
    # Collapsed borders belong to the table and do not move with a sticky cell.
    assert "border-collapse: separate; border-spacing: 0;" in text
    assert "border-collapse: collapse" not in text


def test_the_machine_is_described_before_the_kernels_which_take_one_line(results: Results) -> None:
    kernels = {name: {"functions_compiled": 2, "seconds": 1.5} for name in ("warp", "ease")}
    names, texts = zip(*about_machine(results.machine | {"kernels": kernels}), strict=True)
    assert names[:2] == ("machine: cores", "machine: memory")
    assert (names[-1], texts[-1]) == ("kernels", "4 functions compiled, the others loaded, in 3 s")


@pytest.mark.parametrize(
    ("citation", "shown"),
    [
        ("labels.csv", "Siblings of labels labels.csv Options"),
        ("Nobody, 2020", "Siblings of labels labels.csv. Nobody, 2020 (made up) Options"),
    ],
)
def test_a_source_of_siblings_that_is_its_own_citation_is_named_once(
    citation: str, shown: str, folder: Path, tmp_path: Path
) -> None:
    for name in ("results", "figures"):
        shutil.copytree(folder / name, tmp_path / name)
    path = tmp_path / "results" / "datasets.json"
    siblings = {"title": "labels.csv", "citation": citation, "licence": "made up"}
    write_json([entry | {"siblings": siblings} for entry in read_json(path)], path)
    assert main(command(tmp_path)) == 0
    assert shown in words(Page((tmp_path / "results" / "report.html").read_text(encoding="utf-8")))


def test_the_audit_of_one_paper_with_one_contradiction_is_in_the_singular() -> None:
    numbers = {"papers": 1, "checks": 4, "cells": 3, "agrees": 2, "depends": 0, "contradicts": 1}
    text = audit_in_words(numbers)
    assert text.startswith("Many numbers printed in the paper follow")
    assert "in 4 checks, of which 2 agree. The others show 1 fact that contradicts other numbers, and 0 that" in text
    assert "the 2 papers" in audit_in_words(numbers | {"papers": 2})


def test_what_a_run_lacks_of_a_paper_is_named_in_one_line(page: Page, results: Results) -> None:
    text = words(page)
    assert "Left out, because this run has nothing to show in them: table 1, table 2, examples, figure 2," in text
    assert "Nothing to draw" not in text
    assert not {"lsep_table1", "sampled_tagging_figure4"}.intersection(tables(results))


def test_the_number_of_testable_claims_is_said_with_the_commands_that_test_others(page: Page, results: Results) -> None:
    judged = results.claims.filter(level="claim").group_by("paper", "claim").agg(pl.col("verdict").unique())
    verdicts = judged["verdict"].to_list()
    tested = sum(set(of_claim) != {"not testable here"} for of_claim in verdicts)
    assert f"{tested} of {len(verdicts)} claims can be tested on the data of this run. For the others, run " in words(
        page
    )
    assert "make CONFIG=config/iapr-short.yaml (VSE-ens, VSE-fs); make CONFIG=config/wsabie.yaml (WSABIE)." in words(
        page
    )
    assert all((ROOT / "config" / str(paper.run)).is_file() for paper in PAPERS)
    own = changed(results, outline=results.outline.model_copy(update={"configuration": "wsabie.yaml"}))
    assert "wsabie.yaml" not in how_many_claims(own, PAPERS)


def test_a_page_without_papers_is_about_the_run_alone(folder: Path, results: Results, tmp_path: Path) -> None:
    for name in ("results", "figures"):
        shutil.copytree(folder / name, tmp_path / name)
    outline = tmp_path / "results" / "outline.json"
    write_json(read_json(outline) | {"papers": {}}, outline)
    arguments = command(tmp_path)
    start = arguments.index("--papers")
    del arguments[start : start + 1 + len(PAPERS)]
    assert main(arguments) == 0
    page = Page((tmp_path / "results" / "report.html").read_text(encoding="utf-8"))
    sections = [attributes["id"] for tag, attributes in page.elements if tag == "section"]
    assert sections == [
        "result",
        "overview",
        *(task.name for task in SMALL),
        "training-time",
        "settings",
        "data",
        "machine",
        "files",
    ]


@pytest.mark.parametrize("seeds", [1, 2, 3])
def test_too_few_seeds_are_a_warning(seeds: int, results: Results) -> None:
    outline = results.outline.model_copy(update={"seeds": list(range(seeds))})
    warnings = [line for line in notices(changed(results, outline=outline)) if "use at least 3, preferably 5" in line]
    assert len(warnings) == (seeds < 3)


def test_the_same_results_give_the_same_page(folder: Path, text: str) -> None:
    assert main(command(folder)) == 0
    assert (folder / "results" / "report.html").read_text(encoding="utf-8") == text
    assert str(folder) not in text


@pytest.mark.parametrize(("kept", "what"), [(None, "no such file"), (20, "its end is missing; delete it")])
def test_a_missing_or_cut_off_figure_is_one_line(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], kept: int | None, what: str
) -> None:
    arguments = command(folder)
    arguments[arguments.index("--figures") + 1] = str(tmp_path)
    if kept is not None:
        for path in (folder / "figures").glob("*.svg"):
            (tmp_path / path.name).write_text(SVG[:kept], encoding="utf-8")
    assert main(arguments) == 1
    message = capsys.readouterr().err
    assert f".svg: {what}" in message
    assert message.count("\n") == 1


def test_no_two_tables_have_the_same_caption(text: str) -> None:
    captions = re.findall(r"<caption[^>]*><span>(.*?)</span></caption>", text)
    assert len(captions) == len(set(captions)) > 20


def test_images_without_features_are_among_the_warnings(results: Results) -> None:
    entries = {
        name: entry | {"features": {"images_without": 1}, "feature_sets": {"hue": {"images_without": 1200}}}
        for name, entry in results.datasets.items()
    }
    said = [line for line in notices(changed(results, datasets=entries)) if "no features" in line]
    assert len(said) == 2 * len(entries)
    assert "1 image has no features; protocols with new images do not use such images" in said[0]
    assert "1,200 images have no features in the set hue; protocols" in said[1]
