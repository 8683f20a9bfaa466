"""The real archives; tests are skipped if the folder VSEBENCH_MIRROR does not contain them."""

import csv
import json
import re
import zipfile
from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tests import data_sets
from tests.methods.real import measured, split_of
from vsebench.cli import main
from vsebench.config.dataset import SiblingsConfig, WordVectorsConfig
from vsebench.core.storage import read_json, read_parquet
from vsebench.core.yaml_files import read_config
from vsebench.data import needs
from vsebench.data.features import read_features
from vsebench.formats.simulators.simulator import Options, read

# images, labels in use, distinct pairs, labels with their counts, images without a label; images of the official parts
COUNTS = {
    "iaprtc12": (19_627, 291, 112_241, 112_241, 0, {"train": 17_665, "test": 1_962}),
    "saiapr": (20_000, 255, 82_489, 99_527, 0, {None: 20_000}),
    "corel5k": (4_999, 260, 16_979, 16_979, 7, {"train": 4_500, "test": 499}),
    "corel5k-densehue": (4_999, 260, 16_979, 16_979, 7, {"train": 4_500, "test": 499}),
    "corel5k-network": (4_999, 260, 16_979, 16_979, 7, {"train": 4_500, "test": 499}),
    "espgame": (20_770, 268, 97_327, 97_327, 2, {"train": 18_689, "test": 2_081}),
    "nuswide81": (269_648, 81, 503_848, 503_848, 60_301, {"train": 161_789, "test": 107_859}),
    "corel5k374": (5_000, 374, 17_610, 17_610, 0, {"train": 4_500, "test": 500}),
    "corel16k010": (6_958, 144, 21_722, 21_722, 0, {"train": 5_197, "test": 1_761}),
    "mirflickr-tags457": (10_821, 457, 37_865, 37_865, 0, {"train": 8_631, "test": 2_190}),
    "mirflickr-tags1386": (11_834, 1_383, 53_680, 53_680, 0, {"train": 9_430, "test": 2_404}),
    "scene": (2_407, 6, 2_585, 2_585, 0, {"train": 1_211, "test": 1_196}),
    "bibtex": (7_395, 159, 17_762, 17_762, 0, {"train": 4_880, "test": 2_515}),
    "delicious": (16_105, 983, 306_317, 306_317, 14, {"train": 12_920, "test": 3_185}),
    "mirflickr38": (15_000, 38, 70_501, 70_501, 233, {"train": 12_000, "test": 3_000}),
    "voc2007": (9_963, 20, 14_319, 14_319, 0, {"train": 2_501, "valid": 2_510, "test": 4_952}),
}


def skip_without(mirror, names):
    """Skip the test if the mirror lacks one of these files."""
    for name in names:
        if not (mirror / name).is_file():
            pytest.skip(f"VSEBENCH_MIRROR has no {name}")


@pytest.fixture(scope="session")
def prepared(mirror, tmp_path_factory):
    """Download (from the mirror) and prepare a real set once; return the folder with its label matrix."""
    done = {}

    def run(name):
        if name not in done:
            config, folder = data_sets.described(name), tmp_path_factory.mktemp(name)
            # Of the two archives of MIRFLICKR's tags one is enough.
            skip_without(mirror, {file.name for file in config.files} - {"mirflickr25k.zip"})
            assert data_sets.download(config, folder / "raw") == 0
            assert data_sets.prepare(config, folder / "raw", folder / "processed") == 0
            done[name] = folder / "processed"
        return done[name]

    return run


def each(names):
    """Return the names as parameters; the quick tests leave out MIRFLICKR's tags with the larger vocabulary."""
    return [pytest.param(name, marks=pytest.mark.long) if name == "mirflickr-tags1386" else name for name in names]


@pytest.mark.parametrize("name", each(COUNTS))
def test_counts_of_the_real_sets(prepared, name):
    summary = read_json(prepared(name) / "summary.json")
    counts = summary["counts"]
    keys = ("images", "labels", "pairs", "occurrences", "images_without_label")
    *expected, parts = COUNTS[name]
    assert [counts[key] for key in keys] == expected
    assert Counter(read_parquet(prepared(name) / "images.parquet")["part"]) == parts


def test_known_annotations_of_iaprtc12(prepared):
    folder = prepared("iaprtc12")
    labels = read_parquet(folder / "labels.parquet")
    assert labels["name"].to_list()[:3] == ["adult", "airplane", "airport"]
    assert read_parquet(folder / "images.parquet")["id"].to_list()[:3] == ["00/25", "00/28", "00/32"]
    assert labels["frequency"].max() == 5534


