"""Stochastic gradient descent on several threads; with any number of threads, the model is the same, byte for byte.

Images and labels are divided into P parts each, and an epoch has P rounds. In round r, all image parts are trained at
the same time, and image part a is trained with label part (a + r) mod P: its positives and negatives are labels of this
part. After P rounds, each image part has been trained with each label part. Label parts are drawn anew in each epoch,
so any two labels are compared in some epochs.

P is a setting. The result depends on P, but not on the number of threads.

Source: Gemulla and others, "Large-scale matrix factorization with distributed stochastic gradient descent", KDD 2011.
Here, the negatives of a step come from the same label part as its positive.
"""

from abc import abstractmethod
from collections.abc import Callable
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from vsebench.core.errors import UserError
from vsebench.data.problem import LabelMatrix, Problem
from vsebench.data.streams import Stream, generator
from vsebench.kernels.products import Embedding
from vsebench.kernels.sgd.pipeline import Pipeline, Positives, new_pipeline
from vsebench.kernels.sgd.sampling import Streams
from vsebench.kernels.sgd.strata import fill_part
from vsebench.kernels.vectors import LANES, aligned
from vsebench.methods.base import Progress, Settings
from vsebench.methods.by_labels.sgd import SgdMethod, SgdSettings

NEIGHBOURS = 4  # labels whose ranks by frequency differ by less than 4 P can swap ranks before they are put into parts
ROOM = 1.1  # arrays are larger than needed by this factor, because a part's number of positives varies between epochs
OF_PART = 100  # the numbers of part a's streams of random numbers start at 100 * a

# (vectors, positives, number of steps, random numbers) -> mean loss and mean number of trials
TakeSteps = Callable[[Embedding, Pipeline, int, Streams], tuple[float, float]]


class PartsSettings(SgdSettings):
    """Settings of stochastic gradient descent that can use several threads."""

    # P: the images are divided into P parts, and so are the labels. P pairs of an image part and a label part are
    # trained at the same time, on at most P threads.
    parts: int = Field(1, ge=1, le=OF_PART)


