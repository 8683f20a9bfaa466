import numpy as np
import pytest
from numba import njit

from tests.reference.arrays import pipeline_of
from tests.reference.random_numbers import SplitMix64
from vsebench.kernels.random_numbers import new_state
from vsebench.kernels.sgd.pipeline import BATCH, advance, batch_size, choose_and_read, turns


@njit
def run(pipeline, steps, rng, fetched, stepped):
    """Run the pipeline, and note the pairs in the stages fetch and step, in the order of the steps."""
    n_fetched, n_stepped = 0, 0
    for first in turns(steps):
        for t in range(BATCH):
            choose_and_read(t, pipeline, first, steps, rng)
            if t < batch_size(steps, first + BATCH):
                for column in range(4):
                    fetched[n_fetched, column] = pipeline.fetching[t, column]
                n_fetched += 1
            if t < batch_size(steps, first):
                for column in range(4):
                    stepped[n_stepped, column] = pipeline.stepping[t, column]
                n_stepped += 1
        pipeline = advance(pipeline)
    return n_fetched, n_stepped


@pytest.mark.parametrize("steps", [1, 15, 16, 17, 100])
def test_every_step_passes_each_stage_once_and_in_the_order_of_the_draws(steps):
    pipeline, rng = pipeline_of([[3, 5], [], [0, 1, 2]]), new_state(1)
    twin = SplitMix64(rng[0])
    fetched, stepped = np.zeros((steps, 4), dtype=np.int64), np.zeros((steps, 4), dtype=np.int64)
    assert run(pipeline, steps, rng, fetched, stepped) == (steps, steps)
    expected = pipeline.positives.pairs[[twin.below(5) for _ in range(steps)]]
    assert (fetched == expected).all()
    assert (stepped == expected).all()
    assert int(rng[0]) == twin.state


def test_a_batch_outside_of_the_epoch_has_no_steps():
    assert [batch_size(40, first) for first in (-32, -16, 0, 16, 32, 48)] == [0, 0, 16, 16, 8, 0]
