"""The hooks of a run: cleaning up, reporting progress, and the last messages."""

import io
import logging
import os
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
from snakemake_interface_logger_plugins.common import LogEvent

from vsebench.workflow import (
    CLEAR,
    OnlyProgress,
    Progress,
    discard_leftovers,
    discard_of_other_run,
    is_running,
    print_failures,
    print_results,
)


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def send(handler: Progress, event: object, **values: object) -> None:
    handler.handle(logging.makeLogRecord({"event": event} | values))


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def begin(cores: int = 2, out: io.StringIO | None = None) -> tuple[Progress, Clock, io.StringIO]:
    clock, out = Clock(), out or io.StringIO()
    handler = Progress(cores, {"time_methods"}, clock, out)
    send(handler, LogEvent.RUN_INFO, stats={"fit": 4, "time_methods": 1, "split": 2, "total": 7})
    return handler, clock, out


def run_job(handler: Progress, clock: Clock, rule: str, seconds: float, job: int = 1) -> None:
    send(handler, LogEvent.JOB_INFO, jobid=job, rule_name=rule, output=[f"results/{rule}.csv"])
    clock.now += seconds
    send(handler, LogEvent.JOB_FINISHED, job_id=job)


def test_other_rules_are_expected_to_take_as_long_as_the_average_job_and_timed_jobs_run_alone():
    handler, clock, _ = begin()
    assert handler.remaining() == 0
    run_job(handler, clock, "fit", 6.0)
    assert handler.remaining() == 3 * 6.0 / 2 + 6.0 + 2 * 6.0 / 2


def test_finished_jobs_say_how_long_the_others_of_their_rule_take():
    handler, clock, out = begin()
    run_job(handler, clock, "split", 5.0)
    assert out.getvalue() == ""  # less than the pause
    run_job(handler, clock, "fit", 30.0)
    average = (5.0 + 30.0) / 2
    assert handler.remaining() == 3 * 30.0 / 2 + average + 1 * 5.0 / 2
    assert out.getvalue() == "2 of 7 jobs, about 60 s to go\n"  # 65, in tens to the even side


def test_on_a_terminal_the_line_is_replaced_after_each_job_and_tables_are_named():
    handler, clock, out = begin(out=Terminal())
    send(handler, LogEvent.RUN_INFO, stats={"fit": 1, "table": 1, "total": 2})
    run_job(handler, clock, "fit", 20.0)
    run_job(handler, clock, "table", 1.0)
    assert out.getvalue() == f"{CLEAR}1 of 2 jobs, about 10 s to go\r{CLEAR}results/table.csv\n{CLEAR}"


def test_messages_that_progress_replaces_are_dropped_and_counted_and_others_stay():
    handler, _, _ = begin()
    only = OnlyProgress(handler)

    def stays(level: int = logging.INFO, **values: object) -> bool:
        return only.filter(logging.makeLogRecord({"levelno": level, "event": None} | values))

    assert stays(event=LogEvent.JOB_INFO, jobid=1, rule_name="fit", output=["a"])
    assert not stays(event=LogEvent.JOB_FINISHED, job_id=1)
    assert handler.left["fit"] == 3
    assert not stays(event=LogEvent.RESOURCES_INFO, msg="Provided cores: 2")
    for message in ("Select jobs to execute...", "Building DAG of jobs...", "Using shell: /usr/bin/bash"):
        assert not stays(msg=message)
    assert stays(msg="Nothing to be done")
    assert stays(logging.WARNING, msg="Using shell: none")


def test_what_is_listed_at_the_end_of_a_failed_run_is_not_printed_before():
    only = OnlyProgress(begin()[0])

    def stays(message: str) -> bool:
        return only.filter(logging.makeLogRecord({"levelno": logging.ERROR, "event": None, "msg": message}))

    failed = (
        "RuleException:\nCalledProcessError in file \"a.smk\", line 95:\nCommand 'x' returned non-zero exit status {}."
    )
    assert not stays(failed.format(1))
    assert not stays(failed.format(137))
    assert stays(failed.format(139))
    assert not stays("Exiting because a job execution failed. Look above for error messages")
    assert not stays("WorkflowError:\nAt least one job did not complete successfully.")
    assert stays("WorkflowError:\nanother mistake")
    assert stays("MissingOutputException in rule fit")


REFUSALS = [
    (
        "WorkflowError:\nFailed to create directory data/raw/a.\nOSError: [Errno 30] Read-only file system: 'data/raw'",
        "data/raw: cannot be written: Read-only file system",
    ),
    (
        "Traceback:\n  File 'a.py', line 1\n\nPermissionError: [Errno 13] Permission denied: 'results/a b.csv'\n\n",
        "results/a b.csv: cannot be written: Permission denied",
    ),
    (
        "ProtectedOutputException in rule figure in file 'f.smk':\nWrite-protected output files for rule figure:"
        "\n    output: figures/a.pdf, figures/a.svg\n    affected files:\n        figures/a.svg\n",
        "figures/a.svg: cannot be written: it is write-protected",
    ),
]


