"""Make visual-genome-500.parquet, which lies beside this file, from `vg500_test.json`.

    python data/included/make_visual_genome_500.py vg500_test.json out.parquet

README.md says what both files are.
"""

import json
import sys
from pathlib import Path

import polars as pl


def table(source: Path) -> pl.DataFrame:
    """Return the columns image (the number in Visual Genome) and label, ascending, one row per label of an image."""
    samples = json.loads(source.read_text(encoding="utf-8"))["samples"]
    rows = [(int(Path(sample["image_name"]).stem), label) for sample in samples for label in sample["image_labels"]]
    return pl.DataFrame(rows, schema={"image": pl.Int32, "label": pl.String}, orient="row").sort("image", "label")


if __name__ == "__main__":
    table(Path(sys.argv[1])).write_parquet(sys.argv[2], compression="zstd", compression_level=19, statistics=False)
