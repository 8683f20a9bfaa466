"""Write the report: one page with every table and figure."""

import argparse
import json
from pathlib import Path

from vsebench.config.dataset import Pictures
from vsebench.core.storage import replacing
from vsebench.core.yaml_files import check
from vsebench.papers.base import Paper
from vsebench.rendering.page.page import render
from vsebench.rendering.results import Results


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--results", type=Path, required=True, help="folder with the gathered results")
    parser.add_argument("--figures", type=Path, required=True, help="folder with the figures")
    parser.add_argument("--papers", type=Path, nargs="*", default=[], help="YAML files of papers, next to their CSVs")
    parser.add_argument("--pictures", type=json.loads, default={}, help='JSON: {"dataset": {"images": path, ...}, ...}')
    parser.add_argument("--out", type=Path, required=True, help="the page to write")


def run(arguments: argparse.Namespace) -> None:
    papers = [Paper.read(path) for path in arguments.papers]
    pictures = {name: check(Pictures, source, "--pictures") for name, source in arguments.pictures.items()}
    page = render(Results(arguments.results), arguments.figures, papers, arguments.out.parent, pictures)
    with replacing(arguments.out) as temporary:
        temporary.write_text(page, encoding="utf-8")