class Strata:
    """The parts into which the images and the labels of a training matrix are divided.

    Parameters
    ----------
    problem : provides the training labels, the seed, and the threads
    n_parts : P, the number of image parts and of label parts, at least 2
    """

    def __init__(self, problem: Problem, n_parts: int) -> None:
        train = problem.training.labels
        if 2 * n_parts > train.n_labels or n_parts > train.n_rows:
            few = f"{train.n_labels} labels and {train.n_rows} images are too few for {n_parts} parts"
            raise UserError(f"parts: {few}; use fewer parts")
        self.train, self.n_parts, self.workers = train, n_parts, problem.workers
        self.rng = generator(problem.seed, Stream.PARTS)
        names = (Stream.POSITIVES, Stream.NEGATIVES, Stream.NEGATIVES_AGAIN)
        self.streams = [Streams.of(problem.seed, *(OF_PART * part + name for name in names)) for part in range(n_parts)]
        self.bounds = even_bounds(train, n_parts)
        self.n_images = np.bincount(train.label_of_pair, minlength=train.n_labels)
        self.frequencies = np.bincount(train.label_of_pair, train.count_of_pair, train.n_labels).astype(np.int64)
        self.by_frequency = np.argsort(-self.frequencies, kind="stable")
        self.arrays = [Positives(np.zeros((0, 4), np.int32), np.zeros(0, np.int32)) for _ in range(n_parts)]
        sizes = np.array([len(self.by_frequency[part::n_parts]) for part in range(n_parts)])
        self.label_bounds = np.concatenate([[0], np.cumsum(sizes)])

    def epoch(self, embedding: Embedding, take_steps: TakeSteps) -> tuple[float, float]:
        """Train `embedding` for one epoch, and return the mean loss and the mean number of trials of a step.

        `take_steps` takes the steps of one image part with one label part.
        """
        images, labels = embedding
        order = self.draw_order()
        moved = aligned(*labels.shape)
        np.take(labels, order, axis=0, out=moved)
        parts = self.divide(order)
        sums = np.zeros((self.n_parts, self.n_parts, 2))
        for turn in range(self.n_parts):

            def train(a: int, stop: int, turn: int = turn) -> None:
                b = (a + turn) % self.n_parts
                positives, ends = parts[b]
                own = Positives(positives.pairs[ends[a] : ends[a + 1]], positives.row_labels)
                if len(own.pairs):
                    vectors = Embedding(images, moved[self.label_bounds[b] : self.label_bounds[b + 1]])
                    means = take_steps(vectors, new_pipeline(own), len(own.pairs), self.streams[a])
                    sums[turn, a] = np.multiply(means, len(own.pairs))

            self.workers.run(train, [(a, a + 1) for a in range(self.n_parts)])
        labels[order] = moved
        loss, trials = sums.sum(axis=(0, 1)) / max(1, self.train.count_of_pair.sum())
        return float(loss), float(trials)

    def draw_order(self) -> NDArray[np.int64]:
        """Divide the labels at random into parts with similar numbers of positives.

        The result, (n_labels,) int64, lists the labels of the first part, then those of the second, and so on.
        """
        ranks = np.arange(self.train.n_labels) + self.rng.random(self.train.n_labels) * NEIGHBOURS * self.n_parts
        near = self.by_frequency[np.argsort(ranks, kind="stable")]
        blocks = near[: len(near) // self.n_parts * self.n_parts].reshape(-1, self.n_parts)
        drawn, rest = self.rng.permuted(blocks, axis=1), near[blocks.size :]
        return np.concatenate([np.append(drawn[:, part], rest[part : part + 1]) for part in range(self.n_parts)])

    def divide(self, order: NDArray[np.int64]) -> list[tuple[Positives, NDArray[np.int64]]]:
        """Return the positives of each label part, sorted by image part.

        `order` lists the labels, as `draw_order` returns them. For each label part, the result contains the positives
        and an array `ends`, (P + 1,) int64. The rows `ends[a]` to `ends[a + 1]` - 1 of the positives belong to image
        part a. The next epoch overwrites the arrays.
        """
        number = np.empty(self.train.n_labels, dtype=np.int32)
        number[order] = np.arange(self.train.n_labels, dtype=np.int32)
        ends = np.zeros((self.n_parts, self.n_parts + 1), dtype=np.int64)

        def fill(b: int, stop: int) -> None:
            first, last = self.label_bounds[b], self.label_bounds[b + 1]
            self.make_room(b, order[first:last])
            arrays = self.train.offsets, self.train.label_of_pair, self.train.count_of_pair, number
            fill_part(*arrays, first, last, self.bounds, *self.arrays[b], ends[b])

        self.workers.run(fill, [(b, b + 1) for b in range(self.n_parts)])
        return list(zip(self.arrays, ends, strict=True))

    def make_room(self, b: int, labels: NDArray[np.int64]) -> None:
        """Enlarge the arrays of a label part only if they are too small, because new memory costs time."""
        n_positives, n_pairs = self.frequencies[labels].sum(), self.n_images[labels].sum()
        pairs, row_labels = self.arrays[b]
        if len(pairs) < n_positives or len(row_labels) < n_pairs + LANES:
            sizes = (int(ROOM * n_positives) + 1, 4), int(ROOM * n_pairs) + 1 + LANES
            self.arrays[b] = Positives(np.zeros(sizes[0], np.int32), np.zeros(sizes[1], np.int32))


def even_bounds(train: LabelMatrix, n_parts: int) -> NDArray[np.int64]:
    """Divide the images into parts with about equal numbers of positives.

    The result, (n_parts + 1,) int64, contains the first image of each part, then the number of images.
    """
    positives = np.concatenate([[0], np.cumsum(train.count_of_pair, dtype=np.int64)])[train.offsets]
    inner = np.searchsorted(positives, positives[-1] * np.arange(1, n_parts) / n_parts)
    return np.concatenate([[0], inner, [train.n_rows]]).astype(np.int64)


class InParts(SgdMethod):
    """Base class of methods whose epochs can be divided into parts."""

    settings_type: ClassVar[type[Settings]] = PartsSettings
    settings: PartsSettings

    def __init__(self, problem: Problem, settings: PartsSettings) -> None:
        super().__init__(problem, settings)
        self.strata = Strata(problem, settings.parts) if settings.parts > 1 else None

    def epoch(self) -> Progress:
        if self.strata:
            return Progress(*self.strata.epoch(self.embedding, self.take_steps))
        return Progress(*self.take_steps(self.embedding, self.pipeline, self.steps, self.rng))

    @abstractmethod
    def take_steps(self, embedding: Embedding, pipeline: Pipeline, steps: int, streams: Streams) -> tuple[float, float]:
        """Take `steps` steps on the positives in `pipeline`, and return the mean loss and the mean number of trials.

        Without parts, `embedding` is `self.embedding`, and `pipeline` contains all positives. With parts, `embedding`
        contains the vectors of all images and of the labels in one label part, and `pipeline` contains the positives of
        one image part and this label part.
        """
