"""Find a module by its name in a folder of the package and its sub-folders, so that no list of modules is needed."""

import importlib
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import ModuleType

from vsebench.core.errors import UserError

PACKAGE = Path(__file__).parent.parent


@cache
def modules_in(folder: str) -> Mapping[str, str]:
    """Return the modules of a folder of the package, such as `methods`, and of its sub-folders.

    They are sorted by name: name -> module with its packages, such as "warp" -> "vsebench.methods.by_labels.warp". Two
    modules with the same name raise a `UserError`.
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
    """Find the modules of a folder whose text contains a dictionary, by its keys, without importing them.

    Some modules need packages that may be missing, but the source files of a job must be found all the same.

    Parameters
    ----------
    table : name of the dictionary, such as `METHODS`, which must be a literal with strings as keys
    folder : a folder of the package, such as `methods`

    Returns
    -------
    key -> module with its packages, sorted by key. A key in two modules raises a `UserError`.
    """
    found: dict[str, str] = {}
    for module in modules_in(folder).values():
        text = (PACKAGE.parent / module.replace(".", "/")).with_suffix(".py").read_text(encoding="utf-8")
        for entries in re.findall(rf"^{table}\b[^=\n]*= {{(.*?)}}", text, re.MULTILINE | re.DOTALL):
            for key in re.findall(r"""["'](\w+)["']:""", entries):
                if key in found:
                    raise UserError(f"{module}: {table}: {key!r} is also in {found[key]}; rename one")
                found[key] = module
    return dict(sorted(found.items()))


@cache
def modules_that_define(table: str, folder: str) -> Mapping[str, ModuleType]:
    """Import the modules of a folder, such as `evaluation/metrics`; return the module of each name, sorted by name.

    The names are the keys of the dictionary `table` in each module, such as `METRICS`; a module `base` defines none. A
    module without the dictionary, or a name in two modules, raises a `UserError`.
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
                raise UserError(f"{module.__file__}: {table}: {key!r} is also in {definers[key].__file__}; rename one")
            definers[key] = module
    return dict(sorted(definers.items()))
