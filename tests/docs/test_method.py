"""The examples in docs/methods.md, one on labels and one on image features, are two files each and work."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from tests.docs.conftest import Copy
from vsebench.core.schemas import IMAGES
from vsebench.core.storage import write_table
from vsebench.core.tasks import Case, Task
from vsebench.data import splits
from vsebench.data.features import Features, write_features
from vsebench.data.problem import Dataset, LabelMatrix
from vsebench.protocols.base import split_dataset

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


def fit_and_rank(copy: Copy, case: Case, plan: dict[str, Any], metric: str, processed: Path, results: Path) -> None:
    """Run the stages `fit` and `rank` with the settings and the grid of a plan."""
    protocol = case.task.protocol
    split = split_dataset(protocol, Dataset(labels()), case.seed)
    splits.save(split, case.split(results))
    folder = case.folder(results)
    file = processed / "features.npy"
    features = ["--features", file] if file.is_file() else []
    fit = [
        "fit", "--split", case.split(results), *features, "--dataset", case.task.dataset, "--protocol",
        protocol, "--variant", case.variant, "--module", case.variant,
        "--settings", json.dumps(plan["settings"][case.variant]),
        "--grid", json.dumps(plan["grids"][case.variant]), "--seed", case.seed, "--metric", metric, "--images", 1000,
        "--out", folder,
    ]  # fmt: skip
    rank = [
        "rank", "--split", case.split(results), "--model", folder / "model.npz", *features, "--ranks",
        folder / "ranks.parquet", "--lists", folder / "lists.parquet",
    ]  # fmt: skip
    copy.stages(fit, rank)


@pytest.mark.parametrize(
    ("name", "task", "metric", "missing"),
    [
        ("conditional", "visual-genome-500/distinct", "ndcg@10", 3),  # two of the group's labels are known
        ("nearest_centroid", "sim-features/images", "map", 5),
    ],
)
def test_the_example_puts_the_labels_of_the_group_first(
    name: str, task: str, metric: str, missing: int, copy: Copy, plans: dict[str, Any], processed: Path, tmp_path: Path
) -> None:
    assert name in plans[name]["variants"][task]
    case = Case(Task("made-up", Task.of(task).protocol), name, 1)
    fit_and_rank(copy, case, plans[name], metric, processed, tmp_path)
    first = pl.read_parquet(case.folder(tmp_path) / "lists.parquet").filter(pl.col("rank") <= missing)
    right = first["label"] // LABELS_PER_GROUP == first["image"] % GROUPS
    assert right.mean() > 0.98
    record = json.loads((case.folder(tmp_path) / "run.json").read_text())
    assert record["selection"]["n_configurations"] == 8


def test_the_examples_are_left_out_where_they_cannot_run(plans: dict[str, Any]) -> None:
    assert plans["tasks"]["variants"] == {
        "sim-features/images": ["popularity", "nearest_centroid"],
        "sim-features/distinct": ["popularity", "conditional", "nearest_centroid"],
        "sim-iapr/regions": ["popularity", "conditional"],
    }


def test_a_centroid_by_hand(copy: Copy) -> None:
    """Label 0 is on the images (0, 0) and (2, 0), label 1 on none; the mean of all three images is (2, 1)."""
    program = """
import json, numpy as np
from vsebench.core.workers import workers
from vsebench.data.features import Features
from vsebench.methods.nearest_centroid import CentroidSettings, NearestCentroid
from vsebench.data.problem import LabelMatrix, Problem, Queries, Training
labels = LabelMatrix(2, np.array([0, 1, 2, 2]), np.zeros(2, dtype=np.int32), np.ones(2, dtype=np.int32))
features = Features(np.array([[0, 0], [2, 0], [4, 3]], dtype=np.float32), np.ones(3, dtype=bool))
with workers(1) as pool:
    problem = Problem(Training.all_of(labels), 1, pool, features)
    model = NearestCentroid(problem, CentroidSettings(shrinkage=2.0)).model()
queries = Queries(np.array([-1], dtype=np.int32), LabelMatrix.empty(1, 2), np.array([[1, 1]], dtype=np.float32))
print(json.dumps([model.label.tolist(), model.scores(queries).tolist()]))
"""
    done = copy.python(program, None)
    assert done.returncode == 0, done.stderr
    weights, (scores,) = json.loads(done.stdout)
    squares = 1.5**2 + 0.5**2, 2**2 + 1**2  # of the centroids' lengths
    assert weights == [[2 * 1.5, 2 * 0.5, -squares[0]], [2 * 2, 2 * 1, -squares[1]]]
    assert scores == [2 * (1.5 + 0.5) - squares[0], 2 * (2 + 1) - squares[1]]
