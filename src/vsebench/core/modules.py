"""Find a module by its name in a folder of the package and its sub-folders, so that no list of modules is needed."""

import importlib
import inspect
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from vsebench.core.errors import UserError

PACKAGE = Path(__file__).parent.parent


def project() -> Path:
    """Return the folder that contains Snakefile, workflow and config: `project` in the package, or the repository."""
    carried = PACKAGE / "project"
    return carried if carried.is_dir() else PACKAGE.parents[1]


@cache
def modules_in(folder: str) -> Mapping[str, str]:
    """Return the modules of a folder of the package, such as `methods`, and of its sub-folders.

    The result maps each module's name, in sorted order, to its full dotted name, such as "warp" to
    "vsebench.methods.by_labels.warp". Two modules with the same name raise a `UserError`.
    """
    modules: dict[str, str] = {}
    for path in sorted((PACKAGE / folder).rglob("*.py"), key=lambda path: path.stem):
        if path.stem in modules:
            raise UserError(f"{path}: there is another {path.name} in {PACKAGE / folder}; rename one of the two")
        if path.stem != "__init__":
            modules[path.stem] = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
    return modules


@cache
def modules_by_key(table: str, folder: str) -> Mapping[str, str]:
    """Return the module that defines each key of the dictionaries named `table`, without importing any module.

    Some modules need packages that may be missing; even then, the source files of a job must be found.

    Parameters
    ----------
    table : name of the dictionaries, such as `METHODS`, which must be literals with strings as keys
    folder : a folder of the package, such as `methods`

    Returns
    -------
    key -> full dotted name of its module, sorted by key. A key in two modules raises a `UserError`.
    """
    found: dict[str, str] = {}
    for module in modules_in(folder).values():
        text = (PACKAGE.parent / module.replace(".", "/")).with_suffix(".py").read_text(encoding="utf-8")
        for entries in re.findall(rf"^{table}\b[^=\n]*= {{(.*?)}}", text, re.MULTILINE | re.DOTALL):
            for key in re.findall(r"""["'](\w+)["']:""", entries):
                if key in found:
                    raise UserError(f"{module}: {table}: {key!r} is also in {found[key]}; rename one of the two")
                found[key] = module
    return dict(sorted(found.items()))


@cache
def modules_that_define(table: str, folder: str) -> Mapping[str, ModuleType]:
    """Import the modules of a folder, such as `protocols`; return the module of each name that they define.

    The names are the keys of the dictionary `table`, such as `PROTOCOLS`, in each module; the result is sorted by name.
    A module `base` defines no names. Any other module without the dictionary, or a name in two modules, raises a
    `UserError`.
    """
    definers: dict[str, ModuleType] = {}
    for name, path in modules_in(folder).items():
        if name == "base":
            continue
        module = importlib.import_module(path)
        if not isinstance(getattr(module, table, None), dict):
            raise UserError(f"{module.__file__}: there is no {table}; set it to a dictionary of names and classes")
        for key in getattr(module, table):
            if key in definers:
                also = f"{key!r} is also in {definers[key].__file__}"
                raise UserError(f"{module.__file__}: {table}: {also}; rename one of the two")
            definers[key] = module
    return dict(sorted(definers.items()))


def name_of(kind: type) -> str:
    """Return the name of a class in lower case, its words joined by underscores.

    >>> class TimeOfEpoch: ...
    >>> name_of(TimeOfEpoch)
    'time_of_epoch'
    """
    return re.sub(r"(?<=.)(?=[A-Z])", "_", kind.__name__).lower()


@cache
def classes_by_name(base: type, folder: str) -> Mapping[str, type[Any]]:
    """Import the modules of a folder; return the subclasses of `base` in them, keyed and sorted by `name_of` the class.

    Abstract classes and `base` itself are left out. A name in two modules raises a `UserError`.
    """
    classes: dict[str, type[Any]] = {}
    for path in modules_in(folder).values():
        for value in vars(importlib.import_module(path)).values():
            if not inspect.isclass(value) or not issubclass(value, base) or value.__module__ != path:
                continue
            if value is base or inspect.isabstract(value):
                continue
            if (other := classes.get(name_of(value))) is not None:
                raise UserError(
                    f"{path}: {other.__module__} has a class {value.__name__} as well; rename one of the two"
                )
            classes[name_of(value)] = value
    return dict(sorted(classes.items()))
