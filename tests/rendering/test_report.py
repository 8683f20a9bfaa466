"""Stage `report`: one page that holds everything, needs nothing else, and shows the tables' numbers."""

import csv
import io
import json
from html.parser import HTMLParser
from pathlib import Path

import pytest
from vsebench.rendering.names import PAPER_FIGURES, PAPER_TABLES, figure_names, table_names
from vsebench.rendering.papers import paper_table

from tests.rendering.conftest import make_results
from vsebench.cli import main
from vsebench.rendering.results import Results
from vsebench.rendering.table import to_csv
from vsebench.rendering.tables import build_table, write_table

PAIRS = [("sim-iapr", "distinct"), ("saiapr", "regions")]
FIGURES = [*figure_names(PAIRS), *PAPER_FIGURES]
PUBLISHED = Path(__file__).parents[2] / "config" / "published"
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
    for name in FIGURES:
        (folder / "figures" / f"{name}.svg").write_text(SVG, encoding="utf-8")
    (folder / "results").mkdir()
    for path in results_folder.iterdir():
        (folder / "results" / path.name).write_bytes(path.read_bytes())
    results = Results(folder / "results", json.loads(titles))
    for name in table_names(PAIRS):
        write_table(build_table(results, name), folder / "results" / "tables" / name)
    for name in PAPER_TABLES:
        write_table(paper_table(name, PUBLISHED, results), folder / "results" / "tables" / name)
    assert main(command(folder, titles)) == 0
    return folder


def command(folder: Path, titles: str) -> list[str]:
    places = ["--results", str(folder / "results"), "--figures", str(folder / "figures")]
    places += ["--published", str(PUBLISHED), "--scaling", str(folder / "results" / "scaling.parquet")]
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
    assert len(files) == 3 * len([*table_names(PAIRS), *PAPER_TABLES]) + len(FIGURES)
    assert all((folder / "results" / link).is_file() for link in files)


def test_every_figure_has_an_alternative_and_every_table_a_caption(page: Page) -> None:
    images = [attributes for tag, attributes in page.elements if tag == "img"]
    assert len(images) == len(FIGURES)
    assert all(len(image["alt"]) > 20 for image in images)
    tags = [tag for tag, _ in page.elements]
    assert tags.count("table") == tags.count("caption") == len([*table_names(PAIRS), *PAPER_TABLES]) + 5


@pytest.mark.parametrize("name", [name for name in table_names(PAIRS) if name != "claims"])
def test_the_page_has_the_numbers_of_the_csv(name: str, page: Page, folder: Path, titles: str) -> None:
    table = build_table(Results(folder / "results", json.loads(titles)), name)
    keys = [column.key for column in table.columns if column.shown and not column.is_text]
    written = (folder / "results" / "tables" / f"{name}.csv").read_text(encoding="utf-8")
    assert written == to_csv(table)
    assert page.numbers.get(f"table-{name}", []) == [
        row[key] for row in csv.DictReader(io.StringIO(written)) for key in keys
    ]


def test_each_paper_has_its_tables_its_figure_and_all_its_claims(page: Page, folder: Path) -> None:
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert [name for name in ids if name in ("overview", "vse_ens", "vse_fs", "audit")] == [
        "overview", "vse_ens", "vse_fs", "audit",
    ]  # fmt: skip
    tables = [attributes["id"].removeprefix("table-") for tag, attributes in page.elements if tag == "table"]
    assert [name for name in tables if name in PAPER_TABLES] == list(PAPER_TABLES)
    with (folder / "results" / "tables" / "claims.csv").open(encoding="utf-8") as file:
        tests = list(csv.DictReader(file))
    for paper in ("vse_ens", "vse_fs"):
        expected = [row[key] for row in tests if row["paper"] == paper for key in ("effect", "p_adjusted")]
        assert page.numbers[f"table-claims-{paper}"] == expected


def test_claims_cannot_be_judged_on_simulated_data(
    results_folder: Path, folder: Path, titles: str, page: Page, tmp_path: Path
) -> None:
    sentence = "they cannot be judged on simulated data"
    assert sentence not in " ".join(" ".join(page.text).split())
    arguments = command(folder, titles)
    make_results(tmp_path / "results", pairs=PAIRS[:1])
    arguments[arguments.index("--results") + 1] = str(tmp_path / "results")
    arguments[-1] = str(tmp_path / "report.html")
    assert main(arguments) == 0
    assert sentence in " ".join((tmp_path / "report.html").read_text(encoding="utf-8").split())


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
