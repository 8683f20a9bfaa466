"""A sixth paper takes two files: those that docs/papers.md shows, with made-up results, give all that a paper has."""

import ast
import csv
import json
import re
import shutil

import pytest
import yaml

from tests.docs.conftest import ROOT, files_of, page
from tests.rendering.conftest import SMALL, MadeUp, write_run
from vsebench.cli import main
from vsebench.core import schemas
from vsebench.core.errors import UserError
from vsebench.core.storage import write_json, write_table
from vsebench.papers.base import Paper
from vsebench.plan import read_plan
from vsebench.rendering.kinds import FigureKind, instances_of_run
from vsebench.rendering.results import Results
from vsebench.rendering.table import MISSING

CODE = ROOT / "src" / "vsebench"
FOLDERS = ("papers", "plan", "rendering", "stages")
NAME = "rankbox"


@pytest.fixture(scope="module")
def config(tmp_path_factory):
    """A copy of the configuration with the two files of docs/papers.md, and nothing else."""
    folder = tmp_path_factory.mktemp("sixth") / "config"
    shutil.copytree(ROOT / "config", folder)
    shutil.copytree(ROOT / "data" / "included", folder.parent / "data" / "included")
    files = {path: text for path, text in files_of(page("docs/papers.md")).items() if "config/papers/" in path}
    assert [*files] == [f"config/papers/{NAME}.yaml", f"config/papers/{NAME}.csv"]
    for path, text in files.items():
        (folder.parent / path).write_text(text)
    return folder


@pytest.fixture(scope="module")
def plan(config):
    """The default run's methods on the data sets of the made-up results."""
    file = config / "config.yaml"
    datasets = {task.dataset: {"protocols": [task.protocol]} for task in SMALL}
    return read_plan(config, yaml.safe_load(file.read_text()) | {"datasets": datasets}, [file])


@pytest.fixture(scope="module")
def results(config, plan):
    """Made-up results, and what the stages make of the papers in the copy."""
    folder, run = config.parent / "results", MadeUp(SMALL, seeds=3, epochs=20)
    shown = {"papers": plan.outline.papers, "compared": plan.outline.compared}
    write_run(run, run.outline().model_copy(update=shown), folder)
    write_json([run.settings(case) | {"choice": "tuned"} for case in run.cases()], folder / "settings.json")
    for case in run.cases():
        write_table(run.ranks(case), schemas.RANKS, case.folder(folder) / "ranks.parquet")
    papers = ["--papers", *(str(paper.path) for paper in plan.papers)]
    variants = [f"{task}/{variant}" for task in SMALL for variant in run.variants(task)]
    stage("audit", *papers, "--out", folder / "audit.csv")
    stage("compare_with_papers", *papers, "--results", folder, "--out", folder / "comparison.csv")
    stage("claims", *papers, "--results", folder, "--variants", *variants, "--seeds", *run.seeds, "--bootstrap", 1000,
          "--scaling", folder / "scaling.parquet", "--out", folder / "claims.csv")  # fmt: skip
    return folder


def stage(*arguments):
    assert main(["stage", *map(str, arguments)]) == 0


def rows_of(path):
    with path.open() as stream:
        return [row for row in csv.DictReader(stream) if row["paper"] == NAME]


def test_the_run_has_its_tables_and_figures(plan):
    names = {f"{NAME}_table1", f"{NAME}_table2", f"{NAME}_table3"}
    assert {name for name, table in plan.tables.items() if table.paper == NAME} == names
    assert [name for name, figure in plan.figures.items() if figure.paper == NAME] == [f"{NAME}_figure1"]
    assert plan.outline.papers[NAME] == "RankBox"


def test_its_numbers_are_beside_ours(results):
    rows = rows_of(results / "comparison.csv")
    assert {(row["dataset"], row["protocol"]) for row in rows} == {("saiapr", "regions")}
    assert {(row["row"], row["method"]) for row in rows} == {
        ("iapr/rankbox", "vse_fs"), ("iapr/warp", "warp"), ("iapr/warp", "warp_published"),
    }  # fmt: skip
    published = {(row["row"], row["column"]): float(row["published"]) for row in rows}
    assert published["iapr/rankbox", "recall@5"] == pytest.approx(0.3473)
    assert published["iapr/warp", "training_time"] == pytest.approx(2.38 * 3600)


def test_its_claims_are_tested(results):
    lines = rows_of(results / "claims.csv")
    rows = [row for row in lines if row["dataset"] == "saiapr" and row["level"] == "case"]
    ranking = {(row["rival"], row["metric"]) for row in rows if row["claim"] == "RankBox ranks better than WARP"}
    assert ranking == {(rival, metric) for rival in ("warp", "warp_published") for metric in ("recall@5", "map@10")}
    verdicts = {row["verdict"] for row in lines if row["level"] == "claim" and row["data"] == "paper"}
    assert verdicts <= {"holds", "fails", "undecided"}
    assert {row["metric"] for row in rows if row["where"] == "section 4"} == {"peak memory, ratio"}


def test_only_the_checks_that_it_names_apply(results):
    found = {(row["check"], row["cells"].split("; ")[0]): row["verdict"] for row in rows_of(results / "audit.csv")}
    assert found == {
        ("improvement", "table2 iapr/warp/improve recall@5"): "contradicts",
        ("Recall = N x Precision", "table2 iapr/warp recall@5"): "contradicts",
    }


