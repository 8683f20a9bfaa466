"""Stage `audit`: recompute from the published numbers what follows from others, and say what agrees."""

import argparse
import csv
from collections.abc import Callable, Iterator
from dataclasses import asdict, fields
from pathlib import Path

from vsebench.core.storage import replacing
from vsebench.papers.audit import counts, metrics, ratios, repeats, times
from vsebench.papers.audit.cells import Cells, read_cells
from vsebench.papers.audit.findings import Finding

Check = Callable[[Cells], Iterator[Finding]]
CHECKS: tuple[Check, ...] = (
    ratios.improvements,
    ratios.speedups,
    metrics.recall_and_precision,
    metrics.cut_metrics,
    metrics.cut_auc,
    metrics.f1_scores,
    metrics.macro_f1,
    counts.held_out_pairs,
    counts.labels_per_image,
    counts.others_per_positive,
    counts.numbers_of_labels,
    counts.numbers_of_pairs,
    counts.numbers_of_images,
    counts.trials,
    counts.weights,
    times.iterations,
    times.seconds_per_image,
    times.memory,
    repeats.repeated_numbers,
    repeats.shared_numbers,
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the stage's arguments."""
    parser.add_argument("--inputs", type=Path, nargs="+", required=True, help="published numbers, a CSV file a paper")
    parser.add_argument("--out", type=Path, required=True, help="CSV file to write")


def run(arguments: argparse.Namespace) -> None:
    """Run the stage."""
    write_findings(audit(read_cells(arguments.inputs)), arguments.out)


def audit(cells: Cells) -> list[Finding]:
    """Return what every check finds, paper by paper."""
    found = [finding for check in CHECKS for finding in check(cells)]
    return sorted(found, key=lambda finding: cells.papers.index(finding.paper))


def write_findings(findings: list[Finding], out: Path) -> None:
    """Write audit.csv."""
    with replacing(out) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(Finding)], lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(finding) for finding in findings)
