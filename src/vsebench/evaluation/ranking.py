"""Compute the ranks of held-out labels, and the first labels of each ranked list.

Most metrics are computed from the ranks. The candidates of an image are all labels of the protocol except the image's
training labels. The negatives of an image are the candidates that are not held out. A held-out label has these counts:

- `above`, the number of negatives that score higher
- `tied`, the number of negatives that score the same
- `right`, the number of held-out labels that score at least as high, including the label itself
- `negatives`, the number of all negatives

A held-out label that is not a candidate is a miss, and its first three counts are null. In the protocol `regions`, a
held-out label is a miss if it is also a training label of the image.

A cold image has no training label, although other images have some. Some methods know an image only by its training
labels, and therefore know nothing about a cold image. They would rank labels by random initial values, or give all
labels the same score. For such a method, another model, `for_cold`, ranks the labels for cold images. It scores labels
by their frequency in training.
"""

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from vsebench.core.errors import UserError
from vsebench.core.schemas import LABEL_RANKS, LISTS, RANKS
from vsebench.core.workers import Workers
from vsebench.data.chunks import even_chunks
from vsebench.data.problem import HeldOut, Ids, Matrix, Queries
from vsebench.kernels.ranking.counting import count_embedded
from vsebench.kernels.ranking.held_out import count_images_above, rank_right_labels, top_labels
from vsebench.kernels.ranking.rounding import ROUNDING_PAYS, RoundedLabels, round_labels
from vsebench.models import Embedded, Model, checked_scores, checked_vectors

if TYPE_CHECKING:  # importing features loads SciPy, which most models do not need
    from vsebench.data.features import Features

SCORES_A_CHUNK = 1 << 20  # scores in a chunk (4 MiB); they stay in the cache until they are counted
QUERIES_A_CHUNK = 252  # images in a chunk, at most; their vectors stay in the cache, too
ROUNDED_A_CHUNK = 1008  # images in a chunk; rounded vectors are small, and the kernel counts six images at a time
LIST_LENGTH = 10
RANKED = {name: kind for name, kind in RANKS.items() if name != "cold"}


def rank(
    model: Model,
    held_out: HeldOut,
    features: "Features | None",
    pool: Workers,
    where: str,
    for_cold: Model | None = None,
) -> pl.DataFrame:
    """Rank the held-out labels, and return the table `schemas.RANKS`, sorted by image and label.

    Scores that are not finite raise a `UserError`, because a NaN would be ranked first.

    Parameters
    ----------
    features : one row per image of the data set, if it has features
    where : the model's name for error messages
    for_cold : the model that ranks labels for cold images; None if `model` ranks them for all images
    """
    check_finite(model, where)
    check_labels(model, held_out, where)
    parts = [(model, held_out)] if for_cold is None else by_ranking_model(model, for_cold, held_out)
    frame = pl.concat(_rank(own, images, features, pool) for own, images in parts).sort("image", "label")
    cold = held_out.is_cold[held_out.right.image_of_pair]
    return frame.with_columns(pl.Series("cold", cold, dtype=pl.Boolean))


def by_ranking_model(model: Model, for_cold: Model, held_out: HeldOut) -> list[tuple[Model, HeldOut]]:
    """Return each model with the images for which it ranks labels."""
    cold = held_out.is_cold
    if not cold.any():
        return [(model, held_out)]
    warm, cold_images = (np.flatnonzero(selected).astype(np.int32) for selected in (~cold, cold))
    return [(model, held_out.take(warm)), (for_cold, held_out.take(cold_images))]


def _rank(model: Model, held_out: HeldOut, features: "Features | None", pool: Workers) -> pl.DataFrame:
    return ranks_table(held_out, count_ranks(model, held_out, features, pool))


def count_ranks(model: Model, held_out: HeldOut, features: "Features | None", pool: Workers) -> NDArray[np.int32]:
    """Return the counts `above`, `tied`, `right` and `negatives` of each held-out label.

    The docstring of this module defines these counts. The result has shape (4, n_pairs), with a column for each
    held-out label of each image. For a miss, the first three counts are -1. The model's scores have to be finite.
    """
    counts = np.empty((4, held_out.right.n_pairs), dtype=np.int32)
    rounded = None
    if isinstance(model, Embedded) and ROUNDING_PAYS and has_single_labels(held_out):
        rounded = round_labels(model.label)

    def rank_chunk(start: int, stop: int) -> None:
        first, last = held_out.right.offsets[start], held_out.right.offsets[stop]
        queries = queries_of(held_out, features, start, stop)
        if rounded is not None and isinstance(model, Embedded):
            counts[:, first:last] = rank_embedded(checked_vectors(model, queries), rounded, held_out, start, stop)
        else:
            counts[:, first:last] = rank_right_labels(
                checked_scores(model, queries), *label_arguments(held_out, start, stop)
            )

    pool.run(rank_chunk, chunks(held_out) if rounded is None else even_chunks(len(held_out.images), ROUNDED_A_CHUNK))
    return counts


