"""Commands that train on an exported split and write scores, and the environments that they run in."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tests.stages.small import run, write_processed
from tests.workflow.project import ROOT, is_gone, wait_until
from vsebench.core.storage import read_json, read_parquet

MODEL = Path("results/tiny/distinct/seed1/mine")
SCORE_ALL = """
import csv, sys
images, labels = ([row for row in csv.DictReader(open(f"{sys.argv[1]}/{name}.csv"))] for name in ("images", "labels"))
with open(sys.argv[2], "w") as out:
    print("image,label,score", file=out)
    for image in images:
        for n, label in enumerate(labels):
            print(image["id"], label["name"], n * (image["test"] == "true"), sep=",", file=out)
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    export("distinct")
    (tmp_path / "program").mkdir()
    (tmp_path / "program/train.py").write_text(SCORE_ALL)
    return tmp_path


def export(protocol, features=False):
    """Export a split of a small data set to `problem`."""
    write_processed(Path("data"), features=features)
    split = Path("results/tiny") / protocol / "seed1/split"
    case = ["--protocol", protocol, "--seed", 1]
    assert run("split", "--processed", "data", *case, "--out", split) == 0
    exported = ["--split", split, "--processed", "data", "--dataset", "tiny", *case, "--out", "problem"]
    assert run("export_split", *exported) == 0


def arguments(command, *options, name="scores.csv", seed=1):
    case = ["--dataset", "tiny", "--protocol", "distinct", "--variant", "mine", "--seed", seed]
    given = ["--command", command, "--folder", "program", "--problem", "problem", "--log", "mine.log"]
    return [*case, *given, *options, "--out", MODEL / name]


def command(line, *options, name="scores.csv"):
    return run("command", *arguments(line, *options, name=name))


def files():
    return sorted(path.name for path in MODEL.rglob("*")) if MODEL.exists() else []


def train(rest=""):
    return f"{sys.executable} train.py {{problem}} {{scores}}{rest}"


def test_a_command_gives_scores_that_are_checked_and_measured(folder, capfd):
    assert command(train("; echo {dataset} {protocol} {seed} {threads} {other}"), "--threads", 3) == 0
    assert capfd.readouterr().out == "tiny distinct 1 3 {other}\n"
    assert files() == ["command.json", "scores.csv", "scores.split.txt", "timing.parquet"]
    assert (MODEL / "scores.split.txt").read_text() == Path("problem/split.txt").read_text()
    record, (timing,) = read_json(MODEL / "command.json"), read_parquet(MODEL / "timing.parquet").to_dicts()
    assert (record["threads"], record["seconds"]) == (3, timing["seconds"])
    assert timing["phase"] == "command"
    assert timing["peak_rss_bytes"] == record["peak_rss_bytes"] > 1_000_000
    settings = json.dumps({"file": str(MODEL / "scores.csv")})
    case = ["--split", MODEL.parent / "split", "--dataset", "tiny", "--protocol", "distinct", "--variant", "mine"]
    named = ["--module", "outside_scores", "--settings", settings, "--names", "data/labels.parquet"]
    stated = ["--command", MODEL / "command.json", "--seed", 1, "--out", MODEL]
    assert run("fit", *case, *named, *stated) == 0
    assert read_json(MODEL / "run.json")["command"] == record
    arguments = ["--inputs", MODEL / "run.json", "--variants", '{"mine": {"title": "Mine", "source": "a paper"}}']
    assert run("gather", *arguments, "--out", "settings.json") == 0
    (entry,) = read_json(Path("settings.json"))
    assert (entry["choice"], entry["settings"]) == ("command", {"command": record["command"]})


def test_scores_are_on_the_disk_before_they_get_their_name(folder, monkeypatch):
    flushed, scores = [], MODEL / "scores.csv"
    monkeypatch.setattr(os, "fsync", lambda number: flushed.append((os.fstat(number).st_ino, scores.exists())))
    assert command(train()) == 0
    assert (scores.stat().st_ino, False) in flushed
    assert (scores.with_suffix(".split.txt").stat().st_ino, False) in flushed


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("echo half > {scores}; echo {problem}; exit 3", "the command ended with exit status 3"),
        ("no-such-program {problem} {scores}", "the command ended with exit status 127"),
        ("kill -9 $$; {problem} {scores}", "the command was killed by SIGKILL, often because memory ran out"),
        ("true {problem} {scores}", "the command ended without an error, but it has not written the file for {scores}"),
        (
            "echo image,label,score > {scores} # {problem}",
            "the command wrote wrong scores: scores.csv: test images: 80 of 80 are missing, such as ",
        ),
        ("echo {problem} > {scores}", "the command wrote wrong scores: scores.csv: has the columns "),
        (
            "cp {problem}/final.csv {scores}; echo 0123456789abcdef > $(dirname {scores})/scores.split.txt",
            "the command wrote wrong scores: scores.csv: has the columns ",
        ),
    ],
)
def test_a_command_that_fails_is_one_line_and_leaves_nothing(folder, capfd, line, message):
    assert command(line) == 1
    (error,) = [line for line in capfd.readouterr().err.splitlines() if line.startswith("vsebench")]
    assert error.startswith(f"vsebench command: mine on tiny (distinct, seed 1): {message}")
    assert error.endswith("; the output of the command is in mine.log")
    assert files() == []


