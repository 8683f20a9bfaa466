"""Statements that the numbers of a row are above those of others, or near them.

They stand as `<metric>_above_<rivals>` and `<metric>_near_<rivals>` in the row of a method.

The value quotes the statement. `metrics` stands for every metric that the row prints. Rivals are `all` other rows, the
`baselines` (rows whose names do not begin with the paper's), a row, or else the rows whose names end with the word. A
word in place of the method compares each row that ends with it with its counterpart: `threshold` above `topk` holds
`warp_threshold` against `warp_topk`. A word that ends with an underscore compares each row that begins with it with the
one `without`: `s_` above `without` holds `s_x_ent` against `x_ent`. A statement with the protocol of a metric is about
numbers of this protocol only.

There is one finding for each statement. It agrees if all cells bear it out, or most of them where the quote says "most
cases" or "many cases". If the quote says "all datasets" or "all three datasets", a data set without the metric counts
against it. What else has to be true for a contradiction stands at the end of the statement's note, after "contradicts
only if".
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from vsebench.papers.audit.checks.counts import count
from vsebench.papers.audit.checks.metrics import beside, harmonic_mean
from vsebench.papers.audit.checks.one_label import Z, standard_error
from vsebench.papers.audit.findings import Finding, names, note_and_condition, verdict
from vsebench.papers.audit.printed import Interval, rounded
from vsebench.papers.published import PrintedCell, PrintedCells

ABOVE, NEAR, OVERALL, SAME_DECISION = "above", "near", "overall F1", "same decision"
STATEMENT = re.compile(r"([\w@]+?)_(above|near)_(\w+)")
MOST = re.compile(r"(most|many) cases")
EVERYWHERE = re.compile(r"all (three )?datasets")
ANY = "metrics"
RANKED = ("held_out_images", "leave_one_out", "regions", "zero_shot", "cross_corpus")
TIMED = ("per_iteration", "per_epoch", "to_convergence")
# How many times another number one can be that is said to be near it; generous, so that what is beyond is not near.
NEAR_TIME, NEAR_METRIC = Fraction(2), Fraction(11, 10)


@dataclass(frozen=True)
class Score:
    """A metric of a method on a data set, with the cells that it is read from."""

    sources: tuple[PrintedCell, ...]
    metric: str
    interval: Interval
    shown: str

    @property
    def dataset(self) -> str:
        return self.sources[0].dataset

    @property
    def method(self) -> str:
        return self.sources[0].row.split("/")[1]


@dataclass(frozen=True)
class Comparison:
    """The score that a statement is about, and the best of its rivals."""

    own: Score
    rival: Score

    @property
    def holds(self) -> bool:
        return self.own.interval.high > self.rival.interval.low

    @property
    def ahead(self) -> bool:
        """Whether the printed numbers are in the stated order, not equal."""
        return self.holds and self.own.shown != self.rival.shown

    @property
    def near(self) -> bool:
        limit = NEAR_TIME if self.own.sources[0].protocol in TIMED else NEAR_METRIC
        own, rival = self.own.interval, self.rival.interval
        return own.low <= rival.high * limit and rival.low <= own.high * limit

    def show_ratio(self) -> str:
        own, rival = self.own, self.rival
        ratio = f"{float(own.shown) / float(rival.shown):.2f} times" if float(rival.shown) else "more than"
        return f"{own.dataset} {own.metric}: {own.method} {own.shown}, {ratio} {rival.method}'s {rival.shown}"

    def show(self) -> str:
        sign = "<" if not self.holds else ">" if self.ahead else "="
        own, rival = self.own, self.rival
        return f"{own.dataset} {own.metric}: {own.method} {own.shown} {sign} {rival.method} {rival.shown}"


def _statements(cells: PrintedCells, relation: str = ABOVE) -> Iterator[tuple[PrintedCell, str, str]]:
    """Yield each statement of a relation with its metric and its rivals."""
    for cell in cells.all:
        found = STATEMENT.fullmatch(cell.column)
        if found and cell.is_words and found[2] == relation:
            yield cell, found[1], found[3]


def above(cells: PrintedCells) -> Iterator[Finding]:
    """Check that the numbers of a row are above those of its rivals."""
    for statement, metric, rivals in _statements(cells):
        found = list(comparisons(statement, rivals, scores_of(cells, statement, metric)))
        if not found:
            continue
        missing = datasets_without(cells, statement, metric) if EVERYWHERE.search(statement.value) else []
        listed = [each for each in found if metric != ANY or not each.ahead]
        remarks = [each.show() + by_chance(cells, each) for each in listed]
        remarks += [f"{dataset}: no {metric}" for dataset in missing]
        yield judge_statement(ABOVE, statement, found, [each.holds for each in found], len(missing), remarks)


def near(cells: PrintedCells) -> Iterator[Finding]:
    """Check that the numbers of a row are near those of its rivals: a time within a factor of 2, a metric of 1.1."""
    for statement, metric, rivals in _statements(cells, NEAR):
        found = list(comparisons(statement, rivals, scores_of(cells, statement, metric)))
        if found:
            remarks = ["near: a time at most 2 times the other, a metric at most 1.1 times"]
            remarks += [each.show_ratio() for each in found if not each.near]
            yield judge_statement(NEAR, statement, found, [each.near for each in found], 0, remarks)


def overall_f1(cells: PrintedCells) -> Iterator[Finding]:
    """Check a statement on macro F1 once more with overall F1, of OV-P and OV-R, which no paper has to print."""
    for statement, metric, rivals in _statements(cells):
        found = list(comparisons(statement, rivals, list(overall_scores(cells, statement.paper))))
        if metric == "macro_f1" and found:
            rule = "the same with F1 = 2 OV-P OV-R / (OV-P + OV-R), which the paper does not print"
            remarks = [rule, *(each.show() for each in found)]
            yield judge_statement(OVERALL, statement, found, [each.holds for each in found], 0, remarks)


def same_decision(cells: PrintedCells) -> Iterator[Finding]:
    """Check which part of a "large margin" over the baselines is left with the decision of the best of them.

    Where that is `<loss>_<decision>`, the paper's own row with the same decision is `<paper>_<decision>`.
    """
    for statement, metric, rivals in _statements(cells):
        scores = [score for score in printed_scores(cells, statement.paper) if score.metric == metric]
        if rivals == "baselines" and "large margin" in statement.value:
            for found in comparisons(statement, rivals, scores):
                own = f"{statement.paper}_{found.rival.method.rpartition('_')[2]}"
                for same in scores:
                    if (same.dataset, same.method) == (found.own.dataset, own):
                        yield parts_of_margin(statement, found, same)


def parts_of_margin(statement: PrintedCell, found: Comparison, same: Score) -> Finding:
    """Return how much of a margin a row with the rival's decision has."""
    own, rival, with_same = (Fraction(score.shown) for score in (found.own, found.rival, same))
    return Finding(
        paper=statement.paper,
        table=statement.table,
        cells=names([statement, *found.own.sources, *found.rival.sources, *same.sources]),
        check=SAME_DECISION,
        published=f"{float(own - rival):.1f} ahead",
        recomputed=f"{float(with_same - rival):.1f} ahead",
        verdict=verdict(Comparison(same, found.rival).holds),
        explanation=f"{Comparison(same, found.rival).show()}: so much comes with the loss; {found.own.method} has "
        f"{found.own.shown}, so {float(own - with_same):.1f} come with its decision",
    )


