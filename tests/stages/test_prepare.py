import numpy as np
import polars as pl
import pytest

from tests import data_sets
from tests.fuzz.targets import LEAR, pack_lear
from vsebench.config.dataset import DatasetConfig
from vsebench.core import schemas
from vsebench.core.storage import read_arrays, read_json, read_parquet
from vsebench.core.yaml_files import read_config, read_yaml
from vsebench.data import problem
from vsebench.data.features import read_features
from vsebench.formats.adapters import knows, load_adapter
from vsebench.plan import read_plan
from vsebench.plan.jobs.data import processed_files

SIMULATED = {
    "images": 60,
    "labels": 20,
    "occurrences": 200,
    "topics": 3,
    "concentration": 0.3,
    "spread": 1.0,
    "popularity": {"exponent": 0.8, "shift": 0.01},
    "labels_per_image": {"sigma": 0.5, "maximum": 9},
}
LABELS_ALONE = ["images.parquet", "labels.parquet", "pairs.parquet", "summary.json"]


def simulated(**options):
    return {"adapter": "simulator", "options": SIMULATED | options}


@pytest.fixture
def prepare(tmp_path, capsys):
    """Run the stage; return exit status, standard error and the folder it writes into."""

    def run(definition, out="out"):
        status = data_sets.prepare(definition, tmp_path, tmp_path / out)
        return status, capsys.readouterr().err, tmp_path / out

    return run


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_the_tables_fit_together(prepare):
    status, err, out = prepare(simulated())
    assert (status, err) == (0, "")
    pairs, images, labels = (read_parquet(out / f"{name}.parquet") for name in ("pairs", "images", "labels"))
    assert (pairs.schema, images.schema, labels.schema) == (schemas.PAIRS, schemas.IMAGES, schemas.LABELS)
    assert pairs.equals(pairs.sort("image", "label"))
    assert images["image"].to_list() == list(range(60))
    assert images["part"].to_list() == [None] * 60
    assert images["has_features"].to_list() == [False] * 60
    assert labels["frequency"].to_list() == np.bincount(pairs["label"], minlength=20).tolist()
    assert labels["occurrences"].sum() == 200
    truth = read_arrays(out / "truth.npz")
    assert truth["image"].shape == (60, 3)
    assert truth["label"].shape == (20, 3)


def test_the_summary_counts(prepare):
    out = prepare({**simulated(), "expected": {"images": 60, "occurrences": 200}})[2]
    summary = read_json(out / "summary.json")
    assert summary["name"] == "tiny"
    assert summary["simulated"] is True
    assert summary["options"]["scale"] == 1.0
    assert summary["counts"]["images"] == 60
    assert summary["counts"]["vocabulary"] == 20
    assert summary["counts"]["labels_per_image"]["mean"] == pytest.approx(200 / 60)
    assert summary["dropped"] == []
    assert summary["features"] is None


@pytest.mark.parametrize("features", [None, {"dimensions": 5, "noise": 0.1}])
def test_the_same_input_gives_the_same_bytes(prepare, features):
    definition = simulated(features=features)
    first, again = prepare(definition)[2], prepare(definition, out="again")[2]
    assert names(first) == names(again)
    assert all((first / name).read_bytes() == (again / name).read_bytes() for name in names(first))


def test_counts_other_than_those_in_the_file_are_refused(prepare):
    expected = {"images": 60, "occurrences": 200}
    status, err, out = prepare({**simulated(), "expected": expected})
    assert (status, err) == (0, "")
    assert read_json(out / "summary.json")["expected"] == expected
    status, err, out = prepare({**simulated(), "expected": {"images": 61, "occurrences": 200}}, out="refused")
    assert status == 1
    assert "tiny: expected.images: the data set's file states 61, but there are 60; " in err
    assert not out.exists()


DEFINITION = {"adapter": "lear", "options": {"prefix": "t"}}


def test_labels_and_images_without_a_pair_stay(prepare, tmp_path):
    pack_lear(tmp_path, LEAR)
    status, _, out = prepare(DEFINITION)
    assert status == 0
    assert read_parquet(out / "labels.parquet")["frequency"].to_list() == [2, 2, 2]
    assert read_parquet(out / "images.parquet")["part"].to_list() == ["train", "train", "test", "test"]
    counts = read_json(out / "summary.json")["counts"]
    assert (counts["images"], counts["images_without_label"], counts["vocabulary"]) == (4, 1, 3)
    assert names(out) == LABELS_ALONE


def test_the_feature_of_an_archive_is_written_beside_the_labels(prepare, tmp_path):
    rows = np.array([[2, 5, 6], [2, 7, 8], [2, 9, 0], [2, 3, 1]], dtype="<u2")
    pack_lear(tmp_path, LEAR | {"t_train_Hue.hvecs": rows[:2].tobytes(), "t_test_Hue.hvecs": rows[2:].tobytes()})
    definition = {**DEFINITION, "options": {"prefix": "t", "features": "Hue"}}
    status, _, out = prepare(definition)
    assert status == 0
    assert names(out) == sorted([*LABELS_ALONE, "features.npy"])
    assert np.load(out / "features.npy").tolist() == rows[:, 1:].tolist()
    assert read_parquet(out / "images.parquet")["has_features"].all()
    assert read_json(out / "summary.json")["features"] == {
        "kind": "dense",
        "dimensions": 2,
        "dtype": "float32",
        "images_without": 0,
    }


