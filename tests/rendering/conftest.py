"""Made-up results in the shape that the other stages write them: random, but plausible, and called simulated.

`python tests/rendering/conftest.py FOLDER` writes the full size of them, for looking at tables, figures and the page.
"""

import json
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from vsebench.papers.audit.cells import read_cells

from vsebench.cli import main
from vsebench.core.storage import write_json, write_parquet
from vsebench.stages.audit import audit, write_findings
from vsebench.stages.claims import COLUMNS, Finding, cases, read_claims, with_verdicts

CONFIG = Path(__file__).parents[2] / "config"
PUBLISHED = CONFIG / "published"
PAPERS = [PUBLISHED / "vse_ens.csv", PUBLISHED / "vse_fs.csv"]

TITLES = {
    "random": "Random",
    "popularity": "Popularity",
    "oracle": "Oracle",
    "opt_auc": "Opt-AUC",
    "warp": "WARP",
    "warp_published": "WARP (published code)",
    "vse_ens": "VSE-ens",
    "vse_fs": "VSE-fs",
    "vse_fs_published": "VSE-fs (published settings)",
}
SKILL = dict(zip(TITLES, (0.02, 0.31, 0.6, 0.43, 0.40, 0.44, 0.435, 0.482, 0.441), strict=True))
UNTRAINED = ("random", "popularity", "oracle")
METRICS = [("pre", 5), ("rec", 5), ("map", 5), ("ndcg", 5), ("auc", 5)]
METRICS += [("pre", 10), ("rec", 10), ("map", 10), ("ndcg", 10), ("auc", 10), ("mrr", None), ("auc", None)]
SMALL = (("sim-iapr", "distinct"), ("saiapr", "regions"))
SHARE = {"pre": 0.1, "rec": 1.0, "map": 0.45, "ndcg": 0.58, "mrr": 0.5}
FULL = tuple(
    (name, protocol)
    for name in ("sim-iapr", "sim-nuswide", "sim-openimages", "sim-flickr")
    for protocol in ("distinct", "regions")
)
DATASETS = {
    "sim-iapr": "simulated IAPR TC-12 regions",
    "sim-nuswide": "simulated NUS-WIDE",
    "sim-openimages": "simulated OpenImages",
    "sim-flickr": "Flickr & 100 % tags_of",
    "saiapr": "SAIAPR TC-12 (region labels)",
}


