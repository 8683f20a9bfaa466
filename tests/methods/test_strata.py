"""Epochs in parts: each positive in one stratum, the same bytes on any number of threads, and as good as without."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import matrix_of
from tests.methods.problems import (
    N_IMAGES,
    N_LABELS,
    fit,
    group_of,
    planted_labels,
    problem_from,
)
from vsebench.core.errors import UserError
from vsebench.core.workers import workers
from vsebench.data.problem import LabelMatrix
from vsebench.kernels.products import Embedding
from vsebench.methods.by_labels.strata import Strata

IN_PARTS = ["opt_auc", "vse_ens"]


@st.composite
def counted_labels(draw):
    """Draw a label matrix whose labels occur several times on an image, and a number of parts that it allows."""
    n_parts = draw(st.integers(2, 4))
    n_images, n_labels = draw(st.integers(n_parts, 12)), draw(st.integers(2 * n_parts, 15))
    rows = draw(st.lists(st.sets(st.integers(0, n_labels - 1), max_size=6), min_size=n_images, max_size=n_images))
    matrix = matrix_of([sorted(row) for row in rows], n_labels)
    counts = draw(st.lists(st.integers(1, 3), min_size=matrix.n_pairs, max_size=matrix.n_pairs))
    return LabelMatrix(n_labels, matrix.offsets, matrix.label_of_pair, np.array(counts, dtype=np.int32)), n_parts


def strata_of(matrix, n_parts):
    with workers(1) as pool:
        return Strata(problem_from(matrix, pool), n_parts)


@given(counted_labels())
def test_each_positive_is_in_the_stratum_of_its_image_and_its_label(problem):
    matrix, n_parts = problem
    strata = strata_of(matrix, n_parts)
    for _ in range(3):
        order = strata.draw_order()
        assert sorted(order) == list(range(matrix.n_labels))
        found = []
        for b, (positives, ends) in enumerate(strata.divide(order)):
            of_part = order[strata.label_bounds[b] : strata.label_bounds[b + 1]]
            assert len(of_part) >= 2
            for a in range(n_parts):
                for image, label, start, stop in positives.pairs[ends[a] : ends[a + 1]].tolist():
                    assert strata.bounds[a] <= image < strata.bounds[a + 1]
                    found.append((image, int(of_part[label])))
                    known = of_part[positives.row_labels[start:stop]]
                    assert sorted(known) == sorted(set(matrix.rows(np.array([image])).label_of_pair) & set(of_part))
        repeated = np.repeat(np.stack([matrix.image_of_pair, matrix.label_of_pair], 1), matrix.count_of_pair, axis=0)
        assert sorted(found) == sorted(map(tuple, repeated.tolist()))


def test_image_parts_have_about_the_same_number_of_positives():
    strata = strata_of(matrix_of([[0, 1, 2, 3]] * 30 + [[0]] * 120, 8), 3)
    assert strata.bounds.tolist() == [0, 20, 70, 150]


def test_label_parts_are_balanced_and_differ_between_epochs():
    strata = strata_of(matrix_of([list(range(min(40, 400 // (i + 1)))) for i in range(400)], 40), 2)
    together = np.zeros((40, 40), dtype=bool)
    for _ in range(100):
        order = strata.draw_order()
        part = np.isin(np.arange(40), order[: strata.label_bounds[1]])
        share = strata.frequencies[part].sum() / strata.frequencies.sum()
        assert 0.3 < share < 0.7
        together |= part[:, np.newaxis] == part
    assert together.all()  # so any two labels are compared in some epochs


def test_a_stratum_changes_its_own_vectors_only():
    matrix = planted_labels()
    strata = strata_of(matrix, 2)
    images, labels = np.zeros((N_IMAGES, 16), np.float32), np.arange(N_LABELS * 16, dtype=np.float32).reshape(-1, 16)
    seen = []

    def take_steps(embedding, pipeline, n_steps, streams):
        seen.append((n_steps, embedding.labels[:, 0].astype(int) // 16, set(pipeline.positives.pairs[:, 0].tolist())))
        embedding.labels[:] += 1
        return 2.0, 1.0

    assert strata.epoch(Embedding(images, labels), take_steps) == (2.0, 1.0)
    assert np.array_equal(labels, np.arange(N_LABELS * 16, dtype=np.float32).reshape(-1, 16) + 2)  # once with each part
    for first, second in ((0, 1), (2, 3)):  # those that run at the same time
        assert not set(seen[first][1]) & set(seen[second][1])
        assert not seen[first][2] & seen[second][2]


@pytest.mark.parametrize("name", IN_PARTS)
def test_the_bytes_do_not_depend_on_the_number_of_threads(name):
    found = set()
    for threads in (1, 2, 3):
        with workers(threads) as pool:
            model, reports = fit(name, problem_from(planted_labels(), pool), epochs=5, parts=3)
        found.add((model.image.tobytes(), model.label.tobytes(), tuple(report.loss for report in reports)))
    assert len(found) == 1


@pytest.mark.parametrize("name", IN_PARTS)
@pytest.mark.parametrize("parts", [2, 4])
def test_parts_learn_the_planted_groups(name, parts):
    with workers(2) as pool:
        model, reports = fit(name, problem_from(planted_labels(), pool), epochs=60, parts=parts)
        alone, _ = fit(name, problem_from(planted_labels(), pool), epochs=60)
    shares = [np.mean(own_group(each.image @ each.label.T)) for each in (model, alone)]
    assert shares[0] > 0.95
    assert shares[0] > shares[1] - 0.04
    assert reports[-1].loss < reports[0].loss


def own_group(scores):
    """Return, for each image, the share of its best eight labels that are its group's."""
    best = np.argsort(-scores, axis=1)[:, :8]
    return (best // 8 == np.array([group_of(i) for i in range(len(scores))])[:, np.newaxis]).mean(axis=1)


def test_too_many_parts_are_one_line():
    with workers(1) as pool, pytest.raises(UserError, match="parts: 32 labels and 400 images are too few for 17 parts"):
        fit("opt_auc", problem_from(planted_labels(), pool), parts=17)
