import hashlib
import io
import json
import re
import tarfile
import zipfile

import pytest

from tests import data_sets
from tests.servers import Handler, serve
from vsebench.cli import main
from vsebench.formats.download import transfer

DEAD = "http://127.0.0.1:9"  # the discard port: nothing listens


def make_zip(text):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("a.txt", text)
    return buffer.getvalue()


ZIP = make_zip("content " * 1000)


class Files(Handler):
    """Serves server.files; the server's script says what to do otherwise, one word per request."""

    def answer(self):
        server, data = self.server, self.server.files.get(self.path)
        wanted = re.match(r"bytes=(\d+)-", self.headers.get("Range", ""))
        start = int(wanted[1]) if wanted else 0
        server.seen.append((self.path, start))
        act = server.script.pop(0) if server.script else ""
        if act.isdigit() or data is None:
            self.send_error(int(act or 404))
            return
        tag = f'"{hashlib.md5(data).hexdigest()}"'
        if "norange" in act or self.headers.get("If-Range", tag) != tag:
            start = 0
        elif start > len(data) - 1 > 0 or "416" in act.split():
            self.send_response(416)
            self.send_header("Content-Range", f"bytes */{len(data)}")
            self.end_headers()
            return
        self.send_response(206 if start else 200)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}")
        if "notag" not in act:
            self.send_header("ETag", tag)
        self.send_header("Content-Length", str(len(data) - start))
        self.end_headers()
        self.wfile.write(data[start : (start + len(data)) // 2 if "break" in act else len(data)])


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("VSEBENCH_MIRROR", raising=False)
    with serve(Files, files={"/x.zip": ZIP}, script=[]) as server:
        yield server


@pytest.fixture
def pauses(monkeypatch):
    taken = []
    monkeypatch.setattr(transfer, "pause", taken.append)
    return taken


@pytest.fixture
def fetch(tmp_path, pauses, capsys):
    """Run the stage for one file; return exit status, standard error and the folder."""

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


def test_a_file_in_place_is_kept_and_its_origin_remembered(server, fetch):
    fetch(f"{server.address}/x.zip")
    status, err, folder = fetch(f"{server.address}/x.zip")
    assert status == 0
    assert len(server.seen) == 1
    assert "found in place" in err
    assert record(folder)["source"] == f"{server.address}/x.zip"


def test_a_file_put_there_by_hand_is_found(server, fetch, tmp_path):
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / "x.zip").write_bytes(ZIP)
    status, _, folder = fetch(f"{DEAD}/x.zip")
    assert status == 0
    assert record(folder)["source"] == "found in place"


def test_a_foreign_provenance_is_no_obstacle(server, fetch, tmp_path):
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / "provenance.json").write_text("[1]")
    status, _, folder = fetch(f"{server.address}/x.zip")
    assert status == 0
    assert record(folder)["name"] == "x.zip"


def test_a_folder_that_cannot_be_made_is_one_line(server, fetch, tmp_path):
    (tmp_path / "raw").write_text("a file")
    status, err, _ = fetch(f"{server.address}/x.zip")
    assert status == 1
    assert err.count("\n") == 1
    assert f"{tmp_path / 'raw'}: File exists" in err


def test_a_bad_file_in_place_is_replaced(server, fetch, tmp_path):
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / "x.zip").write_bytes(b"<!DOCTYPE html>")
    status, _, folder = fetch(f"{server.address}/x.zip")
    assert status == 0
    assert (folder / "x.zip").read_bytes() == ZIP


