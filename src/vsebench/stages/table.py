"""Write a table as CSV, Markdown and LaTeX."""

import argparse
from collections.abc import Mapping
from pathlib import Path

from vsebench.core.storage import replacing
from vsebench.rendering.kinds import TableKind, make, read_parameters
from vsebench.rendering.results import Results
from vsebench.rendering.table import Table
from vsebench.rendering.writers.csv import to_csv
from vsebench.rendering.writers.latex import to_latex
from vsebench.rendering.writers.markdown import to_markdown


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", help="name of the table; its LaTeX label is tab:<name>, with - instead of _")
    parser.add_argument("--kind", required=True, help="a kind of table, such as accuracy")
    parser.add_argument("--parameters", default="{}", help="JSON object with the kind's parameters")
    parser.add_argument("--results", type=Path, required=True, help="folder with the gathered results")
    parser.add_argument("--out", type=Path, required=True, help="path of the files to write, without extension")


def run(arguments: argparse.Namespace) -> None:
    kind = make(TableKind, arguments.kind, read_parameters(arguments.parameters), arguments.name)
    results = Results(arguments.results)
    write_table(kind.table(results), arguments.name, arguments.out, results.short_titles)


def write_table(table: Table, name: str, out: Path, short_titles: Mapping[str, str]) -> None:
    """Write `out`.csv, `out`.md and `out`.tex; only `out`.tex has the short titles of methods."""
    latex = to_latex(table.shortened(short_titles), f"tab:{name.replace('_', '-')}")
    texts = {"csv": to_csv(table), "md": to_markdown(table), "tex": latex}
    for suffix, text in texts.items():
        with replacing(out.with_name(f"{out.name}.{suffix}")) as temporary:
            temporary.write_text(text, encoding="utf-8")
