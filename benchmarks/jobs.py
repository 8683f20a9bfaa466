"""Where the time of a run goes: `python -m benchmarks.jobs .snakemake/log/<newest>.log`.

Reads Snakemake's own log and prints the seconds of its jobs by rule and row of the results. Jobs run side by side, so
the sum is more than the run took.
"""

import re
import sys
from datetime import datetime
from pathlib import Path

import polars as pl

START = re.compile(r"^(?:local)?rule (\w+):", re.MULTILINE)
FINISHED = re.compile(r"^Finished jobid: (\d+)", re.MULTILINE)
JOB = re.compile(r"^ +jobid: (\d+)", re.MULTILINE)
ROW = re.compile(r"wildcards: .*\brow=(\w+)")
STAMP = "%a %b %d %H:%M:%S %Y"


def read_jobs(text: str) -> pl.DataFrame:
    """Return rule, row (empty where a job is not about one) and seconds of every finished job of a log."""
    started: dict[str, tuple[datetime, str, str]] = {}
    jobs = []
    for entry in re.split(r"^\[", text, flags=re.MULTILINE)[1:]:
        stamp, _, message = entry.partition("]\n")
        time = datetime.strptime(stamp, STAMP)
        rule, job, finished = START.search(message), JOB.search(message), FINISHED.search(message)
        if rule and job:
            row = ROW.search(message)
            started[job[1]] = time, rule[1], row[1] if row else ""
        if finished and finished[1] in started:
            start, name, row_name = started.pop(finished[1])
            jobs.append((name, row_name, (time - start).total_seconds()))
    return pl.DataFrame(jobs, schema=["rule", "row", "seconds"], orient="row")


def totals(jobs: pl.DataFrame) -> pl.DataFrame:
    """Return jobs, seconds and share of all seconds by rule and row, the most first."""
    groups = jobs.group_by("rule", "row").agg(jobs=pl.len(), seconds=pl.col("seconds").sum())
    return groups.with_columns(share=pl.col("seconds") / pl.col("seconds").sum()).sort(
        "seconds", "rule", "row", descending=[True, False, False]
    )


if __name__ == "__main__":
    with pl.Config(tbl_rows=-1, tbl_hide_dataframe_shape=True, tbl_hide_column_data_types=True, float_precision=2):
        print(totals(read_jobs(Path(sys.argv[1]).read_text(encoding="utf-8"))))
