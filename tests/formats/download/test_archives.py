"""Hostile and damaged archives are read safely or refused in one line."""

import bz2
import contextlib
import gzip
import io
import lzma
import struct
import tarfile
import zipfile

import pytest

from vsebench.core.errors import UserError
from vsebench.formats.download import archives
from vsebench.formats.download.archives import (
    by_basename,
    check_compressed,
    check_tar,
    open_members,
    read_members,
    text_lines,
)

CONTENT = {"a/labels.txt": b"sky\n" * 300, "a/other.txt": b"0", "b/empty.txt": b""}
COMPRESSED = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}


def entry(name, data=b"", **fields):
    info = tarfile.TarInfo(name)
    info.size = len(data)
    for key, value in fields.items():
        setattr(info, key, value)
    return info, data


def tar_of(*entries, encoding="utf-8"):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", encoding=encoding) as archive:
        for info, data in entries:
            archive.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


def zip_of(*entries, compression=zipfile.ZIP_DEFLATED):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, data in entries:
            archive.writestr(name, data)
    return buffer.getvalue()


PLAIN_TAR = tar_of(*(entry(name, data) for name, data in CONTENT.items()))
PLAIN_ZIP = zip_of(*CONTENT.items())


@pytest.fixture
def put(tmp_path, monkeypatch):
    """Write an archive into an empty folder, which is the working folder, and return its path."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")

    written = set()

    def write(name, data):
        written.add(name)
        path = tmp_path / "here" / name
        path.write_bytes(data)
        return path

    yield write
    assert [path.name for path in tmp_path.iterdir()] == ["here"]
    assert {path.name for path in (tmp_path / "here").rglob("*")} == written


def refused(action, *arguments):
    with pytest.raises(UserError) as error:
        action(*arguments)
    message = str(error.value)
    assert str(arguments[0]) in message
    return message


def read_all(path):
    return read_members(path, lambda name: True)


def stream_all(path):
    with open_members(path, lambda name: True) as members:
        return {name: stream.read() for name, stream in members}


@pytest.mark.parametrize("kind", ["", *COMPRESSED])
@pytest.mark.parametrize("read", [read_all, stream_all])
def test_tar_archives_are_read_however_compressed(put, kind, read):
    path = put(f"x.tar.{kind}", COMPRESSED[kind](PLAIN_TAR) if kind else PLAIN_TAR)
    assert read(path) == CONTENT
    check_tar(path, whole=True)


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_zip_archives_are_read_however_compressed(put, compression):
    assert read_all(put("x.zip", zip_of(*CONTENT.items(), compression=compression))) == CONTENT


def test_zip64_is_read(put, tmp_path):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive, archive.open("labels.txt", "w", force_zip64=True) as stream:
        stream.write(b"sky\n")
    assert read_all(put("x.zip", buffer.getvalue())) == {"labels.txt": b"sky\n"}


def test_a_stream_is_read_line_by_line(put):
    path = put("x.tar.gz", gzip.compress(PLAIN_TAR))
    with open_members(path, lambda name: name.endswith("labels.txt")) as members:
        assert [(name, list(stream)) for name, stream in members] == [("a/labels.txt", [b"sky\n"] * 300)]


NAMES = ["../../labels.txt", "/etc/labels.txt", "a/../labels.txt", "C:\\labels.txt", "//host/labels.txt"]


@pytest.mark.parametrize("name", NAMES)
def test_a_name_leads_nowhere(put, name):
    """The fixture checks that nothing was written; a name is only a name."""
    assert read_all(put("x.tar", tar_of(entry(name, b"sky")))) == {name: b"sky"}
    assert read_all(put("x.zip", zip_of((name, b"sky")))) == {name: b"sky"}


def test_a_line_break_in_a_name_is_refused(put):
    assert "the name contains a line break" in refused(read_all, put("x.tar", tar_of(entry("a\nb", b"1"))))
    assert "the name contains a line break" in refused(read_all, put("x.zip", zip_of(("a\nb", b"1"))))


SPECIAL = {
    "symbolic link": {"type": tarfile.SYMTYPE, "linkname": "/etc/passwd"},
    "hard link": {"type": tarfile.LNKTYPE, "linkname": "a/other.txt"},
    "link to itself": {"type": tarfile.SYMTYPE, "linkname": "labels.txt"},
    "character device": {"type": tarfile.CHRTYPE, "devmajor": 1, "devminor": 5},
    "block device": {"type": tarfile.BLKTYPE, "devmajor": 8, "devminor": 0},
    "pipe": {"type": tarfile.FIFOTYPE},
}


@pytest.mark.parametrize("kind", SPECIAL)
@pytest.mark.parametrize("read", [read_all, stream_all])
def test_what_is_no_plain_file_is_refused(put, kind, read):
    path = put("x.tar", tar_of(entry("a/other.txt", b"0"), entry("labels.txt", **SPECIAL[kind])))
    assert "labels.txt: is not a plain file (it may be a link)" in refused(read, path)


def test_what_is_not_wanted_may_be_anything(put):
    path = put("x.tar", tar_of(*(entry(kind, **fields) for kind, fields in SPECIAL.items()), entry("labels.txt", b"1")))
    assert read_members(path, "labels.txt".__eq__) == {"labels.txt": b"1"}


def test_a_file_with_holes_is_refused(put):
    """A few bytes can represent a terabyte of zeros."""
    header = bytearray(entry("labels.txt")[0].tobuf(tarfile.GNU_FORMAT))
    header[156:157] = tarfile.GNUTYPE_SPARSE
    header[124:136] = b"%011o\0" % 0
    header[483:495] = b"\x80" + (1 << 40).to_bytes(11, "big")
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    path = put("x.tar", bytes(header) + bytes(1024))
    assert "not a plain file" in refused(read_all, path)


def test_a_symbolic_link_in_a_zip_is_refused(put):
    link = zipfile.ZipInfo("labels.txt")
    link.create_system, link.external_attr = 3, 0o120777 << 16
    assert "not a plain file" in refused(read_all, put("x.zip", zip_of((link, "/etc/passwd"))))


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("read", [read_all, stream_all])
def test_a_member_that_is_there_twice_is_refused(put, read):
    path = put("x.tar", tar_of(entry("labels.txt", b"1"), entry("labels.txt", b"2")))
    assert "contains labels.txt more than once" in refused(read, path)
    path = put("x.zip", zip_of(("labels.txt", "1"), ("labels.txt", "2")))
    assert "contains labels.txt more than once" in refused(read_all, path)


def test_members_of_one_name_in_two_folders_are_refused(put):
    path = put("x.tar", tar_of(entry("a/labels.txt", b"1"), entry("../labels.txt", b"2")))
    assert "contains labels.txt more than once" in refused(by_basename, path, ["labels.txt"])


@pytest.fixture
def small_limits(monkeypatch):
    monkeypatch.setattr(archives, "MEMORY", 1 << 20)


@pytest.mark.parametrize("kind", COMPRESSED)
@pytest.mark.parametrize("read", [read_all, stream_all])
def test_bombs_are_refused(put, small_limits, kind, read):
    path = put(f"x.tar.{kind}", COMPRESSED[kind](tar_of(entry("labels.txt", bytes(30 << 20)))))
    message = refused(read, path)
    assert "unpacks to more than" in message or "exceed" in message


def test_what_a_bomb_hides_in_another_member_is_not_unpacked_either(put, small_limits):
    path = put("x.tar.bz2", bz2.compress(tar_of(entry("other", bytes(30 << 20)), entry("labels.txt", b"1"))))
    assert "unpacks to more than" in refused(read_members, path, "labels.txt".__eq__)
    assert "unpacks to more than" in refused(lambda path: check_tar(path, whole=True), path)


def test_many_small_members_are_limited_together(put, small_limits):
    path = put("x.tar", tar_of(*(entry(f"{i}/labels.txt", bytes(400 << 10)) for i in range(3))))
    assert "exceed 1048576 bytes in all" in refused(read_all, path)
    assert len(stream_all(path)) == 3, "as a stream it needs no memory"


def test_a_bomb_in_a_zip_is_refused(put, small_limits):
    assert "exceed 1048576 bytes" in refused(read_all, put("x.zip", zip_of(("labels.txt", bytes(2 << 20)))))


def test_a_bomb_in_a_zip_that_lies_about_its_size_is_refused(put, small_limits):
    data = zip_of(("labels.txt", bytes(2 << 20)))
    lying = data.replace(struct.pack("<L", 2 << 20), struct.pack("<L", 10))
    assert "not a readable archive" in refused(read_all, put("x.zip", lying))


@pytest.mark.parametrize("kind", [tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME])
def test_a_bomb_in_a_header_is_refused(put, kind):
    """Python's tarfile would read all of such a header into memory."""
    path = put("x.tar.bz2", bz2.compress(tar_of(entry("pax", bytes(30 << 20), type=kind), entry("labels.txt", b"1"))))
    assert "a header is too long" in refused(read_all, path)
    assert "a header is too long" in refused(lambda path: check_tar(path, whole=False), path)