def test_its_tables_have_the_printed_numbers_and_ours(results, plan):
    for name, table in plan.tables.items():
        if table.paper == NAME:
            write(plan.tables[name], "table", results, results / "tables" / name)
    statistics, accuracy, times = ((results / "tables" / f"{NAME}_table{n}.md").read_text() for n in (1, 2, 3))
    assert "| IAPR TC-12 | images | 20,000 | 20,000 | SAIAPR TC-12 (region labels) |" in statistics
    assert f"| Our photos | images | 3,000 | {MISSING} |" in statistics
    assert "RankBox paper, Table 2: ranking accuracy, published and recomputed" in accuracy
    for text in ("0.3473", "VSE-fs", "The paper calls precision p@5.", "Our photos: the photos were never published."):
        assert text in accuracy
    assert "8,570" in times
    assert "4.76" in times  # hours of WARP over hours of RankBox


def write(instance, kind, results, out):
    parameters = json.dumps(dict(instance.parameters))
    stage(kind, instance.name, "--kind", instance.kind, "--parameters", parameters, "--results", results, "--out", out)


def test_the_report_has_a_section_on_it(results, plan, config):
    figures = results.parent / "figures"
    for name, figure in plan.figures.items():
        if figure.paper == NAME:
            write(figure, "figure", results, figures / name)
    for name in instances_of_run(FigureKind, Results(results).outline):
        (figures / f"{name}.svg").write_text("<svg></svg>")  # the run's own figures are tested elsewhere
    paper = config / "papers" / f"{NAME}.yaml"
    stage("report", "--results", results, "--figures", figures, "--papers", paper, "--out", results / "report.html")
    section = re.search(rf'<section id="{NAME}">(.*?)</section>', (results / "report.html").read_text(), re.DOTALL)
    assert section is not None
    for text in ("RankBox paper", "a made-up paper, 2026", "https://example.org/rankbox", "Table 1", "Table 3",
                 "RankBox paper, figure 1, on this run", "RankBox needs more memory than WARP"):  # fmt: skip
        assert text in section[1], text


def test_a_mistake_in_its_files_is_told_before_the_first_job(config, tmp_path):
    folder = tmp_path / "config"
    shutil.copytree(config, folder)
    shutil.copytree(ROOT / "data" / "included", tmp_path / "data" / "included")
    file, path = folder / "config.yaml", folder / "papers" / f"{NAME}.yaml"
    good = path.read_text()
    for old, new, message in (
        ("kind: statistics", "kind: guess", "tables.table1.kind: there is no kind of tables 'guess'"),
        ("kind: statistics", "", "tables.table1.kind: this key is missing"),
        ("kind: trials", "kind: trails", "figures.figure1.kind: there is no kind of figures 'trails'"),
        ("ratio_to", "relative_to", "tables.table3: relative_to: unknown key"),
        ("test: memory", "test: guess", "claim 2: test: there is no test 'guess'"),
        ("[metrics, ratios]", "[guess]", "checks: there is no check 'guess'"),
        ("dataset: saiapr, ", "", "tasks.iapr: protocol: `dataset` is missing; name the data set of vsebench there"),
        ("dataset: saiapr, ", "dataset: saiap, ", "tasks.iapr: dataset: there is no 'saiap'; did you mean saiapr"),
        ("ours: [vse_fs]", "ours: [vse_sf]", "rows.rankbox: ours: there is no 'vse_sf'; did you mean "),
        ("rivals: [warp, ", "rivals: [wrap, ", "claim 1: rivals: there is no 'wrap'; did you mean "),
    ):
        path.write_text(good.replace(old, new))
        with pytest.raises(UserError, match=re.escape(f"{NAME}.yaml: {message}")):
            read_plan(folder, yaml.safe_load(file.read_text()), [file])


def test_a_run_can_name_its_papers(config):
    file = config / "config.yaml"
    values = yaml.safe_load(file.read_text())
    assert list(read_plan(config, values | {"papers": [NAME]}, [file]).outline.papers) == [NAME]
    with pytest.raises(UserError, match="papers: 'absent' has no file in"):
        read_plan(config, values | {"papers": ["absent"]}, [file])


@pytest.mark.parametrize("paper", sorted((ROOT / "config" / "papers").glob("*.yaml")), ids=lambda path: path.stem)
def test_no_code_knows_the_paper(paper):
    """No text in the code, but for docstrings, holds the paper's title or the name of one of its tables."""
    title = Paper.read(paper).title
    for module in (path for folder in FOLDERS for path in CODE.glob(f"{folder}/**/*.py")):
        for text in texts(module):
            assert title not in text, module
            assert not re.search(rf"{paper.stem}(_table|_figure|\.yaml|\.csv)", text), module
            assert text != paper.stem, module


def texts(module):
    """Return the texts in a module that are no docstrings."""
    tree = ast.parse(module.read_text())
    documented = [node for node in ast.walk(tree) if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)]
    docstrings = {id(node.body[0].value) for node in documented if node.body and isinstance(node.body[0], ast.Expr)}
    return [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings
    ]
