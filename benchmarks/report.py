"""Write the results of the benchmarks to results/benchmarks.md.

The page contains all speed ratios with their ranges, the quality that each model reaches, the goals, and tables of
growth, memory and compilation.
"""

from pathlib import Path
from typing import Any

import polars as pl

from benchmarks import epochs_by_labels, losses_by_labels, outside_scores
from benchmarks.clock import named
from benchmarks.data import CONFIG
from benchmarks.goals import FEATURE_TITLES, MEMORY_LIMIT, START_LIMITS, TITLES, TREE, goal
from benchmarks.results import Tables
from vsebench.core.storage import replacing
from vsebench.evaluation.growth import exponents
from vsebench.papers.published import read_published
from vsebench.rendering.table import Cell, Column, Row, Table
from vsebench.rendering.tables.growth import NOTES, SIZES, columns, growth_cells
from vsebench.rendering.writers.markdown import to_markdown

SECONDS = ("seconds_ours", "seconds_peer")
LOAD = "Load: mean number of processes that ran or waited in the last minute, including this one."
METHODS = {
    "vse_fs": "VSE-fs",
    "opt_auc": "Opt-AUC",
    "warp": "WARP",
    "vse_ens": "VSE-ens",
    "implicit_als": "implicit ALS",
    "lightfm_warp": "LightFM WARP",
}


def write(tables: Tables, out: Path) -> None:
    """Write the page, and each table to a file of its own, from which `vsebench fill` fills docs/benchmarks.md."""
    made = report_tables(tables)
    machines = pl.concat([tables["comparisons"]["machine"], tables["features"]["machine"]]).unique().sort().to_list()
    head = [
        "# Benchmarks",
        "",
        f"Measured by `make benchmark` on: {', '.join(machines) or 'no machine yet'}. docs/benchmarks.md explains how.",
    ]
    texts = {name: to_markdown(table) for name, table in made.items()}
    files = {out.parent / "benchmarks" / "tables" / f"{name}.md": text for name, text in texts.items()}
    for path, text in {out: "\n".join([*head, "", *texts.values()]), **files}.items():
        with replacing(path) as temporary:
            temporary.write_text(text, encoding="utf-8")


def report_tables(tables: Tables) -> dict[str, Table]:
    """Return a dictionary from the name of each table's file to the table."""
    return {
        "ratios": ratio_table(tables["comparisons"], TITLES, "recall@10", "Our methods and third-party packages"),
        "goals": comparison_table(tables["comparisons"]),
        "settings": settings_table(tables["settings"], "recall@10", "Settings, chosen on the validation labels"),
        "limits": limit_table(tables["limits"]),
        "exact-images": exact_table(tables["exact_images"]),
        "threads": thread_table(tables["threads"]),
        "growth": growth_table(tables["growth"]),
        "memory": memory_table(tables["memory"]),
        "outside-scores": outside_table(tables["outside_scores"]),
        "starts": start_table(tables["starts"]),
        "ratios-on-features": ratio_table(tables["features"], FEATURE_TITLES, "Quality", "On image features"),
        "goals-on-features": feature_table(tables["features"]),
        "settings-on-features": settings_table(
            tables["feature_settings"], "map", "Settings on image features, chosen on the validation images"
        ),
        "tree": tree_table(tables["features"]),
        "wsabie-steps": step_table(tables["wsabie_steps"]),
        "losses-by-labels": loss_table(tables["losses_by_labels"]),
        "epochs-by-labels": epoch_table(tables["epochs_by_labels"]),
        "vectors": vector_table(tables["vectors"]),
    }


