"""Sentences of a paper that compare its printed numbers (key `statements` of its YAML file)."""

from typing import ClassVar, Literal

from pydantic import Field

from vsebench.core.yaml_files import Strict


class Statement(Strict):
    """A quoted sentence, with the comparison that it states and the compared numbers."""

    quotation: str
    where: str  # position in the paper, and remarks
    comparison: Literal["above", "near", "best", "faster"] = "above"
    # Method -> its rivals: `all` other methods, `baselines` (names that do not begin with the paper's name), or a list.
    rows: dict[str, Literal["all", "baselines"] | list[str]] = Field(min_length=1)
    metrics: list[str] | None = Field(default=None, min_length=1)  # columns; none: all metrics
    datasets: list[str] | None = Field(default=None, min_length=1)  # none: all
    protocol: str | None = None  # if given, only numbers of this protocol are compared
    # The share of numbers that it is claimed for; with `all_datasets`, a data set without the metric counts against it.
    quantifier: Literal["all", "most", "all_datasets"] = "all"
    condition: str = ""  # further condition of a contradiction; completes "contradicts only if"
    # rival -> the paper's own method with the same decision
    same_decision: dict[str, str] = Field(default_factory=dict)


class PrintedStatement(Statement):
    """A named statement of a paper."""

    table: ClassVar[str] = "text"

    paper: str
    name: str

    @property
    def quoted(self) -> str:
        """The sentence with its position in the paper."""
        return f'"{self.quotation}" ({self.where})'

    def is_about(self, dataset: str, row: str) -> bool:
        """Return whether the statement is about this method on this data set."""
        return row in self.rows and (self.datasets is None or dataset in self.datasets)

    def are_rivals(self, row: str, other: str) -> bool:
        """Return whether the statement compares a method in `rows` with another method."""
        rivals = self.rows[row]
        if isinstance(rivals, list):
            return other in rivals
        return other != row and (rivals == "all" or not other.startswith(self.paper))
