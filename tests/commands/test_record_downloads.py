"""Checksums of first downloads: recorded, and later downloads compared with them."""

import hashlib
import json

import pytest
import yaml

from tests.servers import Handler, serve
from vsebench.cli import main
from vsebench.core.storage import write_json
from vsebench.formats.download import transfer

ARFF = b"@relation first\n"


class Files(Handler):
    """Answers every request with `server.content`."""

    def answer(self):
        self.send_response(200)
        self.send_header("Content-Length", str(len(self.server.content)))
        self.end_headers()
        self.wfile.write(self.server.content)


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("VSEBENCH_MIRROR", raising=False)
    monkeypatch.setattr(transfer, "pause", lambda seconds: None)
    with serve(Files, content=ARFF) as server:
        yield server


@pytest.fixture
def config(tmp_path, server):
    """A configuration with a data set that has no checksum."""
    files = [{"name": "a.arff", "sources": [f"{server.address}/a.arff"]}]
    (tmp_path / "config/datasets").mkdir(parents=True)
    (tmp_path / "data/included").mkdir(parents=True)
    (tmp_path / "config/datasets/tiny.yaml").write_text(yaml.safe_dump({"adapter": "lear", "files": files}))
    return tmp_path / "config"


def first_downloads(config):
    return config.parent / "data/included/first-downloads.yaml"


def download(config, raw):
    definition = json.dumps(yaml.safe_load((config / "datasets/tiny.yaml").read_text()))
    options = ["--name", "tiny", "--first-downloads", str(first_downloads(config)), "--out", str(raw)]
    return main(["stage", "download", "--definition", definition, *options])


def record(config):
    return main(["record-downloads", "--data", str(config.parent / "data"), "--config", str(config)])


def fault(capsys):
    """Return the only line of a command about a fault; downloads also show their progress."""
    (line,) = (line for line in capsys.readouterr().err.splitlines() if line.startswith("vsebench"))
    return line


def recorded(config):
    return yaml.safe_load(first_downloads(config).read_text())["sha256"]


def test_the_first_download_is_recorded_and_a_different_one_refused(config, server, tmp_path, capsys):
    assert download(config, tmp_path / "data/raw/tiny") == 0
    assert record(config) == 0
    assert recorded(config) == {"a.arff": hashlib.sha256(ARFF).hexdigest()}
    assert download(config, tmp_path / "again") == 0
    server.content = ARFF + b"changed"
    capsys.readouterr()
    assert download(config, tmp_path / "third") == 1
    line = fault(capsys)
    assert ", as at its first download (first-downloads.yaml)" in line
    assert not list((tmp_path / "third").glob("a.arff*"))


def test_a_copy_from_a_mirror_may_differ_and_is_not_recorded(config, tmp_path, monkeypatch):
    mirror = tmp_path / "mirror"
    mirror.mkdir()
    (mirror / "a.arff").write_bytes(ARFF + b"packed anew")
    monkeypatch.setenv("VSEBENCH_MIRROR", str(mirror))
    first_downloads(config).write_text(yaml.safe_dump({"sha256": {"a.arff": "0" * 64}}))
    assert download(config, tmp_path / "data/raw/tiny") == 0
    assert record(config) == 0
    assert recorded(config) == {"a.arff": "0" * 64}


def test_two_different_downloads_are_named(config, tmp_path, capsys):
    assert download(config, tmp_path / "data/raw/tiny") == 0
    first_downloads(config).write_text(yaml.safe_dump({"sha256": {"a.arff": "0" * 64}}))
    assert record(config) == 1
    line = fault(capsys)
    assert "data/raw/tiny/provenance.json: the sha256 of a.arff is" in line


def test_a_file_with_an_official_checksum_is_not_recorded(config, server, tmp_path):
    file = {"name": "a.arff", "sources": [f"{server.address}/a.arff"], "md5": hashlib.md5(ARFF).hexdigest()}
    (config / "datasets/tiny.yaml").write_text(yaml.safe_dump({"adapter": "lear", "files": [file]}))
    assert download(config, tmp_path / "data/raw/tiny") == 0
    assert record(config) == 0
    assert recorded(config) == {}


@pytest.mark.parametrize("content", [[], {}, {"files": [{"name": "a.arff"}]}])
def test_a_damaged_record_of_a_download_is_one_line(config, tmp_path, capsys, content):
    write_json(content, tmp_path / "data/raw/tiny/provenance.json")
    assert record(config) == 1
    line = fault(capsys)
    assert "is not a valid record of a download" in line