def ratio_table(rows: pl.DataFrame, titles: dict[str, str], quality: str, caption: str) -> Table:
    """Return a table with one row per comparison, and columns for each number of threads."""
    rows = rows.filter(pl.col("what").is_in(titles))
    counts = rows["threads"].unique().sort().to_list()
    columns = [Column("size", "Size"), Column("ours", "Ours"), Column("peer", "Peer")]
    for count in counts:
        threads = f"({named(count, 'thread')})"
        columns += [
            Column(f"seconds_ours_{count}", f"Seconds of ours {threads}", "seconds"),
            Column(f"seconds_peer_{count}", f"Seconds of peer {threads}", "seconds"),
            Column(f"ratio_{count}", f"Ratio {threads}", "mean", interval=True),
        ]
    columns += [
        Column("quality_ours", f"{quality} of ours", "score"),
        Column("quality_peer", f"{quality} of peer", "score"),
    ]
    body = []
    for (what, size, ours, peer), group in rows.group_by("what", "size", "ours", "peer", maintain_order=True):
        measured = {row["threads"]: row for row in group.iter_rows(named=True)}
        cells = [Cell(size), Cell(ours), Cell(peer)]
        for count in counts:
            row = measured.get(count, {})
            cells += [Cell(row.get(key)) for key in SECONDS]
            cells.append(Cell(row.get("ratio_median"), row.get("ratio_min"), row.get("ratio_max")))
        last = group.row(-1, named=True)
        cells += [Cell(last["quality_ours"]), Cell(last["quality_peer"])]
        body.append(Row(tuple(cells), group=titles[str(what)]))
    notes = (
        "Ratio: the peer's seconds divided by ours in the same repeat; median [lowest, highest]. Seconds are medians.",
    )
    return Table(tuple(columns), tuple(body), caption, notes=notes)


def comparison_table(rows: pl.DataFrame) -> Table:
    """Return a table with one row, including the goal, for each comparison."""
    notes = (
        "All data are simulated; sizes are named after the data sets that have them.",
        "Ratio: the peer's seconds divided by ours in the same repeat; median [lowest, highest]. Seconds are medians.",
        "95 %: the time to reach 95 % of the lower of the two methods' best values on the validation labels.",
        "Goals apply to the size nuswide and, with uniform negatives, only to the faster of the two peers.",
        LOAD,
    )
    body = [comparison_row(row, TITLES[row["what"]]) for row in rows.iter_rows(named=True)]
    return Table(comparison_columns("recall@10"), tuple(body), "Goals", notes=notes)


def feature_table(rows: pl.DataFrame) -> Table:
    """Return a table with one row, including the goal, for each comparison on image features."""
    rows = rows.filter(pl.col("what") != TREE)
    notes = (
        "Data named sim-..., `dense rows` and `sparse rows` are simulated.",
        "Quality: for neighbours, the share of ours that are as near as scikit-learn's; for methods, validation `map`.",
        "A goal is reached only if our quality is not lower than the peer's.",
        "Seconds: processor time for one thread, wall time for several.",
        LOAD,
    )
    body = [comparison_row(row, FEATURE_TITLES[row["what"]], equal=True) for row in rows.iter_rows(named=True)]
    return Table(comparison_columns("Quality"), tuple(body), "Goals on image features", notes=notes)


def comparison_columns(quality: str) -> tuple[Column, ...]:
    return (
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
        Column("quality_ours", f"{quality}, ours", "score"),
        Column("quality_peer", f"{quality}, peer", "score"),
        Column("load", "Load", "mean"),
    )


def comparison_row(row: dict[str, Any], title: str, equal: bool = False) -> Row:
    """Return a row with a comparison and its goal; if `equal`, our quality must not be below the peer's."""
    target = goal(row["what"], row["peer"], row["threads"])
    cells = [Cell(row[key]) for key in ("size", "threads", "ours", "peer", *SECONDS)]
    cells += [Cell(row["ratio_median"], row["ratio_min"], row["ratio_max"]), Cell(target.floor), Cell(target.aim)]
    worse = equal and row["quality_ours"] is not None and row["quality_ours"] < row["quality_peer"]
    cells += [Cell("no, lower quality" if worse else target.reached(row["ratio_median"]))]
    cells += [Cell(row[key]) for key in ("quality_ours", "quality_peer", "load")]
    return Row(tuple(cells), group=title)


