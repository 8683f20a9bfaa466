"""Which checks apply, the papers' files and their mistakes, and the audit of the real papers."""

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from tests.papers.audit.made_up import accuracies, cells, percents, statement
from vsebench.cli import main
from vsebench.core.errors import UserError
from vsebench.papers.audit.checking import audit, choose, find_checks
from vsebench.papers.audit.findings import VERDICTS, counted, read_findings, summarise
from vsebench.papers.audit.reading import read_audited
from vsebench.papers.base import Paper
from vsebench.papers.published import COLUMNS, PrintedCell, PrintedCells

PUBLISHED = Path(__file__).parents[3] / "config" / "papers"
F1 = percents({"precision@5": "21.2", "recall@5": "36.3", "f1@5": "26.8"})
TEST_PAIRS = "p table1 d images 10 count\np table1 d test_pairs 9 count\n"


def test_a_helper_is_no_check():
    families = find_checks()
    assert "f1_scores" in families["metrics"]
    assert not [name for checks in families.values() for name in checks if name.startswith("_")]
    assert "count" not in families["counts"]  # its parameter is one cell


def test_a_paper_chooses_checks_by_name_or_family():
    both = cells(F1 + TEST_PAIRS)
    assert {each.check for each in audit(both)} == {"F1", "test pairs"}
    for names, checks in ((["f1_scores"], {"F1"}), (["counts"], {"test pairs"}), ([], set())):
        assert {each.check for each in audit(both, {"p": choose(names, "p.yaml: checks")})} == checks
    assert {each.check for each in audit(both, {"another": set()})} == {"F1", "test pairs"}


def test_an_unknown_check_is_reported_with_file_and_key():
    with pytest.raises(UserError, match=r"^p\.yaml: checks: there is no check 'guess'; the families are above, "):
        choose(["guess"], "p.yaml: checks")


# Images with one held-out pair each, so that more test pairs than images contradict.
ONE_HELD_OUT = "p,table2,d/m,recall@5,0.1,1,leave_one_out,\n"
HEADER, GOOD = ",".join(COLUMNS) + "\n", "p,table1,d,images,10,count,data_statistics,\n"


@pytest.fixture
def paper(tmp_path):
    """Write the two files of a paper; returns its YAML file."""

    def write(numbers=HEADER + GOOD, **keys):
        path = tmp_path / "p.yaml"
        path.write_text(yaml.safe_dump({"title": "P", "citation": "none"} | keys))
        if numbers is not None:
            path.with_suffix(".csv").write_bytes(numbers if isinstance(numbers, bytes) else numbers.encode())
        return path

    return write


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        (None, "no such file"),
        ("paper,table\n", "line 1: the columns must be paper,table,row"),
        (HEADER + GOOD + GOOD, "line 3: the cell p table1 d images occurs twice"),
        (HEADER + GOOD.replace("10", "ten"), "line 2, column value: 'ten' is not a plain number"),
        (HEADER + GOOD.replace("10", "\N{ARABIC-INDIC DIGIT ONE}"), "line 2, column value:"),
        (HEADER + GOOD.replace("10", "nan"), "line 2, column value: 'nan' is not a plain number"),
        (HEADER + GOOD.replace("10", ""), "line 2, column value: is empty"),
        (HEADER + GOOD.replace("p,", "q,", 1), "line 2, column paper: is 'q', but the file belongs to the paper 'p'"),
        (HEADER + "p,table1,d,images,10,count\n", "line 2: has 6 columns, but there must be 8"),
        (HEADER + GOOD[:-1] + '"open\n', "not a readable CSV file"),
        (b"\xff\xfe", "not a readable CSV file"),
    ],
)
def test_a_faulty_file_is_reported_in_one_line(paper, tmp_path, capsys, numbers, message):
    path, out = paper(numbers), tmp_path / "audit.csv"
    assert main(["stage", "audit", "--papers", str(path), "--out", str(out)]) == 1
    error = capsys.readouterr().err
    assert message in error
    assert str(path.with_suffix(".csv")) in error
    assert error.count("\n") == 1
    assert not out.exists()


