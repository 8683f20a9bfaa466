"""What a stage depends on, and so what an edit runs again. A new import edge is a failed test here."""

import subprocess
import sys

import pytest

from tests.methods.problems import names_of_methods
from vsebench.cli import stage_names
from vsebench.core.sources import PACKAGE, sources_of
from vsebench.evaluation.metrics.base import known_metrics

SGD = {"pipeline", "products", "random_numbers", "sampling", "steps", "vectors"}
FEATURES = SGD | {"image_rows"}
WARP = {"rank_loss", "warp"}
EMBEDDED, LINEAR = FEATURES | WARP | {"wsabie"}, FEATURES | WARP | {"linear_ranking"}
NETWORK = {"adamw", "vectors"}
SAMPLED = NETWORK | {"alias", "label_sample", "random_numbers", "sampled_words", "sampling", "shares"}
# Every method with the kernels that its models follow from: an edit of one of them trains it again.
KERNELS = {
    "avg_wv": NETWORK,
    "avg_wv_ridge": NETWORK,
    "bce": NETWORK | {"cross_entropy"},
    "bp_mll": NETWORK | {"bp_mll", "shares"},
    "conse": NETWORK,
    "constant_direction": NETWORK,
    "correlated_wv": NETWORK,
    "ease": {"cooccurrence"},
    "fast0tag": NETWORK | {"pair_logistic"},
    "given_labels": set(),
    "group_oracle": set(),
    "implicit_als": set(),
    "item_knn": {"cooccurrence"},
    "kernel_ridge": {"neighbours", "vectors"},
    "lightfm_features": set(),
    "lightfm_warp": set(),
    "linear_auc": LINEAR,
    "linear_warp": LINEAR,
    "logistic": set(),
    "lsep_joint": NETWORK | {"cross_entropy", "lsep", "rank_loss", "shares"},
    "lsep": NETWORK | {"lsep", "rank_loss", "shares"},
    "lsep_sampled": NETWORK | {"lsep_sampled", "random_numbers", "shares"},
    "nearest_images": {"neighbours", "vectors"},
    "network_softmax": NETWORK | {"cross_entropy"},
    "network_warp": NETWORK | {"random_numbers", "rank_loss", "sampling", "trial_hinge"},
    "one_vs_rest": FEATURES | {"one_vs_rest"},
    "opt_auc": SGD | {"opt_auc"},
    "opt_auc_biases": SGD | {"opt_auc", "opt_auc_biases"},
    "oracle": set(),
    "owpc_sgd": EMBEDDED | {"owpc"},
    "pamir_ia": LINEAR,
    "popularity": set(),
    "random": {"vectors"},
    "random_projection_tree": {"neighbours", "projection_tree", "random_numbers", "vectors"},
    "ranking_hinge": NETWORK | {"pair_hinge", "rank_loss"},
    "ridge": set(),
    "s_fast0tag": SAMPLED,
    "s_opt_x_ent_published": SAMPLED,
    "s_x_ent": SAMPLED,
    "softmax": set(),
    "unseen_frequency": set(),
    "vse_ens": SGD | {"sorted_lists", "vse_ens"},
    "vse_fs": {"full_sample", "products", "vectors"},
    "vse_fs_features": {"full_sample", "products", "vectors"},
    "warp": SGD | WARP,
    "warp_adaptive": SGD | WARP | {"adagrad", "warp_adaptive"},
    "warp_published": SGD | {"rounding", "warp_published"},
    "wsabie": EMBEDDED,
    "wsabie_auc": EMBEDDED,
    "wsabie_decay": EMBEDDED,
    "wsabie_ensemble": EMBEDDED,
    "x_ent": NETWORK | {"cross_entropy"},
    "zlpr": NETWORK | {"shares", "zlpr"},
}
# What methods share.
SHARED = {
    "base", "biased_features", "convex", "embedded_features", "embedding_sgd", "from_features", "full_sample",
    "independent_labels", "label_catalogue", "layers", "least_squares", "lightfm_model", "linear_map", "linear_sgd",
    "neighbours", "network", "networks", "sampled_words", "seen", "sgd", "start", "tree_posterior", "unseen_words",
    "word_network", "word_networks", "word_vectors",
}  # fmt: skip
RANKING = {"held_out", "products", "ranking", "rounding", "vectors"}
UP_TO_MEASURE = [
    "download",
    "prepare",
    "siblings",
    "words",
    "split",
    "compile",
    "fit",
    "sweep",
    "rank",
    "measure",
    "gather",
]