def settings_table(rows: pl.DataFrame, metric: str, caption: str) -> Table:
    """Return a table of the settings chosen for each contestant, and the `metric` that they reach."""
    columns = (
        Column("size", "Size"),
        Column("contestant", "Contestant"),
        Column("tried", "Settings tried", "count"),
        Column("settings", "Chosen"),
        Column("epochs", "Epochs", "count"),
        Column("validation", f"{metric}, validation", "score"),
        Column("test", f"{metric}, test", "score"),
    )
    return Table(columns, body_of(rows, columns), caption)


def body_of(rows: pl.DataFrame, columns: tuple[Column, ...]) -> tuple[Row, ...]:
    """Return the rows of a table; a column that `rows` lacks is empty."""
    return tuple(Row(tuple(Cell(row.get(column.key)) for column in columns)) for row in rows.iter_rows(named=True))


def growth_table(growth: pl.DataFrame) -> Table:
    """Return each method's exponents of growth, and the complexity that the VSE-fs paper states."""
    fitted = exponents(growth) if len(growth) else None
    printed = read_published([CONFIG / "papers" / "vse_fs.csv"]).all
    complexity = {cell.row: cell.value for cell in printed if cell.column == "time_complexity"}
    methods = growth["method"].unique(maintain_order=True).to_list()
    body = [Row((Cell(METHODS[row]), Cell(complexity.get(row)), *growth_cells(fitted, row))) for row in methods]
    shown = (Column("method", "Method"), Column("published", "Published"), *columns(SIZES))
    notes = (*NOTES, "Published: N images, M labels, |D| pairs, K factors, T trials (VSE-fs, Table 2).")
    return Table(shown, tuple(body), "Growth of an epoch's time, one core", notes=notes)


def limit_table(rows: pl.DataFrame) -> Table:
    """Return the time of each update of VSE-fs, and the least time that each kind of work in this update needs."""
    columns = (
        Column("size", "Size"),
        Column("threads", "Threads", "count"),
        Column("update", "Update of"),
        Column("seconds", "Seconds", "seconds"),
        Column("operations", "Operations", "seconds"),
        Column("streams", "Streams", "seconds"),
        Column("rows", "Random rows", "seconds"),
        Column("share", "Share of the limit", "mean"),
        Column("load", "Load", "mean"),
    )
    notes = (
        "Operations, streams, random rows: seconds that this work takes at the rate at which the machine multiplies "
        "two matrices of 2048 x 2048, copies memory, and reads random rows of an array. Rates and updates are "
        "measured in turns.",
        "Share of the limit: the largest of the three, divided by the seconds of the update. In the rows `both`, the "
        "limits and the seconds of the two updates are added up.",
        LOAD,
    )
    return Table(columns, body_of(rows, columns), "An iteration of VSE-fs and the limits of the machine", notes=notes)


def exact_table(rows: pl.DataFrame) -> Table:
    """Return the seconds and the quality of VSE-fs with two updates of the images."""
    columns = (
        Column("size", "Size"),
        Column("factors", "K", "count"),
        Column("threads", "Threads", "count"),
        Column("seconds_by_factor", "Seconds by factor", "seconds"),
        Column("seconds_exact", "Seconds exact", "seconds"),
        Column("ratio", "Ratio", "mean", interval=True),
        Column("quality_by_factor", "Recall@10 by factor", "score"),
        Column("quality_exact", "Recall@10 exact", "score"),
        Column("difference", "Largest difference", "score"),
        Column("load", "Load", "mean"),
    )
    body = [
        Row(tuple(
            Cell(row["ratio"], row["ratio_min"], row["ratio_max"]) if column.key == "ratio" else Cell(row[column.key])
            for column in columns
        ))
        for row in rows.iter_rows(named=True)
    ]  # fmt: skip
    notes = (
        "Seconds of an iteration, in which only the update of the images differs; the ratio is the median over the "
        "repeats, with the smallest and the largest in brackets.",
        "Recall@10: mean over five seeds. Largest difference: between the two updates, of one seed.",
        LOAD,
    )
    return Table(columns, tuple(body), "VSE-fs: images factor by factor, and to the exact minimum", notes=notes)


