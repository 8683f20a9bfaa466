"""Where the time of a run went: `python -m benchmarks.jobs [FOLDER]`, of a run in FOLDER or in this one.

Reads Snakemake's records of the files that it made (`.snakemake/metadata`), which do not depend on what a run printed,
and prints the seconds of the jobs by rule and row of the results. A file made by several runs counts with the last of
them. Jobs run side by side, so the sum is more than the run took.
"""

import json
import re
import sys
from base64 import urlsafe_b64decode
from pathlib import Path

import polars as pl

from vsebench.core.errors import UserError

ROW = re.compile(r"results/(?:[^/]+/[^/]+/seed\d+/(?!split/)([^/]+)/|kernels/([^/]+)\.json$)")


def read_jobs(folder: Path) -> pl.DataFrame:
    """Return rule, row (empty where a job is not about one) and seconds of every job that made a file in `folder`.

    Raises `UserError` where Snakemake has recorded no finished job.
    """
    records = folder / ".snakemake" / "metadata"
    jobs: dict[tuple[str, int], tuple[str, float, float]] = {}
    for path in records.rglob("*"):
        if not path.is_file():
            continue
        record = json.loads(path.read_text(encoding="utf-8"))
        start, end = record.get("starttime"), record.get("endtime")
        if start is None or end is None or record.get("incomplete"):
            continue
        found = ROW.match(file_of(path.relative_to(records)))
        row = (found[1] or found[2]) if found else ""
        job = record["rule"], record["job_hash"]  # has a record for each of its files, with slightly different times
        _, first, last = jobs.get(job, (row, start, end))
        jobs[job] = row, min(first, start), max(last, end)
    if not jobs:
        raise UserError(f"{records}: no record of a finished job; name the folder that Snakemake ran in")
    rows = [(rule, row, end - start) for (rule, _), (row, start, end) in jobs.items()]
    return pl.DataFrame(rows, schema=["rule", "row", "seconds"], orient="row")


def file_of(record: Path) -> str:
    """Return the file that a record is about: its name is in base64, and a long one is cut into folders with an @."""
    return urlsafe_b64decode("".join(part.removeprefix("@") for part in record.parts)).decode()


def totals(jobs: pl.DataFrame) -> pl.DataFrame:
    """Return jobs, seconds and share of all seconds by rule and row, the longest first."""
    groups = jobs.group_by("rule", "row").agg(jobs=pl.len(), seconds=pl.col("seconds").sum())
    return groups.with_columns(share=pl.col("seconds") / pl.col("seconds").sum()).sort(
        "seconds", "rule", "row", descending=[True, False, False]
    )


def main(arguments: list[str]) -> int:
    try:
        jobs = read_jobs(Path(arguments[0] if arguments else "."))
    except UserError as error:
        print(f"benchmarks.jobs: {error}", file=sys.stderr)
        return 1
    with pl.Config(tbl_rows=-1, tbl_hide_dataframe_shape=True, tbl_hide_column_data_types=True, float_precision=2):
        print(totals(jobs))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
