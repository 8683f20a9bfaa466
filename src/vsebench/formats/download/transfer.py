"""Fetch one file from one address, with retries, and resume after an interruption.

If the server requires a user name and a password, the Python package `requests` takes them from ~/.netrc.

The bytes fetched so far are in a file `<name>.part`. A second file, `<name>.part.json`, contains notes on these bytes:
a hash of the address from which they came, and the version and size of the file at this address. Without notes, or if
the server now has another version, the transfer starts over.
"""

import hashlib
import json
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import requests
import urllib3
from tqdm import tqdm

from vsebench.core.storage import write_json

ATTEMPTS = 4  # consecutive attempts without progress
TIMEOUT = (10.0, 60.0)  # seconds to connect, and between two blocks
WINDOW = 120.0  # seconds in which a source has to send at least LOWEST bytes
LOWEST = 120 << 10  # bytes; that is 1 KiB per second, at which 100 MiB take more than a day
BLOCK = 1 << 18
TEMPORARY_STATUS = {408, 416, 425, 429, 500, 502, 503, 504}

pause: Callable[[float], None] = time.sleep
clock: Callable[[], float] = time.monotonic


class TransferError(Exception):
    """Raised if a transfer failed permanently; the message states why in a few words."""


class TemporaryError(TransferError):
    """Raised if a transfer failed but may succeed at the next attempt."""


class _Pace:
    """Detects a source that is too slow because it sends few bytes per second or often breaks the connection."""

    def __init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        self.since, self.bytes = clock(), 0

    def add(self, size: int) -> None:
        self.bytes += size
        if clock() - self.since > WINDOW:
            if self.bytes < LOWEST:
                raise TransferError(f"the source is too slow: {self.bytes} bytes in {clock() - self.since:.0f} seconds")
            self.restart()


def notes_path(part: Path) -> Path:
    """Return the path of the file with the notes on the bytes in `part`."""
    return part.with_name(part.name + ".json")


def discard(part: Path) -> None:
    """Delete the file `part`, which contains the bytes fetched so far, and the notes on these bytes."""
    part.unlink(missing_ok=True)
    notes_path(part).unlink(missing_ok=True)


def fetch(address: str, part: Path, has_checksum: bool) -> None:
    """Fetch `address` into the file `part`, which is complete when this function returns.

    A transfer can continue where an earlier call or attempt ended, provided that the server states the file's version,
    or that the caller will compare checksums (`has_checksum`). A checksum shows whether all bytes come from the same
    version. In all other cases, the transfer starts over.

    After a temporary failure, the function waits and makes a new attempt; the pauses double (1, 2, 4 s). A
    `TransferError` is raised if a failure is permanent, if `ATTEMPTS` consecutive attempts bring no new bytes, or if
    the source sends less than `LOWEST` bytes in `WINDOW` seconds. The bytes fetched so far are kept for the next call.
    """
    most, failures, pace = _size(part), 0, _Pace()
    while True:
        try:
            _attempt(address, part, has_checksum, pace)
        except TemporaryError:
            failures = 1 if _size(part) > most else failures + 1
            if failures > 1:
                pace.restart()  # the pace excludes pauses; `ATTEMPTS` limits their number
            most = max(most, _size(part))
            if failures == ATTEMPTS:
                raise
            pause(2.0 ** (failures - 1))
        else:
            return


def _attempt(address: str, part: Path, has_checksum: bool, pace: _Pace) -> None:
    notes = _usable_notes(address, part, has_checksum)
    start = _size(part) if notes else 0
    # With compression, the transferred bytes would differ from those that are counted and checked.
    headers = {"Accept-Encoding": "identity", "User-Agent": "vsebench"}
    if start:
        headers["Range"] = f"bytes={start}-"
        if notes["version"]:
            headers["If-Range"] = notes["version"]
    try:
        with requests.get(address, headers=headers, stream=True, timeout=TIMEOUT) as response:
            total = _whole_size(response, start)
            if start and response.status_code == 416 and total == start:
                return  # `part` was already complete
            _check_status(response, part)
            if response.status_code == 206:
                _check_range(response, part, start, total, notes)
            else:
                start = 0
            new_notes = {"address": _digest(address), "version": _version(response), "total": total}
            _save(response, part, start, new_notes, pace)
    except requests.exceptions.SSLError:
        raise TransferError("its certificate is not valid") from None
    except (requests.Timeout, urllib3.exceptions.TimeoutError):
        raise TemporaryError("the server did not answer in time") from None
    except (requests.ConnectionError, urllib3.exceptions.HTTPError):
        broken = f"the connection broke at {_size(part)} bytes" if _size(part) > start else "it cannot be reached"
        raise TemporaryError(broken) from None
    except requests.TooManyRedirects:
        raise TransferError("it redirects too many times") from None
    except requests.RequestException as error:
        raise TransferError(f"{type(error).__name__}") from None


