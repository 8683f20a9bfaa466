"""Compare epochs of WSABIE and of LightFM's WARP with the same features and number of trials."""

import importlib
from dataclasses import replace
from functools import partial

from benchmarks.clock import Row, clock_for, comparison, interleave, timed
from benchmarks.contestants import Contestant, Settings, Training, grid_of
from benchmarks.data import Data
from benchmarks.feature_rows import blobs, installed, simulated
from benchmarks.plan import SEED, Plan
from benchmarks.quality import Judge
from vsebench.core.workers import Workers, workers
from vsebench.data.features import Features
from vsebench.data.problem import LabelMatrix, Problem
from vsebench.data.problem import Training as Labels
from vsebench.kernels.sgd.warp import new_trials
from vsebench.methods.by_features import wsabie
from vsebench.methods.by_features.wsabie import EmbeddingSettings

Tables = tuple[list[Row], list[Row]]  # comparisons, and the settings that were chosen for them
FEW_TRIALS = 10
# Training on the sparse rows has few epochs, so the learning rates to try for these rows are larger.
GRIDS = {
    "blobs": (
        grid_of("learning_rate maximum_norm", (0.001, 1.75), (0.0015, 1.6), (0.002, 1.6), (0.003, 1.5)),
        grid_of("learning_rate regularisation", (0.01, 0.0), (0.02, 0.0), (0.02, 0.00001), (0.05, 0.0)),
    ),
    "sparse": (
        grid_of("learning_rate maximum_norm", (0.01, 1.5), (0.03, 1.5), (0.03, 2.0), (0.05, 1.5)),
        grid_of("learning_rate regularisation", (0.02, 0.0), (0.05, 0.0), (0.05, 0.00001), (0.1, 0.0)),
    ),
}


class Wsabie(Training):
    """WSABIE with a maximum number of trials."""

    def __init__(
        self, features: Features | None, trials: int, train: LabelMatrix, settings: Settings, pool: Workers
    ) -> None:
        problem = Problem(Labels.all_of(train), SEED, pool, features)
        self.method = wsabie.Wsabie(problem, EmbeddingSettings.model_validate(settings))
        self.method.trials = new_trials(train.n_labels, trials)


class LightfmFeatures(Training):
    """WARP of LightFM on image features, on any number of threads."""

    def __init__(
        self, features: Features | None, trials: int, train: LabelMatrix, settings: Settings, pool: Workers
    ) -> None:
        peer = importlib.import_module("vsebench.methods.lightfm_warp")
        own = peer.LightfmFeaturesSettings.model_validate(settings | {"trials": trials})
        self.method = peer.LightfmFeatures(Problem(Labels.all_of(train), SEED, pool, features), own)
        self.threads = pool.threads

    def epoch(self) -> None:
        method = self.method
        method.lightfm.fit_partial(method.positives, user_features=method.rows, epochs=1, num_threads=self.threads)


def contestants(data: Data, trials: int, rows: str) -> tuple[Contestant, Contestant]:
    """Return WSABIE and LightFM, each with at most `trials` trials per step; `rows` is a key of GRIDS."""
    features, named = data.features, f"{trials} trials"
    return (
        Contestant("wsabie", f"WSABIE, {named}", partial(Wsabie, features, trials), GRIDS[rows][0]),
        Contestant("lightfm", f"LightFM, {named}", partial(LightfmFeatures, features, trials), GRIDS[rows][1]),
    )


def wsabie_epoch(plan: Plan) -> Tables:
    """Compare epochs on blobs; the maximum number of trials is the number of labels minus 1."""
    data = blobs(plan)
    return race(plan, "wsabie_epoch", data, contestants(data, data.train.n_labels - 1, "blobs"))


def wsabie_epoch_10(plan: Plan) -> Tables:
    """Compare epochs with few trials on blobs."""
    data = blobs(plan)
    return race(plan, "wsabie_epoch_10", data, contestants(data, FEW_TRIALS, "blobs"))


def wsabie_sparse(plan: Plan) -> Tables:
    """Compare epochs with few trials on many sparse rows."""
    data = simulated("sim-sparse", plan.on_features.sparse, plan)
    return race(plan, "wsabie_sparse", data, contestants(data, FEW_TRIALS, "sparse"))


def race(
    plan: Plan, what: str, data: Data, everyone: tuple[Contestant, Contestant], package: str = "lightfm"
) -> Tables:
    """Compare epochs of two contestants, each with its own best settings.

    The quality is the value of the metric by which settings and epochs were chosen, on the validation images. It is
    measured on one thread, since LightFM's quality on several threads depends on the timing of the threads. Nothing is
    compared if the second contestant's `package` is not installed.
    """
    if not installed(package, what):
        return [], []
    limits = plan.on_features.trainings[what]
    judge = Judge(replace(plan, factors=plan.on_features.factors, trainings={data.name: limits}, threads=(1,)))
    choices = [judge.choice(contestant, data) for contestant in everyone]
    for contestant in everyone:
        judge.test(contestant, data)
    rows = []
    for threads in plan.threads:
        with workers(threads) as pool:
            trainings: list[Training] = [
                contestant.start(data.train, judge.settings(choice), pool)
                for contestant, choice in zip(everyone, choices, strict=True)
            ]
            turns = [timed(partial(training.run, 1), clock_for(threads)) for training in trainings]
            ours, peer = interleave(turns, limits.epochs - 1)
        titles = {"ours": everyone[0].title, "peer": everyone[1].title}
        keys = {"what": what, "size": data.name, "threads": threads} | titles
        rows.append(comparison(keys, ours, peer, (choices[0].validation, choices[1].validation)))
    return rows, judge.rows
