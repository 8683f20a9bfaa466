"""Two Snakemake processes at once."""

import pytest

from tests.workflow.project import CONTROLS, MODELS_AND_RANKS, Project, tiny_set, wait_until

METHODS = ["popularity", "opt_auc"]
OTHER = "results/sim-iapr/distinct/seed1/split/split.json"
# Added to the shell of every job: if the environment names a file, the job waits until the file is deleted.
WAIT = """
if [ -n "${HOLD-}" ]; then
    touch "$HOLD.reached"
    while [ -e "$HOLD" ]; do sleep 0.1; done
fi
"""


@pytest.fixture
def held(unfitted, tmp_path):
    """A run whose first job waits until the second value, a file, is deleted."""
    unfitted.configure(methods=CONTROLS, datasets=tiny_set("regions", "distinct"))
    with (unfitted.folder / "workflow" / "job.sh").open("a") as shell:
        shell.write(WAIT)
    hold, reached = tmp_path / "hold", tmp_path / "hold.reached"
    hold.touch()
    first = unfitted.start("results/sim-iapr/regions/summary.parquet", HOLD=hold)
    wait_until(lambda: first.poll() is not None or reached.exists())
    yield first, hold
    hold.unlink(missing_ok=True)
    first.wait(timeout=300)


def test_a_second_run_in_the_same_folder(finished, unfitted, held):
    first, hold = held

    # The same files are refused.
    second = unfitted.snakemake("accuracy")
    assert second.status == 1
    assert "Directory cannot be locked" in second.text
    assert "Traceback" not in second.text

    # Other files are made meanwhile; what the first is about to write stays.
    writing = unfitted.folder / "results" / f".writing.{first.pid}.tmp.json"
    writing.write_text("half a file")
    other = unfitted.snakemake(OTHER)
    assert other.status == 0, other.text[-3000:]
    assert writing.is_file()

    assert first.poll() is None, unfitted.started[-3000:]
    hold.unlink()
    assert first.wait(timeout=300) == 0, unfitted.started[-3000:]
    for row in CONTROLS:
        same = f"results/sim-iapr/regions/seed1/{row}/*.npz"
        made = unfitted.found(same)
        assert made
        assert made == finished.project.found(same)


@pytest.mark.long
def test_two_folders_with_the_same_workflow_and_kernel_cache(finished, fresh, tmp_path):
    """The cache of the kernels lies beside their source, so both runs compile into it at the same time."""
    fresh.configure(methods=METHODS, datasets=tiny_set("regions"))
    for path in fresh.folder.rglob("*.nbc"):
        path.write_bytes(b"as after a power failure")
    projects = [Project(tmp_path / name) for name in ("one", "two")]
    started = []
    for project in projects:
        project.folder.mkdir()
        started.append(fresh.start("results/metrics.parquet", "--directory", project.folder))
    for process in started:
        assert process.wait(timeout=300) == 0, fresh.started[-5000:]
    for project in projects:
        made = project.found(*MODELS_AND_RANKS)
        assert len(made) > len(METHODS)
        assert made == {name: finished.project.found(name)[name] for name in made}
