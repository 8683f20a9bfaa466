"""The library: fit a method to labels, rank labels, evaluate methods under a protocol, and read a finished run.

The functions call the same code as the workflow's stages, so the same data, settings and seed give the same numbers as
in a run. A mistake in an argument raises a `UserError` with a message of one line.
"""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from vsebench import models
from vsebench.config.dataset import Propensity
from vsebench.config.method import Epochs, read_method_config
from vsebench.config.run import default_metrics
from vsebench.core.errors import UserError, did_you_mean
from vsebench.core.modules import project
from vsebench.core.schemas import SUMMARY
from vsebench.core.storage import read_parquet
from vsebench.core.tasks import Case, Entry, Task
from vsebench.core.workers import Workers, workers
from vsebench.core.yaml_files import check
from vsebench.data.features import Features, Rows, side_by_side
from vsebench.data.needs import NEEDS, Names, Parts
from vsebench.data.problem import Dataset, Ids, LabelMatrix, Matrix, Problem, Queries, Split, Training, WordVectors
from vsebench.data.streams import LARGEST_SEED
from vsebench.evaluation.frequencies import Frequencies
from vsebench.evaluation.learnt import has_learnt
from vsebench.evaluation.measuring import Measured, Ranked, measure
from vsebench.evaluation.metrics.base import load_metric
from vsebench.evaluation.ranking import check_finite, list_tops, rank, rank_images
from vsebench.evaluation.summary import summarise
from vsebench.formats.in_memory import GivenLabels, labels_of
from vsebench.formats.scores_file import numbers_of, read_scores
from vsebench.methods.base import Fitter, Settings, load_method, read_settings, with_factors
from vsebench.methods.outside.given_scores import ScoreMatrix
from vsebench.methods.outside.outside_scores import check_scores, model_of
from vsebench.models import Model, by_frequency, checked_scores
from vsebench.protocols.base import load_protocol, split_dataset
from vsebench.selection import Search, select
from vsebench.training import Attempt, refit, within_memory

VALIDATION_IMAGES = 20000
NOTHING_LEARNT = (
    "the model ranks the labels of a training image no higher for this image than for others; try another "
    "learning_rate, less regularisation or more epochs"
)
PROPENSITY = Propensity()
Texts = NDArray[np.str_]


