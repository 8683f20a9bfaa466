"""Gradient steps on (image, positive, negative) in plain NumPy and float64."""


def draw_negative(positives, n_labels, rng):
    """Draw a label, each with the same probability, until it is no positive."""
    while True:
        label = rng.below(n_labels)
        if label not in positives:
            return label


def sgd_step(images, labels, i, p, n, size, shrinkage):
    """Step along size * d<v_i, v_p - v_n> / dv - shrinkage * v."""
    image, positive, negative = images[i].copy(), labels[p].copy(), labels[n].copy()
    images[i] += size * (positive - negative) - shrinkage * image
    labels[p] += size * image - shrinkage * positive
    labels[n] += -size * image - shrinkage * negative
