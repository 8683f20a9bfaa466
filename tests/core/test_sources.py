from vsebench.core.sources import sources_of


def names(*modules):
    return {path.name for path in sources_of(*modules)}


def test_a_method_depends_on_its_kernel_and_on_no_other():
    opt_auc, vse_fs = names("vsebench.methods.opt_auc"), names("vsebench.methods.vse_fs")
    assert {"opt_auc.py", "sgd.py", "base.py", "pipeline.py", "random_numbers.py"} <= opt_auc
    assert not {"full_sample.py", "warp.py", "vse_ens.py"} & opt_auc
    assert "full_sample.py" in vse_fs
    assert not {"pipeline.py", "sampling.py", "steps.py", "random_numbers.py"} & vse_fs


def test_stages_do_not_depend_on_rendering():
    for stage in ("training", "selection", "evaluation.ranks", "evaluation.metrics", "datasets.prepare", "splits"):
        assert not any("rendering" in str(path) for path in sources_of(f"vsebench.{stage}"))
