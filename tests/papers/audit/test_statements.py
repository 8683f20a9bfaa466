"""Checks of what a paper says of its numbers in words."""

import pytest

from tests.papers.audit.made_up import findings, percents, statement, table, verdicts


def outcome(check, lines, *statements):
    """Return how many cells bear a statement out, and its verdict."""
    (finding,) = findings(check, lines, *statements)
    return finding.recomputed, finding.verdict


def test_a_statement_that_holds_in_part_contradicts_and_says_where():
    lines = table("map", p="3.0 2.0", rival="2.0 2.5", other="1.0 2.2")
    (finding,) = findings("above", lines, statement({"p": "all"}, metrics=["map"]))
    assert (finding.published, finding.recomputed, finding.verdict) == ("all 2", "1 of 2", "contradicts")
    assert finding.explanation == '"it is best" (section 5); d map: p 3.0 > rival 2.0; e map: p 2.0 < rival 2.5'
    assert finding.cells.startswith("text p is best; table1 d/p map; table1 d/rival map; table1 e/p map; ")


@pytest.mark.parametrize(("value", "verdict"), [("3.0", "agrees"), ("2.9", "contradicts")])
def test_equal_prints_cannot_contradict(value, verdict):
    assert verdicts("above", table("map", p=value, rival="3.0"), statement({"p": ["rival"]})) == [verdict]


@pytest.mark.parametrize(
    ("rivals", "expected"),
    [("baselines", ["agrees"]), ("all", ["contradicts"]), (["p_longer"], ["contradicts"]), (["absent"], [])],
)
def test_the_papers_own_variants_are_no_baselines(rivals, expected):
    lines = table("map", p="3.0", p_longer="4.0", rival="2.0")
    assert verdicts("above", lines, statement({"p": rivals})) == expected


def test_a_statement_on_all_metrics_lists_those_that_are_not_above():
    lines = table("map", p="3.0", rival="2.0") + table("f1", p="3.0", rival="4.0")
    (finding,) = findings("above", lines, statement({"p": ["rival"]}))
    assert (finding.recomputed, finding.verdict) == ("1 of 2", "contradicts")
    assert finding.explanation == '"it is best" (section 5); d f1: p 3.0 < rival 4.0'


@pytest.mark.parametrize(("quantifier", "verdict"), [("most", "agrees"), ("all", "contradicts")])
def test_each_row_is_held_against_its_counterpart(quantifier, verdict):
    lines = table("map", a_threshold="3.0 3.0", b_threshold="1.0", a_topk="2.0 2.0", b_topk="2.0")
    pairs = {"a_threshold": ["a_topk"], "b_threshold": ["b_topk"]}
    assert outcome("above", lines, statement(pairs, quantifier=quantifier)) == ("2 of 3", verdict)


def test_all_datasets_are_not_all_if_one_has_no_such_metric():
    lines = table("map", p="3.0", rival="2.0") + table("f1", p="3.0 3.0", rival="2.0 2.0")
    assert verdicts("above", lines, statement({"p": "all"}, metrics=["map"])) == ["agrees"]
    (finding,) = findings("above", lines, statement({"p": "all"}, metrics=["map"], quantifier="all_datasets"))
    assert (finding.recomputed, finding.verdict) == ("1 of 2", "contradicts")
    assert finding.explanation.endswith("; e: no map")


def test_a_statement_that_can_be_read_in_another_way_depends_on_its_reading():
    said = statement({"p": ["rival"]}, condition="p is the final method")
    (finding,) = findings("above", table("map", p="1.0", rival="2.0"), said)
    assert (finding.verdict, finding.condition) == ("depends", "p is the final method")


def test_a_statement_is_about_its_protocol_and_its_data_sets_only():
    lines = table("map", p="1.0 3.0", rival="2.0 2.0")
    assert verdicts("above", lines, statement({"p": "all"}, protocol="zero_shot")) == []
    assert outcome("above", lines, statement({"p": "all"}, datasets=["e"])) == ("1 of 1", "agrees")


@pytest.mark.parametrize(("value", "verdict"), [("2.8", "agrees"), ("2.5", "contradicts"), ("3.5", "contradicts")])
def test_near_is_a_tenth_of_a_metric(value, verdict):
    lines = table("f1@5", s_m=value, m="3.0", other="9.0")
    assert verdicts("near", lines, statement({"s_m": ["m"]}, "near")) == [verdict]


