"""Images from a word: rankings of images for each label, by score and by cosine."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import average_precision_score

from tests.builders import Given, held_out_of
from tests.rendering.conftest import changed, outline_of
from tests.stages.analysed import CASE, analysed, write
from vsebench.core.workers import workers
from vsebench.data.features import Features, Normalisation
from vsebench.evaluation.analyses.base import AnalysedCase, AnalysedDataset
from vsebench.evaluation.analyses.images_from_words import cosines, retrieve
from vsebench.evaluation.measuring import Ranked, measure
from vsebench.evaluation.ranking import list_tops, rank, rank_images
from vsebench.methods.by_features.linear_map import LinearMap
from vsebench.models import Embeddings
from vsebench.rendering.tables.retrieval import ImagesFromWords, RetrievedImages

ALL = np.ones(8, dtype=bool)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(3)
    right = rng.random((60, 8)) < 0.25
    right[:, 5] = False
    return rng.normal(size=(60, 8)).astype(np.float32), right


def test_average_precision_agrees_with_scikit_learn_and_labels_without_an_image_are_left_out(data):
    scores, right = data
    found = retrieve(scores, right, ALL)
    assert found["label"].to_list() == [0, 1, 2, 3, 4, 6, 7]
    assert found["images"].to_list() == right.sum(axis=0)[found["label"]].tolist()
    expected = [average_precision_score(right[:, label], scores[:, label]) for label in found["label"]]
    assert found["average_precision"].to_list() == pytest.approx(expected)


def test_only_candidates_are_searched_for(data):
    assert retrieve(*data, np.arange(8) == 3)["label"].to_list() == [3]


def test_images_with_the_same_score_stand_with_wrong_ones_first():
    scores = np.array([[1], [2], [1], [1], [0]], dtype=np.float32)
    found = retrieve(scores, np.array([[True], [True], [False], [False], [True]]), ALL[:1]).row(0, named=True)
    assert found["first"] == [1, 2, 3, 0, 4]
    assert found["hits"] == [True, False, False, True, True]
    assert found["average_precision"] == pytest.approx((1 + 2 / 4 + 3 / 5) / 3)
    assert found["r_precision"] == pytest.approx(1 / 3)


@pytest.mark.parametrize("ties", [False, True])
def test_the_metrics_of_labels_are_its_means_by_score(data, ties):
    scores, right = data
    scores = np.round(scores) if ties else scores
    held_out = held_out_of([np.flatnonzero(row).tolist() for row in right], 8)
    with workers(1) as pool:
        arguments = (Given(scores), held_out, None, pool)
        ranked = Ranked(rank(*arguments, "test"), list_tops(*arguments), rank_images(*arguments))
    (measured,) = measure([ranked], ["label_map"], 8, 10)
    found = retrieve(scores, right, ALL)
    assert measured.values.tolist() == pytest.approx([found["average_precision"].mean()])


def case_of(model, held_out, features=None):
    dataset = AnalysedDataset(Path(), features_files={}, has_siblings=False)
    case = AnalysedCase(CASE, "", Path(), dataset)
    vars(dataset)["features"] = lambda case: features
    vars(case).update(checked_model=model, test=held_out)
    return case


def test_a_cosine_does_not_see_lengths():
    images = np.array([[3, 0], [0, 2], [1, 1], [0, 0]], dtype=np.float32)
    labels = np.array([[5, 0], [0.1, 0.1], [0, 0]], dtype=np.float32)
    held_out = held_out_of([[0], [], [1], []], 3)
    case = case_of(Embeddings(images, labels), held_out)
    found = cosines(*case.vectors)
    half = np.sqrt(0.5)
    np.testing.assert_allclose(found, [[1, half, 0], [0, half, 0], [half, 1, 0], [0, 0, 0]], atol=1e-6)
    np.testing.assert_allclose(case.scores, images @ labels.T)


def test_a_bias_is_no_part_of_a_cosine():
    features = Features(np.array([[2, 0], [1, 1]], dtype=np.float32), np.ones(2, dtype=bool))
    label = np.array([[1, 0, 7], [0, 4, -3]], dtype=np.float32)
    model = LinearMap(label, Normalisation.fit((), features, np.arange(2, dtype=np.int32)))
    found = cosines(*case_of(model, held_out_of([[0], [1]], 2), features).vectors)
    np.testing.assert_allclose(found, [[1, 0], [np.sqrt(0.5), np.sqrt(0.5)]], atol=1e-6)


def test_a_model_without_vectors_has_no_vectors(data):
    assert case_of(Given(data[0]), held_out_of([[0]] * 60, 8)).vectors is None


def test_images_have_their_ids_and_stand_in_the_order_of_score_or_cosine(tmp_path):
    write(tmp_path)
    found = analysed(tmp_path, "images_from_words")
    assert found.select("by", "label", "images").rows() == [
        ("score", "a", 2), ("score", "b", 1), ("cosine", "a", 2), ("cosine", "b", 1),
    ]  # fmt: skip
    first = found["first"].to_list()
    assert first == [["y", "x", "z"], ["y", "z", "x"], ["x", "y", "z"], ["z", "y", "x"]]
    assert found["hits"].to_list()[1:] == [[True, False, False], [True, True, False], [False, True, False]]
    assert found["average_precision"].to_list() == pytest.approx([1, 1, 1, 1 / 2])
    assert found["r_precision"].to_list() == pytest.approx([1, 1, 1, 0])


@pytest.fixture
def results(tmp_path):
    write(tmp_path)
    table = analysed(tmp_path, "images_from_words")
    datasets = {"tiny": {"title": "tiny set", "simulated": False}}
    outline = outline_of(CASE.task, {"my_row": ("Mine", "baseline")}, seeds=[1], metrics=["map"], papers={})
    return changed(outline=outline, datasets=datasets, analysis={"images_from_words": table}.__getitem__)


def test_a_table_has_means_over_labels(results):
    table = ImagesFromWords(methods=["my_row"], beside=["other"]).table(results)
    (row,) = table.rows
    assert [cell.value for cell in row.cells[1:]] == ["Mine", 2, 1.0, pytest.approx(0.75), 1.0, pytest.approx(0.5)]


def test_controls_are_shown_where_one_of_the_methods_is(results):
    controls = ImagesFromWords(methods=["other"], beside=["my_row"])
    assert controls.variants_read() == ["other", "my_row"]
    assert not controls.applies(results.outline)
    assert not controls.table(results).rows
    assert ImagesFromWords(methods=["my_row"]).applies(results.outline)


def test_a_table_has_the_first_images_of_its_words(results):
    table = RetrievedImages(methods=["my_row"], words=["b", "wedding"]).table(results)
    (row,) = table.rows
    assert [cell.value for cell in row.cells[1:]] == ["tiny", "b (1)", "Mine", "z, **y**, x"]
