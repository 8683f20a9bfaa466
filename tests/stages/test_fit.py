import json

import numpy as np
import polars as pl
import pytest

from tests.stages.small import SETTINGS, case, fit, run, split, write_processed
from vsebench import models, training
from vsebench.core.schemas import SIBLINGS
from vsebench.core.storage import read_json, read_parquet, write_table
from vsebench.core.workers import workers
from vsebench.data import splits
from vsebench.data.problem import Problem
from vsebench.evaluation.metrics import mean_metric
from vsebench.methods.base import load_method, read_settings
from vsebench.stages import rank
from vsebench.stages.gather import settings_used


@pytest.fixture
def folder(tmp_path):
    write_processed(tmp_path)
    assert split(tmp_path) == 0
    return tmp_path


def selection_of(folder):
    return read_json(folder / "model/run.json")["selection"]


def test_the_winner_has_the_highest_validation_value_and_all_tries_are_recorded(folder):
    assert fit(folder, grid={"learning_rate": [1e-6, 0.2], "regularisation": [0.01, 0.02]}) == 0
    selection = selection_of(folder)
    assert selection["n_configurations"] == len(selection["tries"]) == 4
    assert selection["seeds"] == [1]
    assert selection["value"] == max(tried["value"] for tried in selection["tries"])
    assert selection["settings"]["learning_rate"] == 0.2
    assert selection["metric"] == "ndcg@10"
    assert selection["diverged"] == 0
    assert all(set(tried) == {"settings", "epochs", "value", "at_limit", "limit"} for tried in selection["tries"])


def test_another_seed_takes_settings_over_and_chooses_its_own_epochs(folder, tmp_path):
    assert fit(folder, grid={"learning_rate": [1e-6, 0.2]}) == 0
    first = (folder / "model/run.json").rename(tmp_path / "first.json")
    assert fit(folder, "--chosen", first, seed=2) == 0
    selection, history = selection_of(folder), read_parquet(folder / "model/history.parquet")
    assert selection["settings"] == read_json(first)["selection"]["settings"]
    assert selection["settings_of_seed"] == 1
    assert selection["n_configurations"] == len(selection["tries"]) == 1
    assert selection["epochs"] == history.filter(phase="selection")["validation"].arg_max() + 1
    assert settings_used(read_json(folder / "model/run.json"), {})["choice"] == "tuned"


def test_the_spread_of_the_choice_is_recorded_and_taken_over_with_the_settings(folder, tmp_path):
    assert fit(folder, "--with-spread", grid={"learning_rate": [1e-6, 0.19, 0.2]}) == 0
    first = (folder / "model/run.json").rename(tmp_path / "first.json")
    spread = read_json(first)["selection"]["spread"]
    assert {"ndcg@10", "map", "precision@1"} <= spread.keys()
    assert 0 <= spread["ndcg@10"] < 0.5
    assert fit(folder, "--chosen", first, seed=2) == 0
    assert selection_of(folder)["spread"] == spread
    assert settings_used(read_json(folder / "model/run.json"), {})["spread"] == spread
    assert fit(folder, "--spread", '{"map": 0.25}') == 0
    assert selection_of(folder)["spread"] == {"map": 0.25}


def test_the_spread_of_sibling_precision_is_recorded_if_siblings_are_known(folder):
    pairs = [(label, other) for label in range(4) for other in range(4) if label != other]
    write_table(pl.DataFrame(pairs, schema=SIBLINGS, orient="row"), SIBLINGS, folder / "siblings.parquet")
    grid = {"learning_rate": [1e-6, 0.19, 0.2]}
    assert fit(folder, "--with-spread", "--siblings", folder / "siblings.parquet", grid=grid) == 0
    spread = selection_of(folder)["spread"]
    assert {"map", "sibling_precision@1", "sibling_precision@5", "sibling_precision@10"} <= spread.keys()
    assert 0 <= spread["sibling_precision@1"] < 0.5


def test_a_record_names_the_case_and_what_it_was_computed_with(folder):
    fit(folder)
    record = read_json(folder / "model/run.json")
    keys = {"dataset": "sim-tiny", "protocol": "distinct", "method": "my_row", "seed": 1, "module": "opt_auc"}
    assert record | keys | {"threads": 1} == record
    assert {"machine", "versions", "git_commit"} <= set(record)


