"""The trials' tables, and the page that they are written into."""

import argparse
import subprocess
from textwrap import dedent

import pytest

from tests.reliability import subjects
from tests.reliability.__main__ import ROOT, TRIALS, block, commit, main
from tests.reliability.trial import Trial
from tests.workflow import determinism, kills, obstacles
from tests.workflow.kills import Kill, Round
from tests.workflow.obstacles import NONE, Attempt

BLOCK = "<!-- tried: kills -->\n{}<!-- end of tried -->\n"
OTHER = "<!-- tried: fuzz -->\n\nold\n\n<!-- end of tried -->\n"
OLD = BLOCK.format("old\n")
PAGE = f"# Page\n\n{OLD}\nText.\n\n{OTHER}"
TRIED = Trial("3 kills", ["killed", "files"], [["one job", 1234]], [])
TABLE = "| killed | files |\n| --- | --- |\n| one job | 1,234 |"


@pytest.fixture
def page(tmp_path):
    path = tmp_path / "page.md"
    path.write_text(PAGE)
    return path


@pytest.fixture
def outcome(monkeypatch):
    """Set the outcome of the trial `kills`; None: it must not begin."""

    def replace(trial):
        monkeypatch.setattr(kills, "run", lambda arguments: trial or pytest.fail("the trial began"))

    return replace


def test_a_trial_replaces_its_block_and_no_other_text(page, outcome, capsys):
    outcome(TRIED)
    assert main(["kills", "--page", str(page)]) == 0
    text = page.read_text()
    filled = block("kills").search(text)[2]
    above, table = filled.strip().split("\n\n")
    assert table == TABLE
    assert ": 3 kills; 0 seconds." in " ".join(above.splitlines())
    assert text == PAGE.replace(OLD, BLOCK.format(filled))
    assert filled.strip() in capsys.readouterr().out


def test_a_trial_that_fails_changes_no_page(page, outcome, capsys):
    outcome(Trial("3 kills", ["killed"], [["one job"]], ["run 1: left over: a.csv"]))
    assert main(["kills", "--page", str(page)]) == 1
    assert page.read_text() == PAGE
    assert capsys.readouterr().err == "failed: run 1: left over: a.csv\n"


@pytest.mark.parametrize("text", ["No block.", f"<!-- tried: kills -->\n{OTHER}", BLOCK.format("") * 2])
def test_a_page_without_exactly_one_block_is_refused_before_the_trial_begins(page, outcome, capsys, text):
    outcome(None)
    page.write_text(text)
    with pytest.raises(SystemExit):
        main(["kills", "--page", str(page)])
    assert "<!-- tried: kills -->" in capsys.readouterr().err


def test_a_part_of_a_trial_is_not_for_a_page(page, capsys):
    with pytest.raises(SystemExit):
        main(["fuzz", "--only", "saiapr", "--page", str(page)])
    assert "leave out --only" in capsys.readouterr().err


def test_the_page_of_the_project_has_a_block_for_each_trial():
    text = (ROOT / "docs/reliability.md").read_text(encoding="utf-8")
    assert [len(block(name).findall(text)) for name in TRIALS] == [1] * len(TRIALS)


def test_tests_of_a_subject_are_counted(tmp_path):
    text = """
        import pytest

        def test_right():
            pass

        def test_wrong():
            assert False

        @pytest.mark.skip
        def test_left_out():
            pass

        @pytest.fixture
        def broken():
            raise OSError

        def test_without_fixture(broken):
            pass
        """
    (tmp_path / "test_file.py").write_text(dedent(text))
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    found = subjects.tested(["test_file.py"], tmp_path)
    assert (found.tests, found.skipped) == (4, 1)
    assert found.failed == ["test_file::test_wrong", "test_file::test_without_fixture"]


def test_the_files_of_all_subjects_exist():
    assert [file for files in subjects.SUBJECTS.values() for file in files if not (ROOT / file).is_file()] == []


