"""Draw a dot for each label: its F1, or the correlation of its predicted thresholds with the images' difficulty."""

import polars as pl
from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from vsebench.core.tasks import Entry
from vsebench.rendering.kinds import Figure, FigureKind
from vsebench.rendering.outline import Outline
from vsebench.rendering.results import Results, at


class F1OfLabels(FigureKind):
    """A figure of the F1 of the most frequent labels: one panel per task, one row per label, one dot per method."""

    needs = ("label_scores", "datasets")

    entries: list[str] = Field(min_length=1)  # each is a "method/decision"; no method occurs twice
    most_frequent: int = Field(default=10, ge=1)  # number of labels in a panel

    @model_validator(mode="after")
    def _one_decision_each(self) -> "F1OfLabels":
        entries = [Entry.of(entry) for entry in self.entries]
        if not all(entry.decision for entry in entries) or len({entry.variant for entry in entries}) < len(entries):
            raise PydanticCustomError("entries", "entries: name each method once, with a decision, as method/decision")
        return self

    def variants_read(self) -> list[str]:
        return self.entries

    def applies(self, outline: Outline) -> bool:
        return bool(outline.tasks_with(*self.entries))

    def figure(self, results: Results) -> Figure:
        from matplotlib.lines import Line2D

        from vsebench.rendering import drawing, style

        shown = self.shown(results)
        tasks = results.tasks_of(shown)
        look = style.looks(results)
        figure, axes = drawing.panels(len(tasks), style.DOUBLE, 2.4, columns=3)
        for axis, task in zip(axes, tasks, strict=True):
            means = at(shown, task).group_by("label", "method").agg(pl.col("images").max(), pl.col("f1").mean())
            labels = means.select("label", "images").unique().sort("images", "label", descending=[True, False])
            names = labels["label"].head(self.most_frequent).to_list()
            for method in results.methods_of(means):
                f1_of = dict(means.filter(method=method).select("label", "f1").iter_rows())
                axis.plot(
                    [f1_of[name] for name in names], range(len(names)), linestyle="", color=look[method].colour,
                    marker=look[method].marker, markersize=3.8, markeredgecolor="white", markeredgewidth=0.4,
                )  # fmt: skip
            axis.set_yticks(range(len(names)), names)
            axis.invert_yaxis()
            axis.set(xlabel="F1", xlim=(0, 1))
            axis.set_title(drawing.panel_title(results, task))
        handles = [
            Line2D([], [], linestyle="", color=look[entry.variant].colour, marker=look[entry.variant].marker,
                   label=results.entry_title(str(entry), *tasks, short=True))
            for entry in results.decided_of(shown)
        ]  # fmt: skip
        figure.legend(handles=handles, loc="outside lower center", ncols=min(3, len(handles)))
        return figure

    def shown(self, results: Results) -> pl.DataFrame:
        """Return the rows of the analysis `label_scores` that belong to one of the figure's `entries`."""
        return results.analysis("label_scores").filter(
            pl.any_horizontal(
                (pl.col("method") == entry.variant) & (pl.col("decision") == entry.decision)
                for entry in map(Entry.of, self.entries)
            )
        )

    def caption(self, results: Results) -> str:
        return (
            f"F1 of the {self.most_frequent} labels with the most test images, the most frequent on top; means over "
            "seeds. The legend names the decision that chose each method's label sets."
        )

    def alternative(self, results: Results) -> str:
        return "Dots of F1 for the most frequent labels, one dot per method; one panel per data set and protocol."


class ThresholdsAndDifficulty(FigureKind):
    """A figure of the correlation of predicted thresholds with the difficulty of images.

    There is one panel per task. A panel has a dot for each label, which shows the label's mean correlation over seeds.
    The dots are in ascending order of the correlation.
    """

    needs = ("thresholds_and_difficulty", "datasets")

    entry: str  # a "method/decision"
    # methods whose scores are log odds; a panel uses the first of them that has results on the panel's task
    references: list[str] = Field(min_length=1)

    def variants_read(self) -> list[str]:
        return [self.entry, *self.references]

    def applies(self, outline: Outline) -> bool:
        return bool(set(outline.tasks_with(self.entry)) & set(outline.tasks_with(*self.references)))

    def figure(self, results: Results) -> Figure:
        from vsebench.rendering import drawing, style

        entry = Entry.of(self.entry)
        shown = results.analysis("thresholds_and_difficulty").filter(
            method=entry.variant, decision=entry.decision, form="raw"
        )
        tasks = results.tasks_of(shown)
        look = style.looks(results)[entry.variant]
        figure, axes = drawing.panels(len(tasks), style.DOUBLE, 2.0, columns=3)
        for axis, task in zip(axes, tasks, strict=True):
            of_task = at(shown, task)
            reference = next(method for method in self.references if method in set(of_task["reference"]))
            by_label = of_task.filter(reference=reference).group_by("label").agg(pl.col("correlation").mean())
            values = sorted(by_label["correlation"].to_list())
            axis.plot(values, range(len(values)), linestyle="", marker=look.marker, color=look.colour, markersize=3,
                      markeredgecolor="white", markeredgewidth=0.3)  # fmt: skip
            axis.axvline(0, color="0.5", linewidth=0.7)
            axis.set(xlabel=f"correlation, mean {sum(values) / len(values):.2f}", xlim=(-1, 1), yticks=[])
            axis.set_title(drawing.panel_title(results, task))
        return figure

    def caption(self, results: Results) -> str:
        references = [results.method_title(method) for method in self.references if method in results.outline.variants]
        reference = " or, on data sets without it, ".join(references) or "a method that this run lacks"
        return (
            "Spearman correlation between the thresholds predicted for the images of a label and the images' "
            "difficulty; one dot per label with ten test images or more, mean over seeds. The difficulty is 1 minus "
            f"the probability of the label according to {reference}. If a constant is added to all scores and "
            "thresholds of an image, its label set stays the same. Therefore the paper's claim is not judged on these "
            "correlations, but on those of thresholds minus a level of the image's scores (such as their mean), which "
            "do not depend on such a constant. Instead of correlations, the paper shows images in the order of their "
            "thresholds."
        )

    def alternative(self, results: Results) -> str:
        return "Dots of the correlation, one per label, in ascending order; one panel per data set and protocol."
