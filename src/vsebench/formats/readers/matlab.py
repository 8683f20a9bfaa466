"""Arrays of structs in MATLAB files of version 5 to 7, as `save` writes them with or without compression.

Such a file has a header of 128 bytes and then elements: a type, a length and content, in the byte order that the header
says. A variable is an element of the type MATRIX, or one of the type COMPRESSED that unpacks to it. A matrix has flags
(its class), its dimensions, its name, and its numbers, text or the fields of its structs, which are matrices again.

What is read: a variable that is a struct array, and of each struct the wanted fields, which are text, real numbers or
structs again. What is not wanted is skipped. Other classes (cells, sparse matrices, objects) are refused, and so are
files of version 7.3, which are HDF5.

`scipy.io.loadmat` reads more, but a damaged file can end the whole process in it (a segmentation fault), so it is used
in the tests alone, as a second reader.

Source of the layout: The MathWorks, "MAT-File Format".
"""

import struct
import zlib
from collections.abc import Mapping
from math import prod
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from vsebench.core.errors import UserError
from vsebench.formats.download.archives import MEMORY

HEADER = 128  # bytes; the last four are the version and the byte order
INT8, INT32, UINT32, MATRIX, COMPRESSED = 1, 5, 6, 14, 15
NUMBERS = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
TEXTS = {1: "latin-1", 2: "latin-1", 4: "utf-16-{}", 16: "utf-8", 17: "utf-16-{}", 18: "utf-32-{}"}
STRUCT, CHAR, NUMERIC = 2, 4, range(6, 16)  # classes
COMPLEX = 0x800  # a flag

# The names of the wanted fields; a field that is a struct has the names of its own, any other has None.
Fields = Mapping[str, "Fields | None"]


class _DamageError(Exception):
    """The file is not as it should be; says why."""


def read_structs(data: bytes, variable: str, fields: Fields, where: str) -> list[dict[str, Any]]:
    """Read a struct array.

    Parameters
    ----------
    data : content of the file
    variable : name of the struct array
    fields : the fields to read of each struct, all of which it must have
    where : the file, for messages

    Returns
    -------
    The fields of each struct by their names, structs in MATLAB's order (column by column): text as str, numbers as a
    (n,) array of the type in the file, column by column, and structs as a list of what this function returns.

    Raises
    ------
    UserError
        This is no such file, it is damaged, or it lacks the variable or one of the fields; begins with `where`.
    """
    try:
        order = _byte_order(data)
        found = [matrix for matrix in _variables(data, order) if matrix.name == variable]
        if len(found) != 1:
            raise _DamageError(f"there {'are two variables' if found else 'is no variable'} {variable!r}")
        return found[0].structs(fields, variable)
    except _DamageError as damage:
        raise UserError(f"{where}: not a MATLAB file as expected: {damage}") from None


def _byte_order(data: bytes) -> str:
    """Return "<" or ">"."""
    order = {b"IM": "<", b"MI": ">"}.get(data[HEADER - 2 : HEADER])
    version = struct.unpack_from(f"{order}H", data, HEADER - 4)[0] if order else 0
    if version == 0x200:
        raise _DamageError("it is of version 7.3 (HDF5); save it with -v7")
    if not order or version != 0x100:
        raise _DamageError("it has no header of version 5")
    return order


def _variables(data: bytes, order: str) -> "list[_Matrix]":
    """Return all variables; of each only flags, dimensions and name are read."""
    elements = _Elements(memoryview(data)[HEADER:], order)
    found = []
    room = MEMORY
    while elements.left:
        kind, content = elements.take(padded=False)
        if kind == COMPRESSED:
            unpacked = _unpack(content, room)
            room -= len(unpacked)
            kind, content = _Elements(memoryview(unpacked), order).take()
        if kind != MATRIX:
            raise _DamageError(f"an element of type {kind} where a variable should be")
        found.append(_Matrix(content, order))
    return found


def _unpack(content: memoryview, room: int) -> bytes:
    unpacker = zlib.decompressobj()
    try:
        data = unpacker.decompress(content, room)
    except zlib.error as error:
        raise _DamageError(f"its compressed content is damaged ({error})") from None
    if not unpacker.eof or unpacker.unused_data:
        raise _DamageError("its compressed content has another length than the file says, or is too big")
    return data


