"""The tables of the papers, their claims and their audit, on made-up results."""

import re
from math import log

import polars as pl
import pytest

from tests.rendering.conftest import PAPERS, changed, table_kind, tables, values
from vsebench.core import schemas
from vsebench.core.errors import UserError
from vsebench.papers.audit.findings import VERDICTS, read_findings, summarise
from vsebench.rendering.claims import by_kind, claim_lines, claims_of, count_claims, count_testable
from vsebench.rendering.kinds import TableKind, find, make
from vsebench.rendering.published_vs_ours import PrintedTable
from vsebench.rendering.results import Results
from vsebench.rendering.table import MISSING, format_value
from vsebench.rendering.tables.beside_published import improvement
from vsebench.rendering.tables.claims import effect_on
from vsebench.rendering.tables.statistics import our_count
from vsebench.rendering.writers.csv import to_csv
from vsebench.rendering.writers.latex import to_latex
from vsebench.rendering.writers.markdown import to_markdown

HOLDS, FAILS, UNDECIDED, UNTESTABLE = "holds", "fails", "undecided", "not testable here"
PRINTED = [f"{paper.name}_{table}" for paper in PAPERS for table in paper.tables if re.fullmatch(r"table\d+", table)]


def table(results, name):
    return table_kind(results, name).table(results)


def test_every_line_of_a_claim_is_a_row_under_the_claims_heading(results):
    found = table(results, "claims")
    assert len(found.rows) == len(results.claims) > 0
    assert values(found, "verdict") == results.claims["verdict"].to_list()
    headings = [heading for heading, _ in found.groups]
    assert len(headings) == len(set(headings)) == len(list(claims_of(claim_lines(results))))
    quoted = 'WARP and Opt-AUC (abstract, table 2): "our model achieves the best performance in ranking accuracy"'
    assert f"VSE-ens paper: VSE-ens ranks better than {quoted}" in headings


def test_a_claim_without_an_effect_shows_the_reason(results):
    found = table(results, "claims")
    shown = dict(zip(values(found, "claim"), values(found, "task"), strict=True))
    assert shown["gamma > 0 is better than gamma = 0"] == "The run does not vary the setting gamma of vse_fs."


def test_effects_are_named_in_words_and_explained_below(results):
    found = table(results, "claims")
    assert {"Recall@10, difference", "Peak memory, ratio", "Exponent of pairs"} <= set(values(found, "metric"))
    effects = [row["effect_is"] for row in results.claims.to_dicts() if row["effect_is"]]
    assert (
        found.notes[0]
        == f"Effect: {'; '.join(dict.fromkeys(effects))}. Brackets: 95 % interval, if its width is known."
    )
    assert {"difference of a metric (claimed: above 0)", "ratio (claimed: above 1)"} <= set(effects)


@pytest.mark.parametrize(
    ("metric", "effect_is", "words"),
    [
        ("map", "relative gain over the best member (claimed: at least the claim's bound)", "MAP, relative gain"),
        ("peak memory, ratio", "ratio (claimed: above 1)", "Peak memory, ratio"),
        ("exponent of pairs", "exponent of growth (claimed: within the claim's bounds)", "Exponent of pairs"),
        ("formula of the minimiser, K = 4", "largest distance of the minimisers from log P + c (claimed: 0)",
         "Formula of the minimiser, K = 4, largest distance"),
        (None, None, None),
    ],
)  # fmt: skip
def test_an_effect_has_the_names_of_its_metric_and_of_its_kind(metric, effect_is, words):
    assert effect_on({"metric": metric, "effect_is": effect_is}) == words


def test_only_growth_is_judged_on_simulated_data(results):
    judged = results.claims.filter(pl.col("data") == "simulated", pl.col("verdict") != UNTESTABLE)
    assert set(judged["metric"]) == {
        "exponent of pairs", "exponent of labels", "exponent of factors", "largest error of the formula",
    }  # fmt: skip


@pytest.mark.parametrize(("text", "message"), [(None, "no such file"), ("a,b\n1,2\n", "not a readable list of claims")])
def test_a_missing_or_damaged_list_of_claims_is_told(tmp_path, text, message):
    if text is not None:
        (tmp_path / "claims.csv").write_text(text)
    with pytest.raises(UserError, match=rf"claims\.csv: {message}"):
        assert Results(tmp_path).claims is not None


def test_the_claims_of_one_paper(results):
    found = make(TableKind, "claims", {"of": "vse_fs"}, "claims").table(results)
    assert set(values(found, "paper")) == {"vse_fs"}
    assert found.caption == "Claims of the VSE-fs paper"


