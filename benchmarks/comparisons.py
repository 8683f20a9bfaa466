"""The comparisons: their contestants, and the work that is timed.

Contestants take turns in one process. Where epochs are compared, each contestant first trains one epoch to warm up, so
repeat n measures epoch n + 1 of each contestant.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from benchmarks.clock import Row, comparison, interleave, timed
from benchmarks.contestants import (
    ALS,
    CORNAC_BPR,
    ENS,
    IALS,
    IMPLICIT_BPR,
    IN_PARTS,
    IRSPACK_IALS,
    IRSPACK_IALSPP,
    LIGHTFM_WARP,
    MATCHED,
    OPT_AUC,
    OPT_AUC_PLAIN,
    VSE_FS,
    WARP_10,
    Contestant,
    Settings,
    Training,
)
from benchmarks.data import Data
from benchmarks.plan import RANKED, Plan
from benchmarks.quality import Judge, value
from benchmarks.ranking import CUTOFF, blocked_ranks, implicit_recall
from vsebench.core.workers import Workers, workers
from vsebench.evaluation.metrics import mean_metric
from vsebench.evaluation.ranking import rank
from vsebench.models import Embeddings

ENOUGH = 0.95  # the target is this share of the lower of two contestants' best values of recall@10
# VSE-fs and implicit ALS minimise the same objective, so both have the settings that are best for implicit ALS. Each
# other contestant has its own best settings.
TO_95 = (
    (MATCHED, ALS),
    (IALS, IRSPACK_IALS),
    (IALS, IRSPACK_IALSPP),
    (OPT_AUC, IMPLICIT_BPR),
    (OPT_AUC, CORNAC_BPR),
    (WARP_10, LIGHTFM_WARP),
)


@dataclass(frozen=True)
class LearningCurve:
    """The recall@10 that a contestant reaches with some settings.

    Attributes
    ----------
    values : recall@10 on the validation labels after each epoch
    quality : recall@10 on the test labels, after training on training and validation labels for the best number of
        epochs
    """

    contestant: Contestant
    settings: Settings
    values: list[float]
    quality: float


class Bench:
    """The plan, the chosen settings, and the learning curves, which are measured on all cores."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.judge = Judge(plan)
        self._curves: dict[tuple[str, str], LearningCurve] = {}

    def curve(self, contestant: Contestant, data: Data) -> LearningCurve:
        """Train a contestant with its best settings, and return its learning curve.

        `MATCHED` is trained with the best settings of `ALS`.
        """
        key = contestant.name, data.name
        if key not in self._curves:
            settings = self.judge.settings(self.judge.choice(ALS if contestant == MATCHED else contestant, data))
            values = self._follow(contestant, settings, data)
            quality = self.judge.refit(contestant, settings, reached(values, max(values)), data)
            self._curves[key] = LearningCurve(contestant, settings, values, quality)
        return self._curves[key]

    def _follow(self, contestant: Contestant, settings: Settings, data: Data) -> list[float]:
        """Return recall@10 on the validation labels after every epoch."""
        values = []
        with workers(max(self.plan.threads)) as pool:
            training = contestant.start(data.train, settings, pool)
            for _ in range(self.plan.trainings[data.name].epochs):
                training.run(1)
                values.append(value(training.model(), data.valid, data, pool))
        return values


def reached(values: list[float], target: float) -> int:
    """Return the first epoch (counted from 1) whose value reaches the target; at least one epoch must reach it."""
    return next(epoch for epoch, value in enumerate(values, 1) if value >= target)


def epochs(
    what: str,
    ours: Contestant,
    peers: tuple[Contestant, ...],
    bench: Bench,
    data: Data,
    threads: int,
    judged: bool = True,
) -> list[Row]:
    """Compare an epoch of our method with epochs of peers.

    If `judged`, each method has its best settings, and its quality is measured. If not, each method has the first
    settings of its grid.
    """
    everyone = (ours, *peers)
    chosen = [
        bench.judge.choice(contestant, data).settings if judged else contestant.grid[0] for contestant in everyone
    ]
    settings = [values | {"factors": bench.plan.factors} for values in chosen]
    with workers(threads) as pool:
        trainings = [
            contestant.start(data.known, chosen, pool) for contestant, chosen in zip(everyone, settings, strict=True)
        ]
        seconds = interleave([one_epoch(training) for training in trainings], bench.plan.repeats)
    rows = []
    for peer, theirs in zip(peers, seconds[1:], strict=True):
        keys = {"what": what, "size": data.name, "threads": threads, "ours": ours.title, "peer": peer.title}
        quality = (bench.judge.test(ours, data), bench.judge.test(peer, data)) if judged else None
        rows.append(comparison(keys, seconds[0], theirs, quality))
    return rows


