"""Simulate how often the test over images and seeds detects a difference, by number and spread of seeds."""

import argparse
from itertools import product
from pathlib import Path

from tqdm import tqdm

from vsebench.core.storage import replacing
from vsebench.evaluation.error_rates import NOISES, Noise, detection_rate
from vsebench.rendering.table import Cell, Column, Row, Table
from vsebench.rendering.writers.csv import to_csv
from vsebench.rendering.writers.markdown import to_markdown

SEEDS = (2, 3, 5, 10)
RATIOS = (0.0, 0.5, 1.0, 2.4, 4.0, 10.0)
CASES: tuple[tuple[float, Noise], ...] = (*((0.0, noise) for noise in NOISES), (4.0, "half"))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--tasks", type=int, required=True, help="number of simulated tasks per cell")
    parser.add_argument(
        "--out", type=Path, required=True, help="CSV file to write; a Markdown file is written next to it"
    )


def run(arguments: argparse.Namespace) -> None:
    rows = []
    for (difference, noise), seeds in tqdm(list(product(CASES, SEEDS)), unit="row"):
        rates = [detection_rate(seeds, ratio, difference, arguments.tasks, noise) for ratio in RATIOS]
        rows.append(Row(tuple(map(Cell, (difference, noise, seeds, *rates)))))
    columns = (
        Column("difference", "Difference", "count"),
        Column("noise", "Noise"),
        Column("seeds", "Seeds", "count"),
        *(Column(f"ratio_{ratio:g}", f"Ratio {ratio:g}", "score") for ratio in RATIOS),
    )
    table = Table(columns, tuple(rows), "Share of simulated tasks where the test finds a difference of two methods")
    texts = {arguments.out: to_csv(table), arguments.out.with_suffix(".md"): to_markdown(table)}
    for path, text in texts.items():
        with replacing(path) as temporary:
            temporary.write_text(text, encoding="utf-8")
