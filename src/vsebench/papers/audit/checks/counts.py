"""Counts of images, labels and pairs."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from math import inf

from vsebench.papers.audit.findings import Finding, judge
from vsebench.papers.audit.printed import Interval, exact, roughly, rounded
from vsebench.papers.published import PrintedCell, PrintedCells


@dataclass(frozen=True)
class PrintedNumber:
    """A number that a paper prints in one cell or in several."""

    cells: list[PrintedCell]
    number: Interval


def count(cell: PrintedCell) -> Interval:
    """Read a count: exact, but for a round number in the text and for a mean with digits after the point."""
    if "." in cell.value:
        return rounded(cell.value)
    return roughly(cell.value) if cell.in_text and cell.value.endswith("0") else exact(cell.value)


def label_numbers(cells: PrintedCells, paper: str, dataset: str) -> Iterator[PrintedNumber]:
    """Yield what a paper says about the number of labels, directly or as positive and other labels of an image."""
    for cell in cells.prints(paper, dataset, "labels"):
        yield PrintedNumber([cell], count(cell))
    positive = cells.find(paper, dataset, "positive_labels_per_image")
    other = cells.find(paper, dataset, "non_positive_labels_per_image")
    if positive and other:
        yield PrintedNumber([other, positive], rounded(other.value) + rounded(positive.value))


def pair_numbers(cells: PrintedCells, paper: str, dataset: str) -> tuple[PrintedCell, PrintedCell, PrintedCell] | None:
    """Return images, training and test pairs of a data set, from the paper or else from another paper."""
    for name in [paper, *cells.papers]:
        images = cells.find(name, dataset, "images")
        train, test = (cells.find(name, dataset, f"{part}_pairs") for part in ("train", "test"))
        if images and train and test and same_data(cells, dataset, paper, name):
            return images, train, test
    return None


@dataclass(frozen=True)
class Means:
    """What a mean number of labels per image is recomputed from."""

    pairs: Interval
    images: Interval
    cells: list[PrintedCell]
    remark: str


def means(cells: PrintedCells, paper: str, dataset: str) -> Means | None:
    """Return the pairs and images behind a data set's mean number of labels per image.

    A label that several regions of an image have is one label of it. So where the distinct pairs of a paper's data were
    measured on the label files, they count, and else the printed training and test pairs.
    """
    distinct, labelled = (cells.find(paper, dataset, column) for column in ("distinct_pairs", "labelled_images"))
    if distinct and labelled:
        remark = f"; a label counts once in an image ({distinct.note})"
        return Means(exact(distinct.value), exact(labelled.value), [labelled, distinct], remark)
    found = pair_numbers(cells, paper, dataset)
    if not found:
        return None
    images, train, test = found
    training = (count(train) / count(images)).show(3)
    return Means(
        count(train) + count(test), count(images), [images, train, test], f"; training pairs alone give {training}"
    )


def same_data(cells: PrintedCells, dataset: str, one: str, other: str) -> bool:
    """Return whether two papers use the same data under a data set's name: they print the same accuracies for it."""
    pairs = [
        (cell.value, again.value)
        for cell in cells.numbers(r".+@\d+")
        if cell.paper == one and cell.dataset == dataset and cell.unit == "1"
        for again in cells.prints(other, cell.row, cell.column)
    ]
    return one == other or (bool(pairs) and all(value == again for value, again in pairs))


def held_out_pairs(cells: PrintedCells) -> Iterator[Finding]:
    """Check that there are at most as many test pairs as images, where one label of each image is held out."""
    for test, images in cells.each("test_pairs", "images"):
        at_most = Interval(-inf, count(images).high)
        yield judge("test pairs", test, [images], at_most, "one held-out pair per image", count(test))


def labels_per_image(cells: PrintedCells) -> Iterator[Finding]:
    """Check the mean number of labels per image against pairs / images."""
    for cell in cells.numbers("(positive_)?labels_per_image"):
        found = means(cells, cell.paper, cell.row)
        if found:
            mean = found.pairs / found.images
            yield judge("mean labels", cell, found.cells, mean, "pairs / images" + found.remark)


