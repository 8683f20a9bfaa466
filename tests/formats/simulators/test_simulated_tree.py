"""The simulated tree of labels, and the oracles that know it."""

import re
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from tests.builders import rows_of
from vsebench.core.errors import UserError
from vsebench.core.workers import workers
from vsebench.core.yaml_files import check
from vsebench.data.problem import Dataset, LabelMatrix, Problem, Queries
from vsebench.evaluation.measuring import Ranked, measure
from vsebench.evaluation.ranking import list_tops, rank
from vsebench.formats.parents import label_paths
from vsebench.formats.simulators.simulated_tree import BLOCK, Options, Tree, read
from vsebench.methods.base import load_method, read_settings
from vsebench.methods.controls.tree_posterior import TreePosterior
from vsebench.protocols.images import Official
from vsebench.stages.siblings import pair_up

SMALL = {
    "images": 2800,
    "labels": 23,
    "children": 5,
    "parents": 2,
    "terms": 150,
    "terms_per_node": 12,
    "views": 2,
    "shares": {"background": 0.6, "top": 0.1, "parent": 0.12, "label": 0.1, "view": 0.08},
    "length": 40.0,
    "confusion": 0.1,
    "parts": {"train": 25, "valid": 1, "test": 2},
    "features": "sparse",
}


def options(**changes):
    return check(Options, SMALL | changes, "tree")


def draw(**changes):
    return read(Path(), options(**changes))


@pytest.fixture(scope="module")
def drawn():
    return draw()


def test_every_image_has_one_label_a_part_and_terms(drawn):
    assert drawn.pairs["image"].to_list() == list(range(2800))
    assert drawn.pairs["count"].to_list() == [1] * 2800
    assert drawn.parts.value_counts().sort("part").rows() == [("test", 200), ("train", 2500), ("valid", 100)]
    assert drawn.parts[:28].to_list() == ["train"] * 25 + ["valid"] + ["test"] * 2
    counts = drawn.features.values
    assert counts.sum(axis=1).min() >= 1
    assert counts.sum(axis=1).mean() == pytest.approx(40, rel=0.02)


def test_a_larger_set_begins_with_the_images_of_a_smaller_one(drawn):
    other = draw(scale=0.3)  # ends within a block
    n = len(other.images)
    assert n == 840 < BLOCK
    assert other.images.equals(drawn.images[:n])
    assert other.parts.equals(drawn.parts[:n])
    assert other.pairs.equals(drawn.pairs[:n])
    assert (other.features.values != drawn.features.values[:n]).nnz == 0
    assert all(other.truth[name].tobytes() == array.tobytes() for name, array in drawn.truth.items())


def test_same_seed_same_data_new_seed_other_data(drawn):
    again, other = draw(), draw(seed=2)
    assert again.features.values.data.tobytes() == drawn.features.values.data.tobytes()
    assert again.pairs.equals(drawn.pairs)
    assert not other.pairs.equals(drawn.pairs)


