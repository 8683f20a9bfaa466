"""Checks of verbal statements against the printed numbers."""

import itertools
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction

from vsebench.papers.audit.checks.repeats import ACCURACY
from vsebench.papers.audit.findings import Finding, judge, report
from vsebench.papers.audit.printed import Interval, exact, rounded
from vsebench.papers.published import PrintedCell, PrintedCells

RESULTS_OF = "datasets_in_"


def best_of_all(cells: PrintedCells) -> Iterator[Finding]:
    """Check that a method that a paper calls the best has the highest value in each metric.

    Rows that show gains over other methods are ignored.
    """
    for statement in cells.stated("best"):
        groups: dict[tuple[str, str], list[PrintedCell]] = {}
        for cell in cells.numbers(ACCURACY):
            if cell.paper == statement.paper and cell.row.count("/") == 1:
                groups.setdefault((cell.dataset, cell.column), []).append(cell)
        for row, group in itertools.product(statement.rows, groups.values()):
            own = [cell for cell in group if cell.method == row]
            rivals = [cell for cell in group if statement.are_rivals(row, cell.method)]
            if own and rivals:
                best, *others = sorted(rivals, key=lambda cell: cell.number, reverse=True)
                above = [f"{cell.method}'s {cell.value}" for cell in others if cell.number > own[0].number]
                rule = f"{statement.quoted}; at least {best.method}'s {best.value}"
                rule += f"; also below {', '.join(above)}" if above else ""
                bounds = Interval(rounded(best.value).low, Fraction(100))
                yield judge("best of all", own[0], [best, statement], bounds, rule, condition=statement.condition)


def listed_once(cells: PrintedCells) -> Iterator[Finding]:
    """Check that a list of labels contains each label once."""
    for cell in cells.words("nearest_labels|top_labels"):
        words = [word.strip().strip("*") for word in cell.value.split(",")]
        twice = [word for word, number in Counter(words).items() if number > 1]
        shown, explanation = f"{len(words)} labels", f"twice: {', '.join(twice)}" if twice else "each label once"
        yield report("listed once", [cell], shown, f"{len(set(words))} different ones", not twice, explanation)


def datasets_of_table(cells: PrintedCells) -> Iterator[Finding]:
    """Check the number of data sets that a caption or the text states for a table (column `datasets`)."""
    for cell in cells.numbers("datasets"):
        rows = [each.row for each in cells.all if (each.paper, each.table) == (cell.paper, cell.row)]
        datasets = list(dict.fromkeys(row.split("/")[0] for row in rows))
        if datasets:
            rule = f"{cell.row} has {', '.join(datasets)} ({cell.note})"
            yield judge("data sets", cell, [], exact(str(len(datasets))), rule, exact(cell.value))


def cited_datasets(cells: PrintedCells) -> Iterator[Finding]:
    """Check that another paper has results on the data sets for which it is cited (`datasets_in_<paper>`)."""
    for cell in cells.words(f"{RESULTS_OF}.*"):
        cited = cell.column.removeprefix(RESULTS_OF)
        if cited not in cells.papers:
            continue
        printed = {each.dataset for each in cells.numbers(ACCURACY) if each.paper == cited}
        named = cell.value.split(", ")
        absent = [dataset for dataset in named if dataset not in printed]
        result = f"{cited} has no accuracy on {', '.join(absent)}" if absent else f"{cited} has all"
        rule, published = f"{result} ({cell.note})", f"{len(named)} data sets"
        recomputed = f"{len(named) - len(absent)} of {len(named)}"
        yield report("cited data sets", [cell], published, recomputed, not absent, rule)


def second_neighbour(cells: PrintedCells) -> Iterator[Finding]:
    """Check that two searches imply the same precision of the second neighbour.

    Each search finds the first neighbour in a share of cases (`first_found`), and the second neighbour in the other
    cases. The precision of the search is therefore share x first + (1 - share) x second, where `first` and `second` are
    the precisions of the two neighbours. The exact search always finds the first neighbour, so its precision is
    `first`.
    """
    groups: dict[tuple[str, str], list[tuple[PrintedCell, PrintedCell]]] = {}
    for share, cell in cells.each("first_found", "precision@1"):
        if share.unit == cell.unit == "percent" and 0 < share.number < 1:
            groups.setdefault((share.paper, share.dataset), []).append((cell, share))
    for (paper, dataset), rows in groups.items():
        exact_search = cells.find(paper, f"{dataset}/knn", "precision@1")
        for (cell, share), (previous, previous_share) in itertools.pairwise(rows):
            if exact_search and exact_search.unit == "percent":
                second = second_of(previous, previous_share, exact_search)
                part = Fraction(share.value) / 100
                mixed = rounded(exact_search.value) * part + second * (1 - part)
                rule = (
                    f"the other search, with the share {previous_share.value} %, implies that the second neighbour has "
                    f"a precision of {second.show(2)}"
                )
                yield judge("second neighbour", cell, [previous, exact_search, share, previous_share], mixed, rule)


def second_of(cell: PrintedCell, share: PrintedCell, exact_search: PrintedCell) -> Interval:
    """Return the precision of the second neighbour, in percent."""
    part = Fraction(share.value) / 100
    return (rounded(cell.value) - rounded(exact_search.value) * part) / (1 - part)
