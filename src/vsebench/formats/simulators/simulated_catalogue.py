"""Simulate images: each has one of 40 sets of labels, drawn with probabilities that depend on the image's features.

    S_1 .. S_40   distinct sets, each of min(8, 1 + Poisson(2)) labels, drawn without replacement from 20 labels;
                  label k has the weight k^-0.7
    P(c | x)      = softmax_c(4 v_c'x + a_c),   v_c ~ N(0, I/16),   a_c ~ N(0, 1/4): the probability of set c
    labels        = S_c,   so label k has the probability p_k(x) = sum of P(c | x) over the sets c with label k

No set is empty. The parameters are fixed; `seed` determines only the images and their labels.
`simulated_images.py` defines the features x and the options.

Source: made for this project, so that Bayes-optimal decisions are known; see `evaluation/bayes.py`.
"""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from vsebench.data.streams import generator
from vsebench.formats.annotations import RawAnnotations
from vsebench.formats.simulators.simulated_images import DIMENSIONS, GIVEN, LABELS, NormalOptions, annotate

KNOWS = frozenset({"truth", "label_distribution"})  # needs (`vsebench.data.needs`) that only a simulator can meet
SETS, LARGEST = 40, 8
SEED = 21  # seed of the parameters
Options = NormalOptions


def read(raw: Path, options: Options) -> RawAnnotations:
    """Draw a data set; `raw` is not used. The same options give the same data set.

    `LabelCatalogue` in `methods.controls.label_probabilities` describes the arrays in `truth`.
    """
    rng = np.random.default_rng(SEED)
    members = draw_sets(rng)
    weight = 4 * rng.standard_normal((DIMENSIONS, SETS)) / 4
    bias = rng.standard_normal(SETS) / 2
    features = options.draw_features()
    bounds = np.cumsum(softmax(features @ weight + bias, axis=1), axis=1)
    # The last bound is left out, because it can be rounded to less than 1.
    chosen = (generator(options.seed, GIVEN).random((len(features), 1)) >= bounds[:, :-1]).sum(axis=1)
    return annotate(options, features, members[chosen], {"members": members, "weight": weight, "bias": bias})


def draw_sets(rng: np.random.Generator) -> NDArray[np.bool_]:
    """Draw distinct sets of labels; return one mask of labels per set, (SETS, LABELS) bool."""
    weights = np.arange(1, LABELS + 1) ** -0.7
    sets: dict[tuple[int, ...], None] = {}
    while len(sets) < SETS:
        size = min(LARGEST, 1 + rng.poisson(2))
        labels = rng.choice(LABELS, size, replace=False, p=weights / weights.sum())
        sets[tuple(sorted(labels.tolist()))] = None
    members = np.zeros((SETS, LABELS), dtype=bool)
    for row, labels_of_set in zip(members, sets, strict=True):
        row[list(labels_of_set)] = True
    return members