def thread_table(rows: pl.DataFrame) -> Table:
    """Return the time of each kind of work on each number of threads."""
    columns = (
        Column("size", "Size"),
        Column("work", "Work"),
        Column("threads", "Threads", "count"),
        Column("seconds", "Seconds", "seconds"),
        Column("speedup", "Times as fast as one thread", "mean"),
        Column("same", "Same bytes as one thread"),
        Column("load", "Load", "mean"),
    )
    shown = rows.with_columns(same=pl.when("same").then(pl.lit("yes")).otherwise(pl.lit("no")))
    return Table(columns, body_of(shown, columns), "The same work on several threads", notes=(LOAD,))


def memory_table(rows: pl.DataFrame) -> Table:
    """Return the memory of each contestant, and the size of embeddings and pairs."""
    columns = (
        Column("size", "Size"),
        Column("contestant", "Contestant"),
        Column("seconds", "Seconds of the epoch", "seconds"),
        Column("start_bytes", "Before the data, MiB", "mebibytes"),
        Column("peak_bytes", "Peak, MiB", "mebibytes"),
        Column("data_bytes", "Embeddings and pairs, MiB", "mebibytes"),
        Column("ratio", "Peak over both", "mean"),
    )
    body = body_of(rows.with_columns(ratio=pl.col("peak_bytes") / pl.col("data_bytes")), columns)
    notes = (
        "One epoch in a new process on all cores. The peak includes the interpreter and all imported modules.",
        f"Limit for VSE-fs at the largest size: a peak of {MEMORY_LIMIT} times the size of embeddings and pairs.",
    )
    return Table(columns, body, "Peak memory", notes=notes)


def outside_table(rows: pl.DataFrame) -> Table:
    """Return the time and memory that scores of another program need, and those of models that are trained here."""
    columns = (
        Column("size", "Size"),
        Column("scores", "Scores"),
        Column("seconds_read", "Seconds to train or read", "seconds"),
        Column("peak_read", "Peak to train or read, MiB", "mebibytes"),
        Column("seconds_rank", "Seconds to rank", "seconds"),
        Column("peak_rank", "Peak to rank, MiB", "mebibytes"),
        Column("recall", "recall@10", "score"),
    )
    notes = (
        f"Each stage is a new process, whose peak includes the interpreter. Training: {outside_scores.EPOCHS} epochs.",
        "Labels that a list lacks are tied after its labels, and a tie counts against the held-out label.",
    )
    return Table(columns, body_of(rows, columns), "Scores from outside", notes=notes)


def start_table(rows: pl.DataFrame) -> Table:
    """Return the seconds of cold and warm starts, and their limits."""
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
        "Cold: all kernels, no cache. Warm: one method, from the cache. Whole processes on one core; median [range].",
    )
    return Table(columns, body, "Compilation", notes=notes)


def tree_table(rows: pl.DataFrame) -> Table:
    """Return the time and recall of each tree, and the time of exact search."""
    columns = (
        Column("size", "Rows"),
        Column("ours", "Levels"),
        Column("seconds_ours", "Milliseconds per query", "seconds"),
        Column("seconds_peer", "Exact search", "seconds"),
        Column("ratio", "Ratio", "mean", interval=True),
        Column("quality_ours", "Recall of the first neighbour", "score"),
        Column("load", "Load", "mean"),
    )
    body = []
    for row in rows.filter(what=TREE).iter_rows(named=True):
        cells = [Cell(row["size"]), Cell(row["ours"]), *(Cell(1000 * row[key]) for key in SECONDS)]
        cells += [Cell(row["ratio_median"], row["ratio_min"], row["ratio_max"]), Cell(row["quality_ours"])]
        body.append(Row((*cells, Cell(row["load"]))))
    notes = ("All queries in one call, processor time on one thread. With p = 0, the only leaf contains all rows.",)
    return Table(columns, tuple(body), "Random projection tree", notes=notes)


