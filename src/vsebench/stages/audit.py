"""Recompute from the published numbers what follows from others, and report what agrees."""

import argparse
import csv
from dataclasses import asdict, fields
from pathlib import Path

from vsebench.core.storage import replacing
from vsebench.papers.audit.checking import audit, choose
from vsebench.papers.audit.findings import Finding
from vsebench.papers.base import read_papers
from vsebench.papers.published import read_published


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the stage's arguments."""
    parser.add_argument("--papers", type=Path, nargs="+", required=True, help="YAML files; the CSV files lie beside")
    parser.add_argument("--out", type=Path, required=True, help="CSV file to write")


def run(arguments: argparse.Namespace) -> None:
    """Run the stage."""
    papers = read_papers(arguments.papers)
    chosen = {paper.name: choose(paper.checks, f"{paper.path}: checks") for paper in papers}
    write_findings(audit(read_published(paper.numbers for paper in papers), chosen), arguments.out)


def write_findings(findings: list[Finding], out: Path) -> None:
    """Write audit.csv."""
    with replacing(out) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(Finding)], lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(finding) for finding in findings)
