"""Records of the settings that a tuned run chose, and runs that use a record."""

import shutil
from pathlib import Path

import pytest
import yaml

from tests.stages.small import fit, run, split, write_processed
from vsebench.core.errors import UserError
from vsebench.core.storage import read_json, write_json
from vsebench.core.tasks import Task
from vsebench.formats.simulators.simulator import Options
from vsebench.plan import read_plan
from vsebench.plan.settings import not_tuned, recorded_search, recorded_spread, settings_of, starting_settings
from vsebench.stages.gather import described, edges_of_grid, settings_used

CONFIG = Path(__file__).parents[2] / "config"
TASK = Task("sim-iapr", "distinct")
NOTHING = {"configurations": 0, "seeds": [], "grid": {}}
SCALE = {"scale": 0.1}
GRID = {"learning_rate": [0.1, 0.2], "regularisation": [0.003, 0.01, 0.02, 0.03]}


def plan_of(folder, **changes):
    """Return the plan of a run with the configuration in a folder."""
    sets = {"sim-iapr": {"protocols": ["distinct", "regions"], "options": changes.pop("options", SCALE)}}
    values = yaml.safe_load((CONFIG / "config.yaml").read_text()) | {"datasets": sets, "factors": 8, "scaling": None}
    return read_plan(folder, values | {"methods": ["popularity", "opt_auc", "vse_fs"]} | changes, [])


@pytest.fixture
def folder(tmp_path):
    """A copy of the configuration without any records."""
    shutil.copytree(CONFIG, tmp_path / "config", ignore=shutil.ignore_patterns("chosen"))
    return tmp_path / "config"


def write_results(results, plan):
    """Write the results of a tuned run with two seeds, which chose these rates for Opt-AUC under `distinct`."""
    entry = {"dataset": "sim-iapr", "protocol": "distinct", "validation_metric": "ndcg@10", "n_configurations": 8}
    entry |= {"grid": GRID}
    variants = [
        entry
        | {"method": "opt_auc", "seed": seed, "choice": "tuned", "seeds_of_search": [seed]}
        | {"settings": own | {"learning_rate": rate}}
        for own in [settings_of(plan, "opt_auc", "sim-iapr")]
        for seed, rate in ((2, 0.1), (1, 0.2))
    ]
    popularity = entry | {"method": "popularity", "seed": 1, "choice": "none", "settings": {}}
    write_json([*variants, popularity], results / "settings.json")
    options = Options(**plan.datasets["sim-iapr"].options).model_dump()
    write_json([{"name": "sim-iapr", "options": options, "vocabulary": {"seed": 0}}], results / "datasets.json")


@pytest.fixture
def recorded(folder, tmp_path):
    """The configuration with a record of a run with `SCALE`."""
    write_results(tmp_path, plan_of(folder))
    assert run("record", "--results", tmp_path, "--out", folder / "chosen") == 0
    return folder


def rates(plan, *seeds):
    return [starting_settings(plan, "opt_auc", TASK, seed)["learning_rate"] for seed in seeds]


def test_a_run_takes_what_was_chosen_with_the_split_of_each_seed(recorded):
    plan = plan_of(recorded)
    assert rates(plan, 1, 2) == [0.2, 0.1]
    assert not_tuned(plan) == {
        "sim-iapr/distinct/opt_auc": {"configurations": 8, "seeds": [1, 2]} | {"grid": GRID},
        "sim-iapr/distinct/vse_fs": NOTHING,
        "sim-iapr/regions/opt_auc": NOTHING,
        "sim-iapr/regions/vse_fs": NOTHING,
    }


def test_a_seed_without_a_record_takes_the_first_ones(recorded):
    assert rates(plan_of(recorded, seeds=[3]), 3) == [0.2]


