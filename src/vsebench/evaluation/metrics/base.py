"""Base classes of metrics, and functions that find a metric by its name.

Each module of this package defines some related metrics. The class of a metric has the metric's name in CamelCase, such
as `MacroF1` for `macro_f1`. A cut-off follows the name: `recall@10` is the class `Recall` with the cut-off 10.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, ClassVar, Literal, TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from vsebench.core.errors import UserError, instead
from vsebench.core.modules import classes_by_name

if TYPE_CHECKING:  # importing SciPy would slow down the start of each job
    from scipy import sparse

NAME = re.compile(r"([a-z][a-z0-9_]*)(?:@([1-9][0-9]*))?")
LARGEST_CUTOFF_OF_LISTS = 10

Values = NDArray[np.float64]
Kind = TypeVar("Kind", bound="Metric")


@dataclass(frozen=True)
class Metric(ABC):
    """A metric; only the first `cutoff` labels of a ranking count, or all labels if `cutoff` is None."""

    cutoff: int | None
    takes_cutoff: ClassVar[Literal["always", "never", "optional"]]
    lower_is_better: ClassVar[bool] = False
    is_quality: ClassVar[bool] = True  # false if neither large nor small values are better
    largest: ClassVar[float] = 1.0  # the largest possible value for any number of labels; the smallest is 0
    counts_labels: ClassVar[bool] = False  # whether values are numbers of candidates, or means of such numbers
    is_count: ClassVar[bool] = False  # whether values are numbers of labels or images, shown as counts
    unit: ClassVar[Literal["image", "label"]] = "image"  # the unit that is averaged over and resampled

    @property
    def sign(self) -> int:
        """1 if large values are better, -1 if small values are better, and 0 if neither is the case."""
        return 0 if not self.is_quality else -1 if self.lower_is_better else 1

    def bound(self, n_labels: int) -> float:
        """Return the largest possible value if there are `n_labels` candidates."""
        return float(n_labels) if self.counts_labels else self.largest


class RankMetric(Metric):
    """A metric of an image, computed from the ranks of its held-out labels."""

    @abstractmethod
    def value(self) -> pl.Expr:
        """Return a polars expression that computes the metric of one image.

        The expression reads the image's rows, one row per held-out label. The columns `above`, `tied`, `right` and
        `negatives` are those of `schemas.RANKS`. The column `rank` is the label's rank in the image's list. To compute
        this rank, the held-out labels are sorted by above + tied. The rank is above + tied + the label's position in
        this order, counted from 1. All columns but `negatives` are null for a label that is excluded from the
        candidates (a miss). `pl.len()` is the number of held-out labels.
        """


class ListMetric(Metric):
    """A metric of an image, computed from the first labels of its list and the siblings of its held-out labels.

    Siblings are labels with a common parent. The metric is NaN if the data set does not state which labels are
    siblings.
    """

    takes_cutoff = "always"

    @abstractmethod
    def value(self) -> pl.Expr:
        """Return a polars expression that computes the metric of one image.

        The expression reads the rows of the image's list, one row per label, with the columns

        - `rank`, counted from 1. If an image has no candidates, its only row has the rank null.
        - `related`: whether the label is one of the image's held-out labels or a sibling of one.
        """


class PopularityMetric(Metric):
    """A metric of an image, computed from the training frequencies of the first labels of its list."""

    takes_cutoff = "always"

    @abstractmethod
    def value(self) -> pl.Expr:
        """Return a polars expression that computes the metric of one image.

        The expression reads the rows of the image's list, one row per label, with the columns

        - `rank`, counted from 1. If an image has no candidates, its only row has the rank null.
        - `frequency`: the number of training images with the label.
        """


class PropensityMetric(Metric):
    """A metric in which rare labels count more, as a share of the best possible value.

    A label l with the propensity p has the weight 1 / p. The propensity is (Jain, Prabhu and Varma, KDD 2016)

        p = 1 / (1 + C exp(-A log(N_l + B))),    C = (log N - 1) (B + 1)^A.

    N is the number of training images, and N_l is the number of training images with label l. A and B are settings of
    the data set.

    The metric is defined for a set of images, not for one image: it is the mean value of the images' lists, divided by
    the mean value of the best possible lists. The best possible list of an image begins with its held-out labels, the
    largest weights first. For a resample of the images, both means are taken over the resample. Two methods are
    compared by the difference between their ratios of these means.
    """

    takes_cutoff = "always"

    @abstractmethod
    def value(self) -> pl.Expr:
        """Return a polars expression that computes the value of one list.

        The list is an image's list or the best possible list. The expression reads one row per held-out label of the
        image, with the columns

        - `weight`: the label's weight.
        - `rank`: the label's rank in the list. In an image's list, the rank is null for a label that is excluded from
          the candidates (a miss). If held-out labels have the same score, the one with the smallest weight comes first.
        """


class LabelMetric(Metric):
    """A metric of a label, computed from the ranks of the label's images among all test images."""

    unit = "label"

    @abstractmethod
    def value(self) -> pl.Expr:
        """Return a polars expression that computes the metric from one label's rows of `schemas.LABEL_RANKS`."""


