"""The simulated sets that everything is measured on."""

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from benchmarks.plan import SEED
from vsebench.formats.simulator import read
from vsebench.problem import Dataset, HeldOut, LabelMatrix
from vsebench.protocols.base import load_protocol, split_generator
from vsebench.stages.scale import simulator_options
from vsebench.streams import VALIDATION_SAMPLE, generator

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
    valid: HeldOut
    test: HeldOut


def simulate(name: str, scale: float) -> LabelMatrix:
    """Draw the set `sim-<name>`; labels count once per image, so that an epoch has as many steps for every package."""
    options = simulator_options(CONFIG / "datasets" / f"sim-{name}.yaml").model_copy(update={"scale": scale})
    annotations = read(Path(), options)
    pairs = annotations.pairs.with_columns(count=pl.lit(1, dtype=pl.Int32))
    return LabelMatrix.from_pairs(pairs, len(annotations.images), len(annotations.labels))


def hold_out(name: str, matrix: LabelMatrix, images: int) -> Data:
    """Split a set; a maximum of `images` labels is ranked."""
    split = load_protocol("distinct").split(Dataset(matrix), split_generator("distinct", SEED))
    valid, test = (part.sample(images, generator(SEED, VALIDATION_SAMPLE)) for part in (split.valid, split.test))
    return Data(name, split.first.labels, split.final.labels, valid, test)