def test_the_commit_and_whether_anything_but_the_page_was_changed(tmp_path):
    def git(*words):
        author = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", *author, *words], cwd=tmp_path, check=True, capture_output=True)

    page, other = tmp_path / "page.md", tmp_path / "other.md"
    assert commit(tmp_path, page) == "unknown commit"
    page.touch()
    git("init")
    git("add", ".")
    git("commit", "--message", "first")
    clean = commit(tmp_path, None)
    assert clean.startswith("commit ")
    page.write_text("changed")
    assert commit(tmp_path, page) == clean
    assert commit(tmp_path, None) == f"{clean} and local changes"
    other.touch()
    assert commit(tmp_path, page) == f"{clean} and local changes"


def test_kills_are_counted_by_kind():
    of_all = [Kill("all", 1.0, 5, {"prepare"}, -9), Kill("all", 2.0, 70, {"rank", "fit"}, -9)]
    good = Round([*of_all, Kill("job", 3.0, 90, {"table"}, 1)], True, [], [])
    bad = Round([Kill("all", 0.5, 0, {"fit"}, -9)], False, ["a.csv"], ["b.csv"])
    trial = kills.summary([good, bad], 90)
    assert trial.summary == "4 kills in 2 runs; an undisturbed run makes 90 files"
    assert trial.rows == [
        ["Snakemake and its jobs", 3, 2, "0 to 70", "fit (2), prepare (1), rank (1)", 1, 1, 1],
        ["Snakemake alone", 0, 0, "", "", 0, 0, 0],
        ["one job", 1, 1, "90 to 90", "table (1)", 1, 0, 0],
        ["the job that writes the report", 0, 0, "", "", 0, 0, 0],
    ]
    assert trial.failures == [
        "run 2: the run did not finish",
        "run 2: different: a.csv",
        "run 2: left over: b.csv",
    ]


def test_a_run_with_an_obstacle_has_to_fail_with_its_cause_and_without_other_files():
    full = "Warning\nresults/a.csv: cannot be written: No space left on device; make space"
    good = [
        Attempt("a disk", 1, full, 40, []),
        Attempt("memory", -9, "", 3, []),
        Attempt("memory", 1, "log: vsebench: this job was killed, most likely because memory ran out\n", 9, []),
        Attempt(NONE, 0, "Done.", 90, []),
    ]
    trial = obstacles.summary({"disk": good})
    assert trial.summary == "3 runs with an obstacle, and 1 in the same folders without one"
    assert [row[-1] for row in trial.rows] == [
        "cannot be written: No space left on device; make space",
        "(Snakemake was killed)",
        "log: vsebench: this job was killed, most likely because memory ran out",
        "",
    ]
    assert trial.failures == []
    last = good[-1]
    bad = [
        Attempt("a disk", 1, f"Traceback\n{full}", 40, []),
        Attempt("a disk", 1, "Error", 40, []),
        Attempt("a disk", 1, full, 40, ["a.csv"]),
    ]
    kinds = [*([each, last] for each in bad), [good[0], Attempt(NONE, 0, "Done.", 90, ["b.csv"])], [last], good[:1]]
    assert [len(obstacles.summary({"disk": kind}).failures) for kind in kinds] == [1] * 6


def test_conditions_of_determinism_are_compared_with_the_first_run(monkeypatch):
    made = {"the first run": {"a": b"1", "b": b"2"}, "umask 077": {"a": b"1", "b": b"2"}, "one job at a time": {}}
    made["LC_ALL=C"] = {"a": b"other", "c": b"2"}
    monkeypatch.setattr(determinism, "prepared", lambda folder: None)
    monkeypatch.setattr(determinism, "made", lambda source, condition, folder: made[condition.title])
    trial = determinism.run(argparse.Namespace(only=["one job at a time", "LC_ALL=C", "umask 077"]))
    assert trial.rows == [
        ["one job at a time", 0, "the run failed"],
        ["LC_ALL=C", 2, "a, b, c"],
        ["umask 077", 2, "same"],
    ]
    assert trial.failures == ["one job at a time: the run failed", *(f"LC_ALL=C: {name}" for name in "abc")]


def test_damaged_files_are_counted_by_group(capsys):
    assert main(["fuzz", "--number", "5", "--only", "saiapr"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("saiapr: {")
    assert lines[-1].startswith("| of data sets: LEAR, SAIAPR, ")
    assert " | 1 | 5 | " in lines[-1]