def test_the_summary_has_one_verdict_per_claim_and_kind_of_data(results):
    found = table(results, "claims-summary")
    lines = results.claims.filter(pl.col("level") == "claim", pl.col("verdict") != UNTESTABLE)
    judged = [verdict for verdict in values(found, "verdict") if verdict != UNTESTABLE]
    assert sorted(judged) == sorted(lines["verdict"])
    assert set(values(found, "claim")) == set(results.claims["claim"])
    assert set(results.claims.filter(level="case")["verdict"]) == {None}


def made_up(claim, data, verdict, paper="p"):
    return {"paper": paper, "claim": claim, "data": data, "verdict": verdict, "level": "claim"}


def test_each_kind_of_data_has_a_verdict_of_its_own_and_what_was_not_tested_comes_last():
    lines = [
        made_up("a", "paper", FAILS), made_up("a", "other", HOLDS), made_up("a", "simulated", UNTESTABLE),
        made_up("a", "other", None) | {"level": "case"},
        made_up("b", "other", UNTESTABLE), made_up("b", "simulated", UNTESTABLE),
        made_up("c", "simulated", HOLDS),
        made_up("d", None, HOLDS),
    ]  # fmt: skip
    found = [(kind, line["claim"], line["verdict"]) for kind, line in by_kind(lines)]
    assert found == [
        ("paper", "a", "fails"), ("other", "a", "holds"), ("simulated", "c", "holds"),
        ("computed", "d", "holds"), ("not tested", "b", "not testable here"),
    ]  # fmt: skip


def test_the_page_says_how_many_claims_can_be_tested(results):
    testable, number = count_testable(results)
    claims = set(results.claims.select("paper", "claim").iter_rows())
    judged = results.claims.filter(level="claim").filter(pl.col("verdict") != UNTESTABLE)
    assert number == len(claims)
    assert testable == len(set(judged.select("paper", "claim").iter_rows())) < number


def test_the_page_counts_the_claims_of_each_paper_by_kind_of_data(results):
    lines = count_claims(results)
    for paper, title in results.outline.papers.items():
        of_paper = [(name, number, verdicts) for name, number, verdicts in lines if name.startswith(f"{title} paper, ")]
        assert all(number == sum(count for _, count in verdicts) for _, number, verdicts in of_paper)
        kinds = by_kind(claim_lines(results, paper))
        assert sum(number for _, number, _ in of_paper) == len(kinds)
    assert not any(name.startswith("VSE-fs") and "computed" in name for name, _, _ in lines)


def test_the_audit_is_in_three_tables(results):
    findings = read_findings(results.folder / "audit.csv")
    numbers = summarise(findings)
    counts = table(results, "audit-counts")
    assert [sum(values(counts, verdict)) for verdict in VERDICTS] == [numbers[verdict] for verdict in VERDICTS]
    agreeing = make(TableKind, "audit", {"verdict": "agrees"}, "audit").table(results)
    found = [agreeing, table(results, "audit-depends"), table(results, "audit")]
    lines = [sum(each.verdict == verdict for each in findings) for verdict in VERDICTS]
    assert [len(each.rows) for each in found] == lines
    assert sum(lines) == numbers["checks"]


def test_the_audits_tables_keep_the_lines_of_a_fact_together(results):
    for name in ("audit", "audit-depends"):
        found = table(results, name)
        facts = list(zip(values(found, "paper"), map(int, values(found, "fact")), strict=True))
        assert [paper for paper, _ in facts] == sorted((paper for paper, _ in facts), key=list(dict(facts)).index)
        for paper in dict(facts):
            numbers = [number for each, number in facts if each == paper]
            assert numbers == sorted(numbers)
    agreeing = make(TableKind, "audit", {"verdict": "agrees"}, "audit").table(results)
    assert "Fact" not in [agreeing.columns[index].title for index in agreeing.shown]


def letters(text):
    """Return the letters and digits of a text, so that the marks of a form and its line breaks do not matter."""
    return re.sub(r"\W|_", "", text.replace("allowbreak", "").replace("textless", "").replace("textgreater", ""))


@pytest.mark.parametrize("verdict", VERDICTS)
def test_the_audits_tables_keep_explanation_and_condition_in_every_form(results, verdict):
    found = make(TableKind, "audit", {"verdict": verdict}, "audit").table(results)
    forms = [letters(form) for form in (to_markdown(found), to_latex(found, "audit"), to_csv(found))]
    shown = [each for each in read_findings(results.folder / "audit.csv") if each.verdict == verdict]
    assert shown
    for each in shown:
        condition = f"Contradicts only if {each.condition}" if verdict == "depends" else ""
        words = letters(each.explanation.replace("^", "") + condition)
        assert [words in form.replace("textasciicircum", "") for form in forms] == [True] * 3, each.explanation