def test_a_search_of_the_same_data_stays_until_it_is_repeated(recorded, tmp_path):
    path = tmp_path / "settings.json"
    entries = read_json(path)
    later = [entry | {"protocol": "regions"} for entry in entries]
    write_json(later, path)
    assert run("record", "--results", tmp_path, "--out", recorded / "chosen") == 0
    assert rates(plan_of(recorded), 1, 2) == [0.2, 0.1]
    assert not_tuned(plan_of(recorded))["sim-iapr/regions/opt_auc"]["configurations"] == 8
    again = [entry | {"settings": entry["settings"] | {"learning_rate": 0.1}} for entry in entries]
    write_json(again, path)
    assert run("record", "--results", tmp_path, "--out", recorded / "chosen") == 0
    assert rates(plan_of(recorded), 1, 2) == [0.1, 0.1]


def test_a_search_of_other_data_is_replaced(recorded, tmp_path):
    about = read_json(tmp_path / "datasets.json")
    about[0]["vocabulary"] = {"seed": 0, "top_labels": 20}
    write_json(about, tmp_path / "datasets.json")
    later = [entry | {"protocol": "regions"} for entry in read_json(tmp_path / "settings.json")]
    write_json(later, tmp_path / "settings.json")
    assert run("record", "--results", tmp_path, "--out", recorded / "chosen") == 0
    assert set(yaml.safe_load((recorded / "chosen" / "sim-iapr.yaml").read_text())["protocols"]) == {"regions"}


def test_settings_chosen_by_the_mean_of_seeds_are_recorded_once(folder, tmp_path):
    write_results(tmp_path, plan_of(folder))
    entries = read_json(tmp_path / "settings.json")
    first, second = ({"seeds_of_search": [1, 2]}, {"seeds_of_search": [1, 2], "grid": {}})
    mean = [entry | (first if entry["seed"] == 1 else second) for entry in entries if entry["choice"] == "tuned"]
    write_json(mean, tmp_path / "settings.json")
    assert run("record", "--results", tmp_path, "--out", folder / "chosen") == 0
    search = plan_of(folder).chosen["sim-iapr"].protocols["distinct"].variants["opt_auc"]
    assert (list(search.seeds), search.searched_seeds) == ([1], [1, 2])


def test_what_a_search_over_seeds_tried_is_recorded_with_its_best_epochs(folder, tmp_path):
    write_results(tmp_path, plan_of(folder))
    [own, _, _] = read_json(tmp_path / "settings.json")
    path = tmp_path / "settings.json"
    tries = [
        {"settings": own["settings"] | {"learning_rate": rate}, "epochs_by_seed": epochs, "at_limit": at_limit}
        for rate, epochs, at_limit in ((0.1, [5, 7], False), (0.2, [3, None], False), (0.4, [10, 10], True))
    ]
    searched = own | {"seed": 1, "seeds_of_search": [1, 2], "tries": tries}
    for entries in ([searched], [searched | {"protocol": "regions"}]):  # the second time, the earlier record is read
        write_json(entries, path)
        assert run("record", "--results", tmp_path, "--out", folder / "chosen") == 0
    recorded = not_tuned(plan_of(folder))
    assert recorded["sim-iapr/distinct/opt_auc"]["tries"] == recorded["sim-iapr/regions/opt_auc"]["tries"] == tries
    record = {"dataset": "sim-iapr", "protocol": "distinct", "method": "opt_auc", "module": "opt_auc"}
    record |= {"selection": {"settings": own["settings"], "epochs": 3}}
    shown = [settings_used(record | {"seed": seed}, recorded)["tries"] for seed in (1, 2)]
    assert shown == [tries, []]


def test_the_entry_of_the_seed_that_searched_says_what_it_tried(tmp_path):
    write_processed(tmp_path)
    assert split(tmp_path) == 0
    assert fit(tmp_path, grid={"learning_rate": [0.1, 0.2]}) == 0
    record = read_json(tmp_path / "model/run.json")
    tries = settings_used(record, {})["tries"]
    assert [tried["settings"]["learning_rate"] for tried in tries] == [0.1, 0.2]
    later = record | {"selection": record["selection"] | {"settings_of_seed": 1, "n_configurations": 1}}
    assert settings_used(later, {})["tries"] == []