SAID = {"quotation": "best", "where": "abstract", "comparison": "above", "rows": {"a": ["b"]}}
ROWS = HEADER + "".join(f"p,table1,d/{row},map,{value},1,held_out_images,\n" for row, value in (("a", 1), ("b", 2)))


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"statements": {"x": SAID | {"rows": {"a": ["c"]}}}}, "p.yaml: statements.x.rows: p.csv has no 'c'"),
        ({"statements": {"x": SAID | {"metrics": ["mop"]}}}, "p.yaml: statements.x.metrics: p.csv has no 'mop'"),
        ({"statements": {"x": SAID | {"datasets": ["e"]}}}, "p.yaml: statements.x.datasets: p.csv has no 'e'"),
        ({"statements": {"x": SAID | {"comparison": "below"}}}, "p.yaml: statements.x.comparison: Input should be"),
        ({"conditions": {"table1 d images": "counted"}}, "p.yaml: conditions: p.csv has no 'table1 d images'"),
        ({"lower_bounds": ["table1 d images"]}, "p.yaml: lower_bounds: p.csv has no 'table1 d images'"),
        ({"same_fact": [["text x"]]}, "p.yaml: same_fact: p.csv has no 'text x'"),
    ],
)
def test_a_mistake_in_a_papers_statements_is_reported_with_file_and_key(paper, keys, message):
    path = paper(ROWS, **keys)
    with pytest.raises(UserError) as error:
        read_audited([Paper.read(path)])
    assert str(error.value).removeprefix(f"{path.parent}/").startswith(message)


def test_a_papers_statement_is_audited_by_its_name(paper):
    path = paper(ROWS, statements={"a best": SAID | {"condition": "a is meant"}})
    (finding,) = audit(read_audited([Paper.read(path)]))
    assert (finding.cells.split("; ")[0], finding.verdict) == ("text a best", "depends")


@pytest.mark.parametrize(
    ("again", "keys", "verdict"),
    [
        (5000, {"lower_bounds": ["text d labels"]}, "agrees"),
        (6000, {"lower_bounds": ["text d labels"]}, "contradicts"),
        (6000, {"conditions": {"text d labels": "they are the same"}}, "depends"),
    ],
)
def test_a_cell_is_read_as_the_yaml_file_says(paper, again, keys, verdict):
    lines = f"p,table1,d,labels,5108,count,data_statistics,\np,text,d,labels,{again},count,data_statistics,\n"
    assert [each.verdict for each in audit(read_audited([Paper.read(paper(HEADER + lines, **keys))]))] == [verdict]


def test_the_condition_of_a_cell_counts_in_every_check(paper):
    lines = "p,table1,d,images,10,count,data_statistics,\np,table1,d,test_pairs,20,count,data_statistics,\n"
    conditions = {"table1 d test_pairs": "all images count"}
    for more, expected in ((ONE_HELD_OUT, ""), ("", "one pair of each image is held out, and ")):
        (finding,) = audit(read_audited([Paper.read(paper(HEADER + more + lines, conditions=conditions))]))
        assert (finding.check, *outcome(finding)) == ("test pairs", "depends", f"{expected}all images count")


def outcome(finding):
    return finding.verdict, finding.condition


def test_a_number_that_is_not_printed_or_hard_to_read_contradicts_only_if_it_is_right():
    held_out = accuracies({"recall@5": "0.1"})
    test_pairs = "p table1 d test_pairs 20 count data_statistics "
    for note in ("measured on the label files, not printed; of all", "inferred, not printed: a guess", "not printed"):
        lines = f'{test_pairs}\np table1 d images 10 count data_statistics "{note}"\n{held_out}'
        assert [outcome(each) for each in audit(cells(lines))] == [("depends", f"table1 d images is 10 ({note})")]
    images = "p table1 d images 10 count data_statistics "
    (finding,) = audit(cells(f'{images}\n{test_pairs} "set-up; ocr: smudged"\n{held_out}'))
    assert outcome(finding) == ("depends", "the scanned paper was read correctly (set-up; ocr: smudged)")
    for note in ("set-up; its value is not printed", "read in print"):  # the number itself is
        lines = f'{images} "{note}"\n{test_pairs}\n{held_out}'
        assert [outcome(each) for each in audit(cells(lines))] == [("contradicts", "")]


def facts_of(paper):
    found = audit(read_audited([Paper.read(paper)]))
    return [(each.judged, each.verdict, each.fact) for each in found], summarise(found)