@dataclass(frozen=True)
class Fitted:
    """A fitted method.

    Attributes
    ----------
    method : the name of the method's file in config/methods; empty for a loaded model
    settings : the settings of the fit, without those left at their defaults; empty for a loaded model
    epochs : number of training epochs; None for a loaded model, and for a method that is not trained in epochs
    model : the model, as in a run's model.npz
    labels : the labels of the fitted matrix, one row per image; None for a loaded model
    features : the features of the training images, if the method was given any
    names : the names of the labels, if the matrix had names; None for a loaded model
    images : the ids of the training images, if the matrix had ids
    """

    method: str
    settings: dict[str, Any]
    epochs: int | None
    model: Model
    labels: LabelMatrix | None = None
    features: Features | None = None
    names: list[str] | None = None
    images: list[str] | None = None

    def top(self, images: ArrayLike | None = None, k: int = 10) -> tuple[Ids | Texts, Matrix]:
        """For all or some images of the fitted matrix, rank the labels that an image does not have.

        Parameters
        ----------
        images : (n,) row numbers of the fitted matrix, or ids of images if the matrix had ids; None: all images
        k : number of labels per image

        Returns
        -------
        Two arrays: the labels of each image, best first, and their scores. Both have shape (n, k), or (n, n_labels) if
        k is greater than the number of labels. The labels are names if the fitted matrix had names, and otherwise
        column numbers of this matrix (int32). The scores are float32. If labels have equal scores, the label with the
        smaller column number comes first. If an image has fewer than k labels to rank, the rest of its row contains ""
        (names) or -1 (numbers) in the first array, and -inf in the second.
        """
        if self.labels is None:
            raise UserError("top: a loaded model does not contain the labels of its images; use annotate, or fit again")
        n_images = self.labels.n_rows
        rows = np.arange(n_images) if images is None else self._rows(np.asarray(images))
        if rows.ndim != 1 or rows.dtype.kind not in "iu" or not ((rows >= 0) & (rows < n_images)).all():
            raise UserError(f"images: must be a list of row numbers from 0 to {n_images - 1}")
        chosen: Ids = np.array(rows, dtype=np.int32)
        features = None if self.features is None else self.features.rows(chosen)
        return self._named(*_first(self.model, Queries(chosen, self.labels.rows(chosen), features), k))

    def _rows(self, images: NDArray[Any]) -> NDArray[Any]:
        """Convert ids of images to row numbers; row numbers are returned unchanged."""
        if self.images is None or images.dtype.kind != "U":
            return images
        row_of = {name: row for row, name in enumerate(self.images)}
        unknown = [name for name in images.ravel().tolist() if name not in row_of]
        if unknown:
            raise UserError(f"images: there is no image {unknown[0]!r}")
        return np.array([row_of[name] for name in images.tolist()], dtype=np.int64)

    def _named(self, labels: Ids, scores: Matrix) -> tuple[Ids | Texts, Matrix]:
        """Replace the numbers of labels with names if the labels have names; return the scores unchanged."""
        return (labels if self.names is None else np.array([*self.names, ""])[labels]), scores

    def annotate(self, features: Any = None, labels: Any = None, k: int = 5) -> tuple[Ids | Texts, Matrix]:
        """Rank labels for new images, given the features of these images, their known labels, or both.

        Parameters
        ----------
        features : (n, d) numbers, dense or scipy sparse, if the model uses features. If the model was fitted to named
            sets of features, give a mapping of these names to such arrays.
        labels : the known labels of the new images, in any form that `fit` accepts as `matrix`, for example an array of
            counts, (n, n_labels). Known labels are not ranked.
        k : number of labels per image

        Returns
        -------
        Two arrays, as from `top`: the labels of each image, best first, and their scores. A loaded model has no names
        of labels, so the labels are then numbers.

        Raises
        ------
        UserError
            The model can score only the images that it was fitted to (for example VSE-fs), or an argument is missing or
            has the wrong shape.
        """
        if features is None and labels is None:
            raise UserError("annotate: give features or labels of the new images")
        rows = None if features is None else self._new(features)
        if rows is not None and labels is None:
            known = LabelMatrix.empty(rows.n_images, self.model.n_labels)
        else:
            given = labels_of(labels, self.names, can_be_empty=True)
            if rows is not None:
                _check_order(given, "features")
            known = given.matrix
        if known.n_labels != self.model.n_labels:
            raise UserError(f"labels: {known.n_labels} columns, but the model has {self.model.n_labels} labels")
        if rows is not None and rows.n_images != known.n_rows:
            raise UserError(f"features: {rows.n_images} rows, but `labels` has {known.n_rows}")
        n_images = known.n_rows
        values: Rows = None if rows is None else rows.rows(np.arange(n_images))
        return self._named(*_first(self.model, Queries(np.full(n_images, -1, dtype=np.int32), known, values), k))

    def _new(self, features: Any) -> Features:
        """Return those features of new images that the model uses, with all sets side by side."""
        names = [block.name for block in models.named_sets(self.model)]
        if names and not (isinstance(features, Mapping) and set(names) <= features.keys()):
            form = ", ".join(f"{name!r}: ..." for name in names)
            raise UserError(f"features: this model uses the sets {', '.join(names)}; give features={{{form}}}")
        if not names and isinstance(features, Mapping):
            raise UserError("features: this model uses one set of features without a name; give an array")
        return side_by_side(_sets({name: features[name] for name in names} if names else features, None))

    def save(self, path: str | Path) -> None:
        """Write the model to a file that `load` and `vsebench annotate` read."""
        models.save(self.model, Path(path))