def test_a_setting_at_the_edge_of_one_seeds_range_stays_marked(folder, tmp_path):
    """The grid of a record contains the values of all seeds, so it does not show the edges of one seed."""
    write_results(tmp_path, plan_of(folder))
    entries = read_json(tmp_path / "settings.json")
    of_both = {"grid": {"learning_rate": [0.05, 0.1, 0.2, 0.4]}}
    edges = {1: [], 2: ["learning_rate"]}
    write_json([entry | of_both | {"on_edges": edges[entry["seed"]]} for entry in entries], tmp_path / "settings.json")
    for _ in range(2):  # the second time, the earlier record is read
        assert run("record", "--results", tmp_path, "--out", folder / "chosen") == 0
    plan = plan_of(folder, seeds=[1, 2, 3])  # seed 3 has the settings of seed 1
    searched = not_tuned(plan)["sim-iapr/distinct/opt_auc"]
    assert searched["on_edges"] == {"2": ["learning_rate"]}
    record = {"dataset": "sim-iapr", "protocol": "distinct", "method": "opt_auc", "module": "opt_auc"}
    shown = []
    for seed in (1, 2, 3):
        selection = {"settings": starting_settings(plan, "opt_auc", TASK, seed), "epochs": 3}
        fit = record | {"seed": seed, "selection": selection}
        shown.append(settings_used(fit, {"sim-iapr/distinct/opt_auc": searched})["on_edges"])
    assert shown == [[], ["learning_rate"], []]


def test_a_record_has_the_spread_of_the_choice_where_one_search_serves_all_seeds(folder, tmp_path):
    write_results(tmp_path, plan_of(folder))
    spread = {"ndcg@10": 0.0123456, "map": 0.0, "auc": None}
    entries = [entry | {"spread": spread} for entry in read_json(tmp_path / "settings.json")]
    write_json(entries, tmp_path / "settings.json")
    assert run("record", "--results", tmp_path, "--out", folder / "chosen") == 0
    assert run("record", "--results", tmp_path, "--out", folder / "chosen") == 0  # an earlier record is read again
    plan = plan_of(folder)
    recorded = plan.chosen["sim-iapr"].protocols["distinct"].variants["opt_auc"].spread
    assert recorded == {"ndcg@10": 0.01235, "map": 0.0, "auc": None}
    assert recorded_spread(plan, "opt_auc", TASK) == {}  # each seed has a split of its own, and chose its own settings


@pytest.mark.parametrize(
    ("spread", "message"),
    [
        ("{no_metric: 0.1}", "there is no metric 'no_metric'"),
        ("{map: -0.1}", "should be greater than or equal to 0"),
        ("{map: .inf}", "should be a finite number"),
        ("{map: .nan}", "should be a finite number"),
    ],
)
def test_a_wrong_spread_in_a_record_is_refused_with_file_and_key(recorded, spread, message):
    path = recorded / "chosen" / "sim-iapr.yaml"
    text = path.read_text().replace(
        "        configurations: 8\n", f"        configurations: 8\n        spread: {spread}\n"
    )
    path.write_text(text)
    with pytest.raises(UserError) as refused:
        plan_of(recorded)
    assert str(refused.value).startswith(f"{path}: protocols.distinct.variants.opt_auc.spread")
    assert message in str(refused.value)


def test_a_record_has_the_values_that_were_tried_beyond_the_edges_with_any_seed(folder, tmp_path):
    write_results(tmp_path, plan_of(folder))
    entries = read_json(tmp_path / "settings.json")
    beyond = {"grid": GRID | {"learning_rate": [0.05, 0.1, 0.2]}}
    write_json([entry | beyond if entry["seed"] == 2 else entry for entry in entries], tmp_path / "settings.json")
    assert run("record", "--results", tmp_path, "--out", folder / "chosen") == 0
    search = plan_of(folder).chosen["sim-iapr"].protocols["distinct"].variants["opt_auc"]
    assert search.grid == GRID | {"learning_rate": [0.05, 0.1, 0.2]}


