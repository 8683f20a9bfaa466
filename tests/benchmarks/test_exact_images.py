"""The comparison of two updates of the images in VSE-fs, on tiny data."""

from dataclasses import replace

from benchmarks import exact_images
from benchmarks.plan import QUICK, Training


def test_every_number_of_factors_and_threads_has_a_row(monkeypatch):
    monkeypatch.setattr(exact_images, "SEEDS", (1, 2))
    plan = replace(
        QUICK, trainings={"iapr": Training(3, 1)}, scale=0.02, factors=48, repeats=2, threads=(1, 2), images=200
    )
    rows = exact_images.measure(plan)
    assert rows.select("factors", "threads").rows() == [(32, 1), (32, 2), (48, 1), (48, 2)]
    assert ((rows["ratio_min"] <= rows["ratio"]) & (rows["ratio"] <= rows["ratio_max"])).all()
    assert (rows["quality_exact"] > 0).all()
    assert (rows["difference"] >= (rows["quality_by_factor"] - rows["quality_exact"]).abs()).all()