def test_a_long_explanation_is_wrapped_in_latex(results):
    source = to_latex(table(results, "audit"), "audit")
    assert "tabular}{@{}ll>{\\raggedright" in source
    assert source.count("\\begin{table*}") > 1  # on several pages


@pytest.mark.parametrize("name", PRINTED)
def test_a_table_of_a_paper_has_every_printed_number(results, name):
    (paper,) = (paper for paper in PAPERS if name.startswith(f"{paper.name}_table"))
    printed = [cell for cell in paper.printed(name.removeprefix(f"{paper.name}_")) if cell.unit in ("1", "formula")]
    text = to_markdown(table(results, name)).replace("\\", "")
    assert [cell for cell in printed if cell.value not in text] == []


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.name)
def test_no_two_tables_of_a_paper_are_about_the_same(paper):
    kinds = {name: find(TableKind, entry["kind"]) for name, entry in paper.tables.items()}
    printed = {name: paper.tables[name] for name, kind in kinds.items() if issubclass(kind, PrintedTable)}
    about = [(entry["kind"], entry["about"]) for entry in printed.values()]  # the kind states the origin of the numbers
    assert len(about) == len(set(about))


def test_a_table_without_a_subject_has_the_number_of_the_printed_table_and_the_origin_of_its_numbers(results):
    (paper,) = (paper for paper in PAPERS if paper.name == "vse_ens")
    parameters = {"paper": str(paper.path), "printed": "table4", "ratio_to": "vse_ens"}
    times = make(TableKind, "time_as_printed", {key: parameters[key] for key in ("paper", "printed")}, "t")
    assert times.table(results).caption == "VSE-ens paper, Table 4: published and measured"
    ratios = make(TableKind, "time_beside_published", parameters, "t")
    assert ratios.table(results).caption == "VSE-ens paper, Table 4: seconds and ratios, published and measured"


def test_our_accuracies_are_below_the_printed_ones(results):
    found = table(results, "vse_fs_table4")
    lines = list(zip(values(found, "dataset"), values(found, "method"), values(found, "source"), strict=True))
    position = lines.index(("IAPR TC-12", "WARP", "published"))
    assert lines[position + 1 : position + 3] == [
        ("IAPR TC-12", "WARP", "here"),
        ("IAPR TC-12", "WARP (published code)", "here"),
    ]
    compared = results.comparison.filter(paper="vse_fs", row="iapr/warp", column="recall@10", method="warp")
    assert values(found, "recall@10")[position + 1] == compared["ours"][0]
    assert "No data set of this run" not in "".join(found.notes)


def test_a_run_without_the_papers_data_lacks_the_table(results):
    kind = table_kind(results, "vse_fs_table4")
    assert not kind.applies(results.outline.model_copy(update={"compared": {}}))


def test_times_are_in_seconds_with_ratios_to_one_method(results):
    found = table(results, "vse_ens_table4_ratios")
    lines = zip(values(found, "dataset"), values(found, "method"), values(found, "source"), strict=True)
    ratio = dict(zip(lines, values(found, "ratio"), strict=True))
    assert ratio["IAPR TC-12", "VSE-ens", "published"] == ratio["IAPR TC-12", "VSE-ens", "here"] == 1
    assert ratio["Open Images", "WARP", "published"] == pytest.approx(35.65 / 7.1)


def test_growth_is_measured_beside_the_printed_formulas(results):
    found = table(results, "vse_fs_table2")
    exponents = table(results, "growth")
    row = values(exponents, "method").index("VSE-ens")
    position = values(found, "method").index("VSE-ens")
    assert values(found, "published")[position] == "O(c_1 K|D|)"
    assert values(found, "pairs")[position] == values(exponents, "pairs")[row] == pytest.approx(1, abs=0.3)


def test_the_growth_of_the_time_to_score_an_image_has_columns_of_its_own(results):
    fixed = {"method": "warp", "labels": 50, "pairs": 10, "phase": "score", "machine": "made up"}
    shapes = [(10, 5, 0.1), (20, 5, 0.1), (40, 5, 0.1), (20, 10, 0.2), (20, 20, 0.4)]
    scaling = pl.DataFrame(
        [
            fixed | {"variable": name, "size": size, "repeat": repeat, "images": n, "terms": terms, "seconds": seconds}
            for n, terms, seconds in shapes
            for name, size, varied in (("images", n, terms == 5), ("terms", terms, n == 20))
            for repeat in (1, 2)
            if varied
        ],
        schema=schemas.SCALING,
    )
    found = make(TableKind, "growth", {}, "growth").table(changed(results, scaling=scaling))
    assert found.caption == "Growth of the time to score an image"
    assert [column.key for column in found.columns] == ["method", "images", "terms"]
    assert [cell.value for cell in found.rows[0].cells] == ["WARP", pytest.approx(0), pytest.approx(1)]
    assert found.notes[0].startswith("Exponent of the time to score all labels for an image")


