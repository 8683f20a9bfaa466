import numpy as np
import polars as pl
import pytest
from sklearn import metrics as sklearn_metrics

from vsebench.core.errors import UserError
from vsebench.core.places import Run
from vsebench.evaluation.metrics import METRICS, bootstrap_means, check_metric, mean_metric, measure, values

RUN = Run("sim-tiny", "distinct", "some_method", 1)


def ranks(*rows):
    """A row: rank (None: no candidate), ties, candidates."""
    schema = {"rank": pl.Int32, "ties": pl.Int32, "candidates": pl.Int32}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    return frame.with_columns(image=pl.int_range(len(rows), dtype=pl.Int32), label=pl.lit(0, pl.Int32))


def one(row):
    return dict(zip(METRICS, values(ranks(row))[0], strict=True))


def test_third_place_of_eleven_candidates_by_hand():
    """Ten negatives, two of them above: AUC 1 - 2/10."""
    assert one((3, 0, 11)) == pytest.approx(
        {
            "pre@5": 0.2, "rec@5": 1, "map@5": 1 / 3, "ndcg@5": 0.5, "auc@5": 0.8,
            "pre@10": 0.1, "rec@10": 1, "map@10": 1 / 3, "ndcg@10": 0.5, "auc@10": 0.8,
            "mrr": 1 / 3, "auc": 0.8,
        }
    )  # fmt: skip


def test_seventh_place_is_cut_at_five_only():
    result = one((7, 0, 101))
    assert [result[m] for m in ("pre@5", "rec@5", "map@5", "ndcg@5", "auc@5")] == [0, 0, 0, 0, 0.5]
    assert [result[m] for m in ("pre@10", "rec@10", "map@10", "ndcg@10")] == pytest.approx([0.1, 1, 1 / 7, 1 / 3])
    assert result["auc@10"] == pytest.approx(0.94)


def test_ties_take_the_worst_place_when_cut_and_the_mean_place_for_the_full_auc():
    """Best place 4 with 8 others alike: worst place 12 is cut at 10, mean place 8 of 20 negatives."""
    result = one((4, 8, 21))
    assert result["rec@10"] == 0
    assert result["auc@10"] == 0.5
    assert result["mrr"] == pytest.approx(1 / 12)
    assert result["auc"] == pytest.approx(1 - 7 / 20)


def test_a_model_without_information_scores_half_an_auc():
    """All 21 candidates alike."""
    assert one((1, 20, 21))["auc"] == 0.5


def test_held_out_label_that_is_known_counts_as_a_miss():
    result = one((None, 0, 5))
    assert {m: v for m, v in result.items() if v} == {"auc@5": 0.5, "auc@10": 0.5, "auc": 0.5}


def test_image_with_a_single_candidate_is_right():
    assert one((1, 0, 1))["auc"] == 1
    assert one((1, 0, 1))["auc@10"] == 1


@pytest.mark.parametrize("seed", range(20))
def test_agrees_with_scikit_learn(seed):
    """One relevant label among candidates without ties: average precision, NDCG and ROC AUC of scikit-learn."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 40))
    scores = rng.permutation(n).astype(float)
    relevant = np.zeros(n, dtype=int)
    relevant[rng.integers(n)] = 1
    place = 1 + int((scores > scores[relevant == 1]).sum())
    result = one((place, 0, n))
    assert result["mrr"] == pytest.approx(sklearn_metrics.average_precision_score(relevant, scores))
    assert result["auc"] == pytest.approx(sklearn_metrics.roc_auc_score(relevant, scores))
    for k in (5, 10):
        assert result[f"ndcg@{k}"] == pytest.approx(sklearn_metrics.ndcg_score([relevant], [scores], k=k))
        top = np.argsort(-scores)[:k]
        assert result[f"rec@{k}"] == relevant[top].sum()
        assert result[f"pre@{k}"] == relevant[top].sum() / k


def librec_auc(ranked, relevant, n_negatives):
    """AUC of a cut list: pairs inside it are counted, what is not listed scores a half.

    Written from the definition in docs/protocols.md, by walking the list, without the place of the hit.
    """
    if relevant not in ranked:
        return 0.5
    below = n_negatives - ranked.index(relevant)
    return below / n_negatives


@pytest.mark.parametrize("place", [1, 2, 9, 10, 11, 25])
def test_cut_auc_agrees_with_the_definition_of_librec(place):
    ranked = [f"label {r}" for r in range(1, 31)]
    assert one((place, 0, 30))["auc@10"] == pytest.approx(librec_auc(ranked[:10], f"label {place}", 29))


def test_recall_is_precision_times_n():
    rng = np.random.default_rng(0)
    frame = ranks(*((int(r), 0, 50) for r in rng.integers(1, 50, 300)))
    for n in (5, 10):
        assert mean_metric(frame, f"rec@{n}") == pytest.approx(n * mean_metric(frame, f"pre@{n}"))


def test_table_has_a_row_a_metric_with_its_interval():
    frame = ranks(*((r, 0, 50) for r in range(1, 40)))
    table = measure(frame, RUN, 200)
    assert table.columns == [
        "dataset", "protocol", "method", "seed", "metric", "cutoff", "value", "ci_low", "ci_high", "n_images",
    ]  # fmt: skip
    assert table.height == len(METRICS)
    assert (table["ci_low"] <= table["value"]).all()
    assert (table["value"] <= table["ci_high"]).all()
    assert table.filter(metric="rec", cutoff=10)["value"].item() == pytest.approx(10 / 39)
    assert table.filter(pl.col("metric") == "auc", pl.col("cutoff").is_null()).height == 1


def test_bootstrap_interval_is_as_wide_as_theory_says():
    """Mean of n coin tosses: standard deviation 0.5 / sqrt(n)."""
    tosses = np.random.default_rng(0).integers(0, 2, (2000, 1)).astype(float)
    means = bootstrap_means(tosses, 1000)
    assert means.std() == pytest.approx(0.5 / np.sqrt(2000), rel=0.1)
    assert means.mean() == pytest.approx(tosses.mean(), abs=0.002)


def test_models_share_their_resamples():
    table = np.random.default_rng(1).random((50, 1))
    np.testing.assert_allclose(bootstrap_means(table + 1, 100), bootstrap_means(table, 100) + 1)


def test_unknown_metric_lists_the_known_ones():
    with pytest.raises(UserError, match="'f1@3' is none of pre@5"):
        check_metric("f1@3")
