"""The table of growth, from numbers that are exact powers of the sizes, and the definition of a smaller set."""

import json
import sys

import polars as pl
import pytest

from benchmarks import scale


def test_the_table_has_the_exponents_of_exact_powers():
    rows = [
        {"method": part, "variable": variable, "size": size, "repeat": repeat}
        | {"seconds": size**2 / 1e9, "bytes": size * scale.MIB, "machine": "here"}
        for part in scale.PARTS
        for variable, sizes in scale.SIZES.items()
        for size in sizes
        for repeat in (1, 2)
    ]
    lines = scale.table_of(pl.DataFrame(rows)).splitlines()
    assert len(lines) == 2 + 5 * 3
    assert lines[3] == (
        "| `prepare` | labels | 0.00625, 0.025, 0.1 | 2.00 [2.00, 2.00] | 2,500, 5,000, 10,000 | 1.00 [1.00, 1.00] |"
    )


def test_a_smaller_set_differs_from_the_data_set_only_in_its_sizes():
    options = json.loads(scale.definition({"images": 10, "labels": 20, "pairs": 30}))["options"]
    full = json.loads(scale.definition({}))["options"]
    assert {key for key in full if full[key] != options[key]} == {"images", "labels", "occurrences"}
    assert (options["images"], options["labels"], options["occurrences"]) == (10, 20, 30)


def test_one_size_is_varied_at_a_time():
    middle = {name: sizes[1] for name, sizes in scale.SIZES.items()}
    for variable, sizes in scale.settings_of_sizes():
        assert all(sizes[name] == middle[name] for name in middle if name != variable)


def test_a_folder_with_files_is_refused_and_kept(tmp_path, monkeypatch, capsys):
    (tmp_path / "mine.txt").write_text("mine")
    monkeypatch.setattr(sys, "argv", ["scale", str(tmp_path)])
    with pytest.raises(SystemExit, match="2"):
        scale.main()
    assert "exists and is not an empty folder" in capsys.readouterr().err
    assert (tmp_path / "mine.txt").read_text() == "mine"
