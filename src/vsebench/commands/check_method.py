"""Check the style of a method of the project, run its tests, and show its accuracy on small simulated data."""

import argparse
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from vsebench.config.method import read_method_config
from vsebench.core.errors import UserError, did_you_mean
from vsebench.core.modules import modules_by_key
from vsebench.rendering.outline import read_outline

METHODS = Path("config/methods")
CONTRACT = Path("tests/methods/test_contract.py")
# Between them, the tasks have all that a method can need: known and new test images, image features, word vectors and
# unseen labels.
CONFIGURATION = """datasets:
  sim-iapr: {{protocols: [distinct], options: {{scale: 0.1}}}}
  sim-tags-rho05: {{protocols: [official, unseen_labels], options: {{scale: 0.25, labels: 150}}}}
methods: [popularity, random, {name}]
seeds: [1, 2, 3]
factors: 32
metrics: [map, precision@5, recall@5]
papers: []
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="the method: the name of a file in config/methods, without .yaml")


def run(arguments: argparse.Namespace) -> None:
    name: str = arguments.name
    if not CONTRACT.is_file():
        raise UserError(f"there is no file {CONTRACT}; run this command in a clone of the repository")
    if not (METHODS / f"{name}.yaml").is_file():
        nearest = did_you_mean(name, sorted(path.stem for path in METHODS.glob("*.yaml")))
        raise UserError(f"there is no file {METHODS / name}.yaml; {nearest}`vsebench list methods` lists all")
    if missing := [tool for tool in ("pytest", "ruff", "mypy") if find_spec(tool) is None]:
        raise UserError(f"{missing[0]} is not installed; type `make setup-dev`")
    folder = Path("runs") / f"check-{name}"
    folder.mkdir(parents=True, exist_ok=True)
    configuration = folder / "run.yaml"
    configuration.write_text(CONFIGURATION.format(name=name), encoding="utf-8")
    for words in [*checks(name), ["vsebench", "run", str(configuration), "accuracy", "--out", str(folder)]]:
        print(f"\n$ {' '.join(words)}", flush=True)
        if subprocess.run([sys.executable, "-m", *words], check=False).returncode:
            raise UserError(f"`{' '.join(words)}` failed; its messages are above")
    for task, methods in read_outline(folder / "results/outline.json").entries.items():
        if name in methods:
            table = folder / f"results/tables/accuracy-{task.replace('/', '-')}.md"
            print(f"\n{table}\n\n{table.read_text(encoding='utf-8')}")


def checks(name: str) -> Iterator[list[str]]:
    """Yield the command lines that check the style of a method's module, and then test the method.

    A variant has no module or tests of its own; for a variant, the module and the tests of its method are used.
    """
    method = read_method_config(METHODS / f"{name}.yaml").method
    module = modules_by_key("METHODS", "methods")[method]
    file = str(Path("src", *module.split(".")).with_suffix(".py"))
    yield ["ruff", "check", file]
    yield ["ruff", "format", "--check", file]
    yield ["mypy", file]
    own = CONTRACT.with_name(f"test_{method}.py")
    yield ["pytest", "-q", *map(str, [own] if own.is_file() else []), str(CONTRACT), "-k", method]
