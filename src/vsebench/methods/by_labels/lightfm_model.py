"""Parts of the methods of the package LightFM: settings, the label matrix, and the model before training."""

import numpy as np
import scipy.sparse
from lightfm import LightFM
from pydantic import Field

from vsebench.data.problem import LabelMatrix
from vsebench.methods.base import FactorSettings


class LightfmSettings(FactorSettings):
    """Settings of LightFM's WARP."""

    learning_rate: float = Field(gt=0)  # the learning rate of Adagrad
    regularisation: float = Field(ge=0)  # the L2 penalty on images and labels
    trials: int = Field(ge=1)  # maximum number of negatives examined per step


def positives_of(train: LabelMatrix) -> scipy.sparse.coo_matrix:
    """Return the label matrix in LightFM's format, with 1 for each positive."""
    ones = np.ones(train.n_pairs, dtype=np.float32)
    pairs = (ones, train.label_of_pair, train.offsets)
    return scipy.sparse.csr_matrix(pairs, shape=(train.n_rows, train.n_labels), copy=True).tocoo()


def new_lightfm(settings: LightfmSettings, seed: int) -> LightFM:
    """Return a WARP model of LightFM before its first epoch."""
    return LightFM(
        no_components=settings.factors, loss="warp", learning_rate=settings.learning_rate,
        item_alpha=settings.regularisation, user_alpha=settings.regularisation, max_sampled=settings.trials,
        random_state=seed,
    )  # fmt: skip
