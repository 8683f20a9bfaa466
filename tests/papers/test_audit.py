"""The audit of the published numbers: each check on tiny papers, rounding, and what it finds in the real ones."""

from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from fractions import Fraction
from math import log2
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vsebench.cli import main
from vsebench.core.errors import UserError
from vsebench.papers.audit.checking import audit, choose, find_checks
from vsebench.papers.audit.findings import VERDICTS, Finding, read_findings, summarise
from vsebench.papers.audit.lists import f1_over_images
from vsebench.papers.audit.printed import Interval, exact, roughly, rounded
from vsebench.papers.published import COLUMNS, PrintedCell, PrintedCells, read_published

PUBLISHED = Path(__file__).parents[2] / "config" / "papers"


def cell(line: str, note: str = "") -> PrintedCell:
    """Make a cell of "paper table row column value unit [protocol]"."""
    paper, table, row, column, value, unit, *protocol = line.split()
    return PrintedCell(paper, table, row, column, value, unit, *(protocol or ["settings"]), note)


def found(lines: str, check: str) -> list[tuple[str, str]]:
    """Return the judged cells and the verdicts of one check on a tiny set of papers."""
    cells = PrintedCells(tuple(cell(line) for line in lines.strip().splitlines()))
    return [(each.cells.split("; ")[0], each.verdict) for each in audit(cells) if each.check == check]


def findings(lines: str, check: str) -> list[Finding]:
    """Return what one check finds on a tiny set of papers."""
    cells = PrintedCells(tuple(cell(line) for line in lines.strip().splitlines()))
    return [each for each in audit(cells) if each.check == check]


def row(values: dict[str, str], method: str = "p", paper: str = "p", data: str = "d") -> str:
    lines = [f"{paper} table1 {data}/{method} {name} {value} 1 leave_one_out" for name, value in values.items()]
    return "\n".join(lines) + "\n"


# Numbers and their rounding


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


ranks = st.lists(st.integers(1, 60), min_size=1, max_size=40)


def printed_metrics(places: list[int], positives: int, labels: int, digits: int) -> dict[str, str]:
    """Return the metrics of one held-out label an image at these ranks, as a paper would print them."""

    def mean(gain) -> str:
        value = sum((Fraction(gain(place)) for place in places), Fraction(0)) / len(places)
        return f"{float(value):.{digits}f}"

    others = labels - positives
    metrics = {"map@10": mean(lambda r: Fraction(r <= 10, r)), "ndcg@10": mean(lambda r: (r <= 10) / log2(r + 1))}
    metrics["auc@10"] = mean(lambda r: 1 - Fraction(r - 1, others) if r <= 10 else Fraction(1, 2))
    for n in (5, 10):
        metrics |= {
            f"recall@{n}": mean(lambda r, n=n: r <= n),
            f"precision@{n}": mean(lambda r, n=n: Fraction(r <= n, n)),
        }
    return metrics


@given(ranks, ranks, st.integers(1, 50), st.integers(1, 6))
def test_rounded_truth_never_contradicts(own, other, positives, digits):
    lines = "p table1 d labels 100 count data_statistics\n"
    truths = [printed_metrics(places, positives, 100, digits) for places in (own, other)]
    lines += row(truths[0]) + row(truths[1], "baseline")
    for metric in truths[0]:
        hits = [sum(place <= int(metric.split("@")[1]) for place in places) * len(other_places)
                for places, other_places in ((own, other), (other, own))]  # fmt: skip
        if metric.startswith("recall") and hits[1]:
            gain = f"{100 * (hits[0] / hits[1] - 1):.2f}"
            lines += f"p table1 d/baseline/improve {metric} {gain} percent leave_one_out\n"
    cells = PrintedCells(tuple(cell(line) for line in lines.strip().splitlines()))
    findings = audit(cells)
    assert len(findings) >= 11
    assert [each for each in findings if each.verdict != "agrees"] == []


@given(st.lists(st.tuples(st.integers(0, 100), st.integers(0, 100)), min_size=1, max_size=20), st.integers(0, 3))
def test_macro_f1_of_any_classes_agrees(classes, digits):
    f1 = [2 * p * r / (p + r) if p + r else 0.0 for p, r in classes]
    means = {
        name: f"{sum(values) / len(classes):.{digits}f}"
        for name, values in (
            ("pc_precision", [p for p, _ in classes]),
            ("pc_recall", [r for _, r in classes]),
            ("macro_f1", f1),
        )
    }
    lines = "\n".join(f"p table1 d/m {name} {value} percent held_out_images" for name, value in means.items())
    assert found(lines, "macro F1") == [("table1 d/m macro_f1", "agrees")]


@given(st.floats(0.1, 1e4), st.floats(0.1, 1e4), st.sampled_from([0, 1]), st.integers(1, 4))
def test_a_speed_up_of_rounded_times_agrees_in_the_way_it_is_counted(slow, fast, less, digits):
    speedup = slow / fast - less
    if speedup < 0 or round(fast, digits) == 0:
        return
    lines = f"""
        p table1 d/p training_time {fast:.{digits}f} hours to_convergence
        p table1 d/b training_time {slow:.{digits}f} hours to_convergence
        p table1 d/b/accelerate speedup {speedup:.2f} times to_convergence"""
    assert found(lines, "speed-up") == [("table1 d/b/accelerate speedup", "agrees")]


# Each check on tiny papers