def judge_statement(
    check: str,
    statement: PrintedCell,
    found: Sequence[Comparison],
    holds: Sequence[bool],
    missing: int,
    remarks: Sequence[str],
) -> Finding:
    """Return what the cells say about a statement; `missing` cells, which are not printed, count against it."""
    most = MOST.search(statement.value)
    holding, all_cells = sum(holds), len(found) + missing
    sources = [cell for each in found for cell in (*each.own.sources, *each.rival.sources)]
    note, condition = note_and_condition(statement)
    quote = f'"{statement.value}"' + (f" ({note})" if note else "")
    agrees = 2 * holding > all_cells if most else holding == all_cells
    return Finding(
        paper=statement.paper,
        table=statement.table,
        cells=names([statement, *sources]),
        check=check,
        published=f"most of {all_cells}" if most else f"all {all_cells}",
        recomputed=f"{holding} of {all_cells}",
        verdict=verdict(agrees, condition),
        explanation="; ".join([quote, *remarks]),
        condition="" if agrees else condition,
    )


def comparisons(statement: PrintedCell, rivals: str, scores: Sequence[Score]) -> Iterator[Comparison]:
    """Yield each score that a statement is about with the best of its rivals."""
    is_row = any(score.method == rivals for score in scores)
    groups: dict[tuple[str, str, str], list[Score]] = {}
    for score in scores:
        groups.setdefault((score.dataset, score.metric, score.sources[0].unit), []).append(score)
    for group in groups.values():
        for own in group:
            if is_meant(statement, own.method):
                others = [score for score in group if is_rival(statement, own.method, rivals, score.method)]
                if is_row and own.method == statement.row:  # not the rows whose names end with it
                    others = [score for score in others if score.method == rivals]
                if others:
                    yield Comparison(own, max(others, key=lambda score: score.interval.low))


