"""The time that a model takes to score images."""

import time
from collections.abc import Callable
from functools import partial
from statistics import median
from typing import TYPE_CHECKING

from vsebench.data.problem import HeldOut, Matrix, Queries
from vsebench.evaluation.ranking import queries_of
from vsebench.models import Model, checked_scores

if TYPE_CHECKING:  # importing features loads SciPy, which most models do not need
    from vsebench.data.features import Features

BATCH = 256  # number of images that are scored at once
SHORTEST = 0.1  # seconds; passes over the images are repeated until their total time reaches this


def scoring_seconds(model: Model, held_out: HeldOut, features: "Features | None") -> float:
    """Return the median time of a pass over the held-out images, in seconds.

    In a pass, the model scores all labels for each held-out image. The labels are not ranked.
    """
    starts = range(0, len(held_out.images), BATCH)

    def score_all(score: Callable[[Queries], Matrix]) -> None:
        for start in starts:
            score(queries_of(held_out, features, start, min(start + BATCH, len(held_out.images))))

    score_all(partial(checked_scores, model))  # warm-up, because a model may cache arrays such as a transposed matrix
    passes: list[float] = []
    while sum(passes) < SHORTEST:
        start = time.perf_counter()
        score_all(model.scores)
        passes.append(time.perf_counter() - start)
    return median(passes)
