"""The file of a run, which names data sets, protocols, methods, seeds and metrics."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from vsebench.config.method import Epochs
from vsebench.core.yaml_files import Strict

# Simulator -> the sizes that are varied, to measure how the time of an epoch or of scoring an image grows with them.
GROWTH = {"simulator": ("pairs", "labels", "factors"), "simulated_tree": ("images", "terms")}
# Simulator -> the options that these sizes determine; a run must not set them.
SIZED = {"simulator": ("images", "labels", "occurrences", "scale"), "simulated_tree": ("images", "length", "scale")}

DEFAULT_METRICS = (
    "precision@5", "recall@5", "map@5", "ndcg@5", "auc@5",
    "precision@10", "recall@10", "map@10", "ndcg@10", "auc@10", "mrr", "auc",
)  # fmt: skip
# The headline metrics if test images are new. A run that names no metrics measures them besides the default ones.
NEW_IMAGE_METRICS = ("map", "pc_precision@5", "pc_recall@5", "macro_f1_of_means@5", "n_plus@5")
# A run that names no metrics also measures these if trained and untrained labels are ranked together.
SEEN_METRICS = ("seen_recall@5", "unseen_recall@5", "harmonic_recall@5")


def default_metrics(new_images: bool, seen_and_unseen: bool) -> list[str]:
    """Return the metrics of a run that names none.

    `new_images` says whether the run has new test images, and `seen_and_unseen` whether it ranks trained and untrained
    labels together.
    """
    return [
        *(NEW_IMAGE_METRICS if new_images else ()),
        *DEFAULT_METRICS,
        *(SEEN_METRICS if seen_and_unseen else ()),
    ]


class RunDataset(Strict):
    """How a run uses a data set."""

    # names of protocols: `distinct`, `regions`, `images`, `labelled_images`, `official`, `unseen_labels`,
    # `unseen_labels_all`, `unseen_labels_by_frequency`, `from-<data set>`; see [protocols.md](protocols.md)
    protocols: list[str] = Field(min_length=1)
    methods: list[str] | None = Field(default=None, min_length=1)  # methods to use on this data set; none: all
    protocol_methods: dict[str, list[str]] = {}  # protocol -> the methods to use under it, in place of `methods`
    # true: the tested models are trained on the training and validation labels together; false: only on the
    # training labels
    refit: bool = True
    # the name of a set of features, or a list of them, for methods whose own files name none; none: all sets
    features: str | list[str] | None = Field(default=None, min_length=1)
    # method -> when its training on this data set stops, in place of the run's `epochs`; `default`: for all methods not
    # named here
    epochs: dict[str, Epochs] = {}
    # protocols under which the run's `sweeps` are done on this data set; left out: all protocols; `[]`: no protocol
    sweeps: list[str] | None = None
    word_vectors: str | None = None  # a file in config/word_vectors, in place of the data set's own source
    # labels that protocols of unseen labels keep out of training: a text file with one label per line, or a list in
    # config/unseen_labels (`nuswide81`, `mscoco17`); none: these labels are drawn at random
    unseen_labels: str | None = None
    options: dict[str, Any] = {}  # replaces single options of the data set's file, such as the simulator's `scale`
    vocabulary: dict[str, Any] = {}  # replaces single filters of the data set's file, such as `top_labels`
    # your own table, which has no file in config/datasets: options of the adapter `table`, and optionally `title`,
    # `short`, `features`, `normalise`, `partition`, `siblings`, `word_vectors`, `propensity` and `pictures`; see
    # [own-data.md](own-data.md)
    data: dict[str, Any] | None = None


class Timing(Strict):
    """How methods are timed: the numbers of repeats and of epochs, the protocols, and the methods."""

    # number of repeats per method, each in a new process; the repeats use the splits and settings of the task's seeds
    # in turn. A claim about time or memory needs five repeats
    repeats: int = Field(default=3, ge=1)
    epochs: int = Field(default=3, ge=1)  # number of epochs to time in each repeat
    # true: each repeat also times all epochs up to the best one, for claims about the time to converge
    to_best_epoch: bool = False
    # protocols, or single tasks as <data set>/<protocol>, under which methods are timed; none: all of them
    protocols: list[str] | None = Field(default=None, min_length=1)
    methods: list[str] | None = Field(default=None, min_length=1)  # methods to time; none: all those of the run


def _different(sizes: list[int]) -> list[int]:
    if len(set(sizes)) < max(2, len(sizes)):
        raise PydanticCustomError("sizes", "give two or more different sizes")
    return sizes


Sizes = Annotated[list[Annotated[int, Field(ge=1)]], AfterValidator(_different)]


class Scaling(Strict):
    """The sizes of simulated data at which times are measured, to find out how the times grow with each size.

    `GROWTH` lists which sizes each simulator has.
    """

    # a simulated data set. With the adapter `simulator`, the time of an epoch is measured as `pairs`, `labels` or
    # `factors` grow. With the adapter `simulated_tree`, the time to score an image is measured as `images` or `terms`
    # grow
    dataset: str
    options: dict[str, Any] = {}  # replaces single options of the data set's file
    methods: list[str] | None = Field(default=None, min_length=1)  # methods of the run; none: all that can be measured
    repeats: int = Field(ge=2)  # repeats of each measurement, from which intervals of the fitted exponents are computed
    pairs: Sizes | None = None  # numbers of training pairs
    labels: Sizes | None = None  # numbers of labels
    factors: Sizes | None = None  # numbers of factors (K)
    images: Sizes | None = None  # numbers of training images
    terms: Sizes | None = None  # mean numbers of terms per image

    @property
    def sizes(self) -> dict[str, list[int]]:
        """The sizes that are varied, such as the number of labels, each with the values that it takes."""
        return self.model_dump(include={"pairs", "labels", "factors", "images", "terms"}, exclude_none=True)


class RunConfig(Strict):
    """A run: its data sets, protocols, methods and seeds (`config/config.yaml`)."""

    # data sets, each by the name of its file in config/datasets; a data set with `data` needs no file
    datasets: dict[str, RunDataset] = Field(min_length=1)
    # names of files in config/methods, in the order of display; a method is left out of a task where it cannot run, for
    # example because the task lacks image features
    methods: list[str] = Field(min_length=1)
    # <data set>/<protocol>/<method> -> why the method is left out of this task; if jobs of models that are trained
    # elsewhere fail, `vsebench run` sets this key, so that the run can go on without these models
    without: dict[str, str] = {}
    # packs of other runs (docs/packs.md), whose methods are shown with those of this run without being fitted again
    with_packs: list[str] = Field(default=[], alias="with")
    # one split and one fit per seed; results are means over seeds; fewer than three seeds cause a warning
    seeds: list[int] = Field(default=[1, 2, 3, 4, 5], min_length=1)
    # protocol, or a single task as <data set>/<protocol> -> seeds in place of `seeds`
    protocol_seeds: dict[str, Annotated[list[int], Field(min_length=1)]] = {}
    # method -> number of seeds with which the method is fitted, to save time; they are the first seeds of the task.
    # `default` sets this number for all methods that are not named; without `default`, these methods are fitted with
    # all seeds. Two methods are compared on the seeds that both have
    method_seeds: dict[str, Annotated[int, Field(ge=1)]] = {}
    factors: int = Field(default=32, ge=1)  # the number of factors (K) of methods whose file does not set it
    # true: choose settings from each method's `grid` on the validation labels (under `official` once for all seeds, see
    # `tuning_seeds`); false: use each method's `settings`, or those of an earlier search; a list: choose settings for
    # these methods only. The number of epochs is always chosen on the validation labels
    tune: bool | list[str] = False
    # number of configurations that the grid of each tuned method must have; the grids in `config/methods` have 8
    tuning_budget: int = Field(default=8, ge=1)
    # maximum number of configurations to try for a method after its grid. As long as the best value of a setting is the
    # smallest or the largest value tried, a value beyond it is tried: the best value times its ratio to the nearest
    # other value, or times 2 if the other value is 0. If the method does not allow the new value, such as a dropout of
    # 1, the step is halved. After that, as long as training with the best configuration stops at the limit on epochs,
    # this configuration is trained again with twice the limit
    tuning_beyond_edges: int = Field(default=0, ge=0)
    # number of seeds whose mean validation value chooses the settings, if all seeds have the same split. These are the
    # first seeds of the task. For methods whose model does not depend on the seed, only the first seed is used
    tuning_seeds: int = Field(default=1, ge=1)
    # the metric by which settings and epochs are chosen: a metric of each image's ranks for which larger is better;
    # none: the protocol's metric, which is `ndcg@10` for `distinct` and `regions`, and `map` for the others
    validation_metric: str | None = None
    # full names of the metrics to measure, in the order of display; see [metrics.md](metrics.md). The default of a run
    # with new test images also has `map`, `pc_precision@5`, `pc_recall@5`, `macro_f1_of_means@5` and `n_plus@5`; with
    # `unseen_labels_all` or `from-<data set>`, it has `seen_recall@5`, `unseen_recall@5` and `harmonic_recall@5`, too
    metrics: list[str] = Field(default=list(DEFAULT_METRICS), min_length=1)
    validation_images: int = Field(default=20000, ge=1)  # maximum number of images to validate on
    bootstrap: int = Field(default=1000, ge=100)  # number of resamples for intervals and tests
    timing: Timing = Timing()  # how methods are timed
    scaling: Scaling | None = None  # if given, measure how times grow with the size of simulated data
    # method -> when its training stops, in place of its file's `epochs`; `default`: for all methods not named
    epochs: dict[str, Epochs] = {}
    # method -> setting -> values to try if the run tunes, in place of its file's `grid`
    grids: dict[str, dict[str, list[Any]]] = {}
    decisions: dict[str, list[str]] = {}  # a file in config/decisions -> the methods to apply it to
    # method -> setting -> values to try; if the run tunes, the other settings in the method's grid are tuned at each
    # value
    sweeps: dict[str, dict[str, list[int | float]]] = {}
    # method -> setting -> values to try at each value of a sweep, in place of the method's grid; also used by a run
    # that does not tune
    sweep_grids: dict[str, dict[str, list[Any]]] = {}
    # number of configurations to try after the grid at each value of a sweep, because the best values of the other
    # settings may lie far from the grid; left out: `tuning_beyond_edges`
    sweeps_beyond_edges: int | None = Field(default=None, ge=0)
    # names of files in config/papers, or `all`: the run compares its results with these papers, makes their tables and
    # figures, and tests their claims
    papers: list[str] | Literal["all"] = []

    def tunes(self, variant: str) -> bool:
        """Return whether the run itself tunes the settings of a method."""
        return self.tune if isinstance(self.tune, bool) else variant in self.tune
