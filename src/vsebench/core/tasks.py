"""Tasks, fitted models and entries of the results, and the paths of their folders in `results`."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

FROM_PACK = "@"  # stands between the name of a method and the pack that contains its results: "warp@iapr"


@dataclass(frozen=True, order=True)
class Task:
    """A task: a data set under a protocol, on which methods are compared."""

    dataset: str
    protocol: str

    @classmethod
    def of(cls, text: str) -> "Task":
        """Return the task that a text "<dataset>/<protocol>" names."""
        dataset, _, protocol = text.partition("/")
        return cls(dataset, protocol)

    @property
    def name(self) -> str:
        """The name of the task, as it appears in the names of tables and figures."""
        return f"{self.dataset}-{self.protocol}"

    def folder(self, results: Path) -> Path:
        """The folder with the results on the task, results/<dataset>/<protocol>."""
        return results / self.dataset / self.protocol

    def __str__(self) -> str:
        return f"{self.dataset}/{self.protocol}"


@dataclass(frozen=True)
class Case:
    """One fitted model: a task, a method with its settings, and a seed."""

    task: Task
    variant: str  # the name of the method's file in config/methods, or <method>@<pack>
    seed: int

    def folder(self, results: Path) -> Path:
        """The model's folder, <dataset>/<protocol>/seed<k>/<variant> in `results`.

        If the variant is <method>@<pack>, the folder is <dataset>/<protocol>/seed<k>/<method> in the folder of the
        pack.
        """
        variant, _, pack = self.variant.partition(FROM_PACK)
        return self.task.folder(pack_folder(results, pack) if pack else results) / f"seed{self.seed}" / variant

    def split(self, results: Path) -> Path:
        """The folder of the split (training, validation and test labels) that the model was fitted on."""
        return self.task.folder(results) / f"seed{self.seed}" / "split"

    @property
    def keys(self) -> dict[str, str | int]:
        """The columns that identify this case in every table, with their values."""
        return {**vars(self.task), "method": self.variant, "seed": self.seed}

    def __str__(self) -> str:
        return f"{self.variant} on {self.task.dataset} ({self.task.protocol}, seed {self.seed})"


def pack_folder(results: Path, pack: str) -> Path:
    """Return the folder of an unpacked pack; its files have the same paths as those in a folder of results."""
    return results / "packs" / pack


@dataclass(frozen=True)
class Entry:
    """A line of the results: a method, alone or with a decision rule."""

    variant: str
    decision: str = ""  # the name of the rule's file in config/decisions; empty for metrics of the ranking

    @classmethod
    def of(cls, text: str) -> "Entry":
        """Return the entry that a text "<variant>" or "<variant>/<decision>" names."""
        variant, _, decision = text.partition("/")
        return cls(variant, decision)

    def __str__(self) -> str:
        return f"{self.variant}/{self.decision}" if self.decision else self.variant


def common_seeds(
    seeds: Sequence[int], own_seeds: Mapping[str, Sequence[int]], task: Task, variants: Iterable[str]
) -> list[int]:
    """Return the seeds with which all of the methods `variants` are fitted on a task.

    Parameters
    ----------
    seeds : the seeds of methods that have no seeds of their own on this task
    own_seeds : "dataset/protocol/variant" -> the method's own seeds on this task
    """
    of_variants = [own_seeds.get(f"{task}/{variant}", seeds) for variant in variants]
    return [seed for seed in of_variants[0] if all(seed in own for own in of_variants)]


def entry_at_task(text: str) -> tuple[Task, Entry]:
    """Return the task and the entry that a text names.

    The text is "<dataset>/<protocol>/<variant>" or "<dataset>/<protocol>/<variant>/<decision>".
    """
    dataset, protocol, entry = text.split("/", 2)
    return Task(dataset, protocol), Entry.of(entry)
