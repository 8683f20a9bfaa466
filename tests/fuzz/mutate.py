"""Small damages to files, like those by disks, editors, spreadsheets and wrong exports."""

from collections.abc import Callable
from random import Random
from typing import NamedTuple

Files = dict[str, bytes]  # by their names

TOKENS = [
    *(b"\n", b"\r\n", b"\r", b"\n\n", b" ", b"\t", b"\0", b",", b";", b'"', b"'", b"\\", b"/", b":", b"#", b"- "),
    b"\xff",
    *(b"0", b"1", b"2", b"-1", b"+1", b"1_0", b"01", b"1e5", b"0.5", b"nan", b"inf", b"0x1", b"99999999999999999999"),
    *(b"9" * 5000, b"true", b"null", b"~", b"{}", b"[", b"]", b"{", b"}", b"&a ", b"*a", b"!!int ", b"<<: ", b"---\n"),
    *(b"!!python/object/apply:os.getcwd []", b"2001-99-99", b"=", b"? ", b"| ", b"> ", b"%", b"@", b"`"),
    *(text.encode() for text in ("\u00e9", "e\u0301", "\u0661", "\u2028", "\x85", "\xa0", "\U0001f600", "\ufeff")),
    *(b"\x0b", b"\x0c", b"\x1c", b"\x1a", b"a" * 300, b"[" * 2000, b"<html>"),
]


class Edit(NamedTuple):
    """A damage: its kind, and four numbers that determine its position and its content."""

    kind: str
    file: int
    first: int
    second: int
    third: int


def flip(data: bytes, edit: Edit, files: Files) -> bytes:
    position = edit.first % len(data)
    return data[:position] + bytes([data[position] ^ (1 << edit.second % 8)]) + data[position + 1 :]


def put_token(data: bytes, edit: Edit, files: Files) -> bytes:
    position = edit.first % (len(data) + 1)
    return data[:position] + TOKENS[edit.second % len(TOKENS)] + data[position + edit.third % 3 :]


def cut(data: bytes, edit: Edit, files: Files) -> bytes:
    position = edit.first % len(data)
    return data[:position] + data[position + 1 + edit.second % 8 :]


def truncate(data: bytes, edit: Edit, files: Files) -> bytes:
    return data[: edit.first % len(data)]


def repeat(data: bytes, edit: Edit, files: Files) -> bytes:
    position = edit.first % len(data)
    return data[: position + 1 + edit.second % 8] + data[position:]


def splice(data: bytes, edit: Edit, files: Files) -> bytes:
    other = list(files.values())[edit.second % len(files)]
    position, start = edit.first % len(data), edit.third % (len(other) + 1)
    return data[:position] + other[start : start + 20] + data[position:]


def drop_line(data: bytes, edit: Edit, files: Files) -> bytes:
    lines = data.splitlines(keepends=True)
    del lines[edit.first % len(lines)]
    return b"".join(lines)


def repeat_line(data: bytes, edit: Edit, files: Files) -> bytes:
    lines = data.splitlines(keepends=True)
    lines.insert(edit.second % (len(lines) + 1), lines[edit.first % len(lines)])
    return b"".join(lines)


def swap_lines(data: bytes, edit: Edit, files: Files) -> bytes:
    lines = data.splitlines(keepends=True)
    a, b = edit.first % len(lines), edit.second % len(lines)
    lines[a], lines[b] = lines[b], lines[a]
    return b"".join(lines)


def swap_fields(data: bytes, edit: Edit, files: Files) -> bytes:
    separator = (b"\t", b",", b" ", b"\n")[edit.third % 4]
    fields = data.split(separator)
    a, b = edit.first % len(fields), edit.second % len(fields)
    fields[a], fields[b] = fields[b], fields[a]
    return separator.join(fields)


def line_ends(data: bytes, edit: Edit, files: Files) -> bytes:
    return data.replace(b"\n", (b"\r\n", b"\r", b"\n\r", b" \n", b"\n ")[edit.first % 5])


def recode(data: bytes, edit: Edit, files: Files) -> bytes:
    return data.decode("latin-1").encode(("utf-16", "utf-8-sig", "utf-16-le", "utf-32")[edit.first % 4])


def empty(data: bytes, edit: Edit, files: Files) -> bytes:
    return b""


KINDS: dict[str, Callable[[bytes, Edit, Files], bytes]] = {
    function.__name__: function
    for function in (flip, put_token, cut, truncate, repeat, splice, drop_line, repeat_line, swap_lines, swap_fields)
}
KINDS |= {function.__name__: function for function in (line_ends, recode, empty)}
OFTEN = ["flip", "put_token", "put_token", "put_token", "cut", "repeat", "splice", "swap_fields"]
CHOICES = [*KINDS, *OFTEN, "lose_file"]


def apply(files: Files, edits: list[Edit]) -> Files:
    """Return the damaged files."""
    files = dict(files)
    for edit in edits:
        name = sorted(files)[edit.file % len(files)]
        if edit.kind == "lose_file":
            if len(files) > 1 and edit.first % 8 == 0:
                del files[name]
        elif files[name]:
            files[name] = KINDS[edit.kind](files[name], edit, files)
    return files


def random_edits(random: Random) -> list[Edit]:
    """Draw one to five damages, most often one."""
    number = min(1 + int(random.expovariate(1.2)), 5)
    return [Edit(random.choice(CHOICES), *(random.randrange(1 << 20) for _ in range(4))) for _ in range(number)]
