"""docs/methods.md, done: a method that knows the image's labels and one that sees its features, two files each."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from tests.docs.conftest import Copy
from vsebench import splits
from vsebench.core.places import Case, Place
from vsebench.core.schemas import IMAGES
from vsebench.core.storage import write_table
from vsebench.features import Features, write_features
from vsebench.problem import Dataset, LabelMatrix
from vsebench.protocols.base import load_protocol, split_generator

GROUPS, LABELS_PER_GROUP, IMAGES_PER_GROUP, DIMENSIONS = 4, 5, 60, 12


@pytest.fixture(scope="module")
def processed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A processed data set in which features and labels follow from the image's group; one image has no features."""
    folder = tmp_path_factory.mktemp("processed")
    rng = np.random.default_rng(3)
    n_images = GROUPS * IMAGES_PER_GROUP
    values = np.eye(GROUPS, DIMENSIONS)[np.arange(n_images) % GROUPS] + rng.normal(0, 0.2, (n_images, DIMENSIONS))
    known = np.arange(n_images) != 17
    values[~known] = 0
    write_features(Features(values.astype(np.float32), known), folder / "features.npy")
    images = {
        "image": np.arange(n_images),
        "id": [str(i) for i in range(n_images)],
        "part": None,
        "has_features": known,
    }
    write_table(pl.DataFrame(images).cast(dict(IMAGES)), IMAGES, folder / "images.parquet")
    return folder


def labels() -> LabelMatrix:
    """Every image has three of its group's five labels."""
    rng = np.random.default_rng(5)
    images = np.repeat(np.arange(GROUPS * IMAGES_PER_GROUP, dtype=np.int32), 3)
    own = [rng.choice(LABELS_PER_GROUP, 3, replace=False) for _ in range(GROUPS * IMAGES_PER_GROUP)]
    pairs = {"image": images, "label": images % GROUPS * LABELS_PER_GROUP + np.concatenate(own), "count": 1}
    return LabelMatrix.from_pairs(pl.DataFrame(pairs), GROUPS * IMAGES_PER_GROUP, GROUPS * LABELS_PER_GROUP)


def fit_and_measure(
    copy: Copy, place: Place, rows: dict[str, dict[str, Any]], metric: str, processed: Path, results: Path
) -> dict[str, float]:
    """Run the stages from `fit` to `measure` with the settings of a plan; returns the metric of each row."""
    split = load_protocol(place.protocol).split(Dataset(labels()), split_generator(place.protocol, 1))
    splits.save(split, Case(place, "", 1).split(results))
    commands: list[list[object]] = []
    for row, settings in rows.items():
        case = Case(place, row, 1)
        folder = case.folder(results)
        grid = settings["grid"]
        commands.append([
            "fit", "--split", case.split(results), "--processed", processed, "--dataset", place.dataset, "--protocol",
            place.protocol, "--row", row, "--module", row, "--settings", json.dumps(settings["settings"]), "--grid",
            json.dumps(grid), "--seed", 1, *(["--metric", metric, "--images", 1000] if grid else []), "--out", folder,
        ])  # fmt: skip
        commands.append([
            "rank", "--split", case.split(results), "--model", folder / "model.npz", "--features", processed,
            "--ranks", folder / "ranks.parquet", "--lists", folder / "lists.parquet",
        ])  # fmt: skip
    commands.append([
        "measure", "--results", results, "--dataset", place.dataset, "--protocol", place.protocol, "--rows", *rows,
        "--seeds", 1, "--metrics", metric, "--bootstrap", 100, "--out", results / "metrics.parquet",
        "--summary", results / "summary.parquet",
    ])  # fmt: skip
    copy.stages(*commands)
    return dict(pl.read_parquet(results / "metrics.parquet").select("method", "value").rows())


@pytest.mark.parametrize(
    ("row", "protocol", "metric"), [("conditional", "distinct", "ndcg@10"), ("nearest_centroid", "images", "map")]
)
def test_the_example_ranks_better_than_popularity(
    row: str, protocol: str, metric: str, copy: Copy, plans: dict[str, Any], processed: Path, tmp_path: Path
) -> None:
    plan = plans[row]
    assert all(row in rows for place, rows in plan["rows"].items() if place.endswith(f"/{protocol}"))
    rows = {name: {"settings": plan["settings"][name], "grid": plan["grids"][name]} for name in ("popularity", row)}
    found = fit_and_measure(copy, Place("made-up", protocol), rows, metric, processed, tmp_path)
    assert found[row] > found["popularity"] + 0.2
    record = json.loads((tmp_path / "made-up" / protocol / "seed1" / row / "run.json").read_text())
    assert record["selection"]["n_configurations"] == 8


def test_the_examples_are_left_out_where_they_cannot_run(plans: dict[str, Any]) -> None:
    assert plans["places"]["rows"] == {
        "sim-features/images": ["popularity", "nearest_centroid"],
        "sim-features/distinct": ["popularity", "conditional", "nearest_centroid"],
        "sim-iapr/regions": ["popularity", "conditional"],
    }


def test_a_centroid_by_hand(copy: Copy) -> None:
    """Label 0 is on the images (0, 0) and (2, 0), label 1 on none; the mean of all three images is (2, 1)."""
    program = """
import json, numpy as np
from vsebench.core.workers import workers
from vsebench.features import Features
from vsebench.methods.nearest_centroid import METHOD, CentroidSettings
from vsebench.problem import LabelMatrix, Problem, Queries, Training
labels = LabelMatrix(2, np.array([0, 1, 2, 2]), np.zeros(2, dtype=np.int32), np.ones(2, dtype=np.int32))
features = Features(np.array([[0, 0], [2, 0], [4, 3]], dtype=np.float32), np.ones(3, dtype=bool))
with workers(1) as pool:
    model = METHOD(Problem(Training.all_of(labels), 1, pool, features), CentroidSettings(shrinkage=2.0)).model()
queries = Queries(np.array([-1], dtype=np.int32), LabelMatrix.empty(1, 2), np.array([[1, 1]], dtype=np.float32))
print(json.dumps([model.centroid.tolist(), model.scores(queries).tolist()]))
"""
    done = copy.python(program, None)
    assert done.returncode == 0, done.stderr
    centroids, (scores,) = json.loads(done.stdout)
    assert centroids == [[1.5, 0.5], [2.0, 1.0]]
    assert scores == [2 * (1.5 + 0.5) - (1.5**2 + 0.5**2), 2 * (2 + 1) - (2**2 + 1**2)]
