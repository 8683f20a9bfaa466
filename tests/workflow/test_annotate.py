"""The command and the Python code of docs/annotate.md, on the finished run."""

import os
import shlex
import subprocess
import sys

import numpy as np
import polars as pl

from tests.docs.conftest import blocks, page

PAGE = page("docs/annotate.md")


def test_the_command_and_the_python_of_the_page_agree(finished, tmp_path):
    folder = finished.project.folder
    for name in ("data", "results"):
        (tmp_path / name).symlink_to(folder / name)
    np.save(tmp_path / "new.npy", np.load(folder / "data/processed/sim-features/features.npy")[:7])
    (command,), (code,) = blocks(PAGE, "sh"), blocks(PAGE, "python")
    program, *arguments = shlex.split(command)
    assert program == ".venv/bin/vsebench"
    script = code + "\nnp.save('scores.npy', scores)\n"
    for command in (["-m", "vsebench", *arguments], ["-c", script]):
        environment = os.environ | {"PYTHONPATH": str(folder / "src")}
        subprocess.run([sys.executable, *command], cwd=tmp_path, env=environment, check=True)
    found = pl.read_csv(tmp_path / "annotations.csv")
    assert found.columns == next(line for line in PAGE.splitlines() if "image,rank" in line).strip().split(",")
    names = pl.read_parquet(folder / "data/processed/sim-features/labels.parquet")["name"].to_list()
    best = np.argsort(-np.load(tmp_path / "scores.npy"), axis=1, kind="stable")[:, :3]
    assert found["label"].to_list() == [names[label] for label in best.ravel()]
