"""The analyses `label_vectors` and `map_of_vectors`, and the figure that is made of the map."""

import numpy as np
import pytest

from tests.stages.analysed import CASE, LABELS, analysed, write
from vsebench import models
from vsebench.evaluation.analyses.map_of_vectors import project
from vsebench.models import LabelWeights
from vsebench.rendering.figures.map_of_vectors import rarely_shared_labels


def test_images_and_candidate_labels_are_named(tmp_path):
    write(tmp_path)
    found = analysed(tmp_path, "map_of_vectors")
    assert found.select("name", "is_label").rows() == [
        ("x", False), ("y", False), ("z", False), ("a", True), ("b", True),
    ]  # fmt: skip
    assert found["labels"].to_list() == [["a"], ["a", "b"], [], None, None]
    assert found.select("x", "y").null_count().row(0) == (0, 0)


@pytest.mark.parametrize("name", ["images_from_words", "map_of_vectors"])
def test_tasks_whose_images_are_known_have_no_lines(tmp_path, name):
    write(tmp_path, known=((), (2,), ()))
    assert analysed(tmp_path, name).is_empty()


def test_the_plane_is_that_of_the_principal_components():
    generator = np.random.default_rng(1)
    images = generator.normal(size=(50, 4)) * [3, 2, 0.1, 0.1]
    labels = generator.normal(size=(7, 4))
    placed, named = project(images, labels)
    rows = images / np.linalg.norm(images, axis=1, keepdims=True)
    variances = np.sort(np.linalg.eigvalsh(np.cov(rows.T)))[::-1][:2]
    assert placed.var(axis=0, ddof=1) == pytest.approx(variances)
    assert placed.mean(axis=0) == pytest.approx(0)
    # An image and a label of one direction lie at one point, whatever their lengths.
    found = project(images, 5 * images[:3])
    assert found[1] == pytest.approx(found[0][:3])
    assert (named.sum(axis=0) >= 0).all()


def test_vectors_of_zeros_have_finite_coordinates():
    placed, named = project(np.array([[1.0, 0], [0, 1], [0, 0]]), np.zeros((1, 2)))
    assert np.isfinite(placed).all()
    assert np.isfinite(named).all()


def test_labels_that_mostly_share_their_images_are_left_out():
    labels = [["sky", "clouds"], ["sky", "clouds"], ["sky"], ["clouds", "sea"], ["sea"], ["sea"]]
    assert rarely_shared_labels(labels, 8) == ["clouds", "sea"]
    assert rarely_shared_labels([["sky"], ["sea"], ["sea"]], 1) == ["sea"]


def test_vectors_have_length_1_and_their_labels_names(tmp_path):
    write(tmp_path)
    found = analysed(tmp_path, "label_vectors")
    assert found["label"].to_list() == ["a", "b", "c"]
    expected = LABELS / np.linalg.norm(LABELS, axis=1, keepdims=True)
    np.testing.assert_allclose(np.array(found["vector"].to_list()), expected, rtol=1e-6)


def test_a_model_without_vectors_has_no_lines(tmp_path):
    write(tmp_path)
    models.save(LabelWeights(np.zeros((3, 3), dtype=np.float32)), CASE.folder(tmp_path / "results") / "model.npz")
    assert analysed(tmp_path, "label_vectors").is_empty()
