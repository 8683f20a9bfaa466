"""Inputs at the limits, for each variant of each method: a fit ends well or in one line, never in a traceback."""

import numpy as np
import pytest
from scipy import sparse

import vsebench
from vsebench.core.errors import UserError
from vsebench.library import _check_needs, _variant

LABELS = sparse.csr_array((np.random.default_rng(0).random((40, 12)) < 0.25).astype(np.int32))
FEATURES = np.random.default_rng(1).random((40, 5)).astype(np.float32)  # not negative, as nmf_knn needs
WORDS = np.random.default_rng(2).normal(size=(12, 5)).astype(np.float32)  # others need as many as there are features
LARGEST = LABELS.copy()
LARGEST.data[:] = 2**31 - 1

INPUTS = {
    "ordinary": {},
    "no label": {"matrix": sparse.csr_array((40, 12), dtype=np.int32)},
    "the largest counts": {"matrix": LARGEST},
    "one image": {"matrix": np.ones((1, 12), dtype=np.int32), "features": FEATURES[:1]},
    "one label": {"matrix": np.ones((40, 1), dtype=np.int32), "word_vectors": WORDS[:1]},
    "features of zeros": {"features": np.zeros_like(FEATURES)},
    "large features": {"features": FEATURES * np.float32(1e15)},
    "word vectors of zeros": {"word_vectors": np.zeros_like(WORDS)},
    "the largest seed": {"seed": 2**63 - 1},
    "a seed too large": {"seed": 2**63},
}


def names():
    """Return the variants that the library can fit to ordinary inputs, with the packages that are installed."""
    found = []
    for name in vsebench.list_methods():
        try:
            variant = _variant(name, 8, None)
            _check_needs(variant, {"known_labels", "trained_labels", "features", "word_vectors"})
        except UserError:
            continue
        if variant.sets is None:
            found.append(name)
    return found


@pytest.mark.long
@pytest.mark.parametrize("name", names())
@pytest.mark.filterwarnings("ignore")
def test_a_fit_ends_well_or_in_one_line(name):
    epochs = {} if _variant(name, 8, None).epochs is None else {"epochs": 1}
    ended = {}
    for what, changes in INPUTS.items():
        arguments = {"matrix": LABELS, "features": FEATURES, "word_vectors": WORDS} | changes
        try:
            fitted = vsebench.fit(name, factors=8, **epochs, **arguments)
        except UserError as error:
            ended[what] = str(error)
        else:
            ended[what] = fitted.model.n_labels == arguments["matrix"].shape[1]
    assert ended["ordinary"] is True
    assert f"seed: is {2**63}" in ended["a seed too large"]
    assert False not in ended.values()