def test_an_archive_in_an_archive_is_not_opened(put):
    inner = gzip.compress(PLAIN_TAR)
    assert read_all(put("x.tar", tar_of(entry("labels.txt", inner)))) == {"labels.txt": inner}


def test_names_in_another_encoding_are_read(put):
    path = put("x.tar", tar_of(entry("für/labels.txt", b"1"), encoding="latin-1"))
    assert by_basename(path, ["labels.txt"]) == {"labels.txt": b"1"}
    with pytest.raises(UserError) as error:
        by_basename(path, ["words.txt"])
    assert str(error.value).isprintable()


def test_a_zip_whose_names_are_not_what_they_claim_is_refused(put):
    data = zip_of(("für.txt", b"1")).replace("für".encode(), b"f\xff\xffr")
    assert "not a readable archive" in refused(read_all, put("x.zip", data))


def test_an_encrypted_zip_is_refused(put):
    data = bytearray(PLAIN_ZIP)
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        start = -1
        while (start := data.find(signature, start + 1)) >= 0:
            data[start + offset] |= 1
    assert "encrypted" in refused(read_all, put("x.zip", bytes(data)))


@pytest.mark.parametrize("kind", ["", *COMPRESSED, "zip"])
def test_archives_that_are_cut_off_are_refused(put, kind):
    whole = PLAIN_ZIP if kind == "zip" else COMPRESSED[kind](PLAIN_TAR) if kind else PLAIN_TAR.rstrip(b"\0")
    for length in range(1, len(whole), max(1, len(whole) // 60)):
        path = put(f"x.{kind}" if kind == "zip" else "x.tar", whole[:length])
        if kind:
            assert "not a readable archive" in refused(read_all, path)
        if kind != "zip":
            refused(lambda path: check_tar(path, whole=True), path)


@pytest.mark.parametrize("kind", COMPRESSED)
def test_a_changed_byte_of_a_compressed_archive_never_goes_unseen(put, kind):
    """The checksum is at the end of the file, after the last member."""
    whole = COMPRESSED[kind](PLAIN_TAR)
    for position in range(len(whole)):
        path = put("x.tar", whole[:position] + bytes([whole[position] ^ 1]) + whole[position + 1 :])
        for read in (read_all, stream_all):
            with contextlib.suppress(UserError):
                assert read(path) == CONTENT


def test_a_compressed_file_is_read_to_its_end(put):
    check_compressed(put("x.csv.gz", gzip.compress(b"1\n" * 999)))
    refused(check_compressed, put("x.csv.gz", gzip.compress(b"1\n" * 999)[:-1]))


def test_an_error_of_the_reader_is_not_blamed_on_the_archive(put):
    path = put("x.tar", PLAIN_TAR)
    with pytest.raises(OSError, match="the disk is full"), open_members(path, lambda name: True):
        raise OSError("the disk is full")


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"a\nb", ["a", "b"]),
        (b"a\r\nb\rc\n\n \n", ["a", "b", "c"]),
        (b"\xef\xbb\xbfa\n\nb\n", ["a", "", "b"]),
        ("a\u2028b\x0bc\x85d\n".encode(), ["a\u2028b\x0bc\x85d"]),
        (b"", []),
    ],
)
def test_lines_end_as_in_an_editor(data, lines):
    assert text_lines(data, "here") == lines
