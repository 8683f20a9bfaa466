"""Print the time that a run's jobs took: `python -m benchmarks.jobs [FOLDER]` (default: the current folder).

The script reads Snakemake's records of files (`.snakemake/metadata`) and prints the seconds of jobs by rule and method.
If several runs made a file, the last run counts. Jobs run in parallel, so the sum can exceed the time of the run.
"""

import json
import re
import sys
from base64 import urlsafe_b64decode
from pathlib import Path

import polars as pl

from vsebench.core.errors import UserError

VARIANT = re.compile(r"results/(?:[^/]+/[^/]+/seed\d+/(?!split/)([^/]+)/|kernels/([^/]+)\.json$)")


def read_jobs(folder: Path) -> pl.DataFrame:
    """Return the rule, variant (empty if there is none) and seconds of each recorded job.

    Raise a `UserError` if Snakemake has recorded no finished job in `folder`.
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
        match = VARIANT.match(file_of(path.relative_to(records)))
        variant = (match[1] or match[2]) if match else ""
        job = record["rule"], record["job_hash"]  # a job has a record per file, with slightly different times
        _, first, last = jobs.get(job, (variant, start, end))
        jobs[job] = variant, min(first, start), max(last, end)
    if not jobs:
        raise UserError(f"{records}: no record of a finished job; name the folder in which Snakemake ran")
    rows = [(rule, variant, end - start) for (rule, _), (variant, start, end) in jobs.items()]
    return pl.DataFrame(rows, schema=["rule", "variant", "seconds"], orient="row")


def file_of(record: Path) -> str:
    """Return the file that a record is about.

    The record's path is the file's path in base64, which is cut into folder names if it is long.
    """
    return urlsafe_b64decode("".join(part.removeprefix("@") for part in record.parts)).decode()


def totals(jobs: pl.DataFrame) -> pl.DataFrame:
    """Return the number of jobs, their seconds, and their share of all seconds, for each rule and variant.

    The rows are in descending order of the seconds.
    """
    groups = jobs.group_by("rule", "variant").agg(jobs=pl.len(), seconds=pl.col("seconds").sum())
    return groups.with_columns(share=pl.col("seconds") / pl.col("seconds").sum()).sort(
        "seconds", "rule", "variant", descending=[True, False, False]
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
