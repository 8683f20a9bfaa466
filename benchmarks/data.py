"""The configured methods, the simulated label matrices of most comparisons, and their splits."""

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from benchmarks.plan import RANKED, SEED
from vsebench.config.method import MethodConfig, read_method_config
from vsebench.data.features import Features
from vsebench.data.problem import Dataset, HeldOut, LabelMatrix
from vsebench.data.streams import VALIDATION_SAMPLE, generator
from vsebench.formats.simulators.simulator import read
from vsebench.protocols.base import load_protocol
from vsebench.stages.scale import simulator_options

CONFIG = Path(__file__).parents[1] / "config"


@dataclass(frozen=True)
class Data:
    """A data set with labels held out for test and for validation.

    Attributes
    ----------
    train, known : the training labels, and training and validation labels together
    valid, test : the held-out labels to rank
    metric : the metric that measures quality
    features : the images' features, if any
    """

    name: str
    train: LabelMatrix
    known: LabelMatrix
    valid: HeldOut
    test: HeldOut
    metric: str = RANKED
    features: Features | None = None


def configured(variant: str) -> MethodConfig:
    """Read the file of a method in `config/methods`."""
    return read_method_config(CONFIG / "methods" / f"{variant}.yaml")


def simulate(name: str, scale: float) -> LabelMatrix:
    """Draw the label matrix of the simulated data set `sim-<name>`.

    Each label of an image counts once, so that an epoch has equally many steps in all packages.
    """
    options = simulator_options(CONFIG / "datasets" / f"sim-{name}.yaml", {}).model_copy(update={"scale": scale})
    annotations = read(Path(), options)
    pairs = annotations.pairs.with_columns(count=pl.lit(1, dtype=pl.Int32))
    return LabelMatrix.from_pairs(pairs, len(annotations.images), len(annotations.labels))


def hold_out(
    name: str, dataset: Dataset, images: int, protocol: str = "distinct", features: Features | None = None
) -> Data:
    """Split a data set by a protocol, and sample at most `images` validation and `images` test images.

    The metric is recall@10 or, if the test images are new, the protocol's validation metric.
    """
    rules = load_protocol(protocol)
    split = rules.split(dataset, rules.generator(protocol, SEED))
    valid, test = (part.sample(images, generator(SEED, VALIDATION_SAMPLE)) for part in (split.valid, split.test))
    metric = rules.validation_metric if rules.new_images else RANKED
    return Data(name, split.first.labels, split.final.labels, valid, test, metric, features)
