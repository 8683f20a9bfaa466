"""Methods on the real SAIAPR TC-12 annotations: a change that costs accuracy shows here."""

import pytest

from vsebench.core.workers import workers
from vsebench.data.problem import Dataset, LabelMatrix, Problem
from vsebench.data.splits import pairs_of
from vsebench.evaluation.metrics import mean_metric
from vsebench.evaluation.ranking import rank
from vsebench.formats.readers import saiapr
from vsebench.methods.base import load_method, read_settings
from vsebench.protocols.base import split_dataset

SGD = {"factors": 128, "deviation": 0.1}
# recall@5 and recall@10 that a method must reach with these settings, a little below what it does (docs/iapr.md).
CASES = {
    "popularity": ({}, 0, 0.215, 0.34),
    "opt_auc": (SGD | {"learning_rate": 0.1, "regularisation": 0.01}, 100, 0.29, 0.42),
    "warp": (
        SGD | {"learning_rate": 0.005, "regularisation": 0.0, "trials": None, "maximum_norm": 1.0}, 40, 0.255, 0.385,
    ),
    "vse_ens": (SGD | {"learning_rate": 0.02, "regularisation": 0.3, "rank_scale": 0.4}, 100, 0.27, 0.41),
    "vse_fs": (
        {
            "factors": 128, "beta_0": 2.0, "alpha": 0.0, "gamma": 0.04, "regularisation": 4.0, "weights": "ones",
            "deviation": 0.1,
        }, 15, 0.33, 0.455,
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def split(mirror):
    annotations = saiapr.read(mirror, saiapr.Options(archive="saiapr_tc-12.tar.gz"))
    matrix = LabelMatrix.from_pairs(annotations.pairs, 20000, len(annotations.labels))
    return split_dataset("regions", Dataset(matrix), 1)


@pytest.mark.parametrize("name", CASES)
def test_accuracy_under_the_papers_protocol(split, name):
    values, epochs, recall_at_5, recall_at_10 = CASES[name]
    method = load_method(name)
    with workers(2) as pool:
        fitter = method(Problem(split.final, 1, pool), read_settings(method, values, name))
        for _ in range(epochs):
            fitter.epoch()
        ranks = rank(fitter.model(), split.test, None, pool, name)
    assert mean_metric(ranks, "recall@5") >= recall_at_5
    assert mean_metric(ranks, "recall@10") >= recall_at_10


def test_regions_leave_what_the_papers_print(split):
    """79,527 training and 20,000 test pairs; a fifth of the test labels stay in training, 923 images lose all."""
    final = split.final.labels
    assert final.count_of_pair.sum() == 79527
    assert split.test.right.count_of_pair.sum() == 20000
    known = pairs_of(split.test).join(final.to_pairs(), on=["image", "label"], how="semi")
    assert 0.185 < known.height / 20000 < 0.205
    assert (final.n_labels_of_row == 0).sum() == 923
