"""Draw the accuracy of the methods against their training time, and mark the Pareto front."""

from collections.abc import Mapping

from vsebench.core.tasks import Task
from vsebench.evaluation.metrics.base import load_metric
from vsebench.rendering.kinds import Figure, FigureKind
from vsebench.rendering.metrics import few_metrics, metric_title
from vsebench.rendering.outline import Outline
from vsebench.rendering.results import Results, at, leading_metric, pick
from vsebench.rendering.timing import alone_or_not, training_seconds

Point = tuple[float, float]  # seconds and metric

LINE_OF_LEGEND = 0.15  # height of a line of the legend in inches


class AccuracyAgainstTime(FigureKind):
    """A figure of accuracy against training seconds, with one panel per task and one dot per method.

    The accuracy is the metric that `leading_metric` returns for a task. A line joins the methods on the Pareto front.
    """

    needs = ("summary", "timing", "history", "datasets")
    made_for = "run"
    section = "result"

    def applies(self, outline: Outline) -> bool:
        return any(outline.timed.values())

    def figure(self, results: Results) -> Figure:
        from vsebench.rendering import drawing, style

        tasks = results.tasks_of(results.timing)
        points_of_tasks = {task: of_methods for task in tasks if (of_methods := points(results, task))}
        width = style.SINGLE if len(points_of_tasks) == 1 else style.DOUBLE
        figure, axes = drawing.panels(len(points_of_tasks), width, 2.4, columns=min(len(points_of_tasks), 3))
        look = style.looks(results)
        for axis, (task, of_methods) in zip(axes, points_of_tasks.items(), strict=True):
            for method, (seconds, value) in of_methods.items():
                dot = drawing.line_style(look[method]) | {"linestyle": "", "markersize": 6}
                axis.plot(seconds, value, **dot, clip_on=False, zorder=3)
            ends = sorted(of_methods[method] for method in front_of(results, task, of_methods))
            axis.plot(*zip(*ends, strict=True), color=style.GREY, linewidth=0.8, zorder=1, drawstyle="steps-post")
            axis.set_xlabel("training seconds (log)")
            axis.set_ylabel(metric_title(leading_metric(results, task)))
            drawing.logarithmic(axis.xaxis)
            axis.set_title(drawing.panel_title(results, task))
        timed = set().union(*points_of_tasks.values())
        methods = [method for method in results.outline.variants if method in timed]
        drawing.legend_of_lines(figure, results, methods, list(points_of_tasks), dots=True)
        lines_of_legend = -(-len(methods) // (2 if width == style.SINGLE else 4))
        figure.set_figheight(figure.get_figheight() + LINE_OF_LEGEND * lines_of_legend)
        return figure

    def caption(self, results: Results) -> str:
        metric = metric_title(few_metrics(results.outline.metrics)[0])
        return (
            f"{metric} against the seconds of training on one core with the chosen settings, up to the best epoch; "
            f"{alone_or_not(results.timing)}. If {metric} is the same for all methods on a data set, the panel shows "
            "the next metric that differs between the methods. The line joins the methods for which no other method is "
            "at least as accurate and also at least as fast. Controls, and methods that were not timed, are not shown."
        )

    def alternative(self, results: Results) -> str:
        sentences = []
        for task in results.tasks_of(results.timing):
            of_methods = points(results, task)
            names = ", ".join(results.method_title(method) for method in front_of(results, task, of_methods))
            sentences += [f"{results.task_title(task)}: the line joins {names}."] if of_methods else []
        text = (
            "Dots of accuracy against training seconds, one panel per data set and protocol. A line joins the methods "
            "for which no other method is at least as accurate and also at least as fast."
        )
        return " ".join([text, *sentences])


def points(results: Results, task: Task) -> dict[str, Point]:
    """Return the training seconds and the value of the leading metric for each method on a task.

    Oracles, controls and methods that were not timed are left out.
    """
    accuracy, timing, history = results.accuracy(task), at(results.timing, task), at(results.history, task)
    metric = leading_metric(results, task)
    of_methods = {}
    for method in results.competitors_of(accuracy):
        if results.outline.variants[method].role == "control":
            continue
        seconds = training_seconds(timing.filter(method=method), history.filter(method=method))
        numbers = pick(accuracy, metric, method)
        if seconds is not None and numbers is not None:
            of_methods[method] = (seconds, float(numbers["value"]))
    return of_methods


def front_of(results: Results, task: Task, of_methods: Mapping[str, Point]) -> list[str]:
    """Return the methods on the Pareto front of a task, given the point of each method.

    The list is empty if neither large nor small values of the leading metric are better.
    """
    sign = load_metric(leading_metric(results, task)).sign
    signed = {method: (seconds, sign * value) for method, (seconds, value) in of_methods.items()}
    return front(signed) if sign else []


def front(of_methods: Mapping[str, Point]) -> list[str]:
    """Return the methods on the Pareto front, given the seconds and the metric of each method.

    A method is on the front unless another method is at least as good in both respects and better in one. Fewer seconds
    and larger values of the metric are better.

    >>> front({"slow": (9.0, 0.5), "fast": (1.0, 0.4), "worse": (2.0, 0.3), "slower": (9.5, 0.5)})
    ['slow', 'fast']
    """

    def beaten(method: str) -> bool:
        seconds, value = of_methods[method]
        return any(
            rival[0] <= seconds and rival[1] >= value and rival != (seconds, value) for rival in of_methods.values()
        )

    return [method for method in of_methods if not beaten(method)]
