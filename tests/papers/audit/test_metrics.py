"""Checks of metrics of one row, of ratios, and of models that print the same numbers."""

from fractions import Fraction
from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.papers.audit.made_up import accuracies, findings, percents, verdicts
from vsebench.papers.audit.checks.metrics import f1_over_images
from vsebench.papers.audit.printed import Interval

LABELS = "p table1 d labels 1000 count data_statistics\n"


@pytest.mark.parametrize(("gain", "verdict"), [("9.17", "agrees"), ("9.71", "contradicts")])
def test_an_improvement_is_a_ratio_less_1(gain, verdict):
    lines = accuracies({"recall@5": "0.2869"}) + accuracies({"recall@5": "0.2628"}, "warp")
    assert verdicts("improvement", lines + f"p table1 d/warp/improve recall@5 {gain} percent") == [verdict]


TIMES = """
p table1 a/p training_time 7.1 hours to_convergence
p table1 a/warp training_time 35.65 hours to_convergence
p table1 b/p training_time 10.00 hours to_convergence
p table1 b/warp training_time 30.00 hours to_convergence
p table1 c/p training_time 10.00 hours to_convergence
p table1 c/warp training_time 40.00 hours to_convergence
"""


@pytest.mark.parametrize(("a", "b", "verdict"), [("5.02", "3.00", "agrees"), ("4.02", "2.00", "depends")])
def test_speed_ups_in_the_way_that_the_paper_counts(a, b, verdict):
    printed = zip("abc", (a, b, "7.00"), strict=True)
    lines = TIMES + "\n".join(f"p table1 {d}/warp/accelerate speedup {n} times to_convergence" for d, n in printed)
    assert verdicts("speed-up", lines) == ["agrees", "agrees", "contradicts"]
    assert verdicts("counting", lines) == [verdict]


@pytest.mark.parametrize(("times", "verdict"), [("5", "agrees"), ("6", "contradicts")])
def test_a_method_that_takes_n_times_as_long(times, verdict):
    assert verdicts("speed-up", TIMES + f"p text a/warp time_over_p {times} times to_convergence") == [verdict]


@pytest.mark.parametrize(("recall", "verdict"), [("0.4183", "agrees"), ("0.4303", "contradicts")])
def test_recall_is_n_times_precision_only_with_one_held_out_label(recall, verdict):
    lines = accuracies({"precision@5": "0.0837", "recall@5": recall})
    assert verdicts("Recall = N x Precision", lines) == [verdict]
    assert verdicts("Recall = N x Precision", lines.replace("leave_one_out", "held_out_images")) == []


@pytest.mark.parametrize(("f1", "verdict"), [("46.5", "agrees"), ("45.8", "contradicts"), ("47.1", "contradicts")])
def test_the_f1_of_mean_precision_and_recall_over_labels_is_their_harmonic_mean(f1, verdict):
    """2 x 42 x 52 / 94 is 46.47; P and R before rounding allow 45.96 to 46.97, so 45.8 and 47.1 are impossible."""
    lines = percents({"pc_precision@5": "42", "pc_recall@5": "52", "macro_f1_of_means@5": f1})
    assert verdicts("F1 of means", lines) == [verdict]
    assert verdicts("F1 of means", lines.replace("pc_recall@5", "pc_recall@3")) == []


@pytest.mark.parametrize(
    ("metric", "low", "high"),
    # With Recall@5 = 0.3 and Recall@10 = 0.4, and with 1000 labels.
    [
        ("map@10", 0.3 / 5 + 0.1 / 10, 0.3 + 0.1 / 6),
        ("ndcg@10", 0.3 / log2(6) + 0.1 / log2(11), 0.3 + 0.1 / log2(7)),
        ("auc@10", 0.7 - (0.3 * 4 + 0.1 * 9) / 500, 0.7 - 0.1 * 5 / 1000),
    ],
)
def test_metrics_lie_between_the_bounds_of_the_recalls(metric, low, high):
    base = LABELS + accuracies({"recall@5": "0.300000", "recall@10": "0.400000"})
    outside = "depends" if metric == "auc@10" else "contradicts"  # an AUC of full rankings may be anywhere
    for value, verdict in ((low - 1e-4, outside), (low, "agrees"), (high, "agrees"), (high + 1e-4, outside)):
        assert verdicts(metric.upper(), base + accuracies({metric: f"{value:.6f}"})) == [verdict], value


def test_most_aucs_decide_whether_lists_are_cut():
    cut = {"recall@5": "0.3", "recall@10": "0.4", "auc@10": "0.7"}
    full = cut | {"auc@10": "0.95"}
    for second, verdict in ((cut, "agrees"), (full, "depends")):
        lines = LABELS + accuracies(cut) + accuracies(second, "a") + accuracies(full, "b")
        assert verdicts("AUC is cut", lines) == [verdict]
    assert verdicts("AUC@10", accuracies(cut)) == []  # no number of labels


OF_MEANS, OVER_IMAGES = "F1 is computed from mean P and R", "a mean over images"


@pytest.mark.parametrize(
    # 2 P R / (P + R) is 26.90 to 27.01 for rounded P and R; over images at most 26.89, since hits and labels differ.
    ("f1", "verdict", "condition"),
    [
        ("27.1", "contradicts", ""),
        ("27.0", "depends", f"F1 is {OVER_IMAGES}"),
        ("26.5", "depends", OF_MEANS),
        ("3.0", "depends", f"{OF_MEANS} or {OVER_IMAGES}"),
    ],
)
def test_f1_contradicts_only_if_it_does_however_it_is_averaged(f1, verdict, condition):
    (judged,) = findings("F1", percents({"precision@5": "21.1", "recall@5": "37.3", "f1@5": f1}))
    assert (judged.verdict, judged.condition) == (verdict, condition)


