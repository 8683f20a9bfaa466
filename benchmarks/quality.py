"""Choose the best settings of contestants on validation labels, and measure their quality on test labels."""

from dataclasses import dataclass

import polars as pl

from benchmarks.contestants import Contestant, Settings
from benchmarks.data import Data
from benchmarks.plan import Plan
from vsebench.core.workers import Workers, workers
from vsebench.data.problem import HeldOut
from vsebench.evaluation.metrics import mean_metric
from vsebench.evaluation.ranking import rank
from vsebench.models import Model

SCHEMA = {
    "size": pl.String,
    "contestant": pl.String,
    "tried": pl.Int32,
    "settings": pl.String,
    "epochs": pl.Int32,
    "validation": pl.Float64,
    "test": pl.Float64,
}


@dataclass(frozen=True)
class Choice:
    """The settings and epochs that are best on the validation labels, and the quality on these labels."""

    settings: Settings
    epochs: int
    validation: float


class Judge:
    """Chooses settings and measures quality, once for each contestant and data set, on all cores."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.rows: list[dict[str, object]] = []
        self._choices: dict[tuple[str, str], Choice] = {}
        self._tests: dict[tuple[str, str], float] = {}

    def choice(self, contestant: Contestant, data: Data) -> Choice:
        """Return the settings and the number of epochs with the best quality on the validation labels.

        If several choices are equally good, the first of them is returned.
        """
        key = contestant.name, data.name
        if key not in self._choices:
            with workers(max(self.plan.threads)) as pool:
                tries = [self._attempt(contestant, settings, data, pool) for settings in contestant.grid]
            self._choices[key] = max(tries, key=lambda choice: choice.validation)
        return self._choices[key]

    def test(self, contestant: Contestant, data: Data) -> float:
        """Return the quality on the test labels after training on training and validation labels."""
        key = contestant.name, data.name
        if key not in self._tests:
            choice = self.choice(contestant, data)
            self._tests[key] = self.refit(contestant, self.settings(choice), choice.epochs, data)
            self.rows.append(
                {
                    "size": data.name,
                    "contestant": contestant.title,
                    "tried": len(contestant.grid),
                    "settings": ", ".join(f"{name} {value}" for name, value in choice.settings.items()),
                    "epochs": choice.epochs,
                    "validation": choice.validation,
                    "test": self._tests[key],
                }
            )
        return self._tests[key]

    def refit(self, contestant: Contestant, settings: Settings, epochs: int, data: Data) -> float:
        """Train on training and validation labels, and return the quality on the test labels."""
        with workers(max(self.plan.threads)) as pool:
            training = contestant.start(data.known, settings, pool)
            training.run(epochs)
            return value(training.model(), data.test, data, pool)

    def settings(self, choice: Choice) -> Settings:
        """Return the chosen settings with the number of factors."""
        return choice.settings | {"factors": self.plan.factors}

    def _attempt(self, contestant: Contestant, settings: Settings, data: Data, pool: Workers) -> Choice:
        limits = self.plan.trainings[data.name]
        training = contestant.start(data.train, settings | {"factors": self.plan.factors}, pool)
        best = Choice(settings, limits.every, -1.0)
        for epochs in range(limits.every, limits.epochs + 1, limits.every):
            training.run(limits.every)
            validation = value(training.model(), data.valid, data, pool)
            if validation > best.validation:
                best = Choice(settings, epochs, validation)
        return best


def value(model: Model, held_out: HeldOut, data: Data, pool: Workers) -> float:
    """Return the value of the data set's metric on held-out labels.

    The value is 0 if the scores of the model are not finite.
    """
    if not model.has_finite_scores():
        return 0.0
    return mean_metric(rank(model, held_out, data.features, pool, "benchmark"), data.metric)