def ranks_table(held_out: HeldOut, counts: NDArray[np.int32]) -> pl.DataFrame:
    """Return the result of `count_ranks` as the table `schemas.RANKS`, without the column `cold`."""
    above, tied, right, negatives = (pl.Series(row) for row in counts)
    frame = pl.DataFrame(
        {
            "image": held_out.images[held_out.right.image_of_pair],
            "label": held_out.right.label_of_pair,
            "above": above,
            "tied": tied,
            "right": right,
            "negatives": negatives,
        },
        schema=RANKED,
    )
    return frame.with_columns(
        pl.when(pl.col(name) >= 0).then(pl.col(name)).alias(name) for name in ("above", "tied", "right")
    )


def score_deviation(model: Model, held_out: HeldOut, features: "Features | None") -> float:
    """Return the standard deviation of all scores that a model gives to labels of the held-out images."""
    total, squares, count = 0.0, 0.0, 0
    for start, stop in chunks(held_out):
        scores = checked_scores(model, queries_of(held_out, features, start, stop)).astype(np.float64)
        total, squares = total + float(scores.sum()), squares + float(np.vdot(scores, scores))
        count += scores.size
    return float(np.sqrt(max(squares / count - (total / count) ** 2, 0.0)))


def rank_embedded(
    vectors: Matrix, rounded: RoundedLabels, held_out: HeldOut, start: int, stop: int
) -> NDArray[np.int32]:
    """Return the same counts as `rank_right_labels`, computed with rounded label vectors.

    Each image must have at most one held-out label, and all labels must be candidates. `vectors`,
    (stop - start, K) float32, contains the vectors of `held_out.images[start:stop]`.
    """
    known, right = held_out.known, held_out.right
    images = np.arange(stop - start, dtype=np.int32)
    labels = right.label_of_pair[right.offsets[start] : right.offsets[stop]]
    with_label = images[np.diff(right.offsets[start : stop + 1]) > 0]
    above, tied = count_embedded(
        vectors, rounded, with_label, labels, known.offsets[start : stop + 1],
        known.label_of_pair,
    )  # fmt: skip
    is_candidate = above >= 0
    n_known = np.diff(known.offsets[start : stop + 1])[with_label]
    negatives = known.n_labels - n_known - is_candidate
    return np.stack([above, tied, np.where(is_candidate, 1, -1), negatives]).astype(np.int32)


def list_tops(
    model: Model, held_out: HeldOut, features: "Features | None", pool: Workers, for_cold: Model | None = None
) -> pl.DataFrame:
    """Return the first ten labels of each image's list as the table `schemas.LISTS`.

    Among labels with the same score, negatives come before held-out labels, and each of these two groups is sorted by
    label. `for_cold`, if given, ranks the labels for cold images.
    """
    check_labels(model, held_out, "model")
    parts = [(model, held_out)] if for_cold is None else by_ranking_model(model, for_cold, held_out)
    tables = [_list_tops(own, images, features, pool) for own, images in parts]
    return tables[0] if len(tables) == 1 else pl.concat(tables).sort("image", "rank")


def _list_tops(model: Model, held_out: HeldOut, features: "Features | None", pool: Workers) -> pl.DataFrame:
    lists = np.empty((len(held_out.images), LIST_LENGTH), dtype=np.int32)

    def list_chunk(start: int, stop: int) -> None:
        scores = checked_scores(model, queries_of(held_out, features, start, stop))
        lists[start:stop] = top_labels(scores, *label_arguments(held_out, start, stop), LIST_LENGTH)

    pool.run(list_chunk, chunks(held_out))
    list_ranks = np.tile(np.arange(1, LIST_LENGTH + 1, dtype=np.int32), len(lists))
    columns = {"image": np.repeat(held_out.images, LIST_LENGTH), "rank": list_ranks, "label": lists.ravel()}
    frame = pl.DataFrame(columns, schema=LISTS)
    return frame.filter(pl.col("label") >= 0)


