"""The command line: one sub-command per stage of the workflow."""

import argparse
import importlib
import os
import sys
import threading
import time
from collections.abc import Sequence

from vsebench.core.errors import UserError

# A stage's module is imported only when the stage runs: it offers add_arguments(parser) and run(arguments).
STAGES = {
    "download": ("vsebench.stages.download", "fetch the files of a data set"),
    "prepare": ("vsebench.stages.prepare", "read a data set's files into its label matrix"),
    "split": ("vsebench.stages.split", "hold out test and validation labels"),
    "compile": ("vsebench.stages.compile", "compile the kernels of a method into the cache on disk"),
    "describe": ("vsebench.stages.describe", "write down machine, versions and compilation"),
    "select": ("vsebench.selection", "choose settings and epochs of a method on the validation labels"),
    "train": ("vsebench.training", "fit a method to training and validation labels"),
    "sweep": ("vsebench.stages.sweep", "vary one setting around the chosen ones"),
    "rank": ("vsebench.evaluation.ranking", "rank the held-out labels"),
    "measure": ("vsebench.evaluation.metrics", "compute the metrics of one model from its ranks"),
    "summarise": ("vsebench.evaluation.summary", "average over seeds and compare the methods of a data set"),
    "time": ("vsebench.stages.time", "time the methods side by side, a fresh process each repeat"),
    "scale": ("vsebench.stages.scale", "measure how the time of an epoch grows"),
    "gather": ("vsebench.stages.gather", "put the tables of single runs together"),
    "claims": ("vsebench.stages.claims", "test the papers' claims"),
    "audit": ("vsebench.stages.audit", "recompute the published numbers from each other"),
    "compare": ("vsebench.stages.compare", "put published numbers beside ours"),
    "paper-table": ("vsebench.rendering.papers", "write a table of a paper with our numbers beside the printed ones"),
    "table": ("vsebench.rendering.tables", "write a table as CSV, Markdown and LaTeX"),
    "paper-figure": ("vsebench.rendering.paper_figures", "draw a figure of a paper from our results"),
    "figure": ("vsebench.rendering.figures", "draw a figure as PDF, SVG and PNG"),
    "report": ("vsebench.rendering.report", "write the report page"),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one stage; 0 on success, 1 with one line on standard error for a user's mistake."""
    argv = list(sys.argv[1:] if argv is None else argv)
    if "VSEBENCH_PARENT" in os.environ:
        end_with(int(os.environ["VSEBENCH_PARENT"]))
    parser = argparse.ArgumentParser(prog="vsebench", description=__doc__)
    stages = parser.add_subparsers(dest="stage", required=True, metavar="STAGE")
    for name, (_, summary) in STAGES.items():
        stages.add_parser(name, help=summary, add_help=name not in argv[:1])
    if argv and argv[0] in STAGES:
        module_name, summary = STAGES[argv[0]]
        module = importlib.import_module(module_name)
        parser = argparse.ArgumentParser(prog=f"vsebench {argv[0]}", description=summary)
        module.add_arguments(parser)
        arguments = parser.parse_args(argv[1:])
        try:
            module.run(arguments)
        except UserError as error:
            print(f"vsebench {argv[0]}: {error}", file=sys.stderr)
            return 1
        return 0
    parser.parse_args(argv)
    return 2


def end_with(parent: int) -> None:
    """End this process soon after another one, of the number `parent`, has gone.

    A Snakemake that is killed leaves its jobs running: they would write into the results of the next run and disturb
    its timings. workflow/job.sh names Snakemake in VSEBENCH_PARENT.
    """

    def watch() -> None:
        while True:
            time.sleep(0.5)
            try:
                os.kill(parent, 0)  # sends nothing: asks only whether the process is there
            except OSError:
                os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
