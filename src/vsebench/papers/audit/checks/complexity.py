"""Checks of printed complexities against printed counts and times, and of printed equations at a few values."""

from collections.abc import Callable, Iterator
from itertools import pairwise
from math import exp, inf, prod

from vsebench.papers.audit.checks.counts import count, label_numbers, pair_numbers
from vsebench.papers.audit.checks.times import seconds
from vsebench.papers.audit.findings import Finding, judge, report
from vsebench.papers.audit.printed import Interval, roughly, rounded
from vsebench.papers.published import PrintedCell, PrintedCells

TRIALS_STEP, OWN_STEP = "O(Tk)", "O(2k)"  # the printed costs of a step with T trials, and of a step with a single draw
FLOP = 6  # operations per weight and image: 2 in the forward pass, 4 in the backward pass
IDENTITIES: dict[str, tuple[Callable[[float, float], float], Callable[[float, float], float]]] = {
    "sig(a) sig(-b) = sig(a - b) + e^a + e^-b": (
        lambda a, b: sigmoid(a) * sigmoid(-b),
        lambda a, b: sigmoid(a - b) + exp(a) + exp(-b),
    )
}
WEIGHTS: dict[str, Callable[[int], float]] = {"1/j": lambda j: 1 / j, "1/(j-1)": lambda j: 1 / (j - 1)}


def sigmoid(x: float) -> float:
    return 1 / (1 + exp(-x))


def not_always_larger(cells: PrintedCells) -> Iterator[Finding]:
    """Check the statement that (N + M) K is not always larger than |D|, on each data set with printed labels per image.

    N, M and K are the numbers of images, labels and factors, and |D| is the number of positive pairs that are used for
    training. The computed |D| also counts the test pairs, so the computed ratio (N + M) K / |D| can only be too small.
    If the counts are not printed, the ratio is replaced by its lower bound K / m, where m is the mean number of labels
    per image. This is a lower bound because |D| is at most N m, and N is less than N + M.
    """
    for statement in cells.words("not_always_larger"):
        factors = cells.find(statement.paper, "all", "factors")
        if statement.value != "(N+M)K > |D|" or not factors:
            continue
        ratios = list(_ratios(cells, statement.paper, count(factors)))
        if ratios:
            sources = dict.fromkeys(cell for *_, used in ratios for cell in used)
            above = sum(ratio.low > 1 for _, ratio, _ in ratios)
            shown = "; ".join(f"{dataset} {ratio.show(1)}" for dataset, ratio, _ in ratios)
            yield report(
                "terms",
                [statement, factors, *sources],
                published="not always above 1",
                recomputed=f"above 1 on {above} of {len(ratios)}",
                agrees=above < len(ratios),
                explanation=f"{statement.note}: (N + M) K / |D| with K = {factors.value}: {shown}",
            )


def _ratios(cells: PrintedCells, paper: str, k: Interval) -> Iterator[tuple[str, Interval, list[PrintedCell]]]:
    """Yield each data set, its ratio (N + M) K / |D| (see `not_always_larger`), and the cells that give this ratio."""
    for mean in cells.numbers("positive_labels_per_image"):
        if mean.paper != paper:
            continue
        labels = next(label_numbers(cells, paper, mean.row), None)
        pairs = pair_numbers(cells, paper, mean.row)
        if labels and pairs:
            images, train, test = pairs
            ratio = (count(images) + labels.number) * k / (count(train) + count(test))
            yield mean.row, ratio, [*labels.cells, *pairs]
        elif rounded(mean.value).low > 0:
            yield mean.row, Interval((k / rounded(mean.value)).low, inf), [mean]


