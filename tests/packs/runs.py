"""Small finished runs on simulated images in four groups: real splits, models, ranks and metrics of three methods."""

import json
from pathlib import Path

import polars as pl

from tests.builders import frame
from tests.stages.small import inputs, run, write_processed
from vsebench.core import schemas
from vsebench.core.csv_files import write_csv
from vsebench.core.storage import as_sealed_json, read_json, write_json
from vsebench.core.tasks import Task
from vsebench.rendering.outline import LeftOut, Outline, OutlineVariant

TASK = Task("sim-groups", "images")
METHODS = {"popularity": ("Popularity", "control"), "ridge": ("Ridge", "baseline"), "random": ("Random", "control")}
METRICS = ["recall@5", "map", "label_map"]
PAPER = {"paper": "a_paper", "claim": "ridge-wins", "level": "claim", "data": "simulated"}


def write_run(
    folder, regularisation=1.0, seeds=(1, 2), metrics=METRICS, verdict="holds", n_images=80, name="small.yaml"
):
    """Write the data and the results of a run to `folder`; return the folder of results."""
    data, results = folder / "data/processed" / TASK.dataset, folder / "results"
    write_processed(data, n_images, features=True)
    settings = {method: {} for method in METHODS} | {"ridge": {"regularisation": regularisation, "normalise": []}}
    for seed in seeds:
        at = TASK.folder(results) / f"seed{seed}"
        split = ["--processed", data, "--protocol", TASK.protocol, "--seed", seed]
        assert run("split", *split, "--out", at / "split") == 0
        for method in METHODS:
            fit(data, at, method, settings[method], seed)
    measure(results, seeds, metrics)
    write_others(results, seeds, metrics, verdict, name)
    return results


def fit(data, at, method, settings, seed):
    """Fit a model and rank the test labels."""
    keys = ["--dataset", TASK.dataset, "--protocol", TASK.protocol, "--variant", method, "--module", method]
    given = ["--settings", json.dumps(settings), "--seed", seed, *(inputs(data) if method == "ridge" else [])]
    assert run("fit", "--split", at / "split", *keys, *given, "--out", at / method) == 0
    files = [f"--{name.replace('_', '-')}={at / method / name}.parquet" for name in ("ranks", "lists", "label_ranks")]
    model = ["--model", at / method / "model.npz", *(inputs(data) if method == "ridge" else [])]
    assert run("rank", "--split", at / "split", *model, *files) == 0


def measure(results, seeds, metrics):
    at, names = TASK.folder(results), ("cold", "by-frequency")
    task = ["--dataset", TASK.dataset, "--protocol", TASK.protocol, "--variants", *METHODS, "--bootstrap", 100]
    out = ["--out", results / "metrics.parquet", "--summary", results / "summary.parquet"]
    out += [f"--{name}={at / name}.parquet" for name in names]
    assert run("measure", "--results", results, *task, "--seeds", *seeds, "--metrics", *metrics, *out) == 0


def write_others(results, seeds, metrics, verdict, name):
    """Write the files of a run that the plan and other stages make."""
    outline = Outline(
        configuration=name,
        tasks=[TASK],
        variants={
            method: OutlineVariant(title=title, role=role, source="a test (simulated)")
            for method, (title, role) in METHODS.items()
        },
        protocols={TASK.protocol: "new images"},
        seeds=list(seeds),
        metrics=metrics,
        left_out=[LeftOut(dataset=TASK.dataset, protocol=TASK.protocol, method="random", reason="none")][:0],
        metrics_left_out=[],
        papers={},
        files=[],
        entries={str(TASK): list(METHODS)},
        trained=[],
        searching=[],
        timed={},
        simulated=[TASK.dataset],
        judged=[],
        compared={},
    )
    path = results / "outline.json"
    path.write_text(as_sealed_json(outline.model_dump(mode="json"), path) + "\n", encoding="utf-8")
    records = [TASK.folder(results) / f"seed{seed}" / method / "run.json" for seed in seeds for method in METHODS]
    variants = {method: {"title": title, "source": "a test"} for method, (title, _) in METHODS.items()}
    gathered = ["--inputs", *records, "--variants", json.dumps(variants), "--out", results / "settings.json"]
    assert run("gather", *gathered) == 0
    about = {"title": "Groups (simulated)", "simulated": True, "licence": "none", "citation": "made by a test"}
    write_json(
        [{"name": TASK.dataset, "options": {}, "vocabulary": {}, "homepage": None} | about], results / "datasets.json"
    )
    machine = {"machine": {"processor": "a test's"}, "versions": {"vsebench": "0.2.0"}, "git_commit": "0123456789ab"}
    write_json(machine, results / "machine.json")
    write_csv(frame([PAPER | {"verdict": verdict}], schemas.CLAIMS).write_csv(), results / "claims.csv")
    (results / "tables").mkdir()
    (results / "tables/verdicts.md").write_text(f"| Claim | Verdict |\n| :-- | :-- |\n| Ridge is best | {verdict} |\n")


def edit_json(path: Path, change):
    """Change the content of a JSON file of results."""
    value = read_json(path)
    change(value)
    write_json(value, path)


def ranks_of(folder, method, seed=1):
    return pl.read_parquet(TASK.folder(folder) / f"seed{seed}/{method}/ranks.parquet")
