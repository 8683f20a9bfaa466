"""Checks of printed growth, equations and numbers of data sets, on tiny papers."""

import pytest

from vsebench.papers.audit.checking import audit
from vsebench.papers.published import PrintedCell, PrintedCells


def cell(table, row, column, value, unit="count", paper="own", note="", protocol="settings"):
    return PrintedCell(paper, table, row, column, value, unit, protocol, note)


def findings(check, *cells):
    return [each for each in audit(PrintedCells(cells)) if each.check == check]


NOT_LARGER = cell("text", "own", "not_always_larger", "(N+M)K > |D|", "formula")
MEAN = cell("table1", "d", "positive_labels_per_image", "8")
COUNTED = [cell("table1", "d", name, value) for name, value in
           (("images", "1000"), ("labels", "100"), ("train_pairs", "7000"), ("test_pairs", "1000"))]  # fmt: skip


@pytest.mark.parametrize(
    # 1,100 images and labels for 8,000 pairs, so K = 7 gives 0.96 and K = 8 gives 1.1.
    ("factors", "verdict"),
    [("7", "agrees"), ("8", "contradicts")],
)
def test_a_term_is_always_larger_if_it_is_on_every_data_set(factors, verdict):
    (found,) = findings("terms", *COUNTED, MEAN, NOT_LARGER, cell("text", "all", "factors", factors))
    assert found.verdict == verdict
    assert found.recomputed == f"above 1 on {int(verdict == 'contradicts')} of 1"


@pytest.mark.parametrize(("factors", "verdict"), [("8", "agrees"), ("9", "contradicts")])
def test_without_counts_the_mean_number_of_labels_bounds_the_ratio(factors, verdict):
    # 8 labels per image are at most 8.5, so K = 9 factors are more than that.
    (found,) = findings("terms", MEAN, NOT_LARGER, cell("text", "all", "factors", factors))
    assert found.verdict == verdict


def trials(value):
    cells = [cell("table3", method, "time_complexity", formula, "formula") for method, formula in
             (("warp", "O(Tk)"), ("own", "O(2k)"))]  # fmt: skip
    cells += [cell("text", "warp", "iterations", "100"), cell("text", "own", "iterations", "200")]
    cells += [cell("table4", "d/warp", "training_time", "50.0", "hours"), cell("text", "d/warp", "trials", value)]
    return findings("trials by time", *cells, cell("table4", "d/own", "training_time", "10.0", "hours"))


@pytest.mark.parametrize(("value", "verdict"), [("20", "agrees"), ("900", "contradicts")])
def test_trials_follow_from_the_times_of_an_iteration(value, verdict):
    # 0.5 and 0.05 hours an iteration, so a step costs 10 times 2 k: 20 trials; 100 and 200 are rounded numbers.
    (found,) = trials(value)
    assert found.verdict == verdict
    assert ("only if the rest of a step costs at least" in found.explanation) == (verdict == "contradicts")


def test_the_rest_of_a_step_explains_the_times_if_it_is_as_large_as_is_told():
    (found,) = trials("901")
    rest = float(found.explanation.partition("at least ")[2].partition(" k")[0])
    ratio = (50.05 / 50) / (9.95 / 250)  # the largest: 100 may be 50, 200 may be 250
    assert (901 + rest) / (2 + rest) == pytest.approx(ratio, rel=0.01)


@pytest.mark.parametrize(("seconds", "verdict"), [("0.70", "agrees"), ("0.50", "depends")])
def test_an_epoch_takes_at_least_the_operations_of_its_network(seconds, verdict):
    # 1,000 x 1,000 + 1,000 x 10 weights, 1.01 M, 6 operations each for 100,000 images: 0.606 s at 1 TFLOP/s.
    layers = cell("text", "all", "hidden_units", "1000, 1000, 10", "text")
    cells = [layers, cell("text", "all", "teraflops", "1.000", "1"), cell("table1", "d", "images", "100000")]
    (found,) = findings("rate of the network", *cells, cell("table1", "d/m", "epoch_time", seconds, "seconds"))
    assert found.verdict == verdict


def test_an_equation_is_held_against_single_values():
    printed = cell("text", "equation4", "identity", "sig(a) sig(-b) = sig(a - b) + e^a + e^-b", "formula")
    (found,) = findings("identity", printed)
    assert (found.recomputed, found.verdict) == ("0.25 and 2.50", "contradicts")  # 1/2 1/2, and 1/2 + 1 + 1
    assert findings("identity", cell("text", "equation4", "identity", "a = b", "formula")) == []


@pytest.mark.parametrize(("number", "verdict"), [("2", "agrees"), ("3", "contradicts")])
def test_a_caption_names_as_many_data_sets_as_its_table_has(number, verdict):
    cells = [cell("table3", f"{data}/m", "iteration_time", "1.0", "seconds") for data in "de"]
    (found,) = findings("data sets", *cells, cell("text", "table3", "datasets", number))
    assert found.verdict == verdict


def test_a_paper_that_is_cited_for_a_data_set_has_results_on_it():
    rows = [cell("table2", f"{data}/m", "recall@5", "0.1", "1", paper="cited") for data in "de"]
    for named, absent in (("d, e", ""), ("d, f", "f")):
        quoted = cell("text", "all", "datasets_in_cited", named, "text")
        (found,) = findings("cited data sets", *rows, quoted)
        assert found.verdict == ("contradicts" if absent else "agrees")
        assert (f"no accuracy on {absent}" in found.explanation) == bool(absent)
    assert findings("cited data sets", cell("text", "all", "datasets_in_cited", "d", "text")) == []