def test_improvements():
    lines = row({"recall@5": "0.2869"}) + row({"recall@5": "0.2628"}, "warp")
    assert found(lines + "p table1 d/warp/improve recall@5 9.17 percent", "improvement")[0][1] == "agrees"
    assert found(lines + "p table1 d/warp/improve recall@5 9.71 percent", "improvement")[0][1] == "contradicts"
    assert found(lines + "p text d/warp/improve recall@5 9 percent", "improvement")[0][1] == "agrees"
    assert found(lines + "p text improve recall@5 9 percent", "improvement") == []


TIMES = """
p table1 a/p training_time 7.1 hours to_convergence
p table1 a/warp training_time 35.65 hours to_convergence
p table1 b/p training_time 10.00 hours to_convergence
p table1 b/warp training_time 30.00 hours to_convergence
p table1 c/p training_time 10.00 hours to_convergence
p table1 c/warp training_time 40.00 hours to_convergence
"""


@pytest.mark.parametrize(
    ("a", "b", "c", "verdict"), [(5.02, "3.00", "7.00", "agrees"), (4.02, "2.00", "7.00", "depends")]
)
def test_speed_ups_in_the_way_that_the_paper_counts(a, b, c, verdict):
    lines = (
        TIMES
        + f"""p table1 a/warp/accelerate speedup {a} times to_convergence
        p table1 b/warp/accelerate speedup {b} times to_convergence
        p table1 c/warp/accelerate speedup {c} times to_convergence"""
    )
    assert [each[1] for each in found(lines, "speed-up")] == ["agrees", "agrees", "contradicts"]
    assert found(lines, "counting") == [("table1 speedup (all 3)", verdict)]


def test_a_method_that_takes_n_times_as_long():
    assert found(TIMES + "p text a/warp time_over_p 5 times to_convergence", "speed-up")[0][1] == "agrees"
    assert found(TIMES + "p text a/warp time_over_p 6 times to_convergence", "speed-up")[0][1] == "contradicts"


def test_recall_is_n_times_precision_only_with_one_held_out_label():
    assert found(row({"precision@5": "0.0837", "recall@5": "0.4183"}), "Recall = N x Precision") == [
        ("table1 d/p recall@5", "agrees")
    ]
    assert found(row({"precision@5": "0.0869", "recall@5": "0.4303"}), "Recall = N x Precision") == [
        ("table1 d/p recall@5", "contradicts")
    ]
    several = row({"precision@5": "0.0869", "recall@5": "0.4303"}).replace("leave_one_out", "held_out_images")
    assert found(several, "Recall = N x Precision") == []


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
    base = "p table1 d labels 1000 count data_statistics\n" + row({"recall@5": "0.300000", "recall@10": "0.400000"})
    outside = "depends" if metric == "auc@10" else "contradicts"  # an AUC of full rankings may be anywhere
    for value, verdict in ((low - 1e-4, outside), (low, "agrees"), (high, "agrees"), (high + 1e-4, outside)):
        assert found(base + row({metric: f"{value:.6f}"}), metric.upper()) == [(f"table1 d/p {metric}", verdict)], value


def test_most_aucs_decide_whether_lists_are_cut():
    base = "p table1 d labels 1000 count data_statistics\n"
    cut, full = (
        {"recall@5": "0.3", "recall@10": "0.4", "auc@10": "0.7"},
        {"recall@5": "0.3", "recall@10": "0.4", "auc@10": "0.95"},
    )
    assert found(base + row(cut) + row(cut, "a") + row(full, "b"), "AUC is cut")[0][1] == "agrees"
    assert found(base + row(cut) + row(full, "a") + row(full, "b"), "AUC is cut")[0][1] == "contradicts"
    assert found(row(cut), "AUC@10") == []  # no number of labels


OF_MEANS, OVER_IMAGES = "F1 is that of the mean P and R", "a mean over images"


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
    lines = "\n".join(
        f"p table2 d/m {name}@5 {value} percent zero_shot"
        for name, value in (("precision", "21.1"), ("recall", "37.3"), ("f1", f1))
    )
    (judged,) = findings(lines, "F1")
    assert (judged.verdict, judged.condition) == (verdict, condition)


images_of_lists = st.lists(st.tuples(st.integers(1, 30), st.integers(0, 30)), min_size=1, max_size=30)


@given(images_of_lists, st.integers(1, 12), st.integers(0, 3))
def test_a_mean_of_f1_over_any_images_never_contradicts(images, k, digits):
    hits = [(n, min(h, n, k)) for n, h in images]
    means = {
        "precision": [Fraction(h, k) for n, h in hits],
        "recall": [Fraction(h, n) for n, h in hits],
        "f1": [Fraction(2 * h, k + n) for n, h in hits],
    }
    lines = "\n".join(
        f"p table1 d/m {name}@{k} {float(100 * sum(values) / len(values)):.{digits}f} percent"
        for name, values in means.items()
    )
    (judged,) = findings(lines, "F1")
    assert judged.verdict == "agrees" or judged.condition == OF_MEANS


def test_f1_over_images_is_bounded_by_all_mixtures_of_images():
    # With lists of 1, P = R = 1/2 only if all images that are hit have 1 label.
    half = Interval(Fraction(1, 2), Fraction(1, 2))
    bounds = f1_over_images(half, half, 1)
    assert float(bounds.low) == pytest.approx(0.5, abs=1e-6)
    assert float(bounds.high) == pytest.approx(0.5, abs=1e-6)
    # One hit in a list of 5 is P = 1/5, so that P is at least R / 5.
    assert f1_over_images(Interval(Fraction(1, 100), Fraction(1, 100)), half, 5) is None


