"""Compute ranks and ranked lists from scores, for any number of held-out labels per image and any set of candidates."""

import numpy as np
from numba import njit

NEGATIVE, EXCLUDED, RIGHT = 0, 1, 2


@njit(cache=True)
def mark_labels(kinds, candidates, known, right):
    """Classify each label as EXCLUDED, RIGHT or NEGATIVE for one image.

    - EXCLUDED: the label is known, or is not a candidate.
    - RIGHT: the label is held out, and is not excluded.
    - NEGATIVE: all other labels.

    kinds : (n_labels,) int8, the class of each label; written
    candidates : (n_labels,) bool
    known, right : int32, known and held-out labels of the image
    """
    for c in range(len(kinds)):
        kinds[c] = NEGATIVE if candidates[c] else EXCLUDED
    for label in known:
        kinds[label] = EXCLUDED
    for label in right:
        if kinds[label] == NEGATIVE:
            kinds[label] = RIGHT


@njit(cache=True, nogil=True)
def rank_right_labels(scores, candidates, known_offsets, known, right_offsets, right):
    """Compare each held-out label of n images with the other candidates of its image.

    scores : (n, n_labels) float32
    candidates : (n_labels,) bool
    known_offsets, right_offsets : (n + 1,) int64, where the labels of each image start in `known` and `right`
    known, right : int32, the known and the held-out labels

    Returns four counts for each held-out label, (4, number of held-out labels) int32:

    - the negatives with a higher score than the label
    - the negatives with the same score
    - the image's held-out labels with at least the same score, including the label itself
    - all negatives of the image

    The first three counts are -1 if the label is known or is not a candidate.
    """
    n_labels = scores.shape[1]
    counts = np.empty((4, right_offsets[-1] - right_offsets[0]), dtype=np.int32)
    kinds = np.empty(n_labels, dtype=np.int8)
    for i in range(len(scores)):
        row = scores[i]
        own = right[right_offsets[i] : right_offsets[i + 1]]
        mark_labels(kinds, candidates, known[known_offsets[i] : known_offsets[i + 1]], own)
        negatives = np.int32(0)
        for c in range(n_labels):
            negatives += np.int32(kinds[c] == NEGATIVE)
        for pair in range(right_offsets[i], right_offsets[i + 1]):
            label, slot = right[pair], pair - right_offsets[0]
            counts[3, slot] = negatives
            if kinds[label] != RIGHT:
                counts[:3, slot] = -1
                continue
            above, tied, at_least = np.int32(0), np.int32(0), np.int32(0)
            score = row[label]
            for c in range(n_labels):
                above += np.int32((kinds[c] == NEGATIVE) & (row[c] > score))
                tied += np.int32((kinds[c] == NEGATIVE) & (row[c] == score))
            for other in own:
                at_least += np.int32((kinds[other] == RIGHT) & (row[other] >= score))
            counts[0, slot], counts[1, slot], counts[2, slot] = above, tied, at_least
    return counts


@njit(cache=True, nogil=True)
def top_labels(scores, candidates, known_offsets, known, right_offsets, right, size):
    """Return the first `size` labels of each image's ranked list, (n, size) int32.

    If a list has fewer labels, the rest of its row is -1. Among labels with the same score, negatives come before
    held-out labels, and each of these two groups is sorted by label id. The other arguments are as for
    `rank_right_labels`.
    """
    n_labels = scores.shape[1]
    lists = np.full((len(scores), size), -1, dtype=np.int32)
    kinds = np.empty(n_labels, dtype=np.int8)
    for i in range(len(scores)):
        row = scores[i]
        own = right[right_offsets[i] : right_offsets[i + 1]]
        mark_labels(kinds, candidates, known[known_offsets[i] : known_offsets[i + 1]], own)
        length = 0
        for c in range(n_labels):
            if kinds[c] == EXCLUDED or (length == size and row[c] < row[lists[i, size - 1]]):
                continue
            slot = length
            while slot > 0:
                before = lists[i, slot - 1]
                wrong_first = row[c] == row[before] and kinds[c] == NEGATIVE and kinds[before] == RIGHT
                if not (row[c] > row[before] or wrong_first):
                    break
                slot -= 1
            if slot == size:
                continue
            length = min(length + 1, size)
            for later in range(length - 1, slot, -1):
                lists[i, later] = lists[i, later - 1]
            lists[i, slot] = c
    return lists


@njit(cache=True, nogil=True)
def count_images_above(scores, kinds_offsets, carried, sorted_scores, score_offsets, above, tied):
    """Compare the score of each positive with the scores of images that do not have the positive's label.

    For each positive, the function counts the higher scores and the equal scores.

    scores : (n, n_labels) float32, of some test images
    kinds_offsets : (n + 1,) int64, where the labels of each image start in `carried`
    carried : int32, the labels of the images, ascending for each image
    sorted_scores : (n_pairs,) float32, the scores of the positives, sorted by label; ascending for each label
    score_offsets : (n_labels + 1,) int64, where the scores of each label start in `sorted_scores`
    above, tied
        (n_pairs + 1,) int64, updated. Element j of the cumulative sum of `above` is the number of scores that are
        higher than sorted_scores[j], and element j of the cumulative sum of `tied` is the number of equal scores.
    """
    for i in range(len(scores)):
        following, last = kinds_offsets[i], kinds_offsets[i + 1]
        for c in range(scores.shape[1]):
            if following < last and carried[following] == c:
                following += 1
                continue
            start, stop = score_offsets[c], score_offsets[c + 1]
            if start == stop:
                continue
            lower = start + np.searchsorted(sorted_scores[start:stop], scores[i, c], side="left")
            upper = start + np.searchsorted(sorted_scores[start:stop], scores[i, c], side="right")
            above[start] += 1
            above[lower] -= 1
            tied[lower] += 1
            tied[upper] -= 1
