"""Checks of relations between the metrics in a row of a table.

With one held-out label per image, a metric is the mean over images of a gain that depends on the rank of that label.
Recall@N is the share of images in which this rank is at most N. Therefore Recall@5 and Recall@10 bound every metric
with a cut-off of 10.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache, lru_cache
from math import log2

import numpy as np
from numpy.typing import NDArray

from vsebench.papers.audit.checks.counts import ONE_HELD_OUT, PrintedNumber, label_numbers
from vsebench.papers.audit.findings import AGREES, DEPENDS, Finding, judge, report
from vsebench.papers.audit.printed import SLACK, Interval, decimals, rounded
from vsebench.papers.published import PrintedCell, PrintedCells

OF_MEANS, OVER_LABELS, OVER_IMAGES = "computed from mean P and R", "a mean over labels", "a mean over images"
Gain = Callable[[int], Fraction]  # the gain at a rank
MOST_LABELS = 200  # the linear program assumes that no image has more labels
SOLVER_SLACK = Fraction(1, 10**8)


def recall_and_precision(cells: PrintedCells) -> Iterator[Finding]:
    """Check that Recall@N is N times Precision@N if each image has one held-out label."""
    for recall in cells.numbers(r"recall@\d{1,4}"):
        cutoff = int(recall.column.removeprefix("recall@"))
        precision = same_row(cells, recall, f"precision@{cutoff}")
        if precision and recall.unit == "1" and recall.protocol in ONE_HELD_OUT:
            expected, rule = rounded(precision.value) * cutoff, f"{cutoff} x Precision@{cutoff}"
            yield judge("Recall = N x Precision", recall, [precision], expected, rule)


def cut_metrics(cells: PrintedCells) -> Iterator[Finding]:
    """Check that MAP@10 and NDCG@10 are within the bounds that follow from Recall@5 and Recall@10.

    With one held-out label per image, the gain of a hit is 1 / rank for MAP@10, and 1 / log2(rank + 1) for NDCG@10.
    """
    for check, gain, formula in (("MAP@10", reciprocal, "1 / rank"), ("NDCG@10", discount, "1 / log2(rank + 1)")):
        for cell in cells.numbers(check.lower()):
            recalls = recalls_of_row(cells, cell)
            if recalls:
                rule = f"mean of {formula}; hits have ranks 1 to 5 if Recall@5 counts them, otherwise ranks 6 to 10"
                yield judge(check, cell, recalls, within(recalls, gain, gain), rule)


def cut_auc(cells: PrintedCells) -> Iterator[Finding]:
    """Check that AUC@10 is within the bounds that follow from Recall@5 and Recall@10.

    A hit at rank r among n negatives counts 1 - (r - 1) / n, and a miss counts 0.5. Thus AUC@10 is 0.5 plus the mean of
    a gain, which is 0.5 - (r - 1) / n for a hit and 0 for a miss. n is smaller than the number of labels. It is at
    least half of that number, because no image has more than half of all labels. A further finding on each paper states
    how many of its values are within the bounds.
    """
    for paper in cells.papers:
        judged: dict[PrintedCell, Finding] = {}
        for cell in cells.numbers("auc@10"):
            labels, recalls = list(label_numbers(cells, paper, cell.dataset)), recalls_of_row(cells, cell)
            if cell.paper == paper and recalls and labels and min(each.number.low for each in labels) > 0:
                judged[cell] = judge_auc(cell, recalls, labels)
        yield from judged.values()
        if judged:
            aucs, fitting = list(judged), sum(finding.verdict == AGREES for finding in judged.values())
            rule = (
                "inferred: this is AUC@10 of lists cut at 10, where a miss counts 0.5, and not the AUC of full rankings"
            )
            condition = "the column is the AUC of cut lists, as its name in the CSV file says"
            summary, fit = f"{aucs[0].table} auc@10 (all {len(aucs)})", f"{fitting} of {len(aucs)} fit"
            yield report("AUC is cut", aucs, "AUC", fit, 2 * fitting > len(aucs), rule, condition, summary)


def judge_auc(cell: PrintedCell, recalls: list[PrintedCell], labels: list[PrintedNumber]) -> Finding:
    few = Fraction(min(each.number.low for each in labels)) / 2
    many = Fraction(max(each.number.high for each in labels))
    half = Fraction(1, 2)
    bounds = within(recalls, lambda rank: half - (rank - 1) / few, lambda rank: half - (rank - 1) / many) + half
    sources = [*recalls, *(source for each in labels for source in each.cells)]
    ceiling = ((rounded(recalls[1].value) + 1) / 2).show(5)
    rule = f"(1 + Recall@10) / 2 ({ceiling}), minus the mean over images of (rank - 1) / n (0 for misses)"
    # In the AUC of a full ranking, a hit counts as much as in AUC@10, and a miss counts at most 1.
    full = Interval(within(recalls, lambda rank: 1 - (rank - 1) / few, lambda rank: Fraction(1)).low, Fraction(1))
    possible = rounded(cell.value).meets(full)
    condition = (
        "it is the AUC of a list cut at 10, as most AUCs are here (inferred); a full ranking can have this AUC, too"
        if possible
        else ""
    )
    return judge("AUC@10", cell, sources, bounds, rule, condition=condition)


def within(recalls: list[PrintedCell], low: Gain, high: Gain) -> Interval:
    """Return bounds on the mean of a gain that decreases with the rank, given Recall@5 and Recall@10.

    `low` and `high` are a lower and an upper bound on the gain at a rank. The mean is lowest if all hits up to rank 5
    are at rank 5, and all later hits are at rank 10. It is highest if the former are at rank 1, and the latter are at
    rank 6. Each recall occurs only once in a bound, so its rounding is not counted twice.
    """
    rec_5, rec_10 = (rounded(cell.value) for cell in recalls)
    least = rec_5 * (low(5) - low(10)) + rec_10 * low(10)
    most = rec_5 * (high(1) - high(6)) + rec_10 * high(6)
    return Interval(least.low - SLACK, most.high + SLACK)


def reciprocal(rank: int) -> Fraction:
    return Fraction(1, rank)


def discount(rank: int) -> Fraction:
    return Fraction(1 / log2(rank + 1))


def recalls_of_row(cells: PrintedCells, cell: PrintedCell) -> list[PrintedCell]:
    """Return Recall@5 and Recall@10 of the cell's row if both are printed and one label is held out per image."""
    at_5, at_10 = same_row(cells, cell, "recall@5"), same_row(cells, cell, "recall@10")
    return [at_5, at_10] if at_5 and at_10 and cell.unit == "1" and cell.protocol in ONE_HELD_OUT else []


