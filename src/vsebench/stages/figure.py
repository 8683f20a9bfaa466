"""Draw a figure as PDF, SVG and PNG."""

import argparse
from pathlib import Path

from vsebench.rendering.drawing import explain_marks, nothing
from vsebench.rendering.kinds import FigureKind, make, read_parameters
from vsebench.rendering.results import Results
from vsebench.rendering.style import save, style


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", help="name of the figure")
    parser.add_argument("--kind", required=True, help="a kind of figure, such as accuracy")
    parser.add_argument("--parameters", default="{}", help="JSON object with the kind's parameters")
    parser.add_argument("--results", type=Path, required=True, help="folder with the gathered results")
    parser.add_argument("--out", type=Path, required=True, help="path of the files to write, without extension")


def run(arguments: argparse.Namespace) -> None:
    kind = make(FigureKind, arguments.kind, read_parameters(arguments.parameters), arguments.name)
    results = Results(arguments.results)
    with style():
        figure = nothing() if kind.is_empty(results) else kind.figure(results)
        explain_marks(figure)
        save(figure, arguments.out)