def test_a_fact_that_several_cells_state_counts_once(paper):
    sizes = {"d": 20, "e": 5, "f": 30, "g": 40}
    lines = ONE_HELD_OUT + "".join(
        f"p,table1,{name},{column},{value},count,data_statistics,\n"
        for name, pairs in sizes.items()
        for column, value in (("images", 10), ("test_pairs", pairs))
    )
    apart, counts = facts_of(paper(HEADER + lines))
    assert apart == [
        ("table1 d test_pairs", "contradicts", "1"), ("table1 e test_pairs", "agrees", ""),
        ("table1 f test_pairs", "contradicts", "2"), ("table1 g test_pairs", "contradicts", "3"),
    ]  # fmt: skip
    assert (counts["checks"], counts["agrees"], counts["contradicts"]) == (4, 1, 3)
    named, counts = facts_of(paper(HEADER + lines, same_fact=[["table1 d test_pairs", "table1 g test_pairs"]]))
    assert [fact for *_, fact in named] == ["1", "", "2", "1"]
    assert (counts["checks"], counts["contradicts"]) == (4, 2)
    # A fact with a contradiction is one, although another line of it depends on a condition.
    conditions = {"table1 d test_pairs": "each has one"}
    _, counts = facts_of(
        paper(HEADER + lines, same_fact=[["table1 d test_pairs", "table1 g test_pairs"]], conditions=conditions)
    )
    assert (counts["contradicts"], counts["depends"]) == (2, 0)


def test_findings_that_depend_on_one_condition_are_one_fact(paper):
    lines = ONE_HELD_OUT + "".join(
        f"p,table1,{name},{column},{value},count,data_statistics,\n"
        for name in "def"
        for column, value in (("images", 10), ("test_pairs", 20))
    )
    conditions = {"table1 d test_pairs": "one", "table1 e test_pairs": "one", "table1 f test_pairs": "another"}
    found, counts = facts_of(paper(HEADER + lines, conditions=conditions))
    assert [fact for *_, fact in found] == ["1", "1", "2"]
    assert (counts["depends"], counts["contradicts"]) == (2, 0)


READ = ["labels", "images", "trials", "test_pairs", "train_pairs", "labels_per_image", "iterations", "factors",
        "leaf_images", "first_found", "test_images", "train_images", "recall@5", "precision@5", "recall@10", "auc@10",
        "map@10", "f1@5", "speedup", "training_time", "iteration_time", "test_time", "precision@1", "precision@10",
        "map", "images_with_3_labels", "images_with_5_labels_or_fewer", "most_labels_of_an_image", "exact_match",
        "ov_recall", "ov_precision", "macro_f1", "maximum_labels", "pairs_per_image"]  # fmt: skip
ROWS_READ = ["d", "d/p", "d/knn", "d/w/improve", "d/w/accelerate", "all", "p", "w", "d/w", "d/m_topk", "d/p_topk",
             "d/p_label_count"]  # fmt: skip
STATEMENTS = [
    statement({"p": "all"}, metrics=["exact_match"], quantifier="all_datasets"),
    statement({"p": "baselines"}, same_decision={"m_topk": "p_topk"}),
    statement({"p": "baselines"}, metrics=["macro_f1"]),
    statement({"p_topk": ["m_topk"]}, "near"),
    statement({"p": "all"}, "best"),
    statement({"w_5": ["p"]}, "faster"),
    statement({"p_topk": ["m_topk"], "p": "all"}, "curve"),
]
odd_lines = st.tuples(
    st.sampled_from(["p", "q"]),
    st.sampled_from(["table1", "text"]),
    st.sampled_from(ROWS_READ),
    st.sampled_from(READ),
    st.sampled_from(["0", "0.0", "5", "0.5000", "1e-9", "300"]),
    st.sampled_from(["1", "count", "percent", "hours", "seconds", "times"]),
    st.sampled_from(["leave_one_out", "to_convergence"]),
)


@given(st.lists(odd_lines, max_size=60))
def test_odd_numbers_never_fail(lines):
    odd = {line[:4]: PrintedCell(*line, note="") for line in lines}
    found = audit(PrintedCells(tuple(odd.values()), tuple(STATEMENTS)))
    assert {each.verdict for each in found} <= set(VERDICTS)


# The real papers