def f1_scores(cells: PrintedCells) -> Iterator[Finding]:
    """Check F1 against precision P and recall R.

    F1 can be averaged in several ways. If the printed F1 fits none of them, this is a contradiction. The F1 of the mean
    P and the mean R is 2 P R / (P + R). A mean of F1 over labels or images is at most this value, because F1 is a
    concave function of P and R. For means over images, `f1_over_images` gives tighter bounds.
    """
    for cell, precision, recall in _rows_with_f1(cells):
        yield judge_f1(cell, precision, recall)


def f1_over_images_is_possible(cells: PrintedCells) -> Iterator[Finding]:
    """Check whether all rows of a paper fit its statement (column `averages`) that F1 is a mean over images."""
    for statement in cells.words("averages"):
        if statement.value != "over images":
            continue
        rows = [row for row in _rows_with_f1(cells) if row[0].paper == statement.paper]
        wrong = [row[0] for row in rows if OVER_IMAGES not in readings(*row)[1]]
        rule = f"means over images ({statement.note}): no set of images can have the P, R and F1 of the other rows"
        recomputed = f"{len(rows) - len(wrong)} of {len(rows)}"
        yield report("F1 by image", [statement, *wrong], f"all {len(rows)}", recomputed, not wrong, rule)


def _rows_with_f1(cells: PrintedCells) -> Iterator[tuple[PrintedCell, PrintedCell, PrintedCell]]:
    """Yield F1, precision and recall of each row that prints all three."""
    for cell in cells.numbers(r"f1@\d{1,2}"):
        precision, recall = (same_row(cells, cell, cell.column.replace("f1", name)) for name in ("precision", "recall"))
        if precision and recall:
            yield cell, precision, recall


def readings(
    cell: PrintedCell, precision: PrintedCell, recall: PrintedCell
) -> tuple[dict[str, Interval | None], set[str]]:
    """Return the possible values of F1 for each way of averaging, and the ways that fit the cell.

    The values are in the cell's unit. They are None for a way of averaging that cannot give this precision and recall.
    """
    harmonic = harmonic_mean(precision, recall)
    whole = 100 if cell.unit == "percent" else 1
    k = int(cell.column.removeprefix("f1@"))
    over_images = f1_over_images(rounded(precision.value) / whole, rounded(recall.value) / whole, k) if k else None
    possible: dict[str, Interval | None] = {
        OF_MEANS: harmonic,
        OVER_LABELS: Interval(Fraction(0), harmonic.high),
        OVER_IMAGES: over_images * whole if over_images else None,
    }
    printed = rounded(cell.value)
    return possible, {way for way, values in possible.items() if values and printed.meets(values)}


