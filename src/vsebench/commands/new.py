"""Make the files of a new method, variant, data set, metric or paper from a template, and say what to do next.

The folder docs/templates/KIND contains templates of files. Each template has the path that its file gets in the
project. In the paths and texts of the templates, `my_KIND` stands for the new name, `my-KIND` for the name with hyphens
(for data sets), and `MyKind` for the name in the form of a class name. docs/templates/KIND.txt contains the next steps.
A folder that `vsebench demo` made has only the template of a variant, because a variant needs no module.
"""

import argparse
import keyword
import re
from collections.abc import Callable, Collection
from pathlib import Path

import yaml

from vsebench.config.method import read_method_config
from vsebench.core.errors import UserError, instead
from vsebench.core.modules import PACKAGE, modules_by_key, name_of
from vsebench.core.storage import replacing
from vsebench.evaluation.metrics.base import known_metrics

TEMPLATES = Path("docs/templates")
METHODS = Path("config/methods")
NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
# Kind -> a function that returns the names in use, including those that no file has.
TAKEN: dict[str, Callable[[], Collection[str]]] = {
    "method": lambda: modules_by_key("METHODS", "methods"),
    "metric": known_metrics,
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("kind", metavar="KIND", help="what to make: dataset, method, metric, paper or variant")
    parser.add_argument("name", metavar="NAME", help="name of the new KIND: lower-case letters, digits and _")
    parser.add_argument("--extends", metavar="METHOD", help="for a variant: the file in config/methods to start from")


def run(arguments: argparse.Namespace) -> None:
    kind, name = arguments.kind, arguments.name
    folder = TEMPLATES / kind
    if not TEMPLATES.is_dir():
        made = "a clone of the repository or, for a variant, a folder that `vsebench demo` made"
        raise UserError(f"there is no folder {TEMPLATES}; run this command in the folder of the project: {made}")
    in_clone = Path("src/vsebench").is_dir()
    if not folder.is_dir():
        kinds = sorted(path.name for path in TEMPLATES.iterdir() if path.is_dir())
        others = "" if in_clone else "; for the other kinds, you need a clone of the repository (docs/library.md)"
        raise UserError(f"there is no template for {kind!r} in this folder, only for {', '.join(kinds)}{others}")
    words = {f"my_{kind}": name, f"my-{kind}": name.replace("_", "-"), f"My{kind.capitalize()}": class_name(name)}
    words |= base_of(kind, arguments.extends)
    templates = sorted(path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    files = {Path(fill(str(path.relative_to(folder)), words)): path for path in templates}
    check_name(kind, name, files)
    for file, template in files.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        with replacing(file) as temporary:
            temporary.write_text(fill(template.read_text(encoding="utf-8"), words), encoding="utf-8")
        print(file)
    steps = fill(folder.with_suffix(".txt").read_text(encoding="utf-8"), words)
    print(f"\nNext:\n{steps if in_clone else steps.replace('.venv/bin/', '')}", end="")


def class_name(name: str) -> str:
    """Convert a name with underscores into the name of a class.

    >>> class_name("hit_rate")
    'HitRate'
    """
    return "".join(word.capitalize() for word in name.split("_"))


def base_of(kind: str, base: str | None) -> dict[str, str]:
    """Return the name and the settings of the method that a variant extends; they replace placeholders in a template.

    The result maps each placeholder to its text. It is empty if `kind` is not "variant".
    """
    if kind != "variant":
        if base is not None:
            raise UserError("--extends: only a variant extends a method; leave this option out")
        return {}
    if base is None:
        raise UserError("--extends: missing; name the method to start from, such as --extends vse_fs")
    path = METHODS / f"{base}.yaml"
    if not path.is_file():
        known = [file.stem for file in METHODS.glob("*.yaml")]
        raise UserError(f"--extends: there is no file {path}; {instead(base, known, 'methods')}")
    settings = yaml.safe_dump(read_method_config(path).settings, default_flow_style=True, sort_keys=False, width=1000)
    return {"my_base": base, "my_settings": settings.strip()}


def check_name(kind: str, name: str, files: Collection[Path]) -> None:
    """Raise a `UserError` if a name has a wrong form or is taken."""
    if not NAME.fullmatch(name):
        raise UserError(f"{name!r}: a name consists of lower-case letters, digits and _, and begins with a letter")
    if keyword.iskeyword(name):
        raise UserError(f"{name!r}: is a keyword of Python, so no module can have this name; choose another one")
    if kind == "metric" and name_of(type(class_name(name), (), {})) != name:
        raise UserError(f"{name!r}: in a metric's name, write a letter after each _")
    taken = [str(file) for file in files if file.exists()]
    modules = {file.name for file in files if file.is_relative_to("src")}
    taken += [str(path) for path in PACKAGE.rglob("*.py") if path.name in modules]
    if not taken and kind in TAKEN and name in TAKEN[kind]():
        taken = [f"a {kind} of this name"]
    if taken:
        raise UserError(f"{taken[0]} exists already; choose a name other than {name!r}")


def fill(text: str, words: dict[str, str]) -> str:
    """Replace the placeholders in the text of a template."""
    return re.sub("|".join(words), lambda match: words[match[0]], text)
