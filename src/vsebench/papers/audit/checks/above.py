"""Checks of statements that compare a method with its rivals (`statements` in a paper's YAML file).

The method is compared with its best rival, on each data set and in each metric. For statements about curves, it is
compared with every rival. `same_decision` yields one finding per comparison, and every other check yields one finding
per statement.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations

from vsebench.papers.audit.checks.counts import count
from vsebench.papers.audit.checks.metrics import harmonic_mean, same_row
from vsebench.papers.audit.checks.one_label import Z, standard_error
from vsebench.papers.audit.findings import Finding, report
from vsebench.papers.audit.printed import Interval, rounded
from vsebench.papers.published import PrintedCell, PrintedCells, PrintedStatement

OVERALL = "overall F1"
RANKED = ("held_out_images", "leave_one_out", "regions", "zero_shot", "cross_corpus")
TIMED = ("per_iteration", "per_epoch", "to_convergence")
# The largest ratios at which numbers count as near. They are generous, because a larger ratio contradicts the paper.
NEAR_TIME, NEAR_METRIC = Fraction(2), Fraction(11, 10)
NEAR = "near: times differ at most by a factor of 2, metrics by a factor of 1.1"


@dataclass(frozen=True)
class Score:
    """The value of a metric for a method on a data set, with the cells from which it follows."""

    sources: tuple[PrintedCell, ...]
    metric: str
    interval: Interval
    shown: str

    @property
    def dataset(self) -> str:
        return self.sources[0].dataset

    @property
    def method(self) -> str:
        return self.sources[0].method


@dataclass(frozen=True)
class Comparison:
    """The score of a method that a statement is about, and the score of its best rival."""

    own: Score
    rival: Score

    @property
    def holds(self) -> bool:
        return self.own.interval.high > self.rival.interval.low

    @property
    def ahead(self) -> bool:
        """Whether the method's printed number is larger than the rival's."""
        return self.holds and self.own.shown != self.rival.shown

    @property
    def near(self) -> bool:
        limit = NEAR_TIME if self.own.sources[0].protocol in TIMED else NEAR_METRIC
        own, rival = self.own.interval, self.rival.interval
        return own.low <= rival.high * limit and rival.low <= own.high * limit

    @property
    def lower(self) -> bool:
        return self.own.interval.low < self.rival.interval.low

    def show_ratio(self) -> str:
        own, rival = self.own, self.rival
        ratio = f"{float(own.shown) / float(rival.shown):.2f} times" if float(rival.shown) else "more than"
        return f"{own.dataset} {own.metric}: {own.method} {own.shown}, {ratio} {rival.method}'s {rival.shown}"

    def show(self) -> str:
        sign = "<" if not self.holds else ">" if self.ahead else "="
        own, rival = self.own, self.rival
        return f"{own.dataset} {own.metric}: {own.method} {own.shown} {sign} {rival.method} {rival.shown}"


def above(cells: PrintedCells) -> Iterator[Finding]:
    """Check that a method's numbers are above those of its rivals."""
    for statement in cells.stated("above"):
        compared = compare(statement, scores_of(cells, statement))
        # A number that is not printed cannot contradict a statement, so missing numbers are only listed.
        missing = missing_scores(cells, statement) if statement.quantifier == "all_datasets" else []
        listed = [each for each in compared if statement.metrics or not each.ahead]
        remarks = [*(each.show() + by_chance(cells, each) for each in listed), *missing]
        yield from judge_statement("above", statement, compared, [each.holds for each in compared], remarks)


@dataclass(frozen=True)
class Point:
    """A point of a method's curve: the precision and the recall on a data set, with one way to choose label sets."""

    precision: Score
    recall: Score

    def dominates(self, other: "Point") -> bool:
        """Return whether precision and recall are at least as high as those of `other`, whatever the rounding."""
        return not (Comparison(other.precision, self.precision).holds or Comparison(other.recall, self.recall).holds)

    def show(self) -> str:
        precision = self.precision
        return (
            f"{precision.dataset} {precision.method} {precision.metric} {precision.shown}, recall {self.recall.shown}"
        )


