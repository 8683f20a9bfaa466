"""MultVAE against its loss and its scores in plain NumPy."""

import numpy as np
import pytest

from tests.builders import dense, matrix_of
from tests.methods.problems import fit_to, problem_from, settings_of
from vsebench.core.workers import workers
from vsebench.data.problem import Queries
from vsebench.data.streams import Stream, generator
from vsebench.methods.by_labels.mult_vae import LabelAutoencoder, MultVae
from vsebench.methods.networks.layers import Parameter

SMALL = {"hidden": [7, 5], "latent": 4, "divergence": 0.3, "dropout": 0.0}


def fitter_of(matrix, **changes):
    with workers(1) as pool:
        return MultVae(problem_from(matrix, pool), settings_of("mult_vae", **(SMALL | changes)))


def unit(matrix):
    """The labels of each image as vectors of length 1 in float64; 0 without labels."""
    rows = dense(matrix).astype(float)
    return rows / np.sqrt(np.maximum(rows.sum(axis=1, keepdims=True), 1))


def through(inputs, layers):
    """The outputs of a network with tanh after each layer but the last."""
    for weights, intercepts in zip(layers.weights[:-1], layers.intercepts[:-1], strict=True):
        inputs = np.tanh(inputs @ weights.value.astype(float) + intercepts.value)
    return inputs @ layers.weights[-1].value.astype(float) + layers.intercepts[-1].value


def loss_of(fitter, matrix, weight):
    """The loss of all images with the noise that the first step of training draws."""
    mean, log_variance = np.split(through(unit(matrix), fitter.encoder), 2, axis=1)
    noise = generator(1, Stream.LATENT).standard_normal(mean.shape, dtype=np.float32)
    scores = through(mean + np.exp(log_variance / 2) * noise, fitter.decoder)
    of_label = np.log(np.exp(scores).sum(axis=1, keepdims=True)) - scores
    divergence = 0.5 * (mean**2 + np.exp(log_variance) - log_variance - 1).sum()
    return of_label[dense(matrix)].sum() + weight * divergence


def spread(fitter):
    """Move all parameters away from their start, so that no term of the loss is negligible."""
    rng = np.random.default_rng(2)
    for layers in (fitter.encoder, fitter.decoder):
        for parameter in (*layers.weights, *layers.intercepts):
            parameter.value[...] += rng.normal(0, 0.5, parameter.value.shape)


@pytest.mark.parametrize("weight", [0.0, 0.7])
def test_loss_and_gradients_are_those_of_the_formula(small, monkeypatch, weight):
    monkeypatch.setattr(Parameter, "step", lambda *arguments: None)
    fitter = fitter_of(small)
    spread(fitter)
    images = np.arange(small.n_rows)
    assert fitter.step(images, weight) == pytest.approx(loss_of(fitter, small, weight), rel=1e-4)
    rng, move = np.random.default_rng(4), 1e-3
    for layers in (fitter.encoder, fitter.decoder):
        for parameter in (*layers.weights, *layers.intercepts):
            gradient, values = parameter.gradient.reshape(-1), parameter.value.reshape(-1)
            for slot in rng.choice(values.size, min(5, values.size), replace=False):
                start, losses = values[slot], []
                for value in (start + np.float32(move), start - np.float32(move)):
                    values[slot] = value
                    losses.append((loss_of(fitter, small, weight), float(value)))
                values[slot] = start
                (high, above), (low, below) = losses
                expected = (high - low) / (above - below) / small.n_rows
                assert gradient[slot] == pytest.approx(expected, rel=1e-2, abs=1e-4)


def test_scores_are_those_of_the_means_of_the_latent_variables(small):
    fitter = fitter_of(small)
    spread(fitter)
    model = fitter.model()
    mean = through(unit(small), fitter.encoder)[:, :4]
    scores = model.scores(Queries(np.arange(small.n_rows, dtype=np.int32), small))
    assert np.allclose(scores, through(mean, fitter.decoder), atol=1e-4)


def test_an_image_outside_the_data_set_is_scored_by_its_known_labels(small):
    model, _ = fit_to("mult_vae", small, **SMALL)
    inside, outside = (model.scores(Queries(np.array([image], dtype=np.int32), small.rows([7]))) for image in (7, -1))
    assert np.array_equal(inside, outside)


def test_the_weight_of_the_divergence_grows_linearly_until_the_end_of_annealing(small, monkeypatch):
    weights = []
    monkeypatch.setattr(MultVae, "step", lambda self, images, weight: weights.append(weight) or 0.0)
    fitter = fitter_of(small, batch=15, annealing=2, divergence=0.8)
    for _ in range(3):
        fitter.epoch()
    assert weights == pytest.approx([0.0, 0.2, 0.4, 0.6, 0.8, 0.8])
    weights.clear()
    fitter_of(small, batch=30, annealing=0, divergence=0.8).epoch()
    assert weights == [0.8]


def test_with_an_overwhelming_divergence_all_images_get_the_order_by_frequency():
    """The latent variables then carry no information, and the second network can only learn the labels' frequencies."""
    rng = np.random.default_rng(3)
    shares = np.array([0.5, 0.35, 0.25, 0.15, 0.08])
    matrix = matrix_of([np.flatnonzero(rng.random(5) < shares).tolist() or [0] for _ in range(400)], 5)
    changes = SMALL | {"hidden": [8], "divergence": 1000.0, "annealing": 0, "decay": 0.0}
    model, _ = fit_to("mult_vae", matrix, epochs=60, **changes)
    scores = model.scores(Queries(np.arange(400, dtype=np.int32), matrix))
    assert (np.argsort(-scores, axis=1) == np.arange(5)).all()
    assert np.ptp(scores, axis=0).max() < 0.1


def test_dropped_labels_keep_the_expected_sum(small):
    fitter = fitter_of(small, dropout=0.4)
    rows = sum(fitter.dropped(fitter.inputs.copy()).toarray() for _ in range(3000)) / 3000
    assert np.allclose(rows, unit(small), atol=0.06)


def test_layers_that_do_not_mirror_each_other_are_refused(small):
    model, _ = fit_to("mult_vae", small, **SMALL)
    with pytest.raises(ValueError, match="hidden: 4 layers, but their number must be odd"):
        LabelAutoencoder(model.hidden[1:], model.label)
