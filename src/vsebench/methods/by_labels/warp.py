"""WARP as in WSABIE: negatives are drawn until one violates the margin; the estimated rank weights the hinge loss.

Source: Weston, Bengio and Usunier, "Large scale image annotation: learning to rank with joint word-image embeddings",
Algorithm 1 and Eq. 5 with alpha_j = 1/j. WSABIE limits the norm of vectors (`maximum_norm`); the VSE papers penalise it
instead (`regularisation`). Because images can have several labels, negatives are the labels that the image does not
have, and their number replaces Y - 1.
"""

from pydantic import Field

from vsebench.data.problem import Problem
from vsebench.kernels.products import Embedding
from vsebench.kernels.sgd.pipeline import Pipeline
from vsebench.kernels.sgd.sampling import Streams
from vsebench.kernels.sgd.warp import new_trials, warp_epoch
from vsebench.methods.by_labels.start import project_rows
from vsebench.methods.by_labels.strata import InParts, PartsSettings


class WarpSettings(PartsSettings):
    """Settings of WARP."""

    trials: int | None = Field(ge=1)  # maximum number of trials per step; none: the number of negatives
    maximum_norm: float = Field(ge=0)  # C in Eq. 2 and 3, the largest norm of a vector; 0: no limit
    shorten_start: bool = False  # whether initial vectors are shortened to C at once, not in their first step


class Warp(InParts):
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

    def take_steps(self, embedding: Embedding, pipeline: Pipeline, steps: int, streams: Streams) -> tuple[float, float]:
        if embedding is self.embedding:
            trials = self.trials
        else:
            trials = new_trials(len(embedding.labels), self.settings.trials, self.settings.parts)
        limit = self.settings.maximum_norm
        loss, mean_trials = warp_epoch(embedding, pipeline, trials, steps, self.rates, limit, streams)
        return loss, mean_trials


METHODS = {"warp": Warp}
