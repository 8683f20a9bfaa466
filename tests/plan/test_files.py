"""The files that come with the project, and how files of a configuration are read."""

import re

import pytest

from tests.plan.runs import CONFIG, ONE, ROOT, change_method, default, planned, values
from vsebench.config.dataset import SiblingsConfig, WordVectorsConfig
from vsebench.config.method import read_method_config
from vsebench.config.run import RunConfig
from vsebench.core.errors import UserError
from vsebench.core.yaml_files import check, read_config, read_yaml
from vsebench.formats.adapters import knows, load_adapter
from vsebench.methods.base import Ensemble, load_method, read_settings, with_factors
from vsebench.plan import read_plan
from vsebench.plan.checks import few_seeds

RUNS = sorted(CONFIG.glob("*.yaml"))
PEERS = {
    "implicit_als": "implicit",
    "irspack_ials": "irspack",
    "lightfm_warp": "lightfm",
    "lightfm_features": "lightfm",
}


def needs_peers(variants):
    """Skip a test of variants whose packages are not installed."""
    for variant in variants:
        if variant in PEERS:
            pytest.importorskip(PEERS[variant], reason="optional, `make setup-peers` installs it")


@pytest.mark.parametrize("path", sorted((CONFIG / "methods").glob("*.yaml")), ids=lambda path: path.stem)
def test_method_files_are_valid_with_every_setting_they_try(path):
    config = read_method_config(path)
    needs_peers([path.stem])
    method = load_method(config.method)
    assert issubclass(method, Ensemble) == bool(config.members)
    assert not config.grid or config.grid_size == RunConfig.model_fields["tuning_budget"].default
    if config.members:
        return  # the plan checks them
    settings = with_factors(method, config.settings, 16)
    for family in [{}, *config.family_settings.values()]:
        read_settings(method, settings | family, str(path))
    assert set(config.grid) <= set(config.settings)
    for key, tried in config.grid.items():
        for value in tried:
            read_settings(method, settings | {key: value}, str(path))


@pytest.mark.parametrize("path", RUNS, ids=lambda path: path.stem)
def test_run_files_are_valid(path):
    needs_peers(values(path)["methods"])
    plan = read_plan(CONFIG, values(path), [path])
    assert plan.tasks
    for task in plan.tasks:
        assert plan.variants(task)
        assert ("oracle" in plan.variants(task)) <= bool(knows(plan.datasets[task.dataset].adapter))


@pytest.mark.parametrize("path", sorted((CONFIG / "siblings").glob("*.yaml")), ids=lambda path: path.stem)
def test_files_of_siblings_are_valid(path):
    config = read_config(SiblingsConfig, path)
    load_adapter(config.adapter, str(path), "read_parents").Options(**config.options)


@pytest.mark.parametrize("path", sorted((CONFIG / "word_vectors").glob("*.yaml")), ids=lambda path: path.stem)
def test_files_of_words_are_valid(path):
    config = read_config(WordVectorsConfig, path)
    options = load_adapter(config.adapter, str(path), "read_vectors").Options(**config.options)
    if config.adapter == "simulated_words":
        assert not config.files
        assert not config.own_files
    else:
        assert options.file in {file.name for file in config.files}


def test_missing_key_is_named():
    config = default()
    del config["methods"]
    with pytest.raises(UserError, match="methods: this key is missing; add it"):
        check(RunConfig, config, "some.yaml")


def test_data_sets_and_methods_are_a_whole_configuration():
    plan = read_plan(CONFIG, {"datasets": {"sim-iapr": ONE}, "methods": ["popularity", "warp"]}, [])
    assert (plan.config.seeds, plan.config.tune, plan.config.timing.repeats) == ([1, 2, 3, 4, 5], False, 3)


@pytest.mark.parametrize(("seeds", "warned"), [([1], "one seed "), ([1, 2], "2 seeds "), ([1, 2, 3], None)])
def test_a_run_with_fewer_than_three_seeds_warns(seeds, warned):
    warnings = few_seeds(planned(methods=["popularity"], papers=[], seeds=seeds))
    assert len(warnings) == (warned is not None)
    assert all(f"seeds: {warned}cannot show how much results vary between seeds; use at least 3" in w for w in warnings)


@pytest.mark.parametrize(("few", "warned"), [({"ridge": 1}, False), ({"default": 1}, True)])
def test_a_method_may_have_one_seed_if_others_have_more(few, warned):
    methods = ["popularity", "ridge"]
    assert len(few_seeds(planned(methods=methods, papers=[], seeds=[1, 2, 3], method_seeds=few))) == warned


