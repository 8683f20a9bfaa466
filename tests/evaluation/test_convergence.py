import polars as pl

from vsebench.core.schemas import HISTORY
from vsebench.evaluation.convergence import to_best_epoch


def test_seconds_add_up_to_the_best_epoch_of_the_selection():
    lines = [
        ("d", "distinct", "m", seed, phase, epoch, seconds, 1.0, None, validation)
        for seed, phase, epoch, seconds, validation in [
            (2, "selection", 1, 1.0, 0.2), (2, "selection", 2, 2.0, 0.1),
            (1, "selection", 2, 2.0, 0.3), (1, "selection", 1, 1.0, 0.2), (1, "selection", 3, 4.0, 0.3),
            (1, "refit", 1, 50.0, None),
        ]
    ]  # fmt: skip
    found = to_best_epoch(pl.DataFrame(lines, schema=HISTORY, orient="row"))
    assert found.rows() == [(1, 2, 3.0), (2, 1, 1.0)]  # the first of equal epochs
