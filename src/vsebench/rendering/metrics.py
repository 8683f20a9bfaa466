"""Titles of metrics for tables and figures, and a choice of a few metrics where space is limited."""

from collections.abc import Iterable, Sequence

from vsebench.config.run import NEW_IMAGE_METRICS
from vsebench.core.tasks import Task
from vsebench.evaluation.metrics.base import known_metrics, load_metric, metric_class
from vsebench.protocols.base import load_protocol
from vsebench.rendering.table import Form

# Metrics that are preferred where at most three are shown.
PREFERRED = ("recall@10", "map@10", "ndcg@10")
TITLES = {"n_plus": "N+", "psndcg": "PSnDCG"}
ABBREVIATIONS = {
    "map": "MAP",
    "ndcg": "NDCG",
    "auc": "AUC",
    "mrr": "MRR",
    "f1": "F1",
    "pc": "per-class",
    "ov": "overall",
    "psp": "PSP",
}


def metric_title(metric: str) -> str:
    """Return a metric's name for a heading.

    >>> metric_title("recall@10"), metric_title("mrr"), metric_title("label_map"), metric_title("macro_f1@5")
    ('Recall@10', 'MRR', 'Label MAP', 'Macro F1@5')
    >>> metric_title("n_plus@5"), metric_title("psp@1")
    ('N+@5', 'PSP@1')
    """
    name, at, cutoff = metric.partition("@")
    words = TITLES.get(name) or " ".join(ABBREVIATIONS.get(word, word) for word in name.split("_"))
    return words[:1].upper() + words[1:] + at + cutoff


def metric_form(metric: str) -> Form:
    """Return the form in which tables show the values of a metric, or of another quantity that a paper prints.

    >>> metric_form("recall@10"), metric_form("n_plus@5")
    ('score', 'count')
    """
    name = metric.partition("@")[0]
    return "count" if name in known_metrics() and metric_class(name).is_count else "score"


def few_metrics(metrics: Sequence[str], tasks: Iterable[Task] = ()) -> list[str]:
    """Return a few of the metrics of a run, for places where space is limited.

    The first of them is the headline metric of the run. Usually, the result contains the metrics of `PREFERRED` that
    the run has. If the run has none of these, the result contains the run's first three metrics that measure quality.
    If no metric of the run measures quality, the result contains the first three metrics.

    The result is different if the test images of all given `tasks` are new, and the run has at least two of the metrics
    in `config.run.NEW_IMAGE_METRICS`. In this case, it consists of the headline metric and these metrics.

    >>> few_metrics(["precision@5", "ndcg@10", "recall@10"]), few_metrics(["gini@5", "mrr", "f1@5"])
    (['recall@10', 'ndcg@10'], ['mrr', 'f1@5'])
    >>> few_metrics(["mrr", "f1@5", "n_plus@5", "map"], [Task("photos", "official")])
    ['mrr', 'map', 'n_plus@5']
    """
    of_quality = [metric for metric in metrics if load_metric(metric).sign]
    few = [metric for metric in PREFERRED if metric in metrics] or of_quality[:3] or list(metrics[:3])
    new_images = [load_protocol(task.protocol).new_images for task in tasks]
    of_new_images = [metric for metric in NEW_IMAGE_METRICS if metric in metrics]
    if new_images and all(new_images) and len(of_new_images) > 1:
        return list(dict.fromkeys([few[0], *of_new_images]))
    return few
