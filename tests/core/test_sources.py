"""The files that a stage depends on, so that an edit reruns it. A new import fails a test here."""

import subprocess
import sys

import pytest

from tests.methods.problems import names_of_methods
from vsebench.core.modules import PACKAGE, modules_by_key, modules_in
from vsebench.core.sources import sources_of
from vsebench.evaluation.analyses import known_analyses
from vsebench.evaluation.metrics.base import module_of_metric

SGD = {"pipeline", "products", "random_numbers", "sampling", "steps", "vectors"}
FEATURES = SGD | {"image_rows"}
WARP = {"rank_loss", "warp"}
EMBEDDED, LINEAR = FEATURES | WARP | {"wsabie"}, FEATURES | WARP | {"linear_models"}
NETWORK = {"optimisers", "rank_loss", "vectors"}
RANKING = {"counting", "held_out", "products", "rounding", "vectors"}
SAMPLED = NETWORK | {"alias", "label_sample", "random_numbers", "logistic", "sampled_words", "sampling"}
READS_RENDERING_OR_PAPERS = {"audit", "claims", "compare_with_papers", "error_rates", "figure", "report", "table"}
# A few methods of each family, and the kernels that they run.
KERNELS = {
    "ease": {"cooccurrence"},
    "ridge": set(),
    "vse_fs": {"exact_images", "full_sample", "products", "vectors"},
    "opt_auc": SGD | {"opt_auc", "strata"},
    "warp": SGD | WARP,
    "pamir_ia": LINEAR,
    "wsabie": EMBEDDED,
    "lsep": NETWORK | {"exponentials", "logistic", "pair_losses", "random_numbers", "sampling"},
    "s_x_ent": SAMPLED,
}


def names(*modules):
    """Return the modules that these modules import, directly or not, without the package's name and `__init__`."""
    paths = (path.relative_to(PACKAGE).with_suffix("") for path in sources_of(*(f"vsebench.{m}" for m in modules)))
    return {".".join(path.parts) for path in paths if path.name != "__init__"}


def of_method(name):
    return names(modules_by_key("METHODS", "methods")[name].removeprefix("vsebench."))


def inside(folder, modules):
    """Return the last names of the modules that are in a folder of the package."""
    return {name.rpartition(".")[2] for name in modules if name.startswith(f"{folder}.")}


@pytest.mark.parametrize("method", KERNELS)
def test_a_method_depends_on_its_kernels_alone(method):
    found = of_method(method)
    assert inside("kernels", found) == KERNELS[method]
    assert not inside("evaluation", found) | inside("protocols", found) | inside("stages", found)


MODULES = modules_by_key("METHODS", "methods")
TAKEN_OVER = {"lsep_joint": {"lsep"}}  # the methods that reuse code of a method in another module


@pytest.mark.parametrize("method", names_of_methods())
def test_a_method_depends_on_no_module_of_other_methods(method):
    """An edit of a module runs only its methods again."""
    expected = {MODULES[name].removeprefix("vsebench.") for name in {method} | TAKEN_OVER.get(method, set())}
    assert of_method(method) & {module.removeprefix("vsebench.") for module in MODULES.values()} == expected


@pytest.mark.parametrize("stage", ["fit", "sweep"])
def test_a_fit_depends_on_the_ranking_kernels_and_on_no_method_of_its_own(stage):
    found = names(f"stages.{stage}")
    assert inside("kernels", found) == RANKING
    assert inside("methods", found) == {"base"}
    assert not inside("protocols", found) | inside("formats", found)


@pytest.mark.parametrize("stage", ["fit", "rank"])
def test_a_metric_file_runs_no_fit_again_unless_it_validates(stage):
    assert inside("evaluation.metrics", names(f"stages.{stage}")) <= {"base"}
    module = module_of_metric("ndcg@10").removeprefix("vsebench.")
    assert inside("evaluation.metrics", names("stages.fit", module)) == {"base", "map_and_ndcg"}


@pytest.mark.parametrize("module", sorted({*modules_in("evaluation/metrics")} - {"base"}))
def test_a_module_of_metrics_depends_on_no_other(module):
    """An edit of the module reruns only the jobs that use one of its metrics."""
    assert inside("evaluation.metrics", names(f"evaluation.metrics.{module}")) == {"base", module}


@pytest.mark.parametrize("analysis", known_analyses())
def test_an_analysis_depends_on_no_other_analysis_and_no_method(analysis):
    found = names("stages.analyse", f"evaluation.analyses.{analysis}")
    assert inside("evaluation.analyses", found) == {"base", analysis}
    assert not inside("methods", found)


def test_ranking_depends_on_no_method_and_no_training():
    found = names("stages.rank")
    assert not inside("methods", found)
    assert "training" not in found
    assert inside("kernels", found) == RANKING


def test_measuring_depends_on_no_kernel():
    found = names("stages.measure")
    assert not inside("kernels", found) | inside("methods", found)
    assert {name for name in found if name.startswith("evaluation")} == {
        "evaluation.by_frequency", "evaluation.estimates", "evaluation.frequencies", "evaluation.measuring",
        "evaluation.metrics.base", "evaluation.reading", "evaluation.seed_variance", "evaluation.sets",
        "evaluation.significance", "evaluation.spread", "evaluation.summary",
    }  # fmt: skip


def test_a_split_depends_on_its_protocol_alone():
    assert inside("protocols", names("stages.split")) == {"base"}
    assert inside("protocols", names("stages.split", "protocols.images")) == {"base", "images"}
    assert not inside("kernels", names("stages.split")) | inside("methods", names("stages.split"))


@pytest.mark.parametrize("stage", modules_in("stages"))
def test_a_stage_imports_no_stage_and_nothing_depends_on_core(stage):
    found = names(f"stages.{stage}")
    assert inside("stages", found) == {stage}
    assert not inside("core", found) | inside("plan", found) | inside("commands", found)
    assert "cli" not in found


@pytest.mark.parametrize("stage", sorted({*modules_in("stages")} - READS_RENDERING_OR_PAPERS))
def test_numbers_do_not_depend_on_rendering_or_papers(stage):
    found = names(f"stages.{stage}")
    assert not inside("rendering", found) | inside("papers", found)


@pytest.mark.parametrize(("stage", "folder"), [("table", "tables"), ("figure", "figures")])
def test_a_table_depends_on_its_kind_alone(stage, folder):
    assert not inside(f"rendering.{folder}", names(f"stages.{stage}"))


@pytest.mark.parametrize("stage", ["split", "fit", "rank"])
def test_a_job_without_features_does_not_import_sparse_matrices(stage):
    """Their import would add to every job's start."""
    code = f"import sys, vsebench.stages.{stage}; print('scipy.sparse' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_the_closure_follows_every_form_of_import():
    found = names("stages.fit")
    # `from vsebench import models`, `from vsebench.training import X`
    assert {"training", "models", "data.problem"} <= found
    assert list(sources_of("vsebench.stages.fit")) == sorted(sources_of("vsebench.stages.fit"))