def test_a_statement_that_f1_are_means_over_images_is_held_against_all_rows():
    rows = "".join(
        f"p table1 d/{method} precision@5 21.1 percent\np table1 d/{method} recall@5 37.3 percent\n"
        f"p table1 d/{method} f1@5 {f1} percent\n"
        for method, f1 in (("a", "27.0"), ("b", "26.5"))
    )
    cells = [cell(line) for line in rows.splitlines()]
    cells.append(PrintedCell("p", "text", "all", "averages", "over images", "text", "settings", "section 4"))
    (judged,) = [each for each in audit(PrintedCells(tuple(cells))) if each.check == "F1 by image"]
    assert (judged.published, judged.recomputed, judged.verdict) == ("all 2", "1 of 2", "contradicts")
    assert judged.cells == "text all averages; table1 d/a f1@5"


@pytest.mark.parametrize(("f1", "verdict"), [("20.0", "agrees"), ("26.8", "agrees"), ("26.9", "contradicts")])
def test_macro_f1_is_at_most_the_harmonic_mean(f1, verdict):
    values = (("pc_precision", "21.2"), ("pc_recall", "36.3"), ("macro_f1", f1))
    lines = "\n".join(f"p table2 d/m {name} {value} percent held_out_images" for name, value in values)
    assert found(lines, "macro F1") == [("table2 d/m macro_f1", verdict)]


PAIRS = """
p table1 d images 1000 count
p table1 d labels 200 count
p table1 d train_pairs 6500 count
p table1 d test_pairs 1000 count
"""


def test_one_held_out_pair_an_image():
    assert found(PAIRS, "test pairs") == [("table1 d test_pairs", "agrees")]
    assert found(PAIRS.replace("test_pairs 1000", "test_pairs 1001"), "test pairs")[0][1] == "contradicts"


@pytest.mark.parametrize(
    ("mean", "verdict"), [("8", "agrees"), ("7", "agrees"), ("6", "contradicts"), ("7.5", "agrees")]
)
def test_labels_an_image_are_pairs_by_images(mean, verdict):
    assert found(PAIRS + f"p text d labels_per_image {mean} count", "mean labels") == [
        ("text d labels_per_image", verdict)
    ]


def test_other_labels_of_an_image():
    lines = PAIRS + "p table1 d positive_labels_per_image 8 count\np table1 d non_positive_labels_per_image 192 count\n"
    assert found(lines, "labels") == [("table1 d labels", "agrees")]
    assert found(lines.replace(" 192 ", " 182 "), "labels") == [("table1 d labels", "contradicts")]
    # 192 / 8 is 24, but 200 labels at 7.5 an image are 25.7 others for each.
    verdicts = [
        verdict for _, verdict in found(lines + "p table1 d non_positives_per_positive 24 times", "other labels")
    ]
    assert verdicts == ["agrees", "depends"]
    (_, judged) = findings(lines + "p table1 d non_positives_per_positive 24 times", "other labels")
    assert judged.condition == "it is a ratio of exact means; it follows from the rounded ones above it"
    # 30 follows from neither.
    verdicts = [
        verdict for _, verdict in found(lines + "p table1 d non_positives_per_positive 30 times", "other labels")
    ]
    assert verdicts == ["contradicts", "contradicts"]


@pytest.mark.parametrize(("mean", "verdict"), [("4", "agrees"), ("7.5", "contradicts")])
def test_a_label_of_several_regions_counts_once_where_the_distinct_pairs_were_measured(mean, verdict):
    measured = "p text d distinct_pairs 4100 count\np text d labelled_images 1000 count\n"
    assert found(PAIRS + measured + f"p text d labels_per_image {mean} count", "mean labels") == [
        ("text d labels_per_image", verdict)
    ]


@pytest.mark.parametrize(("again", "verdicts"), [("0.1", ["contradicts"]), ("0.2", [])])
def test_numbers_of_labels_of_two_papers_are_compared_where_they_share_accuracies(again, verdicts):
    lines = "p table1 d labels 5108 count\nq table1 d labels 5018 count\n"
    lines += row({"recall@5": "0.1"}, "m") + row({"recall@5": again}, "m", paper="q")
    assert [verdict for _, verdict in found(lines, "labels")] == verdicts


def test_a_vocabulary_that_was_cut():
    lines = "p text d labels 432213 count\n"
    assert found(lines + "p text d labels_after_cut 432000 count", "labels")[0][1] == "agrees"
    assert found(lines + "p text d labels_after_cut 423000 count", "labels")[0][1] == "contradicts"


def test_sampled_pairs_and_images_of_the_parts():
    assert found(PAIRS + "p text d sampled_pairs 7500 count", "pairs")[0][1] == "agrees"
    assert found(PAIRS + "p text d sampled_pairs 1000 count", "pairs")[0][1] == "contradicts"
    parts = "p text d train_images 700 count\np text d test_images 290 count\n"
    assert found(parts + "p table1 d images 1000 count", "images")[0][1] == "agrees"
    assert found(parts + "p table1 d images 900 count", "images")[0][1] == "contradicts"


def test_trials_and_weights():
    assert found(PAIRS + "p text d/warp trials 199 count", "trials")[0][1] == "agrees"
    assert found(PAIRS + "p text d/warp trials 201 count", "trials")[0][1] == "depends"
    assert "names no limit" in findings(PAIRS + "p text d/warp trials 201 count", "trials")[0].condition
    layer = "p text d labels 432213 count\np text all word_vector_dimension 300 count\n"
    assert found(layer + "p text d final_layer_weights 130000000 count", "weights")[0][1] == "agrees"
    assert found(layer + "p text d final_layer_weights 43000000 count", "weights")[0][1] == "contradicts"


