"""Fuzz one reader by coverage: inputs that reach new code are kept and damaged further.

Needs atheris, which the tests do not (`pip install atheris==3.0.0`, Python 3.11 to 3.13 on Linux):

    python -m tests.fuzz.coverage_guided TARGET [-runs=10000] [-seed=1] [other options of libFuzzer]

An input is the number of a file (a byte) and its content. Each new kind of fault is printed with its input.
"""

import sys
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory

import atheris

with atheris.instrument_imports(include=["vsebench", "tarfile", "zipfile", "yaml", "csv", "json"]):
    from tests.fuzz.targets import TARGETS, FuzzError, check

from tests.fuzz.mutate import TOKENS


def main() -> None:
    warnings.simplefilter("ignore")
    name, *options = sys.argv[1:]
    target = TARGETS[name]
    names = sorted(target.files)
    kinds: set[str] = set()

    def run_once(data: bytes) -> None:
        if not data:
            return
        files = target.files | {names[data[0] % len(names)]: data[1:]}
        with TemporaryDirectory() as folder:
            try:
                check(target, files, Path(folder))
            except FuzzError as fault:
                if str(fault)[:40] not in kinds:
                    kinds.add(str(fault)[:40])
                    print(f"FAULT {fault}\n  input: {data!r}", file=sys.stderr)

    with TemporaryDirectory() as corpus:
        for number, file in enumerate(names):
            (Path(corpus) / str(number)).write_bytes(bytes([number]) + target.files[file])
        words = Path(corpus) / "words.dict"
        words.write_text("".join('"' + "".join(f"\\x{byte:02x}" for byte in token[:60]) + '"\n' for token in TOKENS))
        atheris.Setup([sys.argv[0], f"-dict={words}", "-max_len=4096", *options, corpus], run_once)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
