"""Find a module by its name in a folder of the package and its sub-folders, so that no list of modules is needed."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from vsebench.core.errors import UserError

PACKAGE = Path(__file__).parent.parent


@cache
def modules_in(folder: str) -> Mapping[str, str]:
    """Return the modules of a folder of the package, such as `methods`, and of its sub-folders.

    Returns
    -------
    name -> module with its packages, such as "warp" -> "vsebench.methods.by_labels.warp", sorted by name. Two modules
    with the same name raise a `UserError`.
    """
    modules: dict[str, str] = {}
    for path in sorted((PACKAGE / folder).rglob("*.py"), key=lambda path: path.stem):
        if path.stem in modules:
            raise UserError(f"{path}: there is another {path.name} in {PACKAGE / folder}; rename one of the two")
        if path.stem != "__init__":
            modules[path.stem] = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
    return modules
