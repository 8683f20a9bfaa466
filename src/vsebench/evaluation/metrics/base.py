"""Base classes of metrics, and functions that find a metric by its name.

A module of this package defines related metrics: classes with the names of the metrics in CamelCase, such as `MacroF1`
for `macro_f1`. A cut-off follows the name: `recall@10` is the class `Recall` with the cut-off 10.
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
    """A metric with its cut-off k: only the first k labels count; None means the whole ranking."""

    cutoff: int | None
    takes_cutoff: ClassVar[Literal["always", "never", "optional"]]
    lower_is_better: ClassVar[bool] = False
    is_quality: ClassVar[bool] = True  # false if neither large nor small values are better
    largest: ClassVar[float] = 1.0  # the largest possible value; the smallest is 0
    is_count: ClassVar[bool] = False  # whether values are numbers of labels or images, shown as counts
    unit: ClassVar[Literal["image", "label"]] = "image"  # the unit that is averaged over and resampled

    @property
    def sign(self) -> int:
        """1 if large values are better, -1 if small values are better, and 0 if neither is the case."""
        return 0 if not self.is_quality else -1 if self.lower_is_better else 1

    def bound(self, n_labels: int) -> float:
        """Return the largest possible value if there are `n_labels` candidates."""
        return self.largest


class RankMetric(Metric):
    """A metric of an image, computed from the ranks of its held-out labels."""

    @abstractmethod
    def value(self) -> pl.Expr:
        """Return a polars expression that computes the metric from the rows of one image, one row per held-out label.

        The columns `above`, `tied`, `right` and `negatives` are those of `schemas.RANKS`. The column `rank` is the
        label's rank in the image's list: above + tied + its position among the held-out labels, which are sorted by
        above + tied. All columns but `negatives` are null for a label that is excluded from the candidates (a miss).
        `pl.len()` is the number of held-out labels.
        """


class ListMetric(Metric):
    """A metric of an image, computed from the first labels of its list and the siblings of its held-out labels.

    Siblings are labels with a common parent. The metric is left out if the data set does not state which labels are
    siblings.
    """

    takes_cutoff = "always"

    @abstractmethod
    def value(self) -> pl.Expr:
        """Return a polars expression of the metric from the rows of one image, one row per label of its list.

        Columns: `rank` (counted from 1; null in the only row of an image without candidates) and `related` (the
        label is one of the image's held-out labels or a sibling of one).
        """


class PopularityMetric(Metric):
    """A metric of an image, computed from the training frequencies of the first labels of its list."""

    takes_cutoff = "always"

    @abstractmethod
    def value(self) -> pl.Expr:
        """Return a polars expression of the metric from the rows of one image, one row per label of its list.

        Columns: `rank` (counted from 1; null in the only row of an image without candidates) and `frequency` (the
        number of training images with the label).
        """


class PropensityMetric(Metric):
    """A metric in which rare labels count more: the mean over images, divided by the mean for the best possible lists.

    A label l with the propensity p has the weight 1 / p, where (Jain, Prabhu and Varma, KDD 2016)

        p = 1 / (1 + C exp(-A log(N_l + B))),    C = (log N - 1) (B + 1)^A,

    N is the number of training images, N_l the number of those with the label, and A and B are settings of the data
    set. The metric is defined for a set of images, not for one image: it is the mean value of the images' lists,
    divided by the mean value of the best possible lists. The best possible list of an image begins with its held-out
    labels, the largest weights first. For a resample of the images, both means are taken over the resample. Two methods
    are compared by the difference between their ratios.
    """

    takes_cutoff = "always"

    @abstractmethod
    def value(self) -> pl.Expr:
        """Return a polars expression for the value of an image's list, from one row per held-out label.

        The columns are `weight` (the label's weight) and `rank` (its rank in the list, or in the best possible list).
        In the list, `rank` is null for a label that is excluded from the candidates (a miss), and among held-out labels
        with the same score, the smallest weight comes first.
        """


class LabelMetric(Metric):
    """A metric of a label, computed from the ranks of its images in a ranking of all test images."""

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
        """Return the metric, (n,) float64, from the recalls of seen and of unseen labels, (n,) float64 each.

        Each element is for the test images or for one resample of them. The recall of seen labels is the share of an
        image's seen labels that are among the first `cutoff` labels of the list, averaged over the images with a seen
        label. The recall of unseen labels is computed in the same way.
        """


class SetMetric(Metric):
    """A metric of predicted label sets, computed from counts per label; it is not a mean over images.

    With a cut-off, the predicted set of an image is the first `cutoff` labels of its list, and images without a label
    are left out. Without a cut-off, the set is chosen by a decision, and all test images count.
    """

    takes_cutoff = "optional"
    # Whether resamples are shifted so that their median equals the metric of the test images. A resample has fewer
    # different images than the test set, so a measure of inequality would be larger in nearly all resamples.
    recentred: ClassVar[bool] = False

    @abstractmethod
    def value(self, hits: Values, predicted: Values, right: Values) -> Values:
        """Return the metric, (...) float64, from numbers of images per label, each (..., n_labels) float64.

        `predicted` counts the images for which a label is predicted, `right` the images that have it, and `hits` the
        images for which both are true.
        """


class EqualLabelsMetric(SetMetric):
    """A metric of predicted label sets in which each label has the same weight, such as a mean over labels.

    A bootstrap resample of the images lacks about a third of the labels that only one image has, and it lacks all
    labels that no image has. In bootstrap resamples, the metric would therefore be too small and vary too little.
    Instead, resamples are made from what each image adds to the metric. The variance of the metric over these resamples
    is that of the jackknife, which tends to be too large (Efron and Stein, "The jackknife estimate of variance", Annals
    of Statistics 9, 1981).
    """

    @abstractmethod
    def lost_without(self, sets: "SetsOfImages") -> Values:
        """Return, for each image, by how much the metric is smaller without this image, (n_images,) float64."""


class ImageSetMetric(Metric):
    """A metric of an image's predicted label set; `SetMetric` states how sets are formed and which images count."""

    takes_cutoff = "optional"

    @abstractmethod
    def value(self, hits: Values, predicted: Values, right: Values) -> Values:
        """Return the metric of each image, (n,) float64, from its numbers of labels, each (n,) float64.

        `hits` counts the image's labels that are predicted, `predicted` all predicted labels, `right` all its labels.
        """


def is_of_decision(name: str) -> bool:
    """Return whether a metric measures the label sets of a decision, as `exact_match` and `macro_f1` do."""
    metric = load_metric(name)
    return isinstance(metric, SetMetric | ImageSetMetric) and metric.cutoff is None


@cache
def load_metric(name: str) -> Metric:
    """Return the metric with a name such as "recall@10"; an unknown name raises a `UserError` that suggests names."""
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
    """Load a metric and check its kind (base class); a metric of another kind raises a `UserError` with an example."""
    metric = load_metric(name)
    if not isinstance(metric, kind):
        raise UserError(f"{name} cannot be computed from {source}; use a metric such as {example}")
    return metric


def needs_frequencies(names: Iterable[str]) -> bool:
    """Return whether a metric in `names` needs to know how many training images each label has."""
    return any(isinstance(load_metric(name), PropensityMetric | PopularityMetric) for name in names)


def module_of_metric(name: str) -> str:
    """Return the module that defines a metric; an unknown name raises a `UserError` that suggests names."""
    plain, _ = _parts(name)
    return _classes()[plain].__module__


def metric_class(plain: str) -> type[Metric]:
    """Return the class of a known metric, by its name without a cut-off."""
    return _classes()[plain]


def known_metrics() -> list[str]:
    """Return the sorted names of all metrics, without cut-offs."""
    return list(_classes())


def _parts(name: str) -> tuple[str, str | None]:
    """Return a known metric's name without its cut-off, and the cut-off."""
    match = NAME.fullmatch(name)
    plain, cutoff = match.groups() if match else ("", None)
    if plain not in _classes():
        raise UserError(f"there is no metric {name!r}; {instead(plain or name, known_metrics(), 'metrics')}")
    return plain, cutoff


def _classes() -> Mapping[str, type[Metric]]:
    return classes_by_name(Metric, "evaluation/metrics")


def within(cutoff: int | None) -> pl.Expr:
    """Return whether a label is among the first `cutoff` labels of the list; a miss (excluded label) never is."""
    rank = pl.col("rank")
    return (rank.is_not_null() if cutoff is None else rank <= cutoff).fill_null(False)


def discount(rank: pl.Expr) -> pl.Expr:
    """Return the gain of a hit at a rank, counted from 1."""
    return 1 / (1 + rank.cast(pl.Float64)).log(2)


def best_gain(cutoff: int | None) -> pl.Expr:
    """Return the gain of a list that begins with all held-out labels, up to the cut-off."""
    rank = pl.int_range(1, pl.len() + 1)
    counted = pl.lit(True) if cutoff is None else rank <= cutoff
    return pl.when(counted).then(discount(rank)).otherwise(0.0).sum()


def share(part: Values, whole: Values) -> Values:
    """Return part / whole elementwise, 0 where the whole is 0."""
    return np.divide(part, whole, out=np.zeros_like(whole), where=whole > 0)


def mean_over_labels(of_labels: Values) -> Values:
    """Return the means of values, (..., n_labels), over labels."""
    return np.asarray(of_labels.mean(axis=-1))


@dataclass(frozen=True)
class SetsOfImages:
    """Label sets of images as CSR matrices, (n_images, n_labels) float64 each."""

    hits: "sparse.csr_array"  # 1 where a label is predicted and correct
    predicted: "sparse.csr_array"  # 1 where a label is predicted
    right: "sparse.csr_array"  # 1 where a label is correct

    def lost(self, of_label: Callable[[Values, Values, Values], Values]) -> Values:
        """Return, for each image, by how much a sum over labels is smaller without this image, (n_images,).

        `of_label` returns each label's term of the sum, (n_labels,), from three numbers of images, (n_labels,) each:
        those for which the label is a hit, those for which it is predicted, and those for which it is right.
        """
        hits, predicted, right = (matrix.sum(axis=0) for matrix in (self.hits, self.predicted, self.right))
        fewer_hits, fewer_predicted, fewer_right = (np.maximum(n - 1, 0.0) for n in (hits, predicted, right))
        whole = of_label(hits, predicted, right)
        of_hit = whole - of_label(fewer_hits, fewer_predicted, fewer_right)
        of_predicted = whole - of_label(hits, fewer_predicted, right)
        of_right = whole - of_label(hits, predicted, fewer_right)
        false, missed = self.predicted - self.hits, self.right - self.hits
        return np.asarray(self.hits @ of_hit + false @ of_predicted + missed @ of_right)
