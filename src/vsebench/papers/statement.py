"""The sentences in which a paper compares its printed numbers (key `statements` of its YAML file)."""

from typing import ClassVar, Literal

from pydantic import Field

from vsebench.core.yaml_files import Strict


class Statement(Strict):
    """A quoted sentence, and what it says of which numbers."""

    quotation: str
    where: str  # in the paper; and what else a reader should know
    comparison: Literal["above", "near", "best", "faster"]
    # Row -> its rivals: all other rows, all whose names do not begin with the paper's, or these.
    rows: dict[str, Literal["all", "baselines"] | list[str]] = Field(min_length=1)
    metrics: list[str] | None = Field(default=None, min_length=1)  # columns; none: all metrics
    datasets: list[str] | None = Field(default=None, min_length=1)  # none: all
    protocol: str | None = None  # only numbers of this protocol
    # How many of the numbers it is about; with all_datasets, a data set without the metric counts against it.
    quantifier: Literal["all", "most", "all_datasets"] = "all"
    condition: str = ""  # what else has to be true for a contradiction; completes "contradicts only if"
    same_decision: dict[str, str] = Field(default_factory=dict)  # rival -> the paper's own row that decides as it does


class PrintedStatement(Statement):
    """A statement of a paper by its name."""

    table: ClassVar[str] = "text"

    paper: str
    name: str

    @property
    def quoted(self) -> str:
        """The sentence, and where it is."""
        return f'"{self.quotation}" ({self.where})'

    def is_about(self, dataset: str, row: str) -> bool:
        """Return whether the statement is about a row on a data set."""
        return row in self.rows and (self.datasets is None or dataset in self.datasets)

    def are_rivals(self, row: str, other: str) -> bool:
        """Return whether the statement compares one of its rows with another row."""
        rivals = self.rows[row]
        if isinstance(rivals, list):
            return other in rivals
        return other != row and (rivals == "all" or not other.startswith(self.paper))
