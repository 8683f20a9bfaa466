"""A process that imports Snakemake once and runs it in forked children, which halves the processor time of a start."""

import atexit
import gc
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path


@cache
def _server() -> "subprocess.Popen[str]":
    process = subprocess.Popen([sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    atexit.register(process.communicate)  # it ends when its input does
    return process


def snakemake(arguments: Sequence[str], folder: Path, environment: Mapping[str, str]) -> tuple[int, str]:
    """Run Snakemake in a folder, as its command would; return its exit status and its output on both streams."""
    server = _server()
    assert server.stdin
    assert server.stdout
    with tempfile.NamedTemporaryFile("r", encoding="utf-8") as said:
        server.stdin.write(json.dumps([arguments, str(folder), dict(environment), said.name]) + "\n")
        server.stdin.flush()
        return int(server.stdout.readline()), said.read()


def _run(arguments: list[str], folder: str, environment: dict[str, str], said: str) -> None:
    """Run the command in this forked process."""
    from snakemake.cli import main

    stream = os.open(said, os.O_WRONLY | os.O_APPEND)
    for number, target in ((0, os.open(os.devnull, os.O_RDONLY)), (1, stream), (2, stream)):
        os.dup2(target, number)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.path[:0] = environment["PYTHONPATH"].split(os.pathsep)
    sys.argv = ["snakemake", *arguments]
    sys.exit(main())


def _serve() -> None:
    # Nothing of the package: a child imports that from its own folder.
    import numba.np.arraymath  # noqa: F401
    import pandas  # noqa: F401
    import polars  # noqa: F401
    import pydantic  # noqa: F401
    import smart_open  # noqa: F401
    import snakemake.report  # noqa: F401
    import yaml  # noqa: F401
    from scipy import sparse, special  # noqa: F401
    from snakemake.cli import get_argument_parser

    get_argument_parser()  # which imports Snakemake's plugins
    gc.freeze()  # children do not touch these objects, so their pages stay shared
    for line in sys.stdin:
        child = os.fork()
        if not child:
            _run(*json.loads(line))
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


if __name__ == "__main__":
    _serve()