@dataclass(frozen=True)
class Results:
    """The tables of a finished run."""

    folder: Path  # the run's results

    @property
    def tables(self) -> list[str]:
        """The names of all tables in the run's folder of results."""
        return sorted(path.stem for path in self.folder.glob("*.parquet"))

    @property
    def metrics(self) -> pl.DataFrame:
        """The table of metrics and intervals, with a row per data set, protocol, method, decision, seed and metric."""
        return self.table("metrics")

    @property
    def summary(self) -> pl.DataFrame:
        """The table of means over seeds and differences from the best method (columns: `core.schemas.SUMMARY`)."""
        return self.table("summary")

    def table(self, name: str) -> pl.DataFrame:
        """Read the table with this name; `tables` lists the names."""
        if name not in self.tables:
            raise UserError(f"{self.folder}: no table {name!r}; the tables are {', '.join(self.tables)}")
        return read_parquet(self.folder / f"{name}.parquet")


def list_methods() -> list[str]:
    """Return the names of all methods, which are the names of the files in config/methods without .yaml."""
    return sorted(path.stem for path in _methods_folder().glob("*.yaml"))


def fit(
    method: str,
    matrix: Any,
    *,
    features: Any = None,
    word_vectors: ArrayLike | None = None,
    factors: int = 32,
    seed: int = 1,
    epochs: int | None = None,
    settings: dict[str, Any] | None = None,
    threads: int = 1,
) -> Fitted:
    """Fit a method to all labels of a matrix.

    Parameters
    ----------
    method : one of `list_methods()`
    matrix : the labels of the images, in one of these forms
        - a dense or scipy sparse array, (n_images, n_labels); each number states how often the image has the label
        - a list that contains, for each image, a list of the names of its labels; labels are sorted by name
        - a polars or pandas table with the columns `image` and `label` and, optionally, `count`; images are sorted by
          id, and labels by name. If another argument has one row per image, its rows and the table must already be in
          the sorted order of the ids.
        - a polars or pandas table with one row per image and one column per label; the names of the columns are the
          names of the labels
    features : (n_images, d) finite numbers, dense or scipy sparse, if the method needs them. For several sets of
        features, give a mapping of their names to such arrays. The method then uses the sets that its file in
        config/methods names, or all sets if the file names none.
    word_vectors : (n_labels, d) finite numbers, if the method needs them; zeros for a label without a vector
    factors : dimension K of the embeddings, if the method has embeddings and its file does not set `factors`
    seed : seed of all random numbers
    epochs : number of epochs. If None, the number is chosen on labels that a protocol holds out: `images` if the method
        uses only features, and otherwise `distinct`. The method is then fitted again, to all labels.
    settings : settings that replace those of the method's file in config/methods; the settings in the file are not
        tuned for this matrix
    threads : number of threads, which does not affect the result

    A method that is trained in epochs may learn nothing, for example because the learning rate is too large: the model
    then ranks an image's labels no higher for this image than for other images. In this case no exception is raised,
    but a line on standard error reports it.

    Raises
    ------
    UserError
        An array has the wrong shape, a number of `matrix` is negative or not whole, a number is not finite, the method
        or a setting is unknown, the method needs an argument that is missing, or training diverged.
    """
    variant = _variant(method, factors, settings)
    named, sets, vectors = _inputs(matrix, features, word_vectors)
    labels = named.matrix
    given = _seen(variant, sets)
    _check_needs(variant, _provided(given, vectors) | {"known_labels"})
    _check_seed("seed", seed)
    _check_count("threads", threads, 1)
    if epochs is not None:
        _check_count("epochs", epochs, 1)
        if variant.epochs is None:
            raise UserError(f"{method}: epochs: this method is not trained in epochs; leave `epochs` out")
    protocol = "distinct" if "known_labels" in variant.method.needs or given is None else "images"
    case = Case(Task("matrix", protocol), method, seed)
    with workers(threads) as pool, within_memory(case):
        problem = Problem(Training.all_of(labels), seed, pool, given, vectors)
        if epochs is None and variant.epochs is not None:
            split = split_dataset(protocol, Dataset(labels, None, None if given is None else given.known), seed)
            split = replace(split, final=problem.training)
            selection = select(variant.method, variant.settings, problem, split, _search(variant, protocol), case)
            chosen, model = selection.chosen, selection.model
        else:
            chosen = Attempt(variant.settings, epochs, None)
            chosen, _, model = refit(variant.method, chosen, problem, case)
        check_finite(model, str(case))
        if variant.epochs is not None and not has_learnt(model, problem):
            print(f"{case}: {NOTHING_LEARNT}", file=sys.stderr)
    return Fitted(method, chosen.settings.given(), chosen.epochs, model, labels, given, named.labels, named.images)


