"""The base of models that are saved field by field."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, Self

from numpy.typing import NDArray

from vsebench.data.features import Normalisation
from vsebench.data.problem import Matrix
from vsebench.models import Model


class ModelOfFields(Model):
    """A model that is a dataclass of arrays, which are saved under the names of its fields.

    Two fields are not arrays: `normalisation`, and `hidden`, the hidden layers of a network.
    """

    def arrays(self) -> dict[str, NDArray[Any]]:
        arrays: dict[str, NDArray[Any]] = {}
        for name in names_of_fields(self):
            value = getattr(self, name)
            if name == "normalisation":
                arrays |= value.arrays()
            elif name == "hidden":
                arrays |= {f"hidden{number}": layer for number, layer in enumerate(value)}
            else:
                arrays[name] = value
        return arrays

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        values: dict[str, Any] = {}
        for name in names_of_fields(cls):
            if name == "normalisation":
                values[name] = Normalisation.from_arrays(arrays, cls.kind)
            elif name == "hidden":
                values[name] = hidden_layers(arrays)
            else:
                values[name] = arrays[name]
        return cls(**values)


def names_of_fields(model: Any) -> list[str]:
    """Return the names of the fields of a dataclass or of an instance of one."""
    return [field.name for field in fields(model)]


def hidden_layers(arrays: Mapping[str, NDArray[Any]]) -> list[Matrix]:
    """Return the hidden layers among a network's saved arrays, in their order."""
    names = sorted((name for name in arrays if name.startswith("hidden")), key=lambda name: int(name[6:]))
    return [arrays[name] for name in names]
