"""Several sets of features per data set: what is read from a configuration, which method sees which, and mistakes."""

import json
import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.plan.runs import CONFIG, ONE, change_method, default, own_table
from vsebench.config.dataset import DatasetDefinition, FeaturesFile
from vsebench.core.errors import UserError
from vsebench.core.tasks import Task
from vsebench.core.yaml_files import check
from vsebench.plan import read_plan
from vsebench.plan.checks import left_out_lines
from vsebench.plan.jobs import Wildcards, job
from vsebench.plan.jobs.data import download_definition, prepared, processed_files
from vsebench.plan.settings import settings_of

BOTH = Task("corel5k-both", "official")
FOLDER = "data/processed/corel5k-both"
METHODS = ["popularity", "ridge", "ridge_hue", "ridge_network", "vote_by_cosine"]
FILES = {"hue": f"{FOLDER}/features-hue.npy", "network": f"{FOLDER}/features-network.npy"}
NETWORK = {"model": "net.onnx", "images": "photos", "output": "fc7", "transform": "torchvision"}
NAMES = st.from_regex("[A-Za-z][A-Za-z0-9_]{0,8}", fullmatch=True) | st.sampled_from(["file", "network", "ids"])
SOURCES = st.sampled_from(
    [{"file": "a.npy"}, {"file": "a.npz", "ids": "a.txt"}, {"network": NETWORK}, {"adapter": "x"}]
)


@given(st.dictionaries(NAMES, SOURCES, min_size=1))
def test_a_mapping_of_names_to_sources_is_several_sets_whatever_their_names(features):
    definition = check(DatasetDefinition, {"adapter": "table", "features": features}, "here")
    assert list(definition.sets) == list(features)
    written = json.loads(json.dumps(definition.model_dump(exclude_defaults=True)))
    assert check(DatasetDefinition, written, "here") == definition


@given(SOURCES)
def test_a_source_alone_is_one_set_without_a_name(source):
    definition = check(DatasetDefinition, {"adapter": "table", "features": source}, "here")
    assert definition.sets == {"": check(FeaturesFile, source, "here")}
    assert definition.features == definition.sets[""]


def planned(folder=CONFIG, methods=METHODS, entry=None, **changes):
    datasets = {"corel5k-both": {"protocols": ["official"]} | (entry or {})} | changes.pop("datasets", {})
    rest = {"decisions": {}, "sweeps": {}, "papers": [], "metrics": ["map"]} | changes
    return read_plan(folder, default(datasets=datasets, methods=methods, **rest), [])


def options(plan, rule, variant="", **wildcards):
    at = Wildcards(dataset=BOTH.dataset, protocol=BOTH.protocol, seed="1", variant=variant, **wildcards)
    found = job(plan, rule, at)
    words = shlex.split(found.options)
    return found, {word: words[number + 1 :] for number, word in enumerate(words) if word.startswith("--")}


def features_of(plan, rule, variant):
    """Return the files that an option --features of a job names."""
    found, named = options(plan, rule, variant)
    files = [word for word in named["--features"] if word.startswith(FOLDER)]
    assert set(files) < set(found.inputs["needs" if "needs" in found.inputs else "features"])
    return files


@pytest.mark.parametrize("rule", ["fit", "rank"])
def test_a_method_sees_the_sets_that_its_file_names_or_else_all(rule):
    plan = planned()
    assert features_of(plan, rule, "ridge") == [*FILES.values()]
    assert features_of(plan, rule, "ridge_hue") == [FILES["hue"]]
    assert features_of(plan, rule, "ridge_network") == [FILES["network"]]
    assert processed_files(plan, "corel5k-both")[-2:] == ["features-hue.npy", "features-network.npy"]


def test_a_run_names_the_sets_for_methods_whose_files_name_none():
    plan = planned(entry={"features": "hue"})
    assert features_of(plan, "fit", "vote_by_cosine") == [FILES["hue"]]
    assert features_of(plan, "fit", "ridge_network") == [FILES["network"]]
    assert features_of(planned(entry={"features": ["network", "hue"]}), "fit", "ridge") == [*FILES.values()]


