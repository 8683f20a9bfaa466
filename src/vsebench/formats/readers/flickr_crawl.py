"""Photos and their tags from Flickr itself, by its REST API.

The download stage asks `flickr.photos.search` for the photos uploaded in a range of days. A query returns at most about
4,000 different photos, so a window of upload time with more photos is halved until it has at most 4,000. The photos of
a window are added to `crawl.jsonl`, in one line, as soon as it is finished: an interrupted crawl continues from there.
When all windows are finished, or enough photos were found, `photos.parquet` is written: id, uploaded (seconds since
1970) and tags, each photo once, in the order of the ids.

The key is in the environment variable FLICKR_API_KEY. It is sent to Flickr only.

Tolerated, and counted in the provenance: a photo that comes twice (the first one is kept) or was not uploaded in the
window (it is left out), a page that is empty or repeats another, a total that changes, and windows with fewer photos
than announced. After an invalid response (a web page, broken JSON, wrong types) or that of a busy server the request is
repeated after a pause, up to `ATTEMPTS` times; then one line names the request and the fault.
"""

import json
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

import polars as pl
import requests
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import PydanticCustomError
from tqdm import tqdm

from vsebench.core.errors import UserError
from vsebench.core.storage import read_json, read_parquet, write_parquet
from vsebench.formats.annotations import RawAnnotations
from vsebench.formats.download.transfer import TIMEOUT
from vsebench.formats.download.verify import digest_of
from vsebench.formats.readers.tags import TagOptions, annotate

KEY = "FLICKR_API_KEY"
OFFICIAL = "https://api.flickr.com/services/rest/"
PAGE = 500  # photos, the API's maximum
LIMIT = 4000  # photos per query; later pages repeat earlier ones
ATTEMPTS = 6
LONGEST_PAUSE = 3600.0  # seconds; if a server demands a longer pause, the crawl stops
LARGEST_ANSWER = 1 << 25  # bytes
SLOWEST_ANSWER = 120.0  # seconds
TEMPORARY_STATUS = {408, 425, 429, 500, 502, 503, 504}
TEMPORARY_CODES = {"0", "10", "105", "106"}  # of "stat": "fail": not available at present
INVALID_KEY = "100"
SCHEMA: dict[str, Any] = {"id": pl.String, "uploaded": pl.Int64, "tags": pl.List(pl.String)}

pause: Callable[[float], None] = time.sleep
clock: Callable[[], float] = time.monotonic


def _day(value: Any) -> Any:
    """YAML reads 2008-01-31 as a date, JSON has it as text."""
    if isinstance(value, date):
        return value.isoformat()
    try:
        return date.fromisoformat(value).isoformat()
    except (TypeError, ValueError):
        raise PydanticCustomError("day", "should be a day such as 2008-01-31") from None


Day = Annotated[str, BeforeValidator(_day)]


class Options(TagOptions):
    """Which photos to request from Flickr, and how fast."""

    address: str = Field(default=OFFICIAL, pattern=r"^(https://|http://(127\.0\.0\.1|localhost)[:/])")  # of the API
    first_day: Day  # of upload, UTC
    last_day: Day  # included
    text: str | None = None  # in title, description or tags
    tags: list[str] = Field(default=[])  # that the photos carry; none: any photo
    tag_mode: Literal["any", "all"] = "any"  # whether one of these tags is enough
    images: int | None = Field(default=None, ge=1)  # maximum, the earliest uploads; none: all of the days
    min_tags: int = Field(default=1, ge=0)  # photos with fewer are left out, machine tags count
    rate: float = Field(default=1.0, gt=0)  # requests per second

    @model_validator(mode="after")
    def _possible(self) -> "Options":
        if self.last_day < self.first_day:
            raise PydanticCustomError("days", "last_day is before first_day")
        if self.rate > 1 and urlsplit(self.address).hostname not in ("127.0.0.1", "localhost"):
            raise PydanticCustomError("rate", "rate: Flickr allows 3600 requests per hour, so at most 1.0")
        return self

    @property
    def crawled(self) -> dict[str, Any]:
        """The options that determine the content of `photos.parquet`."""
        return {**self.query, "images": self.images, "min_tags": self.min_tags}

    @property
    def query(self) -> dict[str, Any]:
        """The options that determine which photos there are; a crawl can only be continued with the same query."""
        return self.model_dump(include={"address", "first_day", "last_day", "text", "tags", "tag_mode"})

    @property
    def window(self) -> "Window":
        first, last = (datetime.fromisoformat(day).replace(tzinfo=UTC) for day in (self.first_day, self.last_day))
        return int(first.timestamp()), int(last.timestamp()) + 86399