@pytest.mark.parametrize(("iterations", "verdict"), [(200, "agrees"), (360, "depends")])
def test_iterations_follow_from_two_papers_times_of_the_same_data(iterations, verdict):
    lines = "p table1 d/m training_time 2.00 hours to_convergence\n"
    lines += "q table1 d/m iteration_time 36.00 seconds per_iteration\n"
    lines += f"p text m iterations {iterations} count to_convergence\n"
    assert found(lines, "iterations") == []
    shared = row({"recall@5": "0.1"}, "m") + row({"recall@5": "0.1"}, "m", paper="q")
    assert found(lines + shared, "iterations") == [("text m iterations", verdict)]
    other = "p table1 e/m training_time 9.00 hours to_convergence\n"
    (judged,) = findings(lines + shared + other, "iterations")
    assert judged.verdict == verdict
    assert ("it is of d," in judged.condition and "for e no time" in judged.condition) == (verdict == "depends")


@pytest.mark.parametrize(("single", "verdict"), [("0.86", "agrees"), ("0.90", "contradicts")])
def test_seconds_an_image(single, verdict):
    lines = f"""
        p table1 d test_images 100000 count
        p table6 d/m test_time 1.00 days test_time
        p text d/m test_time_per_image {single} seconds test_time"""
    assert found(lines, "time per image") == [("text d/m test_time_per_image", verdict)]


@pytest.mark.parametrize(
    # Y + d grows from 2000 to 4000; Y alone three times, d not at all.
    ("large", "verdict"),
    [("20", "agrees"), ("30", "depends"), ("10", "depends"), ("60", "contradicts"), ("8", "contradicts")],
)
def test_memory_grows_as_its_formula(large, verdict):
    lines = f"""
        p table1 a labels 1000 count
        p table1 b labels 3000 count
        p table1 a train_images 10 count
        p table1 b train_images 10 count
        p text all features 1000 count
        p text all features_per_image 10 count
        p table6 a/m memory 10 MB memory
        p table6 b/m memory {large} MB memory"""
    formula = PrintedCell("p", "table6", "m", "space_complexity", "O((Y + d) D)", "formula", "complexity", "")
    cells = PrintedCells((*(cell(line) for line in lines.strip().splitlines()), formula))
    assert [(each.cells.split("; ")[0], each.verdict) for each in audit(cells) if each.check == "memory"] == [
        ("table6 b/m memory", verdict)
    ]


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
    lines = f"p {first} {unit}\np {again} {unit}"
    assert [each[1] for each in found(lines, "repeated")] == [verdict]


def test_more_than_is_a_lower_bound():
    first = cell("p table1 d labels 5108 count")
    for value, verdict in (("5000", "agrees"), ("6000", "contradicts")):
        again = cell(f"p text d labels {value} count", note="data sets; more than")
        assert [each.verdict for each in audit(PrintedCells((first, again)))] == [verdict]


@pytest.mark.parametrize(
    ("k", "again", "verdicts"), [(128, "0.1", ["contradicts"]), (128, "0.2", ["agrees"]), (100, "0.1", [])]
)
def test_models_of_two_sizes_with_the_same_numbers(k, again, verdicts):
    lines = f"p text all factors 100 count\nq text all factors {k} count\n"
    lines += row({"recall@5": "0.1", "map@10": "0.05"}, "m") + row(
        {"recall@5": again, "map@10": "0.05"}, "m", paper="q"
    )
    assert [verdict for _, verdict in found(lines, "same numbers")] == verdicts


ONE_LABEL = "p text all labels_per_image 1 count data_statistics\n"


@pytest.mark.parametrize(("first", "verdict"), [("0.2100", "contradicts"), ("0.2000", "agrees")])
def test_a_label_at_the_first_place_is_among_the_first_ten(first, verdict):
    lines = f"p table1 d/m precision@1 {first} 1\np table1 d/m precision@10 0.0200 1"
    assert found(ONE_LABEL + lines, "precision@1") == [("table1 d/m precision@1", verdict)]
    assert found(lines, "precision@1") == []  # without the statement that each image has one label


@pytest.mark.parametrize(
    # Half at the first place, three tenths at the next nine, the rest below: 0.53 to 0.65 + 0.2 / 11.
    ("value", "verdict"),
    [("0.5250", "contradicts"), ("0.5300", "agrees"), ("0.6680", "agrees"), ("0.6690", "contradicts")],
)
def test_map_of_one_label_lies_between_its_bounds(value, verdict):
    lines = "p table1 d/m precision@1 0.5000 1\np table1 d/m precision@10 0.08000 1\n"
    assert found(ONE_LABEL + lines + f"p table1 d/m map {value} 1", "MAP of one label") == [("table1 d/m map", verdict)]


@pytest.mark.parametrize(
    # 10,000 images, 50 %: the standard error of a difference is 0.71 points, 1.96 of them are 1.39.
    ("value", "verdict"),
    [("48.50", "agrees"), ("48.70", "contradicts")],
)
def test_a_difference_of_precisions_is_held_against_chance(value, verdict):
    lines = "p table1 d test_images 10000 count\np table1 d/m precision@1 50.00 percent\n"
    lines += f"p table1 d/w precision@1 {value} percent"
    assert found(ONE_LABEL + lines, "beyond chance") == [("table1 d/w precision@1", verdict)]


