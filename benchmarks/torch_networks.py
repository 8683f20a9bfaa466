"""Compare our networks with PyTorch's; both have the same loss, features and initial weights.

The loss is binary cross-entropy or LSEP.
"""

import importlib
from functools import partial
from typing import Any

from benchmarks.contestants import Contestant, Settings, Training
from benchmarks.data import Data
from benchmarks.feature_rows import blobs, installed
from benchmarks.image_features import Tables, race
from benchmarks.networks import BATCH, GRIDS, UNITS, Ours, layer
from benchmarks.plan import SEED, Plan
from vsebench.core.workers import Workers
from vsebench.data.features import Features
from vsebench.data.problem import LabelMatrix
from vsebench.methods.networks.network import Network
from vsebench.models import Model

TITLES = {"bce": "binary cross-entropy", "lsep": "LSEP"}


class Torch(Training):
    """A network in plain PyTorch: dense tensors, autograd, fused AdamW, no compiler."""

    def __init__(
        self,
        method: str,
        features: Features | None,
        hidden: list[int],
        train: LabelMatrix,
        settings: Settings,
        pool: Workers,
    ) -> None:
        self.torch = importlib.import_module("torch")
        # PyTorch's network gets the features and the initial weights of ours.
        self.ours = Ours(method, features, hidden, train, settings, pool).method
        rows, labels = self.ours.seen.rows, self.ours.seen.labels
        self.rows = self.torch.tensor(rows if features is None or not features.is_sparse else rows.toarray())
        self.carried = self.torch.zeros((labels.n_rows, labels.n_labels), dtype=self.torch.bool)
        self.carried[labels.image_of_pair, labels.label_of_pair] = True
        self.loss = {"bce": self.cross_entropy, "lsep": self.lsep}[method]
        self.threads = pool.threads
        self.network, self.optimiser = self.start()
        self.generator = self.torch.Generator().manual_seed(SEED)

    def start(self) -> tuple[Any, Any]:
        """Return the network with our initial weights, and its optimiser, which does not decay intercepts."""
        nn, settings = self.torch.nn, self.ours.settings
        parts = []
        for array in self.ours.layers.arrays():
            linear = nn.Linear(array.shape[0] - 1, array.shape[1])
            weights, intercepts = self.torch.tensor(array[:-1].T), self.torch.tensor(array[-1])
            linear.load_state_dict({"weight": weights.contiguous(), "bias": intercepts})
            parts += [linear, nn.ReLU(), nn.Dropout(settings.dropout)]
        network = nn.Sequential(*parts[:-2])
        lines = network[::3]
        groups = [
            {"params": [line.weight for line in lines], "weight_decay": settings.decay},
            {"params": [line.bias for line in lines], "weight_decay": 0.0},
        ]
        return network, self.torch.optim.AdamW(groups, lr=settings.learning_rate, fused=True)

    def run(self, epochs: int) -> list[float]:
        self.torch.set_num_threads(self.threads)
        return super().run(epochs)

    def epoch(self) -> None:
        for images in self.torch.randperm(len(self.rows), generator=self.generator).split(BATCH):
            self.step(images)

    def step(self, images: Any) -> None:
        """Take a step on the mean loss of a batch of images."""
        self.optimiser.zero_grad()
        self.loss(self.network(self.rows[images]), self.carried[images]).backward()
        self.optimiser.step()

    def cross_entropy(self, scores: Any, carried: Any) -> Any:
        """Return the binary cross-entropy, summed over labels and averaged over images."""
        functional = self.torch.nn.functional
        return functional.binary_cross_entropy_with_logits(scores, carried.float(), reduction="sum") / len(scores)

    def lsep(self, scores: Any, carried: Any) -> Any:
        """Return the LSEP loss, averaged over images.

        The sum over pairs of labels in this loss is computed as a product of two sums.
        """
        least = self.torch.finfo(scores.dtype).min
        negatives = scores.masked_fill(carried, least).logsumexp(1)
        positives = (-scores).masked_fill(~carried, least).logsumexp(1)
        return self.torch.nn.functional.softplus(negatives + positives).mean()

    def model(self) -> Model:
        *hidden, last = (
            layer(line.weight.detach().numpy().T, line.bias.detach().numpy()) for line in self.network[::3]
        )
        return Network(hidden, last.T.copy(), self.ours.seen.normalisation)


def contestants(data: Data, method: str, hidden: list[int]) -> tuple[Contestant, Contestant]:
    """Return our method and PyTorch's, with the same hidden layers and settings to try."""
    shape, grid = ("network", GRIDS["ours, hidden"]) if hidden else ("linear", GRIDS["ours, linear"])
    title = f"{TITLES[method]}, {shape}"
    return (
        Contestant(method, title, partial(Ours, method, data.features, hidden), grid),
        Contestant("torch", f"PyTorch, {title}", partial(Torch, method, data.features, hidden), grid),
    )


def against_torch(what: str, method: str, hidden: list[int], plan: Plan) -> Tables:
    """Compare epochs of our method and PyTorch's on the features of `blobs`."""
    if not installed("torch", what):
        return [], []
    data = blobs(plan)
    return race(plan, what, data, contestants(data, method, hidden), "torch")


RACES = {
    f"{method}_{shape}_torch": partial(against_torch, f"{method}_{shape}_torch", method, hidden)
    for method in TITLES
    for shape, hidden in (("network", [UNITS]), ("linear", []))
}
