"""Find the files of the package that a stage depends on, by following import statements.

The jobs of the workflow depend on these files, so editing a kernel repeats only the jobs that use it.
"""

import ast
import hashlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from vsebench.core.modules import PACKAGE

# These modules cannot change a result, so editing them repeats no job.
CANNOT_CHANGE_A_NUMBER = ("vsebench.core.", "vsebench.config.")

HASH_LENGTH = 16


def sources_of(*modules: str) -> list[Path]:
    """Return the files of some modules and of all modules that they import, directly or indirectly.

    Only modules of this package count. Modules that cannot change a result are left out. The result is sorted.
    """
    visited: set[str] = set()
    waiting = list(modules)
    while waiting:
        module = waiting.pop()
        if module not in visited and not (module + ".").startswith(CANNOT_CHANGE_A_NUMBER):
            visited.add(module)
            waiting += _imports(module)
    return sorted(file_of(module) for module in visited)


@cache
def content_hash(file: Path) -> str:
    """Return a hash of a file of this package and of all files that the file imports, directly or indirectly.

    The hash covers the files that `sources_of` returns.
    """
    digest = hashlib.sha256()
    for source in sources_of(".".join(file.relative_to(PACKAGE.parent).with_suffix("").parts)):
        digest.update(source.read_bytes())
    return digest.hexdigest()[:HASH_LENGTH]


@cache
def file_of(module: str) -> Path:
    """Return the file of a module, or of a package's `__init__`."""
    path = PACKAGE.parent / module.replace(".", "/")
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def summary_of(module: str) -> str:
    """Return the first line of a module's docstring, without importing the module."""
    docstring = ast.get_docstring(ast.parse(file_of(module).read_text(encoding="utf-8"))) or ""
    return docstring.partition("\n")[0]


@cache
def _imports(module: str) -> list[str]:
    """Return the modules of this package that a module imports directly."""
    names = []
    for node in _statements(ast.parse(file_of(module).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            # `from package import module` imports a module, `from module import name` does not.
            names += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return [name for name in names if name.startswith(f"{PACKAGE.name}.") and file_of(name).is_file()]


def _statements(node: ast.AST) -> Iterator[ast.stmt]:
    """Yield the statements inside a node of a syntax tree, at any depth.

    Expressions are not searched: they make up most of a tree, but contain no statements.
    """
    for field in ("body", "orelse", "finalbody", "handlers", "cases"):
        children = getattr(node, field, ())
        for child in children if isinstance(children, list) else ():
            if isinstance(child, ast.stmt):
                yield child
            yield from _statements(child)