@pytest.mark.parametrize(
    ("formula", "value", "verdict"),
    [
        ("O(Yd)", "8.0", "agrees"),  # 2^20 labels x 1024 features x 8 bytes
        ("O(Yd)", "4.0", "agrees"),
        ("O(Yd)", "6.0", "depends"),
        ("O(nd_nz)", "12.0", "agrees"),  # 2^30 entries, each with its index
        ("O((Y+d)D)", "0.8", "agrees"),  # (2^20 + 2^10) x 100 x 8 bytes
        ("O((Y+d)D)", "0.6", "depends"),
    ],
)
def test_memory_follows_from_its_formula(formula, value, verdict):
    words = {"O(Yd)": "O(Y d)", "O(nd_nz)": "O(n d_nz)", "O((Y+d)D)": "O((Y + d) D)"}
    lines = f"p text d train_images {2**23} count\np text d labels {2**20} count\np text all features 1024 count\n"
    lines += "p text all features_per_image 128 count\np text m factors 100 count\n"
    lines += f"p table6 d/m memory {value} GB"
    cells = [cell(line) for line in lines.splitlines()]
    cells.append(PrintedCell("p", "table6", "m", "space_complexity", words[formula], "formula", "complexity", ""))
    findings = audit(PrintedCells(tuple(cells)))
    assert [each.verdict for each in findings if each.check == "memory by formula"] == [verdict]


@pytest.mark.parametrize(("value", "verdict"), [("60", "agrees"), ("54", "agrees"), ("50", "contradicts")])
def test_a_test_time_grows_with_the_work_of_a_test_set(value, verdict):
    lines = "p text all features 9 count\np text all features_per_image 9 count\n"
    for data, labels, images in (("a", 10, 100), ("b", 30, 200)):  # six times the work
        lines += f"p table1 {data} labels {labels} count\np table1 {data} train_images 5 count\n"
        lines += f"p table1 {data} test_images {images} count\n"
    lines += f"p table6 a/m test_time 10.00 hours\np table6 b/m test_time {value}.00 hours"
    cells = [cell(line) for line in lines.splitlines()]
    cells.append(PrintedCell("p", "table6", "m", "time_complexity", "O(Y d_nz)", "formula", "complexity", ""))
    findings = audit(PrintedCells(tuple(cells)))
    assert [each.verdict for each in findings if each.check == "one rate"] == [verdict]


@pytest.mark.parametrize(("size", "verdict"), [("1250", "agrees"), ("1300", "agrees"), ("1450", "contradicts")])
def test_a_leaf_has_a_power_of_two_of_the_images(size, verdict):
    lines = f"p table1 d train_images 10001 count\np text d/tree leaf_images {size} count\n"
    assert found(lines, "leaves") == [("text d/tree leaf_images", verdict)]


@pytest.mark.parametrize(("days", "verdict"), [("13", "agrees"), ("20", "contradicts")])
def test_a_search_in_an_eighth_takes_an_eighth_of_the_time(days, verdict):
    lines = "p table1 d train_images 8001 count\np text d/tree leaf_images 1000 count\n"
    lines += f"p text d/tree test_time {days} days\np text d/knn test_time 100 days"
    assert found(lines, "time of a leaf") == [("text d/tree test_time", verdict)]


@pytest.mark.parametrize(("size", "verdict"), [("100", "agrees"), ("300", "contradicts")])
def test_accuracy_and_cost_are_of_one_size(size, verdict):
    lines = f"p text d/m factors {size} count\np text m factors 100 count\np table6 d/m test_time 5.6 hours"
    assert found(lines, "one size") == [("text d/m factors", verdict)]


def test_two_rows_with_mostly_equal_metrics_are_one_model():
    lines = "p table1 d/a precision@1 4.03 percent\np table1 d/a precision@10 1.48 percent\n"
    lines += "p table1 d/a map 5.18 percent\np table2 d/b precision@1 4.03 percent\n"
    lines += "p table2 d/b precision@10 1.48 percent\np table2 d/b map 5.19 percent\n"
    assert found(lines, "same cell twice") == [
        ("table2 d/b precision@1", "agrees"),
        ("table2 d/b precision@10", "agrees"),
        ("table2 d/b map", "contradicts"),
    ]
    assert (
        found(lines.replace("p table2 d/b precision@1 4.03", "p table2 d/b precision@1 4.04"), "same cell twice") == []
    )


@pytest.mark.parametrize(("rival", "verdict"), [("4.03", "agrees"), ("4.25", "contradicts")])
def test_the_method_that_is_called_the_best_has_the_highest_number(rival, verdict):
    lines = "p table1 d/own precision@1 4.03 percent\np table1 d/own_500 precision@1 9 percent\n"
    lines += f"p table2 d/x precision@1 {rival} percent\n"
    assert found(lines + "p text own best all text", "best of all") == [("table1 d/own precision@1", verdict)]
    assert found(lines, "best of all") == []


def test_a_list_of_labels_has_each_of_them_once():
    lists = [PrintedCell("p", "table3", f"d/{n}", "nearest_labels", words, "text", "examples", "")
             for n, words in enumerate(["*a b*, **c**", "c, *c*"])]  # fmt: skip
    findings = audit(PrintedCells(tuple(lists)))
    assert [each.verdict for each in findings if each.check == "listed once"] == ["agrees", "contradicts"]


@pytest.mark.parametrize(
    # First 4.0, second 2.0: 3.0 with half of the first found, 2.5 with a quarter.
    ("value", "verdict"),
    [("2.50", "agrees"), ("2.60", "contradicts")],
)
def test_two_mixtures_give_one_second_neighbour(value, verdict):
    lines = "p text d/knn precision@1 4.00 percent\np text d/half first_found 50 percent\n"
    lines += "p text d/half precision@1 3.00 percent\np text d/quarter first_found 25 percent\n"
    lines += f"p text d/quarter precision@1 {value} percent"
    assert found(lines, "second neighbour") == [("text d/half precision@1", verdict)]


