import polars as pl

from tests.builders import frame
from vsebench.core.schemas import HISTORY, TIMING
from vsebench.evaluation.convergence import seconds_by_seed, to_best_epoch


def test_seconds_add_up_to_the_best_epoch_of_the_selection():
    lines = [
        ("d", "distinct", "m", seed, phase, epoch, seconds, 1.0, None, validation)
        for seed, phase, epoch, seconds, validation in [
            (2, "selection", 1, 1.0, 0.2), (2, "selection", 2, 2.0, 0.1),
            (1, "selection", 2, 2.0, 0.3), (1, "selection", 1, 1.0, 0.2), (1, "selection", 3, 4.0, 0.3),
            (1, "selection", 4, 8.0, None), (1, "refit", 1, 50.0, None),
        ]
    ]  # fmt: skip
    history = pl.DataFrame(lines, schema=HISTORY, orient="row")
    found = to_best_epoch(history)
    assert found.rows() == [(1, 2, 3.0), (2, 1, 1.0)]  # the first of equal epochs
    assert to_best_epoch(history.filter(phase="refit")).is_empty()


def test_timed_seconds_are_the_median_of_each_seeds_repeats():
    laps = [(2, 1, 5.0), (1, 2, 3.0), (2, 3, 7.0), (1, 4, 3.5), (1, 5, 9.0)]
    rows = [{"seed": seed, "repeat": repeat, "phase": "training", "seconds": seconds} for seed, repeat, seconds in laps]
    rows.append({"seed": 1, "repeat": 2, "phase": "epoch", "seconds": 0.1})
    timing = frame(rows, TIMING)
    assert seconds_by_seed(timing) == {1: 3.5, 2: 6.0}
    assert seconds_by_seed(timing.filter(phase="epoch")) == {}