def test_the_default_run_and_the_example_have_five_seeds():
    runs = [check(RunConfig, values(CONFIG / name), name) for name in ("config.yaml", "own.yaml")]
    assert [run.seeds for run in runs] == [[1, 2, 3, 4, 5]] * 2


@pytest.mark.parametrize(
    "text", ["a: [1\nb: 2", "a: 1\na: 2", "a: {b: 1, b: 1}", "a: 0x_", "a: " + "9" * 5000, "a: 2024-13-45"]
)
def test_yaml_that_is_no_yaml_or_says_something_twice_or_odd_is_refused(tmp_path, text):
    path = tmp_path / "odd.yaml"
    path.write_text(text)
    with pytest.raises(UserError, match=r"odd\.yaml: not readable YAML") as error:
        read_config(RunConfig, path)
    assert "\n" not in str(error.value)


def test_a_user_may_say_words_on_the_command_line():
    given = {"tune": "true", "seeds": ["1", "2"], "validation_metric": "mrr", "tuning_budget": 8}
    plan = read_plan(CONFIG, default(**given), [CONFIG / "config.yaml"], overridden=list(given))
    assert (plan.config.tune, plan.config.seeds, plan.config.validation_metric) == (True, [1, 2], "mrr")


def test_a_variant_that_extends_another_takes_over_what_it_does_not_name(folder):
    base, extended = folder / "methods" / "wsabie.yaml", folder / "methods" / "wsabie_larger.yaml"
    extended.write_text("title: Larger\nextends: wsabie\nsettings: {factors: 300}\nepochs: {maximum: 9, patience: 2}\n")
    before, found = read_method_config(base), read_method_config(extended)
    assert (found.title, found.epochs.maximum) == ("Larger", 9)
    assert found.settings == before.settings | {"factors": 300}
    assert (found.method, found.source, found.grid) == (before.method, before.source, before.grid)
    change_method(folder, "wsabie", settings=before.settings | {"margin": 0.7})
    assert read_method_config(extended).settings == before.settings | {"margin": 0.7, "factors": 300}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("extends: nowhere\n", "methods/a.yaml: extends: there is no file"),
        ("extends: a\n", "methods/a.yaml: extends: 'a' extends this file itself"),
        ("extends: b\n", "methods/b.yaml: extends: 'a' extends this file itself"),
        ("extends: wsabie\nsettings: 3\n", "methods/a.yaml: "),
        ("extends: [wsabie]\n", "methods/a.yaml: extends: "),
    ],
)
def test_a_variant_that_cannot_extend_another_is_one_line(folder, text, message):
    (folder / "methods" / "a.yaml").write_text(text)
    (folder / "methods" / "b.yaml").write_text("extends: a\n")
    with pytest.raises(UserError, match=re.escape(message)):
        read_method_config(folder / "methods" / "a.yaml")


def test_data_sets_and_methods_are_all_that_a_run_needs(monkeypatch):
    monkeypatch.chdir(ROOT)
    run = values(CONFIG / "own.yaml")
    assert set(run) == {"datasets", "methods"}
    plan = read_plan(CONFIG, run, [])
    assert (plan.config.seeds, plan.config.factors, plan.papers) == ([1, 2, 3, 4, 5], 32, [])
    every = read_plan(CONFIG, run | {"papers": "all"}, []).papers
    assert [paper.path.name for paper in every] == sorted(path.name for path in (CONFIG / "papers").glob("[a-z]*.yaml"))


def test_a_short_title_is_that_of_its_own_title(folder):
    change_method(folder, "ridge", short="Ridge")
    change_method(folder, "ridge_hue", short=None)
    change_method(folder, "opt_auc", short="AUC")
    plan = read_plan(folder, default(methods=["ridge", "ridge_hue", "opt_auc"], papers=[]), [])
    shown = plan.outline.variants
    assert (shown["ridge"].shown(short=True), shown["ridge"].shown(short=False)) == ("Ridge", "Ridge regression")
    assert shown["ridge_hue"].shown(short=True) == "Ridge regression (hue)"  # it extends the file with the short title
    assert plan.datasets["sim-iapr"].short is None
    assert "short" not in plan.datasets["sim-iapr"].about()


@pytest.mark.parametrize("kind", ["methods", "datasets", "decisions"])
def test_long_titles_have_short_ones_and_no_two_files_show_the_same(kind):
    files = {path.stem: read_yaml(path) for path in (CONFIG / kind).glob("*.yaml")}
    shown = {name: values.get("short", values["title"]) for name, values in files.items()}
    assert {name: title for name, title in shown.items() if len(title) > 30} == {}
    assert len(set(shown.values())) == len(shown)