def test_known_annotations_of_espgame(prepared):
    folder = prepared("espgame")
    labels, per_image = read_parquet(folder / "labels.parquet"), labels_per_image(folder, "train", "test")
    assert labels["name"].to_list()[:3] == ["airplane", "album", "america"]
    assert (labels["frequency"].min(), labels["frequency"].max()) == (20, 5059)
    assert read_parquet(folder / "images.parquet")["id"].to_list()[:3] == ["01/15001", "30/15030", "31/15031"]
    assert (per_image.max(), round(per_image.mean(), 2)) == (15, 4.69)


def test_a_method_of_labels_alone_beats_popularity_on_espgame(prepared, tmp_path):
    """One label of each image is held out; the mirror has no features of these images."""
    processed, split = prepared("espgame"), split_of(tmp_path, "espgame", "distinct", 1)
    protocol = ["--protocol", "distinct", "--seed", "1"]
    assert main(["stage", "split", "--processed", str(processed), *protocol, "--out", str(split)]) == 0
    settings = {"popularity": {}, "item_knn": {"neighbours": 100, "shrinkage": 10.0}}
    popularity, item_knn = (
        measured(tmp_path, "espgame", "distinct", name, values, ["recall@10"], [])[0]
        for name, values in settings.items()
    )
    assert item_knn > 1.1 * popularity > 0.2


def labels_per_image(folder, *parts):
    """Return the number of labels of each image of the parts."""
    images, pairs = read_parquet(folder / "images.parquet"), read_parquet(folder / "pairs.parquet")
    return np.bincount(pairs["image"], minlength=len(images))[images["part"].is_in(parts).to_numpy()]


def test_labels_per_image_of_nuswide81(prepared):
    folder = prepared("nuswide81")
    assert [np.count_nonzero(labels_per_image(folder, part)) for part in ("train", "test")] == [125_449, 83_898]
    labels = labels_per_image(folder, "train", "test")
    labels = labels[labels > 0]
    assert (len(labels), labels.max(), round(labels.mean(), 3)) == (209_347, 13, 2.407)
    assert (round((labels <= 4).mean(), 4), round((labels == 3).mean(), 3)) == (0.8862, 0.158)


def features_of(folder):
    images = read_parquet(folder / "images.parquet")
    return images, read_features(folder / "features.npy", images["has_features"].to_numpy())


def test_densehue_of_corel5k(prepared):
    images, features = features_of(prepared("corel5k-densehue"))
    assert (features.values.shape, features.values.dtype) == ((4999, 100), np.float32)
    assert features.known.all()
    sums = features.rows(np.arange(4999)).sum(axis=1)
    assert images["part"][int(np.flatnonzero(sums == 268)[0])] == "train"
    assert (sums == 1204).sum() == 4998


def test_network_features_of_corel5k_in_the_order_of_its_lists(prepared, mirror):
    images, features = features_of(prepared("corel5k-network"))
    given = np.load(mirror / "corel5k_mobilenetedgetpu.npy")
    assert images["id"].to_list() == (mirror / "corel5k_mobilenetedgetpu.ids.txt").read_text().split()
    assert features.values.dtype == np.float16
    assert features.known.all()
    assert np.array_equal(features.values, given)


def test_blobs_of_corel5k374(prepared):
    folder = prepared("corel5k374")
    images, pairs = read_parquet(folder / "images.parquet"), read_parquet(folder / "pairs.parquet")
    features = read_features(folder / "features.npz", images["has_features"].to_numpy())
    assert features.values.shape == (5_000, 499)
    assert set(features.values.data) == {1}
    sizes = np.diff(features.values.indptr)
    assert (round(sizes.mean(), 2), sizes.min(), sizes.max()) == (8.27, 1, 11)
    per_image = np.bincount(pairs["image"])
    assert (round(per_image.mean(), 2), per_image.min(), per_image.max()) == (3.52, 1, 5)
    test = pairs.filter(images["part"].gather(pairs["image"]) == "test")["label"]
    training = pairs.filter(images["part"].gather(pairs["image"]) == "train")["label"]
    assert (len(test), test.n_unique(), np.bincount(test).max()) == (1_763, 263, 116)
    assert test.filter(~test.is_in(training.implode())).len() == 3


@pytest.mark.parametrize(("name", "terms"), [("bibtex", (7_395, 1_836)), ("delicious", (16_105, 500))])
def test_terms_of_pages_and_bookmarks(prepared, name, terms):
    folder = prepared(name)
    images = read_parquet(folder / "images.parquet")
    features = read_features(folder / "features.npz", images["has_features"].to_numpy())
    assert features.values.shape == terms
    assert set(features.values.data) == {1}


