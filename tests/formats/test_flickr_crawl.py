import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import polars as pl
import pytest
import yaml

from tests import data_sets
from tests.servers import Handler, serve
from vsebench.core.configuration import check
from vsebench.core.errors import UserError
from vsebench.core.storage import read_json
from vsebench.formats.readers import flickr_crawl

KEY = "0123456789abcdefSECRET"
FIRST = 1199145600  # 2008-01-01
DAYS = 2
TAGS = ["sky", "sea", "dog", "newyork", "nikon", "geo:lat=5", "猫"]


def photos(number, seed=1):
    rng = random.Random(seed)
    seconds = sorted(rng.randrange(FIRST, FIRST + DAYS * 86400) for _ in range(number))
    return [
        {
            "id": str(rng.randrange(10**9)),
            "dateupload": str(second),
            "tags": " ".join(rng.sample(TAGS, rng.randrange(4))),
        }
        for second in seconds
    ]


class Flickr(Handler):
    """Serves server.photos as Flickr does; server.lies says what to do otherwise, one function per request."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1  # an answer in one piece

    def answer(self):
        server = self.server
        query = {name: values[0] for name, values in parse_qs(urlsplit(self.path).query).items()}
        server.seen.append(query)
        time.sleep(server.delay)
        first, last = int(query["min_upload_date"]), int(query["max_upload_date"])
        found = [photo for photo in server.photos if first <= int(photo["dateupload"]) <= last]
        size, page = int(query["per_page"]), int(query["page"])
        start = (page - 1) * size
        if start >= flickr_crawl.LIMIT:
            start = 0  # Flickr repeats itself beyond
        answer = {"page": page, "total": len(found), "photo": found[start : start + size]}
        answer = {"photos": answer, "stat": "ok"}
        if query["api_key"] != KEY:
            answer = {"stat": "fail", "code": 100, "message": "Invalid API Key (Key has invalid format)"}
        lie = server.lies.pop(0) if server.lies else server.habit
        self.reply(*lie(answer))

    def reply(self, content, status=200, headers=()):
        data = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def honest(answer):
    return (answer,)


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("FLICKR_API_KEY", KEY)
    with serve(Flickr, photos=photos(3000), lies=[], habit=honest, delay=0.0) as server:
        server.address += "/services/rest/"
        yield server


@pytest.fixture
def pauses(monkeypatch):
    taken = []
    monkeypatch.setattr(flickr_crawl, "pause", taken.append)
    return taken


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(flickr_crawl, "PAGE", 50)
    monkeypatch.setattr(flickr_crawl, "LIMIT", 400)


def options(server, **changes):
    values = {"address": server.address, "first_day": "2008-01-01", "last_day": "2008-01-02", "rate": 1e6}
    return check(flickr_crawl.Options, values | changes, "here")


def fetch(server, out, **changes):
    out.mkdir(exist_ok=True)
    return flickr_crawl.fetch(options(server, **changes), out)


def result(out):
    return pl.read_parquet(out / "photos.parquet")


def expected(server, fewest=1):
    first = {photo["id"]: photo for photo in reversed(server.photos)}
    kept = [photo for photo in first.values() if len(photo["tags"].split()) >= fewest]
    return [(p["id"], int(p["dateupload"]), p["tags"].split()) for p in sorted(kept, key=lambda p: int(p["id"]))]


def definition(server, **changes):
    crawl = {"address": server.address, "first_day": "2008-01-01", "last_day": "2008-01-02", "rate": 1e6}
    return {"adapter": "flickr_crawl", "options": crawl | changes}


def test_all_photos_of_the_days_come_once_and_sorted(server, pauses, tmp_path):
    server.photos += server.photos[:20] + photos(5, seed=2)
    added = fetch(server, tmp_path)
    assert result(tmp_path).rows() == expected(server)
    counts = added["crawl"]["counts"]
    assert counts["photos"] == len(expected(server))
    assert counts["announced"] == len(server.photos)
    assert counts["repeated"] == counts["missing"] == 20
    (query, *_) = server.seen
    assert query["method"] == "flickr.photos.search"
    assert query["extras"] == "tags,date_upload"
    assert query["nojsoncallback"] == "1"
    windows = {(int(query["min_upload_date"]), int(query["max_upload_date"])) for query in server.seen}
    assert (FIRST, FIRST + DAYS * 86400 - 1) in windows


def test_stage_provenance_and_labels(server, pauses, tmp_path, capfd):
    query = {"tags": ["a b", "c"], "tag_mode": "all", "text": "x y"}
    raw, out = tmp_path / "raw", tmp_path / "out"
    assert data_sets.download(definition(server, **query), raw) == 0
    assert {(query["tags"], query["tag_mode"], query["text"]) for query in server.seen} == {("a b,c", "all", "x y")}
    provenance = read_json(raw / "provenance.json")
    assert provenance["files"][0]["name"] == "photos.parquet"
    assert len(provenance["files"][0]["sha256"]) == 64
    assert provenance["crawl"]["options"]["tags"] == ["a b", "c"]
    assert data_sets.prepare(definition(server, **query), raw, out) == 0
    assert set(pl.read_parquet(out / "labels.parquet")["name"]) == {"sky", "sea", "dog", "newyork", "猫"}
    # Again: nothing is asked, and no key is needed.
    del os.environ["FLICKR_API_KEY"]
    asked = len(server.seen)
    assert data_sets.download(definition(server, **query), raw) == 0
    assert len(server.seen) == asked
    assert data_sets.prepare(definition(server, **query, images=5), raw, out) == 1
    captured = capfd.readouterr()
    assert "was crawled with other options" in captured.err
    texts = [captured.out, captured.err, *(file.read_bytes().decode("latin-1") for file in raw.iterdir())]
    assert not [text for text in texts if KEY in text]


def test_as_many_photos_as_are_wanted(server, pauses, tmp_path):
    fetch(server, tmp_path, images=100, min_tags=2)
    wanted = sorted(expected(server, 2), key=lambda row: (row[1], int(row[0])))[:100]
    assert result(tmp_path).rows() == sorted(wanted, key=lambda row: int(row[0]))
    assert len(server.seen) < 40


def test_the_rate_is_kept(server, tmp_path):
    server.photos = photos(200)
    start = time.monotonic()
    fetch(server, tmp_path, rate=20.0)
    assert len(server.seen) == 4
    assert time.monotonic() - start >= 3 / 20


def status(code, **headers):
    return lambda answer: (b"busy", code, [(name.replace("_", "-"), value) for name, value in headers.items()])


def content(data):
    return lambda answer: (data,)


def changed(**values):
    """Lie about the list: replace keys of it."""
    return lambda answer: ({"stat": "ok", "photos": answer["photos"] | values},)


def photo(**values):
    """Lie about the first photo; None takes a key out."""

    def lie(answer):
        first, *others = answer["photos"]["photo"]
        first = {key: value for key, value in (first | values).items() if value is not None}
        return changed(photo=[first, *others])(answer)

    return lie


PASSING = {
    "too many requests": status(429),
    "server error": status(503),
    "service unavailable": content({"stat": "fail", "code": 105, "message": "Service currently unavailable"}),
    "a web page": content(b"<!DOCTYPE html><html>"),
    "half an answer": lambda answer: (json.dumps(answer).encode()[:-20],),
    "not UTF-8": content(b'{"stat": "\xff"}'),
    "nothing": content(b""),
    "a list": content([1]),
    "a number": content(1),
    "deep": content(b"[" * 100_000),
    "no photos": content({"stat": "ok"}),
    "photos of another type": content({"stat": "ok", "photos": [1]}),
    "negative total": changed(total=-1),
    "total that is no number": changed(total="many"),
    "photo list of another type": changed(photo={"id": "1"}),
    "id that is a number": photo(id=5),
    "id that is no number": photo(id="../../x"),
    "no tags": photo(tags=None),
    "tags of another type": photo(tags=["sky"]),
    "no day": photo(dateupload=None),
    "a day that is no number": photo(dateupload="2008-01-01"),
    "a code of another type": content({"stat": "fail", "code": "105", "message": [1]}),
}


@pytest.mark.parametrize("case", PASSING)
def test_what_passes_is_waited_for(server, pauses, tmp_path, case):
    server.photos = photos(400)
    server.lies = [PASSING[case], honest, PASSING[case], PASSING[case]]
    fetch(server, tmp_path)
    assert result(tmp_path).rows() == expected(server)
    assert [seconds for seconds in pauses if seconds >= 2] == [2.0, 2.0, 4.0]


@pytest.mark.parametrize("case", PASSING)
def test_what_does_not_pass_is_one_line(server, pauses, tmp_path, capfd, case):
    server.habit = PASSING[case]
    assert data_sets.download(definition(server), tmp_path / "raw") == 1
    lines = [line for line in capfd.readouterr().err.splitlines() if line.startswith("vsebench")]
    assert len(lines) == 1
    assert "Flickr, uploads from 2008-01-01T00:00:00Z to 2008-01-02T23:59:59Z, page 1: " in lines[0]
    assert KEY not in lines[0]
    assert len(server.seen) == flickr_crawl.ATTEMPTS
    assert not (tmp_path / "raw" / "photos.parquet").exists()


def test_a_server_may_say_how_long_to_wait(server, pauses, tmp_path):
    server.lies = [status(429, Retry_After="77"), status(503, Retry_After="soon")]
    fetch(server, tmp_path)
    assert [seconds for seconds in pauses if seconds >= 2] == [77.0, 4.0]
    server.lies = [status(429, Retry_After="100000")]
    with pytest.raises(UserError, match="HTTP 429 and asks to wait 100000 s; run again later"):
        fetch(server, tmp_path / "other")


REFUSED = {
    "forbidden": (status(403), "HTTP 403"),
    "redirection": (status(302, Location="http://127.0.0.1:9/"), "HTTP 302"),
    "another error": (content({"stat": "fail", "code": 3, "message": f"no\n{KEY} search"}), "error 3, no ... search"),
    "too much in a second": (changed(total=10**9), "announces 1000000000 photos for the second 2008-01-01T00:00:00Z"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_refusal_is_one_line_at_once(server, pauses, tmp_path, case):
    server.habit, message = REFUSED[case]
    with pytest.raises(UserError) as error:
        fetch(server, tmp_path)
    assert message in str(error.value)
    assert KEY not in str(error.value)
    assert "\n" not in str(error.value)
    assert not [seconds for seconds in pauses if seconds >= 2]


@pytest.mark.parametrize(
    ("key", "message"),
    [
        (None, "FLICKR_API_KEY: set this environment variable to a key"),
        ("wrong", "FLICKR_API_KEY: Flickr does not know this key"),
        ("a b&c", "FLICKR_API_KEY: a key of the Flickr API has only letters and digits"),
    ],
)
def test_a_key_that_is_none(server, pauses, tmp_path, monkeypatch, key, message):
    if key is None:
        monkeypatch.delenv("FLICKR_API_KEY")
    else:
        monkeypatch.setenv("FLICKR_API_KEY", key)
    with pytest.raises(UserError, match=message):
        fetch(server, tmp_path)


def test_no_connection_and_endless_answers(server, pauses, tmp_path, monkeypatch):
    with pytest.raises(UserError, match="no connection, or it broke"):
        fetch(server, tmp_path, address="http://127.0.0.1:9/")
    monkeypatch.setattr(flickr_crawl, "LARGEST_ANSWER", 1000)
    with pytest.raises(UserError, match="the response exceeds the limit"):
        fetch(server, tmp_path / "other")


def outside(answer):
    strangers = [{"id": "1", "dateupload": "5", "tags": "x"}, {"id": "2", "dateupload": "99999999999", "tags": "x"}]
    return changed(photo=[*strangers, *answer["photos"]["photo"]])(answer)


def growing(answer):
    return changed(total=answer["photos"]["total"] + 3 * answer["photos"]["page"])(answer)


TOLERATED = {
    "photos outside the window": outside,
    "total as text": lambda answer: changed(total=str(answer["photos"]["total"]))(answer),
    "a total that grows": growing,
    "pages that come twice": lambda answer: changed(photo=answer["photos"]["photo"] * 2)(answer),
    "fields unheard of": photo(owner="x", farm=5),
}


@pytest.mark.parametrize("case", TOLERATED)
def test_lies_that_do_no_harm(server, pauses, tmp_path, case):
    server.habit = TOLERATED[case]
    fetch(server, tmp_path)
    assert result(tmp_path).rows() == expected(server)


def test_pages_that_are_empty_or_repeat_are_counted(server, pauses, tmp_path):
    server.photos = photos(200)
    first_page = server.photos[:50]
    server.lies = [honest, changed(photo=[]), changed(photo=first_page)]
    counts = fetch(server, tmp_path)["crawl"]["counts"]
    assert (counts["missing"], counts["repeated"]) == (100, 50)


def test_no_photo_at_all(server, pauses, tmp_path):
    server.photos = []
    with pytest.raises(UserError, match="Flickr has no photo for this query with 1 tags or more"):
        fetch(server, tmp_path)


def test_an_interrupted_crawl_gives_the_same_bytes(server, pauses, tmp_path):
    fetch(server, tmp_path / "whole")
    requests = len(server.seen)
    broken = tmp_path / "broken"
    rounds = 0
    while True:
        # Each round ends after a few answers, and then the last line of the notes is cut off somewhere.
        server.lies = [honest] * 9 + [status(403)]
        try:
            fetch(server, broken)
            break
        except UserError:
            rounds += 1
        notes = broken / "crawl.jsonl"
        lines = notes.read_bytes().splitlines(keepends=True)
        if len(lines) > 1 and rounds % 2:
            notes.write_bytes(b"".join(lines) + lines[-1][: rounds * 37 % len(lines[-1])])
    assert rounds > 3
    assert len(server.seen) < 3 * requests
    assert (broken / "photos.parquet").read_bytes() == (tmp_path / "whole" / "photos.parquet").read_bytes()


def test_a_killed_crawl_gives_the_same_bytes(server, pauses, tmp_path):
    server.photos = photos(1200)
    fetch(server, tmp_path / "whole")
    server.delay = 0.01
    raw = tmp_path / "raw"
    program = "from vsebench.formats import flickr_crawl as f; f.PAGE, f.LIMIT = 50, 400\n"
    program += "import sys; from vsebench.cli import main; sys.exit(main())"
    arguments = data_sets.arguments("download", definition(server), raw, name="crawl")
    command = [sys.executable, "-c", program, *arguments]
    kills = 0
    for number in range(50):
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        asked = len(server.seen)
        while process.poll() is None and len(server.seen) < asked + 12 + number:
            time.sleep(0.002)
        if process.poll() is not None:
            break
        process.send_signal(signal.SIGKILL)
        process.wait()
        kills += 1
    assert process.returncode == 0
    assert kills >= 2
    assert (raw / "photos.parquet").read_bytes() == (tmp_path / "whole" / "photos.parquet").read_bytes()
    assert not list(raw.glob(".*.tmp*"))


def test_a_crawl_does_not_go_on_with_another_query(server, pauses, tmp_path):
    fetch(server, tmp_path)
    with pytest.raises(UserError, match=re.escape(f"{tmp_path}/crawl.jsonl: is from another query")):
        fetch(server, tmp_path, text="dog")
    fetch(server, tmp_path, min_tags=2)  # needs no other photos
    assert result(tmp_path).rows() == expected(server, 2)


@pytest.mark.parametrize("line", ["[1]", "nonsense", '{"from": 1}', '{"from": 1, "to": 2, "halved": 1, "photos": []}'])
def test_foreign_notes(server, pauses, tmp_path, line):
    fetch(server, tmp_path)
    with (tmp_path / "crawl.jsonl").open("a") as stream:
        stream.write(line + "\n")
    with pytest.raises(UserError, match="not a file of this crawl; delete it to start again"):
        fetch(server, tmp_path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"first_day": "2008-02-30"}, "here: first_day: should be a day such as 2008-01-31"),
        ({"first_day": 2008}, "here: first_day: should be a day"),
        ({"last_day": "2007-12-31"}, "last_day is before first_day"),
        ({"address": "http://example.org/"}, "here: address"),
        ({"address": flickr_crawl.OFFICIAL, "rate": 2.0}, "rate: Flickr allows 3600 requests per hour"),
        ({"rate": 0.0}, "here: rate"),
        ({"images": 0}, "here: images"),
        ({"stop_lists": ["camera"]}, "here: stop_lists"),
    ],
)
def test_options_are_checked(server, changes, message):
    with pytest.raises(UserError, match=message):
        options(server, **changes)


def test_the_configuration_in_the_repository_is_right():
    values = yaml.safe_load(Path("config/datasets/flickr-crawl.yaml").read_text(encoding="utf-8"))["options"]
    assert check(flickr_crawl.Options, values, "here").window == (FIRST, 1230767999)