def test_every_set_has_its_own_normalisation_unless_the_method_has_one(folder):
    change_method(folder, "ridge", settings={"regularisation": 1.0, "normalise": {"network": ["l2"]}})
    plan = planned(folder)
    assert settings_of(plan, "ridge", "corel5k-both")["normalise"] == {"hue": ["root", "standard"], "network": ["l2"]}
    assert settings_of(plan, "ridge_hue", "corel5k-both")["normalise"] == {"hue": ["root", "standard"]}
    assert settings_of(plan, "vote_by_cosine", "corel5k-both")["normalise"] == {"hue": ["l2"], "network": ["l2"]}


def test_the_timing_reads_all_sets_and_is_told_which_method_sees_which():
    plan = planned()
    _, named = options(plan, "time_methods")
    assert [file for file in named["--features"] if file.startswith(FOLDER)] == [*FILES.values()]
    assert json.loads(named["--feature-sets"][0]) == {"ridge_hue": ["hue"], "ridge_network": ["network"]}
    _, named = options(planned(methods=["ridge_hue", "popularity"]), "time_methods")
    assert "--feature-sets" not in named


def test_a_method_is_left_out_where_the_data_set_lacks_its_features():
    plan = planned(datasets={"corel5k-densehue": {"protocols": ["official"]}, "sim-iapr": ONE})
    lines = left_out_lines(plan)
    reason = "the data set has no image features called"
    assert f"Left out of corel5k-densehue/official: ridge_hue: {reason} hue." in lines
    assert f"Left out of corel5k-densehue/official: ridge_network: {reason} network." in lines
    assert any("sim-iapr" in line and line.endswith("the data set has no image features.") for line in lines)


def test_data_sets_are_joined_with_the_sets_that_both_have(folder):
    text = (folder / "datasets" / "corel5k-both.yaml").read_text(encoding="utf-8")
    other = text.replace("  hue: {adapter: DenseHue}\n", "").replace("  hue: [root, standard]\n", "")
    (folder / "datasets" / "other.yaml").write_text(other, encoding="utf-8")
    words = {"word_vectors": "glove-6b"}
    datasets = {"other": {"protocols": ["official"]} | words, "corel5k-densehue": {"protocols": ["official"]} | words}
    entry = {"protocols": ["from-other", "from-corel5k-densehue"]} | words
    plan = planned(folder, datasets=datasets, entry=entry)
    joined = Task("corel5k-both", "from-other")
    found = job(plan, "join", Wildcards(dataset=joined.dataset, protocol=joined.protocol))
    assert found.inputs["features"] == [FILES["network"], "data/processed/other/features-network.npy"]
    assert plan.variants(joined) == ["popularity", "ridge", "ridge_network", "vote_by_cosine"]
    assert plan.obstacles(joined) == {"ridge_hue": "the data set has no image features called hue"}
    nothing = plan.obstacles(Task("corel5k-both", "from-corel5k-densehue"))
    assert set(nothing.values()) == {"the two data sets have no features with the same name"}


def test_networks_make_the_features_of_their_sets(tmp_path, monkeypatch):
    from vsebench.plan import checks

    monkeypatch.setattr(checks, "find_spec", lambda name: name)
    for name in ("net.onnx", "hue.npy", "photos"):
        (tmp_path / name).write_bytes(b"")
    network = NETWORK | {"model": str(tmp_path / "net.onnx"), "images": str(tmp_path / "photos")}
    hue = {"file": str(tmp_path / "hue.npy")}
    plan = planned(datasets=own_table(tmp_path, features={"hue": hue, "network": {"network": network}}))
    made = {"file": "data/features/mine/network/features.npy", "ids": "data/features/mine/network/ids.txt"}
    assert prepared(plan, "mine").definition()["features"] == {"hue": hue, "network": made}
    assert download_definition(plan, "mine")["features"] == {"hue": hue}
    assert plan.datasets["mine"].own_files["features.hue.file"] == hue["file"]
    found = job(plan, "network_features", Wildcards(dataset="mine", name="network"))
    assert found.inputs["images"] == [network["model"], network["images"]]