# The real papers


@pytest.fixture(scope="module")
def real(tmp_path_factory):
    out = tmp_path_factory.mktemp("audit") / "audit.csv"
    assert main(["audit", "--papers", *map(str, sorted(PUBLISHED.glob("*.yaml"))), "--out", str(out)]) == 0
    return read_findings(out)


KNOWN = """
vse_fs | table4 openimages/vse_fs recall@5 | Recall = N x Precision | 0.4303
vse_fs | table4 flickr/vse_fs recall@5 | Recall = N x Precision | 0.6323
vse_fs | table4 flickr/opt_auc recall@5 | Recall = N x Precision | 0.5039
vse_fs | table4 iapr/vse_fs recall@10 | Recall = N x Precision | 0.4413
vse_ens | table1 iapr test_pairs | test pairs | 20000
vse_ens | text iapr labels_per_image | mean labels | 5.7
vse_ens | table1 iapr labels | labels | 291
vse_ens | table1 nuswide labels | labels | 5108
vse_ens | text nuswide/warp/accelerate speedup | speed-up | 2.06
vse_fs | table3 openimages/warp/accelerate speedup | speed-up | 32.24
vse_fs | text openimages sampled_pairs | pairs | 1500000
vse_fs | table4 nuswide/vse_ens (6 metrics) | same numbers | k = 128
vse_fs | table4 nuswide/warp (6 metrics) | same numbers | k = 128
vse_fs | table4 nuswide/opt_auc (6 metrics) | same numbers | k = 128
vse_fs | table4 iapr/warp (6 metrics) | same numbers | k = 128
wsabie | table7 imagenet/wsabie_300 sibling_precision@10 | repeated | 5.18
wsabie | table4 imagenet/wsabie_300 sibling_precision@10 | same cell twice | 5.19
wsabie | text imagenet/wsabie factors | one size | 300
wsabie | table2 imagenet/wsabie precision@1 | best of all | 4.03
wsabie | table3 webdata/f18 nearest_labels | listed once | 8 labels
wsabie | table8 webdata/image3/wsabie top_labels | listed once | 10 labels
sampled_tagging | text yfcc100m final_layer_weights | weights | 43000000
sampled_tagging | text yfcc100m labels_after_cut | labels | 423000
vse_fs | text vse_ens metrics_above_warp | above | all 28
vse_fs | text opt_auc iteration_time_near_vse_fs | near | all 4
vse_fs | text vse_fs not_always_larger | terms | not always above 1
vse_fs | text table3 datasets | data sets | 3
vse_fs | text all datasets_in_vse_ens | cited data sets | 3 data sets
vse_ens | text openimages/warp trials | trials by time | 2100
vse_ens | text nuswide/warp trials | trials by time | 900
vse_ens | text iapr/warp trials | trials by time | 1600
sampled_tagging | table2 nuswide_925_to_1006/x_ent f1@5 | F1 | 16.3
sampled_tagging | text all averages | F1 by image | all 59
sampled_tagging | text s_ f1@5_near_without | near | all 20
sampled_tagging | text equation4 identity | identity | equal
"""
# What contradicts only under a condition, and words of the condition.
CONDITIONAL = """
vse_fs | table1 openimages non_positives_per_positive | other labels | 934 | the rounded ones above it
vse_fs | table1 nuswide non_positives_per_positive | other labels | 626 | the rounded ones above it
vse_fs | table1 iapr non_positives_per_positive | other labels | 68 | the rounded ones above it
vse_fs | table4 iapr/vse_fs auc@10 | AUC@10 | 0.7242 | a list cut at 10
vse_fs | table3 speedup (all 16) | counting | ratio - 1 | read as a gain
vse_ens | text iapr/warp trials | trials | 1600 | the text names no limit
vse_ens | text warp iterations | iterations | 150 | for openimages no time of an iteration is printed
wsabie | table6 imagenet/wsabie memory | memory by formula | 12 | Y D alone with 8 bytes gives 12.2 MB
wsabie | table6 webdata/wsabie memory | memory by formula | 82 | Y D alone with 8 bytes gives 83.5 MB
wsabie | table6 webdata/wsabie memory | memory | 82 | Y D alone gives 78.9 to 85.8
wsabie | table6 imagenet/approx_knn memory | memory by formula | 7 | leaves constant factors open
wsabie | table6 webdata/approx_knn memory | memory by formula | 27 | leaves constant factors open
sampled_tagging | text nuswide_925/fast0tag epoch_time | repeated | 43 | the text rounds
sampled_tagging | table2 nuswide_925_to_1006/opt_x_ent f1@5 | F1 | 16.1 | that of the mean P and R
sampled_tagging | table2 nuswide_925_to_81/s_x_ent f1@5 | F1 | 22.9 | that of the mean P and R
sampled_tagging | supplement_table1 mscoco/avg_wv f1@5 | F1 | 44.0 | that of the mean P and R
sampled_tagging | supplement_table1 mscoco/correlated_wv f1@5 | F1 | 48.4 | that of the mean P and R
sampled_tagging | supplement_table1 mscoco/s_opt_x_ent f1@5 | F1 | 53.2 | a mean over images
sampled_tagging | table1 nuswide_925/s_x_ent epoch_time | rate of the network | 1.94 | of the printed network
sampled_tagging | text s_opt_x_ent f1@5_above_fast0tag | above | all 2 | S+Opt+X-Ent is the final algorithm
sampled_tagging | text espgame labels | labels | 288 | those of the files
sampled_tagging | text all search_terms | repeated | 6 | the scan lost none
wsabie | text wsabie_100 metrics_near_wsabie_300 | near | all 4 | within 1.1 times
sampled_tagging | text yfcc100m epoch_time | flat cost | 3 | near three
wsabie | text imagenet/wsabie_100_200_300 test_time_below_pamir_ia | ensemble | below 17 hours | one full matrix
wsabie | text wsabie mean_rank_weights | defined | a number at j = 1 | the scan has it right
"""


