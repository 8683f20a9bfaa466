"""Ceiling for simulated data: the ranking by the true probabilities that the labels were drawn from."""

from pathlib import Path

from vsebench.core.errors import UserError
from vsebench.core.storage import read_arrays
from vsebench.methods.base import Scorer, Settings, Untrained, scorer_of
from vsebench.problem import LabelMatrix


class Model(Untrained):
    """The simulator's own topic mixtures of images and label probabilities of topics."""

    def __init__(self, train: LabelMatrix, settings: Settings, seed: int, processed: Path) -> None:
        path = processed / "truth.npz"
        if not path.is_file():
            raise UserError(f"{path}: no such file; only a simulated data set has an oracle")
        truth = read_arrays(path)
        self.model = scorer_of(truth, str(path))

    def scorer(self) -> Scorer:
        return self.model