def curves(cells: PrintedCells) -> Iterator[Finding]:
    """Check statements that a method's curve is above the curves of its rivals.

    Each curve is represented by one point, the printed precision and recall. No rival's point may dominate the method's
    point, that is, be at least as high in both metrics. A method with a lower recall and a higher precision can have
    the higher curve, so a single metric does not decide.
    """
    for statement in cells.stated("curve"):
        points = points_of(cells, statement)
        pairs = [
            (own, rival)
            for own, rival in permutations(points, 2)
            if (own.precision.dataset, own.precision.metric) == (rival.precision.dataset, rival.precision.metric)
            and statement.is_about(own.precision.dataset, own.precision.method)
            and statement.are_rivals(own.precision.method, rival.precision.method)
        ]
        dominated = [(own, rival) for own, rival in pairs if rival.dominates(own)]
        if pairs:
            used = dict.fromkeys(point for pair in pairs for point in pair)
            sources = [cell for point in used for cell in (*point.precision.sources, *point.recall.sources)]
            shown = [f"{own.show()}; dominated by {rival.show()}" for own, rival in dominated]
            rule = "a rival dominates if its precision and recall with the same decision are both at least as high"
            yield report(
                "curve",
                [statement, *sources],
                published="no rival dominates",
                recomputed=f"{len(dominated)} of {len(pairs)} dominate",
                agrees=not dominated,
                explanation="; ".join([statement.quoted, rule, *shown]),
            )


def points_of(cells: PrintedCells, statement: PrintedStatement) -> list[Point]:
    """Pair each precision with the recall of the same kind in the same row, such as OV-P with OV-R."""
    points = []
    for precision in scores_of(cells, statement):
        (source,) = precision.sources
        recall = same_row(cells, source, precision.metric.replace("precision", "recall"))
        if "precision" in precision.metric and recall:
            points.append(Point(precision, Score((recall,), recall.column, rounded(recall.value), recall.value)))
    return points


def near(cells: PrintedCells) -> Iterator[Finding]:
    """Check that times are within a factor of 2 of the rivals' times, and metrics within a factor of 1.1.

    These factors are our choice, so a larger factor is a contradiction only if the paper means the same factors.
    Numbers that are too low and numbers that are too high are listed separately, because only low metrics and long
    times are to a method's disadvantage.
    """
    for statement in cells.stated("near"):
        compared = compare(statement, scores_of(cells, statement))
        far = [each for each in compared if not each.near]
        lower, higher = ([each.show_ratio() for each in far if each.lower == low] for low in (True, False))
        remarks = [NEAR]
        remarks += [f"{len(lower)} lower", *lower] if lower else []
        remarks += [f"{len(higher)} higher", *higher] if higher else []
        holds = [each.near for each in compared]
        yield from judge_statement("near", statement, compared, holds, remarks, statement.condition or NEAR)


def overall_f1(cells: PrintedCells) -> Iterator[Finding]:
    """Check statements about macro F1 again with the F1 of the overall precision (OV-P) and overall recall (OV-R)."""
    for statement in cells.stated("above"):
        if statement.metrics == ["macro_f1"]:
            compared = compare(statement, list(overall_scores(cells, statement.paper)))
            rule = "the same comparison with F1 = 2 OV-P OV-R / (OV-P + OV-R), which the paper does not print"
            remarks = [rule, *(each.show() for each in compared)]
            holds = [each.holds for each in compared]
            condition = statement.condition or "the sentence means this F1, which is not printed"
            yield from judge_statement(OVERALL, statement, compared, holds, remarks, condition)


def same_decision(cells: PrintedCells) -> Iterator[Finding]:
    """Check that the paper's own method is still ahead if it uses the same decision as the best rival.

    The decision is the way to choose a set of labels by their scores.
    """
    for statement in cells.stated("above"):
        scores = scores_of(cells, statement)
        for each in compare(statement, scores):
            own = statement.same_decision.get(each.rival.method)
            for same in scores:
                if (same.dataset, same.method) == (each.own.dataset, own):
                    yield part_of_margin(statement, each, same)


def part_of_margin(statement: PrintedStatement, compared: Comparison, same: Score) -> Finding:
    """Return a finding that says how much of the lead remains if the paper's method uses the rival's decision."""
    own, rival, with_same = (Fraction(score.shown) for score in (compared.own, compared.rival, same))
    remaining = Comparison(same, compared.rival)
    return report(
        "same decision",
        [statement, *compared.own.sources, *compared.rival.sources, *same.sources],
        published=f"{float(own - rival):.1f} ahead",
        recomputed=f"{float(with_same - rival):.1f} ahead",
        agrees=remaining.holds,
        explanation=f"{remaining.show()}: this part of the lead is due to the loss; {compared.own.method} has "
        f"{compared.own.shown}, so {float(own - with_same):.1f} of the lead is due to its decision",
        condition="the paper means that the lead is due to the loss, and not to the decision",
    )