def test_a_record_has_the_settings_as_they_were_given_without_defaults(tmp_path):
    write_processed(tmp_path, features=True)
    split(tmp_path, "images")
    settings = {"factors": 3, "learning_rate": 0.03, "maximum_norm": 2.0, "normalise": ["l2"]}
    for given in (settings, {key: settings[key] for key in settings if key != "normalise"}):
        assert fit(tmp_path, module="wsabie", settings=given, protocol="images") == 0
        assert selection_of(tmp_path)["settings"] == selection_of(tmp_path)["tries"][0]["settings"] == given


def test_the_history_is_the_winners_with_the_last_fit_behind_it(folder):
    fit(folder, grid={"learning_rate": [1e-6, 0.2]})
    selection, history = selection_of(folder), read_parquet(folder / "model/history.parquet")
    chosen, refit = history.filter(phase="selection"), history.filter(phase="refit")
    assert chosen["validation"].max() == selection["value"]
    assert chosen.row(selection["epochs"] - 1, named=True)["validation"] == selection["value"]
    assert chosen["epoch"].to_list() == list(range(1, chosen.height + 1))
    assert refit["epoch"].to_list() == list(range(1, selection["epochs"] + 1))
    assert refit["validation"].null_count() == refit.height
    assert (history["seconds"] > 0).all()


def test_the_test_labels_are_not_read(folder):
    (folder / "split/test.parquet").unlink()
    assert fit(folder) == 0


def test_the_tested_model_has_learnt_the_validation_labels(folder):
    """Popularity counts what it was fitted to."""
    assert fit(folder, module="popularity", settings={}, epochs=None, metric=None) == 0
    found = splits.load(folder / "split")
    expected = np.bincount(found.first.labels.label_of_pair, minlength=24)
    expected += np.bincount(found.valid.right.label_of_pair, minlength=24)
    assert models.load(folder / "model/model.npz").label[:, 0].tolist() == expected.tolist()
    expected = {"settings": {}, "epochs": None, "value": None, "at_limit": False, "seeds": [], "spread": {}}
    assert selection_of(folder) == expected
    assert read_parquet(folder / "model/history.parquet").is_empty()


@pytest.mark.parametrize("module", ["opt_auc", "popularity"])
def test_without_a_refit_the_tested_model_has_not_learnt_the_validation_labels(folder, module):
    """It is the model of the best epoch before the last fit."""
    trained = module == "opt_auc"
    changes = {} if trained else {"settings": {}, "epochs": None, "metric": None}
    assert fit(folder, "--no-refit", module=module, **changes) == 0
    found = models.load(folder / "model/model.npz").arrays()
    with workers(1) as pool:
        problem = Problem(splits.load(folder / "split").first, 1, pool)
        method = load_method(module)
        fitter = method(problem, read_settings(method, SETTINGS if trained else {}, module))
        for _ in range(selection_of(folder)["epochs"] or 0):
            fitter.epoch()
        expected = fitter.model().arrays()
    assert all(found[key].tobytes() == expected[key].tobytes() for key in expected)