class _Elements:
    """Elements one after the other."""

    def __init__(self, data: memoryview, order: str) -> None:
        self.data, self.order, self.position = data, order, 0

    @property
    def left(self) -> int:
        return len(self.data) - self.position

    def take(self, padded: bool = True) -> tuple[int, memoryview]:
        """Return type and content of the next element; it takes a multiple of 8 bytes where it is `padded`."""
        if self.left < 8:
            _cut_off()
        kind, size = struct.unpack_from(f"{self.order}II", self.data, self.position)
        start = self.position + 8
        if kind >> 16:  # a small element: its length is in the upper half, its content follows in 4 bytes
            kind, size, start = kind & 0xFFFF, kind >> 16, self.position + 4
            if size > 4:
                raise _DamageError(f"a small element of {size} bytes")
            self.position += 8
        else:
            self.position = start + (-(-size // 8) * 8 if padded else size)
        if start + size > len(self.data):
            _cut_off()
        self.position = min(self.position, len(self.data))
        return kind, self.data[start : start + size]

    def expect(self, kind: int, what: str) -> memoryview:
        """Return the content of the next element, which must be of this type."""
        found, content = self.take()
        if found != kind:
            raise _DamageError(f"{what} of type {found}, not {kind}")
        return content

    def integers(self, kind: int, what: str) -> list[int]:
        """Return the numbers of 4 bytes of the next element."""
        content = self.expect(kind, what)
        if len(content) % 4:
            raise _DamageError(f"{what} of {len(content)} bytes")
        return [int(number) for number in np.frombuffer(content, f"{self.order}{NUMBERS[kind]}")]


class _Matrix:
    """A matrix, of which the beginning is read: its class, number of entries and name."""

    def __init__(self, content: memoryview, order: str) -> None:
        self.elements = _Elements(content, order)
        self.kind, self.size, self.lines, self.name = 6, 0, 0, ""
        if not len(content):  # so are empty matrices written in a struct
            return
        flags = self.elements.integers(UINT32, "flags")
        if len(flags) != 2:
            raise _DamageError(f"{len(flags)} numbers of flags")
        self.kind = flags[0] & 0xFF
        if self.kind == 17:  # an object, which has no dimensions
            return
        dimensions = self.elements.integers(INT32, "dimensions")
        if len(dimensions) < 2 or min(dimensions) < 0:
            raise _DamageError(f"the dimensions {dimensions[:4]}")
        self.size, self.lines = prod(dimensions), dimensions[0]
        self.name = bytes(self.elements.expect(INT8, "a name")).decode("latin-1")
        if flags[0] & COMPLEX:
            self.kind = 0

    def value(self, what: str) -> str | NDArray[Any]:
        """Return the text or the numbers; `what` is the field's name, for messages."""
        if self.kind in NUMERIC:
            return self._numbers(what)
        if self.kind == CHAR:
            return self._text(what)
        raise _DamageError(f"{what} is neither text nor real numbers")

    def structs(self, fields: Fields, what: str) -> list[dict[str, Any]]:
        """Return the wanted fields of each struct."""
        if self.kind != STRUCT:
            raise _DamageError(f"{what} is no struct")
        lengths = self.elements.integers(INT32, "the length of field names")
        names = bytes(self.elements.expect(INT8, "field names"))
        if len(lengths) != 1 or lengths[0] < 1 or len(names) % lengths[0]:
            raise _DamageError(f"the field names of {what} have no common length")
        starts = range(0, len(names), lengths[0])
        own = [names[start : start + lengths[0]].partition(b"\0")[0].decode("latin-1") for start in starts]
        for field in fields:
            if own.count(field) != 1:
                raise _DamageError(f"{what} has {'two fields' if field in own else 'no field'} {field!r}")
        if self.size * len(own) * 8 > self.elements.left:
            _cut_off()
        return [self._struct(own, fields, f"{what}({number})") for number in range(1, self.size + 1)]

    def _struct(self, own: list[str], fields: Fields, what: str) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name in own:
            content = self.elements.expect(MATRIX, f"a field of {what}")
            if name in fields:
                matrix, inner, place = _Matrix(content, self.elements.order), fields[name], f"{what}.{name}"
                found[name] = matrix.value(place) if inner is None else matrix.structs(inner, place)
        return found

    def _numbers(self, what: str) -> NDArray[Any]:
        if not self.size:
            return np.empty(0)
        kind, content = self.elements.take()
        if kind not in NUMBERS:
            raise _DamageError(f"{what} has numbers of type {kind}")
        number = np.dtype(f"{self.elements.order}{NUMBERS[kind]}")
        if len(content) != self.size * number.itemsize:
            raise _DamageError(f"{what} has {len(content)} bytes for {self.size} numbers of {number.itemsize}")
        return np.frombuffer(content, number)

    def _text(self, what: str) -> str:
        if not self.size:
            return ""
        kind, content = self.elements.take()
        if kind not in TEXTS or self.lines != 1:
            raise _DamageError(f"{what} is not a line of text")
        name = TEXTS[kind].format("le" if self.elements.order == "<" else "be")
        try:
            return bytes(content).decode(name)
        except UnicodeDecodeError:
            raise _DamageError(f"{what} is not {name} text") from None


def _cut_off() -> NoReturn:
    raise _DamageError("it ends too soon, or a length in it is wrong")
