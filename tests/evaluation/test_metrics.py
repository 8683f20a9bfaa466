"""Metrics: by hand, against the formulas for one held-out label, and against scikit-learn for several."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as sklearn_metrics

from tests.builders import ranks_of
from vsebench.config.run import DEFAULT_METRICS
from vsebench.core.errors import UserError
from vsebench.core.schemas import RANKS
from vsebench.evaluation.metrics import mean_metric, values
from vsebench.evaluation.metrics.base import (
    ImageSetMetric,
    LabelMetric,
    ListMetric,
    Metric,
    PopularityMetric,
    PropensityMetric,
    RankMetric,
    SeenMetric,
    SetMetric,
    known_metrics,
    load_metric,
)

OF_IMAGES = [*DEFAULT_METRICS, "f1@5", "map", "ndcg", "coverage", "one_error"]


def single(*rows):
    """Return ranks of images with one held-out label: above (None: a miss), tied, negatives."""
    lines = [
        (image, 0, above, None if above is None else tied, None if above is None else 1, negatives, False)
        for image, (above, tied, negatives) in enumerate(rows)
    ]
    return pl.DataFrame(lines, schema=RANKS, orient="row")


def of(ranks, metrics=OF_IMAGES):
    """Return each metric of the only image."""
    (row,) = values(ranks, metrics)
    return dict(zip(metrics, row, strict=True))


def test_third_rank_of_eleven_candidates_by_hand():
    """Ten negatives, two of them above: AUC 1 - 2/10."""
    assert of(single((2, 0, 10))) == pytest.approx(
        {
            "precision@5": 0.2, "recall@5": 1, "map@5": 1 / 3, "ndcg@5": 0.5, "auc@5": 0.8,
            "precision@10": 0.1, "recall@10": 1, "map@10": 1 / 3, "ndcg@10": 0.5, "auc@10": 0.8,
            "mrr": 1 / 3, "auc": 0.8, "f1@5": 1 / 3, "map": 1 / 3, "ndcg": 0.5, "coverage": 3, "one_error": 1,
        }
    )  # fmt: skip


def test_ties_take_the_worst_rank_when_cut_and_the_mean_rank_for_the_full_auc():
    """Best rank 4 with 8 others alike: the worst rank 12 is cut at 10, the mean rank is 8 among 20 negatives."""
    result = of(single((3, 8, 20)))
    assert result["recall@10"] == 0
    assert result["auc@10"] == 0.5
    assert result["mrr"] == result["map"] == pytest.approx(1 / 12)
    assert result["auc"] == pytest.approx(1 - 7 / 20)
    assert result["coverage"] == 12


def test_a_model_without_information_has_an_auc_of_one_half():
    assert of(ranks_of(np.zeros((1, 21)), [[4]]))["auc"] == 0.5
    several = of(ranks_of(np.zeros((1, 21)), [[4, 9, 17]]))
    assert several["auc"] == 0.5
    assert several["map"] == pytest.approx(3 / 21)  # each of the three has rank 21, where all three are listed


def test_a_held_out_label_that_is_known_counts_as_a_miss():
    result = of(single((None, 0, 4)))
    assert {name: value for name, value in result.items() if value} == {
        "auc@5": 0.5, "auc@10": 0.5, "auc": 0.5, "coverage": 4, "one_error": 1,
    }  # fmt: skip


def test_an_image_with_a_single_candidate_is_right():
    result = of(single((0, 0, 0)))
    assert result["auc"] == result["auc@10"] == result["recall@5"] == result["map"] == 1
    assert result["precision@5"] == 0.2  # divided by 5 even where there are fewer candidates


def test_two_held_out_labels_in_front_by_hand():
    result = of(ranks_of([[9, 1, 8, 2, 3, 4]], [[0, 2]]))
    assert [result[name] for name in ("map", "map@5", "ndcg", "ndcg@5", "auc")] == pytest.approx([1] * 5)
    assert result["precision@5"] == pytest.approx(0.4)
    assert result["f1@5"] == pytest.approx(4 / 7)
    assert (result["recall@5"], result["mrr"], result["coverage"], result["one_error"]) == (1, 1, 2, 0)


def test_held_out_labels_at_ranks_two_and_seven_by_hand():
    """Right labels count in the rank of those behind them, and not in `above`."""
    result = of(ranks_of([[9, 8, 7, 6, 5, 4, 3, 2]], [[1, 6]]))
    assert result["precision@5"] == pytest.approx(0.2)
    assert result["recall@5"] == 0.5
    assert result["recall@10"] == 1
    assert result["map"] == pytest.approx((1 / 2 + 2 / 7) / 2)
    assert result["map@5"] == pytest.approx((1 / 2) / 2)
    assert result["ndcg"] == pytest.approx((1 / np.log2(3) + 1 / 3) / (1 + 1 / np.log2(3)))
    assert result["mrr"] == 0.5
    assert result["auc"] == pytest.approx(1 - (1 + 5) / 2 / 6)
    assert result["coverage"] == 7


def test_more_held_out_labels_than_the_cutoff_can_reach_an_ndcg_of_one():
    scores = np.arange(12, 0, -1)[np.newaxis]
    result = of(ranks_of(scores, [list(range(8))]))
    assert result["ndcg@5"] == pytest.approx(1)
    assert result["recall@5"] == pytest.approx(5 / 8)
    assert result["map@5"] == pytest.approx(5 / 8)


def test_one_of_two_held_out_labels_is_a_miss():
    result = of(ranks_of([[9, 8, 7, 6]], [[0, 1]], known=[[1]]))
    assert result["map"] == result["recall@5"] == 0.5
    assert result["ndcg"] == pytest.approx(1 / (1 + 1 / np.log2(3)))
    assert result["auc"] == pytest.approx((1 + 0.5) / 2)
    assert result["coverage"] == 3  # the length of the list


def test_an_image_without_held_out_labels_is_in_no_mean():
    ranks = ranks_of([[1, 2], [2, 1]], [[], [0]])
    assert values(ranks, ["mrr"]).tolist() == [[1]]
    assert mean_metric(ranks, "mrr") == 1


def old_formulas(above, tied, negatives):
    """The metrics of one held-out label: r is its worst rank, n the negatives; NaN stands for a miss."""
    worst = above + tied + 1
    n = np.maximum(negatives, 1)
    found = {}
    for k in (5, 10):
        hit = worst <= k  # False for NaN
        found[f"precision@{k}"] = np.where(hit, 1 / k, 0)
        found[f"recall@{k}"] = np.where(hit, 1, 0)
        found[f"map@{k}"] = np.where(hit, 1 / worst, 0)
        found[f"ndcg@{k}"] = np.where(hit, 1 / np.log2(1 + worst), 0)
        found[f"auc@{k}"] = np.where(hit, 1 - (worst - 1) / n, 0.5)
    found["mrr"] = np.nan_to_num(1 / worst)
    found["auc"] = np.where(np.isnan(above), 0.5, 1 - (above + tied / 2) / n)
    return np.stack([found[name] for name in DEFAULT_METRICS], axis=1)


@given(
    st.lists(
        st.tuples(st.integers(0, 30), st.integers(0, 6), st.integers(0, 8), st.booleans()), min_size=1, max_size=20
    )
)
def test_with_one_held_out_label_metrics_are_those_of_the_table_in_the_docs(rows):
    """docs/metrics.md, Metrics of an image."""
    frame = single(*((None if miss else above, tied, above + tied + rest) for above, tied, rest, miss in rows))
    above, tied = (frame[name].cast(pl.Float64).fill_null(np.nan).to_numpy() for name in ("above", "tied"))
    expected = old_formulas(above, tied, frame["negatives"].to_numpy())
    np.testing.assert_allclose(values(frame, DEFAULT_METRICS), expected, rtol=1e-14)
    assert mean_metric(frame, "ndcg@10") == pytest.approx(expected[:, DEFAULT_METRICS.index("ndcg@10")].mean())


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(0, 2), st.booleans()), min_size=1))
def test_one_held_out_label_each_gives_the_same_bytes_as_among_images_with_several(rows):
    """Where all images have one label each, a metric is computed once for equal ranks."""
    lines = [(None if miss else above, tied, above + tied + rest) for above, tied, rest, miss in rows]
    alone = single(*lines)
    pair = ranks_of([[1, 2, 3]], [[0, 1]]).with_columns(image=pl.lit(len(lines), pl.Int32))
    among = values(pl.concat([alone, pair]), OF_IMAGES)
    assert np.array_equal(values(alone, OF_IMAGES), among[:-1])


def drawn(seed, ties):
    """Return scores, and which labels are held out, of twenty images; each has one that is and one that is not."""
    rng = np.random.default_rng(seed)
    n_labels = int(rng.integers(3, 25))
    scores = rng.integers(0, 4, (20, n_labels)) if ties else rng.permuted(np.tile(np.arange(n_labels), (20, 1)), axis=1)
    right = rng.random((20, n_labels)) < rng.uniform(0.05, 0.6)
    right[:, 0], right[:, 1] = True, False
    columns = rng.permutation(n_labels)
    return scores[:, columns].astype(float), right[:, columns]


def rows_where(right):
    return [np.flatnonzero(row).tolist() for row in right]


@pytest.mark.parametrize("ties", [True, False])
@pytest.mark.parametrize("seed", range(10))
class TestAgreesWithScikitLearn:
    def test_map_is_the_label_ranking_average_precision(self, seed, ties):
        scores, right = drawn(seed, ties)
        expected = sklearn_metrics.label_ranking_average_precision_score(right, scores)
        assert mean_metric(ranks_of(scores, rows_where(right)), "map") == pytest.approx(expected)

    def test_coverage(self, seed, ties):
        scores, right = drawn(seed, ties)
        expected = sklearn_metrics.coverage_error(right, scores)
        assert mean_metric(ranks_of(scores, rows_where(right)), "coverage") == pytest.approx(expected)

    def test_auc_of_each_image(self, seed, ties):
        scores, right = drawn(seed, ties)
        expected = [sklearn_metrics.roc_auc_score(*pair) for pair in zip(right, scores, strict=True)]
        found = values(ranks_of(scores, rows_where(right)), ["auc"])[:, 0]
        assert found == pytest.approx(np.array(expected))

    def test_ndcg_precision_recall_and_reciprocal_rank_of_a_list_without_ties(self, seed, ties):
        scores, right = drawn(seed, ties)
        # Ties count against the right labels, so scikit-learn sees lists in which right labels stand last of equals.
        untied = scores - 1e-3 * right - 1e-6 * np.arange(scores.shape[1])
        ranks = ranks_of(scores, rows_where(right))
        assert mean_metric(ranks, "ndcg") == pytest.approx(sklearn_metrics.ndcg_score(right, untied))
        order = np.take_along_axis(right, np.argsort(-untied, axis=1), axis=1)
        assert mean_metric(ranks, "mrr") == pytest.approx((1 / (1 + order.argmax(axis=1))).mean())
        assert mean_metric(ranks, "one_error") == pytest.approx(1 - order[:, 0].mean())
        for k in (1, 5, 10):
            assert mean_metric(ranks, f"ndcg@{k}") == pytest.approx(sklearn_metrics.ndcg_score(right, untied, k=k))
            hits = order[:, :k].sum(axis=1)
            assert mean_metric(ranks, f"precision@{k}") == pytest.approx((hits / k).mean())
            assert mean_metric(ranks, f"recall@{k}") == pytest.approx((hits / right.sum(axis=1)).mean())
            if k <= scores.shape[1]:
                predicted = np.argsort(np.argsort(-untied, axis=1), axis=1) < k
                f1 = sklearn_metrics.f1_score(right, predicted, average="samples")
                assert mean_metric(ranks, f"f1@{k}") == pytest.approx(f1)


@pytest.mark.parametrize("name", known_metrics())
def test_every_metric_is_of_a_kind_and_says_what_it_is(name):
    metric = next(load_metric(full) for full in (name, f"{name}@5") if loads(full))
    of_ranks = RankMetric | LabelMetric | SeenMetric | PropensityMetric
    assert isinstance(metric, of_ranks | SetMetric | ImageSetMetric | ListMetric | PopularityMetric)
    assert metric.unit == ("label" if isinstance(metric, LabelMetric) else "image")
    assert type(metric).__doc__ != Metric.__doc__


def loads(name):
    try:
        load_metric(name)
    except UserError:
        return False
    return True


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("f2@3", "there is no metric 'f2@3'; "),
        ("", "there is no metric ''"),
        ("base", "there is no metric 'base'"),
        ("recall@", "there is no metric 'recall@'"),
        ("recall@05", "there is no metric 'recall@05'"),
        ("recall@-1", "there is no metric"),
        ("../core@5", "there is no metric"),
        ("recall", "the metric 'recall' needs a cut-off, such as recall@10"),
        ("mrr@5", "the metric 'mrr' takes no cut-off; remove @5 from its name"),
        ("macro_f1@11", "the metric 'macro_f1@11': use a cut-off up to 10, the number of labels"),
    ],
)
def test_a_wrong_name_is_refused_in_one_line(name, message):
    with pytest.raises(UserError) as error:
        load_metric(name)
    assert message in str(error.value)


@pytest.mark.parametrize("name", ["label_map", "macro_f1@5"])
def test_a_metric_of_labels_or_sets_does_not_follow_from_the_ranks_of_an_image(name):
    with pytest.raises(UserError, match=f"{name} cannot be computed from the ranks of an image"):
        mean_metric(single((0, 0, 5)), name)
