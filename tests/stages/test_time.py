"""What the stage `time` measures of a model: seconds of scoring the test images, and its bytes."""

import numpy as np

from tests.builders import held_out_of
from vsebench.evaluation.scoring_time import BATCH, scoring_seconds
from vsebench.models import Embeddings
from vsebench.stages.time import model_bytes


class Counting(Embeddings):
    """Counts the images that are scored."""

    def scores(self, queries):
        SCORED.append(len(queries.images))
        return super().scores(queries)


SCORED: list[int] = []


def model(n_images):
    return Counting(np.ones((n_images, 2), dtype=np.float32), np.ones((5, 2), dtype=np.float32))


def test_the_bytes_of_a_model_are_those_of_its_arrays():
    assert model_bytes(model(3)) == 3 * 2 * 4 + 5 * 2 * 4


def test_a_pass_scores_every_test_image_once_in_batches():
    SCORED.clear()
    held_out = held_out_of([[0]] * (BATCH + 3), 5)
    seconds = scoring_seconds(model(BATCH + 3), held_out, None)
    assert set(SCORED) == {BATCH, 3}
    assert SCORED[:2] == [BATCH, 3]
    passes = len(SCORED) / 2 - 1  # the first is not timed
    assert passes >= 1
    assert 0 < seconds * passes < 60
