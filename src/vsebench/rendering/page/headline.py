"""What the report says first: the result in a sentence for each place, and how the run was made."""

from collections.abc import Iterator

from vsebench.core.places import Place
from vsebench.rendering.metrics import few_metrics, metric_title
from vsebench.rendering.results import Results, best_of, near_best, pick
from vsebench.rendering.table import format_value

CHOICES = {
    "tuned": "chosen by this run on validation labels",
    "recorded": "chosen by an earlier search on validation labels of the same data",
    "untuned": "not chosen for this data (untuned)",
}


def headlines(results: Results) -> list[str]:
    """Return the result at each place in one or two sentences, those on real data first."""
    places = sorted(results.places_of(results.summary), key=lambda place: results.is_simulated(place.dataset))
    return [text for place in places if (text := " ".join(headline(results, place)))]


def headline(results: Results, place: Place) -> Iterator[str]:
    """Yield the best method at a place in the headline metric, and how far the best of the papers' methods is behind.

    Nothing is yielded where no method is the best, as where the run has only oracles.
    """
    accuracy, metric = results.accuracy(place), leading_metric(results, place)
    rows = results.competitors_of(accuracy)
    found = {row: numbers for row in rows if (numbers := pick(accuracy, metric, row))}
    best = best_of(accuracy, metric, rows)
    if best is None:
        return
    value = format_value(found[best]["value"], "score")
    interval = " to ".join(format_value(found[best][end], "score") for end in ("ci_low", "ci_high"))
    equal = [results.method_title(row) for row in rows if row in found and near_best(found[row])]
    beside = f"; not distinguishable from it: {', '.join(equal)}" if equal else ""
    what = f"{metric_title(metric)} {value} (95 % interval {interval})"
    verb = "is best" if len(found) > 1 else "is the only method"
    yield f"{results.place_title(place)}: {results.method_title(best)} {verb}, {what}{beside}."
    of_papers = [row for row in found if results.outline.rows[row].role == "paper"]
    if of_papers and best not in of_papers:
        leader = max(of_papers, key=lambda row: found[row]["value"])
        numbers = found[leader]
        behind = format_value(found[best]["value"] - numbers["value"], "score")
        test = "not significantly" if near_best(numbers) else "significantly"
        test = f", {test} less" if numbers["p_adjusted"] is not None else ""
        title, reached = results.method_title(leader), format_value(numbers["value"], "score")
        yield f"Of the papers' methods there, {title} is best: {reached}, {behind} behind{test}."


def leading_metric(results: Results, place: Place) -> str:
    """Return the run's headline metric, or the next one that tells the methods at a place apart.

    A recall of the first ten labels is 1 for every method where there are no more than ten.
    """
    accuracy, metrics = results.accuracy(place), few_metrics(results.outline.metrics)
    for metric in metrics:
        found = (pick(accuracy, metric, row) for row in results.competitors_of(accuracy))
        if len({numbers["value"] for numbers in found if numbers}) > 1:
            return metric
    return metrics[0]


def what_was_run(results: Results) -> list[tuple[str, str]]:
    """Return the facts about the run, as pairs of a name and a text."""
    outline = results.outline
    protocols = dict.fromkeys(place.protocol for place in outline.places)
    factors = sorted({entry["settings"]["factors"] for entry in results.settings if "factors" in entry["settings"]})
    return [
        ("Data sets", ", ".join(results.dataset_title(name) for name in results.datasets)),
        ("Protocols", "; ".join(f"{name}: {outline.protocols[name]}" for name in protocols)),
        ("Methods", ", ".join(results.method_title(row) for row in outline.rows)),
        ("Seeds", str(len(outline.seeds))),
        ("Factors", ", ".join(map(str, factors)) or "none"),
        ("Settings", "; ".join(settings_chosen(results)) or "no method has settings to choose"),
        ("Configuration", outline.configuration),
        ("Commit", str(results.machine.get("git_commit", "unknown"))),
    ]


def settings_chosen(results: Results) -> Iterator[str]:
    """Yield for each way in which settings were chosen how many fits have it."""
    for choice, words in CHOICES.items():
        number = sum(entry["choice"] == choice for entry in results.settings)
        if number:
            yield f"{number} of {len(results.settings)} fits: {words}"
