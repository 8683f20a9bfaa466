"""Downloads despite faults of networks, servers and disks: they end with the file, or with one line and no file."""

import contextlib
import gzip
import hashlib
import json
import os
import re
import resource
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests import data_sets
from tests.fuzz.targets import into, packed, write_tar, write_zip
from tests.servers import Handler, serve
from vsebench.cli import main
from vsebench.formats.download import transfer

PACKED = {"x.zip": write_zip, "x.tar": write_tar}
NOISE = b"".join(hashlib.sha256(bytes([i])).digest() for i in range(250))  # 8,000 bytes that do not compress
FILES = {name: packed(into(write, name), {"a.txt": NOISE}, name) for name, write in PACKED.items()}
FILES |= {"x.tar.gz": gzip.compress(FILES["x.tar"]), "x.csv.gz": gzip.compress(NOISE), "x.csv": NOISE}


class Faulty(Handler):
    """Answers /<acts>/<name> with its methods; "act+act" are those of successive requests; 404 is a status."""

    def answer(self):
        _, acts, name = self.path.split("/")
        self.data = FILES[name]
        found = re.match(r"bytes=(\d+)-", self.headers.get("Range", ""))
        self.begin = int(found[1]) if found else 0
        number = sum(acts == before for before, _ in self.server.seen)
        self.server.seen.append((acts, self.begin))
        act = acts.split("+")[min(number, acts.count("+"))]
        with contextlib.suppress(ConnectionError):
            self.send_error(int(act)) if act.isdigit() else getattr(self, act)()

    def head(self, length=None, **headers):
        """Send the headers of an answer that continues where the client stopped."""
        self.send_response(206 if self.begin else 200)
        if self.begin:
            headers["Content_Range"] = f"bytes {self.begin}-{len(self.data) - 1}/{len(self.data)}"
        headers = {"ETag": '"1"', "Content_Length": length or len(self.data) - self.begin} | headers
        for key, value in headers.items():
            if value != "":
                self.send_header(key.replace("_", "-"), str(value))
        self.end_headers()

    def good(self):
        if self.begin >= len(self.data):
            self.no_range()
            return
        self.head()
        self.wfile.write(self.data[self.begin :])

    def half(self, **headers):
        """Break off in the middle of the file."""
        self.head(**headers)
        self.wfile.write(self.data[: len(self.data) // 2])

    def no_range(self):
        self.send_response(416)
        self.send_header("Content-Range", f"bytes */{len(self.data)}")
        self.end_headers()

    def whole(self):
        """Send the whole file whatever the request asks for."""
        self.begin = 0
        self.good()

    def old(self):
        """Break off in another file of the same length."""
        self.data = bytes(len(self.data))
        self.half(**self.server.versions[0])

    def new(self):
        """Continue, unless the request accepts only the rest of the old file."""
        _, now, kind = self.server.versions
        if self.headers.get("If-Range", now[kind]) != now[kind]:
            self.begin = 0
        self.head(**now)
        self.wfile.write(self.data[self.begin :])

    def stall(self):
        """Send half of the rest and then nothing."""
        self.head()
        self.wfile.write(self.data[self.begin : (self.begin + len(self.data)) // 2])
        self.server.over.wait(30)

    def mute(self):
        self.server.over.wait(30)

    def tenth(self):
        """Break off at every tenth of the file."""
        self.head()
        step = len(self.data) // 10
        self.wfile.write(self.data[self.begin : (self.begin // step + 1) * step])

    def moved(self):
        """Redirect for ever."""
        self.send_response(302)
        self.send_header("Location", self.path)
        self.end_headers()

    def elsewhere(self):
        self.send_response(302)
        self.send_header("Location", "file:///etc/passwd")
        self.end_headers()

    def drip(self):
        """Send a byte at a time."""
        self.head()
        for byte in self.data[self.begin :]:
            self.wfile.write(bytes([byte]))
            time.sleep(0.005)

    def drop(self):
        """Break off after every byte."""
        self.head()
        self.wfile.write(self.data[self.begin : self.begin + 1])

    def leisurely(self):
        """Send just fast enough."""
        self.head()
        for start in range(self.begin, len(self.data), 500):
            self.wfile.write(self.data[start : start + 500])
            time.sleep(0.03)

    def cut(self):
        """Leave out the end, and do not send the length of the file."""
        self.begin = 0
        self.head(Content_Length="")
        self.wfile.write(self.data[:-9])

    def chunked(self, end=b"0\r\n\r\n"):
        self.protocol_version = "HTTP/1.1"
        self.begin = 0
        self.head(Content_Length="", Transfer_Encoding="chunked", Connection="close")
        for start in range(0, len(self.data), 999):
            part = self.data[start : start + 999]
            self.wfile.write(b"%x\r\n" % len(part) + part + b"\r\n")
        self.wfile.write(end)

    def without_last_chunk(self):
        self.chunked(end=b"")

    def short(self):
        """Send a length that is too large."""
        self.head(length=len(self.data) + 100)
        self.wfile.write(self.data)

    def shifted(self):
        """Continue at another byte than the requested one."""
        self.begin += 1
        self.good()

    def resized(self):
        """Continue in a file of another length."""
        self.data += b"?"
        self.good()

    def nonsense(self):
        self.wfile.write(b"\x00\xff nonsense\r\n\r\n")


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("VSEBENCH_MIRROR", raising=False)
    pauses = []
    monkeypatch.setattr(transfer, "pause", pauses.append)
    monkeypatch.setattr(transfer, "TIMEOUT", (2.0, 0.1))
    monkeypatch.setattr(transfer, "WINDOW", 0.2)
    monkeypatch.setattr(transfer, "LOWEST", 1000)
    with serve(Faulty, over=threading.Event(), pauses=pauses) as server:
        yield server
        server.over.set()


@pytest.fixture
def configure(server, tmp_path):
    """Write the description of a data set with one file; return the stage's arguments."""

    def write(*acts, name="x.zip", **known):
        sources = [f"{server.address}/{act}/{name}" for act in acts]
        file = {"name": name, "sources": sources, **known}
        return data_sets.arguments("download", {"adapter": "lear", "files": [file]}, tmp_path / "raw", name="tiny")

    return write


@pytest.fixture
def fetch(configure, capsys, tmp_path):
    """Run the stage and return its messages; check that it wrote the whole file or none."""

    def run(*acts, name="x.zip", good, **known):
        status = main(configure(*acts, name=name, **known))
        said = capsys.readouterr().err
        target = tmp_path / "raw" / name
        assert (status, target.exists()) == ((0, True) if good else (1, False))
        if good:
            assert target.read_bytes() == FILES[name]
            assert sorted(path.name for path in target.parent.iterdir()) == ["provenance.json", name]
        else:
            check_said(said)
        return said

    return run


def check_said(said):
    """Check that there is one line besides progress bars."""
    assert "Traceback" not in said
    assert said.splitlines()[-1].startswith("vsebench download: ")
    assert said.count("vsebench download: ") == 1


def test_a_connection_that_drops_at_every_tenth_of_the_file(server, fetch):
    fetch("tenth", good=True)
    assert [begin for _, begin in server.seen] == [len(FILES["x.zip"]) // 10 * i for i in range(11)]


def test_any_other_server_may_finish(server, fetch):
    """Bytes from one address are not continued at another address, which may have another file."""
    fetch("stall", "good", good=True)
    assert server.seen[-1] == ("good", 0)


@pytest.mark.parametrize("act", ["stall", "mute"])
def test_a_server_that_stalls(server, fetch, act):
    assert re.search("the server did not answer in time|too slow", fetch(act, good=False))
    fetch(act, "good", good=True)


@pytest.mark.parametrize("act", ["drip", "drop"])
def test_a_server_that_drips(server, fetch, act, monkeypatch, tmp_path):
    monkeypatch.setattr(transfer, "pause", lambda seconds: time.sleep(0.01))
    assert "too slow: " in fetch(act, good=False)
    assert (tmp_path / "raw" / "x.zip.part").stat().st_size > 1
    fetch(act, "good", good=True)


def test_a_server_that_is_just_fast_enough(server, fetch):
    fetch("leisurely", good=True)


@pytest.mark.parametrize("name", ["x.zip", "x.tar.gz", "x.csv.gz"])
def test_a_file_without_its_end(server, fetch, name):
    assert "complete" in fetch("cut", name=name, good=False)
    fetch("cut", "good", name=name, good=True)


def test_a_csv_file_without_its_end_is_told_by_its_size(server, fetch):
    assert "its size is 7991, not 8000" in fetch("cut", name="x.csv", good=False, size=8000)
    fetch("cut", "good", name="x.csv", good=True, size=8000)


@pytest.mark.parametrize("act", ["without_last_chunk", "short", "nonsense"])
def test_an_answer_that_breaks_the_protocol(server, fetch, act):
    fetch(act, good=False)
    fetch(act, "good", good=True)


def test_an_answer_in_chunks(server, fetch):
    fetch("chunked", good=True)


@pytest.mark.parametrize("act", ["half+shifted+good", "half+resized+good"])
def test_a_file_of_which_other_bytes_come_is_fetched_anew(server, fetch, act):
    fetch(act, good=True)
    assert [begin for _, begin in server.seen] == [0, len(FILES["x.zip"]) // 2, 0]


DAYS = ({"Last_Modified": f"Mon, 0{day} Jan 2024 00:00:00 GMT", "ETag": 'W/"1"'} for day in (1, 8))
VERSIONS = {"tag": ({"ETag": '"1"'}, {"ETag": '"2"'}, "ETag"), "date": (*DAYS, "Last_Modified")}


@pytest.mark.parametrize("kind", VERSIONS)
def test_a_file_that_changed_between_two_requests_is_not_mixed_with_the_first(server, fetch, kind):
    """If-Range asks the server for the rest of the same version only; nothing else shows that the file changed."""
    server.versions = VERSIONS[kind]
    fetch("old+new", name="x.csv", good=True)
    assert len(server.seen) == 2


def test_without_version_and_checksum_a_transfer_begins_again(server, fetch):
    """The server sends a version of no file, and the second of two files of the same length."""
    server.versions = ({"ETag": ""}, {"ETag": ""}, "ETag")
    fetch("old+new", name="x.csv", good=True)
    assert [begin for _, begin in server.seen] == [0, 0]


@pytest.mark.parametrize("act", ["half+whole", "half+no_range+good"])
def test_a_server_that_does_not_go_on_sends_the_whole(server, fetch, act):
    fetch(act, good=True)


def test_a_stage_that_failed_goes_on_next_time(server, fetch, tmp_path):
    act = "half+500+500+500+good"
    assert "HTTP 500" in fetch(act, good=False)
    assert sorted(path.name for path in (tmp_path / "raw").iterdir()) == ["x.zip.part", "x.zip.part.json"]
    fetch(act, good=True)
    assert server.seen[-1] == (act, len(FILES["x.zip"]) // 2)


@pytest.mark.parametrize(("content", "n_requests"), [(FILES["x.zip"], 1), (b"?" * 500, 2)])
def test_the_bytes_of_last_time_are_taken_if_they_are_right(server, fetch, tmp_path, content, n_requests):
    part = tmp_path / "raw" / "x.zip.part"
    part.parent.mkdir()
    part.write_bytes(content)
    address = hashlib.sha256(f"{server.address}/good/x.zip".encode()).hexdigest()
    notes = {"address": address, "version": None, "total": len(FILES["x.zip"])}
    transfer.notes_path(part).write_text(json.dumps(notes))
    fetch("good", good=True, md5=hashlib.md5(FILES["x.zip"]).hexdigest())
    assert len(server.seen) == n_requests


def test_a_busy_server_is_asked_again_after_pauses_that_double(server, fetch):
    fetch("503+429+good", good=True)
    assert server.pauses == [1.0, 2.0]


def test_the_next_source_is_tried_at_once(server, fetch):
    fetch("404", "good", good=True)
    assert [act for act, _ in server.seen] == ["404", "good"]
    assert server.pauses == []


@pytest.mark.parametrize(("act", "message"), [("moved", "it redirects too many times"), ("elsewhere", "InvalidSchema")])
def test_a_redirect_that_leads_nowhere(server, fetch, act, message):
    assert message in fetch(act, good=False)
    fetch(act, "good", good=True)


def test_killed_in_the_middle(server, fetch, configure, tmp_path):
    """The next download continues where the killed one stopped."""
    arguments = configure("stall")
    process = subprocess.Popen([sys.executable, "-m", "vsebench", *arguments], stderr=subprocess.DEVNULL)
    part, half = tmp_path / "raw" / "x.zip.part", len(FILES["x.zip"]) // 2
    while not (part.exists() and transfer.notes_path(part).exists()):
        assert process.poll() is None
        time.sleep(0.01)
    time.sleep(0.1)
    process.send_signal(signal.SIGKILL)
    process.wait()
    # A buffer of the killed process may be lost, but never in the middle.
    assert FILES["x.zip"].startswith(part.read_bytes())
    assert part.stat().st_size <= half
    assert not (tmp_path / "raw" / "x.zip").exists()
    fetch("good", good=True)


@contextlib.contextmanager
def limited_files(size):
    """Limit the size of files; the system then refuses to write, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


@pytest.mark.parametrize("size", [0, 100, 4000])
def test_a_file_that_the_system_lets_grow_no_further(server, fetch, configure, capsys, tmp_path, size):
    arguments = configure("good")
    with limited_files(size):
        status = main(arguments)
    said = capsys.readouterr().err
    check_said(said)
    assert status == 1
    assert "File too large" in said
    assert not (tmp_path / "raw" / "x.zip").exists()
    fetch("good", good=True)


def test_a_mirror_folder_and_a_file_that_cannot_grow(server, fetch, tmp_path, monkeypatch):
    (tmp_path / "mirror").mkdir()
    (tmp_path / "mirror" / "x.zip").write_bytes(FILES["x.zip"])
    monkeypatch.setenv("VSEBENCH_MIRROR", str(tmp_path / "mirror"))
    with limited_files(4000):
        assert "File too large" in fetch(good=False)
    assert list((tmp_path / "raw").iterdir()) == []


@pytest.fixture
def unwritable():
    """Yield a folder in which the current user may not write; root becomes another user meanwhile."""
    user = os.geteuid()
    with TemporaryDirectory() as folder:
        Path(folder).chmod(0o555)
        if user == 0:
            os.seteuid(65534)
        yield folder
        os.seteuid(user)


def test_a_folder_that_cannot_be_written(server, configure, capsys, unwritable):
    assert main([*configure("good")[:-1], f"{unwritable}/new"]) == 1
    said = capsys.readouterr().err
    check_said(said)
    assert "Permission denied" in said


@pytest.mark.parametrize("name", ["x.zip", "x.zip.part", "x.zip.part.json"])
def test_a_folder_in_the_way(server, configure, capsys, tmp_path, name):
    (tmp_path / "raw" / name / "inside").mkdir(parents=True)
    assert main(configure("good")) == 1
    said = capsys.readouterr().err
    check_said(said)
    assert f"{name}: " in said
    assert not (tmp_path / "raw" / "x.zip").is_file()