def test_a_run_without_a_record_takes_the_variants_own(folder):
    plan = plan_of(folder)
    assert starting_settings(plan, "opt_auc", TASK, 1) == settings_of(plan, "opt_auc", "sim-iapr")
    assert all(tried == NOTHING for tried in not_tuned(plan).values())


def test_a_run_that_tunes_starts_from_the_variants_own(recorded):
    plan = plan_of(recorded, tune=True)
    assert starting_settings(plan, "opt_auc", TASK, 1) == settings_of(plan, "opt_auc", "sim-iapr")
    assert not_tuned(plan) == {}


@pytest.mark.parametrize(
    "changes",
    [{"factors": 16}, {"options": {"scale": 0.2}}, {"options": SCALE | {"seed": 7}}, {"validation_metric": "map"}],
    ids=str,
)
def test_what_was_chosen_under_other_conditions_does_not_count(recorded, changes):
    plan = plan_of(recorded, **changes)
    assert starting_settings(plan, "opt_auc", TASK, 1) == settings_of(plan, "opt_auc", "sim-iapr")
    assert all(tried == NOTHING for tried in not_tuned(plan).values())


def test_what_was_chosen_on_other_labels_does_not_count(recorded):
    sets = {"sim-iapr": {"protocols": ["distinct"], "options": SCALE, "vocabulary": {"top_labels": 20}}}
    assert all(tried == NOTHING for tried in not_tuned(plan_of(recorded, datasets=sets)).values())


def edit(path, key, values):
    content = yaml.safe_load(path.read_text())
    content[key] |= values
    path.write_text(yaml.safe_dump(content))


def test_a_record_does_not_count_when_a_setting_outside_of_its_grid_has_changed(recorded):
    edit(recorded / "methods" / "opt_auc.yaml", "settings", {"deviation": 0.2})
    assert not_tuned(plan_of(recorded))["sim-iapr/distinct/opt_auc"] == NOTHING


def test_a_record_keeps_its_own_grid_and_counts_when_that_of_the_variant_has_changed(recorded):
    edit(recorded / "methods" / "opt_auc.yaml", "grid", {"learning_rate": [0.3, 0.4]})
    plan = plan_of(recorded)
    assert plan.chosen["sim-iapr"].protocols["distinct"].variants["opt_auc"].grid["learning_rate"] == [0.1, 0.2]
    assert rates(plan, 1, 2) == [0.2, 0.1]


def test_a_record_with_values_that_were_not_tried_does_not_count(recorded):
    path = recorded / "chosen" / "sim-iapr.yaml"
    path.write_text(path.read_text().replace("learning_rate: [0.1, 0.2]", "learning_rate: [0.1, 0.3]"))
    assert not_tuned(plan_of(recorded))["sim-iapr/distinct/opt_auc"] == NOTHING


def test_a_fit_and_what_is_gathered_say_which_grid_was_tried(tmp_path):
    write_processed(tmp_path)
    grid = {"learning_rate": [0.1, 0.2]}
    assert split(tmp_path) == 0
    assert fit(tmp_path, grid=grid) == 0
    record = read_json(tmp_path / "model/run.json")
    assert settings_used(record, {})["grid"] == grid


def test_values_beyond_the_edges_of_a_grid_belong_to_what_was_tried(tmp_path):
    write_processed(tmp_path)
    assert split(tmp_path) == 0
    assert fit(tmp_path, "--beyond", 1, grid={"learning_rate": [1e-4, 1e-3]}) == 0
    record = read_json(tmp_path / "model/run.json")
    assert settings_used(record, {})["grid"] == {"learning_rate": [1e-5, 1e-4, 1e-3]}
    assert record["selection"]["n_configurations"] == 3


def test_a_run_that_did_not_tune_has_nothing_to_record(tmp_path, capsys):
    write_json([{"choice": "untuned"}], tmp_path / "settings.json")
    assert run("record", "--results", tmp_path, "--out", tmp_path / "chosen") == 1
    assert capsys.readouterr().err.endswith("settings.json: the run tuned no method; run with tune: true first\n")
    assert not (tmp_path / "chosen").exists()


