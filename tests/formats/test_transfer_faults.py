"""What networks, servers and disks do to a download: the right file in the end, or one line and nothing half done."""

import contextlib
import gzip
import hashlib
import io
import os
import re
import resource
import signal
import subprocess
import sys
import tarfile
import threading
import time
import zipfile
from pathlib import Path

import pytest

from tests import data_sets
from tests.servers import Handler, serve
from vsebench.cli import main
from vsebench.core.storage import read_json
from vsebench.formats.download import transfer


def zip_of(content):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("a.txt", content)
    return buffer.getvalue()


def tar_of(content):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        info = tarfile.TarInfo("a.txt")
        info.size = len(content)
        archive.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


NOISE = b"".join(hashlib.sha256(bytes([i])).digest() for i in range(250))  # 8,000 bytes that do not compress
FILES = {"x.zip": zip_of(NOISE), "x.tar.gz": tar_of(NOISE), "x.csv.gz": gzip.compress(NOISE), "x.csv": NOISE}


class Faulty(Handler):
    """Answers /<act>/<name> as its method `act` does; /good/<name> is a well-behaved server."""

    def answer(self):
        _, act, name = self.path.split("/")
        self.data = FILES[name]
        found = re.match(r"bytes=(\d+)-", self.headers.get("Range", ""))
        self.begin = int(found[1]) if found else 0
        self.server.seen.append((act, self.begin))
        with contextlib.suppress(ConnectionError):
            getattr(self, act)()

    def head(self, length=None, **headers):
        """Send the head of an answer that goes on where the client left off."""
        self.send_response(206 if self.begin else 200)
        if self.begin:
            headers["Content_Range"] = f"bytes {self.begin}-{len(self.data) - 1}/{len(self.data)}"
        headers = {"ETag": '"1"', "Content_Length": length or len(self.data) - self.begin} | headers
        for key, value in headers.items():
            if value != "":
                self.send_header(key.replace("_", "-"), str(value))
        self.end_headers()

    def good(self):
        self.head()
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

    def page(self):
        self.data, self.begin = b"<?xml version='1.0'?>\n<!DOCTYPE html><title>Sorry</title>", 0
        self.good()

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
        """Send as fast as is just enough."""
        self.head()
        for start in range(self.begin, len(self.data), 500):
            self.wfile.write(self.data[start : start + 500])
            time.sleep(0.03)

    def cut(self):
        """Leave out the end, and do not say how long the file is."""
        self.begin = 0
        self.head(Content_Length="")
        self.wfile.write(self.data[:-9])

    def cut_chunk(self):
        self.protocol_version = "HTTP/1.1"
        self.begin = 0
        self.head(Content_Length="", Transfer_Encoding="chunked", Connection="close")
        self.wfile.write(b"%x\r\n" % 5000 + self.data[:5000] + b"\r\n")

    def chunked(self):
        self.protocol_version = "HTTP/1.1"
        self.begin = 0
        self.head(Content_Length="", Transfer_Encoding="chunked", Connection="close")
        for start in range(0, len(self.data), 999):
            part = self.data[start : start + 999]
            self.wfile.write(b"%x\r\n" % len(part) + part + b"\r\n")
        self.wfile.write(b"0\r\n\r\n")

    def short(self):
        """Name a length that is too long."""
        self.head(length=len(self.data) + 100)
        self.wfile.write(self.data)

    def other(self):
        """Send another content of the same length."""
        self.data = bytes(len(self.data))
        self.good()

    def shifted(self):
        """Go on at another byte than the one asked for."""
        if self.begin:
            self.begin += 1
            self.good()
        else:
            self.tenth()

    def nonsense(self):
        self.wfile.write(b"\x00\xff nonsense\r\n\r\n")


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("VSEBENCH_MIRROR", raising=False)
    monkeypatch.setattr(transfer, "pause", lambda seconds: None)
    monkeypatch.setattr(transfer, "TIMEOUT", (2.0, 0.1))
    monkeypatch.setattr(transfer, "WINDOW", 0.2)
    monkeypatch.setattr(transfer, "LOWEST", 1000)
    with serve(Faulty, over=threading.Event()) as server:
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
    """Run the stage and return what it said; check that it ended well or did nothing by halves."""

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
    """Besides bars of progress, there has to be one line."""
    assert "Traceback" not in said
    assert said.splitlines()[-1].startswith("vsebench download: ")
    assert said.count("vsebench download: ") == 1


