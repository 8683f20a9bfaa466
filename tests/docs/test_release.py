"""The files about the project as a whole: CITATION.cff, NOTICE and the paper."""

import re
import tomllib

import yaml

from tests.docs.conftest import ROOT, page


def test_the_citation_has_the_version_licence_and_keywords_of_the_package() -> None:
    citation, project = yaml.safe_load(page("CITATION.cff")), tomllib.loads(page("pyproject.toml"))["project"]
    for key in ("version", "license", "keywords"):
        assert citation[key] == project[key]


def test_the_changelog_has_the_version_with_its_date() -> None:
    citation = yaml.safe_load(page("CITATION.cff"))
    assert f"\n## [{citation['version']}] - {citation['date-released']}\n" in page("CHANGELOG.md")


def test_the_citation_refers_to_each_paper_whose_numbers_are_compared() -> None:
    titles = [reference["title"].lower() for reference in yaml.safe_load(page("CITATION.cff"))["references"]]
    for path in (ROOT / "config/papers").glob("*.yaml"):
        citation = yaml.safe_load(path.read_text(encoding="utf-8"))["citation"].lower()
        assert any(title in citation for title in titles), path.name


def test_the_notice_names_each_file_with_data_of_others() -> None:
    files = [*(ROOT / "data/included").glob("*.parquet"), *(ROOT / "config/unseen_labels").iterdir()]
    assert len(files) >= 3
    assert [file.name for file in files if str(file.relative_to(ROOT)) not in page("NOTICE")] == []


def test_the_paper_cites_each_entry_of_its_bibliography_and_no_other() -> None:
    cited = re.findall(r"(?<!\w)@(\w+)", page("docs/paper/paper.md"))
    assert set(cited) == set(re.findall(r"^@\w+\{(\w+),", page("docs/paper/paper.bib"), re.MULTILINE))
