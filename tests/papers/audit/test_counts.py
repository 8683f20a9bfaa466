"""Checks of counts of images, labels and pairs."""

import pytest

from tests.papers.audit.made_up import accuracies, findings, verdicts

PAIRS = """
p table1 d images 1000 count
p table1 d labels 200 count
p table1 d train_pairs 6500 count
p table1 d test_pairs 1000 count
"""
ONE_HELD_OUT = accuracies({"recall@5": "0.1"})
DISTINCT = "p text d distinct_pairs 4100 count\np text d labelled_images 1000 count\n"
VOCABULARY = "p text d labels 432213 count\np text all word_vector_dimension 300 count\n"
PARTS = "p text d train_images 700 count\np text d test_images 290 count\n"


@pytest.mark.parametrize(
    ("check", "base", "line", "good", "bad"),
    [
        (
            "test pairs",
            PAIRS.replace("test_pairs", "pairs") + ONE_HELD_OUT,
            "p table1 d test_pairs {} count",
            "1000",
            "1001",
        ),
        ("mean labels", PAIRS, "p text d labels_per_image {} count", "7.5", "6"),
        ("mean labels", PAIRS, "p text d labels_per_image {} count", "7", "9"),  # 6.5 to 7.5
        ("mean labels", PAIRS + DISTINCT, "p text d labels_per_image {} count", "4", "7.5"),  # as a set
        ("labels", VOCABULARY, "p text d labels_after_cut {} count", "432000", "423000"),
        ("weights", VOCABULARY, "p text d final_layer_weights {} count", "130000000", "43000000"),
        ("pairs", PAIRS, "p text d sampled_pairs {} count", "7500", "1000"),
        ("images", PARTS, "p table1 d images {} count", "1000", "900"),
    ],
)
def test_a_count_follows_from_others(check, base, line, good, bad):
    assert verdicts(check, base + line.format(good)) == ["agrees"]
    assert verdicts(check, base + line.format(bad)) == ["contradicts"]


@pytest.mark.parametrize(("protocol", "verdict"), [("leave_one_out", "contradicts"), ("held_out_images", "depends")])
def test_more_test_pairs_than_images_contradict_only_if_one_is_held_out(protocol, verdict):
    lines = f"p table1 d images 10 count\np table1 d test_pairs 11 count\np table2 d/m recall@5 0.1 1 {protocol}\n"
    assert verdicts("test pairs", lines) == [verdict]


def test_other_labels_of_an_image():
    lines = PAIRS + "p table1 d positive_labels_per_image 8 count\np table1 d non_positive_labels_per_image 192 count\n"
    assert verdicts("labels", lines) == ["agrees"]
    assert verdicts("labels", lines.replace(" 192 ", " 182 ")) == ["contradicts"]
    # 192 / 8 is 24, but 200 labels at 7.5 per image are 25.7 others for each.
    first, second = findings("other labels", lines + "p table1 d non_positives_per_positive 24 times")
    assert (first.verdict, second.verdict) == ("agrees", "depends")
    assert second.condition == "it is the ratio of the exact means (it also follows from the printed, rounded means)"
    # 30 follows from neither.
    again = lines + "p table1 d non_positives_per_positive 30 times"
    assert verdicts("other labels", again) == ["contradicts", "contradicts"]


@pytest.mark.parametrize(("again", "expected"), [("0.1", ["depends"]), ("0.2", [])])
def test_numbers_of_labels_of_two_papers_are_compared_where_they_share_accuracies(again, expected):
    lines = "p table1 d labels 5108 count\nq table1 d labels 5018 count\n"
    lines += accuracies({"recall@5": "0.1"}, "m") + accuracies({"recall@5": again}, "m", paper="q")
    assert verdicts("labels", lines) == expected


@pytest.mark.parametrize(("in_files", "verdict"), [("200", "agrees"), ("180", "depends")])
def test_labels_of_the_label_files(in_files, verdict):
    assert verdicts("labels", PAIRS + f"p text d labels_in_files {in_files} count") == [verdict]


def test_more_trials_than_labels_depend_on_a_limit():
    assert verdicts("trials", PAIRS + "p text d/warp trials 199 count") == ["agrees"]
    (finding,) = findings("trials", PAIRS + "p text d/warp trials 201 count")
    assert finding.verdict == "depends"
    assert "the text states no limit" in finding.condition