@pytest.fixture(scope="module")
def real(tmp_path_factory):
    out = tmp_path_factory.mktemp("audit") / "audit.csv"
    assert main(["stage", "audit", "--papers", *map(str, sorted(PUBLISHED.glob("*.yaml"))), "--out", str(out)]) == 0
    return read_findings(out)


EXPECTED = {
    "lsep": (89, 3, 0),
    "sampled_tagging": (55, 8, 10),
    "vse_ens": (76, 5, 3),
    "vse_fs": (194, 7, 7),
    "wsabie": (142, 9, 1),
}  # checks that agree, facts that depend, facts that contradict


def test_the_verdicts_on_each_paper_stay(real):
    by_paper = {paper: summarise([each for each in real if each.paper == paper]) for paper in EXPECTED}
    assert {paper: tuple(by_paper[paper][verdict] for verdict in VERDICTS) for paper in EXPECTED} == EXPECTED
    assert summarise(real)["checks"] == len(real)


# What the papers' text does not allow to deny, read for each of them; a new contradiction has to be read as well.
CONTRADICTIONS = {
    "lsep": [],
    "sampled_tagging": [
        "text equation4 identity",
        "text yfcc100m labels_after_cut",
        "text yfcc100m final_layer_weights",
        "table2 nuswide_925_to_81/x_ent f1@5",
        "table2 nuswide_925_to_1006/x_ent f1@5",
        "table2 iapr_to_espgame/x_ent f1@5",
        "table2 nuswide_925_to_1006/s_fast0tag f1@5",
        "table2 iapr_to_espgame/s_x_ent f1@5",
        "table2 iapr_to_espgame/s_opt_x_ent f1@5",
        "text all averages",
    ],
    "vse_ens": [
        "table1 iapr test_pairs",
        "text iapr labels_per_image",
        "text nuswide/warp/accelerate speedup",
    ],
    "vse_fs": [
        "text vse_ens metrics_above_warp",
        "text openimages sampled_pairs",
        "table4 openimages/vse_fs recall@5",
        "table4 flickr/vse_fs recall@5",
        "table4 flickr/opt_auc recall@5",
        "table4 iapr/vse_fs recall@10",
        "text table3 datasets",
    ],
    "wsabie": ["table7 imagenet/wsabie_300 sibling_precision@10"],
}


@pytest.mark.parametrize("paper", CONTRADICTIONS)
def test_a_paper_is_contradicted_only_where_its_authors_would_have_to_agree(real, paper):
    facts = [each.judged for each in counted(real) if (each.paper, each.verdict) == (paper, "contradicts")]
    assert facts == CONTRADICTIONS[paper]


def test_no_contradiction_rests_on_a_number_that_is_not_printed_or_hard_to_read(real):
    printed = read_audited([Paper.read(path) for path in sorted(PUBLISHED.glob("*.yaml"))]).all
    unprinted = {f"{cell.paper} {cell.name}" for cell in printed if "not printed" in cell.note}
    assert unprinted
    contradicting = [each for each in real if each.verdict == "contradicts"]
    used = {f"{each.paper} {name}" for each in contradicting for name in each.cells.split("; ")}
    assert used & unprinted == set()


def test_only_a_verdict_that_depends_has_a_condition(real):
    assert [each for each in real if (each.verdict == "depends") != bool(each.condition)] == []


@pytest.mark.parametrize(
    ("cell", "check", "words"),
    [
        ("text lsep exact_match_above_all", "above", "voc2007 exact_match: lsep 64.6 < lsep_label_count 66.3"),
        ("text lsep pc_precision_above_baselines", "above", "voc2007: pc_precision not printed"),
        ("text lsep macro_f1_above_baselines", "overall F1", "lsep 68.3 > cnn_rnn 67.8"),
    ],
)
def test_what_the_papers_say_is_held_against_their_tables(real, cell, check, words):
    found = [each.explanation for each in real if each.cells.startswith(cell) and each.check == check]
    assert any(words in explanation for explanation in found)


def test_every_improvement_and_speed_up_is_judged(real):
    printed = read_audited([Paper.read(path) for path in sorted(PUBLISHED.glob("*.yaml"))]).all
    for check, ending, but in (("improvement", "/improve", 1), ("speed-up", "/accelerate", 0)):
        judged = [each for each in real if each.check == check and ending in each.cells.split("; ")[0]]
        assert len(judged) == sum(each.row.endswith(ending) for each in printed) - but  # one gain has no printed base