def test_a_features_file_follows_the_filters_of_the_images(prepare, tmp_path):
    pack_lear(tmp_path, LEAR)
    ids = ["02/2", "other", "01/1", "02/1"]
    pl.DataFrame({"image": ids, "f": [[1.5], [2.5], [3.5], [4.5]]}).write_parquet(tmp_path / "f.parquet")
    definition = {**DEFINITION, "features": {"file": "f.parquet"}}
    status, err, out = prepare(definition)
    assert status == 0
    assert "tiny: dropped 1 rows of features: their images are not in the data set\n" in err
    assert "tiny: number of images without features: 1\n" in err
    assert np.load(out / "features.npy").tolist() == [[3.5], [0.0], [4.5], [1.5]]
    assert read_parquet(out / "images.parquet")["has_features"].to_list() == [True, False, True, True]
    assert prepare({**definition, "vocabulary": {"min_labels_per_image": 2}}, out="few")[0] == 0
    images = read_parquet(tmp_path / "few" / "images.parquet")
    assert images.rows() == [(0, "01/1", "train", True), (1, "02/2", "test", True)]
    features = read_features(tmp_path / "few" / "features.npy", images["has_features"].to_numpy())
    assert features.values.tolist() == [[3.5], [1.5]]


MISTAKES = {
    "unknown option": (simulated(sclae=0.1), "tiny: options: sclae: unknown key"),
    "wrong type": (simulated(scale="small"), "tiny: options: scale: Input should be a valid number"),
    "unknown filter": ({**simulated(), "vocabulary": {"top": 3}}, "tiny: --definition: vocabulary.top: unknown key"),
    "unknown adapter": ({"adapter": "nothing"}, "tiny: adapter: there is no adapter named 'nothing'"),
    "option inside": (simulated(popularity={"slope": 1}), "tiny: options: popularity.exponent"),
    "nothing stays": (
        {**simulated(), "vocabulary": {"min_labels_per_image": 15}},
        "tiny: vocabulary: no image keeps a label with these filters; relax them",
    ),
    "no file": ({**simulated(), "features": {"file": "no.npy"}}, "no.npy: no such file"),
    "another kind of file": ({**simulated(), "features": {"file": "f.mat"}}, "--definition: features.file: "),
    "ids beside a table": (
        {**simulated(), "features": {"file": "f.parquet", "ids": "i.txt"}},
        "features: should have `image` (a column) instead of `ids`",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_one_line_that_names_the_key(prepare, mistake):
    definition, message = MISTAKES[mistake]
    status, err, out = prepare(definition)
    assert status == 1
    assert message in err
    assert err.count("\n") == 1
    assert not out.exists()


CONFIGS = sorted(data_sets.CONFIGS.glob("*.yaml"))


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_every_data_set_of_the_configuration_is_valid(path):
    config = read_config(DatasetConfig, path)
    adapter = load_adapter(config.adapter, str(path))
    options = adapter.Options(**config.options)
    names = [file.name for file in config.files]
    assert len(set(names)) == len(names)
    assert all(source.endswith(file.name) for file in config.files for source in file.sources)
    if config.adapter == "lear":
        assert names[0] == f"{options.prefix}.{options.release}.tar.bz2"
    if config.adapter == "openimages":
        assert names == [options.archive, options.class_names.archive]
    simulated = bool(knows(config.adapter))
    assert simulated == ("simulated" in config.title)
    in_place = config.adapter == "table"  # of the files in data/included
    assert simulated == (not config.files and not hasattr(adapter, "fetch") and not in_place)


@pytest.mark.parametrize(
    "name", ["sim-iapr", "sim-features", "sim-tree", "sim-independent", "sim-catalogue", "sim-tags-rho05"]
)
def test_the_written_files_are_those_that_the_workflow_expects(prepare, name):
    run = {"datasets": {name: {"protocols": ["distinct"], "options": {"scale": 0.02}}}, "papers": []}
    default = read_yaml(data_sets.CONFIGS.parent / "config.yaml")
    plan = read_plan(data_sets.CONFIGS.parent, default | run, [])
    assert plan.datasets[name].expected.model_dump(exclude_none=True) == {}
    out = prepare(plan.datasets[name])[2]
    assert names(out) == sorted(processed_files(plan, name))


def test_a_run_replaces_single_options_and_filters():
    config = data_sets.described("openimages-ens")
    replaced = config.replaced({"min_confidence": 1.0}, {"top_labels": 7})
    assert replaced.options == {**config.options, "min_confidence": 1.0}
    assert replaced.vocabulary == config.vocabulary.model_copy(update={"top_labels": 7})
    assert config.replaced({}, {}) == config


def test_a_simulated_set_of_another_size_has_no_expected_counts():
    config = data_sets.described("sim-tree")
    assert config.expected.images == 28000
    assert config.replaced({"images": 5600}, {}).expected.images is None
    assert config.replaced({"confusion": 0.2}, {}).expected.images == 28000


def test_a_wrong_file_says_how_to_fetch_it_again(tmp_path, capsys):
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / "vg500_test.json").write_text("{")
    definition = {"adapter": "visual_genome", "options": data_sets.described("visual-genome").options}
    assert data_sets.prepare(definition, tmp_path / "raw", tmp_path / "out") == 1
    error = capsys.readouterr().err
    assert error.endswith(f"; to fetch the files again, delete the folder {tmp_path / 'raw'} and repeat the command\n")
    assert len(error.splitlines()) == 1


def test_a_set_that_is_too_large_is_refused_before_it_is_written(prepare, monkeypatch):
    """200 occurrences, and 16 places for each of 20 labels and the end."""
    monkeypatch.setattr(problem, "LARGEST_PLACE", 535)
    status, message, folder = prepare(simulated())
    assert status == 1
    assert "too large: 60 images, 20 labels and 200 occurrences of labels need 536 places" in message
    assert len(message.splitlines()) == 1
    assert not (folder / "pairs.parquet").exists()
