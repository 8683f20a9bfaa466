"""Ceiling for simulated data: the ranking by the true probabilities that the labels were drawn from."""

from pathlib import Path

from vsebench.errors import UserError
from vsebench.files import read_arrays
from vsebench.labels import LabelMatrix
from vsebench.methods.base import Scorer, Settings, Untrained, scorer_of


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