def judge_statement(
    check: str,
    statement: PrintedStatement,
    compared: Sequence[Comparison],
    holds: Sequence[bool],
    remarks: list[str],
    condition: str = "",
) -> Iterator[Finding]:
    """Yield the finding on a statement, unless `compared` is empty."""
    if compared:
        most = statement.quantifier == "most"
        yield report(
            check,
            [statement, *(cell for each in compared for cell in (*each.own.sources, *each.rival.sources))],
            published=f"{'most of' if most else 'all'} {len(holds)}",
            recomputed=f"{sum(holds)} of {len(holds)}",
            agrees=2 * sum(holds) > len(holds) if most else all(holds),
            explanation="; ".join([statement.quoted, *remarks]),
            condition=condition,
        )


def compare(statement: PrintedStatement, scores: Sequence[Score]) -> list[Comparison]:
    """Pair each score that a statement is about with the best score of a rival."""
    groups: dict[tuple[str, str, str], list[Score]] = {}
    for score in scores:
        groups.setdefault((score.dataset, score.metric, score.sources[0].unit), []).append(score)
    return [
        Comparison(own, max(rivals, key=lambda score: score.interval.low))
        for group in groups.values()
        for own in group
        if statement.is_about(own.dataset, own.method)
        and (rivals := [score for score in group if statement.are_rivals(own.method, score.method)])
    ]


def scores_of(cells: PrintedCells, statement: PrintedStatement) -> list[Score]:
    """Return the scores in the metrics that a statement is about."""
    return [
        score
        for score in printed_scores(cells, statement.paper)
        if (score.metric in statement.metrics if statement.metrics else score.sources[0].protocol in RANKED)
        and statement.protocol in (None, score.sources[0].protocol)
    ]


def printed_scores(cells: PrintedCells, paper: str) -> list[Score]:
    """Return the metrics and times in a paper's tables; a number printed several times is returned only once."""
    scores: dict[tuple[str, str], Score] = {}
    for cell in cells.numbers(r"\w+(@\d+)?"):
        if cell.paper == paper and cell.protocol in RANKED + TIMED and cell.row.count("/") == 1 and not cell.in_text:
            score = Score((cell,), cell.column, rounded(cell.value), cell.value)
            scores.setdefault((cell.row, cell.column), score)
    return list(scores.values())


def overall_scores(cells: PrintedCells, paper: str) -> Iterator[Score]:
    """Yield the F1 of the overall precision and recall of each row."""
    for score in printed_scores(cells, paper):
        (precision,) = score.sources
        recall = same_row(cells, precision, "ov_recall")
        if score.metric == "ov_precision" and recall:
            f1 = harmonic_mean(precision, recall)
            yield Score((precision, recall), OVERALL, f1, f"{float(f1.low + f1.high) / 2:.1f}")


def missing_scores(cells: PrintedCells, statement: PrintedStatement) -> list[str]:
    """Return, in words, which metrics of a statement are missing on data sets for which other metrics are printed."""
    scores = [score for score in printed_scores(cells, statement.paper) if score.method in statement.rows]
    printed = {(score.dataset, score.metric) for score in scores}
    datasets = dict.fromkeys(score.dataset for score in scores)
    return [
        f"{data}: {name} not printed"
        for data in datasets
        for name in statement.metrics or []
        if (data, name) not in printed
    ]


def by_chance(cells: PrintedCells, compared: Comparison) -> str:
    """Return a remark if a lead in exact match may be due to chance, or else an empty text.

    A lead may be due to chance if it is less than 1.96 binomial standard errors.
    """
    (ours,), (rival,) = compared.own.sources, compared.rival.sources
    images = cells.find(ours.paper, ours.dataset, "test_images")
    if not compared.ahead or ours.column != "exact_match" or ours.unit != "percent" or images is None:
        return ""
    error = 100 * float(Z) * standard_error(ours.number, rival.number, float(count(images).low))
    gap = float(ours.value) - float(rival.value)
    return f" (by {gap:.1f}, which is less than 1.96 standard errors = {error:.2f})" if gap < error else ""