def parts_epoch(bench: Bench, data: Data, threads: int) -> list[Row]:
    """Compare an epoch in two parts, which two threads can train, with an epoch of the same method without parts."""
    return [
        row
        for parts, plain in IN_PARTS
        for row in epochs("parts_epoch", parts, (plain,), bench, data, threads, judged=False)
    ]


def one_epoch(training: Training) -> Callable[[], float]:
    return lambda: training.run(1)[0]


def time_to_95(bench: Bench, data: Data, threads: int) -> list[Row]:
    """Compare how long two contestants take from the label matrix to the same recall@10 on the validation labels.

    This recall@10 is 95 % of the lower of the two contestants' best values.
    """
    rows = []
    for pair in TO_95:
        curves = [bench.curve(contestant, data) for contestant in pair]
        target = ENOUGH * min(max(curve.values) for curve in curves)
        with workers(threads) as pool:
            turns = [train(curve, reached(curve.values, target), data, pool) for curve in curves]
            # No warm-up is needed: each contestant has already run this number of epochs, in `curve`.
            ours, peer = interleave(turns, bench.plan.repeats, warm_up=False)
        titles = {"ours": pair[0].title, "peer": pair[1].title}
        keys = {"what": "time_to_95", "size": data.name, "threads": threads} | titles
        rows.append(comparison(keys, ours, peer, (curves[0].quality, curves[1].quality)))
    return rows


def train(curve: LearningCurve, epochs: int, data: Data, pool: Workers) -> Callable[[], float]:
    """Return a turn that starts a contestant on the label matrix and trains it for some epochs."""
    return timed(lambda: curve.contestant.start(data.train, curve.settings, pool).run(epochs))


def model_to_rank_by(data: Data, plan: Plan) -> Embeddings:
    """Return a model of VSE-fs after two iterations."""
    with workers(max(plan.threads)) as pool:
        training = VSE_FS.start(data.known, VSE_FS.grid[0] | {"factors": plan.factors}, pool)
        training.run(2)
        model = training.model()
    assert isinstance(model, Embeddings)
    return model


def ranking(bench: Bench, data: Data, threads: int) -> list[Row]:
    """Compare ways of ranking the test labels by a trained model."""
    model = model_to_rank_by(data, bench.plan)
    with workers(threads) as pool:
        by_implicit = implicit_recall(model, data.test, threads)
        turns = [
            lambda: rank(model, data.test, None, pool, "benchmark"),
            by_implicit,
            lambda: blocked_ranks(model, data.test, pool),
        ]
        seconds = interleave([timed(turn) for turn in turns], bench.plan.repeats)
        ours = mean_metric(rank(model, data.test, None, pool, "benchmark"), RANKED)
        qualities = [by_implicit(), float((blocked_ranks(model, data.test, pool) <= CUTOFF).mean())]
    rows = []
    for peer, theirs, quality in zip(("implicit.evaluation", "blocked NumPy"), seconds[1:], qualities, strict=True):
        keys = {"what": "ranking", "size": data.name, "threads": threads, "ours": "ranks", "peer": peer}
        rows.append(comparison(keys, seconds[0], theirs, (ours, quality)))
    return rows


COMPARISONS: dict[str, Callable[[Bench, Data, int], list[Row]]] = {
    "iteration": partial(epochs, "iteration", VSE_FS, (ALS,)),
    "ials_iteration": partial(epochs, "ials_iteration", IALS, (IRSPACK_IALS, IRSPACK_IALSPP)),
    "time_to_95": time_to_95,
    "bpr_epoch": partial(epochs, "bpr_epoch", OPT_AUC, (IMPLICIT_BPR, CORNAC_BPR)),
    "warp_epoch": partial(epochs, "warp_epoch", WARP_10, (LIGHTFM_WARP,)),
    "parts_epoch": parts_epoch,
    "ens_epoch": partial(epochs, "ens_epoch", ENS, (OPT_AUC_PLAIN,), judged=False),
    "ranking": ranking,
}