Window = tuple[int, int]  # first and last second of upload
Photo = tuple[str, int, list[str]]  # id, second of upload, tags


class _Answer(BaseModel):
    model_config = ConfigDict(strict=True, hide_input_in_errors=True)


class _Photo(_Answer):
    id: str = Field(pattern=r"^[0-9]{1,20}$")
    dateupload: str = Field(pattern=r"^[0-9]{1,12}$")
    tags: str


class _Page(_Answer):
    total: Annotated[int, Field(ge=0, strict=False)]  # Flickr has sent it as a number and as text
    photo: list[_Photo]


class _Search(_Answer):
    photos: _Page


class _BusyError(Exception):
    """A request may succeed later; the message says in a few words what happened."""

    def __init__(self, message: str, wait: float = 0.0) -> None:
        super().__init__(message)
        self.wait = wait


def fetch(options: Options, out: Path) -> dict[str, Any]:
    """Crawl what is missing, write `photos.parquet`, and return what to add to the provenance.

    Raises a `UserError` if there is no key, Flickr refuses, or its responses are invalid; what was fetched before is
    kept for the next time.
    """
    notes = Notes(out / "crawl.jsonl", options)
    photos: dict[str, Photo] = {}
    with Flickr(options) as flickr:
        for entry in crawl(options, notes, flickr):
            for identity, uploaded, tags in entry["photos"]:
                if len(tags) >= options.min_tags:
                    photos.setdefault(identity, (identity, uploaded, tags))
            if options.images is not None and len(photos) >= options.images:
                break
    if options.images is not None:
        first = sorted(photos.values(), key=lambda photo: (photo[1], int(photo[0])))[: options.images]
        photos = {photo[0]: photo for photo in first}
    if not photos:
        raise UserError(f"{out}: Flickr has no photo for this query with {options.min_tags} tags or more")
    rows = sorted(photos.values(), key=lambda photo: (int(photo[0]), photo[0]))
    result = out / "photos.parquet"
    write_parquet(pl.DataFrame(rows, schema=SCHEMA, orient="row"), result)
    record = {"name": result.name, "source": options.address, "time": notes.finished(), **digest_of(result)._asdict()}
    counts = {"photos": len(rows), "windows": len(notes.entries), **notes.counts}
    return {"files": [record], "crawl": {"options": options.crawled, "started": notes.started, "counts": counts}}


def crawl(options: Options, notes: "Notes", flickr: "Flickr") -> Iterator[dict[str, Any]]:
    """Yield the photos of each window, in the order of time: from the notes, or from Flickr and into the notes."""
    windows = [options.window]
    start, end = options.window
    interval = 0.2 if sys.stderr.isatty() else 30.0
    with tqdm(desc="days", total=(end + 1 - start) / 86400, mininterval=interval, file=sys.stderr) as bar:
        while windows:
            window = windows.pop()
            entry = notes.entries.get(window)
            if entry is None:
                entry = ask(window, options, flickr)
                notes.add(window, entry)
            if entry["halved"]:
                middle = (window[0] + window[1]) // 2
                windows += [(middle + 1, window[1]), (window[0], middle)]
            else:
                bar.update((window[1] + 1 - window[0]) / 86400)
                yield entry


