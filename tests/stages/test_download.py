import hashlib
import json
import os

import pytest

from tests import data_sets
from tests.fuzz.targets import into, packed, write_zip
from tests.servers import Handler, serve
from vsebench.cli import main
from vsebench.formats.download import transfer

DEAD = "http://127.0.0.1:9"  # the discard port: nothing listens


ZIP = packed(into(write_zip, "x.zip"), {"a.txt": b"content " * 1000}, "x.zip")


class Files(Handler):
    """Serves server.files."""

    def answer(self):
        self.server.seen.append(self.path)
        data = self.server.files.get(self.path)
        if data is None:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("VSEBENCH_MIRROR", raising=False)
    with serve(Files, files={"/x.zip": ZIP}) as server:
        yield server


@pytest.fixture
def fetch(tmp_path, monkeypatch, capsys):
    """Run the stage for one file; return exit status, standard error and the folder."""
    monkeypatch.setattr(transfer, "pause", lambda seconds: None)

    def run(*sources, name="x.zip", **known):
        file = {"name": name, "sources": list(sources), **known}
        status = data_sets.download({"adapter": "lear", "files": [file]}, tmp_path / "raw")
        return status, capsys.readouterr().err, tmp_path / "raw"

    return run


def files_in(folder):
    return sorted(path.name for path in folder.iterdir())


def record(folder):
    return json.loads((folder / "provenance.json").read_text())["files"][0]


def test_a_file_is_fetched_and_noted(server, fetch):
    md5, address = hashlib.md5(ZIP).hexdigest(), f"{server.address}/x.zip"
    status, _, folder = fetch(address, md5=md5, size=len(ZIP))
    assert status == 0
    assert (folder / "x.zip").read_bytes() == ZIP
    assert files_in(folder) == ["provenance.json", "x.zip"]
    note = record(folder)
    assert (note["source"], note["md5"], note["bytes"]) == (address, md5, len(ZIP))
    assert note["sha256"] == hashlib.sha256(ZIP).hexdigest()
    assert note["time"].endswith("+00:00")


def test_a_download_is_on_the_disk_before_it_gets_its_name(server, fetch, tmp_path, monkeypatch):
    flushed, target = [], tmp_path / "raw" / "x.zip"
    monkeypatch.setattr(os, "fsync", lambda number: flushed.append((os.fstat(number).st_ino, target.exists())))
    assert fetch(f"{server.address}/x.zip")[0] == 0
    assert (target.stat().st_ino, False) in flushed


def test_a_password_in_the_address_of_the_mirror_is_not_written_down(server, fetch, monkeypatch):
    monkeypatch.setenv("VSEBENCH_MIRROR", server.address.replace("http://", "http://me:secret@"))
    status, err, folder = fetch()
    assert status == 0
    assert record(folder)["source"] == f"mirror: {server.address}/x.zip"
    status, refused, _ = fetch(name="missing.zip")
    assert status == 1
    assert "/missing.zip (HTTP 404)" in refused
    assert "secret" not in err + refused + (folder / "provenance.json").read_text()


@pytest.mark.parametrize("user", ["me:secret", "secret", ":secret"])
def test_a_password_in_the_address_of_a_data_set_is_refused_and_not_shown(fetch, user):
    status, err, folder = fetch("http://127.0.0.1/a.zip", f"http://{user}@127.0.0.1/a.zip")
    assert status == 1
    advice = "an address contains a user name; move user name and password to the file ~/.netrc"
    assert err.endswith(f"files.0.sources: {advice}\n")
    assert "secret" not in err
    assert not folder.exists()


class Private(Files):
    """Asks for the user me with the password secret."""

    def answer(self):
        if self.headers.get("Authorization") == "Basic bWU6c2VjcmV0":
            super().answer()
        else:
            self.send_error(401)


def test_user_name_and_password_are_read_from_netrc(fetch, tmp_path, monkeypatch):
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login me password secret\n")
    (tmp_path / ".netrc").chmod(0o600)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("NETRC", raising=False)
    with serve(Private, files={"/x.zip": ZIP}) as server:
        monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
        assert "x.zip (HTTP 401)" in fetch(f"{server.address}/x.zip")[1]
        monkeypatch.setenv("HOME", str(tmp_path))
        status, err, folder = fetch(f"{server.address}/x.zip")
    assert status == 0
    assert "secret" not in err + (folder / "provenance.json").read_text()


@pytest.mark.parametrize("name", [".", "..", "..."])
def test_a_name_that_is_no_file_is_refused(fetch, name):
    status, err, _ = fetch("http://127.0.0.1/x", name=name)
    assert status == 1
    assert "files.0.name: " in err


def test_a_file_in_place_is_kept_and_its_origin_remembered(server, fetch):
    fetch(f"{server.address}/x.zip")
    status, err, folder = fetch(f"{server.address}/x.zip")
    assert status == 0
    assert len(server.seen) == 1
    assert "found in place" in err
    assert record(folder)["source"] == f"{server.address}/x.zip"