def test_a_label_of_delicious_whose_name_has_an_escaped_quote(prepared):
    """Both tags are in Mulan's files; grep counts their rows by the number of the attribute."""
    labels = read_parquet(prepared("delicious") / "labels.parquet").filter(pl.col("name").str.ends_with("usica"))
    assert dict(labels.select("name", "frequency").iter_rows()) == {"TAG_musica": 152, "TAG_m'usica": 43}


@pytest.mark.parametrize("name", each(["mirflickr-tags457", "mirflickr-tags1386", "mirflickr38"]))
def test_network_features_of_mirflickr(prepared, mirror, name):
    images, features = features_of(prepared(name))
    given = np.load(mirror / "mirflickr25k_mobilenetedgetpu.npy", mmap_mode="r")
    assert features.values.dtype == np.float16
    assert features.known.all()
    assert np.array_equal(features.values, given[[int(image[2:]) - 1 for image in images["id"]]])


@pytest.mark.parametrize("name", each(["mirflickr-tags457", "mirflickr-tags1386"]))
def test_labels_on_no_image_of_the_partition_stay(prepared, name):
    assert read_parquet(prepared(name) / "labels.parquet").height == int(name.removeprefix("mirflickr-tags"))


def test_labels_do_not_depend_on_the_features(prepared):
    folders = [prepared(name) for name in ("corel5k", "corel5k-densehue", "corel5k-network")]
    for name in ("pairs.parquet", "labels.parquet"):
        assert len({(folder / name).read_bytes() for folder in folders}) == 1


SHARES = np.array([0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9])


def label_profile(frequencies):
    """Return the frequency of labels at `SHARES` of the vocabulary, sorted by frequency; 1 is the average label."""
    ordered = np.sort(frequencies)[::-1]
    return ordered[(SHARES * len(ordered)).astype(int)] / ordered.mean()


def image_profile(lengths):
    """Return percentiles of the number of labels per image; 1 is the average image."""
    return np.percentile(lengths, [25, 50, 75, 90, 95, 99]) / np.mean(lengths)


def simulated(name, **changes):
    config = data_sets.described(name)
    annotations = read(Path(), Options(**{**config.options, **changes}))
    pairs = annotations.pairs
    frequencies = np.bincount(pairs["label"], minlength=len(annotations.labels))
    return frequencies, np.bincount(pairs["image"], weights=pairs["count"], minlength=len(annotations.images)), pairs


def compare(real, name, **changes):
    """Check that each quantile is within a factor of 1.35 (or 0.06 of the average), and half of them within 12 %."""
    frequencies, lengths, pairs = simulated(name, **changes)
    for wanted, found in (
        (label_profile(real[0]), label_profile(frequencies)),
        (image_profile(real[1]), image_profile(lengths)),
    ):
        factor = np.maximum(found, 1e-9) / np.maximum(wanted, 1e-9)
        far = (np.abs(np.log(factor)) > np.log(1.35)) & (np.abs(found - wanted) > 0.06)
        assert not far.any(), f"real {wanted.round(3)}, simulated {found.round(3)}"
        assert np.median(np.abs(np.log(factor))) < 0.12
    return pairs


def test_sim_iapr_is_like_saiapr(prepared):
    pairs = read_parquet(prepared("saiapr") / "pairs.parquet")
    # 20 of the 275 words of the official vocabulary are on no image.
    frequencies = np.zeros(275)
    counted = np.bincount(pairs["label"])
    frequencies[: len(counted)] = counted
    lengths = np.bincount(pairs["image"], weights=pairs["count"])
    drawn = compare((frequencies, lengths), "sim-iapr")
    assert len(drawn) == pytest.approx(len(pairs), rel=0.01)


@pytest.mark.parametrize(
    ("name", "vocabulary"), [("sim-flickr", 600), pytest.param("sim-nuswide", 5018, marks=pytest.mark.long)]
)
def test_simulated_tags_are_like_real_tags(mirror, name, vocabulary):
    skip_without(mirror, ["mirflickr25k_tags.zip"])
    with zipfile.ZipFile(mirror / "mirflickr25k_tags.zip") as archive:
        files = [archive.read(member).decode().splitlines() for member in archive.namelist()]
    tags = [{re.sub(r"\W", "", tag.lower()) for tag in file} - {""} for file in files]
    frequent = dict(Counter(tag for image in tags for tag in image).most_common(vocabulary))
    lengths = [sum(tag in frequent for tag in image) for image in tags]
    real = np.array(list(frequent.values())), np.array([length for length in lengths if length])
    compare(real, name)