def ask(window: Window, options: Options, flickr: "Flickr") -> dict[str, Any]:
    """Fetch the photos of a window, or report that it has to be halved.

    Returns `halved`, `photos` and the counts `announced`, `repeated`, `outside`, `missing`.
    """
    photos: dict[str, Photo] = {}
    number, seen, outside, total = 1, 0, 0, 0
    while True:
        page = flickr.search(window, number)
        total = max(total, page.total)
        if page.total > LIMIT and window[0] < window[1]:
            return {"halved": True, "photos": []}
        if page.total > LIMIT:
            raise UserError(
                f"Flickr announces {page.total} photos for the second {_moment(window[0])}, and gives at most {LIMIT}; "
                "narrow the query by `text` or `tags`"
            )
        inside = [photo for photo in page.photo if window[0] <= int(photo.dateupload) <= window[1]]
        outside += len(page.photo) - len(inside)
        seen += len(inside)
        for photo in inside:
            photos.setdefault(photo.id, (photo.id, int(photo.dateupload), photo.tags.split()))
        if number * PAGE >= page.total:
            break
        number += 1
    return {
        "halved": False,
        "photos": list(photos.values()),
        "announced": total,
        "repeated": seen - len(photos),
        "outside": outside,
        "missing": max(0, total - len(photos)),
    }


class Notes:
    """The windows so far: one line for the query, then one line per window, each written at once."""

    def __init__(self, path: Path, options: Options) -> None:
        self.path = path
        self.entries: dict[Window, dict[str, Any]] = {}
        self.counts: Counter[str] = Counter(dict.fromkeys(("announced", "repeated", "outside", "missing"), 0))
        lines = self._whole_lines()
        if not lines:
            self._write({"query": options.query, "started": _now()})
            lines = self._whole_lines()
        try:
            head, *entries = map(json.loads, lines)
            query, self.started = head["query"], head["started"]
            for entry in entries:
                self._take((entry["from"], entry["to"]), entry)
        except (ValueError, KeyError, TypeError):
            raise UserError(f"{path}: not a file of this crawl; delete it to start again") from None
        if query != options.query:
            raise UserError(f"{path}: is from another query ({json.dumps(query)}); move or delete it to start again")

    def add(self, window: Window, entry: dict[str, Any]) -> None:
        """Keep the photos of a window."""
        entry = {"from": window[0], "to": window[1], "time": _now(), **entry}
        self._write(entry)
        self._take(window, entry)

    def finished(self) -> str:
        """Return the time when the last window was finished."""
        return max(str(entry["time"]) for entry in self.entries.values())

    def _take(self, window: Window, entry: dict[str, Any]) -> None:
        if not (isinstance(entry["halved"], bool) and isinstance(entry["photos"], list)):
            raise TypeError("not an entry")
        self.entries[window] = entry
        self.counts.update({name: entry.get(name, 0) for name in self.counts})

    def _whole_lines(self) -> list[bytes]:
        """Return the lines; one that was half written when the crawl was stopped is removed from the file."""
        if not self.path.exists():
            return []
        content = self.path.read_bytes()
        whole = content.rfind(b"\n") + 1
        if whole < len(content):
            os.truncate(self.path, whole)
        return content[:whole].splitlines()

    def _write(self, entry: dict[str, Any]) -> None:
        with self.path.open("ab") as stream:
            stream.write(json.dumps(entry, ensure_ascii=True).encode() + b"\n")
            stream.flush()
            os.fsync(stream.fileno())


