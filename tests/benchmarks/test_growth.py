"""How the time of an epoch grows, measured by the stage of the workflow."""

from dataclasses import replace

from benchmarks import growth
from benchmarks.plan import QUICK


def test_the_stage_measures_each_size(tmp_path, monkeypatch):
    monkeypatch.setattr(growth, "METHODS", ("opt_auc",))
    sizes = {"factors": [8, 16], "labels": [50, 100], "pairs": [500, 1000]}
    measured = growth.measure(replace(QUICK, growth=sizes, growth_repeats=1), tmp_path / "growth.parquet")
    assert set(measured["method"]) == {"opt_auc"}
    assert {name: sorted(set(measured.filter(variable=name)["size"])) for name in sizes} == sizes
