"""The rule that finds the word vector of a label by its name."""

import numpy as np
import pytest

from vsebench.formats.word_vectors.label_words import LabelRule


def vectors(*words):
    return {word: np.eye(len(words), dtype=np.float32)[row] + 1 for row, word in enumerate(words)}


def way(label, *words, aliases=None, bases=None):
    """Return the rule and the words by which a label is found, and the parts without a vector."""
    found = LabelRule(aliases or {}, bases or {}).find(label, vectors(*words))
    return found.rule, list(found.words), list(found.without)


@pytest.mark.parametrize(
    ("label", "words", "rule", "used", "without"),
    [
        ("sky", ["sky"], "whole", ["sky"], []),
        ("Sky", ["sky", "Sky"], "whole", ["Sky"], []),
        ("SKY", ["sky", "Sky"], "whole", ["sky"], []),
        ("paris", ["Paris"], "whole", ["Paris"], []),
        ("t-shirt", ["t-shirt", "t", "shirt"], "whole", ["t-shirt"], []),
        ("New York", ["New_York", "New", "York"], "whole", ["New_York"], []),
        ("tee_shirt", ["tee-shirt", "shirt"], "whole", ["tee-shirt"], []),
        ("f-16", ["f16"], "whole", ["f16"], []),
        ("  traffic   light ", ["trafficlight"], "whole", ["trafficlight"], []),
        ("teddy bear", ["teddy", "bear"], "parts", ["teddy", "bear"], []),
        ("sky/cloud", ["sky", "cloud"], "parts", ["sky", "cloud"], []),
        ("Plant (tree & bush), green", ["plant", "tree", "bush", "green"], "parts",
         ["plant", "tree", "bush", "green"], []),
        ("white-tailed", ["white"], "some parts", ["white"], ["tailed"]),
        ("traffic-lights", ["traffic", "light"], "singular", ["traffic", "light"], []),
        ("traffic-lights", ["traffic", "light", "traffic_light"], "singular", ["traffic_light"], []),
        ("Wild Geese", ["goose", "gees"], "some parts", ["goose"], ["Wild"]),
        ("mountains", ["mountain"], "singular", ["mountain"], []),
        ("churches", ["church"], "singular", ["church"], []),
        ("poppies", ["poppy"], "singular", ["poppy"], []),
        ("firemen", ["fireman"], "singular", ["fireman"], []),
        ("potatoes", ["potato"], "singular", ["potato"], []),
        ("horses", ["hors", "horse"], "singular", ["horse"], []),
        ("geese", ["goose", "gee"], "singular", ["goose"], []),
        ("cypress", ["cypres"], "missing", [], ["cypress"]),
        ("us", ["u"], "missing", [], ["us"]),
        ("-", ["sky"], "missing", [], []),
        ("e\u0301tang", ["\u00e9tang"], "whole", ["\u00e9tang"], []),
        ("n02084071 dog", ["dog", "n02084071"], "whole", ["dog"], []),
        ("Jaguar (/m/0449p)", ["jaguar", "m"], "whole", ["jaguar"], []),
    ],
)  # fmt: skip
def test_a_label_is_found_by_the_first_rule_that_gives_a_vector(label, words, rule, used, without):
    assert way(label, *words, bases={"geese": ["goose"]}) == (rule, used, without)


def test_an_alias_comes_after_the_label_itself_and_before_its_parts():
    aliases = {"Tee-Shirt": "t-shirt", "tvmonitor": "tv monitor", "gone": "nowhere"}
    assert way("tee-shirt", "t-shirt", "tee", "shirt", aliases=aliases) == ("alias", ["t-shirt"], [])
    assert way("tee-shirt", "tee-shirt", "t-shirt", aliases=aliases) == ("whole", ["tee-shirt"], [])
    assert way("TVmonitor", "tv", "monitor", aliases=aliases) == ("alias", ["tv", "monitor"], [])
    assert way("tvmonitor", "tv", aliases=aliases)[0] == "missing"  # half of an alias is none
    assert way("gone", "go", aliases=aliases)[0] == "missing"


def test_the_vector_of_parts_is_their_mean():
    words = {"hot": np.array([1, 0, 3], dtype=np.float32), "dog": np.array([0, 1, 4], dtype=np.float32)}
    found = LabelRule({}, {}).find("hot dog", words)
    assert found.vector.dtype == np.float32
    assert found.vector.tolist() == [0.5, 0.5, 3.5]


def test_parts_that_cancel_out_give_no_vector():
    words = {"up": np.array([1, -2], dtype=np.float32), "down": np.array([-1, 2], dtype=np.float32)}
    assert LabelRule({}, {}).find("up down", words).rule == "missing"


def test_the_words_to_read_are_all_that_the_rule_can_ask_for():
    """No word is looked up that the file was not searched for."""
    labels = ["Hot Dogs", "tee-shirt", "geese", "New_York", "f-16"]
    rule = LabelRule({"tee-shirt": "T shirt"}, {"geese": ["goose"]})
    asked = Asked()
    for label in labels:
        rule.find(label, asked)
    assert asked.words == rule.words(labels)


class Asked(dict):
    """An empty dictionary that records the words that are looked up."""

    def __init__(self):
        self.words = set()

    def __contains__(self, word):
        self.words.add(word)
        return False
