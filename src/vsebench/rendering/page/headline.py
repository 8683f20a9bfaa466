"""The beginning of the report: the result of each task in a few sentences, and the facts about the run."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from vsebench.core.tasks import Task
from vsebench.papers.base import Paper
from vsebench.rendering.accuracy import remarks_on_outside
from vsebench.rendering.choices import count
from vsebench.rendering.metrics import metric_title
from vsebench.rendering.results import RANDOM, Results, beats_random, best_of, leading_metric, near_best, pick
from vsebench.rendering.table import format_value

NAMED = 4  # if more methods than this are not significantly different from the best, they are counted, not named
CHOICES = {
    "tuned": "chosen by this run on validation labels",
    "recorded": "chosen by an earlier search on validation labels of the same data",
    "paper": "taken from a paper or its code",
    "untuned": "not chosen for these data (untuned)",
    "weights": "weights of an ensemble, chosen by this run on validation labels",
    "elsewhere": "models that were trained elsewhere",
    "command": "models that a user's command trained",
}
Numbers = dict[str, Any]  # a row of `summary`


def headlines(results: Results, papers: Sequence[Paper]) -> list[str]:
    """Return a text of a few sentences on the result of each task, with tasks on real data first."""
    tasks = sorted(results.tasks_of(results.summary), key=lambda task: results.is_simulated(task.dataset))
    return [text for task in tasks if (text := " ".join(headline(results, task, papers)))]


def headline(results: Results, task: Task, papers: Sequence[Paper]) -> Iterator[str]:
    """Yield a sentence on the best method of a task, and then sentences on worse methods from the papers.

    Yield nothing if no method is the best, for example if the run has only oracles. A method that is not significantly
    better than `random` is not called the best.
    """
    accuracy, metric = results.accuracy(task), leading_metric(results, task)
    methods = results.competitors_of(accuracy)
    numbers_of = {method: numbers for method in methods if (numbers := pick(accuracy, metric, method))}
    best = best_of(accuracy, metric, methods)
    if best is None:
        return
    value = format_value(numbers_of[best]["value"], "score")
    if len(numbers_of) > 1 and not beats_random(accuracy, metric):
        random = results.method_title(RANDOM)
        yield f"{results.task_title(task)}: no method is significantly better than {random} in {metric_title(metric)}."
        return
    interval = " to ".join(format_value(numbers_of[best][end], "score") for end in ("ci_low", "ci_high"))
    equal = [results.method_title(method) for method, numbers in numbers_of.items() if near_best(numbers)]
    equals = f"; not significantly different from it: {', '.join(equal)}" if equal else ""
    if len(equal) > NAMED:
        equals = f"; {len(equal)} other methods are not significantly different († in the tables)"
    score = f"{metric_title(metric)} {value} (95 % interval {interval})"
    verb = "is best" if len(numbers_of) > 1 else "is the only method"
    yield f"{results.task_title(task)}: {results.method_title(best)} {verb}, {score}{equals}."
    yield from remarks_on_outside(results, [best])
    yield from behind(results, numbers_of, best, papers)


def behind(results: Results, numbers_of: Mapping[str, Numbers], best: str, papers: Sequence[Paper]) -> Iterator[str]:
    """Yield sentences on those of the papers' methods that are worse than the best method.

    If the best method is not from a paper, the first sentence is on the best of the papers' methods. Each further
    sentence is on the best of one paper's own methods, if this method is significantly worse than `best` and not yet
    named. `numbers_of` maps methods to rows of `summary`.
    """

    def leader(methods: Sequence[str]) -> str:
        return max(methods, key=lambda method: float(numbers_of[method]["value"]))

    first, of_papers = "", [name for name in numbers_of if results.outline.variants[name].role == "paper"]
    if of_papers and best not in of_papers:
        first = leader(of_papers)
        reached = f"{format_value(numbers_of[first]['value'], 'score')} ({results.method_title(first)})"
        yield f"The papers' methods reach at most {reached}, which is {lower(numbers_of[first], numbers_of[best])}."
    for paper in papers:
        own = [name for name in paper.own if name in numbers_of]
        if not own or best in own or (name := leader(own)) == first or near_best(numbers_of[name]):
            continue
        reached = format_value(numbers_of[name]["value"], "score")
        title = f"{results.method_title(name)}, the {paper.title} paper's own method,"
        yield f"{title} reaches {reached}, which is {lower(numbers_of[name], numbers_of[best])}."


def lower(numbers: Numbers, best: Numbers) -> str:
    """Return a clause that says by how much a method is below the best one, and whether this is significant.

    If the two methods have different seeds, they are compared on the seeds that both have.
    """
    test = "not significantly " if near_best(numbers) else "significantly "
    test = test if numbers["p_adjusted"] is not None else ""
    common = " on the seeds that both have" if numbers["n_seeds"] != best["n_seeds"] else ""
    deficit = best["value"] - numbers["value"] if numbers["difference"] is None else -numbers["difference"]
    return f"{test}lower{common} (by {format_value(deficit, 'score')})"


def what_was_run(results: Results) -> list[tuple[str, str]]:
    """Return the facts about the run, as pairs of a name and a text."""
    outline = results.outline
    protocols = dict.fromkeys(task.protocol for task in outline.tasks)
    factors = sorted({entry["settings"]["factors"] for entry in results.settings if "factors" in entry["settings"]})
    return [
        ("Data sets", ", ".join(results.dataset_title(name) for name in results.datasets)),
        ("Protocols", "; ".join(f"{name}: {outline.protocols[name]}" for name in protocols)),
        ("Methods", ", ".join(results.method_title(method) for method in outline.variants)),
        ("Seeds", outline.number_of_seeds),
        ("Factors", ", ".join(map(str, factors)) or "none"),
        ("Settings", "; ".join(settings_chosen(results)) or "no method has settings to choose"),
        ("Configuration", outline.configuration),
        ("Commit", str(results.machine.get("git_commit", "unknown"))),
    ]


def settings_chosen(results: Results) -> Iterator[str]:
    """Yield each way in which settings were chosen, with the number of fits to which it applies."""
    own = [entry for entry in results.settings if not results.outline.variants[entry["method"]].pack]
    for choice, words in CHOICES.items():
        if number := sum(entry["choice"] == choice for entry in own):
            yield f"{number} of {count(len(own), 'fit')}: {words}"
    if of_packs := len(results.settings) - len(own):
        yield f"{count(of_packs, 'fit')} from packs: see the table of settings"
