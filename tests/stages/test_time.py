"""The measurements of the stage `time`: seconds of fits and of scoring the test images, and bytes of models."""

from argparse import Namespace
from typing import ClassVar

import numpy as np
import pytest

from tests.builders import held_out_of
from tests.stages.small import run, write_processed
from vsebench.core.storage import write_json
from vsebench.evaluation.scoring_time import BATCH, scoring_seconds
from vsebench.methods.base import Control
from vsebench.models import Embeddings, LabelWeights
from vsebench.stages import time as stage
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


class Counted(Control):
    """Counts how often it is fitted."""

    fitted: ClassVar[int] = 0

    def __init__(self, problem, settings):
        self.n_labels = problem.training.labels.n_labels

    def model(self):
        Counted.fitted += 1
        return LabelWeights(np.eye(self.n_labels, dtype=np.float32))


@pytest.mark.parametrize(("short", "fits"), [(1e9, 2), (0.0, 1)])
def test_a_short_fit_without_epochs_is_timed_the_second_time(tmp_path, monkeypatch, short, fits):
    write_processed(tmp_path / "tiny")
    folder = tmp_path / "results" / "tiny" / "distinct" / "seed1"
    assert run("split", "--processed", tmp_path / "tiny", "--protocol", "distinct", "--seed", 1, "--out",
               folder / "split") == 0  # fmt: skip
    write_json({"selection": {"settings": {}, "epochs": None}}, folder / "row" / "run.json")
    monkeypatch.setattr(stage, "load_method", lambda module: Counted)
    monkeypatch.setattr(stage, "SHORT_FIT", short)
    monkeypatch.setattr(stage.os, "sched_setaffinity", lambda process, cores: None)
    Counted.fitted = 0
    arguments = Namespace(results=tmp_path / "results", dataset="tiny", protocol="distinct", no_refit=False,
                          variants={"row": "slow"}, to_best_epoch=False, features=None, feature_sets={},
                          epochs=1)  # fmt: skip
    phases = stage.time_one(arguments, 1, "row")
    assert Counted.fitted == fits
    assert [phase["phase"] for phase in phases] == ["fit", "evaluate", "score"]
