"""Simulate images whose labels are independent of one another given the features.

    p_k(x) = sigmoid(3.5 w_k'x + b_k),   w_k ~ N(0, I/16),   b_k ~ N(-3.5, 1),   k = 1 .. 20
    y_k    ~ Bernoulli(p_k(x)); an image has label k if y_k = 1

1.4 % of the images have no label. The parameters are fixed; `seed` determines only the images and their labels.
`simulated_images.py` defines the features x and the options.

Source: made for this project, so that Bayes-optimal decisions are known; see `evaluation/bayes.py`.
"""

from pathlib import Path

import numpy as np
from scipy.special import expit

from vsebench.data.streams import generator
from vsebench.formats.annotations import RawAnnotations
from vsebench.formats.simulators.simulated_images import DIMENSIONS, GIVEN, LABELS, NormalOptions, annotate

KNOWS = frozenset({"truth", "label_distribution"})  # needs (`vsebench.data.needs`) that only a simulator can meet
WEIGHT_SEED, BIAS_SEED = 11, 12
Options = NormalOptions


def read(raw: Path, options: Options) -> RawAnnotations:
    """Draw a data set; `raw` is not used. The same options give the same data set.

    `IndependentLabels` in `methods.controls.label_probabilities` describes the arrays in `truth`.
    """
    weight = 3.5 * np.random.default_rng(WEIGHT_SEED).standard_normal((DIMENSIONS, LABELS)) / 4
    bias = -3.5 + np.random.default_rng(BIAS_SEED).standard_normal(LABELS)
    features = options.draw_features()
    probability = expit(features @ weight + bias)
    given = generator(options.seed, GIVEN).random(probability.shape) < probability
    return annotate(options, features, given, {"weight": weight, "bias": bias})
