"""Paths in configurations, and the data that runs in folders of their own share."""

from pathlib import Path

import pytest
import yaml

from tests.plan.runs import CONFIG, ONE, ROOT, planned
from vsebench.core.storage import write_json
from vsebench.plan import read_plan
from vsebench.plan.paths import moved
from vsebench.plan.sharing import fingerprint, share_data

RUN = {"methods": ["popularity"], "papers": [], "seeds": [1, 2, 3]}


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A folder with a user's configuration and table, and the folder of a run, which is the current folder."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/tags.csv").write_text("image,label\n1,a\n")
    (tmp_path / "runs/first").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "runs/first")
    monkeypatch.setenv("VSEBENCH_DATA", "data")
    return tmp_path


def plan_of(folder, name="run.yaml", **changes):
    path = folder / name
    path.write_text(yaml.safe_dump(RUN | changes))
    return read_plan(CONFIG, yaml.safe_load(path.read_text()), [path])


def test_a_path_counts_from_the_folder_of_the_configuration(project):
    data = {"my-tags": ONE | {"data": {"pairs": "tags.csv"}}}
    plan = plan_of(project / "mine", datasets=data)
    assert plan.datasets["my-tags"].own_files == {"options.pairs": "../../mine/tags.csv"}


def test_a_path_that_counts_from_the_current_folder_keeps_its_text(project, monkeypatch):
    monkeypatch.chdir(project / "mine")
    plan = plan_of(project / "mine", datasets={"my-tags": ONE | {"data": {"pairs": "tags.csv"}}})
    assert plan.datasets["my-tags"].own_files == {"options.pairs": "tags.csv"}


@pytest.mark.parametrize("name", ["mine.yaml", "sub/mine.yaml"])
def test_a_path_of_a_file_in_config_counts_from_the_folder_around_it(project, folder, name):
    (project / "tags.csv").write_text("image,label\n1,a\n")  # next to `config`, which `folder` is
    inside = folder / name
    inside.parent.mkdir(exist_ok=True)
    inside.write_text(yaml.safe_dump(RUN | {"datasets": {"my-tags": ONE | {"data": {"pairs": "tags.csv"}}}}))
    plan = read_plan(folder, yaml.safe_load(inside.read_text()), [inside])
    assert plan.datasets["my-tags"].own_files == {"options.pairs": "../../tags.csv"}


def test_absolute_paths_and_files_of_the_project_stay():
    assert moved("/data/tags.csv", Path("elsewhere")) == "/data/tags.csv"
    assert moved("~/tags.csv", Path("elsewhere")) == "~/tags.csv"
    assert moved("data/included/x.parquet", Path("elsewhere")) == "data/included/x.parquet"


def test_the_included_data_are_found_from_the_folder_of_a_run(project):
    plan = plan_of(project / "mine", datasets={"visual-genome-500": ONE})
    (path,) = plan.datasets["visual-genome-500"].own_files.values()
    assert Path(path).samefile(ROOT / "data/included/visual-genome-500.parquet")


def test_the_last_configuration_that_has_a_key_is_that_its_paths_count_from(project):
    first, second = project / "mine/run.yaml", project / "second.yaml"
    data = {"my-tags": ONE | {"data": {"pairs": "tags.csv"}}}
    first.write_text(yaml.safe_dump(RUN | {"datasets": data}))
    second.write_text(yaml.safe_dump({"seeds": [4, 5, 6]}))
    plan = read_plan(CONFIG, RUN | {"datasets": data}, [first, second])
    assert plan.datasets["my-tags"].own_files == {"options.pairs": "../../mine/tags.csv"}


def test_prepared_data_of_other_options_are_in_another_folder(project):
    small, large = (planned(datasets={"sim-iapr": ONE | {"options": {"scale": scale}}}) for scale in (0.01, 0.02))
    assert fingerprint(small, "sim-iapr") != fingerprint(large, "sim-iapr")
    assert fingerprint(small, "sim-iapr") == fingerprint(
        planned(datasets={"sim-iapr": ONE | {"options": {"scale": 0.01}}}), "sim-iapr"
    )
    for plan in (small, large, small):
        share_data(plan, project)
        (prepared,) = Path("data/processed").iterdir()
        assert prepared.resolve() == project / f"data/prepared/sim-iapr-{fingerprint(plan, 'sim-iapr')}"
    assert Path("data/raw/sim-iapr").resolve() == project / "data/raw/sim-iapr"


def test_a_table_of_the_run_stays_in_its_folder(project):
    share_data(plan_of(project / "mine", datasets={"my-tags": ONE | {"data": {"pairs": "tags.csv"}}}), project)
    assert not Path("data").exists()


def test_downloads_with_other_checksums_are_not_taken_over(project):
    plan = planned(datasets={"visual-genome": ONE})
    stated = plan.datasets["visual-genome"].files[0]
    record = {"name": stated.name, "sha256": "0" * 64, "md5": "0" * 32, "source": "a mirror"}
    write_json({"files": [record]}, project / "data/raw/visual-genome/provenance.json")
    share_data(plan, project)
    assert Path("data/raw/visual-genome").exists() == (stated.sha256 is None and stated.md5 is None)
    write_json({"files": [record | {"name": "other.zip"}]}, project / "data/raw/visual-genome/provenance.json")
    Path("data/raw/visual-genome").unlink(missing_ok=True)
    share_data(plan, project)
    assert not Path("data/raw/visual-genome").exists()


def test_a_run_in_the_folder_of_the_shared_data_links_nothing(project, monkeypatch):
    monkeypatch.chdir(project)
    share_data(planned(datasets={"sim-iapr": ONE}), project)
    assert not (project / "data").exists()
