"""Show a paper's table of complexity and cost, with the values of its formulas and the costs of our models."""

from collections.abc import Iterator

from vsebench.papers.audit.checks.sizes import UNITS
from vsebench.papers.audit.formulas import SPACE, TIME, sizes
from vsebench.papers.base import Paper
from vsebench.papers.published import SECONDS, PrintedCell
from vsebench.rendering.outline import Outline
from vsebench.rendering.published_vs_ours import ON_OTHER_DATA, PrintedTable
from vsebench.rendering.results import Results, at
from vsebench.rendering.table import Column, Row, Table
from vsebench.rendering.timing import scoring_cell

DOUBLE, SPARSE = 8, 12  # bytes per number, and per entry of a sparse matrix with its index
COLUMNS = (
    Column("dataset", "Data set", shown=False),
    Column("method", "Method", width=0.16),
    Column("time_complexity", "Time"),
    Column("space_complexity", "Space"),
    Column("printed", "Printed", width=0.14),
    Column("operations", "Multiply-adds\nby formula", "count"),
    Column("image_seconds", "Seconds per\ntest image", "seconds", interval=True),
    Column("memory_by_formula", "Memory by\nformula (MiB)", "mebibytes"),
    Column("memory", "Memory\n(MiB)", "mebibytes"),
)
NOTES = (
    "Formulas: n training images, Y labels, d features, d_nz mean non-zero features per image, D factors. A number "
    "takes 8 bytes, an entry of a sparse matrix 4 more for its index.",
    "Published seconds per image: the printed time for the test set divided by its number of images.",
    "Here: seconds to score all labels for an image, in batches of 256 images on one core, without ranking; median and "
    "range over repeats. Memory: the size of the model's arrays as saved, mostly float32.",
)


class ComplexityAndCost(PrintedTable):
    """A table with one row per printed method and data set, then one row per timed method and task.

    The timed methods are our variants of the printed methods.
    """

    needs = ("timing", "datasets")

    def applies(self, outline: Outline) -> bool:
        return any(not set(self._ours()).isdisjoint(timed) for timed in outline.timed.values())

    def table(self, results: Results) -> Table:
        paper, cells = self.read()
        methods = [cell.row for cell in cells if cell.column == "time_complexity"]
        tasks = dict.fromkeys(cell.dataset for cell in cells if "/" in cell.row)
        rows = [printed_row(paper, cells, dataset, method) for dataset in tasks for method in methods]
        rows += our_rows(results, self._ours())
        return Table(COLUMNS, rows, self.caption(paper, ON_OTHER_DATA), NOTES, fold=2, small=True)

    def _ours(self) -> list[str]:
        """Return our variants of the printed methods."""
        paper, cells = self.read()
        methods = [cell.row for cell in cells if cell.column == "time_complexity" and cell.row in paper.rows]
        return list(dict.fromkeys(variant for method in methods for variant in paper.rows[method].ours))


def printed_row(paper: Paper, cells: list[PrintedCell], dataset: str, method: str) -> Row:
    """Return the row of a printed method on one data set."""
    by_column = {cell.column: cell for cell in cells if cell.row in (method, f"{dataset}/{method}")}
    time, memory = by_column["test_time"], by_column["memory"]
    formulas = [by_column[name] for name in ("time_complexity", "space_complexity")]
    sized = [sizes(paper.cells, memory, formula) for formula in formulas]
    costs = [
        float(known[formula.value](size).low) if size and formula.value in known else None
        for known, formula, size in zip((TIME, SPACE), formulas, sized, strict=True)
    ]
    entry = SPARSE if "d_nz" in formulas[1].value else DOUBLE
    images = paper.cells.find(paper.name, dataset, "test_images")
    seconds = time.number / float(images.value) if time.unit in SECONDS and images else None
    title = paper.task_title(dataset)
    return Row.of(
        title,
        paper.row_title(method),
        *(formula.value for formula in formulas),
        f"{value_with_unit(time)}, {value_with_unit(memory)}",
        costs[0],
        seconds,
        None if costs[1] is None else costs[1] * entry,
        float(memory.value) * UNITS[memory.unit],
        group=f"{title} (published)",
    )


def value_with_unit(cell: PrintedCell) -> str:
    """Return a printed number with its unit."""
    return cell.value if cell.is_words else f"{cell.value} {cell.unit}"


def our_rows(results: Results, methods: list[str]) -> Iterator[Row]:
    """Yield the rows of our methods, task by task."""
    for task in results.tasks_of(results.timing):
        timing, title = at(results.timing, task), results.task_title(task)
        for method in (method for method in methods if method in set(timing["method"])):
            timed = timing.filter(method=method)
            texts = (title, results.method_title(method, task), "", "", "")
            measured = (None, scoring_cell(timed), None, timed["model_bytes"].max())
            yield Row.of(*texts, *measured, group=title)  # type: ignore[arg-type]
