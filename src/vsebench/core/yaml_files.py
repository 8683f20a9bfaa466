"""Read YAML files and check their keys and values against pydantic models."""

from collections.abc import Iterable
from pathlib import Path
from reprlib import Repr
from typing import TYPE_CHECKING, Any, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from vsebench.core.errors import UserError, did_you_mean

# The loader in C is eight times as fast as the one in Python, but a PyYAML that was built without libyaml lacks it.
if TYPE_CHECKING or yaml.__with_libyaml__:
    from yaml import CSafeLoader as Loader
else:
    from yaml import SafeLoader as Loader

Model = TypeVar("Model", bound=BaseModel)

SECRET = "secret"  # the type of an error whose message must not contain the value

SHORT = Repr()  # shortens long values in messages
SHORT.maxstring = SHORT.maxlong = 200


class Strict(BaseModel):
    """A section of a configuration file, with strict checks.

    Unknown keys are refused, and types are not converted. `vsebench fill` copies the comment after a key, or above it,
    into docs/configuration.md and docs/settings.md as the key's meaning.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class _UniqueKeys(Loader):
    """Reads plain YAML, but refuses duplicate keys.

    If a key occurs twice, PyYAML itself would silently take the last one.
    """

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        for key, (where, _) in zip(keys, node.value, strict=True):
            if keys.count(key) > 1:
                raise yaml.MarkedYAMLError(problem=f"duplicate key {key!r}", problem_mark=where.start_mark)
        return super().construct_mapping(node, deep)


def read_yaml(path: Path) -> Any:
    """Read YAML without executing anything in it."""
    try:
        return yaml.load(path.read_text(encoding="utf-8"), Loader=_UniqueKeys)
    except FileNotFoundError:
        raise UserError(f"{path}: no such file") from None
    except RecursionError:
        raise UserError(f"{path}: not readable YAML: nested too deeply") from None
    except (yaml.YAMLError, ValueError, LookupError, TypeError, AttributeError) as error:  # raised for odd values
        raise UserError(f"{path}: not readable YAML: {' '.join(str(error).split())}") from None


def read_config(model: type[Model], path: Path) -> Model:
    """Read and validate a configuration file."""
    return check(model, read_yaml(path), str(path))


def check(model: type[Model], value: Any, where: str, others: Iterable[str] = ()) -> Model:
    """Validate `value` against a model, and return an instance of the model.

    A mistake raises a `UserError`, whose message states `where`, the key and the mistake.

    others : keys that this section of the file can have besides those of the model
    """
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise UserError("; ".join(_explain(detail, where, model, others) for detail in error.errors())) from None


def keys_below(model: type[BaseModel]) -> set[str]:
    """Return the names of the keys in all sub-sections of a section, at any depth."""
    sections = model.model_json_schema().get("$defs", {}).values()
    return {name for section in sections for name in section.get("properties", {})}


def keys_of(model: type[BaseModel]) -> list[str]:
    """Return the names of a section's keys as they are written in files."""
    return [field.alias or name for name, field in model.model_fields.items()]


def _explain(detail: Any, where: str, model: type[BaseModel], others: Iterable[str]) -> str:
    """Return a message about a mistake that pydantic found in a section or in one of its sub-sections.

    detail : the entry for this mistake in pydantic's list of errors
    where : the beginning of the message
    others : keys that the section can have besides those of the model
    """
    # A part of `loc` in angle brackets is not a key: it says which of several forms a value has.
    key = ".".join(str(part) for part in detail["loc"] if not str(part).startswith("<")) or "the whole file"
    match detail["type"]:
        case "extra_forbidden":
            known = [*keys_of(model), *others] if len(detail["loc"]) == 1 else sorted(keys_below(model))
            nearest = did_you_mean(str(detail["loc"][-1]), known)
            return f"{where}: {key}: unknown key; {nearest}correct or remove it"
        case "missing":
            return f"{where}: {key}: this key is missing; add it"
        case "secret":
            return f"{where}: {key}: {detail['msg']}"
    if not detail["loc"] and isinstance(detail["input"], dict):
        return f"{where}: {detail['msg']}"  # a check of several keys failed; the message names them
    return f"{where}: {key}: {detail['msg']}, not {SHORT.repr(detail['input'])}"
