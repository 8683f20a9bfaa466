"""The time that a run will still take: from the jobs that have ended, and a guess for rules of which none has."""

import io
import logging
from types import SimpleNamespace

from snakemake_interface_logger_plugins.common import LogEvent

from vsebench.core.time_to_go import GUESSES, TimeToGo


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def tell(handler: TimeToGo, event: object, **values: object) -> None:
    handler.handle(logging.makeLogRecord({"event": event} | values))


def begun(cores: int = 2) -> tuple[TimeToGo, Clock, io.StringIO]:
    clock, out = Clock(), io.StringIO()
    handler = TimeToGo(cores, {"time_methods"}, clock, out)
    tell(handler, LogEvent.RUN_INFO, stats={"fit": 4, "time_methods": 1, "split": 2, "total": 7})
    return handler, clock, out


def test_rules_without_a_finished_job_are_guessed_and_timed_jobs_run_alone():
    handler, _, _ = begun()
    assert handler.remaining() == 4 * GUESSES["fit"] / 2 + GUESSES["time_methods"] + 2 * 1.0 / 2


def test_finished_jobs_say_how_long_the_others_of_their_rule_take():
    handler, clock, out = begun()
    for job, seconds in ((1, 10.0), (2, 30.0)):
        tell(handler, LogEvent.JOB_INFO, jobid=job, rule_name="fit")
        clock.now += seconds
        tell(handler, LogEvent.JOB_FINISHED, job_id=job)
    assert handler.remaining() == 2 * 20.0 / 2 + GUESSES["time_methods"] + 1.0
    assert out.getvalue() == "about 50 s to go\n"  # 46; none after the first job, which took ten seconds


def test_nothing_is_said_at_the_end_or_of_other_messages():
    handler, clock, out = begun()
    tell(handler, LogEvent.RUN_INFO, stats={"fit": 1, "total": 1})
    handler.handle(logging.makeLogRecord({"msg": "Select jobs to execute..."}))
    tell(handler, SimpleNamespace(value="shellcmd"))
    tell(handler, LogEvent.JOB_FINISHED, job_id=3)  # of a job that began before
    tell(handler, LogEvent.JOB_INFO, jobid=1, rule_name="fit")
    clock.now += 60
    tell(handler, LogEvent.JOB_FINISHED, job_id=1)
    assert out.getvalue() == ""
    assert handler.remaining() == 0