def test_a_run_that_measures_no_growth_lacks_the_table(results):
    without = changed(results, outline=results.outline.model_copy(update={"files": ["claims"]}))
    assert "growth" in tables(results)
    assert "growth" not in tables(without)


def test_our_counts_stand_below_the_printed_ones_in_the_papers_form(results):
    found = table(results, "vse_ens_table1")
    assert [column.key for column in found.columns] == [
        "dataset", "source", "images", "labels", "train_pairs", "test_pairs",
    ]  # fmt: skip
    lines = [[cell.value for cell in row.cells] for row in found.rows]
    position = lines.index(["IAPR TC-12", "published", 19627, 291, 79527, 20000])
    # The made-up results test 500 images.
    assert lines[position + 1] == ["IAPR TC-12", "here", 20000, 255, 99527 - 500, 500]
    assert [line[:2] for line in lines if line[1] == "here"] == [["IAPR TC-12", "here"]]


def test_positive_labels_are_counted_once_an_image(results):
    found = table(results, "vse_fs_table1")
    assert [column.key for column in found.columns][2:] == ["openimages", "nuswide", "iapr", "flickr"]
    iapr = dict(
        zip(zip(values(found, "quantity"), values(found, "source"), strict=True), values(found, "iapr"), strict=True)
    )
    positive, others = "Positive labels per image", "Non-positive labels per image"
    assert (iapr[positive, "published"], iapr[others, "published"]) == (4, 271)
    assert iapr[positive, "here"] == pytest.approx(82489 / 20000)
    assert iapr[others, "here"] == pytest.approx(275 - 82489 / 20000)
    assert iapr["Non-positives per positive", "here"] == pytest.approx(275 * 20000 / 82489 - 1)
    line = "| Positive labels per image | here | \N{EN DASH} | \N{EN DASH} | 4.12 |"
    assert line in to_markdown(found).replace("\\", "")
    assert any("4.12 labels per image; counting repetitions, 4.98" in note for note in found.notes)


def test_pairs_are_counted_as_the_protocol_holds_them_out(results):
    (paper,) = (paper for paper in PAPERS if paper.name == "vse_ens")
    distinct = paper.tasks["iapr"].model_copy(update={"protocol": "distinct"})
    others = changed(results, metrics=results.metrics.with_columns(protocol=pl.lit("distinct")))
    moved = paper.model_copy(update={"tasks": {"iapr": distinct}})
    counted = [our_count(others, moved, "iapr", name) for name in ("train_pairs", "test_pairs")]
    assert counted == [82489 - 500, 500]
    assert our_count(results, moved, "iapr", "test_pairs") is None  # the run has nothing under this protocol
    assert our_count(results, moved, "nuswide", "images") is None


def test_times_have_the_form_and_units_of_the_paper(results):
    found = table(results, "vse_ens_table4")
    lines = [[cell.value for cell in row.cells] for row in found.rows]
    position = lines.index(["WARP", "published", "35.65 h", "51.46 h", "2.38 h"])
    ours = results.comparison.filter(paper="vse_ens", row="iapr/warp", column="training_time", method="warp")["ours"][0]
    title, source, *others, iapr = lines[position + 1]
    assert (title, source, others) == ("WARP", "here", [MISSING, MISSING])
    assert iapr == f"{format_value(ours, 'seconds')} s"
    assert not any("Accelerate" in line[0] for line in lines)


def test_speed_ups_are_ratios_minus_one_as_in_print(results):
    found = table(results, "vse_fs_table3")
    lines = [[cell.value for cell in row.cells] for row in found.rows]
    assert ["VSE-fs", "published", "6.14 min", "32.93 s", "1.73 s", "10.31 s"] in [
        [*line[:4], line[values_of(found).index("iapr")], line[values_of(found).index("flickr")]] for line in lines
    ]
    published = [line for line in lines if line[:2] == ["Accelerate", "published"]]
    assert published[0][2:4] == ["4.27 x", "12.59 x"]
    compared = results.comparison.filter(paper="vse_fs", column="iteration_time")
    seconds = {name: compared.filter(row=f"iapr/{name}", method=name)["ours"][0] for name in ("vse_fs", "opt_auc")}
    (ours,) = (line for line in lines if line[0] == "Accelerate, VSE-fs over Opt-AUC")
    assert ours[values_of(found).index("iapr")] == f"{seconds['opt_auc'] / seconds['vse_fs'] - 1:,.2f} x"
    assert ours[2] == MISSING
    assert any("minus 1" in note for note in found.notes)


