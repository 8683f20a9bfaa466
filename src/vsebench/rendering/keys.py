"""Documentation of the keys of configuration files, as tables and lists in Markdown.

The keys are read from the types that validate these files. The meaning of a key is the comment after it or above it, in
the source code of the type or of one of its base classes.
"""

import ast
import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache
from inspect import getdoc, getsource
from textwrap import dedent
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from vsebench.config import dataset, method, run
from vsebench.core.errors import UserError
from vsebench.core.modules import modules_by_key, modules_in
from vsebench.core.sources import file_of
from vsebench.evaluation.decisions.base import load_decision
from vsebench.formats.adapters import KINDS, load_adapter
from vsebench.methods.base import EnsembleSettings, load_method

WORDS = {str: "text", int: "integer", float: "number", bool: "`true` or `false`", Any: "anything"}
LIMITS = {"ge": ">=", "gt": ">", "le": "<=", "lt": "<"}
HEAD = "| key | type | default | meaning |\n|---|---|---|---|"


def keys(name: str, where: str) -> str:
    """Return the documentation of the keys of one type, or of the settings of all methods, decisions or adapters.

    Parameters
    ----------
    name : name of a type of `vsebench.config`; or "methods", "decisions" or "adapters"; or "shared" for the settings
        that several modules share
    where : the page and the line that ask for the keys, for messages

    Raises
    ------
    UserError
        There is no such type (the message names `where`), or the package of a method is not installed.
    """
    if name in ("shared", "methods", "decisions", "adapters"):
        types = _types(where)
        shared = shared_types([model for models in types.values() for model in models.values()])
        summaries = name in ("shared", "adapters")  # docs/methods.md and docs/decisions.md contain the other summaries
        return settings(types.get(name, {base: base for base in shared}), shared, summaries)
    model = (vars(dataset) | vars(method) | vars(run)).get(name)
    if not (isinstance(model, type) and issubclass(model, BaseModel)):
        raise UserError(f"{where}: there is no type {name!r} in src/vsebench/config")
    return "\n".join([HEAD, *(f"| {' | '.join(row)} |" for row in rows(model))])


def _types(where: str) -> dict[str, dict[Any, type[BaseModel]]]:
    """Return the types of the settings of all methods, decisions and adapters.

    The result has the keys "methods", "decisions" and "adapters". For each key, it contains a mapping to types of
    settings, either from the names of methods or decisions, or from the modules of adapters.
    """
    decisions = modules_by_key("DECISIONS", "evaluation/decisions")
    reads = {name: read for read in ("read", *KINDS) for name in _modules("formats", f"def {read}(")}
    adapters = [load_adapter(name, where, reads[name]) for name in sorted(reads)]
    return {
        "methods": {name: load_method(name).settings_type for name in modules_by_key("METHODS", "methods")},
        "decisions": {name: load_decision(name).settings_type for name in decisions},
        "adapters": {adapter: adapter.Options for adapter in adapters},
    }


def _modules(folder: str, beginning: str) -> list[str]:
    """Return the sorted names of the modules in a folder of the package that have a line starting with `beginning`."""
    files = {name: file_of(module) for name, module in modules_in(folder).items()}
    return [name for name, file in files.items() if f"\n{beginning}" in file.read_text(encoding="utf-8")]


def shared_types(types: Iterable[type[BaseModel]]) -> list[type[BaseModel]]:
    """Return the types whose settings several modules share; `types` contains one type per module."""
    counts = Counter(base for model in types for base in _lineage(model) if _comments(base))
    return sorted((base for base, count in counts.items() if count > 1), key=lambda base: base.__name__)


def settings(types: dict[Any, type[BaseModel]], shared: Collection[type[BaseModel]], summaries: bool) -> str:
    """Return sections in Markdown on types of settings, and a list of the modules that have no settings.

    `types` maps each module, or its name, to the type of its settings. A section links to those base classes of its
    type that are in `shared`. It lists only the keys that these base classes lack or describe differently. With
    `summaries`, it begins with the first paragraph of the module's docstring.
    """
    parts: list[str] = []
    without: list[str] = []
    for model in dict.fromkeys(types.values()):
        described = [module for module, type_of_module in types.items() if type_of_module is model]
        names = [f"`{getattr(module, '__name__', module).rpartition('.')[2]}`" for module in described]
        if not model.model_fields or model is EnsembleSettings:  # `fit`, not the user, sets these values
            without += names
            continue
        bases = [base for base in _lineage(model) if base in shared and base not in described]
        inherited = {row[0]: row for base in reversed(bases) for row in rows(base)}
        own = [row for row in rows(model) if row != inherited.get(row[0])]
        links = ", ".join(f"[{base.__name__}](#{base.__name__.lower()})" for base in bases)
        items = [f"- {key} ({kind}; {default}): {meaning}" for key, kind, default, meaning in own]
        texts = [(getdoc(module) or "").partition("\n\n")[0] for module in described if summaries]
        texts += [f"Shared settings: {links}."] if bases else []
        parts += filter(None, [f"### {', '.join(names)}", *texts, "\n".join(items)])
    parts += [f"Without settings: {', '.join(sorted(without))}."] if without else []
    return "\n\n".join(parts)


