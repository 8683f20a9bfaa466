import json
from base64 import urlsafe_b64encode

import pytest

from benchmarks.jobs import main, read_jobs, totals
from vsebench.core.errors import UserError

MODEL = "results/a/distinct/seed1/vse_fs"


def record(folder, file, rule, start, end, job=0, **more):
    """Write a record as Snakemake does: its name is the file's in base64, divided into folders if long."""
    name = urlsafe_b64encode(file.encode()).decode()
    parts = [f"@{name[i : i + 60]}" for i in range(0, len(name) - 60, 60)] + [name[(len(name) - 1) // 60 * 60 :]]
    path = folder / ".snakemake" / "metadata" / "/".join(parts)
    path.parent.mkdir(parents=True, exist_ok=True)
    entry = {"rule": rule, "job_hash": job, "starttime": start, "endtime": end, "incomplete": False}
    path.write_text(json.dumps(entry | more))


def test_seconds_of_jobs_by_rule_and_variant(tmp_path):
    record(tmp_path, f"{MODEL}/model.npz", "fit", 100.0, 159.5, job=1)
    record(tmp_path, f"{MODEL}/history.parquet", "fit", 100.5, 160.0, job=1)
    record(tmp_path, "results/a/distinct/seed2/vse_fs/model.npz", "fit", 100.0, 110.0, job=2)
    record(tmp_path, "results/kernels/vse_fs.json", "compile_kernels", 90.0, 97.0)
    record(tmp_path, "results/a/distinct/seed1/split/train.parquet", "split", 90.0, 93.0)
    found = totals(read_jobs(tmp_path))
    assert found.select("rule", "variant", "jobs", "seconds").rows() == [
        ("fit", "vse_fs", 2, 70.0),
        ("compile_kernels", "vse_fs", 1, 7.0),
        ("split", "", 1, 3.0),
    ]
    assert found["share"].sum() == pytest.approx(1)


def test_a_job_that_did_not_end_is_left_out(tmp_path):
    record(tmp_path, "results/audit.csv", "audit_papers", 5.0, 7.0)
    record(tmp_path, "results/claims.csv", "test_claims", 5.0, None)
    record(tmp_path, "results/report.html", "report_page", 5.0, 9.0, incomplete=True)
    assert read_jobs(tmp_path).rows() == [("audit_papers", "", 2.0)]


def test_no_record_is_one_line(tmp_path, capsys):
    with pytest.raises(UserError, match="no record of a finished job"):
        read_jobs(tmp_path)
    assert main([str(tmp_path)]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"benchmarks.jobs: {tmp_path}")
