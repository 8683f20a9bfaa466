"""Ranks and lists against a slow twin, for every kind of model and of held-out labels."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import Given, dense, held_out_of, ranks_of
from vsebench.core.errors import UserError
from vsebench.core.schemas import LABEL_RANKS, LISTS, RANKS
from vsebench.core.workers import workers
from vsebench.data.features import Features
from vsebench.data.problem import Queries
from vsebench.evaluation import ranking
from vsebench.evaluation.ranking import list_tops, rank, rank_images
from vsebench.models import Embeddings, LabelWeights


def slow_ranks(scores, held_out):
    """Compare every held-out label with every negative, one at a time."""
    lines = []
    right, known = dense(held_out.right), dense(held_out.known)
    for row, image in enumerate(held_out.images):
        candidate = held_out.candidates & ~known[row]
        negatives = [label for label in range(len(candidate)) if candidate[label] and not right[row, label]]
        for label in np.flatnonzero(right[row]):
            own = scores[row, label]
            counts = (
                sum(scores[row, other] > own for other in negatives),
                sum(scores[row, other] == own for other in negatives),
                sum(scores[row, other] >= own for other in np.flatnonzero(right[row] & candidate)),
            )
            cold = bool(known.any()) and not known[row].any()
            numbers = (image, label, *(counts if candidate[label] else (None,) * 3), len(negatives))
            lines.append([*map(to_int, numbers), cold])
    return pl.DataFrame(lines, schema=RANKS, orient="row")


def slow_lists(scores, held_out):
    """Sort by score, then wrong before right, then by number."""
    lines = []
    right, known = dense(held_out.right), dense(held_out.known)
    for row, image in enumerate(held_out.images):
        labels = np.flatnonzero(held_out.candidates & ~known[row])
        order = sorted(labels, key=lambda label: (-scores[row, label], right[row, label], label))
        lines += [(to_int(image), index, to_int(label)) for index, label in enumerate(order[:10], 1)]
    return pl.DataFrame(lines, schema=LISTS, orient="row")


def slow_label_ranks(scores, held_out):
    lines = []
    right = dense(held_out.right)
    for label in np.flatnonzero(held_out.candidates):
        column = scores[:, label]
        own, others = column[right[:, label]], column[~right[:, label]]
        for image, score in zip(held_out.images[right[:, label]], own, strict=True):
            counts = (others > score).sum(), (others == score).sum(), (own >= score).sum(), len(others)
            lines.append([*map(to_int, (label, image, *counts))])
    return pl.DataFrame(lines, schema=LABEL_RANKS, orient="row")


def to_int(number):
    return None if number is None else int(number)


@st.composite
def problems(draw, single=False):
    """Draw whole-number scores with many ties, and held-out, known and candidate labels, some of them both."""
    n_images, n_labels = draw(st.integers(1, 12)), draw(st.integers(1, 16))
    rng = np.random.default_rng(draw(st.integers(0, 2**31)))
    largest = draw(st.sampled_from([0, 2, 1000]))
    scores = rng.integers(-largest, largest + 1, (n_images, n_labels)).astype(np.float32)
    if single:
        right = [[int(rng.integers(n_labels))] if rng.random() < 0.8 else [] for _ in range(n_images)]
        candidates = None
    else:
        right = [np.flatnonzero(row).tolist() for row in rng.random((n_images, n_labels)) < draw(st.floats(0, 1))]
        candidates = draw(st.sampled_from([None, np.flatnonzero(rng.random(n_labels) < 0.7)]))
    known = [np.flatnonzero(row).tolist() for row in rng.random((n_images, n_labels)) < draw(st.sampled_from([0, 0.3]))]
    images = np.sort(rng.choice(3 * n_images, n_images, replace=False))
    return scores, held_out_of(right, n_labels, known=known, images=images, candidates=candidates)


def table_of(scores, held_out):
    """Return a row of scores for each image of the data set; images that are not tested score NaN-free nonsense."""
    table = np.full((held_out.images[-1] + 1, scores.shape[1]), 7, dtype=np.float32)
    table[held_out.images] = scores
    return table


def ranked(model, held_out, *for_cold, features=None):
    with workers(1) as pool:
        return rank(model, held_out, features, pool, "test", *for_cold)


@given(problems())
def test_ranks_lists_and_ranks_of_images_are_those_of_the_slow_twins(problem):
    scores, held_out = problem
    with workers(1) as pool:
        arguments = (Given(table_of(scores, held_out)), held_out, None, pool)
        found = rank(*arguments, "test")
        assert found.schema == pl.Schema(RANKS)
        assert found.equals(slow_ranks(scores, held_out))
        assert list_tops(*arguments).equals(slow_lists(scores, held_out))  # of equal scores, wrong labels come first
        assert rank_images(*arguments).equals(slow_label_ranks(scores, held_out))


@pytest.mark.parametrize("pays", [True, False], ids=["rounded products", "all scores"])
@given(problem=problems(single=True))
def test_embedded_models_have_the_same_ranks_by_both_kernels(pays, problem):
    scores, held_out = problem
    n_labels = scores.shape[1]
    embeddings = Embeddings(table_of(scores, held_out), np.eye(n_labels, dtype=np.float32))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ranking, "ROUNDING_PAYS", pays)
        assert ranked(embeddings, held_out).equals(slow_ranks(scores, held_out))


def test_known_labels_give_the_scores_of_label_weights():
    rng = np.random.default_rng(3)
    weight = rng.integers(-3, 4, (9, 9)).astype(np.float32)
    known = [np.flatnonzero(row).tolist() for row in rng.random((30, 9)) < 0.3]
    right = [np.flatnonzero(row).tolist() for row in rng.random((30, 9)) < 0.3]
    held_out = held_out_of(right, 9, known=known)
    assert ranked(LabelWeights(weight), held_out).equals(slow_ranks(dense(held_out.known) @ weight, held_out))


@pytest.fixture(scope="module")
def many():
    """Six hundred images, so that there are several chunks; single and several held-out labels."""
    rng = np.random.default_rng(8)
    several = [sorted(rng.choice(40, size, replace=False).tolist()) for size in rng.integers(0, 4, 600)]
    return {
        "several": held_out_of(several, 40),
        "single": held_out_of([row[:1] for row in several], 40, known=[row[1:] for row in several]),
    }


@pytest.mark.parametrize("kind", ["several", "single"])
@pytest.mark.parametrize("threads", [2, 5])
def test_any_number_of_threads_gives_the_same(many, kind, threads):
    rng = np.random.default_rng(9)
    model = Embeddings(*(rng.standard_normal((n, 24), dtype=np.float32) for n in (600, 40)))

    def everything(threads):
        with workers(threads) as pool:
            arguments = (model, many[kind], None, pool)
            return [rank(*arguments, "test"), list_tops(*arguments), rank_images(*arguments)]

    alone, together = everything(1), everything(threads)
    assert all(one.equals(other) for one, other in zip(alone, together, strict=True))
    assert alone[0]["image"].is_sorted()


def test_a_model_reads_the_features_and_known_labels_of_the_images_that_it_scores():
    seen = []

    class Spy(Given):
        def scores(self, queries):
            seen.append(queries)
            return super().scores(queries)

    held_out = held_out_of([[0], [1]], 3, known=[[2], []], images=[1, 4])
    features = Features(np.arange(10, dtype=np.float32).reshape(5, 2), np.ones(5, dtype=bool))
    ranked(Spy(np.zeros((5, 3))), held_out, features=features)
    (queries,) = seen
    assert isinstance(queries, Queries)
    assert queries.images.tolist() == [1, 4]
    assert queries.features.tolist() == [[2, 3], [8, 9]]
    assert dense(queries.known).tolist() == [[False, False, True], [False, False, False]]


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf, 1e38])
def test_scores_that_are_not_finite_numbers_are_refused(number):
    image = np.ones((3, 2), dtype=np.float32)
    image[1, 0] = number
    model = Embeddings(image, np.ones((4, 2), dtype=np.float32))
    with pytest.raises(UserError, match="test: some of the model's scores are not finite"):
        ranked(model, held_out_of([[0]] * 3, 4))


def test_no_held_out_label_gives_an_empty_table():
    assert ranks_of(np.zeros((2, 3)), [[], []]).equals(pl.DataFrame(schema=RANKS))


COLD = held_out_of([[1], [2], [0]], 4, known=[[3], [], [1]])


def test_cold_images_are_ranked_by_the_other_model_and_marked():
    scores = np.array([[0, 1, 2, 3], [0, 1, 2, 3], [0, 1, 2, 3]], dtype=np.float32)
    found = ranked(Given(scores), COLD, Given(-scores))
    with workers(1) as pool:
        tops = list_tops(Given(scores), COLD, None, pool, Given(-scores))
    assert found["cold"].to_list() == [False, True, False]
    assert found["above"].to_list() == [1, 2, 2]  # of image 1: labels 0 and 1 score higher by the other model
    listed = tops.group_by("image", maintain_order=True).agg("label")["label"].to_list()
    assert listed == [[2, 1, 0], [0, 1, 2, 3], [3, 2, 0]]


@given(problems())
def test_each_image_has_the_ranks_of_its_model(problem):
    scores, held_out = problem
    table = table_of(scores, held_out)
    mixed = ranked(Given(table), held_out, Given(-table))
    own, other = (ranked(Given(values), held_out) for values in (table, -table))
    assert mixed.equals(pl.concat([own.filter(~pl.col("cold")), other.filter("cold")]).sort("image", "label"))