def trials_by_time(cells: PrintedCells) -> Iterator[Finding]:
    """Check a method's printed number of trials T against the printed times.

    With k factors, a step of the method costs O(Tk), and a step of the paper's own method costs O(2k). An iteration of
    the method should therefore take about T / 2 times as long as an iteration of the paper's own method.

    The time of an iteration is the printed training time divided by the printed number of iterations. If the ratio of
    these times is smaller than T / 2, the other costs of a step may be the reason. The explanation of the finding then
    states how large they must be, in units of k.
    """
    for cell in cells.numbers("trials"):
        own, method = cell.paper, cell.method
        times = [cells.find(own, f"{cell.dataset}/{name}", "training_time") for name in (method, own)]
        iterations = [cells.find(own, name, "iterations") for name in (method, own)]
        steps = [_step(cells, own, name) for name in (method, own)]
        sources = [each for each in (*times, *iterations, *steps) if each]
        if len(sources) < 6 or [step.value for step in steps if step] != [TRIALS_STEP, OWN_STEP]:
            continue
        slow, fast, n_slow, n_fast = sources[:4]
        ratio = (seconds(slow) / roughly(n_slow.value)) / (seconds(fast) / roughly(n_fast.value))
        trials = count(cell)
        condition = f"{TRIALS_STEP} and {OWN_STEP} are the exact costs of a step, without further factors and terms"
        rule = (
            f"2 x the ratio of the times per iteration, {ratio.show(1)} (training time / iterations); by the printed "
            f"costs, {TRIALS_STEP} / {OWN_STEP}, this ratio would be {(trials / 2).show(0)}"
        )
        if trials.low > 2 * ratio.high > 2:
            rest = (trials.low - 2 * ratio.high) / (ratio.high - 1)
            rule += f"; the trials and the times fit only if the rest of a step costs at least {float(rest):.0f} k"
        yield judge("trials by time", cell, sources, ratio * 2, rule, trials, condition)


def _step(cells: PrintedCells, paper: str, method: str) -> PrintedCell | None:
    """Return the printed cost of a method's step."""
    costs = cells.words("time_complexity")
    return next((cell for cell in costs if (cell.paper, cell.row) == (paper, method)), None)


def rate_of_network(cells: PrintedCells) -> Iterator[Finding]:
    """Check the time per epoch against the minimum for the printed network on the named GPU.

    Training a network whose layers have the printed `hidden_units` takes 6 operations per weight and image. The weights
    of the first layer are not counted, because the number of inputs is not printed.
    """
    for layers in cells.words("hidden_units"):
        card = cells.find(layers.paper, "all", "teraflops")
        if not card:
            continue
        units = [int(each) for each in layers.value.split(",")]
        weights = sum(map(prod, pairwise(units)))
        for cell in cells.numbers("epoch_time"):
            images = cells.find(cell.paper, cell.dataset, "images")
            if cell.paper == layers.paper and cell.unit == "seconds" and not cell.in_text and images:
                least = count(images) * (FLOP * weights) / (rounded(card.value) * 10**12)
                rule = f"{weights / 1e6:.1f} M weights x {FLOP} x images / {card.value} TFLOP/s ({card.note})"
                condition = "the times were measured for the printed network on one GPU of that name"
                bounds, sources = Interval(least.low, inf), [images, layers, card]
                yield judge("rate of the network", cell, sources, bounds, rule, condition=condition)


def identities(cells: PrintedCells) -> Iterator[Finding]:
    """Check a printed equation in a and b for all pairs of the values -1, 0 and 1."""
    for cell in cells.words("identity"):
        if cell.value in IDENTITIES:
            left, right = IDENTITIES[cell.value]
            points = [(a, b) for a in (0, 1, -1) for b in (0, 1, -1)]
            wrong = [(a, b) for a, b in points if abs(left(a, b) - right(a, b)) > 1e-9]
            a, b = (wrong or points)[0]
            rule = f"{cell.value}: both sides at a = {a}, b = {b}; {cell.note}"
            yield report("identity", [cell], "equal", f"{left(a, b):.2f} and {right(a, b):.2f}", not wrong, rule)


def weights_of_ranks(cells: PrintedCells) -> Iterator[Finding]:
    """Check that printed rank weights alpha_j are defined at the first rank, j = 1."""
    for cell in cells.words(".*rank_weights"):
        if cell.value in WEIGHTS:
            try:
                first, defined = f"{WEIGHTS[cell.value](1):g}", True
            except ZeroDivisionError:
                first, defined = "not defined", False
            rule = f"alpha_j = {cell.value}; {cell.note}"
            yield report("defined", [cell], "a number at j = 1", first, defined, rule)
