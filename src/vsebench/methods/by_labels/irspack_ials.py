"""iALS from the package irspack, which minimises the loss of `ials` by conjugate gradients.

Source: Rendle, Krichene, Zhang and Koren, "Revisiting the performance of iALS on item recommendation benchmarks",
RecSys 2022; Takacs, Pilaszy and Tikk, "Applications of the conjugate gradient method for implicit feedback
collaborative filtering", RecSys 2011. Labels count once per image. The package is optional (`make setup-peers`).
"""

import numpy as np
import scipy.sparse
from irspack import IALSRecommender
from numpy.linalg import LinAlgError

from vsebench.data.problem import Problem
from vsebench.methods.base import Method, Progress
from vsebench.methods.by_labels.ials_settings import IalsSettings
from vsebench.models import Embeddings


class IrspackIals(Method):
    """irspack's iALS; an epoch takes three steps of conjugate gradients for the images, then three for the labels."""

    settings_type = IalsSettings
    needs = frozenset({"known_labels"})

    def __init__(self, problem: Problem, settings: IalsSettings) -> None:
        train = problem.training.labels
        ones = np.ones(train.n_pairs, dtype=np.float32)
        shape = (train.n_rows, train.n_labels)
        positives = scipy.sparse.csr_matrix((ones, train.label_of_pair, train.offsets), shape=shape, copy=True)
        self.recommender = IALSRecommender(
            positives, n_components=settings.factors, alpha0=settings.alpha_0, reg=settings.regularisation,
            nu=settings.nu, init_std=settings.deviation * settings.factors**0.5,  # irspack divides it by this root
            random_seed=problem.seed % 2**31, n_threads=problem.workers.threads,
        )  # fmt: skip
        self.recommender.start_learning()

    def epoch(self) -> Progress:
        try:
            self.recommender.run_epoch()
        except RuntimeError as error:  # "Conjugate-gradient solver encountered a singular system."
            raise LinAlgError(str(error)) from None
        return Progress(None)

    def model(self) -> Embeddings:
        sides = self.recommender.get_user_embedding(), self.recommender.get_item_embedding()
        return Embeddings(*(np.ascontiguousarray(side, dtype=np.float32) for side in sides))


METHODS = {"irspack_ials": IrspackIals}
