"""Plans with the scores of models that were trained elsewhere."""

from pathlib import Path

import pytest
import yaml

from tests.plan.runs import IAPR, ONE, planned
from vsebench.core.errors import UserError
from vsebench.plan.checks import left_out_lines
from vsebench.plan.jobs import Wildcards, job
from vsebench.plan.settings import starting_settings

CLIP = {"title": "CLIP", "scores": "clip-{dataset}-{seed}.csv", "source": "a paper", "tuned": "by its author"}


@pytest.fixture
def clip(folder, tmp_path, monkeypatch):
    """Return a function that plans a run with the model; scores of seed 1 and 2 are there."""
    monkeypatch.chdir(tmp_path)
    for seed in (1, 2):
        Path(f"clip-sim-iapr-{seed}.csv").write_text("image,label,rank\n")

    def plan(datasets=None, seeds=(1, 2), **changes):
        values = {key: value for key, value in (CLIP | changes).items() if value is not None}
        (folder / "methods/clip.yaml").write_text(yaml.safe_dump(values))
        methods = {"methods": ["popularity", "clip"], "seeds": list(seeds), "papers": [], "decisions": {}}
        return planned(folder, **methods, sweeps={}, metrics=["map"], datasets=datasets or {"sim-iapr": ONE})

    return plan


def test_each_seed_reads_its_own_file(clip):
    plan = clip()
    assert plan.methods["clip"].role == "external"
    assert plan.outline.variants["clip"].tuned == "by its author"
    assert starting_settings(plan, "clip", IAPR, 2) == {"file": "clip-sim-iapr-2.csv"}
    (Path("clip-sim-iapr-2.split.txt")).write_text("hash")
    inputs = job(plan, "fit", Wildcards("sim-iapr", "distinct", "2", "clip")).inputs
    assert inputs["scores"] == ["clip-sim-iapr-2.csv", "clip-sim-iapr-2.split.txt"]
    assert {Path(path).name for path in inputs["needs"]} == {"labels.parquet", "images.parquet"}


def test_a_task_without_a_file_leaves_the_model_out(clip):
    plan = clip(datasets={"sim-iapr": ONE, "sim-nuswide": ONE})
    assert "clip" in plan.variants(IAPR)
    assert "Left out of sim-nuswide/distinct: clip: there is no file clip-sim-nuswide-1.csv." in left_out_lines(plan)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"seeds": (1, 2, 3)}, "but other seeds have one"),
        ({"scores": "clip-{split}.csv"}, "scores: {split} is unknown; use {dataset}, {protocol} and {seed}"),
        ({"scores": "clip.mat"}, "scores: clip.mat: use a file of one of the types .npy, .npz, .parquet, .csv"),
        ({"tuned": None}, "`tuned` is missing; state who chose the settings"),
        ({"role": "baseline"}, "`scores` takes the place of `method`; remove `method`, and `role` unless it is"),
        ({"method": "ridge"}, "`scores` takes the place of `method`; remove `method`"),
        ({"scores": None, "method": "ridge", "role": "external"}, "needs `scores` or `command`; add one"),
        ({"grid": {"file": ["a.csv"]}}, "`scores` takes the place of `method`; remove the keys of a method: "),
    ],
)
def test_a_mistake_is_one_line_with_the_file(clip, folder, changes, message):
    with pytest.raises(UserError) as error:
        clip(**changes)
    assert str(error.value).startswith(f"{folder}/methods/clip.yaml: ")
    assert message in str(error.value)
