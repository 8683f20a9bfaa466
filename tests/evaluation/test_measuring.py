"""Metrics of whole models: means over images and labels, label sets, and their bootstrap samples."""

import numpy as np
import polars as pl
import pytest
from sklearn import metrics as sklearn_metrics

from tests.builders import Given, held_out_of
from vsebench.core.schemas import METRICS, RANKS, SIBLINGS
from vsebench.core.tasks import Entry, Task
from vsebench.core.workers import workers
from vsebench.evaluation.measuring import Ranked, measure, values_of_cold
from vsebench.evaluation.metrics import mean_metric
from vsebench.evaluation.ranking import list_tops, rank, rank_images
from vsebench.evaluation.summary import metrics_table

N_LABELS = 8
OF_SETS = {
    "macro_f1": "macro", "micro_f1": "micro", "pc_precision": "macro", "pc_recall": "macro", "ov_precision": "micro",
    "ov_recall": "micro",
}  # fmt: skip
NAMES = ["macro_f1@3", "recall@5", "label_map", "map", "micro_f1@3", "auc"]  # the three kinds, mixed


def ranked(scores, right, label_ranks=True, **changes):
    held_out = held_out_of([np.flatnonzero(row).tolist() for row in right], scores.shape[1], **changes)
    with workers(1) as pool:
        arguments = (Given(scores), held_out, None, pool)
        return Ranked(rank(*arguments, "test"), list_tops(*arguments), rank_images(*arguments) if label_ranks else None)


@pytest.fixture(scope="module")
def data():
    """Scores without ties of sixty images, and their labels; some images and one label have none."""
    rng = np.random.default_rng(4)
    right = rng.random((60, N_LABELS)) < 0.3
    right[:, 6] = False
    right[7] = False
    return rng.permuted(np.tile(np.arange(N_LABELS, dtype=float), (60, 1)), axis=1) + 0.5 * right, right


def test_values_stand_in_the_order_of_the_names(data):
    model = ranked(*data)
    (found,) = measure([model], NAMES, N_LABELS, 100)
    (again,) = measure([model], NAMES[::-1], N_LABELS, 100)
    assert np.array_equal(found.values, again.values[::-1])
    np.testing.assert_allclose(found.samples, again.samples[:, ::-1])
    assert found.samples.shape == (100, len(NAMES))
    assert found.values[NAMES.index("map")] == pytest.approx(mean_metric(model.ranks, "map"))
    assert found.values[NAMES.index("recall@5")] == pytest.approx(mean_metric(model.ranks, "recall@5"))


SEEN = ["seen_recall@3", "unseen_recall@3", "harmonic_recall@3"]


def test_recall_of_seen_and_of_unseen_labels_and_their_harmonic_mean(data):
    scores, right = data
    learnt = np.arange(N_LABELS) % 3 != 1
    hits = right & (np.argsort(np.argsort(-scores, axis=1), axis=1) < 3)
    of_groups = []
    for group in (learnt, ~learnt):
        has = right[:, group].any(axis=1)
        of_groups.append((hits[:, group].sum(axis=1)[has] / right[:, group].sum(axis=1)[has]).mean())
    seen, unseen = of_groups
    (found,) = measure([ranked(*data)], SEEN, N_LABELS, 100, learnt=learnt)
    assert found.values.tolist() == pytest.approx([seen, unseen, 2 * seen * unseen / (seen + unseen)])
    s, u, h = found.samples.T
    np.testing.assert_allclose(h, 2 * s * u / (s + u))
    assert (np.std(s), np.std(u)) > (0, 0)


@pytest.mark.parametrize("learnt", [np.full(N_LABELS, True), np.full(N_LABELS, False), None])
def test_only_seen_or_only_unseen_labels_have_none_of_these_metrics(data, learnt):
    (found,) = measure([ranked(*data)], [*SEEN, "recall@3"], N_LABELS, 100, learnt=learnt)
    assert np.isnan(found.values).tolist() == [True, True, True, False]
    assert np.isnan(found.samples).all(axis=0).tolist() == [True, True, True, False]


def test_the_harmonic_mean_is_0_where_nothing_is_found():
    scores, right = np.array([[1.0, 1, 5, 6]]), np.array([[True, True, False, False]])
    (found,) = measure([ranked(scores, right)], ["harmonic_recall@2"], 4, 100, learnt=np.arange(4) % 2 == 0)
    assert found.values.tolist() == [0]