def load(path: str | Path) -> Fitted:
    """Read a model.npz that `Fitted.save` or a run wrote, to annotate new images."""
    return Fitted("", {}, None, models.load(Path(path)))


def evaluate(
    methods: Sequence[str],
    matrix: Any,
    *,
    protocol: str = "distinct",
    seeds: int | Sequence[int] = 1,
    features: Any = None,
    word_vectors: ArrayLike | None = None,
    scores: Mapping[str, Any] | None = None,
    names: tuple[Sequence[str], Sequence[str]] | None = None,
    factors: int = 32,
    metrics: Sequence[str] | None = None,
    propensity: tuple[float, float] = (PROPENSITY.a, PROPENSITY.b),
    bootstrap: int = 1000,
    threads: int = 1,
) -> pl.DataFrame:
    """Hold out labels or images, fit methods to the rest, and measure how well they rank the held-out labels.

    Settings are taken from config/methods and not tuned. Numbers of epochs are chosen on validation labels.

    Parameters
    ----------
    methods : some of `list_methods()`
    matrix, features, word_vectors, factors, threads : as in `fit`
    protocol : name of a protocol, such as distinct, regions or images
    scores : name of a model that was trained elsewhere -> its scores, the same for all seeds, in one of these forms
        - an array, (n_images, n_labels)
        - a pair of arrays, (n_images, K) and (n_labels, K), whose inner products are the scores
        - the path of a file of scores (`vsebench.formats.scores_file`)
    names : the ids of the images and the names of the labels, in the order of the matrix's rows and columns. They are
        needed for a file of scores, unless the matrix is a table with the columns `image` and `label`.
    seeds : the seeds, or their number: 3 stands for the seeds 1, 2 and 3
    metrics : names of metrics, such as recall@10, ndcg@10, map or mrr; None: the default metrics of a run
    propensity : the constants A and B in the formula of the labels' propensities, for the metrics psp@k and psndcg@k
    bootstrap : number of resamples for the intervals

    Returns
    -------
    A table with one row per method and metric: mean over seeds (`value`), 95 % interval (`ci_low`, `ci_high`),
    difference from the best method, and p-value of the difference. The columns are those of `core.schemas.SUMMARY`
    except `dataset`, `protocol` and `decision`. An additional column, `settings`, has one of these values:

    - "untuned": the settings are those of the method's file; a search on this matrix might find better settings
    - "paper": the settings are those of a paper
    - "elsewhere": the model was trained elsewhere
    - "none": there are no settings to choose

    Raises
    ------
    UserError
        An array has the wrong shape, or a number is not finite; a method, metric or protocol is unknown; a method needs
        an argument that is missing; or training diverged.
    """
    rules = load_protocol(protocol)
    metrics = default_metrics(rules.new_images, rules.seen_and_unseen) if metrics is None else metrics
    _check_evaluation(methods if not scores else [*methods, *scores], metrics, seeds, bootstrap, threads)
    settings = check(Propensity, {"a": propensity[0], "b": propensity[1]}, "propensity")
    variants = [_variant(name, factors, None) for name in methods]
    named, sets, vectors = _inputs(matrix, features, word_vectors)
    labels = named.matrix
    given = next(iter(sets.values()), None)
    if names is None and named.images is not None and named.labels is not None:
        names = (named.images, named.labels)
    for name, value in (scores or {}).items():
        if not isinstance(value, str | Path):
            _check_order(named, f"scores[{name!r}]")
    outside = {name: _outside(name, value, labels, names) for name, value in (scores or {}).items()}
    provided = _provided(given, vectors) | (set() if rules.new_images else {"known_labels"})
    for variant in variants:
        _check_needs(variant, provided - ({"trained_labels"} if rules.only_unseen else set()))
    task = Task("matrix", protocol)
    dataset = Dataset(labels, None, None if given is None else given.known, None if vectors is None else vectors.known)
    measured: dict[Entry, dict[int, Measured]] = {Entry(name): {} for name in (*methods, *outside)}
    with workers(threads) as pool:
        for seed in range(1, seeds + 1) if isinstance(seeds, int) else seeds:
            split = split_dataset(protocol, dataset, seed)
            ranked = _all_ranked(variants, outside, task, seed, split, sets, vectors, pool)
            n_candidates = int(split.test.candidates.sum())
            frequencies = Frequencies.of_training(split.final, settings)
            results = measure(
                ranked, metrics, n_candidates, bootstrap, learnt=split.final.learnt, frequencies=frequencies
            )
            for name, of_method in zip((*methods, *outside), results, strict=True):
                measured[Entry(name)][seed] = of_method
    oracles = [Entry(variant.name) for variant in variants if variant.role == "oracle"]
    table = summarise(task, dict(measured), metrics, oracles, n_candidates)
    choices = {variant.name: variant.choice for variant in variants} | dict.fromkeys(outside, "elsewhere")
    first, *others = (name for name in SUMMARY if name not in ("dataset", "protocol", "decision"))
    return table.select(first, pl.col("method").replace_strict(choices).alias("settings"), *others)


