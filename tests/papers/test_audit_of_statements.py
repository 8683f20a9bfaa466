"""Checks of statements in words and of rows that predict label sets: on tiny papers, and on the real one."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vsebench.papers.audit.checking import audit
from vsebench.papers.audit.findings import VERDICTS
from vsebench.papers.published import PrintedCell, PrintedCells, read_published

PUBLISHED = Path(__file__).parents[2] / "config" / "papers"


def cell(row, column, value, unit="percent", table="table1", note=""):
    return PrintedCell("own", table, row, column, value, unit, "held_out_images", note)


def statement(row, column, quote="it is best"):
    return PrintedCell("own", "text", row, column, quote, "text", "settings", "section 5")


def table(metric, **methods):
    """Make one cell for each method, with its values on the data sets d, e, .. in this order."""
    return [
        cell(f"{dataset}/{method}", metric, value)
        for method, values in methods.items()
        for dataset, value in zip("def", values.split(), strict=False)
    ]


def findings(check, *cells):
    return [each for each in audit(PrintedCells(cells)) if each.check == check]


def judged(check, *cells):
    return [(each.published, each.recomputed, each.verdict) for each in findings(check, *cells)]


def test_a_statement_that_holds_in_part_contradicts_and_says_where():
    cells = table("map", own="3.0 2.0", rival="2.0 2.5", other="1.0 2.2")
    (found,) = findings("above", *cells, statement("own", "map_above_all"))
    assert (found.published, found.recomputed, found.verdict) == ("all 2", "1 of 2", "contradicts")
    assert found.explanation == '"it is best" (section 5); d map: own 3.0 > rival 2.0; e map: own 2.0 < rival 2.5'
    assert found.cells.startswith("text own map_above_all; table1 d/own map; table1 d/rival map; table1 e/own map; ")


@pytest.mark.parametrize(("value", "verdict"), [("3.0", "agrees"), ("2.9", "contradicts")])
def test_equal_prints_cannot_contradict(value, verdict):
    cells = table("map", own=value, rival="3.0")
    assert judged("above", *cells, statement("own", "map_above_rival")) == [
        ("all 1", f"{int(verdict == 'agrees')} of 1", verdict)
    ]


def test_the_papers_own_variants_are_no_baselines():
    cells = table("map", own="3.0", own_longer="4.0", rival="2.0")
    assert judged("above", *cells, statement("own", "map_above_baselines"))[0][2] == "agrees"
    assert judged("above", *cells, statement("own", "map_above_all"))[0][2] == "contradicts"
    assert judged("above", *cells, statement("own", "map_above_own_longer"))[0][2] == "contradicts"
    assert judged("above", *cells, statement("own", "map_above_absent")) == []


@pytest.mark.parametrize(("value", "verdict"), [("2.8", "agrees"), ("2.5", "contradicts"), ("3.5", "contradicts")])
def test_near_is_a_tenth_of_a_metric(value, verdict):
    cells = table("f1@5", s_own=value, own="3.0", s_alone="9.0")
    assert judged("near", *cells, statement("s_", "f1@5_near_without")) == [
        ("all 1", f"{int(verdict == 'agrees')} of 1", verdict)
    ]


def test_near_is_twice_a_time_and_what_is_not_is_listed_with_its_ratio():
    cells = [
        PrintedCell("own", "table3", f"{data}/{method}", "iteration_time", value, unit, "per_iteration", "")
        for data, unit in (("d", "minutes"), ("e", "seconds"))
        for method, value in (("own", "2.0"), ("rival", "3.0" if data == "d" else "9.0"))
    ]
    (found,) = findings("near", *cells, statement("rival", "iteration_time_near_own"))
    assert (found.recomputed, found.verdict) == ("1 of 2", "contradicts")
    assert found.explanation.endswith("; e iteration_time: rival 9.0, 4.50 times own's 2.0")
    # Times are no metrics.
    assert findings("above", *cells, statement("rival", "metrics_above_own")) == []


def test_rows_with_a_beginning_are_held_against_the_rows_without_it():
    cells = table("recall@5", s_a="3.0", a="2.0", s_b="1.0", b="2.0", s_c="3.0", c="2.0")
    (found,) = findings("above", *cells, statement("s_", "recall@5_above_without", "better in many cases"))
    assert (found.published, found.recomputed, found.verdict) == ("most of 3", "2 of 3", "agrees")


def test_a_row_of_the_rivals_name_comes_before_rows_whose_names_end_with_it():
    cells = table("map", opt="3.0", s_opt="1.0", rival="2.0", s_rival="0.5")
    (found,) = findings("above", *cells, statement("opt", "map_above_rival"))
    assert (found.recomputed, found.verdict) == ("2 of 2", "agrees")
    assert "opt 3.0 > rival 2.0" in found.explanation
    assert "s_opt 1.0 > s_rival 0.5" in found.explanation


def test_a_statement_that_can_be_read_in_another_way_depends_on_its_reading():
    cells = table("map", own="1.0", rival="2.0")
    note = "abstract; contradicts only if own is the final method"
    quoted = PrintedCell("own", "text", "own", "map_above_rival", "best", "text", "settings", note)
    (found,) = findings("above", *cells, quoted)
    assert (found.verdict, found.condition) == ("depends", "own is the final method")
    assert found.explanation == '"best" (abstract); d map: own 1.0 < rival 2.0'


def test_a_statement_with_a_protocol_is_about_its_numbers_only():
    cells = table("map", own="1.0", rival="2.0")
    cells.append(PrintedCell("own", "text", "own", "map_above_rival", "best", "text", "zero_shot", ""))
    assert findings("above", *cells) == []


def test_rows_with_one_decision_are_held_against_each_other():
    cells = table("map", own_topk="3.0", a_topk="2.0", a_threshold="9.0") + table("f1", own_topk="3.0", a_topk="4.0")
    (found,) = findings("above", *cells, statement("own_topk", "metrics_above_topk"))
    assert (found.recomputed, found.verdict) == ("1 of 2", "contradicts")
    assert found.explanation == '"it is best" (section 5); d f1: own_topk 3.0 < a_topk 4.0'


@pytest.mark.parametrize(("quote", "verdict"), [("best in most cases", "agrees"), ("best", "contradicts")])
def test_each_row_is_held_against_its_counterpart(quote, verdict):
    cells = table("map", a_threshold="3.0 3.0", b_threshold="1.0", a_topk="2.0 2.0", b_topk="2.0")
    cells.append(statement("threshold", "map_above_topk", quote))
    assert [each[1:] for each in judged("above", *cells)] == [("2 of 3", verdict)]


def test_all_datasets_are_not_all_if_one_has_no_such_metric():
    cells = table("map", own="3.0", rival="2.0") + table("f1", own="3.0 3.0", rival="2.0 2.0")
    assert judged("above", *cells, statement("own", "map_above_all"))[0][2] == "agrees"
    (found,) = findings("above", *cells, statement("own", "map_above_all", "on all three datasets"))
    assert (found.recomputed, found.verdict) == ("1 of 2", "contradicts")
    assert found.explanation.endswith("; e: no map")


@pytest.mark.parametrize(("images", "by_chance"), [("50261", True), ("5026100", False)])
def test_a_lead_by_less_than_chance_is_told(images, by_chance):
    cells = [*table("exact_match", own="33.5", rival="33.4"), cell("d", "test_images", images, "count", "text")]
    (found,) = findings("above", *cells, statement("own", "exact_match_above_all"))
    assert found.verdict == "agrees"
    assert ("(by 0.1, less than 1.96 standard errors, 0.58)" in found.explanation) == by_chance


def test_macro_f1_is_read_as_overall_f1_too():
    cells = table("macro_f1", own="50.0", rival="40.0") + table("ov_precision", own="50.0", rival="60.0")
    cells += [*table("ov_recall", own="50.0", rival="60.0"), statement("own", "macro_f1_above_all")]
    assert judged("above", *cells)[0][2] == "agrees"
    (found,) = findings("overall F1", *cells)
    assert (found.recomputed, found.verdict) == ("0 of 1", "contradicts")
    assert found.explanation.endswith("d overall F1: own 50.0 < rival 60.0")


@pytest.mark.parametrize(("with_threshold", "verdict"), [("21.0", "agrees"), ("19.0", "contradicts")])
def test_the_part_of_a_margin_that_the_same_decision_keeps(with_threshold, verdict):
    cells = table("map", own="30.0", own_threshold=with_threshold, a_threshold="20.0", b_topk="10.0")
    cells.append(statement("own", "map_above_baselines", "ahead by a large margin"))
    lead = f"{float(with_threshold) - 20:.1f} ahead"
    assert judged("same decision", *cells) == [("10.0 ahead", lead, verdict)]


def predictions(seed, k):
    """Return the printed numbers of the first k labels of random scores, and of the images, as cells."""
    rng = np.random.default_rng(seed)
    truth = rng.random((60, 8)) < 0.3
    given_ = np.argsort(np.argsort(-(rng.random((60, 8)) + truth), axis=1), axis=1) < k
    hits, shares = (truth & given_).sum(), [(truth.sum(axis=1) == n).mean() for n in range(9)]
    cells = [cell("d", f"images_with_{n}_labels", f"{100 * share:.1f}", table="text") for n, share in enumerate(shares)]
    cells.append(cell("d", "labels_per_image", f"{truth.sum(axis=1).mean():.3f}", "count", "text"))
    exact = (truth == given_).all(axis=1).mean()
    numbers = {"ov_precision": hits / given_.sum(), "ov_recall": hits / truth.sum(), "exact_match": exact}
    return cells + [cell("d/m_topk", name, f"{100 * value:.1f}") for name, value in numbers.items()]


@given(st.integers(0, 10**6), st.integers(1, 5))
def test_true_lists_of_k_labels_never_contradict(seed, k):
    cells = predictions(seed, k)
    (size,) = findings("labels per list", *cells)
    assert size.verdict == "agrees"
    assert f"k = {k}," in size.explanation
    (exact,) = findings("exact match of top k", *cells)
    assert (exact.verdict, exact.cells.split("; ")[1]) == ("agrees", f"text d images_with_{k}_labels")


@pytest.mark.parametrize(("recall", "verdict"), [("75.0", "agrees"), ("60.0", "contradicts")])
def test_a_list_has_a_whole_number_of_labels(recall, verdict):
    cells = [cell("d", "labels_per_image", "2.0", "count", "text"), cell("d/m_topk", "ov_precision", "50.0")]
    assert [each[2] for each in judged("labels per list", *cells, cell("d/m_topk", "ov_recall", recall))] == [verdict]


@pytest.mark.parametrize(
    ("exact", "verdict"), [("15.9", "agrees"), ("16.0", "contradicts")]
)  # 15.85 may be 15.8 or 15.9
def test_only_images_with_k_labels_can_match_k_labels(exact, verdict):
    cells = [cell("d", "images_with_3_labels", "15.8", table="text"), cell("d/m_topk", "ov_precision", "50.0"),
             cell("d", "labels_per_image", "2.0", "count", "text"), cell("d/m_topk", "ov_recall", "75.0"),
             cell("d/m_topk", "exact_match", exact)]  # fmt: skip
    assert [each[2] for each in judged("exact match of top k", *cells)] == [verdict]


def test_without_overall_numbers_k_follows_where_all_other_images_are_too_few():
    share = cell("d", "images_with_1_label", "64.5", table="text", note="measured by us")
    (found,) = findings("exact match of top k", share, cell("d/m_topk", "exact_match", "57.6"))
    assert found.verdict == "agrees"
    assert found.explanation.endswith("k = 1, since all other images are fewer; their share (measured by us)")
    assert findings("exact match of top k", share, cell("d/m_topk", "exact_match", "30.0")) == []


@pytest.mark.parametrize(("exact", "verdict"), [("88.6", "agrees"), ("88.8", "contradicts")])
def test_an_image_with_more_labels_than_the_largest_count_never_matches(exact, verdict):
    cells = [cell("own", "maximum_labels", "4", "count"), cell("d", "images_with_4_labels_or_fewer", "88.6")]
    row = cell("d/own_label_count", "exact_match", exact)
    assert [each[2] for each in judged("exact match of counts", *cells, row)] == [verdict]


@pytest.mark.parametrize(
    ("largest", "pairs", "verdict"), [("13", 884, "contradicts"), ("16", 1040, "agrees"), ("80", 1640, "agrees")]
)
def test_a_limit_that_no_image_reaches_leaves_no_pair_out(largest, pairs, verdict):
    cells = [cell("own", "pairs_per_image", "1000", "count"), cell("d", "labels", "81", "count")]
    cells.append(cell("d", "most_labels_of_an_image", largest, "count"))
    assert judged("sampled pairs", *cells) == [("1000 pairs", f"at most {pairs} on d", verdict)]


SIZES = ["labels_per_image", "images_with_3_labels", "images_with_5_labels_or_fewer", "most_labels_of_an_image"]
ODD = [*SIZES, "exact_match", "ov_recall", "ov_precision", "macro_f1", "test_images", "maximum_labels", "labels",
       "pairs_per_image", "exact_match_above_all", "metrics_above_topk", "macro_f1_above_baselines"]  # fmt: skip
odd_lines = st.tuples(
    st.sampled_from(["d", "d/own", "d/m_topk", "d/own_topk", "own", "d/own_label_count", "topk"]),
    st.sampled_from(ODD),
    st.sampled_from(["0", "0.0", "5", "0.5000", "1e-9", "300", "by a large margin on all datasets"]),
    st.sampled_from(["1", "count", "percent"]),
    st.sampled_from(["table1", "text"]),
)


@given(st.lists(odd_lines, max_size=60))
def test_odd_numbers_never_fail(lines):
    cells = {line[:2]: cell(*line[:3], "text" if " " in line[2] else line[3], line[4]) for line in lines}
    assert {each.verdict for each in audit(PrintedCells(tuple(cells.values())))} <= set(VERDICTS)


# The real paper


@pytest.fixture(scope="module")
def real():
    cells = read_published([PUBLISHED / "lsep.csv"])
    return [each for each in audit(cells) if each.verdict == "contradicts"]


KNOWN = {
    "text lsep exact_match_above_all": "voc2007 exact_match: lsep 64.6 < lsep_label_count 66.3",
    "text lsep macro_f1_above_all": "nuswide_81 macro_f1: lsep 52.9 < lsep_threshold 55.0",
    "text lsep pc_precision_above_baselines": "voc2007: no pc_precision",
    "text lsep ov_precision_above_baselines": "voc2007: no ov_precision",
    "text lsep_threshold exact_match_above_lsep_topk": "voc2007 exact_match: lsep_threshold 54.5 < lsep_topk 57.6",
    "text lsep_topk metrics_above_topk": "voc2007 macro_f1: lsep_topk 72.5 < softmax_topk 73.2",
    "text lsep_threshold metrics_above_threshold": "mscoco ov_precision: lsep_threshold 61.5 < ranking_threshold 64.0",
    "text lsep pairs_per_image": "no image has more pairs, so none is left out",
}


@pytest.mark.parametrize("statement", KNOWN)
def test_sentences_that_the_tables_contradict_are_found(real, statement):
    found = [each.explanation for each in real if each.cells.split("; ")[0] == statement]
    assert found
    assert all(KNOWN[statement] in explanation for explanation in found)


def test_nothing_else_of_it_contradicts(real):
    assert {each.cells.split("; ")[0] for each in real} == set(KNOWN)


def test_overall_f1_of_the_real_rows():
    cells = read_published([PUBLISHED / "lsep.csv"])
    (found, _) = [each for each in audit(cells) if each.check == "overall F1"]
    assert "lsep 68.3 > cnn_rnn 67.8" in found.explanation
    assert round(float(2 * Fraction("76.3") * Fraction("61.8") / (Fraction("76.3") + Fraction("61.8"))), 1) == 68.3