def step_table(rows: pl.DataFrame) -> Table:
    """Return the time of a step of WSABIE for each number of non-zeros, factors and labels."""
    columns = (
        Column("non_zeros", "Non-zeros", "count"),
        Column("factors", "D", "count"),
        Column("labels", "Y", "count"),
        Column("trials", "Trials per step", "mean"),
        Column("seconds", "Microseconds per step", "seconds"),
    )
    body = body_of(rows.with_columns(pl.col("seconds") * 1e6), columns)
    notes = ("Epochs after the first one, processor time on one thread, settings of the method `wsabie`.",)
    return Table(columns, body, "A step of WSABIE", notes=notes)


def loss_table(rows: pl.DataFrame) -> Table:
    """Return the time of each form of a loss for each number of labels."""
    columns = (
        Column("form", "Form"),
        Column("per_image", "Labels per image", "count"),
        Column("labels", "Labels", "count"),
        Column("seconds", "Microseconds per image", "seconds"),
    )
    shown = rows.with_columns(pl.col("seconds") / losses_by_labels.IMAGES * 1e6).sort("form", "per_image", "labels")
    notes = ("Loss and derivatives of random scores, processor time on one thread.",)
    return Table(columns, body_of(shown, columns), "Losses over pairs against the number of labels", notes=notes)


def epoch_table(rows: pl.DataFrame) -> Table:
    """Return the time per image of an epoch with word vectors, and of its parts, for each number of labels."""
    parts = (epochs_by_labels.WHOLE, epochs_by_labels.NETWORK, epochs_by_labels.LOSS, epochs_by_labels.DRAWS)
    columns = (
        Column("variant", "Method"),
        Column("labels", "Labels", "count"),
        *(Column(part, f"{part.capitalize()}, µs per image", "seconds") for part in parts),
        Column("megabytes", "Vectors, MB", "count"),
    )
    times = rows.with_columns(pl.col("seconds") * 1e6, megabytes=(pl.col("words") / 1e6).round().cast(pl.Int64))
    keys = ["variant", "labels", "megabytes"]
    shown = times.pivot(on="part", index=keys, values="seconds") if len(times) else times.select(keys)
    notes = (
        f"A network {epochs_by_labels.INPUTS}-{epochs_by_labels.HIDDEN}-{epochs_by_labels.OUTPUTS}, batches of "
        f"{epochs_by_labels.BATCH}, {epochs_by_labels.PER_IMAGE} labels per image. Sampling draws P = 5 "
        "positives and N = 10 negatives per image. Processor time on one thread. Labels and features are random.",
        "Table 1 of the sampled tagging paper, µs per image with 291 and 925 labels on a GPU: Fast0Tag 120.0 "
        "and 424.5, X-Ent 68.5 and 90.5, Opt+X-Ent 73.6 and 106.1; their sampled versions, in the same order, 22.1 and "
        "31.4, 18.1 and 18.9, 24.3 and 22.5.",
    )
    return Table(
        columns, body_of(shown, columns), "An epoch with word vectors against the number of labels", notes=notes
    )


def vector_table(rows: pl.DataFrame) -> Table:
    """Return the benefit of each part of `kernels/vectors.py` in each kernel."""
    columns = (
        Column("kernel", "Kernel"),
        Column("part", "In plain loops"),
        Column("factors", "K", "count"),
        Column("labels", "Labels", "count"),
        Column("images", "Images", "count"),
        Column("seconds", "Seconds with vectors", "seconds"),
        Column("ratio", "Ratio", "mean", interval=True),
        Column("load", "Load", "mean"),
    )
    body = [
        Row((
            *(Cell(row[key]) for key in ("kernel", "part", "factors", "labels", "images", "seconds")),
            Cell(row["ratio"], row["low"], row["high"]),
            Cell(row["load"]),
        ))
        for row in rows.iter_rows(named=True)
    ]  # fmt: skip
    notes = ("Ratio: processor time with plain loops over that with vectors; median [quartiles]. One thread.", LOAD)
    return Table(columns, tuple(body), "Benefit of kernels/vectors.py", notes=notes)
