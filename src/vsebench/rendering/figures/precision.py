"""Draw precision at cut-offs, precision over all pairs of image and label, or recall by label frequency."""

from itertools import zip_longest

import polars as pl
from pydantic import Field

from vsebench.core.tasks import Task
from vsebench.evaluation.metrics.base import load_metric
from vsebench.protocols.base import load_protocol
from vsebench.rendering.kinds import Figure, FigureKind
from vsebench.rendering.outline import Outline
from vsebench.rendering.results import Results, at, leading_metric

QUANTITIES = {"precision": "precision@k", "sibling_precision": "sibling precision@k"}
MOST_LINES = 8  # maximum number of lines in the figure of labels by frequency
MOST_CONTROLS = 2  # maximum number of controls among these lines
FORMS = {False: "raw scores", True: "scores minus their log-sum-exp"}


class PrecisionAtCutoffs(FigureKind):
    """A figure of precision@k and sibling precision@k against k, with one line per method.

    A task has a panel for precision, and one for sibling precision if its data set has a table of siblings.
    """

    needs = ("precision_at", "datasets")

    methods: list[str] = Field(min_length=1)  # names of methods of the run

    def applies(self, outline: Outline) -> bool:
        return bool(outline.tasks_with(*self.methods))

    def figure(self, results: Results) -> Figure:
        from vsebench.rendering import drawing, style

        shown = results.analysis("precision_at").filter(pl.col("method").is_in(self.methods))
        drawn = [
            (task, quantity)
            for task in results.tasks_of(shown)
            for quantity in QUANTITIES
            if at(shown, task)[quantity].null_count() == 0
        ]
        figure, axes = drawing.panels(len(drawn), style.DOUBLE, 2.1, columns=2)
        for axis, (task, quantity) in zip(axes, drawn, strict=True):
            drawing.draw_lines(axis, results, at(shown, task), "cutoff", quantity)
            axis.set(xlabel="k", ylabel=QUANTITIES[quantity], ylim=(0, None))
            axis.set_xticks(range(1, 11))
            axis.set_title(drawing.panel_title(results, task))
        drawing.legend_of_lines(figure, results, results.methods_of(shown), results.tasks_of(shown))
        return figure

    def caption(self, results: Results) -> str:
        return (
            "Precision and sibling precision of the first k labels on the test images, against k: mean over seeds, "
            "with a band from the lowest to the highest value. Sibling precision also counts siblings of an image's "
            "labels (labels with a common parent) as correct. It is shown if the data set has a table of siblings."
        )

    def alternative(self, results: Results) -> str:
        return "Lines of precision against k, one per method; one or two panels per data set and protocol."


class PooledPrecision(FigureKind):
    """A figure of precision against recall over all pairs of image and label, with one line per method.

    Each task has a panel for raw scores, and a panel for scores that are normalised per image.
    """

    needs = ("pooled_precision", "datasets")

    methods: list[str] = Field(min_length=1)  # names of methods of the run

    def applies(self, outline: Outline) -> bool:
        return bool(outline.tasks_with(*self.methods))

    def figure(self, results: Results) -> Figure:
        from vsebench.rendering import drawing, style

        shown = results.analysis("pooled_precision").filter(pl.col("method").is_in(self.methods))
        tasks = results.tasks_of(shown)
        drawn = [(task, normalised) for task in tasks for normalised in FORMS]
        figure, axes = drawing.panels(len(drawn), style.DOUBLE, 2.1, columns=2)
        for axis, (task, normalised) in zip(axes, drawn, strict=True):
            drawing.draw_lines(axis, results, at(shown, task).filter(normalised=normalised), "recall", "precision")
            axis.set(xlabel="recall", ylabel="precision", xlim=(0, 1), ylim=(0, 1))
            axis.set_title(f"{results.short_title(task.dataset)}\n{FORMS[normalised]}")
        drawing.legend_of_lines(figure, results, results.methods_of(shown), results.tasks_of(shown))
        return figure

    def caption(self, results: Results) -> str:
        shown = results.analysis("pooled_precision").filter(pl.col("method").is_in(self.methods))
        return (
            "Precision against recall over all pairs of a test image and a label: mean over seeds, with a band from "
            "the lowest to the highest value. Left: raw scores are compared across images, as in the paper, although a "
            "ranking loss does not change if a constant is added to all scores of an image. Right: from each image's "
            f"scores, the log of the sum of their exponentials is subtracted. {self.averages(results, shown)}"
        ).strip()

    def averages(self, results: Results, shown: pl.DataFrame) -> str:
        """Return sentences, one per task, that state the average precision of every curve."""
        sentences = []
        for task in results.tasks_of(shown):
            means = at(shown, task).group_by("method", "normalised").agg(pl.col("average_precision").mean())
            average_of = {(method, normalised): value for method, normalised, value in means.iter_rows()}
            numbers = (
                f"{results.method_title(method)} {average_of[method, False]:.3f} and {average_of[method, True]:.3f}"
                for method in results.methods_of(means)
            )
            where = results.task_title(task)
            sentences.append(f"Average precision, left and right, on {where}: {', '.join(numbers)}.")
        return " ".join(sentences)

    def alternative(self, results: Results) -> str:
        return "Curves of precision against recall, one per method; two panels per data set and protocol."