def test_scores_of_another_split_are_refused(folder, capfd):
    assert command(train("; echo 0123456789abcdef > $(dirname {scores})/scores.split.txt")) == 1
    assert "was trained on the split 0123456789ab, not on " in capfd.readouterr().err
    assert files() == []


def test_the_files_beside_the_scores_are_kept_with_them(folder):
    code = (
        "import numpy as np, sys; f = sys.argv[1]; ids = [line.split(',')[0] for line in open('images.csv')][1:];"
        "np.save(f, np.ones((len(ids), 24))); open(f[:-3] + 'ids.txt', 'w').write('\\n'.join(ids));"
        "open(f[:-3] + 'labels.txt', 'w').write('\\n'.join(f'l{n}' for n in range(24)))"
    )
    assert command(f'cd {{problem}} && {sys.executable} -c "{code}" {{scores}}.npy', name="scores.npy") == 0
    assert files() == [
        "command.json", "scores.ids.txt", "scores.labels.txt", "scores.npy", "scores.split.txt", "timing.parquet",
    ]  # fmt: skip


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_command_ends_with_its_children_and_leaves_nothing(folder, number):
    line = "echo half > {scores}; sleep 60 & echo $! > child; wait; echo {problem}"
    words = [sys.executable, "-m", "vsebench", "stage", "command", *map(str, arguments(line))]
    job = subprocess.Popen(words, stderr=subprocess.DEVNULL)
    wait_until(lambda: Path("program/child").is_file() and Path("program/child").read_text())
    assert len(files()) == 2  # a folder and the file in it
    os.kill(job.pid, number)
    assert job.wait(timeout=30) != 0
    assert files() == []
    child = int(Path("program/child").read_text())
    wait_until(lambda: is_gone(child), seconds=30)


def test_scores_that_were_written_in_a_container_are_checked_and_copied(folder, capfd):
    ran = MODEL / "container"
    ran.mkdir(parents=True)
    table = Path(f"{ran}.tsv")
    table.write_text("s\th:m:s\tmax_rss\n12.5\t0:00:12\t3.00\n")
    assert command("{problem} {scores}", "--ran", ran) == 1
    assert "it has not written the file for {scores}" in capfd.readouterr().err
    subprocess.run([sys.executable, "program/train.py", "problem", ran / "scores.csv"], check=True)
    assert command("{problem} {scores}", "--ran", ran) == 0
    record = read_json(MODEL / "command.json")
    assert (record["seconds"], record["peak_rss_bytes"]) == (12.5, 3 << 20)
    assert (MODEL / "scores.csv").read_bytes() == (ran / "scores.csv").read_bytes()
    table.write_text("s\th:m:s\tmax_rss\n0.1\t0:00:00\t-\n")
    assert command("{problem} {scores}", "--ran", ran) == 0
    assert read_json(MODEL / "command.json")["peak_rss_bytes"] is None


def test_a_command_runs_in_the_environment_of_its_requirements(folder, monkeypatch):
    monkeypatch.setenv("PATH", "/usr/bin:/bin")  # without uv
    Path("needs.txt").write_text("# no package\n")
    made = Path("data/environments/0123/environment.json")
    shared = Path("shared/0123").resolve()  # as in a run with a folder of its own
    shared.mkdir(parents=True)
    made.parent.parent.mkdir(parents=True)
    made.parent.symlink_to(shared, target_is_directory=True)
    (made.parent / "half").write_text("left by a job that was killed")
    assert run("environment", "--requirements", "needs.txt", "--out", made) == 0
    assert read_json(made)["made_by"] == "pip"
    assert not (made.parent / "half").exists()
    report = "python -c 'import sys; print(sys.prefix)' > ../prefix; echo $VIRTUAL_ENV >> ../prefix; "
    assert command(report + train(), "--environment", made.parent) == 0
    assert Path("prefix").read_text().split() == [str(made.parent.resolve())] * 2


def test_an_environment_that_cannot_be_made_is_one_line_and_leaves_nothing(folder, capfd, monkeypatch):
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    Path("needs.txt").write_text("./no/such/package\n")
    made = Path("data/environments/0123/environment.json")
    assert run("environment", "--requirements", "needs.txt", "--out", made) == 1
    error = capfd.readouterr().err.splitlines()[-1]
    assert error == "vsebench environment: needs.txt: cannot make the environment: pip ended with status 1; see above"
    assert not made.parent.exists()


@pytest.fixture
def uv(monkeypatch, tmp_path):
    """A slow script stands for uv; it lists its arguments, one call per line, in uv.log."""
    path = tmp_path / "bin/uv"
    path.parent.mkdir()
    path.write_text('#!/bin/sh\necho "$@" >> uv.log; sleep 0.3\n[ "$1" = pip ] || mkdir -p "$4"\n')
    path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{path.parent}:/usr/bin:/bin")