def test_sim_openimages_is_like_open_images(mirror):
    path = mirror.parent / "openimages" / "inclusive_images_stage_1_solutions.csv"
    if not path.is_file():
        pytest.skip(f"beside VSEBENCH_MIRROR there is no openimages/{path.name}")
    with path.open() as lines:
        labels = [row[1].split() for row in csv.reader(lines)]
    frequencies = np.array(list(Counter(label for image in labels for label in image).values()))
    # The part has 2.6 labels per image, so its lengths are too coarse to compare. A tenth of the images is enough.
    found = label_profile(simulated("sim-openimages", images=138_883, occurrences=1_144_084)[0])
    wanted = label_profile(frequencies)
    assert np.all(np.abs(found - wanted) < np.maximum(0.25 * wanted, 0.06)), (wanted.round(3), found.round(3))


# Labels with a parent, and with a sibling.
SIBLINGS = {"corel5k": (255, 91), "corel5k374": (366, 135), "saiapr": (254, 249), "mirflickr-tags1386": (934, 539)}


@pytest.mark.parametrize("name", each(SIBLINGS))
def test_siblings_of_the_real_sets(prepared, mirror, name, tmp_path):
    source = data_sets.described(name).siblings
    config = read_config(SiblingsConfig, data_sets.CONFIGS.parent / "siblings" / f"{source}.yaml")
    skip_without(mirror, [file.name for file in config.files])
    assert main(data_sets.arguments("download", config.definition("options"), tmp_path / "raw", name=source)) == 0
    arguments = ["stage", "siblings", "--name", source, "--definition", json.dumps(config.definition("files"))]
    arguments += ["--raw", str(tmp_path / "raw"), "--labels", str(prepared(name) / "labels.parquet")]
    assert main([*arguments, "--out", str(tmp_path / "s.parquet"), "--summary", str(tmp_path / "s.json")]) == 0
    summary = read_json(tmp_path / "s.json")
    assert (summary["labels_with_parent"], summary["labels_with_sibling"]) == SIBLINGS[name]


# Numbers of labels found whole, by all parts, by some parts, by the singular, and not at all, without aliases. They
# were counted by another program, except for `colores` and `us` of MIRFLICKR, which only look like plurals, and for
# `couple-of-persons`, `group-of-persons`, `herd-of-mammals` and `school-of-fishes` of SAIAPR.
WORDS = {
    "corel5k374": (336, 0, 1, 9, 28),
    "corel5k": (242, 0, 1, 6, 11),
    "iaprtc12": (289, 1, 0, 0, 1),
    "saiapr": (183, 37, 10, 6, 19),
    "nuswide81": (81, 0, 0, 0, 0),
    "mirflickr-tags457": (330, 0, 0, 0, 127),
    "mirflickr-tags1386": (801, 0, 0, 8, 577),
}


@pytest.mark.parametrize("name", each(WORDS))
def test_word_vectors_of_the_real_labels(prepared, mirror, name, tmp_path):
    config = read_config(WordVectorsConfig, data_sets.CONFIGS.parent / "word_vectors" / "glove-6b-subset.yaml")
    skip_without(mirror, [file.name for file in config.files])
    arguments = data_sets.arguments("download", config.download_definition(), tmp_path / "raw", name="glove-6b-subset")
    assert main(arguments) == 0
    labels = prepared(name) / "labels.parquet"
    definition = {key: value for key, value in config.definition().items() if key != "aliases"}
    arguments = [
        "stage",
        "word_vectors",
        "--dataset",
        name,
        "--name",
        "glove-6b-subset",
        "--definition",
        json.dumps(definition),
    ]
    arguments += ["--raw", str(tmp_path / "raw"), "--labels", str(labels), "--out", str(tmp_path / "w.npz")]
    assert main([*arguments, "--rules", str(tmp_path / "w.parquet"), "--summary", str(tmp_path / "w.json")]) == 0
    summary = read_json(tmp_path / "w.json")
    counts = summary["rules"]
    assert tuple(counts[key] for key in ("whole", "parts", "some parts", "singular", "missing")) == WORDS[name]
    words = needs.WORD_VECTORS.load(tmp_path / "w.npz")
    assert words.vectors.shape == (summary["labels"], 300)
    assert words.known.sum() == summary["labels"] - WORDS[name][-1]
