"""The claims command, run on planted results."""

import csv

import pytest
import yaml

from tests.papers.planted import DATASETS, SEEDS, write_results
from vsebench.cli import main

VARIANTS = [f"{entry['name']}/distinct/{method}" for entry in DATASETS for method in ("good", "bad")]


@pytest.fixture
def results(tmp_path):
    write_results(tmp_path)
    return tmp_path


@pytest.fixture
def judge(results, tmp_path):
    """Test one claim by the command, and return the rows of claims.csv of a level."""

    def run(tasks=None, level="claim", outside=(), **claim):
        # What is of no data set has no families.
        common = {} if claim["test"] in ("growth", "untested") else {"families": ["iapr"]}
        content = {
            "title": "P",
            "citation": "c",
            "tasks": tasks or {},
            "claims": [{"claim": "c", "where": "w", "method": "good"} | common | claim],
        }
        (tmp_path / "p.yaml").write_text(yaml.safe_dump(content))
        arguments = ["claims", "--papers", tmp_path / "p.yaml", "--results", results, "--seeds", *SEEDS]
        arguments += ["--variants", *VARIANTS, "--bootstrap", 200, "--sweeps", results / "sweeps.parquet"]
        arguments += ["--tuned-sweeps", "good"]
        arguments += ["--outside", *outside] if outside else []
        assert main(["stage", *map(str, arguments), "--out", str(tmp_path / "claims.csv")]) == 0
        with (tmp_path / "claims.csv").open() as stream:
            return [line for line in csv.DictReader(stream) if line["level"] == level]

    return run
