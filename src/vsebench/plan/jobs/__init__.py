"""The inputs of each rule's jobs, and the options of their commands.

`job` calls the function that has the rule's name, in `data`, `models`, `commands` or `results`. The rules
(`workflow/rules`) state what is the same in every run: outputs, those inputs that are files of a split, and
threads.
"""

from collections.abc import Callable

from vsebench.plan.jobs import commands, data, models, results
from vsebench.plan.jobs.base import Job, Wildcards
from vsebench.plan.plan import Plan


def job(plan: Plan, rule: str, wildcards: Wildcards) -> Job:
    """Return a job of a rule."""
    function: Callable[[Plan, Wildcards], Job] = (vars(data) | vars(models) | vars(commands) | vars(results))[rule]
    return function(plan, wildcards)