def names(*modules):
    """Return modules of a closure, without the package's own name and without `__init__`."""
    paths = (path.relative_to(PACKAGE).with_suffix("") for path in sources_of(*(f"vsebench.{m}" for m in modules)))
    return {".".join(path.parts).removesuffix(".__init__") for path in paths}


def inside(folder, modules):
    return {name.removeprefix(f"{folder}.") for name in modules if name.startswith(f"{folder}.")}


def test_every_method_has_its_line_here():
    assert sorted(KERNELS) == names_of_methods()


@pytest.mark.parametrize("method", KERNELS)
def test_a_method_depends_on_its_kernels_and_on_no_other(method):
    found = names(f"methods.{method}")
    assert inside("kernels", found) == KERNELS[method]
    assert not inside("evaluation", found) | inside("protocols", found) | inside("stages", found)


@pytest.mark.parametrize("method", KERNELS)
def test_a_method_depends_on_no_other_method(method):
    derived = {"lsep_joint": {"lsep"}, "avg_wv_ridge": {"avg_wv"}, "s_opt_x_ent_published": {"s_x_ent"}}.get(
        method, set()
    )
    assert inside("methods", names(f"methods.{method}")) <= SHARED | derived | {method}


@pytest.mark.parametrize("stage", ["fit", "sweep"])
def test_a_fit_depends_on_the_ranking_kernels_and_on_no_method_of_its_own(stage):
    found = names(f"stages.{stage}")
    assert inside("kernels", found) == RANKING
    assert inside("methods", found) == {"base"}
    assert not inside("protocols", found) | inside("formats", found)


@pytest.mark.parametrize("stage", ["fit", "rank"])
def test_a_metric_file_runs_no_fit_again_unless_it_validates(stage):
    assert inside("evaluation.metrics", names(f"stages.{stage}")) <= {"base"}
    assert inside("evaluation.metrics", names("stages.fit", "evaluation.metrics.ndcg")) == {"base", "ndcg"}


@pytest.mark.parametrize("metric", known_metrics())
def test_a_metric_depends_on_no_other_metric(metric):
    assert inside("evaluation.metrics", names(f"evaluation.metrics.{metric}")) == {"base", metric}


def test_ranking_depends_on_no_method_and_no_training():
    found = names("stages.rank")
    assert not inside("methods", found)
    assert "training" not in found
    assert inside("kernels", found) == RANKING


def test_measuring_depends_on_no_kernel():
    found = names("stages.measure")
    assert not inside("kernels", found) | inside("methods", found)
    assert {name for name in found if name.startswith("evaluation")} == {
        "evaluation.by_frequency", "evaluation.estimates", "evaluation.lists", "evaluation.measuring",
        "evaluation.metrics",
        "evaluation.metrics.base", "evaluation.reading", "evaluation.sets", "evaluation.significance",
        "evaluation.summary",
    }  # fmt: skip


def test_a_split_depends_on_its_protocol_alone():
    assert inside("protocols", names("stages.split")) == {"base"}
    assert inside("protocols", names("stages.split", "protocols.official")) == {"base", "official", "whole_images"}
    assert not inside("kernels", names("stages.split")) | inside("methods", names("stages.split"))


@pytest.mark.parametrize("stage", stage_names())
def test_a_stage_imports_no_stage_and_nothing_depends_on_core(stage):
    found = names(f"stages.{stage}")
    assert inside("stages", found) == {stage}
    assert not inside("core", found)
    assert not found & {"core", "cli", "plan"}


@pytest.mark.parametrize("stage", UP_TO_MEASURE)
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
    assert {"training", "models", "problem"} <= found  # `from vsebench import models`, `from vsebench.problem import X`
    assert list(sources_of("vsebench.stages.fit")) == sorted(sources_of("vsebench.stages.fit"))
