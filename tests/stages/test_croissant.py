"""What describes a prepared data set to others fits the files."""

import hashlib
import json

import polars as pl
import pytest

from tests import data_sets
from tests.stages.test_prepare import SIMULATED
from vsebench.cli import main
from vsebench.core.storage import write_json

ABOUT = {"title": "Made up", "licence": "CC0", "citation": "Nobody, 2020", "homepage": None}


@pytest.fixture(params=["", "sparse"])
def described(tmp_path, request):
    """A prepared data set, its files, and its description."""
    features = {"dimensions": 5, "noise": 0.1}
    definition = {"adapter": "simulator", "options": SIMULATED | {"features": None if request.param else features}}
    assert data_sets.prepare(definition, tmp_path, tmp_path / "set") == 0
    write_json(ABOUT, tmp_path / "set" / "about.json")
    files = sorted(path for path in (tmp_path / "set").iterdir() if path.suffix != ".json" and path.stem != "truth")
    options = [("about", "about.json"), ("summary", "summary.json"), ("out", "croissant.json")]
    named = [word for key, name in options for word in (f"--{key}", str(tmp_path / "set" / name))]
    assert main(["stage", "croissant", *named, "--files", *map(str, files)]) == 0
    return files, json.loads((tmp_path / "set" / "croissant.json").read_text())


def test_each_file_is_listed_with_its_checksum(described):
    files, found = described
    listed = {each["contentUrl"]: each["sha256"] for each in found["distribution"]}
    assert listed == {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_each_column_of_each_table_is_described(described):
    files, found = described
    tables = {path.stem: pl.read_parquet_schema(path) for path in files if path.suffix == ".parquet"}
    assert [each["@id"] for each in found["recordSet"]] == sorted(tables)
    for table in found["recordSet"]:
        assert [field["source"]["extract"]["column"] for field in table["field"]] == list(tables[table["@id"]])
        types = {field["name"]: field["dataType"] for field in table["field"]}
        assert all((types[name] == "sc:Text") == (dtype == pl.String) for name, dtype in tables[table["@id"]].items())


def test_references_name_fields_that_exist(described):
    _, found = described
    fields = {field["@id"]: field for table in found["recordSet"] for field in table["field"]}
    referred = {name: field["references"]["field"]["@id"] for name, field in fields.items() if "references" in field}
    assert referred == {"pairs/image": "images/image", "pairs/label": "labels/label"}
    assert set(referred.values()) <= set(fields)


def test_a_key_without_a_value_is_left_out(described):
    _, found = described
    assert (found["license"], found["citeAs"], found["name"]) == ("CC0", "Nobody, 2020", "tiny")
    assert "url" not in found
    assert "60 images, " in found["description"]