class SeenMetric(Metric):
    """A metric that combines the recall of seen labels with the recall of unseen labels, over all test images.

    Seen labels are those on which models are trained. The metric is NaN unless the test images have labels of both
    kinds.
    """

    takes_cutoff = "always"

    @abstractmethod
    def value(self, seen: Values, unseen: Values) -> Values:
        """Return the metric, given the recalls of seen and of unseen labels.

        The arguments and the result have shape (n,) and dtype float64. Each element is computed from all test images or
        from one resample of them. The recall of seen labels is the share of an image's seen labels that are among the
        first `cutoff` labels of the list, averaged over the images with a seen label. The recall of unseen labels is
        computed in the same way.
        """


class SetMetric(Metric):
    """A metric of predicted label sets that is computed from counts per label, not as a mean over images.

    With a cut-off, the predicted set of an image consists of the first `cutoff` labels of its list, and images without
    a label are left out. Without a cut-off, a decision chooses the predicted sets, and all test images count.
    """

    takes_cutoff = "optional"
    # Whether resamples are shifted so that their median equals the metric of the test images. A resample has fewer
    # different images than the test set, so a measure of inequality would be larger in nearly all resamples.
    recentred: ClassVar[bool] = False

    @abstractmethod
    def value(self, hits: Values, predicted: Values, right: Values) -> Values:
        """Return the metric, given numbers of images for each label.

        `predicted` counts the images for which a label is predicted, `right` the images that have the label, and `hits`
        the images for which both are true. The arguments have shape (..., n_labels), and the result has shape (...).
        All of them are float64.
        """


class EqualLabelsMetric(SetMetric):
    """A metric of predicted label sets in which each label has the same weight, such as a mean over labels.

    A bootstrap resample of the images lacks about a third of the labels that only one image has, and it lacks all
    labels that no image has. In bootstrap resamples, the metric would therefore be too small and vary too little.
    Instead, `lost_without` computes what each image adds to the metric, and these amounts are resampled. The variance
    of the metric over these resamples is that of the jackknife, which tends to be too large (Efron and Stein, "The
    jackknife estimate of variance", Annals of Statistics 9, 1981).
    """

    @abstractmethod
    def lost_without(self, sets: "SetsOfImages") -> Values:
        """Return, for each image, the metric of all images minus the metric without this image.

        The result has shape (n_images,) and dtype float64.
        """


class ImageSetMetric(Metric):
    """A metric of an image's predicted label set; `SetMetric` states how sets are formed and which images count."""

    takes_cutoff = "optional"

    @abstractmethod
    def value(self, hits: Values, predicted: Values, right: Values) -> Values:
        """Return the metric of each image, given numbers of labels for each image.

        `predicted` counts the labels that are predicted for an image, `right` the labels that the image has, and `hits`
        the labels for which both are true. The arguments and the result have shape (n,) and dtype float64.
        """


def is_of_decision(name: str) -> bool:
    """Return whether a metric measures the label sets of a decision, as `exact_match` and `macro_f1` do."""
    metric = load_metric(name)
    return isinstance(metric, SetMetric | ImageSetMetric) and metric.cutoff is None


@cache
def load_metric(name: str) -> Metric:
    """Return the metric with a name such as "recall@10".

    An unknown name raises a `UserError` that suggests names. A cut-off that is missing, too large or not allowed for
    the metric also raises a `UserError`.
    """
    plain, cutoff = _parts(name)
    metric = _classes()[plain]
    if metric.takes_cutoff == "always" and cutoff is None:
        raise UserError(f"the metric {name!r} needs a cut-off, such as {plain}@10")
    if metric.takes_cutoff == "never" and cutoff is not None:
        raise UserError(f"the metric {plain!r} takes no cut-off; remove @{cutoff} from its name")
    of_lists = SetMetric | ImageSetMetric | ListMetric | PopularityMetric
    if issubclass(metric, of_lists) and int(cutoff or 0) > LARGEST_CUTOFF_OF_LISTS:
        stored = "the number of labels that are stored for each image"
        raise UserError(f"the metric {name!r}: use a cut-off up to {LARGEST_CUTOFF_OF_LISTS}, {stored}")
    return metric(int(cutoff) if cutoff else None)