def test_a_connection_that_drops_at_every_tenth_of_the_file(server, fetch):
    fetch("tenth", good=True)
    assert len(server.seen) == 11
    assert [begin for _, begin in server.seen] == [len(FILES["x.zip"]) // 10 * i for i in range(11)]


def test_any_other_server_may_finish(server, fetch):
    """Bytes of another address are not continued: it may have another file."""
    fetch("stall", "good", good=True)
    assert server.seen[-1] == ("good", 0)


@pytest.mark.parametrize("act", ["stall", "mute"])
def test_a_server_that_stalls(server, fetch, act):
    assert re.search("no answer in time|too slow", fetch(act, good=False))
    fetch(act, "good", good=True)


def test_what_a_stalling_server_sent_is_kept(server, fetch):
    fetch("stall", good=False)
    begins = [begin for _, begin in server.seen]
    assert begins == sorted(begins)
    assert begins[1] == len(FILES["x.zip"]) // 2


@pytest.mark.parametrize("act", ["drip", "drop"])
def test_a_server_that_drips(server, fetch, act, monkeypatch):
    monkeypatch.setattr(transfer, "pause", lambda seconds: time.sleep(0.01))
    assert "too slow, " in fetch(act, good=False)
    fetch(act, "good", good=True)


def test_a_server_that_drips_is_continued_next_time(server, fetch, tmp_path):
    fetch("drip", good=False)
    assert (tmp_path / "raw" / "x.zip.part").stat().st_size > 10


def test_a_server_that_is_just_fast_enough(server, fetch):
    fetch("leisurely", good=True)


@pytest.mark.parametrize("name", FILES)
def test_an_error_page_with_the_status_of_success(server, fetch, name):
    assert f"it is a web page, not {name}" in fetch("page", name=name, good=False)
    fetch("page", "good", name=name, good=True)


@pytest.mark.parametrize("name", ["x.zip", "x.tar.gz", "x.csv.gz"])
def test_a_file_without_its_end(server, fetch, name):
    assert "complete" in fetch("cut", name=name, good=False)
    fetch("cut", "good", name=name, good=True)


@pytest.mark.parametrize("known", [{"size": 8000}, {"md5": hashlib.md5(NOISE).hexdigest()}])
def test_a_file_without_its_end_in_a_format_that_does_not_show_it(server, fetch, known):
    assert "it" in fetch("cut", name="x.csv", good=False, **known)
    fetch("cut", "good", name="x.csv", good=True, **known)


@pytest.mark.parametrize("act", ["cut_chunk", "short", "nonsense"])
def test_an_answer_that_breaks_the_protocol(server, fetch, act):
    fetch(act, good=False)
    fetch(act, "good", good=True)


def test_an_answer_in_chunks(server, fetch):
    fetch("chunked", good=True)


def test_a_server_that_goes_on_at_another_byte(server, fetch):
    assert "the file changed while it was fetched" in fetch("shifted", good=False)
    fetch("shifted", "good", good=True)


def test_a_wrong_checksum(server, fetch):
    known = {"sha256": hashlib.sha256(FILES["x.csv"]).hexdigest()}
    assert "its sha256 is " in fetch("other", name="x.csv", good=False, **known)
    fetch("other", "good", name="x.csv", good=True, **known)


def test_a_redirect_loop(server, fetch):
    assert "it redirects in a circle" in fetch("moved", good=False)
    fetch("moved", "good", good=True)


def test_a_redirect_out_of_the_web(server, fetch):
    assert "InvalidSchema" in fetch("elsewhere", good=False)


def test_killed_in_the_middle(server, fetch, configure, tmp_path):
    """What was there goes on where it was."""
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
    """Let no file become larger; the system then refuses a write as on a full disk."""
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
def small_disk(tmp_path):
    """Let the data's folder be a file system of 8 KiB."""
    (tmp_path / "raw").mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=8k", "none", str(tmp_path / "raw")]
    try:
        subprocess.run(mount, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("a file system can be mounted by root only")
    yield tmp_path / "raw"
    subprocess.run(["umount", str(tmp_path / "raw")], check=True)


def test_a_full_disk(server, fetch, small_disk):
    (small_disk / "ballast").write_bytes(bytes(4096))
    assert "No space left on device" in fetch("good", good=False)
    assert not list(small_disk.glob(".*"))


@contextlib.contextmanager
def without_rights():
    """Be somebody who may not write everywhere."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.mark.parametrize("exists", [True, False])
def test_a_folder_that_cannot_be_written(server, configure, capsys, tmp_path, exists):
    arguments = configure("good")
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw").chmod(0o555)
    if not exists:
        arguments[-1] += "/new"
    reachable = [tmp_path, *(folder for folder in tmp_path.parents if folder.stat().st_uid == os.geteuid())]
    modes = {folder: folder.stat().st_mode for folder in reachable if folder != Path("/")}
    try:
        for folder, mode in modes.items():
            folder.chmod(mode | 0o055)
        with without_rights():
            status = main(arguments)
    finally:
        for folder, mode in modes.items():
            folder.chmod(mode)
        (tmp_path / "raw").chmod(0o755)
    said = capsys.readouterr().err
    assert status == 1
    check_said(said)
    assert "Permission denied" in said
    assert list((tmp_path / "raw").iterdir()) == []


@pytest.mark.parametrize("name", ["x.zip", "x.zip.part", "x.zip.part.json"])
def test_a_folder_in_the_way(server, configure, capsys, tmp_path, name):
    (tmp_path / "raw" / name / "inside").mkdir(parents=True)
    assert main(configure("good")) == 1
    said = capsys.readouterr().err
    check_said(said)
    assert f"{name}: " in said
    assert not (tmp_path / "raw" / "x.zip").is_file()


def test_what_is_known_of_the_file_is_noted(server, fetch, tmp_path):
    fetch("tenth", good=True)
    record = read_json(tmp_path / "raw" / "provenance.json")["files"][0]
    assert (record["source"], record["bytes"]) == (f"{server.address}/tenth/x.zip", len(FILES["x.zip"]))
