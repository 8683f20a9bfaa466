"""The simulated sets that everything is measured on."""

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from benchmarks.plan import SEED
from vsebench.formats.simulator import read
from vsebench.problem import LabelMatrix
from vsebench.selection import sample
from vsebench.stages.scale import simulator_options
from vsebench.stages.split import split

CONFIG = Path(__file__).parents[1] / "config"


@dataclass(frozen=True)
class Data:
    """A simulated set with one label of each image held out for test and another one for validation.

    Attributes
    ----------
    train, known : the training labels, and those with the validation labels among them
    valid, test : the held-out labels that are ranked
    """

    name: str
    train: LabelMatrix
    known: LabelMatrix
    valid: pl.DataFrame
    test: pl.DataFrame


def simulate(name: str, scale: float) -> LabelMatrix:
    """Draw the set `sim-<name>`; a label counts once an image, so that an epoch has as many steps for every package."""
    options = simulator_options(CONFIG / "datasets" / f"sim-{name}.yaml").model_copy(update={"scale": scale})
    annotations = read(Path(), options)
    pairs = annotations.pairs.with_columns(count=pl.lit(1, dtype=pl.Int32))
    return LabelMatrix.from_pairs(pairs, len(annotations.images), len(annotations.labels))


def hold_out(name: str, matrix: LabelMatrix, images: int) -> Data:
    """Split a set; at most `images` labels are ranked."""
    parts = split(matrix.to_pairs(), matrix.n_images, "distinct", SEED)
    train = LabelMatrix.from_pairs(parts["train"], matrix.n_images, matrix.n_labels)
    both = pl.concat([parts["train"], parts["valid"]])
    known = LabelMatrix.from_pairs(both, matrix.n_images, matrix.n_labels)
    valid, test = (sample(parts[part], images, SEED) for part in ("valid", "test"))
    return Data(name, train, known, valid, test)
