"""Checks of times, iterations and memory."""

import itertools
import re
from collections.abc import Iterator

from vsebench.papers.audit.checks.counts import count, same_data
from vsebench.papers.audit.findings import Finding, judge, report
from vsebench.papers.audit.formulas import SPACE, TERMS, by_formula, sizes
from vsebench.papers.audit.printed import Interval, exact, roughly, rounded
from vsebench.papers.published import SECONDS, PrintedCell, PrintedCells


def timed(cells: PrintedCells, column: str) -> Iterator[PrintedCell]:
    return (cell for cell in cells.numbers(column) if cell.unit in SECONDS)


def seconds(cell: PrintedCell) -> Interval:
    return rounded(cell.value) * SECONDS[cell.unit]


def iterations(cells: PrintedCells) -> Iterator[Finding]:
    """Check a method's number of training iterations against its training time and another paper's time per iteration.

    The text does not say to which data set the number applies, so one matching data set is enough. If none matches, the
    number may apply to a data set for which the other paper prints no time per iteration.
    """
    for cell in cells.numbers("iterations"):
        sources: list[PrintedCell] = []
        ratios: dict[str, Interval] = {}
        trained = [whole for whole in timed(cells, "training_time") if _is_training(whole, cell)]
        for whole in trained:
            for single in timed(cells, "iteration_time"):
                if single.row == whole.row and same_data(cells, whole.dataset, whole.paper, single.paper):
                    sources += [whole, single]
                    ratios[whole.dataset] = seconds(whole) / seconds(single)
        if ratios:
            agrees = any(roughly(cell.value).meets(ratio) for ratio in ratios.values())
            condition = (
                f"it is for {' or '.join(ratios)}, with the machine and code of the other paper (the text does not say "
                "so)"
            )
            untimed = [whole.dataset for whole in trained if whole.dataset not in ratios]
            condition += f"; no time per iteration is printed for {' and '.join(untimed)}" if untimed else ""
            recomputed = " or ".join(ratio.show(0) for ratio in ratios.values())
            rule = (
                "time to convergence / time per iteration in the other paper, assuming the same machine and code "
                "because the accuracies are equal; the data set is not stated, so one match is enough"
            )
            yield report("iterations", [cell, *sources], cell.value, recomputed, agrees, rule, condition)


def _is_training(whole: PrintedCell, cell: PrintedCell) -> bool:
    """Return whether a time is the training time of the cell's method."""
    return whole.paper == cell.paper and not whole.in_text and whole.row == f"{whole.dataset}/{cell.row}"


def seconds_per_image(cells: PrintedCells) -> Iterator[Finding]:
    """Check the time per image against the time for the test set."""
    for cell, whole, images in cells.each("test_time_per_image", "test_time", "test_images"):
        if {whole.unit, cell.unit} <= set(SECONDS):
            single = seconds(whole) / count(images) / SECONDS[cell.unit]
            yield judge("time per image", cell, [whole, images], single, "time of the test set / its images")


def ensembles(cells: PrintedCells) -> Iterator[Finding]:
    """Check statements that an ensemble scores images faster than another method.

    The members of the ensemble `<method>_<sizes>` are models of `<method>` with these sizes (numbers of factors). The
    ensemble's time is the printed time of `<method>`, divided by the size of `<method>` and multiplied by the sum of
    the members' sizes.
    """
    for statement in cells.stated("faster"):
        times = [cell for cell in timed(cells, "test_time") if cell.paper == statement.paper and not cell.in_text]
        for ensemble, single, rival in itertools.product(statement.rows, times, times):
            method, *members = re.split(r"_(?=\d)", ensemble)
            size = cells.find(statement.paper, method, "factors")
            together = single.dataset == rival.dataset and statement.is_about(rival.dataset, ensemble)
            if (
                members
                and size
                and together
                and single.method == method
                and statement.are_rivals(ensemble, rival.method)
            ):
                time = seconds(single) * sum(map(int, members)) / exact(size.value) / SECONDS[rival.unit]
                work = f"{single.value} {single.unit} x ({' + '.join(members)})"
                yield report(
                    "ensemble",
                    [statement, single, size, rival],
                    published=f"below {rival.value} {rival.unit}",
                    recomputed=f"{time.show(1)} {rival.unit}",
                    agrees=time.low < rounded(rival.value).high,
                    explanation=f"{statement.quoted}: {work} / {size.value}",
                )


def flat_cost(cells: PrintedCells) -> Iterator[Finding]:
    """Check the time per epoch on a data set against the times on other data sets.

    This is possible if the paper states that an image costs the same on every data set. The statement is in the
    method's row, in the column `cost_per_image`. The checked time is printed without a method. Of the images of its
    data set, only those with tags are counted.
    """
    for statement in cells.words("cost_per_image"):
        timed_cells = [cell for cell in timed(cells, "epoch_time") if cell.paper == statement.paper]
        rates = {cell: cells.find(cell.paper, cell.dataset, "images") for cell in timed_cells}
        known = {cell: images for cell, images in rates.items() if images and cell.row.endswith(f"/{statement.row}")}
        for cell, images, share in cells.each("epoch_time", "images_by_name", "images_with_that_mean"):
            if cell in timed_cells and known:
                tagged = exact(images.value) * rounded(share.value) / 100
                single = [seconds(epoch) / count(total) * tagged / SECONDS[cell.unit] for epoch, total in known.items()]
                expected = Interval(min(each.low for each in single), max(each.high for each in single))
                rule = f"an image costs {statement.value} on every data set, so it takes the same time on all of them"
                sources = [statement, images, share, *known, *known.values()]
                yield judge("flat cost", cell, sources, expected, rule, condition=statement.condition)


def memory(cells: PrintedCells) -> Iterator[Finding]:
    """Check that memory grows from one data set to another as the printed formula does.

    The number of bytes per number cancels out.
    """
    for formula, measured in by_formula(cells, "space_complexity", "memory", SPACE):
        for small, large in itertools.combinations(measured, 2):
            # The dimension is the same for both data sets, so its value does not matter.
            before, after = (sizes(cells, cell, formula, dimension=exact("1")) for cell in (small, large))
            if small.unit == large.unit and before and after:
                growth = SPACE[formula.value]
                grown = rounded(small.value) * (growth(after) / growth(before))
                terms = {
                    name: rounded(small.value) * (term(after) / term(before))
                    for name, term in TERMS.get(formula.value, {}).items()
                }
                rule = f"{small.value} {small.unit} x growth of {formula.value}"
                condition = _one_factor(formula, large, terms) if terms else ""
                yield judge("memory", large, [small, formula], grown, rule, condition=condition)


def _one_factor(formula: PrintedCell, large: PrintedCell, terms: dict[str, Interval]) -> str:
    """Return the condition under which the printed growth of memory contradicts the formula.

    The condition is that both terms of the formula have the same constant factor. It is empty if no constant factors
    make the growth fit.
    """
    fits = Interval(min(each.low for each in terms.values()), max(each.high for each in terms.values()))
    name, alone = next(iter(terms.items()))
    condition = f"both terms of {formula.value} have the same constant factor; {name} alone gives {alone.show(1)}"
    return condition if rounded(large.value).meets(fits) else ""