def values_of(table):
    return [column.key for column in table.columns]


def test_improvements_follow_the_papers_convention(results):
    found = table(results, "vse_ens_table2_improve")
    lines = {(row.cells[0].value, row.cells[1].value, row.cells[2].value): row.cells for row in found.rows}
    position = values_of(found).index("recall@10")
    # What print has follows from its own numbers: 0.4364 / 0.4278 - 1.
    assert lines["IAPR TC-12", "VSE-ens over WARP", "published"][position].value == pytest.approx(0.0201)
    compared = results.comparison.filter(paper="vse_ens", table="table2", column="recall@10")
    for row, title in (("warp", "WARP"), ("warp_published", "WARP (published code)")):
        ours = [compared.filter(method=name, dataset="saiapr")["ours"][0] for name in ("vse_ens", row)]
        found_here = lines["IAPR TC-12", f"VSE-ens over {title}", "here"][position].value
        assert found_here == pytest.approx(ours[0] / ours[1] - 1)
    assert {line[1:] for line in lines if line[0] == "NUS-WIDE"} == {("VSE-ens over WARP", "published")}
    assert improvement(0.5, 0.0) is None


# One label per image: log P + c is exact. Labels 0 and 1 of 2: log 3 apart, where log P is log(9 / 7) apart.
THEOREM = {
    "one label": ({"sets": {"a": 0.75, "b": 0.25}}, 0.5 * log(3), 0.5 * log(3)),
    "two labels": ({"sets": {"a": 0.3, "b": 0.1, "ab": 0.6}}, 0.5 * log(9 / 7), 0.5 * log(3)),
    "independent": ({"independent": [0.5, 0.2]}, 0.5 * log(5 / 2), 0.5 * log(4)),
}


@pytest.mark.parametrize("case", THEOREM)
def test_a_minimiser_stands_beside_the_formula(results, case):
    chances, formula, score = THEOREM[case]
    cases = [{"title": case, "loss": "log_sum_exp"} | chances]
    parameters = {"paper": str(PAPERS[0].path), "theorem": "theorem 1", "cases": cases}
    found = make(TableKind, "minimisers", parameters, "t").table(results)
    assert values(found, "formula") == pytest.approx([formula, -formula])
    assert values(found, "minimiser") == pytest.approx([score, -score])


def test_the_papers_theorem_fails_in_the_cases_with_dependent_labels(results):
    found = table(results, "lsep_theorem1")
    headings = [heading for heading, _ in found.groups]
    assert [heading.rpartition(": ")[2] for heading in headings] == [
        "in the order of P", "in the order of P", "in the order of P", "not in the order of P",
        "in the order of P", "not in the order of P",
    ]  # fmt: skip
    assert headings[3].startswith("Eq. 7, dependent labels (abc 0.4, b 0.3, cd 0.2, ab 0.1): ")


def test_equations_that_are_wrong_in_print_stand_beside_what_is_right(results):
    found = table(results, "lsep_equations")
    assert values(found, "equation")[:4] == ["1", "3", "8", "10"]
    assert "14.6" in values(found, "right")[2]
    with pytest.raises(UserError, match=r"p.yaml: tables.t: equations.0.right: this key is missing; add it"):
        make(
            TableKind,
            "equations",
            {"paper": "p.yaml", "equations": [{"equation": "1", "printed": "a"}]},
            "p.yaml: tables.t",
        )


@pytest.mark.parametrize(
    ("chances", "message"),
    [
        ({}, "give either `sets` or `independent`"),
        ({"sets": {"a": 0.5, "b": 0.4}}, "the probabilities of the sets must sum to 1"),
        ({"sets": {"a": 0.5, "ab": 0.5}}, "no scores minimise the risk: some label never occurs without another label"),
        ({"sets": {"A": 1.0}}, "cases.0.sets"),
        ({"independent": [0.5]}, "cases.0.independent"),
    ],
)
def test_a_case_that_is_no_distribution_is_told_with_its_key(chances, message):
    cases = [{"title": "t", "loss": "log_sum_exp"} | chances]
    with pytest.raises(UserError, match=message):
        make(TableKind, "minimisers", {"paper": "p.yaml", "theorem": "theorem 1", "cases": cases}, "p.yaml: tables.t")
