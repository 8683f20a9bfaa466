"""Where results lie: the one place in the package that knows the folders under `results`."""

from dataclasses import dataclass
from pathlib import Path

CEILING = "oracle"  # this row knows the truth of simulated data, so it is not in the running


@dataclass(frozen=True)
class Run:
    """One model: a data set, a protocol, a row of the results and a seed."""

    dataset: str
    protocol: str
    method: str  # the row's name, which is its configuration file's
    seed: int

    def folder(self, results: Path) -> Path:
        return results / self.dataset / self.protocol / f"seed{self.seed}" / self.method

    def split(self, results: Path) -> Path:
        return results / self.dataset / self.protocol / f"seed{self.seed}" / "split"

    def __str__(self) -> str:
        return f"{self.method} on {self.dataset} ({self.protocol}, seed {self.seed})"
