"""Recompute published numbers from other published numbers, and report which agree with the recomputed values."""

import argparse
from pathlib import Path

from vsebench.papers.audit.checking import audit, choose
from vsebench.papers.audit.findings import write_findings
from vsebench.papers.audit.reading import read_audited
from vsebench.papers.base import read_papers


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--papers", type=Path, nargs="*", default=[], help="YAML files of papers, next to their CSVs")
    parser.add_argument("--out", type=Path, required=True, help="CSV file to write")


def run(arguments: argparse.Namespace) -> None:
    papers = read_papers(arguments.papers)
    chosen = {paper.name: choose(paper.checks, f"{paper.path}: checks") for paper in papers}
    write_findings(audit(read_audited(papers), chosen), arguments.out)
