"""benchmarks.md: every ratio with its range and quality beside the goals, growth, memory and compilation."""

from pathlib import Path

import polars as pl

from benchmarks.data import CONFIG
from benchmarks.goals import MEMORY_LIMIT, START_LIMITS, TITLES, goal
from benchmarks.results import Tables
from vsebench.core.storage import replacing
from vsebench.evaluation.growth import exponents
from vsebench.papers.published import read_published
from vsebench.rendering.growth import COLUMNS, NOTES, growth_cells
from vsebench.rendering.markdown import to_markdown
from vsebench.rendering.table import Cell, Column, Row, Table

SECONDS = ("seconds_ours", "seconds_peer")
METHODS = {
    "vse_fs": "VSE-fs",
    "opt_auc": "Opt-AUC",
    "warp": "WARP",
    "vse_ens": "VSE-ens",
    "implicit_als": "implicit ALS",
    "lightfm_warp": "LightFM WARP",
}


def write(tables: Tables, out: Path) -> None:
    """Write the page."""
    sections = [comparison_table(tables.comparisons), settings_table(tables.settings), growth_table(tables.growth)]
    sections += [memory_table(tables.memory), start_table(tables.starts)]
    machines = tables.comparisons["machine"].unique().sort().to_list()
    head = [
        "# Benchmarks",
        "",
        f"Measured by `make benchmark` on: {', '.join(machines) or 'nothing yet'}. How: docs/benchmarks.md.",
    ]
    text = "\n".join([*head, "", *(to_markdown(section) for section in sections)])
    with replacing(out) as temporary:
        temporary.write_text(text, encoding="utf-8")


def comparison_table(rows: pl.DataFrame) -> Table:
    """Return a row a comparison, beside its goal."""
    columns = (
        Column("size", "Size"),
        Column("threads", "Threads", "count"),
        Column("ours", "Ours"),
        Column("peer", "Peer"),
        Column("seconds_ours", "Seconds, ours", "seconds"),
        Column("seconds_peer", "Seconds, peer", "seconds"),
        Column("ratio", "Ratio", "mean", interval=True),
        Column("floor", "Floor", "mean"),
        Column("aim", "Aim", "mean"),
        Column("reached", "Reached"),
        Column("quality_ours", "recall@10, ours", "score"),
        Column("quality_peer", "recall@10, peer", "score"),
    )
    body = []
    for row in rows.iter_rows(named=True):
        target = goal(row["what"], row["peer"], row["threads"])
        cells = [Cell(row[key]) for key in ("size", "threads", "ours", "peer", *SECONDS)]
        cells += [Cell(row["ratio_median"], row["ratio_min"], row["ratio_max"]), Cell(target.floor), Cell(target.aim)]
        cells += [Cell(target.reached(row["ratio_median"])), Cell(row["quality_ours"]), Cell(row["quality_peer"])]
        body.append(Row(tuple(cells), group=TITLES[row["what"]]))
    notes = (
        "All data are simulated; a size is that of the data set it is named after.",
        "Ratio: seconds of the peer over ours in the same repeat; median [lowest, highest]. Seconds are medians.",
        "To 95 %: on the validation labels; one that stays below counts with one epoch more than were followed.",
        "Goals are for the size nuswide. The one for uniform negatives is against the faster of the two peers.",
        "Share of the peak: the time that the operations needed would take at the rate of a sgemm of 2048 x 2048 on as "
        "many threads, over the time of an iteration.",
    )
    return Table(columns, tuple(body), "Ours beside other packages", notes=notes)


def settings_table(rows: pl.DataFrame) -> Table:
    """Return what was chosen for each contestant whose quality is compared."""
    columns = (
        Column("size", "Size"),
        Column("contestant", "Contestant"),
        Column("tried", "Settings tried", "count"),
        Column("settings", "Chosen"),
        Column("epochs", "Epochs", "count"),
        Column("validation", "recall@10, validation", "score"),
        Column("test", "recall@10, test", "score"),
    )
    body = tuple(Row(tuple(Cell(row[column.key]) for column in columns)) for row in rows.iter_rows(named=True))
    return Table(columns, body, "Settings, chosen on the validation labels")


def growth_table(growth: pl.DataFrame) -> Table:
    """Return each method's exponents beside the complexity that the VSE-fs paper prints."""
    fitted = exponents(growth) if len(growth) else None
    printed = read_published([CONFIG / "papers" / "vse_fs.csv"]).all
    complexity = {cell.row: cell.value for cell in printed if cell.column == "time_complexity"}
    methods = growth["method"].unique(maintain_order=True).to_list()
    body = [Row((Cell(METHODS[row]), Cell(complexity.get(row)), *growth_cells(fitted, row))) for row in methods]
    columns = (Column("method", "Method"), Column("published", "Published"), *COLUMNS)
    notes = (*NOTES, "Published: N images, M labels, |D| pairs, K factors, T trials (VSE-fs, Table 2).")
    return Table(columns, tuple(body), "Growth of an epoch's time, one core", notes=notes)


def memory_table(rows: pl.DataFrame) -> Table:
    """Return the memory of each contestant beside the bytes of what it has to hold."""
    columns = (
        Column("size", "Size"),
        Column("contestant", "Contestant"),
        Column("seconds", "Seconds of the epoch", "seconds"),
        Column("start", "Before the data, MiB", "mebibytes"),
        Column("peak", "Peak, MiB", "mebibytes"),
        Column("data", "Embeddings and pairs, MiB", "mebibytes"),
        Column("ratio", "Peak over both", "mean"),
    )
    body = []
    for row in rows.iter_rows(named=True):
        numbers = [row[key] for key in ("seconds", "start_bytes", "peak_bytes", "data_bytes")]
        values = [row["size"], row["contestant"], *numbers, row["peak_bytes"] / row["data_bytes"]]
        body.append(Row(tuple(map(Cell, values))))
    notes = (
        "One epoch in a fresh process on all cores. The peak counts the interpreter and everything imported.",
        f"Limit: VSE-fs at the largest size, {MEMORY_LIMIT}.",
    )
    return Table(columns, tuple(body), "Peak memory", notes=notes)


def start_table(rows: pl.DataFrame) -> Table:
    """Return the seconds of cold compilation and warm start beside their limits."""
    columns = (
        Column("start", "Start"),
        Column("seconds", "Seconds", "seconds", interval=True),
        Column("limit", "Limit", "seconds"),
        Column("compiled", "Functions compiled", "count"),
    )
    seconds = pl.col("seconds")
    summary = rows.group_by("start", maintain_order=True).agg(
        seconds.median(), low=seconds.min(), high=seconds.max(), compiled=pl.col("functions_compiled").max()
    )
    body = tuple(
        Row((Cell(start), Cell(median, low, high), Cell(START_LIMITS[start]), Cell(compiled)))
        for start, median, low, high, compiled in summary.iter_rows()
    )
    notes = (
        "Cold: every kernel, no cache. Warm: one method, all in the cache. Whole processes on one core; median, range.",
    )
    return Table(columns, body, "Compilation", notes=notes)
