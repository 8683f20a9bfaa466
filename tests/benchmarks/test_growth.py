"""How the time of an epoch grows, measured by the stage of the workflow."""

from dataclasses import replace

from benchmarks import growth
from benchmarks.plan import QUICK


def test_the_stage_measures_each_size(tmp_path, monkeypatch):
    monkeypatch.setattr(growth, "METHODS", ("opt_auc",))
    plan = replace(QUICK, growth={"pairs": [500, 1000]}, growth_repeats=1)
    measured = growth.measure(plan, tmp_path / "growth.parquet")
    assert measured.filter(phase="epoch")["size"].to_list() == [500, 1000]
    assert set(measured["method"]) == {"opt_auc"}