def test_a_broken_transfer_goes_on_where_it_broke(server, fetch, pauses):
    server.script = ["break"]
    status, _, folder = fetch(f"{server.address}/x.zip")
    assert status == 0
    assert (folder / "x.zip").read_bytes() == ZIP
    assert server.seen == [("/x.zip", 0), ("/x.zip", len(ZIP) // 2)]
    assert pauses == [1.0]


def test_an_interrupted_stage_goes_on_where_it_broke(server, fetch):
    server.script = ["break", "500", "500", "500"]
    status, err, folder = fetch(f"{server.address}/x.zip")
    assert status == 1
    assert "HTTP 500" in err
    assert files_in(folder) == ["x.zip.part", "x.zip.part.json"]
    status, _, folder = fetch(f"{server.address}/x.zip")
    assert status == 0
    assert server.seen[-1] == ("/x.zip", len(ZIP) // 2)
    assert (folder / "x.zip").read_bytes() == ZIP
    assert files_in(folder) == ["provenance.json", "x.zip"]


@pytest.mark.parametrize("script", [["break", "norange"], ["break", "416"], ["break notag"]])
def test_servers_that_do_not_resume_are_asked_for_the_whole(server, fetch, script):
    server.script = script
    status, _, folder = fetch(f"{server.address}/x.zip")
    assert status == 0
    assert (folder / "x.zip").read_bytes() == ZIP


@pytest.mark.parametrize("act", ["break", "break notag"])
def test_a_file_that_changed_meanwhile_is_fetched_anew(server, fetch, act):
    server.script = [act, "500", "500", "500"]
    assert fetch(f"{server.address}/x.zip")[0] == 1
    server.files["/x.zip"] = make_zip("newer " * 2000)
    status, _, folder = fetch(f"{server.address}/x.zip")
    assert status == 0
    assert (folder / "x.zip").read_bytes() == server.files["/x.zip"]


def test_a_transfer_that_was_whole_but_not_renamed_is_taken(server, fetch, tmp_path):
    address = f"{server.address}/x.zip"
    part = tmp_path / "raw" / "x.zip.part"
    part.parent.mkdir()
    part.write_bytes(ZIP)
    notes = {"address": address, "version": None, "total": len(ZIP)}
    transfer.notes_path(part).write_text(json.dumps(notes))
    status, _, folder = fetch(address)
    assert status == 0
    assert (folder / "x.zip").read_bytes() == ZIP
    assert files_in(folder) == ["provenance.json", "x.zip"]


def test_bad_bytes_from_last_time_are_not_kept(server, fetch, tmp_path):
    address = f"{server.address}/x.zip"
    part = tmp_path / "raw" / "x.zip.part"
    part.parent.mkdir()
    part.write_bytes(b"?" * 500)
    transfer.notes_path(part).write_text(json.dumps({"address": address, "version": None, "total": len(ZIP)}))
    status, _, folder = fetch(address, md5=hashlib.md5(ZIP).hexdigest())
    assert status == 0
    assert (folder / "x.zip").read_bytes() == ZIP


def test_a_busy_server_is_asked_again(server, fetch, pauses):
    server.script = ["503", "429"]
    status, _, _ = fetch(f"{server.address}/x.zip")
    assert status == 0
    assert pauses == [1.0, 2.0]


def test_the_next_source_is_tried(server, fetch, pauses):
    status, _, folder = fetch(f"{server.address}/gone.zip", f"{server.address}/x.zip")
    assert status == 0
    assert pauses == []
    assert record(folder)["source"] == f"{server.address}/x.zip"


REFUSED = {
    "web page": (b"\n<!DOCTYPE html><title>Log in</title>", {}, "it is a web page, not x.zip"),
    "not an archive": (b"nonsense", {}, "it is not a zip archive"),
    "half an archive": (ZIP[:-30], {}, "it is not a zip archive, or not a complete one"),
    "empty": (b"", {}, "it is empty"),
    "size": (ZIP, {"size": 3}, f"its size is {len(ZIP)}, not 3"),
    "md5": (ZIP, {"md5": "0" * 32}, f"its md5 is {hashlib.md5(ZIP).hexdigest()}, not {'0' * 32}"),
    "sha256": (ZIP, {"sha256": "0" * 64}, f"its sha256 is {hashlib.sha256(ZIP).hexdigest()}, not"),
}


@pytest.mark.parametrize("case", REFUSED)
@pytest.mark.parametrize("place", ["source", "mirror folder"])
def test_bad_content_is_refused_wherever_it_is_from(server, fetch, tmp_path, monkeypatch, case, place):
    content, known, message = REFUSED[case]
    if place == "source":
        server.files["/x.zip"] = content
    else:
        server.files.clear()
        (tmp_path / "mirror").mkdir()
        (tmp_path / "mirror" / "x.zip").write_bytes(content)
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


@pytest.mark.parametrize("kind", ["gz", "bz2"])
def test_tar_archives_are_told_from_other_files(server, fetch, kind):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=f"w:{kind}") as archive:
        archive.addfile(tarfile.TarInfo("a"))
    name = f"x.tar.{kind}"
    server.files[f"/{name}"] = buffer.getvalue()
    assert fetch(f"{server.address}/{name}", name=name)[0] == 0
    server.files["/bad"] = ZIP
    (fetch(f"{server.address}/{name}", name=name)[2] / name).unlink()
    status, err, _ = fetch(f"{server.address}/bad", name=name)
    assert status == 1
    assert "it is not a tar archive" in err


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
    for part in ("could not download x.zip", f"{DEAD}/x.zip (no connection)", f"{DEAD}/other/x.zip", str(folder)):
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
    assert (table["name"], table["source"]) == ("my tags.csv", "a file that is read in place")
    assert (features["name"], features["bytes"]) == ("my.npy", 8)
    assert features["sha256"] == hashlib.sha256(b"features").hexdigest()


@pytest.mark.parametrize(
    ("definition", "message"),
    [
        ("{", "--definition: not JSON"),
        ("[1]", "tiny: --definition: the whole file"),
        ('{"adapter": "lear", "fiels": []}', "tiny: --definition: fiels: unknown key"),
        ('{"adapter": "nothing"}', "tiny: adapter: there is no adapter named 'nothing'"),
    ],
)
def test_a_wrong_definition_is_one_line(tmp_path, capsys, definition, message):
    assert main(["download", "--name", "tiny", "--definition", definition, "--out", str(tmp_path / "raw")]) == 1
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1