images_of_lists = st.lists(st.tuples(st.integers(1, 30), st.integers(0, 30)), min_size=1, max_size=30)


@given(images_of_lists, st.integers(1, 12), st.integers(0, 3))
def test_a_mean_of_f1_over_any_images_never_contradicts(images, k, digits):
    hits = [(n, min(h, n, k)) for n, h in images]
    metrics = {
        f"precision@{k}": [Fraction(h, k) for n, h in hits],
        f"recall@{k}": [Fraction(h, n) for n, h in hits],
        f"f1@{k}": [Fraction(2 * h, k + n) for n, h in hits],
    }
    means = {name: f"{float(100 * sum(values) / len(values)):.{digits}f}" for name, values in metrics.items()}
    (judged,) = findings("F1", percents(means))
    assert judged.verdict == "agrees" or judged.condition == OF_MEANS


def test_f1_over_images_is_bounded_by_all_mixtures_of_images():
    # With lists of 1, P = R = 1/2 only if all images that are hit have 1 label.
    half = Interval(Fraction(1, 2), Fraction(1, 2))
    bounds = f1_over_images(half, half, 1)
    assert (float(bounds.low), float(bounds.high)) == pytest.approx((0.5, 0.5), abs=1e-6)
    # One hit in a list of 5 is P = 1/5, so that P is at least R / 5.
    assert f1_over_images(Interval(Fraction(1, 100), Fraction(1, 100)), half, 5) is None


def test_a_statement_that_f1_are_means_over_images_is_held_against_all_rows():
    lines = 'p text all averages "over images" text settings "section 4"\n'
    for method, f1 in (("a", "27.0"), ("b", "26.5")):
        lines += percents({"precision@5": "21.1", "recall@5": "37.3", "f1@5": f1}, f"d/{method}")
    (judged,) = findings("F1 by image", lines)
    assert (judged.published, judged.recomputed, judged.verdict) == ("all 2", "1 of 2", "contradicts")
    assert judged.cells == "text all averages; table1 d/a f1@5"


@pytest.mark.parametrize(("f1", "verdict"), [("20.0", "agrees"), ("26.8", "agrees"), ("26.9", "contradicts")])
def test_macro_f1_is_at_most_the_harmonic_mean(f1, verdict):
    lines = percents({"pc_precision": "21.2", "pc_recall": "36.3", "macro_f1": f1})
    assert verdicts("macro F1", lines) == [verdict]


ONE_LABEL = "p text all labels_per_image 1 count data_statistics\n"


@pytest.mark.parametrize(("first", "verdict"), [("21.00", "contradicts"), ("20.00", "agrees")])
def test_a_label_at_the_first_rank_is_among_the_first_ten(first, verdict):
    lines = percents({"precision@1": first, "precision@10": "2.00"})
    assert verdicts("precision@1", ONE_LABEL + lines) == [verdict]
    assert verdicts("precision@1", lines) == []  # without the statement that each image has one label


@pytest.mark.parametrize(
    # Half at the first rank, three tenths at the next nine, the rest below: 0.53 to 0.65 + 0.2 / 11.
    ("value", "verdict"),
    [("52.50", "contradicts"), ("53.00", "agrees"), ("66.80", "agrees"), ("66.90", "contradicts")],
)
def test_map_of_one_label_lies_between_its_bounds(value, verdict):
    lines = percents({"precision@1": "50.00", "precision@10": "8.000", "map": value})
    assert verdicts("MAP of one label", ONE_LABEL + lines) == [verdict]


@pytest.mark.parametrize(
    # 10,000 images, 50 %: the standard error of a difference is 0.71 points, 1.96 of them are 1.39.
    ("value", "verdict"),
    [("48.50", "agrees"), ("48.70", "depends")],
)
def test_a_difference_of_precisions_is_held_against_chance(value, verdict):
    lines = percents({"precision@1": "50.00"}) + percents({"precision@1": value}, "d/w")
    assert verdicts("beyond chance", ONE_LABEL + lines + "p table1 d test_images 10000 count") == [verdict]


def test_two_rows_with_mostly_equal_metrics_are_one_model():
    lines = percents({"precision@1": "4.03", "precision@10": "1.48", "map": "5.18"}, "d/a")
    again = percents({"precision@1": "4.03", "precision@10": "1.48", "map": "5.19"}, "d/b").replace("table1", "table2")
    assert verdicts("same cell twice", lines + again) == ["agrees", "agrees", "depends"]
    assert verdicts("same cell twice", lines + again.replace("4.03", "4.04")) == []


@pytest.mark.parametrize(
    ("k", "again", "expected"), [(128, "0.1", ["depends"]), (128, "0.2", ["agrees"]), (100, "0.1", [])]
)
def test_models_of_two_sizes_with_the_same_numbers(k, again, expected):
    lines = f"p text all factors 100 count\nq text all factors {k} count\n"
    lines += accuracies({"recall@5": "0.1", "map@10": "0.05"}, "m")
    lines += accuracies({"recall@5": again, "map@10": "0.05"}, "m", paper="q")
    assert verdicts("same numbers", lines) == expected


@pytest.mark.parametrize(
    # First 4.0, second 2.0: 3.0 with half of the first found, 2.5 with a quarter.
    ("value", "verdict"),
    [("2.50", "agrees"), ("2.60", "contradicts")],
)
def test_two_mixtures_give_one_second_neighbour(value, verdict):
    lines = percents({"precision@1": "4.00"}, "d/knn")
    lines += percents({"precision@1": "3.00", "first_found": "50"}, "d/half")
    lines += percents({"precision@1": value, "first_found": "25"}, "d/quarter")
    assert verdicts("second neighbour", lines) == [verdict]
