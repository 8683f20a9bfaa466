"""Methods of third-party packages, each run in the way that suits it best.

`run` returns the seconds of the epochs alone, without the preparation of the data, which every call of `fit` repeats.
Matrix products run on the calling thread, as implicit recommends.
"""

import numpy as np
import scipy.sparse
from cornac.models.bpr.recom_bpr import BPR, RNGVector  # type: ignore[import-untyped]
from implicit.cpu.bpr import BayesianPersonalizedRanking

from benchmarks.biases.opt_auc import with_biases
from benchmarks.contestants import Settings, Training
from benchmarks.plan import SEED
from vsebench.core.workers import Workers
from vsebench.data.problem import LabelMatrix, Problem
from vsebench.data.problem import Training as Labels
from vsebench.methods import lightfm_warp
from vsebench.methods.by_labels import implicit_als, irspack_ials
from vsebench.methods.by_labels.ials_settings import IalsSettings
from vsebench.models import Embeddings


def sparse(matrix: LabelMatrix) -> scipy.sparse.csr_matrix:
    """Return a sparse matrix with a 1 for each positive.

    The arrays of the matrix are new, because some packages need writable arrays.
    """
    ones = np.ones(matrix.n_pairs, dtype=np.float32)
    shape = (matrix.n_rows, matrix.n_labels)
    return scipy.sparse.csr_matrix(
        (ones, matrix.label_of_pair, matrix.offsets.astype(np.int32)), shape=shape, copy=True
    )


class ImplicitAls(Training):
    """ALS of implicit, by conjugate gradients, with the objective of VSE-fs.

    The settings `beta_0` and `regularisation` (lambda) are those of VSE-fs. Let s be the scores, U and V the
    embeddings, and beta = beta_0 / (number of labels). With gamma 0, alpha 0 and weights 1, VSE-fs minimises
        sum over positives (1 - s)^2 + beta sum over the rest s^2 + lambda (|U|^2 + |V|^2);
    implicit uses the entries c of its matrix as weights and minimises
        sum over positives c (1 - s)^2 +      sum over the rest s^2 + regularization (|U|^2 + |V|^2).
    The two objectives are the same up to the factor beta if c = 1 / beta and regularization = lambda / beta.
    """

    def __init__(self, train: LabelMatrix, settings: Settings, pool: Workers) -> None:
        beta = float(settings["beta_0"]) / train.n_labels
        own = implicit_als.AlsSettings(
            factors=int(settings["factors"]),
            confidence=1 / beta,
            regularisation=float(settings["regularisation"]) / beta,
        )
        self.method = implicit_als.ImplicitAls(Problem(Labels.all_of(train), SEED, pool), own)

    def run(self, epochs: int) -> list[float]:
        seconds: list[float] = []
        self.method.als.iterations = epochs
        self.method.als.fit(
            self.method.weights, show_progress=False, callback=lambda _, elapsed, __: seconds.append(elapsed)
        )
        return seconds


class IrspackIals(Training):
    """iALS by conjugate gradients, with the objective of our `ials`."""

    def __init__(self, train: LabelMatrix, settings: Settings, pool: Workers) -> None:
        own = IalsSettings(
            factors=int(settings["factors"]), alpha_0=float(settings["alpha_0"]),
            regularisation=float(settings["regularisation"]), nu=float(settings["nu"]), deviation=0.1,
        )  # fmt: skip
        self.method = irspack_ials.IrspackIals(Problem(Labels.all_of(train), SEED, pool), own)


class IrspackIalspp(IrspackIals):
    """iALS++, which minimises the objective of `IrspackIals` by solving for blocks of 64 factors."""

    def __init__(self, train: LabelMatrix, settings: Settings, pool: Workers) -> None:
        super().__init__(train, settings, pool)
        recommender = self.method.recommender
        recommender.solver_type = type(recommender.solver_type).IALSPP
        recommender.start_learning()  # begins again, with this solver


class ImplicitBpr(Training):
    """BPR of implicit, which draws negatives by frequency and skips steps whose negative is a positive."""

    def __init__(self, train: LabelMatrix, settings: Settings, pool: Workers) -> None:
        self.positives = sparse(train)
        self.bpr = BayesianPersonalizedRanking(
            factors=int(settings["factors"]), learning_rate=settings["learning_rate"],
            regularization=settings["regularisation"], num_threads=pool.threads, verify_negative_samples=True,
            random_state=np.random.default_rng(SEED),  # continues from call to call; a seed would restart it
        )  # fmt: skip

    def run(self, epochs: int) -> list[float]:
        seconds: list[float] = []
        self.bpr.iterations = epochs
        self.bpr.fit(
            self.positives, show_progress=False, callback=lambda _, elapsed, *__: seconds.append(elapsed)
        )  # fmt: skip
        return seconds

    def model(self) -> Embeddings:
        """Return the model; its last factor is the labels' bias."""
        return Embeddings(self.bpr.user_factors, self.bpr.item_factors)


class CornacBpr(Training):
    """BPR of Cornac, which skips steps whose negative is a positive.

    Its `fit` copies the data and then runs all epochs in one call; here, each epoch calls the training function inside
    `fit` directly.
    """

    def __init__(self, train: LabelMatrix, settings: Settings, pool: Workers) -> None:
        rng = np.random.default_rng(SEED)
        k = int(settings["factors"])
        self.threads = pool.threads
        self.bpr = BPR(k=k, learning_rate=settings["learning_rate"], lambda_reg=settings["regularisation"])
        self.image = (rng.random((train.n_rows, k), dtype=np.float32) - np.float32(0.5)) / k  # as in BPR._init
        self.label = (rng.random((train.n_labels, k), dtype=np.float32) - np.float32(0.5)) / k
        self.bias = np.zeros(train.n_labels, dtype=np.float32)
        self.pair_image, self.rows = train.image_of_pair, sparse(train)
        self.every_label = np.arange(train.n_labels, dtype=np.int32)
        self.positives = RNGVector(pool.threads, train.n_pairs - 1, SEED)
        self.negatives = RNGVector(pool.threads, train.n_labels - 1, SEED + 1)

    def epoch(self) -> None:
        self.bpr._fit_sgd(
            self.positives, self.negatives, self.threads, self.pair_image, self.rows.indices, self.every_label,
            self.rows.indptr, self.image, self.label, self.bias,
        )  # fmt: skip

    def model(self) -> Embeddings:
        return with_biases(Embeddings(self.image, self.label), self.bias)


class LightfmWarp(Training):
    """WARP of LightFM, on any number of threads."""

    def __init__(self, train: LabelMatrix, settings: Settings, pool: Workers) -> None:
        own = lightfm_warp.LightfmSettings(
            factors=int(settings["factors"]), learning_rate=float(settings["learning_rate"]),
            regularisation=float(settings["regularisation"]), trials=10,
        )  # fmt: skip
        self.method = lightfm_warp.LightfmWarp(Problem(Labels.all_of(train), SEED, pool), own)
        self.threads = pool.threads

    def epoch(self) -> None:
        self.method.lightfm.fit_partial(self.method.positives, epochs=1, num_threads=self.threads)