def test_numbers_of_units(data):
    (found,) = measure([ranked(*data)], NAMES, N_LABELS, 100)
    n = dict(zip(NAMES, found.n.tolist(), strict=True))
    with_label = int(data[1].any(axis=1).sum())
    assert n == dict.fromkeys(NAMES, with_label) | {"label_map": 7}


def test_a_mean_over_labels_is_over_the_candidates(data):
    scores, right = data
    asked = [0, 3, 4, 6, 7]
    some = ranked(scores, right & np.isin(np.arange(N_LABELS), asked), candidates=asked)
    alone = ranked(scores[:, asked], right[:, asked])
    names = ["macro_f1@2", "pc_recall@2", "micro_f1@2", "macro_f1_of_present@2"]
    (found,), (expected,) = (measure([model], names, len(asked), 20) for model in (some, alone))
    assert found.values.tolist() == pytest.approx(expected.values.tolist())


@pytest.mark.parametrize("k", [1, 3, 5])
def test_metrics_of_sets_agree_with_scikit_learn(data, k):
    scores, right = (array[data[1].any(axis=1)] for array in data)
    predicted = np.zeros_like(right)
    np.put_along_axis(predicted, np.argsort(-scores, axis=1)[:, :k], True, axis=1)
    (found,) = measure([ranked(*data)], [f"{name}@{k}" for name in OF_SETS], N_LABELS, 100)
    for value, (name, average) in zip(found.values, OF_SETS.items(), strict=True):
        function = getattr(sklearn_metrics, f"{name.split('_')[1]}_score")
        assert value == pytest.approx(function(right, predicted, average=average, zero_division=0)), name


def test_n_plus_counts_the_labels_that_some_image_gets_rightly():
    right = np.array([[True, False, True], [True, True, False]])
    scores = np.array([[3, 2, 1], [3, 1, 2]], dtype=np.float32)
    (found,) = measure([ranked(scores, right)], ["n_plus@1", "n_plus@3"], 3, 10)
    assert found.values.tolist() == [1, 3]


def test_the_f1_of_means_is_that_of_per_class_precision_and_recall(data):
    names = ["pc_precision@3", "pc_recall@3", "macro_f1_of_means@3", "macro_f1@3"]
    (found,) = measure([ranked(*data)], names, N_LABELS, 10)
    precision, recall, of_means, macro = found.values
    assert of_means == pytest.approx(2 * precision * recall / (precision + recall))
    assert macro < of_means


def test_images_that_score_the_same_stand_behind_those_without_the_label():
    """Five images score the same, two of them with the label: ranks 4 and 5, precision 1/4 and 2/5."""
    right = np.array([[True], [False], [True], [False], [False]])
    (found,) = measure([ranked(np.ones((5, 1)), right)], ["label_map"], 1, 10)
    assert found.values[0] == pytest.approx((1 / 4 + 2 / 5) / 2)


def test_resamples_of_sets_count_their_images_anew(data):
    """A bootstrap value of micro F1 is that of the drawn images, of those with a label."""
    (found,) = measure([ranked(*data)], ["micro_f1@3"], N_LABELS, 50)
    scores, right = (array[data[1].any(axis=1)] for array in data)
    n = len(right)
    rng = np.random.Generator(np.random.PCG64([95, n]))
    predicted = np.zeros_like(right)
    np.put_along_axis(predicted, np.argsort(-scores, axis=1)[:, :3], True, axis=1)
    for sample in found.samples[:, 0]:
        drawn = rng.integers(0, n, n)
        assert sample == pytest.approx(sklearn_metrics.f1_score(right[drawn], predicted[drawn], average="micro"))


def test_models_are_compared_on_the_same_resamples(data):
    scores, right = data
    twins = [ranked(scores, right), ranked(2 * scores, right)]
    one, other = measure(twins, NAMES, N_LABELS, 50)
    assert np.array_equal(one.samples, other.samples)


@pytest.mark.parametrize(("name", "label_ranks"), [("label_map", False), ("sibling_precision@5", True)])
def test_a_metric_without_ranks_of_images_or_without_siblings_is_left_out(data, name, label_ranks):
    (found,) = measure([ranked(*data, label_ranks=label_ranks)], ["map", name], N_LABELS, 50)
    assert np.isnan(found.values).tolist() == [False, True]
    table = metrics_table(Task("d", "distinct"), {Entry("row"): {1: found}}, ["map", name])
    assert table["metric"].to_list() == ["map"]