@pytest.mark.parametrize(
    ("name", "content", "source"),
    [
        ("x.zip", ZIP, "found in place"),
        ("x.zip", b"<!DOCTYPE html>", "{}/x.zip"),
        ("provenance.json", b"[1]", "{}/x.zip"),
    ],
    ids=["a right file", "a bad file", "a foreign provenance"],
)
def test_what_somebody_put_there_is_kept_if_it_is_right_and_replaced_if_not(
    server, fetch, tmp_path, name, content, source
):
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / name).write_bytes(content)
    status, _, folder = fetch(f"{server.address}/x.zip")
    assert status == 0
    assert (folder / "x.zip").read_bytes() == ZIP
    assert (record(folder)["name"], record(folder)["source"]) == ("x.zip", source.format(server.address))


REFUSED = {
    "web page": (b"\n<!DOCTYPE html><title>Log in</title>", {}, "it is a web page, not x.zip"),
    "not an archive": (b"nonsense", {}, "it is not a zip archive"),
    "half an archive": (ZIP[:-30], {}, "it is not a zip archive, or it is incomplete"),
    "not a tar archive": (ZIP, {"name": "x.tar.gz"}, "it is not a tar archive"),
    "empty": (b"", {}, "it is empty"),
    "size": (ZIP, {"size": 3}, f"its size is {len(ZIP)}, not 3"),
    "md5": (ZIP, {"md5": "0" * 32}, f"its md5 is {hashlib.md5(ZIP).hexdigest()}, not {'0' * 32}"),
    "sha256": (ZIP, {"sha256": "0" * 64}, f"its sha256 is {hashlib.sha256(ZIP).hexdigest()}, not"),
}


@pytest.mark.parametrize("case", REFUSED)
@pytest.mark.parametrize("origin", ["source", "mirror folder"])
def test_bad_content_is_refused_wherever_it_is_from(server, fetch, tmp_path, monkeypatch, case, origin):
    content, known, message = REFUSED[case]
    if origin == "source":
        server.files["/x.zip"] = content
    else:
        server.files.clear()
        (tmp_path / "mirror").mkdir()
        (tmp_path / "mirror" / known.get("name", "x.zip")).write_bytes(content)
        monkeypatch.setenv("VSEBENCH_MIRROR", str(tmp_path / "mirror"))
    status, err, folder = fetch(f"{server.address}/x.zip", **known)
    assert status == 1
    assert message in err
    assert files_in(folder) == []


def test_xml_is_told_from_web_pages(server, fetch):
    head = b'<?xml version="1.0"?>\n'
    server.files["/x.xml"] = head + b"<labels/>"
    assert fetch(f"{server.address}/x.xml", name="x.xml")[0] == 0
    for number, page in enumerate((head + b"<!DOCTYPE html>", b"<html>", head + b"<html xmlns='x'>")):
        server.files["/y.xml"] = page
        assert "it is a web page, not y" in fetch(f"{server.address}/y.xml", name=f"y{number}.xml")[1]


@pytest.mark.parametrize("kind", ["folder", "address"])
def test_the_mirror_is_tried_first(server, fetch, tmp_path, monkeypatch, kind):
    if kind == "folder":
        (tmp_path / "mirror").mkdir()
        (tmp_path / "mirror" / "x.zip").write_bytes(ZIP)
        mirror = str(tmp_path / "mirror")
    else:
        mirror = server.address
    monkeypatch.setenv("VSEBENCH_MIRROR", mirror)
    status, _, folder = fetch(f"{DEAD}/x.zip")
    assert status == 0
    assert record(folder)["source"] == f"mirror: {mirror}/x.zip"


def test_no_network_and_no_mirror_is_one_line(server, fetch, tmp_path, monkeypatch):
    monkeypatch.setenv("VSEBENCH_MIRROR", str(tmp_path / "nowhere"))
    status, err, folder = fetch(f"{DEAD}/x.zip", f"{DEAD}/other/x.zip")
    assert status == 1
    assert err.count("\n") == 1
    for part in (
        "could not download x.zip",
        f"{DEAD}/x.zip (it cannot be reached)",
        f"{DEAD}/other/x.zip",
        str(folder),
    ):
        assert part in err
    assert "nowhere/x.zip (no such file)" in err
    assert files_in(folder) == []


def test_simulated_sets_have_nothing_to_fetch(tmp_path):
    assert data_sets.download({"adapter": "simulator"}, tmp_path / "raw") == 0
    provenance = json.loads((tmp_path / "raw" / "provenance.json").read_text())
    assert provenance["files"] == []
    assert "simulated" in provenance["note"]


def test_the_users_own_files_are_noted_and_left_where_they_are(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my tags.csv").write_text("image,label\na,b\n")
    (tmp_path / "my.npy").write_bytes(b"features")
    definition = {"adapter": "table", "options": {"pairs": "my tags.csv"}, "features": {"file": "my.npy"}}
    assert data_sets.download(definition, "raw") == 0
    assert files_in(tmp_path / "raw") == ["provenance.json"]
    table, features = json.loads((tmp_path / "raw" / "provenance.json").read_text())["files"]
    assert (table["name"], table["source"]) == ("my tags.csv", "a file that is read where it is")
    assert (features["name"], features["bytes"]) == ("my.npy", 8)
    assert features["sha256"] == hashlib.sha256(b"features").hexdigest()


def test_a_definition_that_is_no_json_is_one_line(tmp_path, capsys):
    assert main(["stage", "download", "--name", "tiny", "--definition", "{", "--out", str(tmp_path / "raw")]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert "--definition: not JSON" in line