def read(folder: str | Path = "results") -> Results:
    """Open the results of a finished run."""
    results = Results(Path(folder))
    if "metrics" not in results.tables:
        raise UserError(f"{folder}: contains no metrics.parquet; name the results folder of a finished run")
    return results


@dataclass(frozen=True)
class _Variant:
    """A method with its settings."""

    name: str
    role: str
    method: type[Fitter]
    settings: Settings
    epochs: Epochs | None
    choice: str  # how the settings were chosen, as in a run's settings.json: "untuned", "paper" or "none"
    sets: list[str] | None  # the sets of features that the method's file names; None: all sets


def _methods_folder() -> Path:
    return project() / "config" / "methods"


def _variant(name: str, factors: int, changes: dict[str, Any] | None) -> _Variant:
    if name not in list_methods():
        raise UserError(
            f"there is no method {name!r}; {did_you_mean(name, list_methods())}vsebench.list_methods() lists all"
        )
    config = read_method_config(_methods_folder() / f"{name}.yaml")
    if config.members:
        raise UserError(
            f"{name}: an ensemble combines other methods of a run and cannot be used here; add it to a run's `methods`"
        )
    if config.role == "external":
        raise UserError(f"{name}: its scores are from another program; pass them to `evaluate` as `scores`")
    method = load_method(config.method)
    values = with_factors(method, config.settings, factors) | (changes or {})
    if "normalise" in method.settings_type.model_fields and values.get("normalise") is None:
        values["normalise"] = []
    settings = read_settings(method, values, f"{name}: settings")
    choice = "paper" if config.from_paper else "untuned" if config.grid else "none"
    named = [config.features] if isinstance(config.features, str) else config.features
    return _Variant(name, config.role, method, settings, config.epochs, choice, named)


def _inputs(
    matrix: Any, features: Any, word_vectors: ArrayLike | None
) -> tuple[GivenLabels, dict[str, Features], WordVectors | None]:
    labels = labels_of(matrix)
    if features is not None:
        _check_order(labels, "features")
    given = {} if features is None else _sets(features, labels.matrix.n_rows)
    return labels, given, None if word_vectors is None else _word_vectors(word_vectors, labels.matrix.n_labels)


def _check_order(labels: GivenLabels, rows: str) -> None:
    """Raise a `UserError` if a table of labels does not list its images in the sorted order of their ids.

    Images are numbered in this sorted order. If the rows of another argument had the order of the table, they would
    therefore be assigned to the wrong images.

    rows : the name of the other argument, for the message
    """
    if not labels.in_order:
        raise UserError(
            f"{rows}: the rows must be in the order of the image ids sorted as text, but the table of labels is in "
            "another order; sort this table and these rows by id, or give a list of labels for each image"
        )