class LabelsByFrequency(FigureKind):
    """A figure of the recall of labels, from the most frequent labels to the rarest.

    There is one panel per task, and one line for each method that `few_methods` chooses.
    """

    needs = ("by_frequency", "summary", "datasets")
    made_for = "run"
    section = "overview"
    position = 5

    def applies(self, outline: Outline) -> bool:
        return not all(load_protocol(task.protocol).only_unseen for task in outline.tasks)

    def figure(self, results: Results) -> Figure:
        from vsebench.rendering import drawing, style

        shown = results.by_frequency.filter(pl.col("method").is_in(few_methods(results)))
        tasks = results.tasks_of(shown)
        width, columns = style.SINGLE if len(tasks) == 1 else style.DOUBLE, 3 if len(tasks) > 4 else 2
        figure, axes = drawing.panels(len(tasks), width, 2.5, columns)
        for axis, task in zip(axes, tasks, strict=True):
            of_task = at(shown, task)
            drawing.draw_lines(axis, results, of_task.rename({"band": "group", "value": "recall"}), "group", "recall")
            bands = of_task.group_by("band").agg(pl.col("fewest").median(), pl.col("most").median()).sort("band")
            names = [f"{fewest:g}\nto {most:g}" for _, fewest, most in bands.iter_rows()]
            axis.set_xticks(bands["band"].to_list(), names, fontsize=5.5)
            axis.set_ylim(bottom=0)
            axis.set(xlabel="training images of a label", ylabel=f"recall@{of_task['cutoff'][0]} of a label")
            axis.set_title(drawing.panel_title(results, task))
        drawing.legend_of_lines(figure, results, results.methods_of(shown), results.tasks_of(shown))
        return figure

    def caption(self, results: Results) -> str:
        return (
            "Recall of labels in five groups with equal numbers of labels, the most frequent labels on the left. The "
            "recall@N of a label is computed on the images from which it is held out: it is the share of these images "
            "on which it is among the first N labels. Each point is the mean over the labels of a group and over "
            f"seeds, with a band from the lowest to the highest value. {self._choice(results)}"
        ).strip()

    def _choice(self, results: Results) -> str:
        """Return a sentence on how the drawn methods were chosen, or "" if all methods are drawn."""
        drawn, methods = few_methods(results), results.competitors_of(results.by_frequency)
        if len(drawn) == len(methods):
            return ""
        return (
            f"The figure shows {len(drawn)} of {len(methods)} methods: the first {MOST_CONTROLS} controls, the first "
            "other method of the run, and methods with the best values of the leading metric of the overview, taken "
            "from each data set in turn."
        )

    def alternative(self, results: Results) -> str:
        text = "Lines of recall from frequent to rare labels, one line per method, one panel per data set and protocol."
        shown = results.by_frequency.filter(pl.col("method").is_in(results.competitors_of(results.by_frequency)))
        for task in results.tasks_of(shown):
            rarest = at(shown, task).filter(pl.col("band") == pl.col("band").max())
            means = rarest.group_by("method").agg(pl.col("value").mean())
            best, value = means.sort("value", "method", descending=[True, False]).row(0)
            title = results.method_title(best)
            text += f" {results.task_title(task)}: the largest recall on the rarest labels is {value:.4f}, by {title}."
        return text


def few_methods(results: Results) -> list[str]:
    """Return the methods to draw, at most `MOST_LINES`, because more lines could not be told apart.

    They are chosen in this order:

    - the first `MOST_CONTROLS` controls (usually random and popularity)
    - the first method of the run that is not a control, which is usually the method that the run is about
    - the best method of each task, then the second best method of each task, and so on, without controls
    """
    methods = results.competitors_of(results.by_frequency)
    controls = [method for method in methods if results.outline.variants[method].role == "control"]
    others = [method for method in methods if method not in controls]
    by_place = zip_longest(*(best_first(results, task) for task in results.tasks_of(results.by_frequency)))
    in_turn = [method for of_place in by_place for method in of_place if method in others]
    return list(dict.fromkeys([*controls[:MOST_CONTROLS], *others[:1], *in_turn]))[:MOST_LINES]


def best_first(results: Results, task: Task) -> list[str]:
    """Return the methods of a task, sorted by the task's leading metric, the best one first."""
    metric = leading_metric(results, task)
    values = results.accuracy(task).filter(metric=metric, decision="")
    return values.sort(load_metric(metric).sign * pl.col("value"), "method", descending=[True, False])[
        "method"
    ].to_list()
