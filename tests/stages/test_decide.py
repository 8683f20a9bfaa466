"""Label sets of a small run: the stage `decide`, and what other stages make of its files."""

import json
import shutil

import numpy as np
import polars as pl
import pytest
from scipy import stats
from sklearn import metrics as sklearn_metrics

from tests.stages.analysed import analysed
from tests.stages.small import run, split, write_processed
from vsebench.core import schemas
from vsebench.core.storage import read_json, read_parquet, write_parquet
from vsebench.core.tasks import Case, Task
from vsebench.evaluation.analyses.base import AnalysedCase, AnalysedDataset, normalised_scores
from vsebench.evaluation.analyses.pooled_average_precision import values_of_images
from vsebench.evaluation.analyses.pooled_precision import pooled_precision
from vsebench.evaluation.analyses.thresholds_and_difficulty import correlations, difficulties, levels

NETWORK = {"hidden": [8], "learning_rate": 0.01, "batch": 10, "normalise": []}
DECISIONS = {
    "best_k": {"decision": "top_k", "tuned_for": "exact_match"},
    "count": {"decision": "label_count", "settings": {"hidden": [8], "epochs": 5}},
    "class_threshold": {"decision": "class_threshold", "tuned_for": "macro_f1", "settings": {"hidden": []}},
}
TASK = ["--dataset", "tiny", "--protocol", "images"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return the folder of a case that was fitted without a refit, ranked and decided, with its data set beside it."""
    top = tmp_path_factory.mktemp("decide")
    data = top / "processed" / "tiny"
    write_processed(data, n_images=200, features=True)
    assert split(data, protocol="images") == 0
    seed = top / "results" / "tiny" / "images" / "seed1"
    seed.mkdir(parents=True)
    (data / "split").rename(seed / "split")
    case = seed / "lsep"
    common = ["--split", seed / "split", "--features", data / "features.npy"]
    assert run("fit", *common, *TASK, "--variant", "lsep", "--module", "lsep", "--settings", json.dumps(NETWORK),
               "--seed", 1, "--epochs", json.dumps({"maximum": 8, "patience": 8}), "--metric", "map", "--images", 100,
               "--no-refit", "--out", case) == 0  # fmt: skip
    assert run("rank", *common, "--model", case / "model.npz", "--ranks", case / "ranks.parquet", "--lists",
               case / "lists.parquet", "--label-ranks", case / "label_ranks.parquet") == 0  # fmt: skip
    assert decide(top, DECISIONS) == 0
    return top


def decide(top, decisions):
    seed, data = top / "results" / "tiny" / "images" / "seed1", top / "processed" / "tiny"
    case = seed / "lsep"
    return run("decide", "--split", seed / "split", "--features", data / "features.npy", "--model", case / "model.npz",
               *TASK, "--variant", "lsep", "--seed", 1, "--decisions", json.dumps(decisions), "--out",
               case / "decisions.parquet", "--thresholds", case / "thresholds.parquet", "--record",
               case / "decisions.json")  # fmt: skip


def read(top, name):
    return read_parquet(top / "results" / "tiny" / "images" / "seed1" / "lsep" / f"{name}.parquet")


def masks(top, decision):
    """Return the label sets that a decision chose for the test images, and the right ones, as bool arrays."""
    images = read(top, "lists")["image"].unique().sort().to_numpy()
    found = []
    for pairs in (read(top, "decisions").filter(decision=decision), read(top, "ranks")):
        mask = np.zeros((len(images), 24), dtype=bool)
        mask[np.searchsorted(images, pairs["image"].to_numpy()), pairs["label"].to_numpy()] = True
        found.append(mask)
    return found


def test_every_decision_has_its_label_sets_and_its_record(folder):
    chosen = read(folder, "decisions")
    assert chosen.schema == pl.Schema(schemas.DECISIONS)
    assert set(chosen["decision"]) == set(DECISIONS)
    assert not chosen.is_duplicated().any()
    record = read_json(folder / "results" / "tiny" / "images" / "seed1" / "lsep" / "decisions.json")
    assert (record["method"], record["seed"]) == ("lsep", 1)
    k = record["decisions"]["best_k"]["k"]
    test = set(read(folder, "lists")["image"])
    assert set(chosen["image"]) <= test
    assert chosen.filter(decision="best_k").group_by("image").len()["len"].to_list() == [k] * len(test)


def test_thresholds_are_those_of_the_images_own_labels(folder):
    thresholds = read(folder, "thresholds")
    assert thresholds.schema == pl.Schema(schemas.THRESHOLDS)
    assert thresholds.select("image", "label").equals(read(folder, "ranks").select("image", "label"))
    assert set(thresholds["decision"]) == {"class_threshold"}


@pytest.fixture(scope="module")
def measured(folder):
    """Return the tables of the stage `measure`: the metrics and their summary."""
    names = ["map", "macro_f1", "micro_f1", "exact_match", "example_f1", "pc_precision", "set_size", "count_error"]
    names += ["macro_f1_of_present", "hamming_distance", "exact_match@4"]
    decided = [f"lsep/{name}" for name in DECISIONS]
    assert run("measure", "--results", folder / "results", *TASK, "--variants", "lsep", "--decisions", *decided,
               "--seeds", 1, "--metrics", *names, "--bootstrap", 50, "--out", folder / "metrics.parquet",
               "--summary", folder / "summary.parquet", "--cold", folder / "cold.parquet",
               "--by-frequency", folder / "by_frequency.parquet") == 0  # fmt: skip
    return read_parquet(folder / "metrics.parquet"), read_parquet(folder / "summary.parquet")


def test_metrics_of_label_sets_agree_with_scikit_learn(folder, measured):
    found, table = measured
    assert set(found.filter(decision="")["metric"]) == {"map", "exact_match@4"}
    for name in DECISIONS:
        predicted, right = masks(folder, name)
        present = right.any(axis=0)
        macro = {"average": "macro", "zero_division": 0}
        expected = {
            "macro_f1": sklearn_metrics.f1_score(right, predicted, **macro),
            "macro_f1_of_present": sklearn_metrics.f1_score(right[:, present], predicted[:, present], **macro),
            "micro_f1": sklearn_metrics.f1_score(right, predicted, average="micro"),
            "exact_match": sklearn_metrics.accuracy_score(right, predicted),
            "example_f1": sklearn_metrics.f1_score(right, predicted, average="samples", zero_division=1),
            "pc_precision": sklearn_metrics.precision_score(right, predicted, **macro),
            "hamming_distance": right.shape[1] * sklearn_metrics.hamming_loss(right, predicted),
            "set_size": predicted.sum(axis=1).mean(),
            "count_error": np.abs(predicted.sum(axis=1) - right.sum(axis=1)).mean(),
        }
        assert dict(found.filter(decision=name).select("metric", "value").iter_rows()) == pytest.approx(expected)
    assert table.schema == pl.Schema(schemas.SUMMARY)
    match = table.filter(metric="exact_match")
    assert match.filter(best=True)["value"].to_list() == [match["value"].max()]


def test_no_size_of_a_label_set_is_the_best(measured):
    sizes = measured[1].filter(metric="set_size")
    assert sizes.select("difference", "p_adjusted").null_count().row(0) == (3, 3)
    assert not sizes["best"].any()


def test_scores_of_labels_are_those_of_one_label_against_the_others(folder):
    found = analysed(folder, "label_scores", "tiny/images/lsep/best_k")
    predicted, right = masks(folder, "best_k")
    expected = sklearn_metrics.f1_score(right, predicted, average=None, zero_division=0)
    assert found["f1"].to_numpy() == pytest.approx(expected)
    assert found["images"].to_list() == right.sum(axis=0).tolist()
    assert found["label"][:2].to_list() == ["l0", "l1"]


def test_the_pooled_curve_is_that_of_scikit_learn_with_ties():
    rng = np.random.default_rng(1)
    scores = rng.integers(0, 12, (60, 5)).astype(np.float32)
    right = rng.random((60, 5)) < 0.1 + scores / 20
    found = pooled_precision(scores, right)
    pairs = right.reshape(-1), scores.reshape(-1)
    assert found["average_precision"][0] == pytest.approx(sklearn_metrics.average_precision_score(*pairs))
    precision, recall, _ = sklearn_metrics.precision_recall_curve(*pairs)
    for at, value in found.select("recall", "precision").iter_rows():
        position = np.flatnonzero(recall >= at - 1e-12)[-1]  # scikit-learn's recall falls
        assert value == pytest.approx(precision[position])


def test_a_level_that_differs_from_image_to_image_does_not_matter_after_it_is_taken_out():
    rng = np.random.default_rng(2)
    scores = rng.normal(0, 1, (40, 6)).astype(np.float32)
    moved = scores + rng.normal(0, 50, (40, 1)).astype(np.float32)
    np.testing.assert_allclose(normalised_scores(moved), normalised_scores(scores), atol=5e-5)
    np.testing.assert_allclose(np.exp(normalised_scores(moved)).sum(axis=1), 1, rtol=1e-4)


def test_no_decision_depends_on_the_labels_of_the_test(folder, tmp_path):
    """The same stage with other test labels chooses the same sets."""
    top = tmp_path / "again"
    shutil.copytree(folder, top)
    path = top / "results" / "tiny" / "images" / "seed1" / "split" / "test.parquet"
    pairs = read_parquet(path)
    write_parquet(pairs.with_columns(label=23 - pl.col("label")).sort("image", "label"), path)
    assert decide(top, DECISIONS) == 0
    assert read(top, "decisions").equals(read(folder, "decisions"))


def test_the_curve_of_a_run_is_gathered(folder):
    found = analysed(folder, "pooled_precision", "tiny/images/lsep", features="features.npy")
    assert found.group_by("normalised").len()["len"].to_list() == [50, 50]


def test_a_wrong_setting_is_one_line_and_keeps_what_was_there(folder, capsys):
    before = read(folder, "decisions")
    wrong = {"best_k": {"decision": "top_k", "tuned_for": "exact_match", "settings": {"steps": 3}}}
    assert decide(folder, wrong) == 1
    assert "config/decisions/best_k.yaml: settings: steps: unknown key" in capsys.readouterr().err
    assert read(folder, "decisions").equals(before)


def test_correlations_are_those_of_scipy_for_labels_with_enough_images():
    rng = np.random.default_rng(3)
    pairs = pl.DataFrame({"label": np.repeat([0, 1, 2], [30, 9, 12]), "threshold": rng.normal(0, 1, 51).round(1)})
    pairs = pairs.with_columns(difficulty=pl.col("threshold") + pl.Series(rng.normal(0, 1, 51)))
    found = correlations(pairs)
    assert found["label"].to_list() == [0, 2]
    for label, images, correlation in found.iter_rows():
        own = pairs.filter(label=label)
        assert images == len(own)
        assert correlation == pytest.approx(stats.spearmanr(own["threshold"], own["difficulty"]).statistic)


def test_difficulty_is_told_by_the_scores_of_another_variant(folder):
    """The row itself is the reference here: where it scores a label of an image high, the image is easy."""
    variants = ["tiny/images/lsep", "tiny/images/lsep/class_threshold"]
    found = analysed(folder, "thresholds_and_difficulty", *variants, features="features.npy")
    assert set(found["reference"]) <= {"lsep"}
    processed = folder / "processed" / "tiny"
    dataset = AnalysedDataset(processed, {"tiny/images/lsep": [processed / "features.npy"]}, has_siblings=False)
    case = AnalysedCase(Case(Task("tiny", "images"), "lsep", 1), "", folder / "results", dataset)
    difficulty = difficulties(case)
    assert difficulty.select("image", "label").equals(
        read(folder, "ranks").select(pl.col("image"), pl.col("label")), null_equal=True
    )


def test_the_values_of_images_are_those_of_the_average_precision_and_its_derivatives():
    rng = np.random.default_rng(5)
    scores, candidates = rng.normal(0, 1, (40, 9)).astype(np.float32), rng.random((40, 9)) < 0.9
    scores[:, 3] = scores[:, 4]  # ties
    right = (rng.random((40, 9)) < 0.3) & candidates
    found = values_of_images(scores, right, candidates)
    average = pooled_precision(scores[candidates], right[candidates])["average_precision"][0]
    assert found.mean() == pytest.approx(average)
    weights = np.ones((40, 9))
    weights[7] += 1e-4
    of_pairs = right[candidates], scores[candidates]
    heavier = sklearn_metrics.average_precision_score(*of_pairs, sample_weight=weights[candidates])
    assert found[7] == pytest.approx(average + 40 * (heavier - average) / 1e-4, rel=1e-4)


def test_thresholds_are_held_against_difficulty_by_the_scores_of_another_variant(folder):
    """The row itself is the reference here: where it scores a label of an image high, the image is easy."""
    variants = ["tiny/images/lsep", "tiny/images/lsep/class_threshold"]
    found = analysed(folder, "thresholds_and_difficulty", *variants, features="features.npy")
    assert set(found["reference"]) <= {"lsep"}
    assert set(found["form"]) <= {"raw", "minus_mean", "minus_log_sum", "minus_largest"}
    processed = folder / "processed" / "tiny"
    dataset = AnalysedDataset(processed, {"tiny/images/lsep": [processed / "features.npy"]}, has_siblings=False)
    case = AnalysedCase(Case(Task("tiny", "images"), "lsep", 1), "", folder / "results", dataset)
    assert difficulties(case).select("image", "label").equals(read(folder, "ranks").select("image", "label"))
    before, shift = levels(case), np.float32(3.0)
    vars(case)["scores"] = case.scores + shift
    after = levels(case)
    for form in ("minus_mean", "minus_log_sum", "minus_largest"):
        np.testing.assert_allclose(after[form] - before[form], shift, atol=1e-5)