def test_an_image_without_candidates_has_an_empty_list_and_predicted_set():
    """It carries every label already, and its held-out one is a miss."""
    right = np.array([[True, False], [True, False]])
    model = ranked(np.array([[1.0, 2.0], [2.0, 1.0]]), right, known=[[0, 1], []])
    (found,) = measure([model], ["micro_f1@1", "sibling_precision@1"], 2, 10, sibling_table([(0, 1)]))
    assert found.values == pytest.approx([2 * 1 / (1 + 2), 0.5])
    assert found.n.tolist() == [2, 2]


def test_table_has_one_row_per_metric_with_its_interval(data):
    b, a = measure([ranked(*data)] * 2, NAMES, N_LABELS, 200)
    table = metrics_table(Task("d", "official"), {Entry("b"): {1: b, 2: b}, Entry("a"): {1: a, 2: a}}, NAMES)
    assert table.schema == pl.Schema(METRICS)
    assert table.select("method", "seed").unique(maintain_order=True).rows() == [("b", 1), ("b", 2), ("a", 1), ("a", 2)]
    assert table.filter(method="a", seed=2)["metric"].to_list() == NAMES
    assert (table["ci_low"] <= table["value"]).all()
    assert (table["value"] <= table["ci_high"]).all()


SIBLING_METRICS = ["sibling_precision@1", "sibling_precision@2", "sibling_precision@3"]


def sibling_table(pairs):
    both = sorted({*pairs, *((b, a) for a, b in pairs)})
    return pl.DataFrame(both, schema=SIBLINGS, orient="row")


def test_sibling_precision_as_worked_by_hand():
    """Labels A and B are siblings, C is alone; the list is B, C, A, and A is right."""
    model = ranked(np.array([[1.0, 3.0, 2.0]]), np.array([[True, False, False]]))
    names = [*SIBLING_METRICS, "precision@1", "precision@2", "precision@3", "map"]
    (found,) = measure([model], names, 3, 100, sibling_table([(0, 1)]))
    assert found.values == pytest.approx([1, 1 / 2, 2 / 3, 0, 0, 1 / 3, 1 / 3])


def test_a_label_without_siblings_has_the_precision_of_the_label(data):
    names = ["precision@5", "sibling_precision@5"]
    (found,) = measure([ranked(*data)], names, N_LABELS, 100, sibling_table([]))
    assert found.values[0] == found.values[1]
    np.testing.assert_array_equal(found.samples[:, 0], found.samples[:, 1])


@pytest.mark.parametrize("k", [1, 4, 10])
@pytest.mark.parametrize("seed", range(3))
def test_sibling_precision_agrees_with_a_loop_over_the_lists(k, seed):
    """Parents overlap, so siblings of siblings need not be siblings; scores have ties; images have 0 to 4 labels."""
    rng = np.random.default_rng(seed)
    n_labels = 14
    parents = [set(rng.choice(8, rng.integers(0, 3), replace=False).tolist()) for _ in range(n_labels)]
    related = [[i == j or bool(parents[i] & parents[j]) for j in range(n_labels)] for i in range(n_labels)]
    pairs = [(i, j) for i in range(n_labels) for j in range(i) if related[i][j]]
    scores, right = rng.integers(0, 4, (30, n_labels)).astype(float), rng.random((30, n_labels)) < 0.15
    expected = []
    for row, held_out in zip(scores, right, strict=True):
        positives = np.flatnonzero(held_out)
        if len(positives) == 0:
            continue
        order = sorted(range(n_labels), key=lambda label: (-row[label], held_out[label], label))
        hits = sum(any(related[label][y] for y in positives) for label in order[:k])
        expected.append(hits / k)
    (found,) = measure([ranked(scores, right)], [f"sibling_precision@{k}"], n_labels, 100, sibling_table(pairs))
    assert found.values == pytest.approx([np.mean(expected)])
    assert found.n.tolist() == [len(expected)]


def test_cold_images_and_the_others_have_their_own_means():
    lines = [(0, 1, 0, 0, 1, 9, False), (1, 1, 0, 0, 1, 9, True), (2, 1, 5, 0, 1, 9, True), (2, 2, 0, 0, 1, 9, True)]
    found = values_of_cold(pl.DataFrame(lines, schema=RANKS, orient="row"), ["recall@1"])
    values = {images: (value, n) for _, images, value, n in found.iter_rows()}
    assert values == {"all": (pytest.approx(2.5 / 3), 3), "cold": (0.75, 2), "others": (1.0, 1)}


def test_a_group_of_images_without_members_has_no_line():
    ranks = pl.DataFrame([(0, 1, 0, 0, 1, 9, False)], schema=RANKS, orient="row")
    assert values_of_cold(ranks, ["map"])["images"].to_list() == ["all", "others"]
