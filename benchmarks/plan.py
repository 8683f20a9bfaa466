"""How much is measured: everything, or little to see that it works."""

import os
from dataclasses import dataclass

SEED = 1
RANKED = "recall@10"  # what quality is, here


@dataclass(frozen=True)
class Training:
    """Epochs of a training that quality is read from, and every how many the validation labels are ranked."""

    epochs: int
    every: int


@dataclass(frozen=True)
class Plan:
    """Sizes and repeats of a run.

    Attributes
    ----------
    trainings : for each size (a data set `sim-<size>`), the epochs that every contestant gets
    scale : of the simulated sets; 1 is full size
    threads : numbers of threads that every comparison is run on
    factors : K
    repeats : interleaved repeats of each comparison
    images : labels that are ranked at most, for a choice and for a quality
    growth, growth_repeats : sizes and repeats of the stage `scale`
    memory, largest : the size at which every method's memory is measured, and the one for VSE-fs alone
    starts : repeats of cold compilation and warm start
    """

    trainings: dict[str, Training]
    scale: float
    threads: tuple[int, ...]
    factors: int
    repeats: int
    images: int
    growth: dict[str, list[int]]
    growth_repeats: int
    memory: str
    largest: str
    starts: int


CORES = len(os.sched_getaffinity(0))
THREADS = tuple(sorted({1, CORES}))

FULL = Plan(
    # On the large set all get the same few epochs; on the small one as many as they need.
    trainings={"nuswide": Training(epochs=16, every=4), "iapr": Training(epochs=40, every=2)},
    scale=1.0,
    threads=THREADS,
    factors=128,
    repeats=5,
    images=20_000,
    growth={
        "factors": [16, 32, 64, 128, 256, 512],
        "labels": [500, 1000, 2000, 4000, 8000],
        "pairs": [25_000, 50_000, 100_000, 200_000, 400_000],
    },
    growth_repeats=3,
    memory="nuswide",
    largest="openimages",
    starts=3,
)
QUICK = Plan(
    trainings={"iapr": Training(epochs=4, every=2)},
    scale=0.1,
    threads=THREADS,
    factors=32,
    repeats=2,
    images=2_000,
    growth={"factors": [16, 32], "labels": [250, 500], "pairs": [5_000, 10_000]},
    growth_repeats=2,
    memory="iapr",
    largest="flickr",
    starts=1,
)
