"""A run that trains on users' tags of images, and tests on true labels of the same images."""

import polars as pl

from tests.workflow.project import Project

SMALL = {"images": 100, "labels": 20}
WORD_VECTORS = "sim-tags-rho05"
DATASETS = {
    "sim-tags-rho05": {"protocols": ["from-sim-tags-rho05-given"], "options": SMALL, "word_vectors": WORD_VECTORS},
    "sim-tags-rho05-given": {
        "protocols": ["official"],
        "options": SMALL,
        "word_vectors": WORD_VECTORS,
        "methods": ["popularity"],
    },
}


def test_two_data_sets_are_joined_and_each_variant_that_can_is_tested(fresh: Project):
    methods = ["popularity", "given_labels", "ridge", "conse", "unseen_frequency"]
    fresh.configure(datasets=DATASETS, methods=methods, papers=[], sweeps={})
    outcome = fresh.snakemake("results/metrics.parquet")
    assert outcome.status == 0, outcome.text[-3000:]
    joined = fresh.folder / "data/processed/sim-tags-rho05/from-sim-tags-rho05-given"
    images, given = pl.read_parquet(joined / "images.parquet"), pl.read_parquet(joined / "given.parquet")
    assert images["part"].drop_nulls().value_counts(sort=True).rows() == [("train", 70), ("test", 20), ("valid", 10)]
    own = pl.read_parquet(fresh.folder / "data/processed/sim-tags-rho05-given/pairs.parquet")
    assert given.equals(own)  # both have the same images and labels
    metrics = pl.read_parquet(fresh.folder / "results/metrics.parquet").filter(dataset="sim-tags-rho05")
    assert set(metrics["method"]) == set(methods)
    assert "Left out of sim-tags-rho05-given/official: given_labels:" not in outcome.text  # it is not configured there