def test_uv_makes_the_environment_where_it_is_there(folder, uv):
    made = Path("data/environments/0123/environment.json")
    assert run("environment", "--requirements", "needs.txt", "--out", made) == 0
    assert read_json(made)["made_by"] == "uv"
    assert Path("uv.log").read_text().splitlines() == [
        f"venv --python {sys.executable} data/environments/0123",
        "pip install --python data/environments/0123/bin/python -r needs.txt",
    ]


def test_two_runs_that_need_an_environment_at_the_same_time_make_it_once(folder, uv):
    made = Path("data/environments/0123/environment.json")
    words = ["-m", "vsebench", "stage", "environment", "--requirements", "needs.txt", "--out", made]
    started = [subprocess.Popen([sys.executable, *words]) for _ in range(2)]
    assert [process.wait() for process in started] == [0, 0]
    assert read_json(made)["made_by"] == "uv"
    assert [line.split()[0] for line in Path("uv.log").read_text().splitlines()] == ["venv", "pip"]
    made.unlink()  # as Snakemake does before the job of the second run, which planned it before the first was done
    assert run("environment", "--requirements", "needs.txt", "--out", made) == 0
    assert made.is_file()
    assert len(Path("uv.log").read_text().splitlines()) == 2


def test_an_incomplete_environment_is_made_again(folder, monkeypatch):
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    Path("needs.txt").write_text("")
    made = Path("data/environments/0123/environment.json")
    (made.parent / "left/over").mkdir(parents=True)
    assert run("environment", "--requirements", "needs.txt", "--out", made) == 0
    assert (made.parent / "bin/python").exists()
    assert not (made.parent / "left").exists()


def test_with_conda_the_python_of_this_package_is_not_on_the_path(folder, monkeypatch):
    own = str(Path(sys.executable).parent)
    monkeypatch.setenv("PATH", f"{own}:/usr/bin:/bin")
    monkeypatch.setenv("VSEBENCH_PARENT", str(os.getpid()))
    for options, expected in (([], f"{own}:/usr/bin:/bin"), (["--conda", "r"], "/usr/bin:/bin")):
        assert command(f"echo $PATH $VSEBENCH_PARENT > ../path; {train()}", *options) == 0
        assert Path("path").read_text() == f"{expected}\n"


def item_knn(shrinkage):
    """Return image -> label -> score, as docs/examples/item_knn.sh gives them."""
    pairs = pl.read_csv("problem/final.csv")
    ids, labels = (pairs[name].unique(maintain_order=True).to_list() for name in ("image", "label"))
    matrix = np.zeros((len(ids), len(labels)))
    matrix[[ids.index(name) for name in pairs["image"]], [labels.index(name) for name in pairs["label"]]] = 1
    together = matrix.T @ matrix
    frequency = np.diag(together)
    weight = together / (np.sqrt(np.outer(frequency, frequency)) + shrinkage)
    np.fill_diagonal(weight, 0)
    of_known = dict(zip(ids, matrix @ weight, strict=True))
    tested = pl.read_csv("problem/images.csv").filter("test")["id"]
    return {name: dict(zip(labels, of_known.get(name, frequency), strict=True)) for name in tested}


@pytest.mark.parametrize("protocol", ["distinct", "images"])
@pytest.mark.parametrize("shrinkage", [0, 10])
def test_the_example_in_awk_gives_the_scores_of_numpy(tmp_path, monkeypatch, protocol, shrinkage):
    monkeypatch.chdir(tmp_path)
    export(protocol)
    for name in ("final", "labels"):  # a name with a comma and quotation marks, as polars writes it
        path = Path(f"problem/{name}.csv")
        frame = pl.read_csv(path)
        column = "label" if name == "final" else "name"
        frame.with_columns(pl.col(column).str.replace("^l7$", 'a "b", c')).write_csv(path)
    script = ROOT / "docs/examples/item_knn.sh"
    subprocess.run(["sh", script, "problem", "scores.csv", str(shrinkage)], check=True)
    given = pl.read_csv("scores.csv", schema_overrides={"score": pl.Float64})
    expected = item_knn(shrinkage)
    assert set(given["image"]) == set(expected)
    assert 'a "b", c' in set(given["label"])
    listed = {(image, label): score for image, label, score in given.rows()}
    for image, scores in expected.items():
        for label, score in scores.items():
            assert listed.get((image, label), 0) == pytest.approx(score, rel=1e-6, abs=1e-9)
    assert run("check-scores", "scores.csv", "problem") == 0


def test_the_example_in_pytorch_learns(tmp_path, monkeypatch):
    pytest.importorskip("torch")
    monkeypatch.chdir(tmp_path)
    export("images", features=True)
    script = ROOT / "docs/examples/torch_mlp.py"
    subprocess.run([sys.executable, script, "problem", "scores.npz", "1"], check=True)
    assert run("check-scores", "scores.npz", "problem") == 0
    content = np.load("scores.npz")
    groups = [int(name[1:]) % 4 for name in content["ids"]]
    of_group = content["scores"].reshape(len(groups), 4, 6).mean(axis=2)
    assert (of_group.argmax(axis=1) == groups).all()