def make_results(folder: Path, pairs: Sequence[tuple[str, str]] = SMALL, seeds: int = 3, epochs: int = 40) -> Path:
    """Write everything that the rendering stages read into `folder`."""
    rng = np.random.default_rng(1)
    rows: dict[str, list[dict[str, Any]]] = {"metrics": [], "summary": [], "timing": [], "history": [], "settings": []}
    for number, (dataset, protocol) in enumerate(pairs):
        shift = 0.8 ** (number // 2)
        methods = [m for m in TITLES if m != "oracle" or dataset.startswith("sim")]
        keys = {"dataset": dataset, "protocol": protocol}
        rows["summary"] += summary_rows(rng, keys, methods, shift, seeds)
        for method in methods:
            row = keys | {"method": method}
            rows["settings"] += settings_rows(row, seeds)
            rows["timing"] += timing_rows(rng, row, 8.0 ** (number // 2))
            if method not in UNTRAINED:
                rows["history"] += history_rows(rng, row, seeds, epochs, shift, 8.0 ** (number // 2))
    write_parquet(
        pl.DataFrame(rows["summary"], schema_overrides=SCHEMAS, infer_schema_length=None), folder / "summary.parquet"
    )
    seeded = pl.DataFrame(rows["summary"], schema_overrides=SCHEMAS, infer_schema_length=None)
    write_parquet(
        pl.concat(seeded.with_columns(seed=pl.lit(seed)) for seed in range(1, seeds + 1)), folder / "metrics.parquet"
    )
    write_parquet(pl.DataFrame(rows["timing"], infer_schema_length=None), folder / "timing.parquet")
    write_parquet(pl.DataFrame(rows["history"], infer_schema_length=None), folder / "history.parquet")
    write_json(rows["settings"], folder / "settings.json")
    write_json([dataset_entry(name) for name in dict(pairs)], folder / "datasets.json")
    write_json(MACHINE, folder / "machine.json")
    # The papers' own numbers are no result of a run: the real ones serve.
    write_findings(audit(read_cells(sorted(PUBLISHED.glob("*.csv")))), folder / "audit.csv")
    entries = {name: dataset_entry(name) for name in dict(pairs)}
    runs = [[*pair, method] for pair in pairs for method in TITLES if method != "oracle"]
    make_claims(rng, entries, runs).write_csv(folder / "claims.csv")
    write_parquet(make_sweeps(rng, pairs, seeds), folder / "sweeps.parquet")
    write_parquet(make_scaling(rng), folder / "scaling.parquet")
    compared = ["compare", "--published", *map(str, PAPERS), "--comparable", str(PUBLISHED / "comparable.yaml")]
    assert main([*compared, "--results", str(folder), "--out", str(folder / "comparison.csv")]) == 0
    return folder


def make_claims(rng: np.random.Generator, datasets: dict[str, Any], runs: list[list[str]]) -> pl.DataFrame:
    """Return made-up tests of the real claims, with the real verdicts on them."""
    rows: list[dict[str, Any]] = []
    for paper, claims in read_claims(CONFIG / "claims.yaml").items():
        tested = []
        for claim in claims:
            common = {"paper": paper, "claim": claim.claim, "where": claim.where, "method": claim.method, "test": claim}
            # No sweep of this run has these.
            places = [] if claim.parameter == "gamma" else list(cases(claim, datasets, runs))
            tested += [common | case | {"finding": made_up(rng, case["metric"])} for case in places] or [common]
        rows += with_verdicts(tested)
    return pl.DataFrame(rows, schema=COLUMNS)


def made_up(rng: np.random.Generator, metric: str) -> Finding:
    difference = "@" in metric
    effect = float(rng.normal(0.01, 0.02) if difference else rng.lognormal(0.3, 0.4))
    half = 0.006 if difference else 0.2
    p = None if metric.startswith("time ~") else float(rng.choice([1e-6, 0.0004, 0.5]))
    return Finding(effect, effect - half, effect + half, p, 0.0 if difference else 1.0)


def make_sweeps(rng: np.random.Generator, pairs: Sequence[tuple[str, str]], seeds: int) -> pl.DataFrame:
    values = {"beta_0": [1, 4, 16, 64, 256], "gamma": [0, 0.01, 0.04, 0.2, 1], "alpha": [0, 0.2, 0.4, 0.6, 0.8, 1]}
    rows = [
        {"dataset": dataset, "protocol": protocol, "method": "vse_fs", "seed": seed, "parameter": parameter}
        | {"value": float(value), "chosen": False, "epochs": 20, "validation": 0.2, "metric": "pre", "cutoff": 5}
        | {"test": float(0.09 - 0.01 * abs(np.log1p(value) - 0.3) + rng.normal(0, 0.0005))}
        for dataset, protocol in pairs
        for seed in range(seeds)
        for parameter in values
        for value in values[parameter]
    ]
    return pl.DataFrame(rows)


def make_scaling(rng: np.random.Generator) -> pl.DataFrame:
    sizes = {"pairs": [20000, 40000, 80000], "labels": [500, 1000, 2000], "factors": [16, 32, 64]}
    rows = [
        {"method": method, "variable": variable, "size": size, "repeat": repeat}
        | {"seconds": float(1e-6 * size * rng.lognormal(0, 0.05))}
        for method in ("opt_auc", "warp", "vse_ens", "vse_fs")
        for variable in sizes
        for size in sizes[variable]
        for repeat in range(1, 4)
    ]
    return pl.DataFrame(rows)


SCHEMAS = {"cutoff": pl.Int32, "n_seeds": pl.Int32, "p_adjusted": pl.Float64}


def summary_rows(
    rng: np.random.Generator, keys: dict[str, str], methods: list[str], shift: float, seeds: int
) -> list[dict[str, Any]]:
    rows = []
    for metric, cutoff in METRICS:
        means = {method: mean(metric, cutoff, shift * SKILL[method] + rng.normal(0, 0.004)) for method in methods}
        best = max((m for m in methods if m != "oracle"), key=lambda m: means[m])
        for method in methods:
            gap = means[method] - means[best]
            rows.append(
                keys
                | {
                    "method": method,
                    "metric": metric,
                    "cutoff": cutoff,
                    "value": means[method],
                    "ci_low": means[method] * 0.97,
                    "ci_high": means[method] * 1.035,
                    "n_seeds": seeds,
                    "best": method == best,
                    "difference": gap,
                    "difference_low": gap - 0.01,
                    "difference_high": gap + 0.01,
                    "p_adjusted": None if method in (best, "oracle") else float(np.exp(-abs(gap) * 300)),
                }
            )
    return rows


def mean(metric: str, cutoff: int | None, recall: float) -> float:
    recall = max(recall, 0.001) * (0.72 if cutoff == 5 else 1)
    if metric == "auc":
        return (1 + recall) / 2 if cutoff else 0.9 + recall / 10
    return recall * SHARE[metric] * (2 if metric == "pre" and cutoff == 5 else 1)


def timing_rows(rng: np.random.Generator, row: dict[str, str], scale: float) -> list[dict[str, Any]]:
    if row["method"] in UNTRAINED:
        return []
    base = scale * {"opt_auc": 0.007, "warp": 0.03, "warp_published": 0.2}.get(row["method"], 0.02)
    common = row | {"threads": 1, "peak_rss_bytes": 250 << 20, "machine": "a made-up machine (simulated)"}
    phases = [("compile", 0.41), ("epoch", base), ("epoch", base), ("epoch", base), ("evaluate", 0.1)]
    return [
        common | {"repeat": repeat, "phase": phase, "seconds": float(seconds * rng.lognormal(0, 0.04))}
        for repeat in range(3)
        for phase, seconds in phases
    ]


def history_rows(
    rng: np.random.Generator, row: dict[str, str], seeds: int, epochs: int, shift: float, scale: float
) -> list[dict[str, Any]]:
    sampled = row["method"].startswith("warp")
    rate = {"opt_auc": 9, "warp": 4, "warp_published": 12, "vse_ens": 7}.get(row["method"], 3)
    rows = []
    for seed in range(seeds):
        for phase in ("selection", "refit"):
            for epoch in range(1, epochs - int(rng.integers(0, epochs // 4)) + 1):
                level = shift * SKILL[row["method"]] * 0.58 * (1 - np.exp(-epoch / rate)) + rng.normal(0, 0.002)
                rows.append(
                    row
                    | {
                        "seed": seed,
                        "phase": phase,
                        "epoch": epoch,
                        "seconds": float(scale * (0.2 if row["method"] == "warp_published" else 0.02)),
                        "loss": float(np.exp(-epoch / 10)),
                        "trials_per_step": float(60 * (1 - np.exp(-epoch / rate)) + 2) if sampled else None,
                        "validation": float(level) if phase == "selection" else None,
                    }
                )
    return rows


def settings_rows(row: dict[str, str], seeds: int) -> list[dict[str, Any]]:
    trained = row["method"] not in UNTRAINED
    return [
        row
        | {
            "title": TITLES[row["method"]],
            "seed": seed,
            "settings": {"factors": 128, "step": 0.01, "regularisation": 0.001} if trained else {},
            "epochs": 20 + seed if trained else None,
            "tuned": row["method"] == "vse_fs",
            "n_configurations": 12 if row["method"] == "vse_fs" else 1,
            "diverged": 2 if row["method"] == "vse_fs" else 0,
            "validation_metric": "ndcg@10" if trained else None,
            "validation_value": 0.2512 if trained else None,
            "source": "a made-up source, equation 4 (simulated)",
        }
        for seed in range(seeds)
    ]


def dataset_entry(name: str) -> dict[str, Any]:
    simulated = name.startswith("sim")
    dropped = {"what": "image without a label", "number": 4, "why": "nothing to rank <for it>"}
    return {
        "name": name,
        "title": DATASETS[name],
        "family": "iapr",
        "simulated": simulated,
        "options": {"scale": 0.05} if simulated else {},
        "vocabulary": {"top_labels": 600, "seed": 0},
        "counts": {
            "images": 20000,
            "images_without_label": 4,
            "vocabulary": 275,
            "labels": 255,
            "pairs": 82489,
            "occurrences": 99527,
            "occurrences_per_image": {"mean": 4.97635, "median": 5.0, "max": 27.0, "min": 0.0},
            "labels_per_image": {"mean": 4.12445, "median": 4.0, "max": 23.0, "min": 0.0},
        },
        "dropped": [] if simulated else [dropped],
        "expected": {},
        "mismatches": {} if simulated else {"pairs": {"expected": 82490, "found": 82489}},
        "licence": "made up",
        "citation": "Nobody, A made-up data set, 2020; https://example.org/data",
    }


MACHINE = {
    "machine": {
        "processor": "a made-up processor (simulated)",
        "cores": 2,
        "memory_bytes": 8 << 30,
        "system": "Linux x86_64",
    },
    "versions": {"python": "3.11.2", "numpy": "2.4.0", "vsebench": "0.1.0"},
    "git_commit": "0123456789ab",
    "kernel_compile_seconds": {"opt_auc": 3.2, "full_sample": 12.75},
}


@pytest.fixture(scope="session")
def results_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_results(tmp_path_factory.mktemp("rendering") / "results")


@pytest.fixture(scope="session")
def titles() -> str:
    return json.dumps(TITLES)


def _check_latex(text: str) -> None:
    """Raise if braces or environments do not match, or a row has another number of cells than its table."""
    bare = re.sub(r"\\[\\{}&%$#_]", "", text)
    assert bare.count("{") == bare.count("}")
    opened: list[str] = []
    for verb, name in re.findall(r"\\(begin|end)\{(\w+)\}", text):
        if verb == "begin":
            opened.append(name)
        else:
            assert opened.pop() == name
    assert not opened
    for alignment, body in re.findall(r"\\begin\{tabular\}\{@\{\}([^\n]+)@\{\}\}\n(.*?)\\end\{tabular\}", text, re.S):
        columns = re.findall(
            r"l|S\[table-format=-?\d+\.\d+\]|>\{\\raggedright\\arraybackslash\}p\{[\d.]+\\linewidth\}", alignment
        )
        assert "".join(columns) == alignment
        for line in body.splitlines():
            if "\\\\" in line and "\\multicolumn" not in line:
                assert line.replace("\\&", "").count("&") == len(columns) - 1, line


@pytest.fixture
def check_latex() -> Callable[[str], None]:
    return _check_latex


if __name__ == "__main__":
    make_results(Path(sys.argv[1]), pairs=(*FULL, ("saiapr", "regions")), epochs=60)
    print(json.dumps(TITLES))
