"""Read the input of the audit: the numbers that the papers print, and the papers' statements about these numbers."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain

from vsebench.core.errors import UserError
from vsebench.papers.base import Paper
from vsebench.papers.published import PrintedCells, PrintedStatement


def read_audited(papers: Sequence[Paper]) -> PrintedCells:
    """Read the numbers that the papers print (CSV files), and what the papers' YAML files say about these numbers.

    The YAML file of a paper states under which condition a number contradicts others, which numbers are lower bounds,
    which sentences of the paper compare numbers, and which cells and sentences are about the same fact. Raises
    a `UserError` if a CSV file contains a mistake, or if a YAML file contains a name that the CSV file of the same
    paper lacks.
    """
    for paper in papers:
        for key, names, known in _names(paper):
            for name in names:
                if name not in known:
                    raise UserError(f"{paper.path}: {key}: {paper.numbers.name} has no {name!r}; correct the name")
    cells = (
        replace(cell, condition=paper.conditions.get(cell.name, ""), at_least=cell.name in paper.lower_bounds)
        for paper in papers
        for cell in paper.cells.all
    )
    statements = (
        PrintedStatement(paper=paper.name, name=f"text {name}", **dict(statement))
        for paper in papers
        for name, statement in paper.statements.items()
    )
    same_fact = {(paper.name, name): names[0] for paper in papers for names in paper.same_fact for name in names}
    return PrintedCells(tuple(cells), tuple(statements), same_fact)


def _names(paper: Paper) -> Iterator[tuple[str, Iterable[str], set[str]]]:
    """Yield each key of the YAML file that lists names, with these names and the names that the key may list.

    The latter are the names of all cells, methods, columns or data sets of the paper.
    """
    cells = paper.cells.all
    methods = {cell.method for cell in cells}
    cell_names = {cell.name for cell in cells}
    yield "conditions", paper.conditions, cell_names
    yield "lower_bounds", paper.lower_bounds, cell_names
    statements = {f"text {name}" for name in paper.statements}
    yield "same_fact", chain.from_iterable(paper.same_fact), cell_names | statements
    for name, statement in paper.statements.items():
        for row, rivals in statement.rows.items():
            yield f"statements.{name}.rows", [row, *(rivals if isinstance(rivals, list) else [])], methods
        yield f"statements.{name}.same_decision", [*statement.same_decision, *statement.same_decision.values()], methods
        yield f"statements.{name}.metrics", statement.metrics or [], {cell.column for cell in cells}
        yield f"statements.{name}.datasets", statement.datasets or [], {cell.dataset for cell in cells}
