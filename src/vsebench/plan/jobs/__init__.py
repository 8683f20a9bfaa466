"""The inputs of each rule's jobs, and the options of their commands.

`job` calls the function that has the rule's name, in `data`, `models` or `results`. The rules (`workflow/rules`) name
what is the same in every run: outputs, the files of a split, threads.
"""

from collections.abc import Callable

from vsebench.plan.jobs import data, models, results
from vsebench.plan.jobs.base import Job, Wildcards
from vsebench.plan.plan import Plan

JOBS: dict[str, Callable[[Plan, Wildcards], Job]] = {
    function.__name__: function
    for function in (
        data.about, data.download, data.network_features, data.prepare, data.siblings, data.word_vectors, data.join,
        data.split,
        models.compile_kernels, models.fit, models.sweep, models.rank, models.decide,
        results.open_pack, results.match_packs, results.measure, results.measure_sweeps,
        results.time_methods, results.scale, results.analyse, results.gather,
        results.test_claims, results.table, results.figure,
    )
}  # fmt: skip


def job(plan: Plan, rule: str, wildcards: Wildcards) -> Job:
    """Return a job of a rule."""
    return JOBS[rule](plan, wildcards)