def is_meant(statement: PrintedCell, method: str) -> bool:
    """Return whether a statement is about a row."""
    if statement.row.endswith("_"):
        return method.startswith(statement.row)
    return method == statement.row or method.endswith(f"_{statement.row}")


def is_rival(statement: PrintedCell, own: str, rivals: str, method: str) -> bool:
    """Return whether a statement holds one row against another."""
    if statement.row.endswith("_"):
        return method == own.removeprefix(statement.row)
    if own != statement.row:
        return method == own.removesuffix(statement.row) + rivals
    if rivals == "all":
        return method != own
    if rivals == "baselines":
        return not method.startswith(statement.paper)
    return method != own and (method == rivals or method.endswith(f"_{rivals}"))


def scores_of(cells: PrintedCells, statement: PrintedCell, metric: str) -> list[Score]:
    """Return the scores that a statement on a metric is about, those of its rivals among them."""
    return [
        score
        for score in printed_scores(cells, statement.paper)
        if (score.metric == metric or (metric == ANY and score.sources[0].protocol in RANKED))
        and (statement.protocol not in RANKED or score.sources[0].protocol == statement.protocol)
    ]


def printed_scores(cells: PrintedCells, paper: str) -> list[Score]:
    """Return the metrics and times in a paper's tables; of one that is printed twice, the first."""
    found: dict[tuple[str, str], Score] = {}
    for cell in cells.numbers(r"\w+(@\d+)?"):
        if cell.paper == paper and cell.protocol in RANKED + TIMED and cell.row.count("/") == 1 and not cell.in_text:
            score = Score((cell,), cell.column, rounded(cell.value), cell.value)
            found.setdefault((cell.row, cell.column), score)
    return list(found.values())


def overall_scores(cells: PrintedCells, paper: str) -> Iterator[Score]:
    """Yield F1 of each row's overall precision and recall."""
    for score in printed_scores(cells, paper):
        (precision,) = score.sources
        recall = beside(cells, precision, "ov_recall")
        if score.metric == "ov_precision" and recall:
            f1 = harmonic_mean(precision, recall)
            yield Score((precision, recall), OVERALL, f1, f"{float(f1.low + f1.high) / 2:.1f}")


def datasets_without(cells: PrintedCells, statement: PrintedCell, metric: str) -> list[str]:
    """Return the data sets for which the statement's row prints other metrics, but not this one."""
    own = [score for score in printed_scores(cells, statement.paper) if score.method == statement.row]
    there = {score.dataset for score in own if score.metric == metric}
    return [dataset for dataset in dict.fromkeys(score.dataset for score in own) if dataset not in there]


def by_chance(cells: PrintedCells, found: Comparison) -> str:
    """Return a remark if a share of the test images is ahead by less than 1.96 binomial standard errors."""
    (own,), (rival,) = found.own.sources, found.rival.sources
    images = cells.find(own.paper, own.dataset, "test_images")
    if not found.ahead or own.column != "exact_match" or own.unit != "percent" or images is None:
        return ""
    error = 100 * float(Z) * standard_error(own.number, rival.number, float(count(images).low))
    gap = float(own.value) - float(rival.value)
    return f" (by {gap:.1f}, less than 1.96 standard errors, {error:.2f})" if gap < error else ""
