"""What the figures show, in words: captions, and the text that stands in for a figure that cannot be seen."""

from vsebench.core.places import CEILING
from vsebench.rendering.names import PAPER_FIGURES, Pair, figure_names, split_name
from vsebench.rendering.results import Metric, Results, metric_title, pick

HEADLINE: Metric = ("rec", 10)

CAPTIONS = {
    "overview": (
        "Rec@10 of every method on every data set, with bootstrap 95 % intervals over images and seeds. "
        "Filled: the best, or not significantly different from it."
    ),
    "mean-ranks": (
        "Mean rank of each method in NDCG@10 over data sets and seeds; 1 is best. A bar joins methods whose mean ranks "
        "differ by less than Nemenyi's critical difference (alpha 0.05). Seeds of a data set share its images, so the "
        "blocks are not independent and the critical difference is a lower bound."
    ),
    "training-time": (
        "Seconds of one training epoch on a logarithmic scale, timed with nothing else running: "
        "median and range over repeats."
    ),
    "trials": (
        "Labels looked at in a training step before one is taken as the negative, against epochs: "
        "mean over seeds, with a band from the lowest to the highest seed."
    ),
    "accuracy": (
        "Metrics cut off at 10 with bootstrap 95 % intervals over images and seeds; labels trained on are no "
        "candidates and ties count against the method. Filled: the best, or not significantly different from it."
    ),
    "convergence": (
        "Validation metric while epochs and settings are chosen, against epochs and against seconds of training alone: "
        "mean over seeds up to the epoch that every seed reached, with a band from the lowest to the highest seed."
    ),
    "vse_ens_figure1": (
        "VSE-ens paper, Figure 1, on this run's data: labels that WARP looks at in a training step before it takes one "
        "as the negative, against epochs; mean over seeds, with a band from the lowest to the highest seed."
    ),
    "vse_fs_figure2": (
        "VSE-fs paper, Figure 2, on this run's data: peak memory of a training process, median over repeats; and, "
        "where the run varies them, Pre@5 on the test labels against single settings of VSE-fs, all others as chosen: "
        "mean over seeds, with a band from the lowest to the highest seed."
    ),
}
SHAPES = {
    "overview": "Dots with intervals, one panel a data set.",
    "mean-ranks": "An axis of mean ranks with the methods' names on both sides and bars over those that do not differ.",
    "training-time": "Dots on a logarithmic scale, one panel a data set; the table of training times has the numbers.",
    "trials": "Lines of trials per step against epochs, one panel a data set.",
    "accuracy": "Dots with intervals, one a method, for Rec@10, MAP@10 and NDCG@10.",
    "convergence": "Lines of the validation metric, one a method.",
    "vse_ens_figure1": "Lines of trials per step against epochs, one panel a data set.",
    "vse_fs_figure2": "A row a data set: bars of peak memory, one a method, and lines of Pre@5 against each setting.",
}


def caption(results: Results, name: str) -> str:
    """Return a figure's caption."""
    kind, pair = split_name(name, results.pairs, [*figure_names(results.pairs), *PAPER_FIGURES])
    return f"{results.pair_title(pair)}. {CAPTIONS[kind]}" if pair else CAPTIONS[kind]


def alternative(results: Results, name: str) -> str:
    """Return what a reader who cannot see the figure has to know."""
    kind, pair = split_name(name, results.pairs, [*figure_names(results.pairs), *PAPER_FIGURES])
    about = [pair] if pair else results.pairs if kind == "overview" else []
    best = (f"{results.pair_title(one)}: {best_sentence(results, one)}" for one in about)
    return " ".join([SHAPES[kind], *best])


def best_sentence(results: Results, pair: Pair) -> str:
    """Return the best method in the headline metric, in a sentence."""
    accuracy = results.accuracy(pair)
    rows = [pick(accuracy, HEADLINE, method) for method in results.methods_of(accuracy) if method != CEILING]
    for row in rows:
        if row and row["best"]:
            title = results.method_title(row["method"])
            return f"best {metric_title(HEADLINE)} on the test labels: {title}, {row['value']:.4f}."
    return ""
