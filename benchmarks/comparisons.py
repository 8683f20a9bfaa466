"""The comparisons: their contestants, and the work that is timed.

After one warm-up epoch each, contestants take turns in one process: repeat n is epoch n + 1 of each training.
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

ENOUGH = 0.95  # share of the better contestant's best recall@10


@dataclass(frozen=True)
class Race:
    """Two contestants with the same objective: settings, iterations to the target, and recall@10 on test labels."""

    settings: Settings
    iterations: tuple[int, int]
    quality: tuple[float, float]


class Bench:
    """The plan, the chosen settings, and the races, which do not depend on the number of threads."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.judge = Judge(plan)
        self._races: dict[str, Race] = {}

    def race(self, data: Data) -> Race:
        """Run VSE-fs and implicit ALS with the same objective: the one for which ALS's validation quality is best.

        Both are deterministic, whatever the number of threads, so the iterations needed are counted once.
        """
        if data.name not in self._races:
            settings = self.judge.settings(self.judge.choice(ALS, data))
            with workers(max(self.plan.threads)) as pool:
                ours, peer = (self._follow(contestant, settings, data, pool) for contestant in (MATCHED, ALS))
            target = ENOUGH * max(*ours, *peer)
            quality = (
                self.judge.refit(MATCHED, settings, reached(ours, max(ours)), data),
                self.judge.refit(ALS, settings, reached(peer, max(peer)), data),
            )
            self._races[data.name] = Race(settings, (reached(ours, target), reached(peer, target)), quality)
        return self._races[data.name]

    def _follow(self, contestant: Contestant, settings: Settings, data: Data, pool: Workers) -> list[float]:
        """Return recall@10 on the validation labels after every iteration."""
        training = contestant.start(data.train, settings, pool)
        values = []
        for _ in range(self.plan.trainings[data.name].epochs):
            training.run(1)
            values.append(value(training.model(), data.valid, data, pool))
        return values


def reached(values: list[float], target: float) -> int:
    """Return the first iteration (from 1) that reaches a target, or their number plus 1 if none does."""
    return next((iteration for iteration, value in enumerate(values, 1) if value >= target), len(values) + 1)


def epochs(
    what: str,
    ours: Contestant,
    peers: tuple[Contestant, ...],
    bench: Bench,
    data: Data,
    threads: int,
    judged: bool = True,
) -> list[Row]:
    """Compare an epoch of our method with epochs of peers; if `judged`, each has its own best settings."""
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
    """Compare the time from the label matrix to 95 % of the better contestant's best validation recall@10."""
    race = bench.race(data)

    def train(contestant: Contestant, iterations: int, pool: Workers) -> Callable[[], float]:
        return timed(lambda: contestant.start(data.train, race.settings, pool).run(iterations))

    with workers(threads) as pool:
        turns = [train(contestant, n, pool) for contestant, n in zip((MATCHED, ALS), race.iterations, strict=True)]
        # Both have run as many iterations before, in `race`.
        ours, peer = interleave(turns, bench.plan.repeats, warm_up=False)
    keys = {"what": "time_to_95", "size": data.name, "threads": threads, "ours": MATCHED.title, "peer": ALS.title}
    return [comparison(keys, ours, peer, race.quality)]


def ranking(bench: Bench, data: Data, threads: int) -> list[Row]:
    """Compare ways of ranking the test labels by a trained model."""
    with workers(max(bench.plan.threads)) as pool:
        training = VSE_FS.start(data.known, VSE_FS.grid[0] | {"factors": bench.plan.factors}, pool)
        training.run(2)
        model = training.model()
    assert isinstance(model, Embeddings)
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
