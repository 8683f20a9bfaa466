"""Run all jobs of a configuration, or only those that the named targets need.

The command checks the configuration's file and starts Snakemake. To use Snakemake's other options, call `snakemake`.
"""

import argparse
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from vsebench.core.errors import UserError, did_you_mean, seen_from_start
from vsebench.core.storage import check_folder
from vsebench.core.tasks import Task
from vsebench.core.yaml_files import read_yaml
from vsebench.formats.download.mirror import MIRROR, mirror
from vsebench.plan import Plan, read_plan
from vsebench.plan.jobs.commands import FAILED_ELSEWHERE

LEFT_OUT = ("host", "reason", "rules")  # Snakemake's messages that are not printed; the run prints its own progress
PROFILE = Path("profiles/default/profile.yaml")
OF_TASK = re.compile(r"results/(?!(?:kernels|logs|packs|tables)/)([^/]+)/([^/]+)/(?:seed(\d+)/([^/]+)/.+|[^/]+)")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help="a configuration, such as config/wsabie.yaml (default: config/config.yaml), and targets (default: all)",
    )
    parser.add_argument("--cores", default="all", help="number of cores (default: all)")
    parser.add_argument(
        "--out",
        type=Path,
        metavar="FOLDER",
        help="folder for the run's files (default: the current folder); downloads and prepared data are shared with "
        "the current folder",
    )
    parser.add_argument("-n", "--dry-run", action="store_true", help="only list the jobs that would run")


def run(arguments: argparse.Namespace) -> None:
    """Check the configuration's file and the targets, then run Snakemake in this process.

    A separate process would import the same modules again, which takes half a second.
    """
    if not Path("Snakefile").is_file():
        raise UserError("there is no Snakefile in this folder; run this command in the folder of the project")
    files = [name for name in arguments.names if name.endswith((".yaml", ".yml"))]
    if len(files) > 1:
        raise UserError(f"{' and '.join(files)}: a run has one configuration; name one of them")
    configuration = Path(files[0] if files else "config/config.yaml")
    content = read_content(configuration)
    targets = [name for name in arguments.names if name not in files]
    if arguments.out is not None:
        check_folder(arguments.out, "--out ")
    check_targets(targets, configuration, content)
    command = [*targets, "--cores", arguments.cores, *options_of(PROFILE)]
    command += ["--dry-run"] if arguments.dry_run else ["--quiet", *LEFT_OUT]
    # Messages name files relative to the folder in PWD, which is not set if no shell started this process.
    os.environ["PWD"] = os.fspath(Path.cwd())
    if isinstance(named := mirror(), Path):
        os.environ[MIRROR] = os.fspath(named.absolute())  # jobs run in the folder of the run
    if arguments.out is not None:
        os.environ["VSEBENCH_DATA"] = os.fspath(Path("data").resolve())
        command += ["--directory", os.fspath(arguments.out)]
    command += ["--configfile", *files] if files else []
    # Importing Snakemake takes 0.3 s, so mistakes are reported before that.
    from snakemake.cli import main

    sys.argv = ["snakemake", *command]  # Snakemake prints and records its command line
    try:
        main()
    except SystemExit:
        if FAILED_ELSEWHERE:
            go_on_without(FAILED_ELSEWHERE, command, arguments.out or Path())
        raise


def go_on_without(failed: dict[str, str], command: list[str], folder: Path) -> None:
    """Run Snakemake again without the models that are trained elsewhere and whose jobs have failed.

    failed : name of a model -> the reason why its job failed, in which paths are relative to `folder`
    """
    print(f"\nThe run goes on without {', '.join(failed)}.", file=sys.stderr, flush=True)
    without = f"without={json.dumps(failed, ensure_ascii=False)}"
    subprocess.run([sys.executable, "-m", "snakemake", *command, "--config", without], check=False)
    for name, reason in failed.items():
        print(f"vsebench run: {name} was left out: {seen_from_start(reason, folder)}", file=sys.stderr)


def options_of(profile: Path) -> list[str]:
    """Return the options in a profile as arguments of Snakemake.

    Snakemake could read the profile itself, but would then print a line about it.
    """
    if not profile.is_file():
        return []
    options = ["--workflow-profile", "none"]
    for name, value in read_yaml(profile).items():
        values = value if isinstance(value, list) else [] if value is True else [value]
        options += [f"--{name}", *map(str, values)]
    return options


def read_content(path: Path) -> dict[str, Any]:
    """Read a configuration. If this fails, raise a `UserError`; Snakemake would show a long traceback instead."""
    try:
        content = read_yaml(path)
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}") from None
    if not isinstance(content, dict):
        raise UserError(f"{path}: must be a YAML mapping of keys to values; see docs/configuration.md")
    return content


def check_targets(targets: list[str], configuration: Path, content: dict[str, Any]) -> None:
    """Raise a `UserError` if the run cannot make a target; Snakemake would show a traceback instead."""
    named = set(re.findall(r"^rule (\w+):", Path("Snakefile").read_text(encoding="utf-8"), re.MULTILINE))
    if set(targets) <= named:
        return
    plan = read_plan(Path("config"), content, [configuration])
    of_papers = {name for kinds in (plan.tables, plan.figures) for name, one in kinds.items() if one.paper}
    for target in targets:
        path = Path(target)
        if path.name == target and not path.suffix and target not in named | of_papers:
            nearest = did_you_mean(target, sorted(named | of_papers))
            raise UserError(f"there is no target {target!r}; {nearest}the main ones are {', '.join(sorted(named))}")
        made = {"results/tables": plan.tables, "figures": plan.figures}.get(str(path.parent))
        if made is not None and path.stem not in made:
            nearest = did_you_mean(path.stem, made)
            advice = "name another configuration, or see `snakemake -n`, which lists the jobs of a run and their files"
            raise UserError(f"{target}: the run of {configuration} does not make this file; {nearest}{advice}")
        if lacking := lacking_for(target, plan):
            advice = "name a configuration that has it: `vsebench run FILE TARGET`"
            raise UserError(f"{target}: the run of {configuration} has {lacking}{advice}")


def lacking_for(target: str, plan: Plan) -> str:
    """Return a text that says what the run lacks to make a target; the text is empty if nothing is lacking.

    Only targets of the forms results/<data set>/<protocol>/... and
    results/<data set>/<protocol>/seed<k>/<method>/... are checked.
    """
    found = OF_TASK.fullmatch(target)
    if found is None:
        return ""
    dataset, protocol, seed, variant = found.groups()
    if dataset not in (known := plan.config.datasets):
        return f"no data set {dataset!r}; {did_you_mean(dataset, known)}"
    if protocol not in (protocols := known[dataset].protocols):
        return f"no protocol {protocol!r} for {dataset}; {did_you_mean(protocol, protocols)}"
    if seed is None:
        return ""
    task = Task(dataset, protocol)
    of_split = variant == "split"
    if not of_split and variant not in (variants := plan.variants(task)):
        reason = f" ({left_out})" if (left_out := plan.obstacles(task).get(variant)) else ""
        return f"no method {variant!r} for {task}{reason}; {did_you_mean(variant, variants)}"
    seeds = plan.seeds(task) if of_split else plan.seeds(task, variant)
    return "" if int(seed) in seeds else f"no seed {seed} for {task}, only {', '.join(map(str, seeds))}; "
