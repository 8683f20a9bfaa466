"""Checks of methods that predict label sets, against the numbers of labels per image.

A method `<loss>_topk` predicts each image's first k labels. Not every paper prints k, so `k_of_row` infers k. If the
numbers of labels per image are not printed but were counted in the label files, the notes of these numbers and the
findings say so.
"""

import re
from collections.abc import Iterator
from fractions import Fraction

from vsebench.papers.audit.checks.counts import count
from vsebench.papers.audit.checks.metrics import same_row
from vsebench.papers.audit.findings import Finding, judge, report
from vsebench.papers.audit.printed import Interval, rounded
from vsebench.papers.published import PrintedCell, PrintedCells

SLACK = Fraction(1, 50)  # labels per image were counted on all images; the mean over test images differs a little
WITH_LABELS = re.compile(r"images_with_(\d+)_labels?")


def labels_per_list(cells: PrintedCells) -> Iterator[Finding]:
    """Check that the overall recall of a top-k method fits its overall precision and an integer k.

    The ratio of overall recall to overall precision (OV-R / OV-P) is the number of predicted labels divided by the
    number of true labels. For a top-k method, this is k divided by the mean number of labels per image.
    """
    for recall in cells.numbers("ov_recall"):
        precision, mean = same_row(cells, recall, "ov_precision"), labels_of_image(cells, recall)
        k = k_of_row(cells, recall)
        if precision and mean and k:
            expected = rounded(precision.value) * k / count(mean)
            bounds = Interval(expected.low * (1 - SLACK), expected.high * (1 + SLACK))
            rule = f"OV-P x k / labels per image, within 2 %: k = {k}, {mean.value} labels per image{note(mean)}"
            yield judge("labels per list", recall, [precision, mean], bounds, rule)


def exact_match_of_top_k(cells: PrintedCells) -> Iterator[Finding]:
    """Check that the exact match of a top-k method is at most the share of images with exactly k labels."""
    for cell in cells.numbers("exact_match"):
        if cell.row.endswith("_topk") and cell.unit == "percent":
            by_size = k_of_row(cells, cell)
            for share in cells.numbers(WITH_LABELS.pattern):
                k = int(re.findall(r"\d+", share.column)[0])
                forced = rounded(cell.value).low > 100 - rounded(share.value).low
                if (share.paper, share.row) == (cell.paper, cell.dataset) and (k == by_size or forced):
                    why = f"k = {k} by OV-R / OV-P" if by_size else f"k = {k}, the most frequent number"
                    rule = f"at most the share of images with k labels{note(share)}; {why}"
                    bounds = Interval(Fraction(0), rounded(share.value).high)
                    yield judge("exact match of top k", cell, [share], bounds, rule)


def exact_match_of_counts(cells: PrintedCells) -> Iterator[Finding]:
    """Check the exact match of methods that predict the number of labels of each image.

    These methods predict at most n labels, and the paper prints n (column `maximum_labels`). The exact match is
    therefore at most the share of images with n labels or fewer.
    """
    for cell in cells.numbers("exact_match"):
        limit = cells.find(cell.paper, cell.paper, "maximum_labels")
        if cell.row.endswith("_label_count") and limit and cell.unit == "percent":
            share = cells.find(cell.paper, cell.dataset, f"images_with_{limit.value}_labels_or_fewer")
            if share:
                bounds = Interval(Fraction(0), rounded(share.value).high)
                rule = f"at most the share of images with {limit.value} labels or fewer{note(share)}"
                yield judge("exact match of counts", cell, [share, limit], bounds, rule)


def sampled_pairs(cells: PrintedCells) -> Iterator[Finding]:
    """Report whether a limit on the number of pairs per image has an effect.

    An image with n of the K labels has n (K - n) pairs of a positive and a negative label. The finding is never a
    contradiction, because "at most" is true even if no image reaches the limit.
    """
    for limit in cells.numbers("pairs_per_image"):
        for labels, most in cells.each("labels", "most_labels_of_an_image"):
            if labels.paper == limit.paper:
                yield judge_limit(limit, labels, most)


def judge_limit(limit: PrintedCell, labels: PrintedCell, most: PrintedCell) -> Finding:
    k, allowed = int(labels.number), int(limit.number)
    pairs = max((n * (k - n) for n in range(min(int(most.number), k) + 1)), default=0)
    effect = "some images have more pairs" if pairs > allowed else "no image has more pairs, so the limit has no effect"
    rule = f"n (K - n) pairs of n labels among K = {k}: {effect}; n is at most {most.value}{note(most)}"
    recomputed = f"at most {pairs} on {labels.row}"
    published = f"at most {limit.value} pairs"
    return report("sampled pairs", [limit, labels, most], published, recomputed, agrees=True, explanation=rule)


def k_of_row(cells: PrintedCells, cell: PrintedCell) -> int:
    """Return the k of a top-k method, or 0 if it is unknown.

    k is the integer nearest to the mean number of predicted labels per image. This mean is the overall recall divided
    by the overall precision, times the mean number of labels per image.
    """
    precision, recall = (same_row(cells, cell, f"ov_{name}") for name in ("precision", "recall"))
    mean = labels_of_image(cells, cell)
    if not cell.row.endswith("_topk") or not precision or not recall or not mean or precision.number == 0:
        return 0
    return round(recall.number / precision.number * mean.number)


def labels_of_image(cells: PrintedCells, cell: PrintedCell) -> PrintedCell | None:
    """Return the mean number of labels per image of a cell's data set, if it is above 0."""
    mean = cells.find(cell.paper, cell.dataset, "labels_per_image")
    return mean if mean and count(mean).low > 0 else None


def note(cell: PrintedCell) -> str:
    """Return, in brackets, the note of a cell, which states the origin of a number that is not printed."""
    return f" ({cell.note})" if cell.note else ""
