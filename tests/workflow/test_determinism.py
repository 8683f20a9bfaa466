"""Neither the number of threads nor the order of jobs changes a byte."""

import pytest

from tests.workflow.project import MODELS_AND_RANKS, tiny_set

MORE_THREADS = ["--cores", "4", "--set-threads", "fit=4", "rank=3"]


@pytest.mark.long
@pytest.mark.parametrize(
    ("methods", "arguments", "environment"),
    [
        (
            ["popularity", "warp", "vse_ens", "vse_fs"],
            MORE_THREADS,
            {"PYTHONHASHSEED": 1},
        ),
        (["oracle", "opt_auc"], ["--cores", "1"], {"PYTHONHASHSEED": 2, "NUMBA_NUM_THREADS": 1}),
    ],
    ids=["more threads", "one core"],
)
def test_another_number_of_threads_gives_the_same_bytes(finished, fresh, methods, arguments, environment):
    fresh.configure(methods=methods, datasets=tiny_set("regions"))
    outcome = fresh.snakemake("results/metrics.parquet", *arguments, **environment)
    assert outcome.status == 0, outcome.text[-3000:]
    made = fresh.found(*MODELS_AND_RANKS)
    assert len(made) == 5 + 3 * len(methods)
    assert made == {name: finished.project.found(name)[name] for name in made}