class Flickr:
    """Sends requests to Flickr, at the given rate, and repeats those that may succeed later."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.session = requests.Session()
        self.earliest = 0.0  # of the next request

    def __enter__(self) -> "Flickr":
        return self

    def __exit__(self, *_: object) -> None:
        self.session.close()

    def search(self, window: Window, number: int) -> _Page:
        """Return a page of the photos of a window; raises a `UserError` if all attempts fail."""
        where = f"Flickr, uploads from {_moment(window[0])} to {_moment(window[1])}, page {number}"
        parameters = self._parameters(window, number)
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return self._search(parameters, where)
            except _BusyError as fault:
                if attempt == ATTEMPTS or fault.wait > LONGEST_PAUSE:
                    later = f" and asks to wait {fault.wait:.0f} s" if fault.wait > LONGEST_PAUSE else ""
                    message = f"{where}: {fault}{later}; run again later, the crawl continues where it stopped"
                    raise UserError(message) from None
                pause(max(fault.wait, 2.0**attempt))
        raise AssertionError("the last attempt returns or raises")

    def _parameters(self, window: Window, number: int) -> dict[str, str]:
        parameters = {
            "method": "flickr.photos.search",
            "api_key": read_key(),
            "format": "json",
            "nojsoncallback": "1",
            "extras": "tags,date_upload",
            "media": "photos",
            "sort": "date-posted-asc",
            "min_upload_date": str(window[0]),
            "max_upload_date": str(window[1]),
            "per_page": str(PAGE),
            "page": str(number),
        }
        if self.options.text is not None:
            parameters["text"] = self.options.text
        if self.options.tags:
            parameters |= {"tags": ",".join(self.options.tags), "tag_mode": self.options.tag_mode}
        return parameters

    def _search(self, parameters: dict[str, str], where: str) -> _Page:
        pause(max(0.0, self.earliest - clock()))
        self.earliest = clock() + 1 / self.options.rate
        answer = self._json(parameters, where)
        if isinstance(answer, dict) and answer.get("stat") == "fail":
            raise self._refusal(answer, where)
        try:
            return _Search.model_validate(answer).photos
        except ValidationError as error:
            detail = error.errors()[0]
            key = ".".join(map(str, detail["loc"])) or "all of it"
            raise _BusyError(f"its answer is not as documented ({key}: {detail['msg']})") from None

    def _json(self, parameters: dict[str, str], where: str) -> Any:
        """Send a request. No message of requests is passed on, since it may hold the address with the key."""
        try:
            # A redirection could lead the key elsewhere.
            with self.session.get(
                self.options.address, params=parameters, timeout=TIMEOUT, stream=True, allow_redirects=False
            ) as response:
                if response.status_code in TEMPORARY_STATUS:
                    raise _BusyError(f"HTTP {response.status_code}", _retry_after(response))
                if response.status_code != 200:
                    raise UserError(f"{where}: HTTP {response.status_code}")
                return json.loads(_content(response))
        except requests.exceptions.SSLError:
            raise UserError(f"{where}: its certificate is not valid") from None
        except requests.Timeout:
            raise _BusyError("no answer in time") from None
        except (ValueError, RecursionError):  # bad JSON, also bad UTF-8
            raise _BusyError("its answer is not JSON") from None
        except requests.RequestException:
            raise _BusyError("no connection, or it broke") from None

    def _refusal(self, answer: dict[str, Any], where: str) -> Exception:
        code, message = str(answer.get("code")), str(answer.get("message")).replace(read_key(), "...")
        if code == INVALID_KEY:
            return UserError(f"{KEY}: Flickr does not know this key")
        reason = " ".join(f"error {code}, {message}".split())[:200]
        return _BusyError(reason) if code in TEMPORARY_CODES else UserError(f"{where}: {reason}")


def read_key() -> str:
    """Return the key from the environment; raises a `UserError`, which does not show it, if there is none."""
    key = os.environ.get(KEY, "").strip()
    if not key:
        raise UserError(f"{KEY}: set this environment variable to a key of the Flickr API (flickr.com/services/api)")
    if not (key.isascii() and key.isalnum()):
        raise UserError(f"{KEY}: a key of the Flickr API has only letters and digits")
    return key


def _content(response: requests.Response) -> bytes:
    """Read a response; stop with an error if it is too long or too slow."""
    content, until = b"", clock() + SLOWEST_ANSWER
    for block in response.iter_content(1 << 16):
        content += block
        if len(content) > LARGEST_ANSWER or clock() > until:
            raise _BusyError("the response exceeds the limit of size or time")
    return content


def _retry_after(response: requests.Response) -> float:
    seconds = response.headers.get("Retry-After", "")
    return float(seconds) if seconds.isdecimal() else 0.0


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _moment(second: int) -> str:
    return datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def read(raw: Path, options: Options) -> RawAnnotations:
    """Turn the tags of the crawled photos into labels; images are the photos in the order of their ids.

    Raises a `UserError` if there is no result of a crawl, or one with other options.
    """
    path = raw / "photos.parquet"
    table = read_parquet(path)
    if dict(table.schema) != SCHEMA:
        raise UserError(f"{path}: not the result of a crawl; delete it and run again")
    crawled = read_json(raw / "provenance.json").get("crawl", {}).get("options")
    if crawled != options.crawled:
        raise UserError(
            f"{path}: was crawled with other options ({json.dumps(crawled)}); what decides which photos are fetched "
            "belongs in the data set's own file, not in a run's options"
        )
    return annotate(table["id"].to_list(), table["tags"].to_list(), options, str(path))
