"""The sizes and repeats of the benchmarks: full ones, and small ones to check that everything works."""

import os
from dataclasses import dataclass, replace

SEED = 1
RANKED = "recall@10"  # the metric of quality for ranked labels


@dataclass(frozen=True)
class Training:
    """The number of training epochs, and the number of epochs between two rankings of the validation labels."""

    epochs: int
    every: int


@dataclass(frozen=True)
class SparseRows:
    """The sizes of simulated images with labels and sparse features; `words` is the mean number of words per image."""

    images: int
    dimensions: int
    labels: int
    labels_per_image: int
    words: float

    def scaled(self, scale: float) -> "SparseRows":
        """Return sizes with scaled numbers of images, dimensions and labels."""
        sizes = {name: scaled(getattr(self, name), scale) for name in ("images", "dimensions", "labels")}
        return replace(self, **sizes)


@dataclass(frozen=True)
class OnFeatures:
    """Sizes of the benchmarks on image features, at scale 1.

    Attributes
    ----------
    blobs : simulated rows, used unless the scale is 1 and VSEBENCH_MIRROR names a folder with Corel 5k's files
    trainings : name of a comparison of epochs -> number of epochs of each contestant
    sparse, sparse_queries : sparse rows to train on and to search, and number of queries
    dense : numbers of rows, queries and dimensions of dense rows to search
    factors : D, the number of factors
    neighbours : number of neighbours to search for
    levels : number of levels, p, of each tree
    steps : for a WSABIE step: numbers of non-zeros of a row (1, 2 and 4 times as many as in `sparse`), of factors, and
        of labels
    losses : numbers of labels, and of labels per image, for which losses are measured
    epochs : numbers of labels for which an epoch with word vectors is measured, and the number of images
    searched : number of images that a search for a word scores, and dimensions of their vectors
    """

    blobs: SparseRows
    trainings: dict[str, Training]
    sparse: SparseRows
    sparse_queries: int
    dense: tuple[int, int, int]
    factors: int
    neighbours: int
    levels: tuple[int, ...]
    steps: dict[str, tuple[int, ...]]
    losses: dict[str, tuple[int, ...]]
    epochs: dict[str, tuple[int, ...]]
    searched: tuple[int, int]


def scaled(size: int, scale: float) -> int:
    """Return a size times a scale, rounded to an integer of at least 2."""
    return max(2, round(size * scale))


@dataclass(frozen=True)
class Plan:
    """Sizes and repeats of a run.

    Attributes
    ----------
    trainings : size (of a data set `sim-<size>`) -> number of epochs of each contestant
    scale : scale of the simulated sets; 1 is full size
    threads : numbers of threads for which comparisons are made
    factors : K, the number of factors
    repeats : number of repeats of each comparison, in which contestants take turns
    images : largest number of images for which labels are ranked, to choose settings and to measure quality
    growth, growth_repeats : sizes and repeats of the stage `scale`
    memory, largest : the size for which the memory of all methods is measured, and a larger size for VSE-fs alone
    starts : number of cold and of warm starts
    on_features : sizes of the benchmarks on image features
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
    on_features: OnFeatures

    def scaled(self, size: int) -> int:
        """Return a size times the plan's scale, rounded to an integer of at least 2."""
        return scaled(size, self.scale)


CORES = len(os.sched_getaffinity(0))
THREADS = tuple(sorted({1, CORES}))

ON_FEATURES = OnFeatures(
    blobs=SparseRows(images=5000, dimensions=499, labels=374, labels_per_image=4, words=8.4),
    trainings={
        "wsabie_epoch": Training(epochs=40, every=2),
        "wsabie_epoch_10": Training(epochs=40, every=2),
        "wsabie_sparse": Training(epochs=8, every=2),
        "network_epoch": Training(epochs=40, every=2),
        "linear_epoch": Training(epochs=20, every=2),
        "bce_network_torch": Training(epochs=40, every=2),
        "bce_linear_torch": Training(epochs=20, every=2),
        "lsep_network_torch": Training(epochs=40, every=2),
        "lsep_linear_torch": Training(epochs=20, every=2),
    },
    sparse=SparseRows(images=20_000, dimensions=10_000, labels=1000, labels_per_image=1, words=100),
    sparse_queries=1000,
    dense=(15_000, 2000, 1280),
    factors=100,
    neighbours=100,
    levels=(0, 1, 2, 3, 5, 7),
    steps={"non_zeros": (93, 185, 370), "factors": (50, 100, 200, 400), "labels": (250, 1000, 4000)},
    losses={"labels": (100, 400, 1600, 6400), "per_image": (2, 8)},
    epochs={"labels": (291, 925, 13_980, 100_000, 432_213), "images": (4096,)},
    searched=(1_700_000, 300),
)

FULL = Plan(
    # On the large set, all contestants get the same few epochs; on the small set, as many as they need.
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
    on_features=ON_FEATURES,
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
    on_features=replace(
        ON_FEATURES,
        trainings=dict.fromkeys(ON_FEATURES.trainings, Training(epochs=2, every=1)),
        steps={"non_zeros": (93, 185), "factors": (50, 100), "labels": (250, 1000)},
        losses={"labels": (100, 400), "per_image": (2,)},
        epochs={"labels": (291, 925), "images": (256,)},
        searched=(20_000, 300),
    ),
)