def _lineage(model: type[BaseModel]) -> list[type[BaseModel]]:
    """Return a type of settings and its base classes, the nearest base class first."""
    return [base for base in model.__mro__ if issubclass(base, BaseModel) and base is not BaseModel]


def rows(model: type[BaseModel], before: str = "") -> Iterator[tuple[str, ...]]:
    """Yield the name, type, default and meaning of each key of a type.

    A section is followed by its own keys, with names of the form `<section>.<key>`. Every name begins with `before`.
    """
    for key, field in model.model_fields.items():
        optional = not field.is_required() and field.default is None
        cells = (words(field.annotation, field.metadata, optional), default(field), meaning(model, key))
        yield f"`{before}{field.alias or key}`", *(cell.replace("|", r"\|") for cell in cells)
        for path, section in _sections(field.annotation):
            yield from rows(section, f"{before}{key}{path}.")


def words(annotation: Any, limits: Sequence[Any] = (), optional: bool = False, several: bool = False) -> str:
    """Return a type in words, with its limits.

    `limits` are the limits that pydantic stores for a key. With `optional`, the words leave out `null`. With `several`,
    the words are in the plural.
    """
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        extra = [part for given in inner[1:] for part in (given.metadata if isinstance(given, FieldInfo) else [given])]
        return words(inner[0], [*limits, *extra], optional, several)
    if origin in (Union, UnionType):
        hidden: set[Any] = {NoneType} if optional else set()
        hidden |= {int} if float in inner else set()  # an integer is a number
        return _either([words(part, limits, optional, several) for part in inner if part not in hidden])
    if origin is Literal:
        return _either([_code(value) for value in inner])
    if origin in (list, tuple):
        kind = "lists" if several else "list"
        return kind if inner[0] is Any else f"{kind} of {words(inner[0], several=True)}"
    if origin is dict:
        kind = "mappings" if several else "mapping"
        return kind if inner[1] is Any else f"{kind} to {words(inner[1], several=True)}"
    if annotation is NoneType:
        return "`null`"
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return "sections" if several else "section"
    name = WORDS[annotation] + ("s" if several and annotation in (str, int, float) else "")
    signs = [f"{sign} {getattr(part, key):g}" for part in limits for key, sign in LIMITS.items() if hasattr(part, key)]
    return " ".join([name, ", ".join(signs)]).strip()


def default(field: FieldInfo) -> str:
    """Return the default of a key, or "required"."""
    if field.is_required():
        return "required"
    if field.default is None:
        return "none"
    if isinstance(field.default, BaseModel) or field.default in ({}, [], (), ""):
        return "empty"
    return _code(field.default)


def meaning(model: type[BaseModel], key: str) -> str:
    """Return the comment of a key, or "" if the key has no comment."""
    return next(filter(None, (_comments(base).get(key) for base in _lineage(model))), "")


@cache
def _comments(model: type) -> dict[str, str]:
    """Return the comments of the keys that a type declares, without those of its base classes."""
    lines = dedent(getsource(model)).splitlines()
    comments = {}
    for node in ast.iter_child_nodes(ast.parse("\n".join(lines)).body[0]):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            assert node.end_lineno is not None
            behind = lines[node.end_lineno - 1].encode()[node.end_col_offset :].decode().strip()
            comments[node.target.id] = behind.removeprefix("#").strip() or _comment_above(lines[: node.lineno - 1])
    return comments


def _comment_above(lines: list[str]) -> str:
    """Return the text of the comment at the end of `lines`; empty if the last line is not a comment."""
    end = len(lines)
    while lines[end - 1].lstrip().startswith("#"):
        end -= 1
    return " ".join(line.strip().removeprefix("#").strip() for line in lines[end:])


def _sections(annotation: Any) -> Iterator[tuple[str, type[BaseModel]]]:
    """Yield the path and the type of each section that the type of a key contains.

    The path leads from the key to the section: `[]` for the sections in a list, `.<name>` for those in a mapping, and
    "" if the key itself is a section.
    """
    origin, inner = get_origin(annotation), get_args(annotation)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield "", annotation
    elif origin is dict:
        yield from ((f".<name>{path}", section) for path, section in _sections(inner[1]))
    elif origin is list:
        yield from ((f"[]{path}", section) for path, section in _sections(inner[0]))
    elif origin is Annotated:
        yield from _sections(inner[0])
    elif origin in (Union, UnionType):
        # A section that has several forms, such as one set of features or several, is described once.
        paths = {section: path for part in reversed(inner) for path, section in _sections(part)}
        yield from ((path, section) for section, path in paths.items())


def _either(names: list[str]) -> str:
    """Join names in the form "a, b or c"."""
    return " or ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def _code(value: Any) -> str:
    """Return a value in YAML notation."""
    return f"`{value if isinstance(value, str) else json.dumps(value)}`"
