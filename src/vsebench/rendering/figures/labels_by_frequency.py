"""Recall of frequent and rare labels: five groups of labels by their number of training images."""

import polars as pl

from vsebench.protocols.base import load_protocol
from vsebench.rendering.kinds import Figure, FigureKind
from vsebench.rendering.outline import Outline
from vsebench.rendering.results import Results, at


class LabelsByFrequency(FigureKind):
    """One panel per task and one line per method, from the most frequent labels to the rarest."""

    needs = ("by_frequency", "datasets")
    made_for = "run"
    section = "overview"
    position = 5

    def applies(self, outline: Outline) -> bool:
        return not all(load_protocol(task.protocol).only_unseen for task in outline.tasks)

    def figure(self, results: Results) -> Figure:
        from vsebench.rendering import drawing, style

        shown = without_oracles(results)
        tasks = results.tasks_of(shown)
        figure, axes = drawing.panels(len(tasks), style.SINGLE if len(tasks) == 1 else style.DOUBLE, 2.1)
        for axis, task in zip(axes, tasks, strict=True):
            of_task = at(shown, task)
            drawing.draw_lines(axis, results, of_task.rename({"band": "group", "value": "recall"}), "group", "recall")
            bands = of_task.group_by("band").agg(pl.col("fewest").median(), pl.col("most").median()).sort("band")
            names = [f"{fewest:g}\nto {most:g}" for _, fewest, most in bands.iter_rows()]
            axis.set_xticks(bands["band"].to_list(), names, fontsize=5.5)
            axis.set_ylim(bottom=0)
            axis.set_title(drawing.panel_title(results, task))
        drawing.label_edges(axes, "training images of a label", f"recall@{shown['cutoff'][0]} of a label")
        drawing.legend_of_lines(figure, results, results.methods_of(shown))
        return figure

    def caption(self, results: Results) -> str:
        return (
            "Recall of labels in five groups of equal size, the most frequent on the left. A label's recall is the "
            "share of its held-out occurrences where it is among the image's first labels; each point is the mean over "
            "the labels of a group. Mean over seeds, with a band from the lowest to the highest seed."
        )

    def alternative(self, results: Results) -> str:
        text = "Lines of recall from frequent to rare labels, one line per method, one panel per data set and protocol."
        shown = without_oracles(results)
        for task in results.tasks_of(shown):
            rarest = at(shown, task).filter(pl.col("band") == pl.col("band").max())
            means = rarest.group_by("method").agg(pl.col("value").mean())
            best, value = means.sort("value", "method", descending=[True, False]).row(0)
            title = results.method_title(best)
            text += f" {results.task_title(task)}: the largest on the rarest labels is {value:.4f}, of {title}."
        return text


def without_oracles(results: Results) -> pl.DataFrame:
    """Return the recalls of all methods except oracles."""
    return results.by_frequency.filter(pl.col("method").is_in(results.competitors_of(results.by_frequency)))
