"""The verdict on a claim for one kind of data, from the mean effects of its comparisons.

A comparison is a pair of a rival and a measured quantity. A claim must hold in all its comparisons, so the weakest
comparison decides. The p-value of a claim without bounds depends on the direction of the effects:

- if all effects have the claimed direction, it is the largest p-value of the comparisons. This is an intersection-union
  test (Berger, Technometrics 24, 1982), which needs no correction;
- otherwise, it is the smallest p-value of the effects in the other direction, times the number of comparisons
  (Bonferroni).

A claim with bounds holds if all 95 % intervals lie within the bounds. It fails if, for at least one of its k
comparisons, the interval with a coverage of 1 - 0.05 / k lies outside the bounds. If a test measures one quantity in
several forms (`ClaimTest.forms`), the claim is undecided unless all forms lead to the same verdict.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from vsebench.evaluation.estimates import LEVEL
from vsebench.papers.claim import ClaimTest
from vsebench.papers.evidence import Effect, Measurement
from vsebench.papers.verdict import FAILS, HOLDS, UNDECIDED, Verdict

Comparison = tuple[str, str]  # rival and measured quantity


@dataclass(frozen=True)
class Decided:
    """The effect that decides a claim."""

    test: ClaimTest
    weakest: Comparison
    effect: Effect  # the effect of the weakest comparison; its p-value is the p-value of the claim
    by_bounds: Verdict | None  # the verdict on a claim with bounds; None: the claim has no bounds

    def verdict(self, p: float | None) -> Verdict:
        """Return the verdict, given the corrected p-value."""
        return self.by_bounds or self.test.verdict(self.effect, p)


def decide(test: ClaimTest, comparisons: Mapping[Comparison, Measurement]) -> Decided:
    """Return the effect of the weakest comparison; its p-value is that of the claim, if the claim has no bounds."""
    effects = {key: measurement.effect() for key, measurement in comparisons.items()}
    if test.bounds() is None:
        weakest, p = decide_by_p(effects, test.forms)
        return Decided(test, weakest, replace(effects[weakest], p=p), None)
    verdicts = {key: test.verdict(effect, None) for key, effect in effects.items()}
    corrected = {
        key: test.verdict(measurement.effect(LEVEL / len(comparisons)), None)
        for key, measurement in comparisons.items()
    }
    verdict = combine(list(verdicts.values()), list(corrected.values()), test.forms)
    order = {FAILS: 0, UNDECIDED: 1, HOLDS: 2}
    weakest = min(verdicts, key=lambda key: (order[verdicts[key]], -distance(effects[key], test.bounds())))
    return Decided(test, weakest, effects[weakest], verdict)


def decide_by_p(effects: Mapping[Comparison, Effect], forms: bool) -> tuple[Comparison, float]:
    """Return the weakest comparison and the p-value of a claim without bounds.

    If `forms` is true, the measured quantities are forms of one quantity, and a rival counts as one comparison. The
    p-value of this comparison is the largest of its forms, or 1 if the effects of the forms have different directions.
    """
    if forms:
        rivals = {rival: [key for key in effects if key[0] == rival] for rival, _ in effects}
        weakest = {rival: max(keys, key=lambda key: _p(effects[key])) for rival, keys in rivals.items()}
        reduced = {}
        for rival, key in weakest.items():
            agree = len({effects[form].value > effects[form].neutral for form in rivals[rival]}) == 1
            reduced[key] = effects[key] if agree else replace(effects[key], p=1.0)
        effects = reduced
    against = {key: effect for key, effect in effects.items() if effect.value <= effect.neutral}
    if not against:
        key = max(effects, key=lambda key: _p(effects[key]))
        return key, _p(effects[key])
    key = min(against, key=lambda key: _p(against[key]))
    return key, min(1.0, len(effects) * _p(against[key]))


def combine(verdicts: Sequence[Verdict], corrected: Sequence[Verdict], forms: bool) -> Verdict:
    """Return the verdict on a claim with bounds, given the verdicts on its comparisons.

    `verdicts` are based on 95 % intervals, and `corrected` on wider intervals, which correct for the number of
    comparisons. If `forms` is true, the comparisons measure forms of one quantity, so the claim fails only if it fails
    in all forms.
    """
    if all(verdict == HOLDS for verdict in verdicts):
        return HOLDS
    if forms:
        return FAILS if all(verdict == FAILS for verdict in verdicts) else UNDECIDED
    return FAILS if FAILS in corrected else UNDECIDED


def distance(effect: Effect, bounds: Sequence[float] | None) -> float:
    """Return how far an effect lies outside the claimed bounds; the distance is negative if the effect lies inside."""
    low, high = bounds or (float("-inf"), float("inf"))
    return max(low - effect.value, effect.value - high)


def _p(effect: Effect) -> float:
    return 1.0 if effect.p is None else effect.p
