"""Find modules by their names in a folder of the package and in its sub-folders.

Therefore, no list of modules is needed.
"""

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
    """Return the folder that contains Snakefile, workflow and config.

    It is the folder `project` in the package or, if there is no such folder, the repository.
    """
    carried = PACKAGE / "project"
    return carried if carried.is_dir() else PACKAGE.parents[1]


@cache
def modules_in(folder: str) -> Mapping[str, str]:
    """Return the modules of a folder of the package, such as `methods`, and of its sub-folders.

    The result maps the name of each module to its full dotted name, such as "warp" to
    "vsebench.methods.by_labels.warp". It is sorted by name. Two modules with the same name raise a `UserError`.
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
    """Return the module that defines each key of the dictionaries named `table`.

    No module is imported, because some modules need packages that may be missing.

    Parameters
    ----------
    table : name of the dictionaries, such as `METHODS`, which must be literals with strings as keys
    folder : a folder of the package, such as `methods`

    Returns
    -------
    key -> full dotted name of the module that defines the key, sorted by key. If two modules define the same key, a
        `UserError` is raised.
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
    """Import the modules of a folder, such as `protocols`, and return the module that defines each name.

    Each module except `base` must have a dictionary named `table`, such as `PROTOCOLS`. The keys of this dictionary are
    the names that the module defines. The result maps each name to its module, and is sorted by name. If a module lacks
    the dictionary, or if two modules define the same name, a `UserError` is raised.
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
    """Import the modules of a folder, and return the subclasses of `base` that these modules define.

    The result maps the name of each class (see `name_of`) to the class, and is sorted by name. Abstract classes and
    `base` itself are left out. Two classes with the same name raise a `UserError`.
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