def _digest(address: str) -> str:
    """Return the hash of an address; the notes contain it instead of the address, which may contain a password."""
    return hashlib.sha256(address.encode()).hexdigest()


def _usable_notes(address: str, part: Path, has_checksum: bool) -> dict[str, Any]:
    """Return the notes on `part` if its bytes are from this address and the transfer can continue, otherwise {}."""
    try:
        notes = json.loads(notes_path(part).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    usable = part.is_file() and isinstance(notes, dict) and notes.get("address") == _digest(address)
    usable = usable and (has_checksum or bool(notes.get("version")))
    return {"version": notes.get("version"), "total": notes.get("total")} if usable else {}


def _check_status(response: requests.Response, part: Path) -> None:
    if response.status_code == 416:  # the requested range does not exist: the file has become shorter
        discard(part)
    if response.status_code in TEMPORARY_STATUS:
        raise TemporaryError(f"HTTP {response.status_code}")
    if response.status_code not in (200, 206):
        raise TransferError(f"HTTP {response.status_code}")


def _check_range(response: requests.Response, part: Path, start: int, total: int | None, notes: dict[str, Any]) -> None:
    """Check that the response continues the bytes in `part`."""
    begins = re.match(r"bytes (\d+)-", response.headers.get("Content-Range", ""))
    if begins is None or int(begins[1]) != start or total != notes.get("total"):
        discard(part)
        raise TemporaryError("the file changed while it was fetched")


def _whole_size(response: requests.Response, start: int) -> int | None:
    """Return the size of the whole file, or None if the server does not report it."""
    if response.status_code in (206, 416):
        match = re.search(r"/(\d+)$", response.headers.get("Content-Range", ""))
        return int(match[1]) if match else None
    length = response.headers.get("Content-Length", "")
    return int(length) if length.isdecimal() else None


def _version(response: requests.Response) -> str | None:
    """Return the version of the file, to be sent in the header If-Range, or None if the server does not report it.

    The version is the entity tag or, if this tag is missing or weak, the date of the last change. If-Range does not
    allow weak entity tags.
    """
    tag = response.headers.get("ETag", "")
    return tag if tag.startswith('"') else response.headers.get("Last-Modified")


def _save(response: requests.Response, part: Path, start: int, notes: dict[str, Any], pace: _Pace) -> None:
    part.parent.mkdir(parents=True, exist_ok=True)
    # The notes must always describe the bytes in `part`, so old bytes and notes are deleted together.
    if start == 0:
        discard(part)
    with part.open("ab") as stream:
        write_json(notes, notes_path(part))
        with _progress(part, start, notes["total"]) as bar:
            # read1 returns the bytes received so far; read would wait for a whole block and lose it if the connection
            # breaks.
            while block := response.raw.read1(BLOCK, decode_content=False):
                stream.write(block)
                bar.update(len(block))
                pace.add(len(block))
    if notes["total"] is not None and _size(part) != notes["total"]:
        raise TemporaryError(f"the transfer ended after {_size(part)} of {notes['total']} bytes")


def _progress(part: Path, start: int, total: int | None) -> "tqdm[Any]":
    # In a log file, every update of the progress bar is a line, so updates are rare there.
    interval = 0.2 if sys.stderr.isatty() else 30.0
    return tqdm(desc=part.stem, initial=start, total=total, unit="B", unit_scale=True, mininterval=interval)


def _size(part: Path) -> int:
    return part.stat().st_size if part.exists() else 0
