"""After an edit of a paper's files, only jobs that read the edited part run again (dry-runs)."""

import pytest

from vsebench.rendering.kinds import FigureKind, TableKind, find, instances_of_run
from vsebench.rendering.outline import read_outline

PAPER = "config/papers/vse_ens.yaml"
EQUATION = "{equation: '1', printed: minus, right: plus}"
PAGE = {"report_page", "all"}


@pytest.fixture
def reading(finished):
    """Return a function that names the run's tables or figures whose kinds read a gathered file."""
    outline = read_outline(finished.project.folder / "results" / "outline.json")

    def names(base, file):
        kinds = {name: find(base, instance.kind) for name, instance in instances_of_run(base, outline).items()}
        return {name for name, kind in kinds.items() if file in kind.needs}

    return names


def test_a_comment_repeats_nothing(changed):
    outcome = changed(change=lambda clone: clone.edit(PAPER, "title: VSE-ens\n", "title: VSE-ens  # short\n"))
    assert "Nothing to be done" in outcome.text


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        (PAPER, "metrics: [recall@5, ", "metrics: ["),
        ("src/vsebench/papers/claims/growth.py", '"""Claims about ', '"""Edited: claims about '),
    ],
)
def test_an_edited_claim_or_its_test_repeats_the_tests_and_what_shows_them(changed, reading, file, old, new):
    outcome = changed(change=lambda clone: clone.edit(file, old, new))
    assert outcome.rules == {"test_claims", "table", "figure"} | PAGE
    assert outcome.of("table", "name") == reading(TableKind, "claims")
    assert outcome.of("figure", "name") == reading(FigureKind, "claims")


def test_an_edited_table_makes_that_table_again(changed):
    outcome = changed(change=lambda clone: clone.edit(PAPER, "right: plus", "right: a plus"))
    assert outcome.rules == {"table"} | PAGE
    assert outcome.of("table", "name") == {"vse_ens_equations"}


def test_an_edited_variant_repeats_the_comparison_and_the_tables_of_the_paper(changed):
    outcome = changed(change=lambda clone: clone.edit(PAPER, "ours: [warp, warp_published]", "ours: [warp]"))
    assert outcome.rules <= {"compare_with_papers", "table", "figure"} | PAGE
    assert outcome.of("table", "name") == {"vse_ens_equations"}


def test_an_edited_number_repeats_the_audit_too(changed, reading):
    outcome = changed(change=lambda clone: clone.edit("config/papers/vse_ens.csv", "images,112247", "images,112248"))
    assert outcome.rules == {"audit_papers", "compare_with_papers", "table"} | PAGE
    assert {"vse_ens_equations"} | reading(TableKind, "audit") <= outcome.of("table", "name")


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        (
            "src/vsebench/papers/audit/checks/ratios.py",
            '"""Checks of improvements',
            '"""Edited: checks of improvements',
        ),
        (PAPER, "quotation: a stronger baseline", "quotation: a better baseline"),
    ],
)
def test_an_edited_check_or_statement_repeats_the_audit_only(changed, reading, file, old, new):
    outcome = changed(change=lambda clone: clone.edit(file, old, new))
    assert outcome.rules == {"audit_papers", "table"} | PAGE
    assert outcome.of("table", "name") == reading(TableKind, "audit")


def test_an_edited_test_of_claims_repeats_the_tests_of_claims_only(changed, reading):
    file = "src/vsebench/papers/claims/sampling.py"
    outcome = changed(change=lambda clone: clone.edit(file, '"""Claims about ', '"""Edited: claims about '))
    assert outcome.rules == {"test_claims", "table", "figure"} | PAGE
    assert outcome.of("table", "name") == reading(TableKind, "claims")
    assert outcome.of("figure", "name") == reading(FigureKind, "claims")


def test_a_new_paper_is_two_files(changed):
    def add(clone):
        folder = clone.folder / "config" / "papers"
        (folder / "sixth.yaml").write_text(
            "{title: Sixth, citation: none, tables: {table1: {kind: equations, equations: [*]}}}\n".replace(
                "*", EQUATION
            )
        )
        header = "paper,table,row,column,value,unit,protocol,note\n"
        (folder / "sixth.csv").write_text(header + "sixth,table1,d,images,10,count,data_statistics,\n")

    outcome = changed("--config", "papers=[vse_ens,sixth]", change=add)
    assert outcome.rules <= {"outline", "compare_with_papers", "test_claims", "audit_papers", "table", "figure"} | PAGE
    assert "sixth_table1" in outcome.of("table", "name")