def metric_of_kind(name: str, kind: type[Kind], source: str, example: str) -> Kind:
    """Load a metric and check its kind, which is a base class such as `RankMetric`.

    A metric of another kind raises a `UserError`. The message states that the metric cannot be computed from `source`,
    and it suggests the metric `example`.
    """
    metric = load_metric(name)
    if not isinstance(metric, kind):
        raise UserError(f"{name} cannot be computed from {source}; use a metric such as {example}")
    return metric


def needs_frequencies(names: Iterable[str]) -> bool:
    """Return whether a metric in `names` needs to know how many training images each label has."""
    return any(isinstance(load_metric(name), PropensityMetric | PopularityMetric) for name in names)


def module_of_metric(name: str) -> str:
    """Return the full dotted name of a metric's module; an unknown metric raises a `UserError` that suggests names."""
    plain, _ = _parts(name)
    return _classes()[plain].__module__


def metric_class(plain: str) -> type[Metric]:
    """Return the class of a known metric, given the metric's name without a cut-off."""
    return _classes()[plain]


def known_metrics() -> list[str]:
    """Return the sorted names of all metrics, without cut-offs."""
    return list(_classes())


def _parts(name: str) -> tuple[str, str | None]:
    """Return a known metric's name without its cut-off, and the cut-off or None."""
    match = NAME.fullmatch(name)
    plain, cutoff = match.groups() if match else ("", None)
    if plain not in _classes():
        raise UserError(f"there is no metric {name!r}; {instead(plain or name, known_metrics(), 'metrics')}")
    return plain, cutoff


def _classes() -> Mapping[str, type[Metric]]:
    return classes_by_name(Metric, "evaluation/metrics")


def within(cutoff: int | None) -> pl.Expr:
    """Return an expression for whether a label is among the first `cutoff` labels of the list.

    If `cutoff` is None, the expression is true for all candidates. It is always false for a miss, which is a label that
    is excluded from the candidates.
    """
    rank = pl.col("rank")
    return (rank.is_not_null() if cutoff is None else rank <= cutoff).fill_null(False)


def discount(rank: pl.Expr) -> pl.Expr:
    """Return the gain of a hit, 1 / log2(1 + rank), for a rank that is counted from 1."""
    return 1 / (1 + rank.cast(pl.Float64)).log(2)


def best_gain(cutoff: int | None) -> pl.Expr:
    """Return the gain of a list that begins with all held-out labels, summed over the first `cutoff` labels."""
    rank = pl.int_range(1, pl.len() + 1)
    counted = pl.lit(True) if cutoff is None else rank <= cutoff
    return pl.when(counted).then(discount(rank)).otherwise(0.0).sum()


def share(part: Values, whole: Values) -> Values:
    """Return part / whole for each element, and 0 where `whole` is 0."""
    return np.divide(part, whole, out=np.zeros_like(whole), where=whole > 0)


def mean_over_labels(of_labels: Values) -> Values:
    """Return the mean of the values over labels, which are the last axis of `of_labels`."""
    return np.asarray(of_labels.mean(axis=-1))


@dataclass(frozen=True)
class SetsOfImages:
    """Label sets of images, as CSR matrices with shape (n_images, n_labels) and dtype float64."""

    hits: "sparse.csr_array"  # 1 where a label is predicted and correct
    predicted: "sparse.csr_array"  # 1 where a label is predicted
    right: "sparse.csr_array"  # 1 where a label is correct

    def lost(self, of_label: Callable[[Values, Values, Values], Values]) -> Values:
        """Return, for each image, a sum over labels for all images minus the same sum without this image.

        The result has shape (n_images,). `of_label` returns each label's term of the sum. Its three arguments count,
        for each label, the images for which the label is a hit, those for which it is predicted, and those for which it
        is correct. The terms and the three arguments have shape (n_labels,).
        """
        hits, predicted, right = (matrix.sum(axis=0) for matrix in (self.hits, self.predicted, self.right))
        fewer_hits, fewer_predicted, fewer_right = (np.maximum(n - 1, 0.0) for n in (hits, predicted, right))
        whole = of_label(hits, predicted, right)
        of_hit = whole - of_label(fewer_hits, fewer_predicted, fewer_right)
        of_predicted = whole - of_label(hits, fewer_predicted, right)
        of_right = whole - of_label(hits, predicted, fewer_right)
        false, missed = self.predicted - self.hits, self.right - self.hits
        return np.asarray(self.hits @ of_hit + false @ of_predicted + missed @ of_right)
