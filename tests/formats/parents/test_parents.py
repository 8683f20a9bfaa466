"""Sources of the parents of labels: WordNet, a table, Open Images' hierarchy, labels that are paths."""

import gzip
import json

import pytest

from vsebench.formats.parents import label_paths, openimages_tree, parent_table, wordnet

SENSES = "lemma\tsynsets\ncar\tn00000003|n00000009\nchurch\tn00000004\nhot_dog\tn00000005\nmouse\tn00000006\n"
HYPERNYMS = (
    "synset\tlemmas\thypernyms\tinstance_hypernyms\n"
    "n00000003\tcar\tn00000001|n00000002\t\n"
    "n00000004\tchurch\t\tn00000002\n"
    "n00000005\thot_dog\t\t\n"
    "n00000006\tmouse\tn00000001\tn00000007\n"
)
WORDNET = {wordnet.SENSES: SENSES, wordnet.HYPERNYMS: HYPERNYMS, wordnet.EXCEPTIONS: "mice mouse\n"}


def put(folder, files):
    for name, text in files.items():
        (folder / name).write_bytes(gzip.compress(text.encode()))


def test_the_first_sense_of_a_noun_gives_its_parents(tmp_path):
    put(tmp_path, WORDNET)
    labels = ["Car", "cars", "churches", "hot dogs", "hot-dog", "mice", "sky"]
    assert wordnet.read_parents(tmp_path, wordnet.Options(), labels) == [
        {"n00000001", "n00000002"},
        {"n00000001", "n00000002"},
        {"n00000002"},
        set(),
        set(),
        {"n00000001", "n00000007"},
        set(),
    ]


@pytest.mark.parametrize(
    ("label", "lemma"),
    [
        ("buses", "bus"),
        ("firemen", "fireman"),
        ("cities", "city"),
        ("geese", "goose"),
        ("Rocky  Mountains", "rocky_mountains"),
        ("swimming-pool", "swimming_pool"),
    ],
)
def test_a_plural_is_looked_up_as_wordnet_does(label, lemma):
    assert wordnet.find_sense(label, {lemma: "n1", "other": "n2"}, {"geese": ["goose"]}) == "n1"


def test_a_label_that_begins_with_a_synset_means_it(tmp_path):
    put(tmp_path, WORDNET)
    labels = ["n00000006 car", "n00000005 hot dog", "n00000010 car", "n00000006"]
    assert wordnet.read_parents(tmp_path, wordnet.Options(), labels) == [
        {"n00000001", "n00000007"},
        set(),
        set(),
        set(),
    ]


def test_a_label_that_is_a_lemma_is_no_plural():
    assert wordnet.find_sense("glasses", {"glasses": "n1", "glass": "n2"}, {}) == "n1"


def table(folder, text, **changes):
    (folder / "p.csv").write_text(text)
    options = parent_table.Options(parents=str(folder / "p.csv"), **changes)
    return parent_table.read_parents(folder / "raw", options, ["cactus", "lamp", "sky"])


def test_a_label_of_a_table_may_have_several_parents(tmp_path):
    text = "label,parent,regions\ncactus,vegetation,163\n lamp ,things,9\ncactus,dessert,120\ncactus,dessert,1\n"
    assert table(tmp_path, text) == [{"vegetation", "dessert"}, {"things"}, set()]


def test_the_columns_of_a_table_can_have_other_names(tmp_path):
    assert table(tmp_path, "child,above\ncactus,plant\n", label="child", parent="above")[0] == {"plant"}


TREE = {
    "LabelName": "/m/0",
    "Subcategory": [
        {"LabelName": "/m/1", "Subcategory": [{"LabelName": "/m/2"}], "Part": [{"LabelName": "/m/3"}]},
        {"LabelName": "/m/4", "Subcategory": [{"LabelName": "/m/2"}]},
    ],
}


def test_children_of_the_hierarchy_have_parents_and_parts_have_none(tmp_path):
    (tmp_path / openimages_tree.HIERARCHY).write_text(json.dumps(TREE))
    labels = ["/m/0", "/m/1", "/m/2", "/m/3", "Jaguar (/m/4)"]
    found = openimages_tree.read_parents(tmp_path, openimages_tree.Options(), labels)
    assert found == [set(), {"/m/0"}, {"/m/1", "/m/4"}, set(), {"/m/0"}]


def test_the_parent_of_a_path_is_what_stands_before_its_last_slash(tmp_path):
    labels = ["3/17/172", "3/17/173", "sky", "/odd"]
    assert label_paths.read_parents(tmp_path, label_paths.Options(), labels) == [{"3/17"}, {"3/17"}, set(), set()]
