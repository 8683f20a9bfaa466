"""Times, iterations and memory."""

from collections.abc import Callable, Iterator
from itertools import combinations

from vsebench.papers.audit.checks.counts import count, same_data
from vsebench.papers.audit.findings import Finding, judge, names, verdict
from vsebench.papers.audit.printed import Interval, exact, roughly, rounded
from vsebench.papers.published import SECONDS, PrintedCell, PrintedCells

ITERATIONS, PER_IMAGE, MEMORY = "iterations", "time per image", "memory"
# Growth of memory as a paper prints it, in images n, labels Y, features d, non-zero features d_nz, dimension D.
SPACE: dict[str, Callable[[dict[str, Interval]], Interval]] = {
    "O(n d_nz)": lambda size: size["n"] * size["d_nz"],
    "O(n d)": lambda size: size["n"] * size["d"],
    "O(Y d)": lambda size: size["Y"] * size["d"],
    "O((Y + d) D)": lambda size: (size["Y"] + size["d"]) * size["D"],
}


def timed(cells: PrintedCells, column: str) -> Iterator[PrintedCell]:
    return (cell for cell in cells.numbers(column) if cell.unit in SECONDS)


def seconds(cell: PrintedCell) -> Interval:
    return rounded(cell.value) * SECONDS[cell.unit]


def iterations(cells: PrintedCells) -> Iterator[Finding]:
    """Check the iterations of a training against its time and another paper's time of an iteration.

    The text does not say which data set its number of iterations is for, so one that fits is enough.
    """
    for cell in cells.numbers("iterations"):
        sources: list[PrintedCell] = []
        ratios: list[tuple[str, Interval]] = []
        for whole in timed(cells, "training_time"):
            if whole.paper != cell.paper or whole.in_text or whole.row != f"{whole.dataset}/{cell.row}":
                continue
            for single in timed(cells, "iteration_time"):
                if single.row == whole.row and same_data(cells, whole.dataset, whole.paper, single.paper):
                    sources += [whole, single]
                    ratios.append((whole.dataset, seconds(whole) / seconds(single)))
        if ratios:
            reading = roughly(cell.value)
            yield Finding(
                paper=cell.paper,
                table=cell.table,
                cells=names([cell, *sources]),
                check=ITERATIONS,
                published=cell.value,
                recomputed=" or ".join(ratio.show(0) for _, ratio in ratios),
                verdict=verdict(any(reading.meets(ratio) for _, ratio in ratios)),
                explanation="time to convergence / time of an iteration in the other paper, if machine and code are "
                "the same, as the accuracies are; the data set is not said, so one that fits is enough",
            )


def seconds_per_image(cells: PrintedCells) -> Iterator[Finding]:
    """Check the time for one image against the time for all test images."""
    for cell in cells.numbers("test_time_per_image"):
        whole = cells.find(cell.paper, cell.row, "test_time")
        images = cells.find(cell.paper, cell.dataset, "test_images")
        if whole and images and {whole.unit, cell.unit} <= set(SECONDS):
            single = seconds(whole) / count(images) / SECONDS[cell.unit]
            yield judge(PER_IMAGE, cell, [whole, images], single, "time of the test set / its images")


def memory(cells: PrintedCells) -> Iterator[Finding]:
    """Check that memory grows from one data set to another as the printed formula says, whatever a number's bytes."""
    for formula in cells.all:
        if formula.column != "space_complexity" or formula.value not in SPACE:
            continue
        measured = [
            cell
            for cell in cells.numbers("memory")
            if cell.table == formula.table
            and cell.paper == formula.paper
            and cell.row == f"{cell.dataset}/{formula.row}"
        ]
        for small, large in combinations(measured, 2):
            sizes = [problem_size(cells, cell) for cell in (small, large)]
            if small.unit == large.unit and all(sizes):
                before, after = (SPACE[formula.value](size) for size in sizes)
                grown = rounded(small.value) * (after / before)
                yield judge(
                    MEMORY, large, [small, formula], grown, f"{small.value} {small.unit} x growth of {formula.value}"
                )


def problem_size(cells: PrintedCells, cell: PrintedCell) -> dict[str, Interval]:
    """Return the quantities of `SPACE`; nothing if one is not printed."""
    found = {
        "n": cells.find(cell.paper, cell.dataset, "train_images"),
        "Y": cells.find(cell.paper, cell.dataset, "labels"),
        "d": cells.find(cell.paper, "all", "features"),
        "d_nz": cells.find(cell.paper, "all", "features_per_image"),
    }
    size = {key: exact(value.value) for key, value in found.items() if value}
    # The embeddings' dimension is the same for both data sets, so that its value does not matter.
    return size | {"D": exact("1")} if len(size) == len(found) else {}