def rank_images(model: Model, held_out: HeldOut, features: "Features | None", pool: Workers) -> pl.DataFrame:
    """For each candidate label, rank the test images that have the label among all test images.

    Returns the table `schemas.LABEL_RANKS`, sorted by label and image. To save memory, all scores are computed twice.
    The first time, only the scores for images that have the label are kept. The second time, these scores are compared
    with the label's scores for all other images.
    """
    check_labels(model, held_out, "model")
    right = held_out.right
    own_scores = np.empty(right.n_pairs, dtype=np.float32)

    def read_own(start: int, stop: int) -> None:
        scores = checked_scores(model, queries_of(held_out, features, start, stop))
        pairs = slice(right.offsets[start], right.offsets[stop])
        own_scores[pairs] = scores[right.image_of_pair[pairs] - start, right.label_of_pair[pairs]]

    pool.run(read_own, chunks(held_out))
    order = np.lexsort((own_scores, right.label_of_pair))  # by label, then by score
    score_offsets = np.concatenate([[0], np.cumsum(np.bincount(right.label_of_pair, minlength=right.n_labels))])
    sorted_scores = own_scores[order]
    differences = np.zeros((2, right.n_pairs + 1), dtype=np.int64)
    for start, stop in chunks(held_out):  # one after the other, because all chunks add to the same counts
        scores = checked_scores(model, queries_of(held_out, features, start, stop))
        offsets = right.offsets[start : stop + 1]
        count_images_above(scores, offsets, right.label_of_pair, sorted_scores, score_offsets, *differences)
    above, tied = np.cumsum(differences, axis=1)[:, :-1]
    frequency = np.bincount(right.label_of_pair, minlength=right.n_labels)
    labels = right.label_of_pair[order]
    frame = pl.DataFrame(
        {
            "label": labels,
            "image": held_out.images[right.image_of_pair[order]],
            "above": above,
            "tied": tied,
            "right": _at_least_as_high(own_scores[order], score_offsets, labels),
            "negatives": len(held_out.images) - frequency[labels],
        }
    ).cast(LABEL_RANKS)
    return frame.filter(pl.Series(held_out.candidates[labels])).sort("label", "image")


def _at_least_as_high(
    scores: NDArray[np.float32], offsets: NDArray[np.int64], labels: NDArray[np.int32]
) -> NDArray[np.int64]:
    """Return, for each score, how many scores of the same label are at least as high.

    `scores` are sorted by label, and in ascending order for each label. `labels` contains the label of each score. The
    scores of label l are `scores[offsets[l]:offsets[l + 1]]`.
    """
    starts, ends = offsets[labels], offsets[labels + 1]
    indices = np.arange(len(scores))
    is_first = np.ones(len(scores), dtype=bool)
    is_first[1:] = (scores[1:] != scores[:-1]) | (indices[1:] == starts[1:])
    first_of_equals = np.maximum.accumulate(np.where(is_first, indices, 0)) if len(scores) else indices
    return np.asarray(ends - first_of_equals)


def chunks(held_out: HeldOut) -> list[tuple[int, int]]:
    """Divide the images into chunks whose scores stay in the cache."""
    size = max(16, min(QUERIES_A_CHUNK, SCORES_A_CHUNK // held_out.right.n_labels))
    return even_chunks(len(held_out.images), size)


def queries_of(held_out: HeldOut, features: "Features | None", start: int, stop: int) -> Queries:
    """Return the queries of `held_out.images[start:stop]`."""
    images = held_out.images[start:stop]
    return Queries(images, held_out.known.slice(start, stop), None if features is None else features.rows(images))


def ranks_from_zero(scores: Matrix) -> NDArray[np.int32]:
    """Return the rank of each label in each image's list, counted from 0.

    The result has shape (n, n_labels). Labels with the same score are sorted by label.
    """
    order = np.argsort(-scores, axis=1, kind="stable")
    ranks = np.empty(scores.shape, dtype=np.int32)
    np.put_along_axis(ranks, order, np.arange(scores.shape[1], dtype=np.int32)[np.newaxis], axis=1)
    return ranks


def label_arguments(
    held_out: HeldOut, start: int, stop: int
) -> tuple[NDArray[np.bool_], NDArray[np.int64], Ids, NDArray[np.int64], Ids]:
    """Return the kernel arguments that describe the labels of `held_out.images[start:stop]`."""
    known, right = held_out.known, held_out.right
    return (
        held_out.candidates, known.offsets[start : stop + 1], known.label_of_pair,
        right.offsets[start : stop + 1], right.label_of_pair,
    )  # fmt: skip


def has_single_labels(held_out: HeldOut) -> bool:
    """Return whether each image has at most one held-out label and all labels are candidates, as in leave-one-out."""
    return bool(held_out.candidates.all() and (held_out.right.n_labels_of_row <= 1).all())


def check_labels(model: Model, held_out: HeldOut, where: str) -> None:
    """Raise a `UserError` if the model and the split have different numbers of labels; kernels do not check this."""
    if model.n_labels != held_out.right.n_labels:
        counts = f"{model.n_labels} labels, but the split has {held_out.right.n_labels}"
        raise UserError(f"{where}: the model has {counts}; delete the model and run again")


def check_finite(model: Model, where: str) -> None:
    """Raise a `UserError` that begins with `where` if a score of a model is not a finite number."""
    if not model.has_finite_scores():
        raise UserError(f"{where}: some of the model's scores are not finite; try a smaller learning rate")
