"""The keys of configuration files as tables in Markdown, read off the types that check these files.

A key's meaning is the comment behind it or above it, in the type or in the one that it is derived from.
"""

import ast
import json
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import import_module
from inspect import getdoc
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from vsebench.core import configuration
from vsebench.core.errors import UserError
from vsebench.core.modules import modules_in
from vsebench.core.sources import file_of
from vsebench.evaluation.decisions.base import load_decision
from vsebench.formats.adapters import KINDS, load_adapter
from vsebench.methods.base import EnsembleSettings, load_method

READS = ("read", *KINDS)  # the functions of adapters
WORDS = {str: "text", int: "whole number", float: "number", bool: "`true` or `false`", Any: "anything"}
LIMITS = {"ge": ">=", "gt": ">", "le": "<=", "lt": "<"}
HEAD = "| key | type | default | meaning |\n|---|---|---|---|"


def keys(asked: str, where: str) -> str:
    """Return the keys of a type of `core.configuration`, or the settings of all methods, decisions or adapters.

    Raises
    ------
    UserError
        There is no such type, which names `where`; a method's package is not installed.
    """
    if asked == "methods":
        return settings({name: load_method(name).settings_type for name in _modules("methods", "METHOD = ")})
    if asked == "decisions":
        found = _modules("evaluation/decisions", "DECISION = ")
        return settings({name: load_decision(name).settings_type for name in found}, "evaluation/decisions")
    if asked == "adapters":
        reads = {name: read for read in READS for name in _modules("formats", f"def {read}(")}
        types = {name: load_adapter(name, where, reads[name]).Options for name in sorted(reads)}
        return settings(types, "formats")
    model = getattr(configuration, asked, None)
    if not (isinstance(model, type) and issubclass(model, BaseModel)):
        raise UserError(f"{where}: this is none of methods, decisions, adapters and the types of core/configuration.py")
    return table(model)


def _modules(folder: str, beginning: str) -> list[str]:
    """Return the modules in a folder of the package that have a line with this beginning, sorted."""
    return [
        name
        for name, module in modules_in(folder).items()
        if f"\n{beginning}" in file_of(module).read_text(encoding="utf-8")
    ]


def settings(types: dict[str, type[BaseModel]], package: str = "methods") -> str:
    """Return a heading and a table for each type of settings, and the modules that have none.

    Parameters
    ----------
    types : module -> the type of its settings
    package : what the modules are in
    """
    parts, without = [], []
    for model in dict.fromkeys(types.values()):
        names = [name for name, its in types.items() if its is model]
        if not model.model_fields or model is EnsembleSettings:  # `fit` fills the latter
            without += names
            continue
        summaries = [_summary(modules_in(package)[name]) for name in names]
        if len(names) > 1:
            summaries = [f"- `{name}`: {summary}" for name, summary in zip(names, summaries, strict=True)]
        heading = "### " + ", ".join(f"`{name}`" for name in names)
        parts.append("\n\n".join([heading, "\n".join(summaries), table(model)]))
    return "\n\n".join([*parts, f"Without settings: {', '.join(f'`{name}`' for name in sorted(without))}."])


def _summary(module: str) -> str:
    """Return the first paragraph of a module's docstring."""
    return " ".join((getdoc(import_module(module)) or "").partition("\n\n")[0].split())


def table(model: type[BaseModel]) -> str:
    """Return the keys of a type as a table; a key of a section stands below it, behind a dot."""
    return "\n".join([HEAD, *(f"| {' | '.join(row)} |" for row in rows(model))])


def rows(model: type[BaseModel], before: str = "") -> Iterator[tuple[str, ...]]:
    """Yield key, type, default and meaning of each key; `before` stands in front of the key."""
    for key, field in model.model_fields.items():
        optional = not field.is_required() and field.default is None
        cells = (words(field.annotation, field.metadata, optional), default(field), meaning(model, key))
        yield f"`{before}{key}`", *(cell.replace("|", r"\|") for cell in cells)
        for path, section in _sections(field.annotation):
            yield from rows(section, f"{before}{key}{path}.")


def words(annotation: Any, limits: Sequence[Any] = (), optional: bool = False, several: bool = False) -> str:
    """Return a type in words.

    Parameters
    ----------
    annotation : the type
    limits : what pydantic knows of it besides: objects with the attributes ge, gt, le, lt
    optional : whether `null` needs no mention, being the default
    several : whether it is the type of a list's values
    """
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        extra = [one for given in inner[1:] for one in (given.metadata if isinstance(given, FieldInfo) else [given])]
        return words(inner[0], [*limits, *extra], optional, several)
    if origin in (Union, UnionType):
        hidden: set[Any] = {NoneType} if optional else set()
        hidden |= {int} if float in inner else set()  # a whole number is a number
        return _either([words(one, limits, optional, several) for one in inner if one not in hidden])
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
    signs = [f"{sign} {getattr(one, key):g}" for one in limits for key, sign in LIMITS.items() if hasattr(one, key)]
    return " ".join([name, ", ".join(signs)]).strip()


def default(field: FieldInfo) -> str:
    """Return what a key is if it is left out."""
    if field.is_required():
        return "needed"
    if field.default is None:
        return "none"
    if isinstance(field.default, BaseModel) or field.default in ({}, [], (), ""):
        return "empty"
    return _code(field.default)


def meaning(model: type[BaseModel], key: str) -> str:
    """Return the comment of a key; empty if it has none."""
    found = (_comments(one).get(key) for one in model.__mro__ if one is not BaseModel and issubclass(one, BaseModel))
    return next(filter(None, found), "")


@cache
def _comments(model: type) -> dict[str, str]:
    """Return the comments of the keys that a type's own text declares."""
    file = sys.modules[model.__module__].__file__
    assert file is not None
    text = Path(file).read_text(encoding="utf-8")
    lines = text.splitlines()
    (body,) = (
        node.body for node in ast.parse(text).body if isinstance(node, ast.ClassDef) and node.name == model.__name__
    )
    found = {}
    for node in body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            assert node.end_lineno is not None
            behind = lines[node.end_lineno - 1].encode()[node.end_col_offset :].decode().strip()
            found[node.target.id] = behind.removeprefix("#").strip() or _comment_above(lines[: node.lineno - 1])
    return found


def _comment_above(lines: list[str]) -> str:
    """Return the comment that the lines end with."""
    end = len(lines)
    while lines[end - 1].lstrip().startswith("#"):
        end -= 1
    return " ".join(line.strip().removeprefix("#").strip() for line in lines[end:])


def _sections(annotation: Any) -> Iterator[tuple[str, type[BaseModel]]]:
    """Yield the sections in a type, each with what a key of it has between the key of the type and its dot."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield "", annotation
    elif origin is dict:
        yield from ((f".<name>{path}", section) for path, section in _sections(inner[1]))
    elif origin is list:
        yield from ((f"[]{path}", section) for path, section in _sections(inner[0]))
    elif origin in (Union, UnionType):
        yield from (found for one in inner for found in _sections(one))


def _either(names: list[str]) -> str:
    """Return a, b or c."""
    return " or ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def _code(value: Any) -> str:
    """Return a value as YAML has it."""
    return f"`{value if isinstance(value, str) else json.dumps(value)}`"
