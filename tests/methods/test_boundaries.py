"""Arrays that do not fit together are refused before a kernel reads them: numba does not check bounds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import matrix_of
from tests.methods.problems import PACKAGES, PROBLEMS, fitted_once, method_of, names_of_methods
from vsebench.core.errors import UserError
from vsebench.data.features import Features
from vsebench.data.needs import GIVEN_LABELS
from vsebench.data.problem import Problem, Queries, Training, WordVectors
from vsebench.models import checked_scores


def one_of_each_kind(where):
    """Return a method for each kind of model that methods have on a problem, by the kind."""
    methods = {}
    for name in names_of_methods():
        if name not in PACKAGES and method_of(name).obstacle(PROBLEMS[where]) is None:
            methods.setdefault(fitted_once(name, where)[0].kind, name)
    return methods


SPOILS = {
    "fewer rows": lambda array, n: array[n:],
    "fewer rows at the end": lambda array, n: array[:-n],
    "more rows": lambda array, n: np.concatenate([array, array[:n]]),
    "fewer columns": lambda array, n: array[..., :-n],
    "turned": lambda array, _: array.T,
    "rows of another length": lambda array, _: array.reshape(-1)[: len(array)],
    "one more axis": lambda array, _: array[np.newaxis],
    "every second": lambda array, _: array[::2],
    "column by column": lambda array, _: np.asfortranarray(array),
    "wide numbers": lambda array, _: array.astype(np.float64 if array.dtype.kind == "f" else np.int64),
    "narrow numbers": lambda array, _: array.astype(np.float16 if array.dtype.kind == "f" else np.int8),
    "large": lambda array, n: array + array.dtype.type(100 * n),
    "negative": lambda array, n: -array - array.dtype.type(n),
    "nothing": lambda array, _: array[:0],
}


@pytest.mark.hypothesis  # `make test-long` tries more examples
@pytest.mark.parametrize("where", PROBLEMS)
def test_spoilt_arrays_of_a_model_are_refused_or_give_scores_of_the_right_shape(where):
    for name in one_of_each_kind(where).values():
        model, queries = fitted_once(name, where)
        check_spoilt_arrays(model, ends_of(queries, 5))  # some models take long for each image


def check_spoilt_arrays(model, queries):
    """Spoil arrays: a model that reads outside of them crashes, or its scores depend on the numbers behind them."""
    arrays = {name: np.asarray(array) for name, array in model.arrays().items()}
    numeric = sorted(name for name, array in arrays.items() if array.ndim and array.dtype.kind in "fiu" and array.size)

    @given(name=st.sampled_from(numeric), spoil=st.sampled_from(sorted(SPOILS)), number=st.integers(1, 3))
    def check(name, spoil, number):
        spoilt = SPOILS[spoil](arrays[name], number)
        scores = []
        for behind in (0, 3):
            try:
                loaded = type(model).from_arrays(arrays | {name: before_other_numbers(spoilt, behind)})
                scores.append(checked_scores(loaded, queries))
            except (ValueError, UserError):
                return
            assert scores[-1].shape == (len(queries.images), loaded.n_labels), (model.kind, name, spoil)
        assert np.array_equal(*scores, equal_nan=True), (model.kind, name, spoil)

    check()


def ends_of(queries, n):
    """Return the first and the last `n` images."""
    ends = np.r_[:n, len(queries.images) - n : len(queries.images)].astype(np.int32)
    features = None if queries.features is None else queries.features[ends]
    return Queries(queries.images[ends], queries.known.rows(ends), features)


def before_other_numbers(array, behind):
    """Return a contiguous array as the start of a longer array, which continues with a number."""
    if not array.flags.c_contiguous:
        return array
    longer = np.concatenate([array.reshape(-1), np.full(10000, behind, dtype=array.dtype)])
    return longer[: array.size].reshape(array.shape)


LABELS = Training.all_of(matrix_of([[0], [1, 2], []], 3))
VECTORS = np.ones((5, 2), dtype=np.float32)


@given(n=st.integers(0, 5))
def test_a_problem_has_a_row_of_features_for_each_image_and_a_word_for_each_label(n):
    known = np.ones(n, dtype=bool)
    parts = {"features": Features(VECTORS[:n], known), "word_vectors": WordVectors(VECTORS[:n], known)}
    counted = {"features": "images", "word_vectors": "labels"}
    for name, part in parts.items():
        if n == 3:
            Problem(LABELS, 1, None, **{name: part})
        else:
            with pytest.raises(ValueError, match=f"{name}: {n} rows, but 3 {counted[name]}"):
                Problem(LABELS, 1, None, **{name: part})


@given(n=st.integers(0, 5))
def test_given_labels_have_a_row_for_each_image(n):
    problem = Problem(LABELS, 1, None, extras={"given_labels": matrix_of([[0]] * n, 3)})
    if n == 3:
        GIVEN_LABELS.of(problem)
    else:
        with pytest.raises(ValueError, match=f"given_labels: {n} rows, but 3 images"):
            GIVEN_LABELS.of(problem)
