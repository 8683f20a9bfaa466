"""Read struct arrays from MATLAB files of version 5 to 7.

SciPy reads a file in a separate process, because a damaged file can crash the process that reads it.
"""

import io
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.io import loadmat

from vsebench.core.errors import UserError
from vsebench.core.processes import KilledError, run_in_new_process

# Name of a field to read -> if it is a struct, the fields to read from it; otherwise None.
Fields = Mapping[str, "Fields | None"]


def read_structs(data: bytes, variable: str, fields: Fields, where: str) -> list[dict[str, Any]]:
    """Read the `fields` of each struct in a MATLAB file's struct array.

    `data` is the content of the file, and `variable` is the name of the struct array. Returns one dict per struct, in
    MATLAB's order (column by column). Each dict contains the values of a struct's fields by name. A line of text
    becomes a str. Real numbers become a one-dimensional array, in MATLAB's order, with the data type that they have in
    the file. A nested struct array becomes a list of dicts.

    Raises a `UserError` that begins with `where` if the data are not a MATLAB file or are damaged, or if the variable
    or one of the fields is missing or has an unsupported type.
    """
    try:
        return run_in_new_process(_read, data, variable, fields)
    except KilledError:
        killed = "the process that read this file was killed; the file is damaged, or memory ran out"
        raise UserError(f"{where}: {killed}") from None
    except UserError as error:
        raise UserError(f"{where}: not the expected MATLAB file: {error}") from None


def _read(data: bytes, variable: str, fields: Fields) -> list[dict[str, Any]]:
    try:
        content = loadmat(io.BytesIO(data), variable_names=[variable])
    except Exception as error:  # a damaged file; SciPy does not document which errors it raises
        raise UserError(f"SciPy cannot read it ({str(error)[:200]})") from None
    if variable not in content:
        raise UserError(f"there is no variable {variable!r}")
    return _structs(content[variable], fields, variable)


def _structs(array: Any, fields: Fields, name: str) -> list[dict[str, Any]]:
    """Return the chosen fields of each struct of an array, in MATLAB's order."""
    if not isinstance(array, np.ndarray) or array.dtype.names is None:
        raise UserError(f"{name} is not a struct")
    missing = [field for field in fields if field not in array.dtype.names]
    if missing:
        raise UserError(f"{name} has no field {missing[0]!r}")
    return [
        {field: _value(struct[field], inner, f"{name}({number}).{field}") for field, inner in fields.items()}
        for number, struct in enumerate(array.ravel(order="F"), 1)
    ]


def _value(value: Any, fields: Fields | None, name: str) -> str | NDArray[Any] | list[dict[str, Any]]:
    """Return the value of a field, converted as in `read_structs`.

    If `fields` is None, the value must be text or numbers. Otherwise, it must be a struct array with these fields.
    """
    if fields is not None:
        return _structs(value, fields, name)
    if isinstance(value, np.ndarray) and value.dtype.kind == "U" and value.size <= 1:  # one line
        return "".join(value.ravel().tolist())
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "iuf":
        raise UserError(f"{name} is neither a line of text nor real numbers")
    numbers: NDArray[Any] = value.ravel(order="F")
    return numbers
