"""Filter images and labels: the same filters, in the same order, for every data set.

docs/data.md lists the filters in their order. The filter `sample_images` draws a sample from the images with at least
`min_labels_per_image` labels, or with at least one label if `min_labels_per_image` is not set. Among labels with
equally many images, `top_labels` keeps those that come first in the vocabulary. Without filters, everything is kept,
including images without a label and labels without an image. The filters `min_images_per_label` and `top_labels` also
remove all labels without an image.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from vsebench.config.dataset import Vocabulary
from vsebench.core.errors import UserError, did_you_mean
from vsebench.formats.annotations import Dropped, RawAnnotations


def apply_vocabulary(annotations: RawAnnotations, vocabulary: Vocabulary, where: str) -> RawAnnotations:
    """Apply the filters of a data set; a filter that is not set has no effect.

    Returns the annotations of the images and labels that are kept. They stay in their order and get new row numbers.
    The attribute `dropped` of the result states how many images and labels were removed.

    A `UserError` that begins with `where`, the file and key of the filters, is raised in these cases:

    - No image keeps a label.
    - `only_labels` names a label that the data set lacks.
    - `sample_images` exceeds the number of images with enough labels.
    - `only_parts` is set for a data set without an official partition.
    """
    if not vocabulary.model_dump(exclude_none=True, exclude={"seed"}):
        return annotations
    if vocabulary.only_labels is not None:
        annotations = keep_labels(annotations, vocabulary.only_labels, where)
    if vocabulary.only_parts and annotations.parts is None:
        raise UserError(f"{where}: only_parts: the data set has no official partition; remove this key")
    pairs = annotations.pairs.lazy()
    dropped = list(annotations.dropped)
    if vocabulary.sample_images is not None:
        sample = sample_images(annotations, vocabulary, where)
        gone = len(annotations.images) - len(sample)
        dropped.append(Dropped("images", gone, f"not in the sample (sample_images, seed {vocabulary.seed})"))
        pairs = pairs.join(sample.to_frame().lazy(), on="image", how="semi")
    filtered = filter_pairs(pairs.collect(), vocabulary, dropped)
    if filtered.is_empty():
        raise UserError(f"{where}: no image keeps a label with these filters; relax them")
    kept = restrict(annotations, filtered, vocabulary, dropped)
    return keep_parts(kept, where) if vocabulary.only_parts else kept


def keep_labels(annotations: RawAnnotations, names: Sequence[str], where: str) -> RawAnnotations:
    """Remove all labels except those in `names`; all images are kept."""
    known = set(annotations.labels)
    unknown = next((name for name in names if name not in known), None)
    if unknown is not None:
        remedy = f"{did_you_mean(unknown, known)}correct or remove it"
        raise UserError(f"{where}: only_labels: the data set has no label {unknown!r}; {remedy}")
    labels = np.flatnonzero([label in set(names) for label in annotations.labels])
    pairs = annotations.pairs.filter(pl.col("label").is_in(labels.tolist()))
    gone = Dropped("labels", len(annotations.labels) - len(labels), "not in the list (only_labels)")
    images = np.arange(len(annotations.images))
    return select(annotations, pairs, images, labels, [*annotations.dropped, gone])


def sample_images(annotations: RawAnnotations, vocabulary: Vocabulary, where: str) -> pl.Series:
    """Draw the images to keep; return their row numbers in ascending order."""
    fewest = vocabulary.min_labels_per_image or 1
    size = vocabulary.sample_images or 0
    sizes = np.bincount(annotations.pairs["image"].to_numpy(), minlength=len(annotations.images))
    eligible = np.flatnonzero(sizes >= fewest).astype(np.int32)
    if size > len(eligible):
        found = f"only {len(eligible)} images have enough labels (at least {fewest})"
        raise UserError(f"{where}: sample_images: is {size}, but {found}")
    chosen = np.random.Generator(np.random.PCG64(vocabulary.seed)).choice(eligible, size, replace=False, shuffle=False)
    return pl.Series("image", np.sort(chosen))


def filter_pairs(pairs: pl.DataFrame, vocabulary: Vocabulary, dropped: list[Dropped]) -> pl.DataFrame:
    """Apply `min_images_per_label`, `top_labels` and `min_labels_per_image`.

    The two filters with a minimum are repeated until all images and labels that are left satisfy them. The numbers of
    removed labels are added to `dropped`.
    """
    fewest_images, fewest_labels = vocabulary.min_images_per_label, vocabulary.min_labels_per_image
    pairs, rare_labels = _drop_rare(pairs, "label", fewest_images)
    if vocabulary.top_labels is not None:
        frequency = pairs.group_by("label").len().sort(["len", "label"], descending=[True, False])
        rest = frequency.slice(vocabulary.top_labels)
        pairs = pairs.join(rest, on="label", how="anti")
        why = f"not among the {vocabulary.top_labels} most frequent (top_labels)"
        dropped.append(Dropped("labels", len(rest), why))
    gone = 1
    while gone:
        pairs, _ = _drop_rare(pairs, "image", fewest_labels)
        pairs, gone = _drop_rare(pairs, "label", fewest_images)
        rare_labels += gone
    if fewest_images is not None:
        why = f"on fewer than {fewest_images} images (min_images_per_label)"
        dropped.append(Dropped("labels", rare_labels, why))
    return pairs


def _drop_rare(pairs: pl.DataFrame, column: str, fewest: int | None) -> tuple[pl.DataFrame, int]:
    """Drop the images (or labels) that occur in fewer than `fewest` rows of `pairs`.

    `column` is `image` (or `label`). If `fewest` is None, nothing is dropped. Returns the rows that are left, and the
    number of images (or labels) that were dropped.
    """
    if fewest is None:
        return pairs, 0
    rare = pairs.group_by(column).len().filter(pl.col("len") < fewest)
    return (pairs.join(rare, on=column, how="anti"), len(rare)) if len(rare) else (pairs, 0)


def restrict(
    annotations: RawAnnotations, pairs: pl.DataFrame, vocabulary: Vocabulary, dropped: list[Dropped]
) -> RawAnnotations:
    """Return annotations of only the images and labels that the filters kept."""
    n_images, n_labels = len(annotations.images), len(annotations.labels)
    images, labels = np.arange(n_images), np.arange(n_labels)
    if vocabulary.sample_images is not None or vocabulary.min_labels_per_image is not None:
        images = _used(pairs["image"], n_images)
        fewest = vocabulary.min_labels_per_image or 1
        gone = (vocabulary.sample_images or n_images) - len(images)
        why = f"left with too few labels (min_labels_per_image: at least {fewest})"
        dropped = [*dropped, Dropped("images", gone, why)]
    if vocabulary.min_images_per_label is not None or vocabulary.top_labels is not None:
        labels = _used(pairs["label"], n_labels)
    return select(annotations, pairs, images, labels, dropped)


def keep_parts(annotations: RawAnnotations, where: str) -> RawAnnotations:
    """Remove the images that are in no part of the official partition; all labels are kept."""
    assert annotations.parts is not None
    stays = annotations.parts.is_not_null().to_numpy()
    images = np.flatnonzero(stays)
    pairs = annotations.pairs.filter(pl.Series(stays[annotations.pairs["image"].to_numpy()]))
    if pairs.is_empty():
        raise UserError(f"{where}: only_parts: no image of the partition has a label")
    gone = Dropped("images", len(stays) - len(images), "in no part of the official partition (only_parts)")
    return select(annotations, pairs, images, np.arange(len(annotations.labels)), [*annotations.dropped, gone])


def select(
    annotations: RawAnnotations,
    pairs: pl.DataFrame,
    images: NDArray[np.intp],
    labels: NDArray[np.intp],
    dropped: list[Dropped],
) -> RawAnnotations:
    """Return annotations of only the given images and labels.

    `images` and `labels` are row numbers in ascending order. `pairs` may contain only these images and labels; in the
    result, the pairs have the new row numbers.
    """
    new_image = _renumber(pairs["image"], images, len(annotations.images))
    new_label = _renumber(pairs["label"], labels, len(annotations.labels))
    rows = {"image": images, "label": labels}
    truth = annotations.truth
    return replace(
        annotations,
        images=annotations.images.gather(images),
        labels=[annotations.labels[label] for label in labels.tolist()],
        pairs=pairs.with_columns(new_image, new_label).sort("image", "label"),
        dropped=[entry for entry in dropped if entry.number],
        parts=None if annotations.parts is None else annotations.parts.gather(images),
        features=None if annotations.features is None else annotations.features.take(images),
        sets={name: features.take(images) for name, features in annotations.sets.items()},
        truth=truth and {name: array[rows[name]] if name in rows else array for name, array in truth.items()},
    )


def _used(column: pl.Series, number: int) -> NDArray[np.intp]:
    """Return the row numbers that occur in a column, in ascending order."""
    return np.flatnonzero(np.bincount(column.to_numpy(), minlength=number))


def _renumber(column: pl.Series, stay: NDArray[np.intp], number: int) -> pl.Series:
    new = np.full(number, -1, dtype=np.int32)
    new[stay] = np.arange(len(stay), dtype=np.int32)
    return pl.Series(column.name, new[column.to_numpy()])
