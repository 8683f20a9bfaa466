from benchmarks.jobs import read_jobs, totals

LOG = """Building DAG of jobs...
[Sat Nov 21 12:00:00 2026]
localrule split:
    output: split.json
    jobid: 3
    wildcards: dataset=a, protocol=distinct, seed=1
[Sat Nov 21 12:00:02 2026]
rule train:
    jobid: 4
    wildcards: dataset=a, protocol=distinct, seed=1, row=vse_fs
[Sat Nov 21 12:00:05 2026]
Finished jobid: 3 (Rule: split)
1 of 4 steps (25%) done
[Sat Nov 21 12:01:02 2026]
Finished jobid: 4 (Rule: train)
[Sat Nov 21 12:01:02 2026]
rule train:
    jobid: 5
    wildcards: dataset=a, protocol=distinct, seed=2, row=vse_fs
"""


def test_seconds_of_finished_jobs_by_rule_and_row():
    found = totals(read_jobs(LOG))
    assert found.select("rule", "row", "jobs", "seconds").rows() == [
        ("train", "vse_fs", 1, 60.0),
        ("split", "", 1, 5.0),
    ]
    assert found["share"].sum() == 1


def test_a_log_without_jobs_has_none():
    assert totals(read_jobs("Nothing to be done.\n")).is_empty()