def test_new_images_are_annotated_from_features(tmp_path):
    """The whole way from a split to metrics; the groups can be told apart, so all labels of a group come first."""
    write_processed(tmp_path, features=True)
    assert split(tmp_path, "official") == 0
    changes = {"module": "ridge", "settings": {"regularisation": 0.1}, "protocol": "official"}
    assert fit(tmp_path, epochs=None, metric="map", grid={"regularisation": [0.1, 10.0]}, **changes) == 0
    files = ["--ranks", "ranks.parquet", "--lists", "lists.parquet", "--label-ranks", "label_ranks.parquet"]
    files = [option if option.startswith("--") else tmp_path / option for option in files]
    features = ["--features", tmp_path / "features.npy"]
    model = ["--split", tmp_path / "split", "--model", tmp_path / "model/model.npz", *features]
    assert run("rank", *model, *files) == 0
    ranks = read_parquet(tmp_path / "ranks.parquet")
    assert set(ranks["image"]) == {i for i in range(80) if i // 4 % 5 == 0}
    assert mean_metric(ranks, "recall@10") == 1
    assert read_parquet(tmp_path / "lists.parquet").height == 16 * 10
    assert read_parquet(tmp_path / "label_ranks.parquet")["negatives"].min() >= 12


def test_one_diverging_configuration_is_recorded_and_passed_over(folder):
    assert fit(folder, grid={"learning_rate": [1e12, 0.1]}) == 0
    selection = selection_of(folder)
    assert selection["diverged"] == 1
    assert selection["tries"][0]["value"] is None
    assert selection["settings"]["learning_rate"] == 0.1


def test_divergence_with_every_setting_leaves_no_file(folder, capsys):
    assert fit(folder, settings=SETTINGS | {"learning_rate": 1e12}) == 1
    message = capsys.readouterr().err.strip().splitlines()[-1]
    assert "my_row on sim-tiny (distinct, seed 1): training diverged with all settings tried" in message
    assert "1000000000000.0" in message
    assert message.endswith("in the method's settings (config/methods/my_row.yaml)")
    assert not (folder / "model").exists()


def test_divergence_of_the_last_fit_leaves_no_file(folder, capsys, monkeypatch):
    def diverge(fitter, epoch):
        raise training.DivergenceError("scores")

    def refit(*arguments):
        monkeypatch.setattr(training, "timed_epoch", diverge)
        return training.refit(*arguments)

    monkeypatch.setattr("vsebench.selection.refit", refit)
    assert fit(folder) == 1
    error = capsys.readouterr().err
    assert "training diverged in the final fit with" in error
    assert "(config/methods/my_row.yaml)" in error
    assert not (folder / "model").exists()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"metric": "f2"}, "there is no metric 'f2'"),
        ({"metric": "macro_f1@5"}, "macro_f1@5 cannot be computed from the ranks of an image's labels"),
        ({"metric": None}, "--metric: missing, but epochs are chosen by a metric"),
        ({"settings": SETTINGS | {"typo": 1}}, "config/methods/my_row.yaml: settings: typo: unknown key"),
        ({"module": "nonsense"}, "no module in src/vsebench/methods"),
        (
            {"module": "popularity", "settings": {}},
            "config/methods/my_row.yaml: epochs: Popularity is not trained in epochs",
        ),
        (
            {"epochs": None},
            "config/methods/my_row.yaml: epochs: this key is missing; OptAuc is trained in epochs",
        ),
        ({"epochs": {"maximum": 0, "patience": 1}}, "config/methods/my_row.yaml: epochs: maximum"),
        (
            {"module": "ridge", "settings": {"regularisation": 1.0}, "epochs": None},
            "--features: missing; this method needs the image features of the data set",
        ),
        (
            {"module": "oracle", "settings": {}, "epochs": None},
            "--truth: missing; this method needs the truth.npz of a simulated data set",
        ),
    ],
)
def test_mistakes_get_one_line(folder, capsys, changes, message):
    assert fit(folder, **changes) == 1
    lines = capsys.readouterr().err.strip().splitlines()
    assert message in lines[-1]
    assert "Traceback" not in "".join(lines)


def test_chosen_settings_are_not_searched_again(folder, capsys):
    assert fit(folder, "--chosen", folder / "run.json", grid={"learning_rate": [0.1, 0.2]}) == 1
    assert capsys.readouterr().err.splitlines() == [
        "vsebench fit: --grid: the settings of --chosen are used unchanged; leave out one of the two options"
    ]


def test_settings_on_the_command_line_must_be_json(folder):
    arguments = case(folder)
    arguments[arguments.index(json.dumps(SETTINGS))] = "{oops"
    with pytest.raises(SystemExit):
        run("fit", *arguments, "--out", folder)


def test_the_search_goes_on_beyond_the_edge_of_a_grid(folder):
    grid = {"learning_rate": [0.001, 0.002]}  # far too small, so the best one is the last
    selections = []
    for more in (0, 2):
        assert fit(folder, "--beyond", more, grid=grid) == 0
        selections.append(selection_of(folder))
    tried = [[one["settings"]["learning_rate"] for one in selection["tries"]] for selection in selections]
    assert tried == [[0.001, 0.002], [0.001, 0.002, 0.004, 0.008]]
    assert selections[1]["settings"]["learning_rate"] == 0.008
    assert selections[1]["on_edges"] == ["learning_rate"]


@pytest.mark.parametrize(("option", "n_pairs"), [((), 240), (("--no-refit",), 160)])
def test_cold_images_are_ranked_by_the_frequencies_that_the_model_learnt(folder, monkeypatch, option, n_pairs):
    """Of an image's four labels, one is tested and one validates."""
    assert fit(folder, *option) == 0
    counted = []
    monkeypatch.setattr(rank, "by_frequency", lambda labels: counted.append(labels) or models.by_frequency(labels))
    files = ["--model", folder / "model/model.npz", "--ranks", folder / "r.parquet", "--lists", folder / "l.parquet"]
    assert run("rank", "--split", folder / "split", "--cold-by-frequency", *option, *files) == 0
    assert [labels.n_pairs for labels in counted] == [n_pairs]
