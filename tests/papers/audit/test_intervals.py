"""Printed numbers, the values that they can stand for, and what follows from rounded numbers."""

from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from fractions import Fraction
from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.papers.audit.made_up import accuracies, cells, findings, percents, verdicts
from vsebench.papers.audit.checking import audit
from vsebench.papers.audit.printed import Interval, exact, roughly, rounded


@given(
    st.decimals(0, 1000, places=9),
    st.decimals(Decimal("0.01"), 1000, places=9),
    st.integers(2, 8),
    st.integers(2, 8),
    st.sampled_from([ROUND_HALF_UP, ROUND_HALF_EVEN]),
)
def test_what_follows_from_unrounded_values_lies_in_the_interval_of_the_printed_ones(a, b, digits_a, digits_b, way):
    x, y = (
        rounded(str(value.quantize(Decimal(1).scaleb(-digits), way)))
        for value, digits in ((a, digits_a), (b, digits_b))
    )
    a, b = Fraction(a), Fraction(b)
    for interval, truth in ((x + y, a + b), (x - y, a - b), (x * y, a * b), (x / y, a / b), (x / y - 1, a / b - 1)):
        assert interval.low <= truth <= interval.high


@given(st.integers(1, 10**7), st.integers(0, 6))
def test_a_round_number_of_the_text_can_stand_for_what_it_was_rounded_from(number, zeros):
    printed = str(round(number, -zeros))
    assert roughly(printed).low <= number <= roughly(printed).high or printed == "0"


def test_bounds_that_just_meet_agree_and_exact_ones_do_not():
    assert rounded("0.430").meets(rounded("0.431"))
    assert not exact("0.430").meets(exact("0.431"))
    assert not rounded("0.430").meets(rounded("0.432"))
    assert (rounded("1.0") / rounded("0.0")).meets(exact("5"))  # anything can follow


def test_intervals_are_shown_with_the_digits_that_matter():
    assert Interval(Fraction(1, 3), Fraction(2, 3)).show(3) == "0.333 to 0.667"
    assert exact("7").show(3) == "7"
    assert (exact("1") / exact("0")).show(2) == "any number"


ranks = st.lists(st.integers(1, 60), min_size=1, max_size=40)


def printed_metrics(ranks: list[int], positives: int, digits: int) -> dict[str, str]:
    """Return the metrics of one held-out label per image at these ranks among 100 labels, as a paper prints them."""

    def mean(gain) -> str:
        value = sum((Fraction(gain(rank)) for rank in ranks), Fraction(0)) / len(ranks)
        return f"{float(value):.{digits}f}"

    metrics = {"map@10": mean(lambda r: Fraction(r <= 10, r)), "ndcg@10": mean(lambda r: (r <= 10) / log2(r + 1))}
    metrics["auc@10"] = mean(lambda r: 1 - Fraction(r - 1, 100 - positives) if r <= 10 else Fraction(1, 2))
    for n in (5, 10):
        metrics[f"recall@{n}"] = mean(lambda r, n=n: r <= n)
        metrics[f"precision@{n}"] = mean(lambda r, n=n: Fraction(r <= n, n))
    return metrics


@given(ranks, ranks, st.integers(1, 50), st.integers(1, 6))
def test_rounded_truth_never_contradicts(own, other, positives, digits):
    lines = "p table1 d labels 100 count data_statistics\n"
    lines += accuracies(printed_metrics(own, positives, digits))
    lines += accuracies(printed_metrics(other, positives, digits), "baseline")
    for n in (5, 10):
        shares = [Fraction(sum(rank <= n for rank in ranks), len(ranks)) for ranks in (own, other)]
        if shares[1]:
            gain = f"{float(100 * (shares[0] / shares[1] - 1)):.2f}"
            lines += f"p table1 d/baseline/improve recall@{n} {gain} percent leave_one_out\n"
    found = audit(cells(lines))
    assert len(found) >= 11
    assert [each for each in found if each.verdict != "agrees"] == []


@given(st.lists(st.tuples(st.integers(0, 100), st.integers(0, 100)), min_size=1, max_size=20), st.integers(0, 3))
def test_macro_f1_of_any_classes_agrees(classes, digits):
    precision, recall = zip(*classes, strict=True)
    f1 = [2 * p * r / (p + r) if p + r else 0.0 for p, r in classes]
    sums = {"pc_precision": sum(precision), "pc_recall": sum(recall), "macro_f1": sum(f1)}
    means = {name: f"{value / len(classes):.{digits}f}" for name, value in sums.items()}
    assert verdicts("macro F1", percents(means)) == ["agrees"]


@given(st.floats(0.1, 1e4), st.floats(0.1, 1e4), st.sampled_from([0, 1]), st.integers(1, 4))
def test_a_speed_up_of_rounded_times_agrees_in_the_way_it_is_counted(slow, fast, less, digits):
    if slow / fast < less or round(fast, digits) == 0:
        return
    lines = f"""
        p table1 d/p training_time {fast:.{digits}f} hours to_convergence
        p table1 d/b training_time {slow:.{digits}f} hours to_convergence
        p table1 d/b/accelerate speedup {slow / fast - less:.2f} times to_convergence"""
    assert verdicts("speed-up", lines) == ["agrees"]


@pytest.mark.parametrize(
    ("first", "again", "unit", "verdict"),
    [
        ("table1 d m 2.12", "text d m 2", "seconds", "agrees"),
        ("table1 d m 43.6", "text d m 43", "seconds", "depends"),  # cut off
        ("table1 d m 43.6", "text d m 42", "seconds", "contradicts"),
        ("table1 d m 5.18", "table2 d m 5.19", "percent", "contradicts"),
        ("table1 d m 9861293", "text d m 10000000", "count", "agrees"),
        ("table1 d m 5108", "text d m 5018", "count", "contradicts"),
    ],
)
def test_repeated_numbers(first, again, unit, verdict):
    assert verdicts("repeated", f"p {first} {unit}\np {again} {unit}") == [verdict]


@pytest.mark.parametrize(
    ("first", "words"),
    [("table4", "table 4"), ("supplement_table1", "supplement table 1"), ("figure4", "figure 4"), ("text", "the text")],
)
def test_a_number_is_said_to_be_as_in_the_table_that_prints_it_first(first, words):
    (finding,) = findings("repeated", f"p {first} d m 5.18 percent\np table9 d m 5.18 percent")
    assert finding.explanation == f"as in {words}"