def test_near_is_twice_a_time_and_what_is_not_is_listed_with_its_ratio():
    lines = """
        p table3 d/p iteration_time 2.0 minutes per_iteration
        p table3 e/p iteration_time 2.0 seconds per_iteration
        p table3 d/rival iteration_time 3.0 minutes per_iteration
        p table3 e/rival iteration_time 9.0 seconds per_iteration"""
    (finding,) = findings("near", lines, statement({"rival": ["p"]}, "near", metrics=["iteration_time"]))
    assert (finding.recomputed, finding.verdict) == ("1 of 2", "contradicts")
    assert finding.explanation.endswith("; e iteration_time: rival 9.0, 4.50 times p's 2.0")
    assert findings("above", lines, statement({"rival": ["p"]})) == []  # times are no metrics


@pytest.mark.parametrize(("images", "by_chance"), [("50261", True), ("5026100", False)])
def test_a_lead_by_less_than_chance_is_reported(images, by_chance):
    lines = table("exact_match", p="33.5", rival="33.4") + f"p text d test_images {images} count"
    (finding,) = findings("above", lines, statement({"p": "all"}, metrics=["exact_match"]))
    assert finding.verdict == "agrees"
    assert ("(by 0.1, less than 1.96 standard errors, 0.58)" in finding.explanation) == by_chance


def test_macro_f1_is_read_as_overall_f1_too():
    lines = table("macro_f1", p="50.0", rival="40.0") + table("ov_precision", p="50.0", rival="60.0")
    lines += table("ov_recall", p="50.0", rival="60.0")
    said = statement({"p": "all"}, metrics=["macro_f1"])
    assert verdicts("above", lines, said) == ["agrees"]
    assert outcome("overall F1", lines, said) == ("0 of 1", "contradicts")


@pytest.mark.parametrize(("with_threshold", "verdict"), [("21.0", "agrees"), ("19.0", "contradicts")])
def test_the_part_of_a_margin_that_the_same_decision_keeps(with_threshold, verdict):
    lines = table("map", p="30.0", p_threshold=with_threshold, a_threshold="20.0", b_topk="10.0")
    said = statement({"p": "baselines"}, same_decision={"a_threshold": "p_threshold"})
    assert outcome("same decision", lines, said) == (f"{float(with_threshold) - 20:.1f} ahead", verdict)


@pytest.mark.parametrize(("rival", "verdict"), [("4.03", "agrees"), ("4.25", "contradicts")])
def test_the_method_that_is_called_the_best_has_the_highest_number(rival, verdict):
    lines = table("precision@1", p="4.03", p_500="9", x=rival)
    assert verdicts("best of all", lines, statement({"p": "baselines"}, "best")) == [verdict]
    assert verdicts("best of all", lines) == []


def test_a_list_of_labels_has_each_of_them_once():
    lines = 'p table3 d/a nearest_labels "*a b*, **c**" text\np table3 d/b nearest_labels "c, *c*" text'
    assert verdicts("listed once", lines) == ["agrees", "contradicts"]


@pytest.mark.parametrize(("number", "verdict"), [("2", "agrees"), ("3", "contradicts")])
def test_a_caption_names_as_many_data_sets_as_its_table_has(number, verdict):
    lines = table("map", m="1.0 1.0") + f"p text table1 datasets {number} count"
    assert verdicts("data sets", lines) == [verdict]


@pytest.mark.parametrize(("named", "verdict"), [("d, e", "agrees"), ("d, f", "contradicts")])
def test_a_paper_that_is_cited_for_a_data_set_has_results_on_it(named, verdict):
    cites = f'q text all datasets_in_p "{named}" text\n'
    (finding,) = findings("cited data sets", cites + table("recall@5", m="0.1 0.1"))
    assert finding.verdict == verdict
    assert ("no accuracy on f" in finding.explanation) == (verdict == "contradicts")
    assert findings("cited data sets", cites) == []


def test_gains_are_no_accuracies_of_the_best():
    lines = table("precision@1", p="4.03", x="4.00") + percents({"precision@1": "90"}, "d/x/improve")
    assert verdicts("best of all", lines, statement({"p": "baselines"}, "best")) == ["agrees"]
