"""A run: its data sets, protocols, methods, seeds and metrics."""

from typing import Annotated, Any

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from vsebench.config.method import Epochs
from vsebench.core.yaml_files import Strict

# The sizes whose growth is measured on data of each simulator: the time of an epoch, and that of scoring an image.
GROWTH = {"simulator": ("pairs", "labels", "factors"), "simulated_tree": ("images", "terms")}
# Options of the simulators that these sizes stand for.
SIZED = {"simulator": ("images", "labels", "occurrences", "scale"), "simulated_tree": ("images", "length", "scale")}

DEFAULT_METRICS = (
    "precision@5", "recall@5", "map@5", "ndcg@5", "auc@5",
    "precision@10", "recall@10", "map@10", "ndcg@10", "auc@10", "mrr", "auc",
)  # fmt: skip


class RunDataset(Strict):
    """What to do with one data set in a run."""

    # `distinct`, `regions`, `images`, `labelled_images`, `official`, `unseen_labels`, `unseen_labels_all`,
    # `unseen_labels_by_frequency`, `from-<data set>`; see [protocols.md](protocols.md)
    protocols: list[str] = Field(min_length=1)
    methods: list[str] | None = Field(default=None, min_length=1)  # of the run, on this data set; none: all
    protocol_methods: dict[str, list[str]] = {}  # protocol -> its methods, in place of `methods`
    # false: the tested models do not learn the validation labels; true: training and validation labels together
    refit: bool = True
    epochs: dict[str, Epochs] = {}  # method -> when its training stops on this set, in place of the run's `epochs`
    # protocols with which the run's `sweeps` are made on this set; left out: all of them, `[]`: no sweeps
    sweeps: list[str] | None = None
    words: str | None = None  # a file of config/words in place of the data set's own
    options: dict[str, Any] = {}  # replaces single options of the data set's own file, such as the simulator's `scale`
    vocabulary: dict[str, Any] = {}  # replaces single filters of the data set's own file, such as `top_labels`
    # a table of your own, which has no file in config/datasets: options of the adapter `table`, and if wanted
    # `features`, `siblings`, `words` and `pictures`; see [own-data.md](own-data.md)
    data: dict[str, Any] | None = None


class Timing(Strict):
    """How often and how long each method is timed."""

    repeats: int = Field(ge=1)  # fresh processes per method; each takes the split and settings of one seed, in turn
    epochs: int = Field(ge=1)  # timed in each
    # true: each repeat also times all epochs up to the chosen number, for claims on the time to converge
    to_best_epoch: bool = False
    protocols: list[str] | None = Field(default=None, min_length=1)  # with which methods are timed; none: with all


def _different(sizes: list[int]) -> list[int]:
    if len(set(sizes)) < max(2, len(sizes)):
        raise PydanticCustomError("sizes", "two or more different sizes are needed")
    return sizes


Sizes = Annotated[list[Annotated[int, Field(ge=1)]], AfterValidator(_different)]


class Scaling(Strict):
    """Sizes of a simulated data set at which the growth of a time is measured; `GROWTH` says which its adapter has."""

    # of the adapter `simulator`: the time of an epoch, by `pairs`, `labels` and `factors`; or of `simulated_tree`: the
    # time to score an image, by `images` and `terms`
    dataset: str
    options: dict[str, Any] = {}  # replaces single options of the data set's own file
    methods: list[str] | None = Field(default=None, min_length=1)  # of the run; none: all that can be measured
    repeats: int = Field(ge=2)  # an exponent's interval is computed over the repeats
    pairs: Sizes | None = None  # of training
    labels: Sizes | None = None  # in the vocabulary
    factors: Sizes | None = None  # K
    images: Sizes | None = None  # of training
    terms: Sizes | None = None  # counts of an image, on average

    @property
    def sizes(self) -> dict[str, list[int]]:
        """The values of each size that is varied."""
        return self.model_dump(include={"pairs", "labels", "factors", "images", "terms"}, exclude_none=True)


class RunConfig(Strict):
    """A run: which data sets, protocols, methods and seeds (`config/config.yaml`)."""

    # by the names of their files in config/datasets; `data` stands for a file
    datasets: dict[str, RunDataset] = Field(min_length=1)
    # by the names of their files in config/methods, in the order of display; a method is left out where it cannot run,
    # such as one that needs image features
    methods: list[str] = Field(min_length=1)
    seeds: list[int] = Field(min_length=1)  # a split and a fit for each; results are means over them
    factors: int = Field(ge=1)  # K of every method that has factors and whose file names none
    # true: choose settings from each method's `grid` on the validation labels, under `official` with the first seed
    # for all; false: take its `settings`. The number of epochs is chosen on the validation labels either way
    tune: bool
    tuning_budget: int = Field(
        ge=1
    )  # how many configurations every grid has where the run tunes: the same for all methods
    # configurations that a method may try beyond its grid, each a step by the ratio of its last two values (2 next to
    # a 0), as long as the best one is on an edge of what was tried
    tuning_beyond_edges: int = Field(default=0, ge=0)
    # what settings and epochs are chosen by: a metric of each image's ranks, larger being better; none: the protocol's,
    # `ndcg@10` for `distinct` and `regions`, `map` for the others
    validation_metric: str | None = None
    # what is measured, by full names, in the order of display; see [metrics.md](metrics.md)
    metrics: list[str] = Field(default=list(DEFAULT_METRICS), min_length=1)
    validation_images: int = Field(ge=1)  # the largest number of images to validate on
    bootstrap: int = Field(ge=100)  # resamples behind intervals and tests
    timing: Timing  # how often and how long each method is timed
    scaling: Scaling | None = None  # if given: how a time grows with the size of simulated data
    # method -> when its training stops, in place of what its file says; `default`: for each that is not named
    epochs: dict[str, Epochs] = {}
    grids: dict[
        str, dict[str, list[Any]]
    ] = {}  # method -> setting -> values to try if the run tunes, in place of its file's
    decisions: dict[str, list[str]] = {}  # a file of config/decisions -> the methods that get it
    # method -> setting -> values to try; where the run tunes, the other settings of its grid are tuned at each
    sweeps: dict[str, dict[str, list[int | float]]] = {}
    # configurations that are tried beyond the edges of the grid at each value of a sweep, where the best of the other
    # settings may be far from it; left out: as many as `tuning_beyond_edges`
    sweeps_beyond_edges: int | None = Field(default=None, ge=0)
    papers: list[str] | None = None  # names of files in config/papers, to compare with the results; none: all of them

    @property
    def timed_seeds(self) -> list[int]:
        """The seed whose split and settings each repeat of the timing takes, one after the other."""
        return [self.seeds[repeat % len(self.seeds)] for repeat in range(self.timing.repeats)]