def test_a_mistake_in_a_record_names_file_and_key(recorded):
    path = recorded / "chosen" / "sim-iapr.yaml"
    path.write_text(path.read_text().replace("configurations: 8", "configurations: many"))
    with pytest.raises(
        UserError, match=r"chosen/sim-iapr\.yaml: protocols\.distinct\.variants\.opt_auc\.configurations"
    ):
        plan_of(recorded)


def test_the_settings_of_a_record_are_shown_with_what_chose_them():
    selection = {"settings": {"regularisation": 3.0}, "epochs": 3, "n_configurations": 1}
    record = {"dataset": "d", "protocol": "distinct", "method": "m", "seed": 1, "module": "ease"}
    record |= {"selection": selection}
    searched = {"configurations": 8, "seeds": [1, 2]}
    inside, outermost = ({"grid": {"regularisation": values}} for values in ([1.0, 3.0, 10.0], [3.0, 10.0]))
    searches = [{"d/distinct/m": each} for each in (searched | inside, searched | outermost, NOTHING)]
    shown = [settings_used(record, not_tuned) for not_tuned in (*searches, {})]
    keys = ("choice", "n_configurations", "seeds_of_search", "on_edges")
    assert [tuple(each[key] for key in keys) for each in shown] == [
        ("recorded", 8, [1, 2], []),
        ("recorded", 8, [1, 2], ["regularisation"]),
        ("untuned", 1, [], []),
        ("none", 1, [], []),
    ]


def test_a_recorded_value_beyond_which_the_method_allows_none_is_not_at_an_edge():
    settings, grid = {"hidden": [256], "learning_rate": 0.001, "dropout": 0.0}, {"dropout": [0.0, 0.5]}
    assert edges_of_grid("lsep", settings, grid) == []
    assert edges_of_grid("lsep", settings | {"dropout": 0.5}, grid) == ["dropout"]


@pytest.mark.parametrize(("choice", "shown"), [("untuned", "paper"), ("none", "paper"), ("recorded", "recorded")])
def test_settings_of_a_paper_are_called_so_unless_they_were_searched(choice, shown):
    assert described({"choice": choice}, "M", "a paper", from_paper=True)["choice"] == shown
    assert described({"choice": choice}, "M", "a paper")["choice"] == choice


def test_a_fit_with_the_settings_that_tuning_chose_has_the_same_bytes(tmp_path):
    write_processed(tmp_path)
    assert split(tmp_path) == 0
    assert fit(tmp_path, grid={"learning_rate": [1e-6, 0.2], "regularisation": [0.01, 0.1]}) == 0
    tuned = (tmp_path / "model/model.npz").read_bytes()
    chosen = read_json(tmp_path / "model/run.json")["selection"]["settings"]
    shutil.rmtree(tmp_path / "model")
    assert fit(tmp_path, settings=chosen) == 0
    assert (tmp_path / "model/model.npz").read_bytes() == tuned


@pytest.mark.parametrize("elsewhere", [False, True])
@pytest.mark.parametrize("path", sorted((CONFIG / "chosen").glob("*.yaml")), ids=lambda path: path.stem)
def test_every_record_of_the_project_counts_in_the_run_that_it_is_for(path, elsewhere, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path if elsewhere else CONFIG.parent)
    runs = (
        ["config.yaml"]
        if path.stem == "visual-genome-500"
        else ["tagging.yaml", "lsep.yaml", "xmc.yaml", "wsabie.yaml"]
    )
    configs = [yaml.safe_load((CONFIG / run).read_text()) | {"tune": False} for run in runs]
    plans = [plan for config in configs if path.stem in (plan := read_plan(CONFIG, config, [])).datasets]
    for protocol, searches in plans[0].chosen[path.stem].protocols.items():
        task = Task(path.stem, protocol)
        for variant in searches.variants:
            of_plans = [plan for plan in plans if variant in plan.config.methods]
            assert any(recorded_search(plan, variant, task) for plan in of_plans), variant
