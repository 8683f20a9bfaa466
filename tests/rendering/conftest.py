"""Made-up results with the files, columns and types of real ones: random, but plausible, and called simulated.

`python tests/rendering/conftest.py FOLDER` writes many of them, for looking at tables, figures and the page.
"""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from tests.builders import frame
from vsebench.cli import main
from vsebench.core import schemas
from vsebench.core.csv_files import write_csv
from vsebench.core.storage import as_sealed_json, write_json, write_table
from vsebench.core.tasks import Case, Task
from vsebench.evaluation.analyses import known_analyses
from vsebench.evaluation.analyses.base import load_analysis
from vsebench.papers.base import read_papers
from vsebench.papers.comparison import compared_tables
from vsebench.papers.evidence import Evidence, RunTask
from vsebench.papers.verdicts import verdicts
from vsebench.rendering.kinds import FigureKind, Instance, TableKind, instances_of_run, make
from vsebench.rendering.outline import GATHERED, LeftOut, Outline, OutlineVariant
from vsebench.rendering.page.paper_section import figures_of, tables_of, with_content
from vsebench.rendering.results import Results
from vsebench.rendering.table import Cell, Table

PAPERS = read_papers(sorted((Path(__file__).parents[2] / "config" / "papers").glob("*.yaml")))
VARIANTS = {  # title, role, recall@10
    "random": ("Random", "control", 0.02),
    "popularity": ("Popularity", "control", 0.31),
    "oracle": ("Oracle", "oracle", 0.6),
    "ease": ("EASE", "baseline", 0.42),
    "opt_auc": ("Opt-AUC", "paper", 0.43),
    "warp": ("WARP", "paper", 0.40),
    "warp_published": ("WARP (published code)", "paper", 0.44),
    "vse_ens": ("VSE-ens", "paper", 0.435),
    "vse_fs": ("VSE-fs", "paper", 0.482),
    "vse_fs_published": ("VSE-fs (published settings)", "paper", 0.441),
}
UNTRAINED = ("random", "popularity", "oracle", "ease")
SHARES = {  # of recall@10
    "precision@5": 0.14,
    "recall@5": 0.72,
    "precision@10": 0.1,
    "recall@10": 1.0,
    "map@10": 0.45,
    "ndcg@10": 0.58,
    "auc@10": 0.9,
    "mrr": 0.5,
    "auc": 1.2,
}
DATASETS = {
    "sim-iapr": "simulated IAPR TC-12",
    "sim-nuswide": "simulated NUS-WIDE",
    "sim-openimages": "simulated Open Images",
    "sim-flickr": "Flickr & 100 % tags_of",
    "saiapr": "SAIAPR TC-12 (region labels)",
}
SMALL = (Task("sim-iapr", "distinct"), Task("saiapr", "regions"))
LARGE = tuple(Task(name, protocol) for name in DATASETS if name != "saiapr" for protocol in ("distinct", "regions"))


