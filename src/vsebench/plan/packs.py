"""The packs of other runs: their methods are shown next to the methods of this run."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from vsebench.core.errors import UserError, no_file
from vsebench.core.tasks import FROM_PACK, Task
from vsebench.evaluation.metrics.base import is_of_decision
from vsebench.packs.archive import read_pack
from vsebench.packs.manifest import Manifest, files_read
from vsebench.rendering.outline import OutlineVariant

PACK_NAME = "[a-z0-9][a-z0-9_-]*"
# Roles of the methods that are shown. Controls and oracles are not shown, because each run can have its own.
SHOWN = ("paper", "baseline", "external")


@dataclass(frozen=True)
class NamedPack:
    """A pack that a run names.

    Attributes
    ----------
    name : the name of the pack's file without the suffix; in this run, the pack's method `warp` is called `warp@<name>`
    path : the pack's file
    """

    name: str
    path: str
    manifest: Manifest

    def methods(self, task: Task, seeds: Sequence[int]) -> dict[str, list[int]]:
        """Map each of the pack's methods that are shown on a task to those of `seeds` with which it was fitted.

        The keys have the form method@pack.
        """
        packed = self.manifest.tasks.get(str(task))
        return {
            self.full(method): [seed for seed in seeds if seed in own]
            for method, own in (packed.methods if packed else {}).items()
            if self.manifest.methods[method].role in SHOWN
        }

    def obstacle(self, metrics: Sequence[str], seeds: Sequence[int]) -> str | None:
        """Return why a method of the pack is left out of a task; None if no reason is known yet.

        `seeds` are the seeds that the method and the run have in common. The method is left out if there are none, or
        if the pack lacks a file from which one of `metrics` is computed. The stage `match_packs` can find other reasons
        later.
        """
        if not seeds:
            return f"the pack {self.name} has none of the seeds of this run"
        metrics = [name for name in metrics if not is_of_decision(name)]  # decisions of packs are not shown
        lacking = [file for file in files_read(metrics) if file not in files_read(self.manifest.metrics)]
        reads = [name for name in metrics if set(files_read([name])) & set(lacking)]
        return f"the pack {self.name} lacks {lacking[0]}, from which {reads[0]} is computed" if lacking else None

    def full(self, method: str) -> str:
        """Return the name that a method of the pack has in this run."""
        return f"{method}{FROM_PACK}{self.name}"

    @property
    def variants(self) -> dict[str, OutlineVariant]:
        """The methods of the pack that are shown, by their names in this run."""
        made = self.manifest
        run = (
            f"Marked ({self.name}): fitted by another run ({made.name}, vsebench {made.vsebench}, commit {made.commit})"
        )
        return {
            self.full(method): OutlineVariant(
                title=f"{shown.title} ({self.name})", role=shown.role, source=shown.source, tuned=shown.tuned, pack=run
            )
            for method, shown in made.methods.items()
            if shown.role in SHOWN
        }


def read_packs(paths: Sequence[str], where: str) -> dict[str, NamedPack]:
    """Read the manifests of the packs that a run names, and return the packs by their names."""
    packs: dict[str, NamedPack] = {}
    for path in paths:
        name = Path(path).stem
        if not Path(path).is_file():
            raise UserError(f"{where}: with: {no_file(path)}")
        if not re.fullmatch(PACK_NAME, name):
            raise UserError(
                f"{where}: with: {path}: rename this file; its name may have only lower-case letters, digits, - and _"
            )
        if name in packs:
            raise UserError(f"{where}: with: {packs[name].path} and {path} have the same name; rename one of them")
        packs[name] = NamedPack(name, path, read_pack(Path(path)))
    return packs
