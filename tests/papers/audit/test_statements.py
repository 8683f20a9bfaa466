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


def test_a_metric_that_is_not_printed_is_listed_and_contradicts_nothing():
    lines = table("map", p="3.0", rival="2.0") + table("f1", p="3.0 3.0", rival="2.0 2.0")
    (finding,) = findings("above", lines, statement({"p": "all"}, metrics=["map"], quantifier="all_datasets"))
    assert (finding.published, finding.recomputed, finding.verdict) == ("all 1", "1 of 1", "agrees")
    assert finding.explanation.endswith("; e: map not printed")


CURVE = statement({"p": ["rival", "another"]}, "curve")


@pytest.mark.parametrize(
    ("precision", "recall", "verdict"),
    [
        ("60.0", "60.0", "contradicts"),  # higher in both
        ("60.0", "40.0", "agrees"),  # further to the left, perhaps on a lower curve
        ("40.0", "60.0", "agrees"),
        ("60.0", "50.0", "agrees"),  # rounding may hide that this recall is lower
    ],
)
def test_a_curve_is_below_another_only_if_both_numbers_are_lower(precision, recall, verdict):
    lines = table("pc_precision", p="50.0", rival=precision, another="40.0", stranger="90.0")
    lines += table("pc_recall", p="50.0", rival=recall, another="40.0", stranger="90.0")
    dominating = int(verdict == "contradicts")
    assert outcome("curve", lines, CURVE) == (f"{dominating} of 2 dominate", verdict)
    assert findings("above", lines, CURVE) == []


def test_a_curve_is_compared_for_each_pair_of_precision_and_recall_on_a_data_set():
    lines = "".join(
        table(f"{kind}_{name}", p="50.0 50.0", rival="40.0 60.0")
        for kind in ("pc", "ov")
        for name in ("precision", "recall")
    )
    (finding,) = findings("curve", lines, CURVE)
    assert finding.recomputed == "2 of 4 dominate"
    assert (
        "e p ov_precision 50.0, recall 50.0; dominated by e rival ov_precision 60.0, recall 60.0" in finding.explanation
    )
    assert findings("curve", table("pc_precision", p="50.0", rival="60.0"), CURVE) == []


def test_a_statement_that_can_be_read_in_another_way_depends_on_its_reading():
    said = statement({"p": ["rival"]}, condition="p is the final method")
    (finding,) = findings("above", table("map", p="1.0", rival="2.0"), said)
    assert (finding.verdict, finding.condition) == ("depends", "p is the final method")


def test_a_statement_is_about_its_protocol_and_its_data_sets_only():
    lines = table("map", p="1.0 3.0", rival="2.0 2.0")
    assert verdicts("above", lines, statement({"p": "all"}, protocol="zero_shot")) == []
    assert outcome("above", lines, statement({"p": "all"}, datasets=["e"])) == ("1 of 1", "agrees")


@pytest.mark.parametrize(("value", "verdict"), [("2.8", "agrees"), ("2.5", "depends"), ("3.5", "depends")])
def test_near_is_a_tenth_of_a_metric(value, verdict):
    lines = table("f1@5", s_m=value, m="3.0", other="9.0")
    assert verdicts("near", lines, statement({"s_m": ["m"]}, "near")) == [verdict]


def test_what_is_near_is_our_limit_unless_the_paper_gives_its_own_condition():
    lines = table("f1@5", s_m="1.0", m="3.0")
    for keys, condition in (({}, "near: times differ"), ({"condition": "it is about tests"}, "it is about tests")):
        (finding,) = findings("near", lines, statement({"s_m": ["m"]}, "near", **keys))
        assert finding.condition.startswith(condition)


def test_a_gain_is_listed_apart_from_losses():
    lines = table("f1@5", s_m="2.0 4.0 3.0", m="3.0 3.0 3.0")
    (finding,) = findings("near", lines, statement({"s_m": ["m"]}, "near"))
    losses, gains = finding.explanation.split("; 1 lower; ")[1].split("; 1 higher; ")
    assert (losses, gains) == ("d f1@5: s_m 2.0, 0.67 times m's 3.0", "e f1@5: s_m 4.0, 1.33 times m's 3.0")


def test_near_is_twice_a_time_and_what_is_not_is_listed_with_its_ratio():
    lines = """
        p table3 d/p iteration_time 2.0 minutes per_iteration
        p table3 e/p iteration_time 2.0 seconds per_iteration
        p table3 d/rival iteration_time 3.0 minutes per_iteration
        p table3 e/rival iteration_time 9.0 seconds per_iteration"""
    (finding,) = findings("near", lines, statement({"rival": ["p"]}, "near", metrics=["iteration_time"]))
    assert (finding.recomputed, finding.verdict) == ("1 of 2", "depends")
    assert finding.explanation.endswith("; e iteration_time: rival 9.0, 4.50 times p's 2.0")
    assert findings("above", lines, statement({"rival": ["p"]})) == []  # times are no metrics


@pytest.mark.parametrize(("images", "by_chance"), [("50261", True), ("5026100", False)])
def test_a_lead_by_less_than_chance_is_reported(images, by_chance):
    lines = table("exact_match", p="33.5", rival="33.4") + f"p text d test_images {images} count"
    (finding,) = findings("above", lines, statement({"p": "all"}, metrics=["exact_match"]))
    assert finding.verdict == "agrees"
    assert ("(by 0.1, which is less than 1.96 standard errors = 0.58)" in finding.explanation) == by_chance


def test_macro_f1_is_read_as_overall_f1_too():
    lines = table("macro_f1", p="50.0", rival="40.0") + table("ov_precision", p="50.0", rival="60.0")
    lines += table("ov_recall", p="50.0", rival="60.0")
    said = statement({"p": "all"}, metrics=["macro_f1"])
    assert verdicts("above", lines, said) == ["agrees"]
    assert outcome("overall F1", lines, said) == ("0 of 1", "depends")


@pytest.mark.parametrize(("with_threshold", "verdict"), [("21.0", "agrees"), ("19.0", "depends")])
def test_the_part_of_a_margin_that_the_same_decision_keeps(with_threshold, verdict):
    lines = table("map", p="30.0", p_threshold=with_threshold, a_threshold="20.0", b_topk="10.0")
    said = statement({"p": "baselines"}, same_decision={"a_threshold": "p_threshold"})
    assert outcome("same decision", lines, said) == (f"{float(with_threshold) - 20:.1f} ahead", verdict)


@pytest.mark.parametrize(("rival", "verdict"), [("4.03", "agrees"), ("4.25", "contradicts")])
def test_the_method_that_is_called_the_best_has_the_highest_number(rival, verdict):
    lines = table("precision@1", p="4.03", p_500="9", x=rival)
    assert verdicts("best of all", lines, statement({"p": "baselines"}, "best")) == [verdict]
    assert verdicts("best of all", lines) == []


def test_every_better_rival_of_the_best_is_named_and_a_condition_counts():
    lines = table("precision@1", p="4.03", knn="4.5", linear="4.25", other="1.0")
    (finding,) = findings("best of all", lines, statement({"p": "baselines"}, "best", condition="knn competes"))
    assert (finding.verdict, finding.condition) == ("depends", "knn competes")
    assert "\"it is best\" (section 5); at least knn's 4.5; also below linear's 4.25; " in finding.explanation


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