@pytest.mark.parametrize(("message", "line"), REFUSALS)
def test_what_snakemake_may_not_write_or_delete_is_told_in_one_line(message, line):
    record = logging.makeLogRecord({"levelno": logging.ERROR, "event": None, "msg": message})
    assert OnlyProgress(begin()[0]).filter(record)
    assert record.msg == f"vsebench: {line}; when this is fixed, run the same command again"


@pytest.mark.parametrize(
    "message", ["WorkflowError:\nanother mistake", "FileNotFoundError: [Errno 2] No such file: 'a'"]
)
def test_other_messages_of_snakemake_stay_as_they_are(message):
    record = logging.makeLogRecord({"levelno": logging.ERROR, "event": None, "msg": message})
    assert OnlyProgress(begin()[0]).filter(record)
    assert record.msg == message


def test_nothing_is_printed_at_the_end_or_for_other_messages():
    handler, clock, out = begin()
    send(handler, LogEvent.RUN_INFO, stats={"fit": 1, "total": 1})
    handler.handle(logging.makeLogRecord({"msg": "Select jobs to execute..."}))
    send(handler, SimpleNamespace(value="shellcmd"))
    send(handler, LogEvent.JOB_FINISHED, job_id=3)  # of a job that began before
    run_job(handler, clock, "fit", 60.0)
    assert out.getvalue() == ""
    assert handler.remaining() == 0


def test_temporary_files_of_dead_processes_are_deleted_and_those_of_living_ones_stay(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "results").mkdir()
    gone = tmp_path / "results" / ".metrics.parquet.999999999.tmp.x"
    kept = tmp_path / "results" / f".metrics.parquet.{os.getpid()}.tmp.x"
    result = tmp_path / "results" / "metrics.parquet"
    for path in (gone, kept, result):
        path.touch()
    folder = tmp_path / "results" / ".scores.999999999.tmp.d"
    folder.mkdir()
    (folder / "scores.csv").touch()
    assert not is_running("not a number")
    discard_leftovers()
    assert not gone.exists()
    assert not folder.exists()
    assert kept.exists()
    assert result.exists()


def test_failed_jobs_are_listed_with_the_last_line_of_their_logs(tmp_path, capsys, monkeypatch):
    log, missing = tmp_path / "fit.log", tmp_path / "none.log"
    log.write_text("Traceback\nValueError: bad\n")
    job = SimpleNamespace(
        rule=SimpleNamespace(name="fit"),
        wildcards_dict={"dataset": "scene", "seed": "1"},
        log=[str(log), str(missing)],
    )
    print_failures([job])
    lines = capsys.readouterr().err.splitlines()
    assert lines[2:] == ["  fit: dataset scene, seed 1", f"    {log}: ValueError: bad", f"    {missing}: (empty)"]
    for logs, alike in (([str(log)], True), ([str(missing)], False)):
        pair = [SimpleNamespace(**vars(job) | {"wildcards_dict": {"seed": seed}, "log": logs}) for seed in "12"]
        print_failures(pair)
        told = capsys.readouterr().err.splitlines()
        assert ("  fit: seed 1, and 1 more for the same reason" in told) == alike
        assert ("  fit: seed 2" in told) != alike
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=3 << 20))
    print_failures([job])
    assert capsys.readouterr().err.endswith("  The disk is full: 3 MiB are free. Make space first.\n")
    print_failures([])
    assert capsys.readouterr().err == ""


def test_paths_are_named_as_in_the_folder_where_the_run_was_started(tmp_path, capsys, monkeypatch):
    (tmp_path / "runs/mine").mkdir(parents=True)
    monkeypatch.setenv("PWD", str(tmp_path))
    monkeypatch.chdir(tmp_path / "runs/mine")
    Path("results").mkdir()
    Path("results/fit.log").write_text("vsebench fit: ../../mine/a.csv: bad; see results/a.log\n")
    job = SimpleNamespace(rule=SimpleNamespace(name="fit"), wildcards_dict={"seed": "1"}, log=["results/fit.log"])
    print_failures([job])
    lines = capsys.readouterr().err.splitlines()
    assert "    runs/mine/results/fit.log: vsebench fit: mine/a.csv: bad; see runs/mine/results/a.log" in lines


def test_tables_and_figures_of_an_earlier_run_go_but_a_figure_of_your_own_stays(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    files = ["results/tables/accuracy-a.csv", "results/tables/accuracy-b.csv", "figures/trials.pdf", "figures/mine.pdf"]
    logs = ["results/logs/table/accuracy-a.log", "results/logs/table/accuracy-b.log", "results/logs/figure/trials.log"]
    for name in [*files, *logs]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    discard_of_other_run({"accuracy-a"}, {"precision"})
    assert [name for name in files if (tmp_path / name).exists()] == [files[0], files[3]]


def test_results_are_named_only_after_a_run_that_made_the_report(capsys):
    print_results({"results/metrics.parquet"}, 3, 4)
    assert capsys.readouterr().out == ""
    print_results({"results/report.html"}, 3, 4)
    assert "3 tables" in capsys.readouterr().out
