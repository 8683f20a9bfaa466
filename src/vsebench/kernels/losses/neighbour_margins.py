"""The large-margin loss of the distances between an image and its neighbours, with derivatives."""

from numba import njit


@njit(cache=True, nogil=True)
def margin_loss(targets, likeness, target_offsets, impostors, unlikeness, impostor_offsets, push, smoothing, slopes):
    """Return the large-margin loss, float64, which pulls the targets of an image closer and pushes its impostors away.

    The loss is the sum over images p of

        sum over the targets q of p of [l_q D_q + push * sum over the impostors r of p of u_r h(1 + D_q - D_r)]

    h(z) is the smoothed hinge: 0 for z <= 0, z^2 / (2 smoothing) for z from 0 to `smoothing`, and z - smoothing / 2 for
    larger z.

    targets, impostors : (n_targets,) and (n_impostors,) float64, the distances D_q from each image to its targets,
        and D_r to its impostors; the numbers of one image are consecutive
    likeness, unlikeness : (n_targets,) and (n_impostors,) float64, the weights l_q and u_r
    target_offsets, impostor_offsets : (n + 1,) int64, where the targets and the impostors of each image start
    push, smoothing : float
    slopes : two float64 arrays, (n_targets,) and (n_impostors,), overwritten with the derivatives with respect to the
        distances
    """
    of_targets, of_impostors = slopes
    of_targets[:] = likeness
    of_impostors[:] = 0
    total = 0.0
    for p in range(len(target_offsets) - 1):
        for q in range(target_offsets[p], target_offsets[p + 1]):
            total += likeness[q] * targets[q]
            for r in range(impostor_offsets[p], impostor_offsets[p + 1]):
                z = 1 + targets[q] - impostors[r]
                if z <= 0:
                    continue
                slope = push * unlikeness[r]
                if z < smoothing:
                    total += slope * z * z / (2 * smoothing)
                    slope *= z / smoothing
                else:
                    total += slope * (z - smoothing / 2)
                of_targets[q] += slope
                of_impostors[r] -= slope
    return total
