"""Give metrics titles for tables and figures, and choose a few metrics where space is limited."""

from collections.abc import Sequence

# Metrics that are preferred where only one or three are shown.
PREFERRED = ("recall@10", "map@10", "ndcg@10")
ABBREVIATIONS = {
    "map": "MAP",
    "ndcg": "NDCG",
    "auc": "AUC",
    "mrr": "MRR",
    "f1": "F1",
    "pc": "per-class",
    "ov": "overall",
}


def metric_title(metric: str) -> str:
    """Return a metric's name for a heading.

    >>> metric_title("recall@10"), metric_title("mrr"), metric_title("label_map"), metric_title("macro_f1@5")
    ('Recall@10', 'MRR', 'Label MAP', 'Macro F1@5')
    """
    name, at, cutoff = metric.partition("@")
    words = " ".join(ABBREVIATIONS.get(word, word) for word in name.split("_"))
    return words[:1].upper() + words[1:] + at + cutoff


def few_metrics(metrics: Sequence[str]) -> list[str]:
    """Return up to three metrics of a run; the first is the headline metric.

    >>> few_metrics(["precision@5", "ndcg@10", "recall@10"]), few_metrics(["mrr", "f1@5"])
    (['recall@10', 'ndcg@10'], ['mrr', 'f1@5'])
    """
    return [metric for metric in PREFERRED if metric in metrics] or list(metrics[:3])
