"""The large-margin loss of the distances between an image and its neighbours, with derivatives."""

from numba import njit


@njit(cache=True, nogil=True)
def margin_loss(targets, likeness, target_offsets, impostors, unlikeness, impostor_offsets, push, smoothing, slopes):
    """Return the sum over images p of terms that pull the targets of p closer and push its impostors away, float64.

        sum over the targets q of p of [l_q D_q + push x sum over the impostors r of p of u_r h(1 + D_q - D_r)]

    h(z) is the smoothed hinge: 0 below 0, z^2 / (2 smoothing) up to `smoothing`, and z - smoothing / 2 above.

    targets, impostors : (n_targets,) and (n_impostors,) float64, the distances D from each image to its targets
        and to its impostors, image by image
    likeness, unlikeness : (n_targets,) and (n_impostors,) float64, the weights l and u
    target_offsets, impostor_offsets : (n + 1,) int64, where the targets and the impostors of each image start
    push, smoothing : numbers
    slopes : two float64 arrays, (n_targets,) and (n_impostors,), which get the derivatives with respect to the
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
