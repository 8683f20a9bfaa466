"""Simulated images whose labels are independent of one another given the features.

    p_k(x) = sigmoid(3.5 w_k'x + b_k),   w_k ~ N(0, I/16),   b_k ~ N(-3.5, 1),   k = 1 .. 20
    y_k    ~ Bernoulli(p_k(x))

An image can have no label: 1.4 % have none. The parameters are fixed, `seed` draws the images; they, and the options,
are in `simulated_images.py`.

Source: made for this project, so that every Bayes decision is known; see `evaluation/bayes.py`.
"""

from pathlib import Path

import numpy as np
from scipy.special import expit

from vsebench.formats.annotations import RawAnnotations
from vsebench.formats.simulators.simulated_images import (
    DIMENSIONS,
    LABELS,
    NormalOptions,
    annotate,
    draw_features,
    given_stream,
)

KNOWS = frozenset({"truth", "law"})  # needs (`vsebench.data.needs`) that only a simulator can satisfy
WEIGHT_SEED, BIAS_SEED = 11, 12


class Options(NormalOptions):
    """Size and draw of the set."""


def read(raw: Path, options: Options) -> RawAnnotations:
    """Draw a set; `raw` is not read. The same options give the same set.

    The truth is what `methods.independent_labels` reads.
    """
    weight = 3.5 * np.random.default_rng(WEIGHT_SEED).standard_normal((DIMENSIONS, LABELS)) / 4
    bias = -3.5 + np.random.default_rng(BIAS_SEED).standard_normal(LABELS)
    features = draw_features(options)
    chance = expit(features @ weight + bias)
    given = given_stream(options).random(chance.shape) < chance
    return annotate(options, features, given, {"weight": weight, "bias": bias})
