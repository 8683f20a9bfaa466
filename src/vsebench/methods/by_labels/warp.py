"""WARP as in WSABIE: negatives are drawn until one violates the margin; hinge losses are weighted by estimated ranks.

Source: Weston, Bengio and Usunier, "Large scale image annotation: learning to rank with joint word-image embeddings",
Algorithm 1 and Eq. 5 with alpha_j = 1/j. WSABIE limits the norm of vectors (`maximum_norm`); the papers on VSE-ens and
VSE-fs penalise it instead (`regularisation`). WSABIE has Y - 1 negatives per image, where Y is the number of labels.
Here, an image can have several labels. All labels that it does not have are its negatives, and their number replaces
Y - 1.
"""

from pydantic import Field

from vsebench.data.problem import Problem
from vsebench.kernels.sgd.warp import new_trials, warp_epoch
from vsebench.methods.base import Progress
from vsebench.methods.by_labels.sgd import SgdMethod, SgdSettings
from vsebench.methods.by_labels.start import project_rows


class WarpSettings(SgdSettings):
    """Settings of WARP."""

    # Maximum number of negatives that a step draws; null: the number of negatives that the image has.
    trials: int | None = Field(ge=1)
    maximum_norm: float = Field(ge=0)  # C in Eq. 2 and 3, the largest norm of a vector; 0: no limit
    # Whether vectors longer than `maximum_norm` are shortened before training, instead of in the first step that
    # changes them.
    shorten_start: bool = False


class Warp(SgdMethod):
    """WARP. If no negative that a step draws violates the margin, the step changes nothing."""

    settings_type = WarpSettings
    gives = frozenset({"trials"})
    settings: WarpSettings

    def __init__(self, problem: Problem, settings: WarpSettings) -> None:
        train = problem.training.labels
        super().__init__(problem, settings)
        if settings.shorten_start:
            for rows in self.embedding:
                project_rows(rows, settings.maximum_norm)
        self.trials = new_trials(train.n_labels, settings.trials)

    def epoch(self) -> Progress:
        report = warp_epoch(
            self.embedding, self.pipeline, self.trials, self.steps, self.rates, self.settings.maximum_norm, self.rng
        )  # fmt: skip
        return Progress(*report)


METHODS = {"warp": Warp}
