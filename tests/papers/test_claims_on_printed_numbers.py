"""Each claim on the numbers that its paper prints: it must not fail there, unless the audit names the contradiction."""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from tests.builders import frame
from vsebench.core import schemas
from vsebench.core.tasks import Entry, Task
from vsebench.evaluation.estimates import Estimates
from vsebench.papers.base import Paper
from vsebench.papers.claim import AtTasks
from vsebench.papers.evidence import Evidence, RunTask, UntestableError
from vsebench.papers.verdicts import judge, read_claims

PAPERS = {path.stem: Paper.read(path) for path in (Path(__file__).parents[2] / "config" / "papers").glob("*.yaml")}
SEEDS = [1, 2]  # a ratio needs two pairs, which are equal here
# printed protocol -> ours, for claims that name protocols; all others are the papers' own test sets
PROTOCOLS = {"zero_shot": "unseen_labels", "cross_corpus": "from-another-corpus"}
BYTES = {"MB": 10**6, "GB": 10**9}
# Claims that their paper's own numbers contradict; the audit reports each contradiction.
AUDITED = {
    ("wsabie", "The embedding with WARP is more accurate than the linear model with WARP"),  # table 5, ImageNet, p@1
}


@dataclass(frozen=True)
class Printed(Evidence):
    """The printed numbers of a paper as evidence, without any spread."""

    paper: Paper | None = None

    def number(self, task, name, column):
        """Return the printed number of a method of ours in a column."""
        assert self.paper is not None
        dataset = next(key for key in self.paper.tasks if dataset_of(self.paper, key) == task.dataset)
        rows = [row for row, ours in self.paper.rows.items() if name in ours.ours]
        for place in (*(f"{dataset}/{row}" for row in rows), *rows):
            for cell in self.paper.cells.prints(self.paper.name, place, column):
                if PROTOCOLS.get(cell.protocol, "official") == task.protocol:
                    return float(cell.value) * BYTES.get(cell.unit, cell.scale)
        raise UntestableError(f"The paper prints no {column} of {name} on {dataset}.")

    def exactly(self, numbers):
        """Return the same numbers for each seed and resample."""
        table = np.array(numbers)[np.newaxis]
        return Estimates(np.repeat(table, 2, axis=0), np.tile(table, (2, 2, 1)), 1000)

    def both(self, task, ours, rival, metric):
        return self.resampled(task, [ours, rival], metric)

    def resampled(self, task, variants, metric):
        return self.exactly([self.number(task, variant, metric) for variant in variants])

    def sibling_precisions(self, task, variants, cutoff):
        columns = [f"precision@{cutoff}", f"sibling_precision@{cutoff}"]
        return self.exactly([self.number(task, variant, column) for variant in variants for column in columns])

    def median_by_repeat(self, task, variant, column, phase="epoch"):
        names = (
            {"epoch": ["epoch_time", "iteration_time"], "score": ["test_time"]}[phase] if column == "seconds" else []
        )
        for name in names:
            try:
                return np.full(2, self.number(task, variant, name))
            except UntestableError:
                continue
        raise UntestableError(f"The paper prints no {column} of {variant}.")


def dataset_of(paper, key):
    """Return the name of ours for a data set of a paper, or else the paper's."""
    return paper.tasks[key].dataset or key


def evidence_of(paper, test):
    """Return the printed numbers as evidence on a claim, whose families contain all of the paper's data sets."""
    printed = {name for row in paper.rows.values() for name in row.ours}
    variants = sorted(printed | {Entry.of(name).variant for name in printed})
    tasks = [
        RunTask(Task(dataset_of(paper, key), protocol), test.families[0], "paper", variants)
        for key in paper.tasks
        for protocol in ("official", *PROTOCOLS.values())
    ]
    empty = {"timing": frame([], schemas.TIMING), "history": frame([], schemas.HISTORY)}
    nothing = dict.fromkeys(("sweeps", "scaling", "read_ranks", "read_sweep_ranks"))
    evidence = Printed(tasks, SEEDS, 2, **empty, **nothing, selection=lambda case: {"settings": {}}, paper=paper)
    timing, history = [], []
    for task in (each.task for each in tasks):
        keys = {"dataset": task.dataset, "protocol": task.protocol}
        for variant, seed in ((variant, seed) for variant in variants for seed in SEEDS):
            row = keys | {"method": variant, "seed": seed}
            for column, phase in (("training_time", "training"), ("memory", "score"), ("iterations", "selection")):
                try:
                    number = evidence.number(task, variant, column)
                except UntestableError:
                    continue
                if column == "iterations":
                    history.append(row | {"phase": phase, "epoch": int(number), "seconds": 1.0, "validation": 1.0})
                else:
                    size = {"model_bytes": int(number)} if column == "memory" else {"seconds": number}
                    timing.append(row | {"phase": phase} | size)
    return replace(evidence, timing=frame(timing, schemas.TIMING), history=frame(history, schemas.HISTORY))


def verdicts_of(paper):
    """Return the verdict of each claim that the printed numbers are about."""
    found = {}
    for claim in read_claims(paper):
        if isinstance(claim.test, AtTasks):
            for judged in judge(claim, evidence_of(paper, claim.test)):
                if judged.decided is not None:
                    found[claim.text.claim] = judged.decided.verdict(judged.decided.effect.p)
    return found


@pytest.mark.parametrize("name", sorted(name for name, paper in PAPERS.items() if paper.claims))
def test_a_claim_does_not_fail_on_the_papers_own_numbers(name):
    found = verdicts_of(PAPERS[name])
    assert len(found) >= 3
    assert {(name, claim) for claim, verdict in found.items() if verdict == "fails"} == {
        each for each in AUDITED if each[0] == name
    }
