import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vsebench.core.errors import UserError
from vsebench.formats.readers.tags import STOP_LISTS, StopTags, TagOptions, annotate, normalise


@pytest.mark.parametrize(
    ("tag", "name"),
    [
        ("New York", "newyork"),
        ("new-york", "newyork"),
        ("Straße", "strasse"),
        ("\uff33\uff4b\uff59", "sky"),  # full width
        ("Cafe\u0301", "caf\u00e9"),
        ("росси\u0301я", "росси\u0301я"),  # a mark that has no composed form stays
        ("हिन्दी", "हिन्दी"),
        ("هنگامه\u200cیمنی", "هنگامهیمنی"),
        ("360°", "360"),
        ("©!?", ""),
        ("", ""),
    ],
)
def test_normal_form(tag, name):
    assert normalise(tag) == name


@given(st.text())
def test_the_normal_form_is_normal(tag):
    name = normalise(tag)
    assert normalise(name) == name
    assert unicodedata.is_normalized("NFKC", name)
    assert normalise(f" {tag}\t") == name


def test_stop_lists():
    every = StopTags(TagOptions())
    for tag in ("nikon", "canoneos5d", "geotagged", "explore", "photoshop", "flickrexplore"):
        assert tag in every
    for tag in ("sky", "dog", "macro", "cannon", "newyork"):
        assert tag not in every
    assert "nikon" not in StopTags(TagOptions(stop_lists=["flickr"]))
    assert "nikon" not in StopTags(TagOptions(stop_lists=[]))
    own = StopTags(TagOptions(stop_lists=[], stop_tags=["New York", "Paris*"]))
    assert "newyork" in own
    assert "paris2008" in own
    assert "newyorkcity" not in own


def test_the_stop_lists_are_in_normal_form():
    for entries in STOP_LISTS.values():
        words = entries.split()
        assert len(set(words)) == len(words)
        assert [word for word in words if normalise(word) != word.removesuffix("*")] == []


def test_annotate():
    images = ["a", "b", "c"]
    tags = [["Sky", "sky", "Sea", "geo:lat=52.1"], ["nikon", "!"], ["S K Y", "flickr:user=x"]]
    result = annotate(images, tags, TagOptions(), "here")
    assert list(result.images) == images
    assert list(result.labels) == ["sea", "sky"]
    assert result.pairs.rows() == [(0, 0, 1), (0, 1, 1), (2, 1, 1)]
    assert {entry.why.split(" (")[0]: entry.number for entry in result.dropped} == {
        "machine tags": 2,
        "without letters and digits": 1,
        "on a stop list": 1,
        "repeated for an image, in the same or another spelling": 1,
    }


@given(st.lists(st.lists(st.sampled_from(["sky", "Sky", "sea", "Sea!", "nikon", "a:b=c", "?", "tree"]))))
def test_every_tag_is_a_label_or_dropped(tags):
    try:
        result = annotate([str(number) for number in range(len(tags))], tags, TagOptions(), "here")
    except UserError:
        return
    assert len(result.pairs) + sum(entry.number for entry in result.dropped) == sum(map(len, tags))


def test_tags_that_would_break_a_table_are_left_out_as_written():
    found = annotate(["1"], [["sky", " ", "a\x1b[31m", "a\u2028b"]], TagOptions(as_written=True), "here")
    assert found.labels == ["sky"]
    assert [tuple(entry) for entry in found.dropped] == [("tags", 3, "empty, or with a control character")]


def test_tags_as_they_are_written():
    images, tags = ["1", "2"], [["New York", "newyork", "geo:lat=5", "nikon D70"], ["New York", "New York", "--"]]
    found = annotate(images, tags, TagOptions(as_written=True, stop_lists=["cameras"]), "here")
    assert found.labels == ["--", "New York", "geo:lat=5", "newyork"]
    assert found.pairs.rows() == [(0, 1, 1), (0, 2, 1), (0, 3, 1), (1, 0, 1), (1, 1, 1)]
    assert [entry.number for entry in found.dropped] == [1, 1]
