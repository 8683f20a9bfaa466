"""The lists of unseen labels that come with the project, against the data sets that they belong to."""

import zipfile

import pytest

from tests import data_sets

LISTS = data_sets.CONFIGS.parent / "unseen_labels"


def lines(name):
    return (LISTS / f"{name}.txt").read_text(encoding="utf-8").splitlines()


def test_the_list_of_nuswide_has_the_concepts_of_the_real_archive(mirror):
    if not (mirror / "ConceptsList.zip").is_file():
        pytest.skip("VSEBENCH_MIRROR has no ConceptsList.zip")
    with zipfile.ZipFile(mirror / "ConceptsList.zip") as archive:
        concepts = archive.read("ConceptsList/Concepts81.txt").decode().split()
    assert len(concepts) == 81
    assert sorted(lines("nuswide81")) == sorted(concepts)


def test_the_list_of_coco_leaves_48_seen_labels():
    labels = data_sets.described("mscoco65").vocabulary.only_labels
    unseen = lines("mscoco17")
    assert (len(unseen), len(set(unseen)), len(labels), len(set(labels))) == (17, 17, 65, 65)
    assert set(unseen) <= set(labels)


@pytest.mark.parametrize("path", sorted(LISTS.glob("*.txt")), ids=lambda path: path.stem)
def test_a_list_has_one_label_per_line(path):
    names = path.read_text(encoding="utf-8").splitlines()
    assert names == [name.strip() for name in names if name.strip()]
