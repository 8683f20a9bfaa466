"""A method with given accuracy and loss after each epoch, and a split to measure it on."""

from dataclasses import replace

import numpy as np
from pydantic import Field

from tests.builders import Given, held_out_of, matrix_of
from vsebench.core.tasks import Case, Task
from vsebench.data.problem import Dataset, Problem
from vsebench.methods.base import Control, Method, Progress, Settings
from vsebench.protocols.base import load_protocol

CASE = Case(Task("sim-tiny", "distinct"), "my_row", 1)


class ScriptSettings(Settings):
    """The share of right validation images after each epoch, and the loss of each epoch."""

    right: list[float]
    loss: tuple[float | None, ...] = Field(default=(1.0,), strict=False)
    size: float = 1.0


class Script(Method):
    """A method that, after epoch n, ranks the label of the first `right[n - 1]` of ten images first."""

    settings_type = ScriptSettings

    def __init__(self, problem, settings):
        self.problem, self.settings, self.epochs = problem, settings, 0

    def epoch(self):
        self.epochs += 1
        return Progress(self.settings.loss[min(self.epochs, len(self.settings.loss)) - 1], 2.0)

    def model(self):
        scores = np.zeros((self.problem.training.labels.n_rows, self.problem.training.labels.n_labels))
        last = min(self.epochs, len(self.settings.right)) - 1
        scores[: round(10 * self.settings.right[last]), 0] = self.settings.size**2
        return Given(scores)


class Lookup(Control):
    """A closed form with settings to choose."""

    settings_type = ScriptSettings

    def __init__(self, problem, settings):
        self.script = Script(problem, settings)
        self.script.epochs = 1

    def model(self):
        return self.script.model()


def split_of_ten(pool):
    """Return a split with ten validation images whose label 0 is held out and label 1 known, and its problem."""
    matrix = matrix_of([[0, 1]] * 10, 30)
    rules = load_protocol("distinct")
    split = rules.split(Dataset(matrix), rules.generator("distinct", 1))
    split = replace(split, valid=held_out_of([[0]] * 10, 30, known=[[1]] * 10))
    return split, Problem(split.first, 1, pool)