def others_per_positive(cells: PrintedCells) -> Iterator[Finding]:
    """Check the number of other labels for each positive one against both counts, and against pairs and images.

    Where it follows from the printed means, which are rounded, pairs and images contradict it only if it is exact.
    """
    for cell in cells.numbers("non_positives_per_positive"):
        positive = cells.find(cell.paper, cell.row, "positive_labels_per_image")
        other = cells.find(cell.paper, cell.row, "non_positive_labels_per_image")
        found = means(cells, cell.paper, cell.row)
        condition = ""
        if positive and other:
            ratio = rounded(other.value) / rounded(positive.value)
            if rounded(cell.value).meets(ratio):
                condition = "it is a ratio of exact means; it follows from the rounded ones above it"
            yield judge("other labels", cell, [other, positive], ratio, "other labels / positive labels")
        labels = next(label_numbers(cells, cell.paper, cell.row), None)
        if found and labels:
            ratio = labels.number * found.images / found.pairs - 1
            sources = [*labels.cells, *found.cells]
            yield judge("other labels", cell, sources, ratio, "labels x images / pairs - 1", condition=condition)


def numbers_of_labels(cells: PrintedCells) -> Iterator[Finding]:
    """Check that all printed numbers of a data set's labels agree, within a paper and between papers."""
    for dataset in dict.fromkeys(cell.row for cell in cells.all if "/" not in cell.row):
        said = {paper: list(label_numbers(cells, paper, dataset)) for paper in cells.papers}
        for first, *others in filter(None, said.values()):
            # The same cell printed twice is checked as a repeated number.
            yield from (compare(first, other) for other in others if len(other.cells) > 1)
        for one, other in combinations((paper for paper in said if said[paper]), 2):
            if same_data(cells, dataset, one, other):
                yield compare(said[one][0], said[other][0])
    for cell, labels in cells.each("labels_after_cut", "labels"):
        yield judge("labels", cell, [labels], count(labels), "the vocabulary as printed elsewhere", count(cell))


def labels_of_files(cells: PrintedCells) -> Iterator[Finding]:
    """Check a data set's number of labels against that of its label files, which was measured."""
    for measured, labels in cells.each("labels_in_files", "labels"):
        condition = "the paper's labels are those of the files"
        yield judge("labels", labels, [measured], exact(measured.value), measured.note, count(labels), condition)


def compare(one: PrintedNumber, other: PrintedNumber) -> Finding:
    """Judge one number of labels by another."""
    rule = "the same data set's number elsewhere" if len(other.cells) == 1 else "positive + other labels of an image"
    if len(one.cells) == 1:
        return judge("labels", one.cells[0], other.cells, other.number, rule, one.number)
    # Of a sum, the first part is judged, against the number less the other part.
    part, rest = one.cells
    return judge("labels", part, [*other.cells, rest], other.number - rounded(rest.value), rule)


def numbers_of_pairs(cells: PrintedCells) -> Iterator[Finding]:
    """Check the number of sampled pairs against training and test pairs."""
    for cell, train, test in cells.each("sampled_pairs", "train_pairs", "test_pairs"):
        yield judge("pairs", cell, [train, test], count(train) + count(test), "training + test pairs", count(cell))


def numbers_of_images(cells: PrintedCells) -> Iterator[Finding]:
    """Check that training and test images together are not more than all images."""
    for cell, train, test in cells.each("images", "train_images", "test_images"):
        at_least = Interval((count(train) + count(test)).low, inf)
        yield judge("images", cell, [train, test], at_least, "training + test images", count(cell))


def trials(cells: PrintedCells) -> Iterator[Finding]:
    """Check that no more labels are drawn for a violating one than there are others, where WSABIE's WARP gives up."""
    for cell, labels in cells.each("trials", "labels"):
        at_most = Interval(-inf, count(labels).high - 1)
        rule = "WARP as first defined stops after labels - 1 trials"
        condition = "this WARP has that limit, too; the text names no limit"
        yield judge("trials", cell, [labels], at_most, rule, count(cell), condition)


def weights(cells: PrintedCells) -> Iterator[Finding]:
    """Check the number of weights of a final layer: one word vector per label."""
    for cell, labels, size in cells.each("final_layer_weights", "labels", "word_vector_dimension"):
        product = count(labels) * exact(size.value)
        yield judge("weights", cell, [labels, size], product, "labels x dimension", count(cell))
