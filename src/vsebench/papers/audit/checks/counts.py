"""Checks of counts of images, labels and pairs."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from math import inf

from vsebench.papers.audit.findings import Finding, judge
from vsebench.papers.audit.printed import Interval, exact, roughly, rounded
from vsebench.papers.published import PrintedCell, PrintedCells

ONE_HELD_OUT = ("leave_one_out", "regions")  # protocols with one held-out label per image


@dataclass(frozen=True)
class PrintedNumber:
    """A number that a paper prints in one cell, or that is the sum of several cells."""

    cells: list[PrintedCell]
    number: Interval


def count(cell: PrintedCell) -> Interval:
    """Return the values that a printed count can have.

    A number with decimals may be rounded in its last digit. The final zeros of an integer in the text may be due to
    rounding. Every other count is exact.
    """
    if "." in cell.value:
        return rounded(cell.value)
    return roughly(cell.value) if cell.in_text and cell.value.endswith("0") else exact(cell.value)


def label_numbers(cells: PrintedCells, paper: str, dataset: str) -> Iterator[PrintedNumber]:
    """Yield each number of labels that a paper prints for a data set.

    If the paper prints the numbers of positive and of other labels per image, their sum follows as a further number.
    """
    for cell in cells.prints(paper, dataset, "labels"):
        yield PrintedNumber([cell], count(cell))
    positive = cells.find(paper, dataset, "positive_labels_per_image")
    non_positive = cells.find(paper, dataset, "non_positive_labels_per_image")
    if positive and non_positive:
        yield PrintedNumber([non_positive, positive], rounded(non_positive.value) + rounded(positive.value))


def pair_numbers(cells: PrintedCells, paper: str, dataset: str) -> tuple[PrintedCell, PrintedCell, PrintedCell] | None:
    """Return the numbers of images, training pairs and test pairs of a data set.

    If this paper does not print all three, they are taken from another paper with the same data. Return None if there
    is no such paper.
    """
    for source in [paper, *cells.papers]:
        images = cells.find(source, dataset, "images")
        train, test = (cells.find(source, dataset, f"{part}_pairs") for part in ("train", "test"))
        if images and train and test and same_data(cells, dataset, paper, source):
            return images, train, test
    return None


@dataclass(frozen=True)
class Means:
    """The numbers from which the mean number of labels per image is recomputed."""

    pairs: Interval
    images: Interval
    cells: list[PrintedCell]
    remark: str


def means(cells: PrintedCells, paper: str, dataset: str) -> Means | None:
    """Return the numbers of pairs and images, whose ratio is a data set's mean number of labels per image.

    If several regions of an image have the same label, the label counts once. Therefore the number of distinct pairs is
    used, if it was counted in the label files. If not, the sum of the printed numbers of training and test pairs is
    used. Return None if neither is known.
    """
    distinct, labelled = (cells.find(paper, dataset, column) for column in ("distinct_pairs", "labelled_images"))
    if distinct and labelled:
        remark = f"; a label counts once per image ({distinct.note})"
        return Means(exact(distinct.value), exact(labelled.value), [labelled, distinct], remark)
    printed = pair_numbers(cells, paper, dataset)
    if not printed:
        return None
    images, train, test = printed
    training = (count(train) / count(images)).show(3)
    return Means(
        count(train) + count(test), count(images), [images, train, test], f"; training pairs alone give {training}"
    )


def same_data(cells: PrintedCells, dataset: str, paper: str, rival: str) -> bool:
    """Return whether equal accuracies suggest that two papers mean the same data by the name `dataset`."""
    pairs = [
        (cell.value, again.value)
        for cell in cells.numbers(r".+@\d+")
        if cell.paper == paper and cell.dataset == dataset and cell.unit == "1"
        for again in cells.prints(rival, cell.row, cell.column)
    ]
    return paper == rival or (bool(pairs) and all(value == again for value, again in pairs))


def held_out_pairs(cells: PrintedCells) -> Iterator[Finding]:
    """With one held-out label per image, check that there are at most as many test pairs as images."""
    for test, images in cells.each("test_pairs", "images"):
        at_most = Interval(-inf, count(images).high)
        rule, condition = "one held-out pair per image", ""
        if not any(cell.paper == test.paper and cell.protocol in ONE_HELD_OUT for cell in cells.all):
            condition = "one pair of each image is held out"
        yield judge("test pairs", test, [images], at_most, rule, count(test), condition)


def labels_per_image(cells: PrintedCells) -> Iterator[Finding]:
    """Check the mean number of labels per image against the number of pairs divided by the number of images."""
    for cell in cells.numbers("(positive_)?labels_per_image"):
        source = means(cells, cell.paper, cell.row)
        if source:
            mean = source.pairs / source.images
            yield judge("mean labels", cell, source.cells, mean, "pairs / images" + source.remark)


def others_per_positive(cells: PrintedCells) -> Iterator[Finding]:
    """Check the printed ratio of other labels to positive labels.

    The ratio is compared with the ratio of the printed means per image, and with L N / P - 1, where L, N and P are the
    numbers of labels, images and positive pairs. A ratio may follow from the printed (rounded) means, but not from L, N
    and P. This is a contradiction only if the paper computed the ratio from the exact means.
    """
    for cell in cells.numbers("non_positives_per_positive"):
        positive = cells.find(cell.paper, cell.row, "positive_labels_per_image")
        non_positive = cells.find(cell.paper, cell.row, "non_positive_labels_per_image")
        source = means(cells, cell.paper, cell.row)
        condition = ""
        if positive and non_positive:
            ratio = rounded(non_positive.value) / rounded(positive.value)
            if rounded(cell.value).meets(ratio):
                condition = "it is the ratio of the exact means (it also follows from the printed, rounded means)"
            yield judge("other labels", cell, [non_positive, positive], ratio, "other labels / positive labels")
        labels = next(label_numbers(cells, cell.paper, cell.row), None)
        if source and labels:
            ratio = labels.number * source.images / source.pairs - 1
            sources = [*labels.cells, *source.cells]
            yield judge("other labels", cell, sources, ratio, "labels x images / pairs - 1", condition=condition)


def numbers_of_labels(cells: PrintedCells) -> Iterator[Finding]:
    """Check that all numbers of labels printed for a data set agree, within a paper and between papers."""
    for dataset in dict.fromkeys(cell.row for cell in cells.all if "/" not in cell.row):
        numbers = {paper: list(label_numbers(cells, paper, dataset)) for paper in cells.papers}
        for first, *others in filter(None, numbers.values()):
            # Numbers that are printed in several cells are compared by `repeated_numbers`.
            yield from (compare(first, number) for number in others if len(number.cells) > 1)
        for paper, other_paper in combinations((paper for paper in numbers if numbers[paper]), 2):
            if same_data(cells, dataset, paper, other_paper):
                condition = (
                    f"{paper} and {other_paper} use the same data under the name {dataset}, as their equal accuracies "
                    "suggest; one paper may have copied the other's accuracies"
                )
                yield compare(numbers[paper][0], numbers[other_paper][0], condition)
    for cell, labels in cells.each("labels_after_cut", "labels"):
        yield judge("labels", cell, [labels], count(labels), "the number of labels printed elsewhere", count(cell))


def labels_of_files(cells: PrintedCells) -> Iterator[Finding]:
    """Check a data set's number of labels against the number in its label files."""
    for measured, labels in cells.each("labels_in_files", "labels"):
        condition = "the paper uses the labels in the files"
        yield judge("labels", labels, [measured], exact(measured.value), measured.note, count(labels), condition)


