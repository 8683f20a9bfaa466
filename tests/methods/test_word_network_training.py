"""Whole trainings of networks with word vectors, repeated by a plain program with the same start, order and draws."""

from copy import deepcopy

import numpy as np
import pytest

from tests.builders import rows_of
from tests.methods.problems import full, network
from tests.reference import word_network as plain

EPOCHS = 3
OF_ALL_LABELS = {"x_ent": plain.cross_entropy, "fast0tag": plain.all_pairs}
OF_DRAWN_LABELS = {"s_x_ent": plain.sampled_cross_entropy, "s_fast0tag": plain.sampled_pairs}


def trained_again(name, fitter, draws):
    """Train a copy of a network, before its first epoch, with the plain program; return its scores of all images.

    draws : for a loss of drawn labels, those of each step, (m, P + N); otherwise empty
    """
    settings, inputs = fitter.settings, full(fitter.seen.rows)
    labels, order = rows_of(fitter.table.labels), deepcopy(fitter.order)
    start = [[each.value for each in part] for part in (fitter.layers.weights, fitter.layers.intercepts)]
    again = plain.Trainer(*start, fitter.table.trained(), settings.joint, settings.learning_rate, settings.decay)
    for _ in range(EPOCHS):
        images = order.permutation(len(inputs))
        for first in range(0, len(inputs), settings.batch):
            batch = images[first : first + settings.batch]
            if name in OF_ALL_LABELS:
                again.step(inputs[batch], OF_ALL_LABELS[name], [(labels[image],) for image in batch])
            else:
                drawn = next(draws)
                split = zip(*np.split(drawn, [settings.positives], axis=1), strict=True)
                again.step(inputs[batch], OF_DRAWN_LABELS[name], list(split), drawn)
    return again.scores(inputs)


@pytest.mark.parametrize("hidden", [[], [6]])
@pytest.mark.parametrize("joint", [False, True])
@pytest.mark.parametrize("name", [*OF_ALL_LABELS, *OF_DRAWN_LABELS])
def test_a_training_ends_with_the_same_scores(name, joint, hidden, monkeypatch):
    few = {"positives": 2, "negatives": 3} if name in OF_DRAWN_LABELS else {}
    changes = {"joint": joint, "hidden": hidden, "dropout": 0.0, "batch": 16, "decay": 0.1, "learning_rate": 0.01} | few
    fitter = network(name, learnt=np.arange(32) % 8 != 3, **changes)
    before, draws = deepcopy(fitter), []
    if name in OF_DRAWN_LABELS:
        draw = fitter.table.draw
        monkeypatch.setattr(fitter.table, "draw", lambda images: draws.append(draw(images).copy()) or draws[-1])
    for _ in range(EPOCHS):
        fitter.epoch()
    actual = fitter.layers.forward(fitter.seen.rows)[1] @ fitter.table.trained().T
    expected = trained_again(name, before, iter(draws))
    assert np.std(expected) > 0.1
    np.testing.assert_allclose(actual, expected, atol=1e-3)
