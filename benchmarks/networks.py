"""Compare epochs of our networks and scikit-learn's, with binary cross-entropy and the same features."""

import importlib
import warnings
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from benchmarks.contestants import Contestant, Settings, Training, grid_of
from benchmarks.data import Data, configured
from benchmarks.feature_rows import blobs
from benchmarks.image_features import Tables, race
from benchmarks.plan import SEED, Plan
from vsebench.core.workers import Workers
from vsebench.data.features import Features
from vsebench.data.problem import LabelMatrix, Problem
from vsebench.data.problem import Training as Labels
from vsebench.methods.base import load_method, read_settings
from vsebench.methods.networks.network import Network
from vsebench.methods.networks.training import NetworkMethod
from vsebench.models import Model

BATCH = 100
UNITS = 256
GRIDS = {
    "ours, hidden": grid_of("learning_rate dropout", (0.0003, 0.0), (0.001, 0.0), (0.001, 0.5), (0.003, 0.5)),
    "MLP": grid_of("learning_rate_init alpha", (0.0003, 0.0001), (0.001, 0.0001), (0.001, 0.01), (0.003, 0.01)),
    "ours, linear": grid_of("learning_rate decay", (0.003, 0.0001), (0.01, 0.0001), (0.01, 0.01), (0.03, 0.0001)),
    "SGD": grid_of("eta0 alpha", (0.1, 0.00001), (0.3, 0.00001), (1.0, 0.00001), (0.3, 0.0001)),
}


class Ours(Training):
    """A method whose model is a network."""

    def __init__(
        self,
        method: str,
        features: Features | None,
        hidden: list[int],
        train: LabelMatrix,
        settings: Settings,
        pool: Workers,
    ) -> None:
        kind = load_method(method)
        assert issubclass(kind, NetworkMethod)
        own = without_factors(settings) | {"hidden": hidden, "batch": BATCH, "normalise": []}
        problem = Problem(Labels.all_of(train), SEED, pool, features)
        self.method, self.threads = kind(problem, kind.settings_type.model_validate(own)), pool.threads

    def run(self, epochs: int) -> list[float]:
        with threadpool_limits(self.threads):
            return super().run(epochs)


class Sklearn(Training):
    """`MLPClassifier` with Adam, or one `SGDClassifier` per label; an epoch is one pass over the images."""

    def __init__(
        self, features: Features | None, hidden: list[int], train: LabelMatrix, settings: Settings, pool: Workers
    ) -> None:
        assert features is not None
        # Our method provides the normalised features and the labels.
        self.ours = Ours("bce", features, hidden, train, {"learning_rate": 1.0}, pool)
        self.rows, self.threads = self.ours.method.seen.rows, pool.threads
        labels = self.ours.method.seen.labels
        self.right = np.zeros((labels.n_rows, labels.n_labels), dtype=np.int64)
        self.right[labels.image_of_pair, labels.label_of_pair] = 1
        own = without_factors(settings)
        if hidden:
            kind = importlib.import_module("sklearn.neural_network").MLPClassifier
            self.network = kind(hidden, batch_size=BATCH, random_state=SEED, **own)
        else:
            kind = importlib.import_module("sklearn.linear_model").SGDClassifier
            common = {"loss": "log_loss", "learning_rate": "invscaling", "power_t": 0.25, "random_state": SEED}
            self.lines = [kind(**common, **own) for _ in range(labels.n_labels)]
        self.hidden = hidden

    def run(self, epochs: int) -> list[float]:
        with threadpool_limits(self.threads), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return super().run(epochs)

    def epoch(self) -> None:
        if self.hidden:
            self.network.partial_fit(self.rows, self.right, classes=list(range(self.right.shape[1])))
        else:
            for label, line in enumerate(self.lines):
                line.partial_fit(self.rows, self.right[:, label], classes=[0, 1])

    def model(self) -> Model:
        if self.hidden:
            layers = [layer(*pair) for pair in zip(self.network.coefs_, self.network.intercepts_, strict=True)]
        else:
            weights = np.vstack([line.coef_ for line in self.lines]).T
            layers = [layer(weights, np.concatenate([line.intercept_ for line in self.lines]))]
        *hidden, last = layers
        return Network(hidden, np.ascontiguousarray(last.T), self.ours.method.seen.normalisation)


def network_of(variant: str, problem: Problem, **changes: Any) -> NetworkMethod:
    """Return the network method of a file in `config/methods`, with some of its settings changed."""
    config = configured(variant)
    method = load_method(config.method)
    assert issubclass(method, NetworkMethod)
    return method(problem, read_settings(method, config.settings | changes, variant))


def without_factors(settings: Settings) -> dict[str, Any]:
    """Return the settings without `factors`, which networks do not have."""
    return {name: value for name, value in settings.items() if name != "factors"}


def layer(weights: NDArray[np.floating], intercepts: NDArray[np.floating]) -> NDArray[np.float32]:
    """Return weights with the intercepts as the last row, like an item of `Network.hidden`."""
    return np.vstack([weights, intercepts]).astype(np.float32, order="C")


def contestants(data: Data, hidden: list[int]) -> tuple[Contestant, Contestant]:
    """Return our network and scikit-learn's, both with the given hidden layers."""
    ours, peer, title = ("ours, hidden", "MLP", "MLPClassifier") if hidden else ("ours, linear", "SGD", "SGDClassifier")
    return (
        Contestant(
            "bce",
            f"binary cross-entropy, {'network' if hidden else 'linear'}",
            partial(Ours, "bce", data.features, hidden),
            GRIDS[ours],
        ),
        Contestant("sklearn", f"scikit-learn, {title}", partial(Sklearn, data.features, hidden), GRIDS[peer]),
    )


def network_epoch(plan: Plan) -> Tables:
    """Compare epochs of a network with a hidden layer of 256 units on blobs."""
    data = blobs(plan)
    return race(plan, "network_epoch", data, contestants(data, [UNITS]), "sklearn")


def linear_epoch(plan: Plan) -> Tables:
    """Compare epochs of a linear map on blobs."""
    data = blobs(plan)
    return race(plan, "linear_epoch", data, contestants(data, []), "sklearn")