def judge_f1(cell: PrintedCell, precision: PrintedCell, recall: PrintedCell) -> Finding:
    possible, fitting = readings(cell, precision, recall)
    digits = decimals(cell.value) + 2
    bounds = possible[OVER_IMAGES]
    shown = f"between {bounds.show(digits)}".replace(" to ", " and ") if bounds else "impossible for such P and R"
    rule = f"2 P R / (P + R) if F1 is {OF_MEANS}, at most that if it is {OVER_LABELS}, {shown} if it is {OVER_IMAGES}"
    finding = judge("F1", cell, [precision, recall], harmonic_mean(precision, recall), rule)
    excluded = [way for way in possible if way not in fitting]
    if not fitting or not excluded:
        return finding
    return replace(finding, verdict=DEPENDS, condition=f"F1 is {' or '.join(excluded)}")


@lru_cache(maxsize=256)  # two checks use the same rows
def f1_over_images(precision: Interval, recall: Interval, k: int) -> Interval | None:
    """Return bounds on the mean F1 over images if k labels are predicted for each image.

    `precision` and `recall` are means over images. All numbers are shares from 0 to 1.

    If h of the n labels of an image are among the k predicted labels, its precision is h / k, its recall is h / n, and
    its F1 is 2 h / (k + n). Any mixture of such images is possible, so a linear program gives the bounds. Return None
    if no mixture has these means.
    """
    # Imported here, because this import takes a tenth of a second, and Snakemake imports this module.
    from scipy.optimize import linprog

    p, r, f1 = _images(k)
    ones = np.ones((1, len(f1)))
    rows = np.stack([p, -p, r, -r])
    limits = [float(end) for solution in (precision, recall) for end in (solution.high, -solution.low)]
    solutions = [linprog(sign * f1, A_ub=rows, b_ub=limits, A_eq=ones, b_eq=[1.0]) for sign in (1, -1)]
    if not all(solution.success for solution in solutions):
        return None
    least, most = solutions
    return Interval(Fraction(float(least.fun)) - SOLVER_SLACK, Fraction(-float(most.fun)) + SOLVER_SLACK)


@cache
def _images(k: int) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return the precision, recall and F1 of each possible kind of image, as three arrays of shape (n_kinds,).

    Images of the same kind have the same number of labels, and the same number of them among the k predicted labels.
    """
    hits, labels = np.array([(h, n) for n in range(1, MOST_LABELS + 1) for h in range(min(k, n) + 1)]).T
    return hits / k, hits / labels, 2 * hits / (k + labels)


def f1_of_means(cells: PrintedCells) -> Iterator[Finding]:
    """Check that the F1 of the mean precision and the mean recall over labels is the harmonic mean of these two."""
    for cell in cells.numbers(r"macro_f1_of_means@\d{1,2}"):
        cutoff = cell.column.partition("@")[2]
        precision, recall = (same_row(cells, cell, f"pc_{name}@{cutoff}") for name in ("precision", "recall"))
        if precision and recall:
            rule = "2 P R / (P + R) of the labels' mean P and R"
            yield judge("F1 of means", cell, [precision, recall], harmonic_mean(precision, recall), rule)


def macro_f1(cells: PrintedCells) -> Iterator[Finding]:
    """Check that the mean F1 over classes is at most the F1 of the mean precision and recall."""
    for cell in cells.numbers("macro_f1"):
        precision, recall = same_row(cells, cell, "pc_precision"), same_row(cells, cell, "pc_recall")
        if precision and recall:
            bounds = Interval(Fraction(0), harmonic_mean(precision, recall).high)
            rule = "a mean over classes is at most 2 P R / (P + R) of the classes' mean P and R"
            yield judge("macro F1", cell, [precision, recall], bounds, rule)


def harmonic_mean(precision: PrintedCell, recall: PrintedCell) -> Interval:
    """Return the harmonic mean of precision P and recall R, 2 P R / (P + R)."""
    p, r = rounded(precision.value), rounded(recall.value)
    low, high = (2 * a * b / (a + b) if a > 0 < b else Fraction(0) for a, b in ((p.low, r.low), (p.high, r.high)))
    return Interval(low, high)


def same_row(cells: PrintedCells, cell: PrintedCell, column: str) -> PrintedCell | None:
    """Return the number in another column of the cell's row and table, if it has the cell's unit."""
    cell_of_row = cells.find(cell.paper, cell.row, column, cell.table)
    return cell_of_row if cell_of_row and cell_of_row.unit == cell.unit else None