class MadeUp:
    """The results of a run of some tasks, over seeds 1 to `seeds`."""

    def __init__(self, tasks: Sequence[Task], seeds: int, epochs: int) -> None:
        self.tasks, self.seeds, self.epochs = tasks, list(range(1, seeds + 1)), epochs
        self.rng = np.random.default_rng(1)

    def variants(self, task: Task) -> list[str]:
        return [variant for variant in VARIANTS if variant != "oracle" or task.dataset.startswith("sim")]

    def trained(self, task: Task) -> list[str]:
        return [variant for variant in self.variants(task) if variant not in UNTRAINED]

    def cases(self) -> Iterator[Case]:
        return (Case(p, variant, seed) for p in self.tasks for variant in self.variants(p) for seed in self.seeds)

    def outline(self) -> Outline:
        reason = "it needs simulated data."
        variants = {
            name: {"title": title, "role": role, "source": f"a made-up source of {name}, equation 4 (simulated)"}
            for name, (title, role, _) in VARIANTS.items()
        }
        entries = {str(task): self.variants(task) for task in self.tasks}
        simulated = [name for name in DATASETS if name.startswith("sim")]
        return Outline(
            tasks=list(self.tasks),
            variants={name: OutlineVariant(**entry) for name, entry in variants.items()},
            protocols={"distinct": "one distinct label of each image held out", "regions": "one region label held out"},
            seeds=self.seeds,
            metrics=list(SHARES),
            left_out=[
                LeftOut(dataset=task.dataset, protocol=task.protocol, method="oracle", reason=reason)
                for task in self.tasks
                if "oracle" not in self.variants(task)
            ],
            metrics_left_out=[],
            papers={paper.name: paper.title for paper in PAPERS},
            files=[name for name in GATHERED if name not in {*known_analyses(), "packs", "decisions"}],
            entries=entries,
            trained=[name for name in VARIANTS if name not in UNTRAINED],
            searching=["warp", "warp_published"],
            timed={str(task): self.trained(task) for task in self.tasks},
            simulated=simulated,
            judged=["vse_ens", "vse_fs"],
            compared={paper.name: compared_tables(paper, entries, list(SHARES), simulated) for paper in PAPERS},
        )

    def summary(self) -> Iterator[dict[str, Any]]:
        for task in self.tasks:
            variants = self.variants(task)
            for metric, share in SHARES.items():
                values = {variant: share * (VARIANTS[variant][2] + self.rng.normal(0, 0.004)) for variant in variants}
                best = max((variant for variant in variants if variant != "oracle"), key=values.__getitem__)
                for variant, value in values.items():
                    gap = value - values[best]
                    yield {
                        "dataset": task.dataset, "protocol": task.protocol, "method": variant, "decision": "",
                        "metric": metric, "value": value, "ci_low": value * 0.97, "ci_high": value * 1.035,
                        "n_seeds": len(self.seeds),
                        "best": variant == best,
                        "difference": gap, "difference_low": gap - 0.01, "difference_high": gap + 0.01,
                        "p_adjusted": None if variant in (best, "oracle") else float(np.exp(-abs(gap) * 300)),
                    }  # fmt: skip

    def metrics(self) -> Iterator[dict[str, Any]]:
        for case in self.cases():
            for metric, share in SHARES.items():
                value = share * (VARIANTS[case.variant][2] + self.rng.normal(0, 0.01))
                interval = {"value": value, "ci_low": value, "ci_high": value}
                yield case.keys | {"decision": "", "metric": metric, "n": 500} | interval

    def timing(self) -> Iterator[dict[str, Any]]:
        laps = (("compile", 0.41), *[("epoch", 0.02)] * 3, ("evaluate", 0.1), ("score", 0.05))
        for n, task in enumerate(self.tasks):
            for variant, repeat, (phase, seconds) in product(self.trained(task), range(1, 6), laps):
                scale = 8.0**n * (10 if "publ" in variant else 1)
                yield {
                    "dataset": task.dataset, "protocol": task.protocol, "method": variant, "threads": 1,
                    "repeat": repeat, "phase": phase, "seconds": seconds * scale * self.rng.lognormal(0, 0.04),
                    "images": 2000 if phase in ("evaluate", "score") else None, "model_bytes": 3 << 18,
                    "peak_rss_bytes": 250 << 20, "machine": "a made-up machine (simulated)", "others": 0.05,
                }  # fmt: skip

    def history(self) -> Iterator[dict[str, Any]]:
        for case in self.cases():
            sampled = case.variant.startswith("warp")
            for phase in ("selection", "refit") if case.variant in self.trained(case.task) else ():
                for epoch in range(1, self.epochs - int(self.rng.integers(0, self.epochs // 4)) + 1):
                    level = VARIANTS[case.variant][2] * 0.58 * (1 - np.exp(-epoch / 6)) + self.rng.normal(0, 0.002)
                    yield case.keys | {
                        "phase": phase, "epoch": epoch, "seconds": 0.2 if "publ" in case.variant else 0.02,
                        "loss": float(np.exp(-epoch / 10)),
                        "trials_per_step": float(60 * (1 - np.exp(-epoch / 4)) + 2) if sampled else None,
                        "validation": float(level) if phase == "selection" else None,
                    }  # fmt: skip

    def sweeps(self) -> Iterator[dict[str, Any]]:
        values = {"beta_0": [1, 4, 16, 64, 256], "gamma": [0, 0.01, 0.04, 0.2, 1], "alpha": [0, 0.2, 0.4, 0.6, 0.8]}
        for case in self.cases():
            for parameter, tried in values.items() if case.variant == "vse_fs" else ():
                for value in tried:
                    test = 0.09 - 0.01 * abs(np.log1p(value) - 0.3) + self.rng.normal(0, 0.0005)
                    yield case.keys | {
                        "parameter": parameter, "value": float(value), "chosen": False, "epochs": 20,
                        "validation": 0.2, "metric": "precision@5", "test": float(test),
                    }  # fmt: skip

    def cold(self) -> Iterator[dict[str, Any]]:
        for case in self.cases():
            for metric, share in SHARES.items() if case.task.protocol == "regions" else ():
                for images, part, n in (("all", 0.9, 500), ("cold", 0.6, 50), ("others", 0.95, 450)):
                    value = share * VARIANTS[case.variant][2] * part
                    yield case.keys | {"metric": metric, "images": images, "value": value, "n": n}

    def by_frequency(self) -> Iterator[dict[str, Any]]:
        for case in self.cases():
            for band in range(1, 6):
                value = VARIANTS[case.variant][2] / band
                sizes = {"labels": 51, "fewest": 1000 // 4**band, "most": 4000 // 4**band, "cutoff": 10}
                yield case.keys | {"band": band, "value": value} | sizes

    def scaling(self) -> Iterator[dict[str, Any]]:
        sizes = {"pairs": [20000, 40000, 80000], "labels": [500, 1000, 2000], "factors": [16, 32, 64]}
        fixed = {"images": 5000, "labels": 500, "pairs": 20000, "factors": 32, "phase": "epoch", "machine": "made up"}
        for variant in ("opt_auc", "warp", "vse_ens", "vse_fs"):
            for variable, size, repeat in ((v, size, r) for v in sizes for size in sizes[v] for r in range(1, 6)):
                seconds = 1e-6 * size * self.rng.lognormal(0, 0.05)
                keys = {"method": variant, "variable": variable, "size": size, "repeat": repeat, "seconds": seconds}
                yield fixed | keys | {variable: size}

    def ranks(self, case: Case) -> pl.DataFrame:
        above = np.random.default_rng(case.seed).geometric(VARIANTS[case.variant][2] / 6, 40) - 1
        frame = pl.DataFrame({"image": np.arange(40), "label": 0, "above": above, "tied": 0, "right": 1})
        return frame.with_columns(negatives=pl.lit(200), cold=pl.lit(value=False)).cast(schemas.RANKS)  # type: ignore[arg-type]

    def settings(self, case: Case) -> dict[str, Any]:
        """Return the content of a `run.json`."""
        trained, tuned = case.variant in self.trained(case.task), case.variant == "vse_fs"
        return case.keys | {
            "settings": {"factors": 128, "learning_rate": 0.01} if trained else {},
            "epochs": 20 + case.seed if trained else None,
            "choice": "tuned" if tuned else "untuned" if trained else "none",
            "n_configurations": 12 if tuned else 1,
            "seeds_of_search": [case.seed] if tuned else [],
            "diverged": 2 if tuned else 0,
            "validation_metric": "ndcg@10" if trained else None,
            "validation_value": 0.2512 if trained else None,
        }

    def claims(self) -> pl.DataFrame:
        """Return the real claims, tested on made-up ranks."""
        tasks = [
            RunTask(p, "iapr", "simulated" if p.dataset.startswith("sim") else "other", self.variants(p))
            for p in self.tasks
        ]
        evidence = Evidence(
            tasks=tasks,
            seeds=self.seeds,
            resamples=100,
            timing=frame(self.timing(), schemas.TIMING),
            history=frame(self.history(), schemas.HISTORY),
            sweeps=None,
            scaling=frame(self.scaling(), schemas.SCALING),
            read_ranks=self.ranks,
            read_sweep_ranks=lambda case, parameter: self.ranks(case),
        )
        return pl.concat(verdicts(paper, evidence) for paper in PAPERS)


def dataset_entry(name: str) -> dict[str, Any]:
    """Return the content of the `summary.json` of a data set."""
    simulated = name.startswith("sim")
    dropped = {"what": "image without a label", "number": 4, "why": "nothing to rank <for it>"}
    per_image = {"mean": 4.12445, "median": 4.0, "max": 23.0, "min": 0.0}
    counts = {"images": 20000, "images_without_label": 4, "vocabulary": 275, "labels": 255, "pairs": 82489}
    return {
        "name": name,
        "title": DATASETS[name],
        "family": "iapr",
        "simulated": simulated,
        "options": {"scale": 0.05} if simulated else {},
        "vocabulary": {"top_labels": 600, "seed": 0},
        "counts": counts
        | {"occurrences": 99527, "occurrences_per_image": per_image | {"mean": 4.97635}}
        | {"labels_per_image": per_image, "images_per_label": per_image | {"mean": 299.96}},
        "dropped": [] if simulated else [dropped],
        "expected": {},
        "licence": "made up",
        "citation": "Nobody, A made-up data set, 2020; https://example.org/data",
        "homepage": None,
    }


WORDS = {
    "dataset": "saiapr",
    "source": "made-up",
    "dimensions": 300,
    "labels": 255,
    "rules": {"whole": 183, "alias": 1, "parts": 37, "some parts": 13, "singular": 2, "missing": 19},
    "sharing": 3,
    "rank": 230,
    "repeated": 0,
}
MACHINE = {
    "machine": {"processor": "made up", "cores": 2, "memory_bytes": 8 << 30, "system": "Linux x86_64"},
    "versions": {"python": "3.11.2", "numpy": "2.4.0", "vsebench": "0.1.0"},
    "git_commit": "0123456789ab",
    "kernels": {"opt_auc": {"functions_compiled": 1, "seconds": 3.2}},
}


def analyses(**lines_of: list[dict[str, Any]]) -> Callable[[str], pl.DataFrame]:
    """Return a function in place of `Results.analysis` for a run that has made these analyses."""
    return {name: frame(lines, load_analysis(name).SCHEMA) for name, lines in lines_of.items()}.__getitem__


def outline_of(task: Task, variants: Mapping[str, tuple[str, Any]], **entries: Any) -> Outline:
    """Return the outline of a run on one task with two seeds; `variants` contains the titles and roles by name."""
    fixed = {"protocols": {task.protocol: "one label"}, "seeds": [1, 2], "left_out": [], "metrics_left_out": []}
    fixed |= {"entries": {str(task): list(variants)}, "trained": list(variants), "searching": [], "timed": {}}
    fixed |= {"simulated": [], "compared": {}, "judged": []}
    return Outline(
        tasks=[task],
        variants={
            name: OutlineVariant(title=title, role=role, source="made up") for name, (title, role) in variants.items()
        },
        files=[name for name in GATHERED if name not in ("packs", "decisions")],
        **(fixed | entries),
    )


def changed(results: Results | None = None, **entries: Any) -> Results:
    """Return results with other files or another outline; without results, those of an empty folder."""
    other = Results(Path("none") if results is None else results.folder)
    vars(other).update(({} if results else {"settings": []}) | entries)  # the values of cached properties
    return other


def write_run(run: MadeUp, outline: Outline, folder: Path) -> None:
    """Write the files of a run, without those about papers, into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "outline.json"
    content = as_sealed_json(outline.model_dump(mode="json"), path)  # in the order of display, as the workflow does
    path.write_text(content + "\n", encoding="utf-8")
    for name in ("summary", "metrics", "timing", "history", "sweeps", "scaling", "cold", "by_frequency"):
        schema = getattr(schemas, name.upper())
        write_table(frame(getattr(run, name)(), schema), schema, folder / f"{name}.parquet")
    write_json([run.settings(case) for case in run.cases()], folder / "settings.json")
    write_json([dataset_entry(name) for name in dict.fromkeys(p.dataset for p in run.tasks)], folder / "datasets.json")
    write_json([WORDS], folder / "word_vectors.json")
    write_json(MACHINE, folder / "machine.json")


def make_results(folder: Path, tasks: Sequence[Task] = SMALL, seeds: int = 3, epochs: int = 40) -> Path:
    """Write everything that tables, figures and the page are made from into `folder`."""
    run = MadeUp(tasks, seeds, epochs)
    write_run(run, run.outline(), folder)
    write_csv(run.claims().write_csv(), folder / "claims.csv")
    files = [str(paper.path) for paper in PAPERS]
    assert main(["stage", "audit", "--papers", *files, "--out", str(folder / "audit.csv")]) == 0
    compared = [
        "stage",
        "compare_with_papers",
        "--papers",
        *files,
        "--results",
        str(folder),
        "--out",
        str(folder / "comparison.csv"),
    ]
    assert main(compared) == 0
    return folder


def tables(results: Results) -> dict[str, Instance]:
    """Return the tables of a run and of the papers that apply to it."""
    of_papers = {name: table for paper in PAPERS for name, table in tables_of(paper, results.outline).items()}
    return instances_of_run(TableKind, results.outline) | of_papers


def figures(results: Results) -> dict[str, Instance]:
    """Return the figures of a run and of the papers that apply to it and have content."""
    of_papers = {name: figure for paper in PAPERS for name, figure in figures_of(paper, results.outline).items()}
    return with_content(instances_of_run(FigureKind, results.outline) | of_papers, results)


def table_kind(results: Results, name: str) -> TableKind:
    """Return the kind of a table with its parameters; a paper's table need not apply to the run."""
    of_papers = {name: table for paper in PAPERS for name, table in tables_of(paper).items()}
    instance = (instances_of_run(TableKind, results.outline) | of_papers)[name]
    return make(TableKind, instance.kind, instance.parameters, name)


def figure_kind(results: Results, name: str) -> FigureKind:
    """Return the kind of a figure with its parameters; a paper's figure need not apply to the run."""
    of_papers = {name: figure for paper in PAPERS for name, figure in figures_of(paper).items()}
    instance = (instances_of_run(FigureKind, results.outline) | of_papers)[name]
    return make(FigureKind, instance.kind, instance.parameters, name)


def column(table: Table, key: str) -> list[Cell]:
    """Return the cells in a column of a table."""
    position = [column.key for column in table.columns].index(key)
    return [row.cells[position] for row in table.rows]


def values(table: Table, key: str) -> list[Any]:
    """Return the values in a column of a table."""
    return [cell.value for cell in column(table, key)]


@pytest.fixture(scope="session")
def results_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_results(tmp_path_factory.mktemp("rendering") / "results")


@pytest.fixture(scope="session")
def results(results_folder: Path) -> Results:
    return Results(results_folder)


if __name__ == "__main__":
    make_results(Path(sys.argv[1]), tasks=(*LARGE, Task("saiapr", "regions")), epochs=60)
