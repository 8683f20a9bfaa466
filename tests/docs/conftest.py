"""Files and commands that the pages show, and a copy of the package that contains these files."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
FILE = re.compile(r"^`(\S+)`:\n\n```\w+\n(.*?)^```$", re.DOTALL | re.MULTILINE)
STAGES = """
import json, sys
from vsebench.cli import main
sys.exit(max(main(['stage', *command]) for command in json.loads(sys.argv[1])))
"""
PLANS = """
import json, sys
from pathlib import Path
from vsebench.core.yaml_files import read_yaml
from vsebench.plan import read_plan
from vsebench.plan.settings import settings_of
file = Path("config/config.yaml")
found = {}
for name, changes in json.loads(sys.argv[1]).items():
    plan = read_plan(file.parent, read_yaml(file) | changes, [file])
    found[name] = {
        "metrics": plan.config.metrics,
        "variants": {str(task): plan.variants(task) for task in plan.tasks},
        "settings": {variant: settings_of(plan, variant, next(iter(plan.datasets))) for variant in plan.methods},
        "grids": {variant: method.grid for variant, method in plan.methods.items()},
        "names": [*plan.tables, *plan.figures],
    }
print(json.dumps(found))
"""


def page(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def section(text: str, heading: str) -> str:
    """Return the part of a page below a heading, with its smaller headings."""
    level = heading.partition(" ")[0]
    start = text.index(f"{heading}\n")
    found = re.search(rf"^#{{1,{len(level)}}} ", text[start + len(heading) :], re.MULTILINE)
    return text[start : start + len(heading) + found.start()] if found else text[start:]


def blocks(text: str, language: str) -> list[str]:
    """Return the blocks of a page in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def files_of(text: str) -> dict[str, str]:
    """Return the files that a page shows, by their paths."""
    return dict(FILE.findall(text))


def overrides(command: str) -> dict[str, Any]:
    """Return the keys of a run that a command of the pages sets."""
    words = shlex.split(command)
    assert words[0] == ".venv/bin/snakemake"
    pairs = (word.split("=", 1) for word in words[words.index("--config") + 1 :])
    return {key: yaml.safe_load(value) for key, value in pairs}


@dataclass(frozen=True)
class Copy:
    """A copy of the package and the configuration, with all files that the pages show."""

    folder: Path

    def python(self, program: str, argument: object) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, "-c", program, json.dumps(argument)],
            cwd=self.folder,
            env=os.environ | {"PYTHONPATH": str(self.folder / "src")},
            capture_output=True,
            text=True,
            check=False,
        )

    def stages(self, *commands: Sequence[object]) -> None:
        """Run stages one after the other."""
        done = self.python(STAGES, [[str(word) for word in command] for command in commands])
        assert done.returncode == 0, done.stderr


@pytest.fixture(scope="session")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    folder = tmp_path_factory.mktemp("docs") / "vsebench"
    for name in ("src", "config", "data/included"):
        shutil.copytree(ROOT / name, folder / name)  # with numba's cache
    for name in ("metrics", "figures", "methods", "decisions"):
        for path, text in files_of(page(f"docs/{name}.md")).items():
            assert not (folder / path).exists(), f"docs/{name}.md: {path} is there already"
            (folder / path).write_text(text, encoding="utf-8")
    return Copy(folder)


@pytest.fixture(scope="session")
def plans(copy: Copy) -> dict[str, Any]:
    """The plans of the runs that the pages' commands start, and of a run with different tasks."""
    by_section = {
        "metric": ("metrics", "## Adding a metric"),
        "conditional": ("methods", "### From the image's labels"),
        "nearest_centroid": ("methods", "### From image features"),
    }
    changes: dict[str, Any] = {}
    for name, (file, heading) in by_section.items():
        (command,) = blocks(section(page(f"docs/{file}.md"), heading), "sh")
        changes[name] = overrides(command)
    changes["tasks"] = {
        "datasets": {"sim-features": {"protocols": ["images", "distinct"]}, "sim-iapr": {"protocols": ["regions"]}},
        "methods": ["popularity", "conditional", "nearest_centroid"],
    }
    changes["trained"] = changes["tasks"] | {"methods": ["popularity", "wsabie", "warp"]}
    done = copy.python(PLANS, changes)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found