MISTAKES = {
    "a run names a set that is not there": (
        {"entry": {"features": "gist"}},
        "datasets.corel5k-both.features: there are no features named gist; the names are hue, network",
    ),
    "a run names a set of one that has no name": (
        {"datasets": {"corel5k-densehue": {"protocols": ["official"], "features": "hue"}}},
        "datasets.corel5k-densehue.features: there are no features named hue; the data set's features have no names",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_in_the_run_is_one_line(mistake):
    changes, message = MISTAKES[mistake]
    with pytest.raises(UserError) as error:
        planned(**changes)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "  prefix: corel5k",
            "  prefix: corel5k\n  features: DenseHue",
            "name it under `features` as well, as in `hue:",
        ),
        (
            "  hue: [root, standard]",
            "  gist: [l2]",
            "normalise: there are no features named gist; the names are hue, network",
        ),
        ("adapter: DenseHue", "adapter: a b", "features.hue.adapter: features: String should match pattern"),
        ("adapter: lear", "adapter: saiapr", "options: prefix: unknown key"),
        (
            "corel5k_mobilenetedgetpu.npy, ids",
            "x.mat, ids",
            "file: the name must end in .npy, .npz, .parquet or .csv, not 'x",
        ),
        ("corel5k_mobilenetedgetpu.npy, ids", "x.npz, ids", "'standard' would make sparse features dense"),
    ],
)
def test_a_mistake_in_the_data_set_is_one_line(old, new, message, folder):
    path = folder / "datasets" / "corel5k-both.yaml"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(UserError) as error:
        planned(folder)
    assert message in str(error.value)
    assert "corel5k-both" in str(error.value)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"features": {"hue": "hue.npy"}}, "features.hue: should be a mapping, such as `file: features.npy`"),
        ({"features": "hue.npy"}, "features: should be a mapping, such as `file: features.npy`"),
        (
            {"features": {"hue": {"file": "x.npy", "normalise": ["l2"]}}},
            "should be a mapping without `normalise`, which belongs next to `features` and can map",
        ),
        ({"vocabulary": {"top_labels": 5}}, "vocabulary: this key belongs next to `data`, under datasets.mine"),
    ],
)
def test_what_a_user_writes_first_is_answered_with_what_to_write(data, message, tmp_path):
    with pytest.raises(UserError) as error:
        planned(datasets=own_table(tmp_path, **data))
    assert message in str(error.value)


def test_dense_and_sparse_features_are_not_seen_side_by_side(tmp_path):
    for name in ("a.npy", "b.npz"):
        (tmp_path / name).write_bytes(b"")
    files = {name[0]: {"file": str(tmp_path / name)} for name in ("a.npy", "b.npz")}
    mine = own_table(tmp_path, features=files)
    with pytest.raises(UserError, match=r"uses dense and sparse features together \(features-a.npy and features-b"):
        planned(methods=["ridge"], datasets=mine)
    mine["mine"]["features"] = "a"
    planned(methods=["ridge"], datasets=mine)


def test_only_methods_on_features_name_sets_and_the_members_of_an_ensemble_see_the_same(folder):
    change_method(folder, "popularity", features="hue")
    with pytest.raises(
        UserError, match=r"popularity.yaml: features: Popularity reads no image features; remove this key"
    ):
        planned(folder)
    change_method(folder, "popularity", features=None)
    change_method(folder, "wsabie_100", features="hue")
    with pytest.raises(
        UserError, match="its member wsabie_100 use different sets of features; name the same sets for both"
    ):
        planned(folder, ["wsabie_100", "wsabie_200", "wsabie_100_200"])
