import pytest

from tests.fuzz.targets import MIRFLICKR_LISTS, pack_lists
from vsebench.core.errors import UserError
from vsebench.core.yaml_files import check
from vsebench.formats.readers import mirflickr_concepts


def read(raw, **given):
    return mirflickr_concepts.read(raw, check(mirflickr_concepts.Options, given, "options"))


def test_the_lists_are_read(tmp_path):
    pack_lists(tmp_path, MIRFLICKR_LISTS | {"empty.txt": b""})
    found = read(tmp_path)
    assert found.labels == ["baby_r1", "empty", "sky"]
    assert (len(found.images), found.images[0], found.images[24_999]) == (25_000, "1", "25000")
    assert found.pairs.rows() == [(0, 2, 1), (2, 0, 1), (2, 2, 1), (3, 0, 1), (24_999, 2, 1)]
    assert found.parts is None


def test_names_and_parts_of_images_are_chosen(tmp_path):
    pack_lists(tmp_path, MIRFLICKR_LISTS)
    found = read(tmp_path, prefix="im", parts={"train": [1, 2], "test": [4, 25000]})
    assert found.images[:2].to_list() == ["im1", "im2"]
    assert found.parts.to_list() == ["train"] * 2 + [None] + ["test"] * 24_997


def test_an_archive_without_lists_is_refused(tmp_path):
    pack_lists(tmp_path, {"README.txt": b"1"})
    with pytest.raises(UserError, match="contains no list <concept>"):
        read(tmp_path)


@pytest.mark.parametrize(
    "parts", [{"train": [3, 2]}, {"train": [1, 5], "test": [5, 9]}, {"test": [1, 9], "valid": [2, 3]}]
)
def test_parts_that_overlap_or_are_upside_down(parts):
    with pytest.raises(
        UserError, match="a part ends before it begins, or two parts overlap; correct the first and last"
    ):
        check(mirflickr_concepts.Options, {"parts": parts}, "options")