def _sets(features: Any, n_images: int | None) -> dict[str, Features]:
    """Return a mapping of names to sets of features; a single array without a name gets the name ""."""
    if not isinstance(features, Mapping):
        return {"": features_of(features, n_images)}
    if not features or not all(isinstance(name, str) and name for name in features):
        raise UserError("features: give an array, or a mapping of the names of sets to their arrays")
    sets = {}
    for name, values in features.items():
        try:
            sets[name] = features_of(values, n_images)
        except UserError as error:
            raise UserError(f"features[{name!r}]: {str(error).removeprefix('features: ')}") from None
        n_images = sets[name].n_images
    return sets


def _seen(variant: _Variant, sets: dict[str, Features]) -> Features | None:
    """Return the sets of features that a method uses, side by side in one matrix, or None if there are none.

    A single array without a name is returned even if the method does not use features.
    """
    if not sets or "features" not in variant.method.needs:
        return side_by_side(sets) if list(sets) == [""] else None
    missing = [name for name in variant.sets or () if name not in sets]
    if missing:
        raise UserError(
            f"{variant.name}: this method needs the features {missing[0]}; give features={{{missing[0]!r}: ...}}"
        )
    return side_by_side({name: part for name, part in sets.items() if variant.sets is None or name in variant.sets})


