"""Checks of rows that predict label sets, and of the numbers of labels that images have."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.papers.audit.made_up import findings, percents, verdicts


def predictions(seed: int, k: int) -> str:
    """Return the printed numbers of the first k labels of random scores, and of the images."""
    rng = np.random.default_rng(seed)
    truth = rng.random((60, 8)) < 0.3
    predicted = np.argsort(np.argsort(-(rng.random((60, 8)) + truth), axis=1), axis=1) < k
    hits, labels = (truth & predicted).sum(), truth.sum(axis=1)
    exact = (truth == predicted).all(axis=1).mean()
    numbers = {"ov_precision": hits / predicted.sum(), "ov_recall": hits / truth.sum(), "exact_match": exact}
    shares = {f"images_with_{n}_labels": (labels == n).mean() for n in range(9)}
    lines = f"p text d labels_per_image {labels.mean():.3f} count\n"
    for row, values in (("d/m_topk", numbers), ("d", shares)):
        lines += percents({name: f"{100 * value:.1f}" for name, value in values.items()}, row)
    return lines


@given(st.integers(0, 10**6), st.integers(1, 5))
def test_true_lists_of_k_labels_never_contradict(seed, k):
    lines = predictions(seed, k)
    (size,) = findings("labels per list", lines)
    assert size.verdict == "agrees"
    assert f"k = {k}," in size.explanation
    (exact,) = findings("exact match of top k", lines)
    assert (exact.verdict, exact.cells.split("; ")[1]) == ("agrees", f"table1 d images_with_{k}_labels")


TOP_K = "p text d labels_per_image 2.0 count\n" + percents({"ov_precision": "50.0"}, "d/m_topk")


@pytest.mark.parametrize(("recall", "verdict"), [("75.0", "agrees"), ("60.0", "contradicts")])
def test_a_list_has_a_whole_number_of_labels(recall, verdict):
    assert verdicts("labels per list", TOP_K + percents({"ov_recall": recall}, "d/m_topk")) == [verdict]


@pytest.mark.parametrize(("exact", "verdict"), [("15.9", "agrees"), ("16.0", "contradicts")])
def test_only_images_with_k_labels_can_match_k_labels(exact, verdict):
    lines = TOP_K + percents({"images_with_3_labels": "15.8"}, "d")  # 15.85 may be printed as 15.8 or 15.9
    lines += percents({"ov_recall": "75.0", "exact_match": exact}, "d/m_topk")
    assert verdicts("exact match of top k", lines) == [verdict]


def test_without_overall_numbers_k_follows_where_all_other_images_are_too_few():
    share = 'p text d images_with_1_label 64.5 percent settings "measured by us"\n'
    (finding,) = findings("exact match of top k", share + percents({"exact_match": "57.6"}, "d/m_topk"))
    assert finding.verdict == "agrees"
    assert finding.explanation.endswith(" k labels (measured by us); k = 1, the most frequent number")
    assert findings("exact match of top k", share + percents({"exact_match": "30.0"}, "d/m_topk")) == []


@pytest.mark.parametrize(("exact", "verdict"), [("88.6", "agrees"), ("88.8", "contradicts")])
def test_an_image_with_more_labels_than_the_largest_count_never_matches(exact, verdict):
    lines = "p text p maximum_labels 4 count\n" + percents({"images_with_4_labels_or_fewer": "88.6"}, "d")
    assert verdicts("exact match of counts", lines + percents({"exact_match": exact}, "d/p_label_count")) == [verdict]


@pytest.mark.parametrize(
    ("largest", "pairs", "effect"),
    [("13", 884, "the limit has no effect"), ("16", 1040, "some images"), ("80", 1640, "some images")],
)
def test_a_limit_that_no_image_reaches_has_no_effect_and_contradicts_nothing(largest, pairs, effect):
    lines = f"""
        p text p pairs_per_image 1000 count
        p text d labels 81 count
        p text d most_labels_of_an_image {largest} count"""
    (finding,) = findings("sampled pairs", lines)
    assert (finding.recomputed, finding.verdict) == (f"at most {pairs} on d", "agrees")
    assert effect in finding.explanation
