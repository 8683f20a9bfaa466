"""Stage `report`: one page that holds everything, needs nothing else, and shows the tables' numbers."""

import csv
import io
import json
from html.parser import HTMLParser
from pathlib import Path

import pytest

from vsebench.cli import main
from vsebench.rendering.names import figure_names, table_names
from vsebench.rendering.results import Results
from vsebench.rendering.table import to_csv
from vsebench.rendering.tables import build_table, write_table

PAIRS = [("sim-iapr", "distinct"), ("saiapr", "regions")]
SVG = "<svg xmlns='http://www.w3.org/2000/svg'/>"
VOID = {"meta", "img", "br", "link", "input", "hr"}


class Page(HTMLParser):
    """What the tests ask of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.numbers: dict[str, list[str]] = {}
        self.text: list[str] = []
        self.open: list[str] = []
        self.table = ""
        self.feed(text)
        self.close()

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
def folder(results_folder: Path, titles: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    (folder / "figures").mkdir()
    for name in figure_names(PAIRS):
        (folder / "figures" / f"{name}.svg").write_text(SVG, encoding="utf-8")
    (folder / "results").mkdir()
    for path in results_folder.iterdir():
        (folder / "results" / path.name).write_bytes(path.read_bytes())
    results = Results(folder / "results", json.loads(titles))
    for name in table_names(PAIRS):
        write_table(build_table(results, name), folder / "results" / "tables" / name)
    assert main(command(folder, titles)) == 0
    return folder


def command(folder: Path, titles: str) -> list[str]:
    places = ["--results", str(folder / "results"), "--figures", str(folder / "figures")]
    return ["report", *places, "--titles", titles, "--out", str(folder / "results" / "report.html")]


@pytest.fixture(scope="module")
def text(folder: Path) -> str:
    return (folder / "results" / "report.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def page(text: str) -> Page:
    return Page(text)


def test_every_element_is_closed(page: Page) -> None:
    assert page.open == []


def test_nothing_is_loaded_from_elsewhere(page: Page, text: str) -> None:
    for tag, attributes in page.elements:
        assert tag not in ("link", "iframe", "object", "embed", "base")
        if "src" in attributes:
            assert attributes["src"].startswith("data:image/svg+xml;base64,"), tag
        assert not attributes.get("href", "").startswith(("http:", "https:", "//", "/", "file:"))
    assert "url(" not in text
    assert "@import" not in text


def test_links_lead_to_files_and_sections(page: Page, folder: Path) -> None:
    ids = {attributes["id"] for _, attributes in page.elements if "id" in attributes}
    links = [attributes["href"] for tag, attributes in page.elements if tag == "a"]
    assert len(ids) == sum("id" in attributes for _, attributes in page.elements)
    assert {link[1:] for link in links if link.startswith("#")} <= ids
    files = [link for link in links if not link.startswith("#")]
    assert len(files) == 3 * len(table_names(PAIRS)) + len(figure_names(PAIRS))
    assert all((folder / "results" / link).is_file() for link in files)


def test_every_figure_has_an_alternative_and_every_table_a_caption(page: Page) -> None:
    images = [attributes for tag, attributes in page.elements if tag == "img"]
    assert len(images) == len(figure_names(PAIRS))
    assert all(len(image["alt"]) > 20 for image in images)
    tags = [tag for tag, _ in page.elements]
    assert tags.count("table") == tags.count("caption") == len(table_names(PAIRS)) + 3


@pytest.mark.parametrize("name", table_names(PAIRS))
def test_the_page_has_the_numbers_of_the_csv(name: str, page: Page, folder: Path, titles: str) -> None:
    table = build_table(Results(folder / "results", json.loads(titles)), name)
    keys = [column.key for column in table.columns if column.shown and not column.is_text]
    written = (folder / "results" / "tables" / f"{name}.csv").read_text(encoding="utf-8")
    assert written == to_csv(table)
    assert page.numbers.get(f"table-{name}", []) == [
        row[key] for row in csv.DictReader(io.StringIO(written)) for key in keys
    ]


def test_what_a_reader_must_know_is_said(page: Page) -> None:
    text = " ".join(" ".join(page.text).split())
    assert "Part of the data is simulated:" in text
    assert "bootstrap 95 % intervals over images and seeds" in text
    assert "ties count against the method" in text
    assert "SAIAPR TC-12 (region labels): 82,489 pairs, but 82,490 were expected." in text
    assert "(nothing to rank <for it>)" in text  # escaped in the source
    assert "Filters seed 0, top_labels 600" in text
    assert "VSE-fs: 12 runs of one configuration each diverged" in text
    assert "tuned, 12 tried" in text
    assert "0123456789ab" in text
    assert "8.0 GiB" in text


def test_the_same_results_give_the_same_page(folder: Path, titles: str, text: str) -> None:
    assert main(command(folder, titles)) == 0
    assert (folder / "results" / "report.html").read_text(encoding="utf-8") == text
    assert str(folder) not in text


def test_a_missing_figure_is_told_in_one_line(
    folder: Path, titles: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = command(folder, titles)
    arguments[arguments.index("--figures") + 1] = str(tmp_path)
    assert main(arguments) == 1
    message = capsys.readouterr().err
    assert "overview.svg: no such file" in message
    assert message.count("\n") == 1
