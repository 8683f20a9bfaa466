"""List the methods, data sets, metrics or other things that a configuration can name, or the tasks of a run."""

import argparse
from collections.abc import Callable, Iterable
from pathlib import Path

from vsebench.core.errors import UserError
from vsebench.core.yaml_files import read_yaml
from vsebench.evaluation.metrics.base import known_metrics, metric_class
from vsebench.plan import read_plan
from vsebench.protocols.base import known_protocols, load_protocol

Named = Iterable[tuple[str, str]]  # a name, and what it stands for
CONFIG = Path("config")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("kind", choices=sorted(KINDS), help="what to list")
    parser.add_argument(
        "--configuration",
        type=Path,
        default=CONFIG / "config.yaml",
        help="for tasks: the configuration whose tasks are listed (default: config/config.yaml)",
    )


def run(arguments: argparse.Namespace) -> None:
    named = list(KINDS[arguments.kind](arguments))
    width = max(len(name) for name, _ in named)
    for name, meaning in named:
        print(f"{name:{width}}  {meaning}".rstrip())


def files(folder: str) -> Callable[[argparse.Namespace], Named]:
    """Return a function that yields the name and the title of each configuration file in a folder."""

    def listed(_: argparse.Namespace) -> Named:
        paths = sorted((CONFIG / folder).glob("*.yaml"))
        if not paths:
            raise UserError(f"there is no file in {CONFIG / folder}; run this command in the folder of the project")
        for path in paths:
            content = read_yaml(path)
            yield path.stem, str(content.get("title", "")) if isinstance(content, dict) else ""

    return listed


def metrics(_: argparse.Namespace) -> Named:
    for name in known_metrics():
        yield name, (metric_class(name).__doc__ or "").partition("\n")[0]


def protocols(_: argparse.Namespace) -> Named:
    for name in known_protocols():
        yield name, load_protocol(name).description


def tasks(arguments: argparse.Namespace) -> Named:
    """Yield the name of each task of a run, and the names of the methods that run on this task."""
    content = read_yaml(arguments.configuration)
    if not isinstance(content, dict):
        raise UserError(f"{arguments.configuration}: must be a YAML mapping of keys to values")
    plan = read_plan(CONFIG, content, [arguments.configuration])
    for task in plan.tasks:
        yield str(task), ", ".join(plan.variants(task))


KINDS: dict[str, Callable[[argparse.Namespace], Named]] = {
    "datasets": files("datasets"),
    "decisions": files("decisions"),
    "methods": files("methods"),
    "metrics": metrics,
    "papers": files("papers"),
    "protocols": protocols,
    "siblings": files("siblings"),
    "tasks": tasks,
    "word_vectors": files("word_vectors"),
}
