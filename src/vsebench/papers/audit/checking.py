"""Find checks by their names, and apply them to the published numbers."""

import importlib
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache

from vsebench.core.errors import UserError
from vsebench.core.modules import modules_in
from vsebench.papers.audit.findings import Finding, number_facts
from vsebench.papers.published import PrintedCells

Check = Callable[[PrintedCells], Iterator[Finding]]
MODULES = modules_in("papers/audit/checks")


@cache
def find_checks() -> dict[str, dict[str, Check]]:
    """Return all checks, by family and then by name.

    Families are in alphabetical order, and the checks of a family are in the order of its module.
    """
    return {family: _checks_in(module) for family, module in MODULES.items()}


def _checks_in(module: str) -> dict[str, Check]:
    imported = importlib.import_module(module)
    return {
        name: function
        for name, function in vars(imported).items()
        if inspect.isfunction(function)
        and function.__module__ == module
        and not name.startswith("_")
        and list(inspect.signature(function).parameters) == ["cells"]
    }


def choose(names: Sequence[str] | None, where: str) -> set[str]:
    """Return the names of the selected checks.

    `names` contains names of checks and of families; None selects all checks. An unknown name raises a `UserError`
    whose message begins with `where`.
    """
    families = find_checks()
    known = {name for checks in families.values() for name in checks}
    if names is None:
        return known
    chosen: set[str] = set()
    for name in names:
        if name not in families and name not in known:
            raise UserError(
                f"{where}: there is no check {name!r}; the families are {', '.join(families)}, "
                f"the checks are {', '.join(sorted(known))}"
            )
        chosen |= set(families.get(name, [name]))
    return chosen


def audit(cells: PrintedCells, chosen: Mapping[str, set[str]] | None = None) -> list[Finding]:
    """Apply the checks to the published numbers of all papers; some checks compare papers with one another.

    `chosen` maps a paper to the names of the checks to apply to it (see `choose`). All checks are applied to a paper
    without an entry. Findings are sorted by paper and then by check; `number_facts` sets their field `fact`.
    """
    chosen = chosen or {}
    findings = [
        finding
        for checks in find_checks().values()
        for name, check in checks.items()
        for finding in check(cells)
        if name in chosen.get(finding.paper, {name})
    ]
    by_paper = sorted(findings, key=lambda finding: cells.papers.index(finding.paper))
    return number_facts(by_paper, cells.same_fact)