def features_of(features: Any, n_images: int | None) -> Features:
    """Convert a dense or scipy sparse matrix with one row per image to `Features` with float32 values."""
    try:
        if sparse.issparse(features):
            values = sparse.csr_array(features, dtype=np.float32, copy=True)
            values.sum_duplicates()
        else:
            values = np.ascontiguousarray(features, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise UserError(f"features: not a matrix of numbers ({error})") from None
    if values.ndim != 2 or n_images not in (None, values.shape[0]):
        expected = "one row per image" if n_images is None else f"{n_images} rows, one per image"
        raise UserError(f"features: shape {values.shape}; give a matrix with {expected}")
    return Features(values, np.ones(values.shape[0], dtype=np.bool_))


def _word_vectors(word_vectors: ArrayLike, n_labels: int) -> WordVectors:
    try:
        vectors = np.ascontiguousarray(word_vectors, dtype=np.float32)
        if vectors.ndim != 2 or len(vectors) != n_labels:
            raise ValueError(f"word_vectors: shape {vectors.shape}; give a matrix with {n_labels} rows, one per label")
        return WordVectors(vectors, np.any(vectors != 0, axis=1))
    except (TypeError, ValueError) as error:
        raise UserError(f"word_vectors: {str(error).removeprefix('word_vectors: ')}") from None


def _provided(features: Features | None, word_vectors: WordVectors | None) -> set[str]:
    both = {"features": features, "word_vectors": word_vectors}
    return {"trained_labels"} | {name for name, value in both.items() if value is not None}


def _check_needs(variant: _Variant, provided: set[str]) -> None:
    """Raise a `UserError` if a method needs an input that is not provided."""
    for need in ("features", "word_vectors"):
        if need in variant.method.needs - provided:
            raise UserError(f"{variant.name}: this method needs the argument {need}")
    obstacle = variant.method.obstacle(provided & NEEDS.keys())
    if obstacle is not None:
        raise UserError(f"{variant.name}: cannot run here: {obstacle}")


def _check_count(name: str, value: Any, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise UserError(f"{name}: is {value!r}; give a whole number of at least {least}")


def _check_seed(name: str, value: Any) -> None:
    _check_count(name, value, 0)
    if value > LARGEST_SEED:
        raise UserError(f"{name}: is {value}; give a whole number up to {LARGEST_SEED}")


def _check_evaluation(
    names: Sequence[str], metrics: Sequence[str], seeds: int | Sequence[int], bootstrap: int, threads: int
) -> None:
    for key, value in (("methods", names), ("metrics", metrics)):
        if isinstance(value, str) or not value or len(set(value)) < len(value):
            raise UserError(f"{key}: must be a list of one or more different names, not {value!r}")
    for metric in metrics:
        load_metric(metric)
    _check_count("bootstrap", bootstrap, 100)
    _check_count("threads", threads, 1)
    if isinstance(seeds, int):
        _check_count("seeds", seeds, 1)
    elif not len(seeds) or len(set(seeds)) < len(seeds):
        raise UserError(f"seeds: give one or more different numbers, not {seeds!r}")
    else:
        for seed in seeds:
            _check_seed("seeds", seed)


def _search(variant: _Variant, protocol: str) -> Search | None:
    """Return the search that chooses the number of epochs; None for a method without epochs."""
    metric = load_protocol(protocol).validation_metric
    return None if variant.epochs is None else Search(metric, VALIDATION_IMAGES, variant.epochs)


def _all_ranked(
    variants: Sequence[_Variant],
    outside: Mapping[str, Model],
    task: Task,
    seed: int,
    split: Split,
    sets: dict[str, Features],
    vectors: WordVectors | None,
    pool: Workers,
) -> list[Ranked]:
    """Fit the methods on one split, and rank labels with the fitted models and with the models `outside`."""
    fitted = [
        _fit_and_rank(variant, Case(task, variant.name, seed), split, _seen(variant, sets), vectors, pool)
        for variant in variants
    ]
    return fitted + [_ranked(model, Case(task, name, seed), split, None, pool, None) for name, model in outside.items()]


def _fit_and_rank(
    variant: _Variant,
    case: Case,
    split: Split,
    features: Features | None,
    word_vectors: WordVectors | None,
    pool: Workers,
) -> Ranked:
    """Fit a method and rank labels, as the stages `fit` and `rank` do."""
    problem = Problem(split.first, case.seed, pool, features, word_vectors)
    model = select(variant.method, variant.settings, problem, split, _search(variant, case.task.protocol), case).model
    by_labels = load_protocol(case.task.protocol).leaves_cold and variant.method.knows_labels_alone()
    return _ranked(model, case, split, features, pool, by_frequency(split.final.labels) if by_labels else None)


def _ranked(
    model: Model, case: Case, split: Split, features: Features | None, pool: Workers, for_cold: Model | None
) -> Ranked:
    """Rank labels by a model's scores, as the stage `rank` does."""
    return Ranked(
        rank(model, split.test, features, pool, str(case), for_cold),
        list_tops(model, split.test, features, pool, for_cold),
        rank_images(model, split.test, features, pool) if load_protocol(case.task.protocol).new_images else None,
    )


def _outside(name: str, value: Any, labels: LabelMatrix, names: tuple[Sequence[str], Sequence[str]] | None) -> Model:
    """Return a model with the scores `value`, which were computed elsewhere."""
    where = f"scores[{name!r}]"
    shape = (labels.n_rows, labels.n_labels)
    if isinstance(value, str | Path):
        if names is None or (len(names[0]), len(names[1])) != shape:
            raise UserError(f"{where}: names: give {shape[0]} ids of images and {shape[1]} names of labels")
        given = read_scores(Path(value))
        known = Names(list(map(str, names[0])), list(map(str, names[1])))
        check_scores(given, known, Parts(None, np.ones(shape[0], np.bool_), np.ones(shape[1], np.bool_)))
        return model_of(given, known)
    if isinstance(value, tuple):
        image, label = (numbers_of(part, where) for part in value)
        if (len(image), len(label)) != shape or image.shape[1] != label.shape[1]:
            raise UserError(
                f"{where}: the vectors have shapes {image.shape} and {label.shape}, but must have shapes "
                f"({shape[0]}, K) and ({shape[1]}, K)"
            )
        return models.Embeddings(image, label)
    matrix = numbers_of(value, where)
    if matrix.shape != shape:
        raise UserError(f"{where}: shape {matrix.shape}, but the matrix has shape {shape}")
    return ScoreMatrix(np.arange(shape[0], dtype=np.int32), matrix)


def _first(model: Model, queries: Queries, k: int) -> tuple[Ids, Matrix]:
    """Return the k labels with the highest scores for each image, and these scores.

    Known labels of an image are left out. If fewer than k labels remain, the rest of the row is filled with
    the label -1 and the score -inf.
    """
    _check_count("k", k, 1)
    scores = np.where(queries.known.mask(), -np.inf, checked_scores(model, queries)).astype(np.float32)
    top = np.argsort(-scores, axis=1, kind="stable")[:, :k].astype(np.int32)
    best = np.take_along_axis(scores, top, axis=1)
    return np.where(np.isneginf(best), -1, top).astype(np.int32), best