@pytest.mark.parametrize("line", KNOWN.strip().splitlines())
def test_known_contradictions_are_found(real, line):
    paper, judged, check, published = line.split(" | ")
    verdicts = [
        each.verdict
        for each in real
        if (each.paper, each.cells.split("; ")[0], each.check, each.published) == (paper, judged, check, published)
    ]
    assert "contradicts" in verdicts


@pytest.mark.parametrize("line", CONDITIONAL.strip().splitlines())
def test_what_can_be_read_in_another_way_depends_on_it(real, line):
    paper, judged, check, published, words = line.split(" | ")
    (found,) = [
        each
        for each in real
        if (each.paper, each.cells.split("; ")[0], each.check, each.published) == (paper, judged, check, published)
        and each.verdict != "agrees"
    ]
    assert found.verdict == "depends"
    assert words in found.condition


def test_every_verdict_that_depends_says_on_what_and_no_other_does(real):
    assert [each for each in real if (each.verdict == "depends") != bool(each.condition)] == []


def test_positive_labels_of_saiapr_are_counted_as_a_set(real):
    found = [each for each in real if each.cells.startswith("table1 iapr positive_labels_per_image")]
    assert [(each.check, each.published, each.recomputed, each.verdict) for each in found] == [
        ("mean labels", "4", "4.1", "agrees")
    ]


def test_what_is_known_to_hold_is_not_accused(real):
    contradicting = {(each.paper, each.check) for each in real if each.verdict == "contradicts"}
    always = ("improvement", "MAP@10", "NDCG@10", "AUC is cut", "macro F1", "time per image", "precision@1")
    always += ("MAP of one label", "beyond chance", "one rate", "leaves", "time of a leaf", "overall F1")
    for check in (*always, "same decision", "labels per list", "exact match of top k", "exact match of counts"):
        assert not [paper for paper, name in contradicting if name == check]
    assert {paper for paper, _ in contradicting} == {"lsep", "vse_ens", "vse_fs", "wsabie", "sampled_tagging"}


def test_eighteen_of_nineteen_distinct_rows_have_the_auc_of_a_cut_list(real):
    rows = {}
    for each in real:
        if each.check == "AUC@10":
            name = each.cells.split("; ")[0].split()[1]
            rows[name.split("/")[1], name.split("/")[0], each.published] = each.verdict
    assert len(rows) == 19
    assert sorted(rows.values()) == ["agrees"] * 18 + ["depends"]


def test_every_improvement_and_speed_up_is_judged(real):
    cells = read_published(sorted(PUBLISHED.glob("*.csv"))).all
    for check, ending, but in (("improvement", "/improve", 1), ("speed-up", "/accelerate", 0)):
        printed = [each for each in cells if each.row.endswith(ending)]
        judged = [each for each in real if each.check == check and ending in each.cells.split("; ")[0]]
        assert len(judged) == len(printed) - but  # one gain has no printed base


VERDICT_COUNTS = {"agrees": 551, "depends": 35, "contradicts": 51}


def test_the_counts_are_those_of_the_findings(real):
    numbers = summarise(real)
    assert numbers == {"checks": 637, "cells": numbers["cells"], "papers": 5} | VERDICT_COUNTS
    assert numbers["cells"] == len({(each.paper, each.cells.split("; ")[0]) for each in real}) < 630


# Which checks apply


def test_checks_are_found_by_their_names():
    families = find_checks()
    assert list(families) == sorted(families)
    assert "f1_scores" in families["metrics"]
    assert not [name for checks in families.values() for name in checks if name.startswith("_")]
    assert "count" not in families["counts"]  # a helper: its parameter is one cell


def test_a_paper_chooses_checks_by_name_or_family():
    cells = PrintedCells(tuple(cell(line) for line in TWO_KINDS.strip().splitlines()))
    assert {each.check for each in audit(cells)} == {"F1", "test pairs"}
    for names, checks in ((["f1_scores"], {"F1"}), (["counts"], {"test pairs"}), ([], set())):
        assert {each.check for each in audit(cells, {"p": choose(names, "p.yaml: checks")})} == checks
    assert {each.check for each in audit(cells, {"another": set()})} == {"F1", "test pairs"}


TWO_KINDS = """
p table1 d/m precision@5 21.2 percent
p table1 d/m recall@5 36.3 percent
p table1 d/m f1@5 26.8 percent
p table1 d images 10 count
p table1 d test_pairs 9 count
"""


def test_an_unknown_check_is_told_with_file_and_key():
    with pytest.raises(UserError, match=r"^p\.yaml: checks: there is no check 'guess'; families are above, "):
        choose(["guess"], "p.yaml: checks")


# Faulty files