def compare(judged: PrintedNumber, reference: PrintedNumber, condition: str = "") -> Finding:
    """Return a finding that compares two numbers of labels for the same data."""
    rule = (
        "the number printed elsewhere for this data set"
        if len(reference.cells) == 1
        else "positive + other labels of an image"
    )
    if len(judged.cells) == 1:
        return judge("labels", judged.cells[0], reference.cells, reference.number, rule, judged.number, condition)
    # The first part of a sum is compared with the number minus the other part.
    part, rest = judged.cells
    expected = reference.number - rounded(rest.value)
    return judge("labels", part, [*reference.cells, rest], expected, rule, condition=condition)


def numbers_of_pairs(cells: PrintedCells) -> Iterator[Finding]:
    """Check the number of sampled pairs against the sum of training and test pairs."""
    for cell, train, test in cells.each("sampled_pairs", "train_pairs", "test_pairs"):
        yield judge("pairs", cell, [train, test], count(train) + count(test), "training + test pairs", count(cell))


def numbers_of_images(cells: PrintedCells) -> Iterator[Finding]:
    """Check that training and test images together do not exceed all images."""
    for cell, train, test in cells.each("images", "train_images", "test_images"):
        at_least = Interval((count(train) + count(test)).low, inf)
        yield judge("images", cell, [train, test], at_least, "training + test images", count(cell))


def trials(cells: PrintedCells) -> Iterator[Finding]:
    """Check that there are fewer trials to find a violating label than there are labels, as in WSABIE's WARP."""
    for cell, labels in cells.each("trials", "labels"):
        at_most = Interval(-inf, count(labels).high - 1)
        rule = "WARP as first defined stops after labels - 1 trials"
        condition = "this WARP has the same limit; the text states no limit"
        yield judge("trials", cell, [labels], at_most, rule, count(cell), condition)


def weights(cells: PrintedCells) -> Iterator[Finding]:
    """Check the number of weights of a final layer that contains a word vector per label."""
    for cell, labels, size in cells.each("final_layer_weights", "labels", "word_vector_dimension"):
        product = count(labels) * exact(size.value)
        yield judge("weights", cell, [labels, size], product, "labels x dimension", count(cell))
