"""The page and the figures, made from tables with all kinds of rows, from empty tables, and from a run on tiny data."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from benchmarks import __main__ as command
from benchmarks import (
    clock,
    figures,
    memory,
    report,
    results,
)
from benchmarks.contestants import CORNAC_BPR, PEERS, VSE_FS
from benchmarks.goals import FEATURE_TITLES, TITLES, TREE, goal
from benchmarks.growth import METHODS
from benchmarks.plan import QUICK, Training

COMPARED = [("VSE-fs", "implicit ALS"), ("Opt-AUC", "Cornac BPR")]


def comparisons():
    rows = []
    for what in TITLES:
        for size in ("nuswide", "iapr"):
            for threads in (1, 2):
                for ours, peer in COMPARED:
                    keys = {"what": what, "size": size, "threads": threads, "ours": ours, "peer": peer}
                    rows.append(clock.comparison(keys, [1.0, 1.1], [3.0, 3.2], (0.5, 0.4)))
    return pl.DataFrame(rows, schema=clock.SCHEMA)


def tables():
    rng = np.random.default_rng(1)
    grown = [
        (method, variable, size, repeat, 10, 20, 30, 16, None, "epoch", 1e-3 * size * rng.lognormal(0, 0.1), "m")
        for method in METHODS
        for variable in ("factors", "labels", "pairs")
        for size in (16, 32, 64)
        for repeat in (1, 2)
    ]
    held = [
        ("nuswide", "VSE-fs", 2, 1.0, 2**27, 2**30, 2**29, "m"),
        ("openimages", "VSE-fs", 2, 9.0, 2**27, 2**31, 2**30, "m"),
    ]
    started = [
        ("cold", 1, 12.0, 30, "m"),
        ("warm", 1, 1.2, 0, "m"),
        ("cold", 2, 13.0, 30, "m"),
        ("warm", 2, 1.1, 0, "m"),
    ]
    chosen = [("iapr", "VSE-fs", 4, "beta_0 4.0", 8, 0.5, 0.51)]
    rows = {
        "settings": chosen,
        "growth": grown,
        "memory": held,
        "starts": started,
        "limits": [("nuswide", 1, "images", 0.4, 0.2, 0.02, 0.03, 0.5, 5, 1.0, "m")],
        "exact_images": [("nuswide", 128, 1, 0.6, 0.4, 1.5, 1.4, 1.6, 0.22, 0.221, 0.001, 5, 1.0, "m")],
        "threads": [("nuswide", "iALS, an iteration", 2, 0.4, 1.9, True, 5, 1.0, "m")],
        "feature_settings": chosen,
        "wsabie_steps": [(93, 100, 1000, 1.2, 4e-6, 5, 1.0, "m")],
        "losses_by_labels": [("exact", 100, 2, 4e-6, 5, 1.0, "m")],
        "epochs_by_labels": epochs(),
        "outside_scores": [("nuswide", "its vectors (.npz)", 2, 1.5, 2**29, 20.0, 2**28, 0.25, "m")],
        "vectors": [("opt_auc", "sums", 32, 300, 2000, 0.02, 1.1, 1.0, 1.2, 15, 1.0, "m")],
    }
    given = {name: pl.DataFrame(own, schema=results.SCHEMAS[name], orient="row") for name, own in rows.items()}
    return given | {"comparisons": comparisons(), "features": on_features()}


def epochs():
    parts = {"s_x_ent": ("whole", "network alone", "loss alone", "draws alone"), "x_ent": ("whole", "network alone")}
    return [(row, 291, part, 6e-5, 349_200, 5, 1.0, "m") for row, names in parts.items() for part in names]


def on_features():
    keys = {"size": "sim-blobs", "threads": 1, "ours": "p = 3", "peer": "exact search"}
    rows = [clock.comparison(keys | {"what": what}, [1.0], [2.0], (0.3, 1.0)) for what in (*FEATURE_TITLES, TREE)]
    return pl.DataFrame(rows, schema=clock.SCHEMA)


def nothing():
    return {name: pl.DataFrame(schema=schema) for name, schema in results.SCHEMAS.items()}


@pytest.mark.parametrize("make", [tables, nothing])
def test_page_and_figures(tmp_path, make):
    report.write(make(), tmp_path / "benchmarks.md")
    figures.write(make(), tmp_path)
    for name in ("ratios", "growth", "memory"):
        assert {path.suffix for path in tmp_path.glob(f"benchmarks-{name}.*")} == {".pdf", ".svg", ".png"}
    page = (tmp_path / "benchmarks.md").read_text(encoding="utf-8")
    if make is tables:
        assert all(title in page for title in (*TITLES.values(), *FEATURE_TITLES.values()))
        assert "| nuswide | VSE-fs | implicit ALS | 1.05 | 3.10 | 2.95 [2.91, 3.00] | 1.05 | 3.10 |" in page
        assert "| sim-blobs | p = 3 | 1,000 | 2,000 | 2.00 [2.00, 2.00] | 0.3000 |" in page
        assert "| 93 | 100 | 1,000 | 1.20 | 4.00 |" in page
        assert "| nuswide | 1 | VSE-fs | implicit ALS | 1.05 | 3.10 | 2.95 [2.91, 3.00] | 2.50 | 5.00 | floor |" in page
        assert "| nuswide | 1 | images | 0.400 | 0.200 | 0.0200 | 0.0300 | 0.50 |" in page
        assert "| cold | 12.5 [12.0, 13.0] | 20.0 | 30 |" in page
        assert "| openimages | VSE-fs | 9.00 | 128 | 2,048 | 1,024 | 2.00 |" in page
        assert "| nuswide | its vectors (.npz) | 1.50 | 512 | 20.0 | 256 | 0.2500 |" in page
        assert "O((N+M)K^2" in page


def test_every_comparison_has_a_goal():
    assert set(command.COMPARISONS) == set(TITLES)
    for what in TITLES:
        for threads in (1, 2):
            target = goal(what, "implicit ALS", threads)
            assert 0 < target.floor < target.aim
    assert [goal("iteration", "", 1).reached(ratio) for ratio in (2.4, 2.5, 5.0)] == ["no", "floor", "aim"]


def test_a_row_replaces_an_earlier_one(tmp_path):
    rows = comparisons()
    results.add(tmp_path, "comparisons", rows)
    again = rows.head(1).with_columns(ratio_median=9.0)
    results.add(tmp_path, "comparisons", again)
    written = results.read(tmp_path)["comparisons"]
    assert written.select("what", "size", "threads").equals(rows.select("what", "size", "threads"))
    assert len(written) == len(rows)
    assert written.schema == pl.Schema(clock.SCHEMA)
    assert written.filter(ratio_median=9.0).select(clock.KEYS).equals(again.select(clock.KEYS))


def test_a_missing_peer_is_one_line(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(command.importlib.util, "find_spec", lambda name: None)
    assert command.main(["--quick", "--results", str(tmp_path), "--figures", str(tmp_path)]) == 1
    error = capsys.readouterr().err
    assert "make setup-peers" in error
    assert error.count("\n") == 1


def test_a_whole_run_on_tiny_data(tmp_path, monkeypatch):
    for package in PEERS:
        pytest.importorskip(package)
    tiny = replace(
        QUICK, scale=0.02, factors=8, images=200, threads=(1, 2), trainings={"iapr": Training(epochs=2, every=1)}
    )
    monkeypatch.setattr(command, "QUICK", tiny)
    monkeypatch.setattr(memory, "MEASURED", (VSE_FS, CORNAC_BPR))
    parts = [*command.COMPARISONS, "memory"]  # the others take seconds whatever the size
    where = ["--results", str(tmp_path), "--figures", str(tmp_path / "figures")]
    assert command.main(["--quick", "--only", *parts, *where]) == 0
    found = results.read(tmp_path)
    assert set(found["comparisons"]["what"]) == set(TITLES)
    # Two peers for iALS, for uniform negatives and for ranking, two methods in parts, and six pairs up to 95 %.
    assert len(found["comparisons"]) == 2 * (len(TITLES) + 9)
    assert (found["comparisons"]["ratio_min"] <= found["comparisons"]["ratio_median"]).all()
    assert (found["comparisons"]["ratio_median"] <= found["comparisons"]["ratio_max"]).all()
    ranked = found["comparisons"].filter(what="ranking")
    assert ranked["quality_ours"].to_list() == pytest.approx(ranked["quality_peer"].to_list())
    assert (found["memory"]["peak_bytes"] >= found["memory"]["start_bytes"]).all()
    assert len(found["memory"]) == len(memory.MEASURED) + 1
    assert "implicit ALS" in (tmp_path / "benchmarks.md").read_text(encoding="utf-8")