def test_names_are_paths_and_labels_of_a_parent_are_siblings(drawn):
    assert drawn.labels[0] == "0/0/00"
    assert drawn.labels[22] == "2/4/22"
    siblings = pair_up(label_paths.read_parents(Path(), label_paths.Options(), drawn.labels))
    expected = [(i, j) for i in range(23) for j in range(23) if i != j and i // 5 == j // 5]
    assert siblings.rows() == expected


def distributions(tree):
    """Return p_ur of every view, (views, terms), with loops."""
    background, _, terms, weights = tree.drawn
    shares, setting = tree.options.shares.values(), tree.options
    n_tops, n_parents = tree.sizes[:2]
    found = []
    for label in range(setting.labels):
        parent = label // setting.children
        for view in range(setting.views):
            p = shares[0] * background
            nodes = [parent // setting.parents, n_tops + parent, n_tops + n_parents + label]
            nodes.append(n_tops + n_parents + setting.labels + label * setting.views + view)
            for share, node in zip(shares[1:], nodes, strict=True):
                for term, weight in zip(terms[node], weights[node], strict=True):
                    p[term] += share * weight
            found.append(p)
    return np.array(found)


def test_terms_are_drawn_from_the_distribution_of_the_view():
    tree = Tree(options())
    expected = distributions(tree)
    assert np.allclose(expected.sum(axis=1), 1)
    for view in (0, 17, 45):
        terms = tree.draw_terms(np.full(40_000, view), np.random.default_rng(view))
        assert stats.chisquare(np.bincount(terms, minlength=150), expected[view] * 40_000).pvalue > 1e-4


def test_a_label_is_confused_with_its_siblings_alone():
    tree = Tree(options(confusion=0.4))
    true = np.repeat(np.arange(23), 2000)
    given = tree.confuse(true, np.random.default_rng(1))
    assert (given // 5 == true // 5).all()
    assert (given != true).mean() == pytest.approx(0.4, abs=0.01)
    wrong = np.bincount(given[(true == 21) & (given != 21)], minlength=23)
    assert np.flatnonzero(wrong).tolist() == [20, 22]
    assert stats.chisquare(wrong[[20, 22]]).pvalue > 1e-4


def test_a_label_alone_under_its_parent_is_never_confused():
    tree = Tree(options(labels=21, confusion=0.5))
    assert (tree.confuse(np.full(500, 20), np.random.default_rng(1)) == 20).all()


def test_the_posterior_is_that_of_a_direct_computation():
    tree = Tree(options(exponent=0.7))
    counts, _ = tree.draw(0)
    counts = counts[:50]
    model = TreePosterior.from_arrays(tree.truth())
    joint = counts @ np.log(distributions(tree)).T
    joint = np.logaddexp(joint[:, ::2], joint[:, 1::2]) + tree.drawn[1]
    expected = joint - np.logaddexp.reduce(joint, axis=1)[:, None]
    assert np.exp(tree.drawn[1]).sum() == pytest.approx(1)
    np.testing.assert_allclose(model.log_posterior(counts), expected, rtol=1e-9, atol=1e-9)
    posterior, given = np.exp(expected), np.empty((50, 23))
    for label in range(23):
        others = [other for other in range(23) if other // 5 == label // 5 and other != label]
        given[:, label] = 0.9 * posterior[:, label] + 0.1 / len(others) * posterior[:, others].sum(axis=1)
    queries = Queries(np.arange(50, dtype=np.int32), LabelMatrix.empty(50, 23), counts)
    assert np.array_equal(np.argsort(model.scores(queries), axis=1), np.argsort(given, axis=1))


def test_labels_that_a_filter_keeps_are_scored_as_before(drawn):
    kept = {**drawn.truth, "label": drawn.truth["label"][[3, 7, 20]]}
    queries = Queries(np.arange(9, dtype=np.int32), LabelMatrix.empty(9, 23), drawn.features.values[:9])
    few = TreePosterior.from_arrays(kept).scores(queries)
    assert np.array_equal(few, TreePosterior.from_arrays(drawn.truth).scores(queries)[:, [3, 7, 20]])


NAMES = ["precision@1", "map", "sibling_precision@3", "sibling_precision@5"]


@pytest.fixture(scope="module")
def measured(drawn):
    """Return the test metrics of the oracles and of ridge regression, and the test images' true probabilities."""
    labels = LabelMatrix.from_pairs(drawn.pairs, 2800, 23)
    data = Dataset(labels, drawn.parts.to_numpy().astype(np.str_), drawn.features.known)
    split = Official().split(data, np.random.default_rng(0))
    siblings = pair_up(label_paths.read_parents(Path(), label_paths.Options(), drawn.labels))
    rows = {"oracle": {}, "group_oracle": {}, "ridge": {"regularisation": 3.0, "normalise": ["root", "idf", "l2"]}}
    found = []
    with workers(1) as pool:
        for name, settings in rows.items():
            method = load_method(name)
            problem = Problem(split.final, 1, pool, drawn.features, extras={"truth": drawn.truth})
            model = method(problem, read_settings(method, settings, name)).model()
            ranks = rank(model, split.test, drawn.features, pool, name)
            found.append(Ranked(ranks, list_tops(model, split.test, drawn.features, pool)))
    values = [model.values for model in measure(found, NAMES, 23, 100, siblings)]
    return dict(zip(rows, values, strict=True)), split


def test_no_method_finds_the_label_as_well_as_the_oracle(measured):
    values, _ = measured
    assert values["oracle"][0] > values["ridge"][0] + 0.02
    assert values["oracle"][1] > values["ridge"][1] + 0.02
    assert values["ridge"][0] > 5 / 23


def test_the_group_oracle_finds_more_siblings(measured):
    values, _ = measured
    assert (values["group_oracle"][2:] >= values["oracle"][2:]).all()
    assert values["group_oracle"][3] > values["ridge"][3]
    assert values["oracle"][0] >= values["group_oracle"][0]


def test_the_oracle_is_right_as_often_as_it_says(measured, drawn):
    values, split = measured
    model = TreePosterior.from_arrays(drawn.truth)
    log_own = model.log_posterior(drawn.features.rows(split.test.images))
    own = np.exp(log_own)
    group = np.add.reduceat(own, np.arange(0, 23, 5), axis=1)
    sizes = np.array([5, 5, 5, 5, 3])
    given = model.given(own, np.repeat(group, sizes, axis=1), np.repeat(sizes, sizes))
    assert given.sum(axis=1) == pytest.approx(1)
    best = given.max(axis=1)
    error = np.sqrt((best * (1 - best)).sum()) / len(best)
    assert abs(values["oracle"][0] - best.mean()) < 4 * error
    assert len(rows_of(split.test.right)) == 200


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"shares": SMALL["shares"] | {"view": 0.2}}, "tree: shares: the shares must add up to 1"),
        ({"terms_per_node": 151}, "terms_per_node: must not be larger than `terms`"),
        ({"confusion": 0.6}, "tree: confusion: "),
        ({"features": "dense"}, "tree: features: "),
    ],
)
def test_a_wrong_option_is_named(changes, message):
    with pytest.raises(UserError, match=re.escape(message)):
        options(**changes)
