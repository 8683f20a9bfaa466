"""Show the metrics of label sets on one task, with one row per pair of a method and a decision."""

from itertools import chain
from typing import Any

from vsebench.core.tasks import Task
from vsebench.rendering.accuracy import accuracy_cells, remarks_on_outside
from vsebench.rendering.choices import remarks_on_choices
from vsebench.rendering.kinds import TableKind
from vsebench.rendering.metrics import metric_form, metric_title
from vsebench.rendering.outline import Outline
from vsebench.rendering.results import Results, pick
from vsebench.rendering.table import Column, Row, Table

NOTES = (
    "A decision chooses each image's label set from a model's scores. It is fitted and tuned on training and "
    "validation images; the models are not trained on the validation images.",
    "Precision, recall and F1 per class are means over all labels; a label that is never predicted, or has no test "
    "image, counts 0. Exact match and example F1 are means over all test images, including those without a label.",
    "Bold: best; †: not significantly different from the best (paired test over {units}, corrected "
    "over all pairs, p ≥ 0.05). Set size and count error describe the size of the sets, not their quality.",
)


class Decisions(TableKind):
    """A table of the metrics of the label sets that decisions chose on one task.

    Oracles come last, each below a rule.
    """

    needs = ("summary", "datasets")

    task: str  # <dataset>/<protocol>

    @classmethod
    def instances(cls, outline: Outline) -> dict[str, dict[str, Any]]:
        return {f"decisions-{task.name}": {"task": str(task)} for task in outline.decided}

    def table(self, results: Results) -> Table:
        task = Task.of(self.task)
        accuracy, metrics = results.accuracy(task), results.outline.decision_metrics
        columns = [Column("dataset", "Data set", shown=False), Column("protocol", "Protocol", shown=False)]
        columns += [Column("method", "Name", shown=False), Column("decision", "Decision name", shown=False)]
        columns += [Column("title", "Method"), Column("decision_title", "Decision", width=0.2)]
        for metric in metrics:
            columns.append(Column(metric, metric_title(metric).replace(" ", "\n"), metric_form(metric), interval=True))
            columns.append(Column(f"{metric}_p_adjusted", "p", "score", shown=False))
        rows = []
        for entry in results.decided_of(accuracy):
            decision = results.decision_title(entry.decision) + results.decision_marks(str(entry), task)
            titles = (results.method_title(entry.variant, task), decision)
            texts = (task.dataset, task.protocol, entry.variant, entry.decision, *titles)
            by_metric = (accuracy_cells(results, pick(accuracy, metric, str(entry))) for metric in metrics)
            oracle = results.is_oracle(entry.variant) or results.outline.decisions[entry.decision].role == "oracle"
            rows.append(Row.of(*texts, *chain.from_iterable(by_metric), apart=oracle))
        rows.sort(key=lambda row: row.apart)
        notes = ["The data are simulated."] if results.is_simulated(task.dataset) else []
        notes += [note.format(units=results.units) for note in NOTES]
        methods = list(dict.fromkeys(entry.variant for entry in results.decided_of(accuracy)))
        notes += remarks_on_choices(results, task, methods) + remarks_on_outside(results, methods)
        return Table(columns, rows, f"Label sets on {results.task_title(task)}", notes, fold=5)
