import zipfile
from collections import Counter

import pytest

from tests import data_sets
from vsebench.core.errors import UserError
from vsebench.core.storage import read_json, read_parquet
from vsebench.formats.readers import mirflickr

TAGS = {1: "Sky\r\nsea\r\n", 2: "", 10: "sky\nnikon\n\ngeo:lat=52.1\n"}


def make(path, members):
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def read(raw, **options):
    return mirflickr.read(raw, mirflickr.Options(archives=["x.zip"], **options))


@pytest.mark.parametrize("pattern", ["mirflickr/meta/tags/tags{}.txt", "tags/0/{}.txt", "{}.txt", "tags{}.txt"])
def test_wherever_the_tags_lie(tmp_path, pattern):
    others = {"mirflickr/im1.jpg": "?", "mirflickr/meta/tags_raw/tags1.txt": "SKY", "meta/exif/exif1.txt": "f/8"}
    others |= {"readme.txt": "hello", "meta/license/license1.txt": "by", "tags/0/": ""}
    make(tmp_path / "x.zip", others | {pattern.format(number): tags for number, tags in TAGS.items()})
    result = read(tmp_path)
    assert list(result.images) == ["1", "2", "10"]
    assert list(result.labels) == ["sea", "sky"]
    assert result.pairs.rows() == [(0, 0, 1), (0, 1, 1), (2, 1, 1)]
    assert sum(entry.number for entry in result.dropped) == 2


def test_parts_by_the_numbers_of_the_images(tmp_path):
    make(tmp_path / "x.zip", {f"{number}.txt": "sky" for number in (1, 2, 5, 10)})
    result = read(tmp_path, prefix="im", parts={"test": [3, 9], "train": [1, 2]})
    assert result.images.to_list() == ["im1", "im2", "im5", "im10"]
    assert result.parts.to_list() == ["train", "train", "test", None]
    assert read(tmp_path).parts is None


def test_a_tag_that_is_not_utf8_is_dropped_and_counted(tmp_path):
    make(tmp_path / "x.zip", {"1.txt": b"\xef\xbb\xbfsky\ncaf\xe9\nsea"})
    result = read(tmp_path)
    assert list(result.labels) == ["sea", "sky"]
    assert [(entry.number, entry.why) for entry in result.dropped] == [(1, "not UTF-8 text")]


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"a.txt": "x"}, "contains no tags<number>.txt or <number>.txt; use the official archive"),
        ({"a/1.txt": "x", "b/tags1.txt": "y"}, "a/1.txt and b/tags1.txt both list the tags of the same image"),
        ({"1.txt": "nikon"}, "all tags are left out"),
    ],
)
def test_a_fault_is_one_line(tmp_path, members, message):
    make(tmp_path / "x.zip", members)
    with pytest.raises(UserError) as error:
        read(tmp_path)
    assert message in str(error.value)
    assert str(tmp_path / "x.zip") in str(error.value)


@pytest.fixture
def download(tmp_path, monkeypatch, capsys):
    """Run the download stage with two files of which one is enough, and a mirror; return status, files, errors."""

    def run(mirrored):
        closed = "http://127.0.0.1:9/"
        files = [{"name": "small.zip", "sources": []}, {"name": "big.zip", "sources": [closed + "big.zip"]}]
        definition = {"adapter": "mirflickr", "options": {"archives": ["small.zip", "big.zip"]}, "files": files}
        mirror = tmp_path / "mirror"
        mirror.mkdir(exist_ok=True)
        for name in mirrored:
            make(mirror / name, {"1.txt": name.removesuffix(".zip")})
        monkeypatch.setenv("VSEBENCH_MIRROR", str(mirror))
        monkeypatch.setattr("vsebench.formats.download.transfer.pause", lambda seconds: None)
        status = data_sets.download(definition, tmp_path / "raw")
        return status, sorted(path.name for path in (tmp_path / "raw").iterdir()), capsys.readouterr().err

    return run


@pytest.mark.parametrize(
    ("mirrored", "taken"),
    [(["small.zip"], "small.zip"), (["big.zip"], "big.zip"), (["small.zip", "big.zip"], "small.zip")],
)
def test_one_of_the_archives_is_enough(download, tmp_path, mirrored, taken):
    status, files, _ = download(mirrored)
    assert (status, files) == (0, sorted(["provenance.json", taken]))
    assert [record["name"] for record in read_json(tmp_path / "raw" / "provenance.json")["files"]] == [taken]
    options = mirflickr.Options(archives=["small.zip", "big.zip"])
    assert list(mirflickr.read(tmp_path / "raw", options).labels) == [taken.removesuffix(".zip")]


def test_none_of_the_archives_can_be_had(download):
    status, files, err = download([])
    assert (status, files) == (1, [])
    assert err.count("\n") == 1
    for words in ("one is needed", "could not download small.zip", "could not download big.zip"):
        assert words in err


@pytest.mark.long
def test_the_real_tags(mirror, tmp_path, monkeypatch):
    if not (mirror / "mirflickr25k_tags.zip").is_file():
        pytest.skip("VSEBENCH_MIRROR has no mirflickr25k_tags.zip")
    config = data_sets.described("flickr-mir25k")
    raw, out, whole = tmp_path / "raw", tmp_path / "out", tmp_path / "whole"
    assert data_sets.download(config, raw) == 0
    assert data_sets.prepare(config, raw, out) == 0
    summary = read_json(out / "summary.json")
    assert len(summary["expected"]) == 4
    unfiltered = config.replaced({"stop_lists": []}, {"top_labels": None, "min_labels_per_image": None})
    assert data_sets.prepare(unfiltered, raw, whole) == 0
    summary = read_json(whole / "summary.json")
    assert summary["counts"]["images"] == 25000
    # 223,537 tags in all: the 223,535 distinct ones, and two that are on an image twice.
    assert summary["counts"]["pairs"] + sum(entry["number"] for entry in summary["dropped"]) == 223537
    with zipfile.ZipFile(mirror / "mirflickr25k_tags.zip") as archive:
        words = [set(archive.read(name).decode().splitlines()) for name in archive.namelist()]
    frequent = Counter(tag for tags in words for tag in tags if tag.isascii() and tag.isalpha()).most_common(300)
    labels = read_parquet(whole / "labels.parquet")
    found = dict(labels.select("name", "frequency").iter_rows())
    # Another spelling of a tag (such as with a degree sign) is on one or two images.
    assert [tag for tag, number in frequent if abs(found[tag] - number) > 2] == []