GOOD = "p,table1,d,images,10,count,data_statistics,\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: the columns must be paper,table,row"),
        ("paper,table\n", "line 1: the columns must be"),
        (None, "line 3: the cell p table1 d images is there already"),
        ("p,table1,d,images,ten,count,data_statistics,\n", "line 2, column value: 'ten' is not a plain number"),
        ("p,table1,d,images,\N{ARABIC-INDIC DIGIT ONE},count,data_statistics,\n", "line 2, column value:"),
        ("p,table1,d,images,nan,count,data_statistics,\n", "line 2, column value: 'nan' is not a plain number"),
        ("p,table1,d,images,,count,data_statistics,\n", "line 2, column value: is empty"),
        ("p,table1,,images,10,count,data_statistics,\n", "line 2, column row: is empty"),
        (
            "q,table1,d,images,10,count,data_statistics,\n",
            "line 2, column paper: is 'q', but the file is of the paper 'p'",
        ),
        ("p,table1,d,images,10,count\n", "line 2: 6 columns, but there must be 8"),
        ('p,table1,d,images,10,count,data_statistics,"open\n', "not a readable CSV file"),
        (b"\xff\xfe", "not a readable CSV file"),
    ],
)
def test_a_faulty_file_is_told_in_one_line(tmp_path, capsys, text, message):
    path = tmp_path / "p.csv"
    path.with_suffix(".yaml").write_text("{title: P, citation: none}")
    header = ",".join(COLUMNS) + "\n"
    if isinstance(text, bytes):
        path.write_bytes(text)
    elif text is None:
        path.write_text(header + GOOD + GOOD)
    else:
        path.write_text(text if "line 1" in message else header + text)
    assert main(["audit", "--papers", str(path.with_suffix(".yaml")), "--out", str(tmp_path / "audit.csv")]) == 1
    error = capsys.readouterr().err
    assert message in error
    assert str(path) in error
    assert error.count("\n") == 1
    assert not (tmp_path / "audit.csv").exists()


def test_a_missing_file_is_told_in_one_line(tmp_path, capsys):
    (tmp_path / "p.yaml").write_text("{title: P, citation: none}")
    assert main(["audit", "--papers", str(tmp_path / "p.yaml"), "--out", str(tmp_path / "audit.csv")]) == 1
    assert capsys.readouterr().err.endswith("p.csv: no such file\n")


NAMES = ["d", "d/p", "d/knn", "d/w/improve", "d/w/accelerate", "all", "w", "d/w"]
COUNTED = ["labels", "images", "trials", "test_pairs", "train_pairs", "labels_per_image", "iterations", "factors",
           "leaf_images", "first_found", "test_images", "train_images"]  # fmt: skip
MEASURED = [
    "recall@5",
    "precision@5",
    "recall@10",
    "auc@10",
    "map@10",
    "f1@5",
    "speedup",
    "training_time",
    "iteration_time",
    "test_time",
    "precision@1",
    "precision@10",
    "map",
]
odd_lines = st.tuples(
    st.sampled_from(["p", "q"]),
    st.sampled_from(["table1", "text"]),
    st.sampled_from(NAMES),
    st.sampled_from(COUNTED + MEASURED),
    st.sampled_from(["0", "0.0", "5", "0.5000", "1e-9", "300"]),
    st.sampled_from(["1", "count", "percent", "hours", "seconds", "times"]),
    st.sampled_from(["leave_one_out", "to_convergence"]),
)


@given(st.lists(odd_lines, max_size=60))
def test_odd_numbers_never_fail(lines):
    cells = {line[:4]: PrintedCell(*line, note="") for line in lines}
    assert {each.verdict for each in audit(PrintedCells(tuple(cells.values())))} <= set(VERDICTS)


def test_intervals_are_shown_with_the_digits_that_matter():
    assert Interval(Fraction(1, 3), Fraction(2, 3)).show(3) == "0.333 to 0.667"
    assert exact("7").show(3) == "7"
    assert (exact("1") / exact("0")).show(2) == "any number"


FILES = "p text d labels 288 count data_statistics\np text d labels_in_files {} count data_statistics"


@pytest.mark.parametrize(("in_files", "verdict"), [("288", "agrees"), ("268", "depends")])
def test_labels_of_the_label_files(in_files, verdict):
    assert found(FILES.format(in_files), "labels") == [("text d labels", verdict)]


ENSEMBLE = """
p text m factors 100 count settings
p table1 d/m test_time 5.6 hours test_time
p table1 d/full test_time {} hours test_time
p text d/m_100_200_300 test_time_below_full scalable text test_time
"""


@pytest.mark.parametrize(("full", "verdict"), [("40", "agrees"), ("17", "contradicts")])
def test_the_time_of_an_ensemble_is_that_of_its_members(full, verdict):
    (one,) = findings(ENSEMBLE.format(full), "ensemble")
    assert (one.verdict, one.recomputed) == (verdict, "33.3 to 33.9 hours")


FLAT = """
p text s cost_per_image O(P) formula per_epoch
p table1 small images 1000 count data_statistics
p table1 small/s epoch_time 1.0 seconds per_epoch
p text large images_by_name 10000000 count data_statistics
p text large images_with_that_mean 72 percent data_statistics
p text large epoch_time {} hours per_epoch
"""


@pytest.mark.parametrize(("time", "verdict"), [("2.0", "agrees"), ("3.0", "contradicts")])
def test_an_image_costs_the_same_on_every_data_set(time, verdict):
    """7.2 million images at a millisecond each are two hours."""
    assert found(FLAT.format(time), "flat cost") == [("text large epoch_time", verdict)]


@pytest.mark.parametrize(("formula", "verdict"), [("1/j", "agrees"), ("1/(j-1)", "contradicts")])
def test_weights_of_a_rank_have_a_value_at_the_first_place(formula, verdict):
    assert found(f"p text m rank_weights {formula} formula settings", "defined") == [("text m rank_weights", verdict)]
