import numpy as np
import pytest

from benchmarks.without_vectors import PARTS, compiled_anew, drawn, method_of, rankings, searches
from vsebench.core.workers import workers
from vsebench.methods.base import read_settings


def trained(part, kernels, monkeypatch):
    """Return the model after two epochs, with some kernels in place of the method's."""
    method, values = method_of(part)
    with workers(1) as pool, monkeypatch.context() as patched:
        for module, names in kernels:
            for name, kernel in names.items():
                patched.setattr(module, name, kernel)
        training = method(drawn(60, 30, pool), read_settings(method, values | {"factors": 16}, part.kernel))
        for _ in range(2):
            training.epoch()
        return training.model()


# A part takes a second or two to compile, so `make test` tries the first one of each kernel.
TRIED = [part for part in PARTS if part.kernel in ("opt_auc", "vse_fs")]
FIRST = {part.kernel: part for part in reversed(TRIED)}.values()


@pytest.mark.parametrize(
    "part",
    [pytest.param(part, marks=[] if part in FIRST else pytest.mark.long, id=part.name) for part in TRIED],
)
def test_a_method_learns_the_same_without_vectors(part, monkeypatch):
    ours, plain = (trained(part, kernels, monkeypatch) for kernels in ((), compiled_anew(part)))
    np.testing.assert_allclose(plain.image, ours.image, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(plain.label, ours.label, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize(
    "turns",
    [
        pytest.param(rankings(20, 30, 16), id="ranking"),
        pytest.param(searches(150), id="search", marks=pytest.mark.long),
    ],
)
def test_counts_and_searches_are_the_same_without_vectors(turns):
    for ours, plain in zip(*(turn() for turn in turns), strict=True):
        np.testing.assert_array_equal(plain, ours)


def test_the_steps_of_a_network_s_label_vectors_are_replaced_too():
    (part,) = (part for part in PARTS if (part.kernel, part.name) == ("s_opt_x_ent", "prefetch"))
    assert {name for _, names in compiled_anew(part) for name in names} >= {"sampled_loss", "move_touched"}
