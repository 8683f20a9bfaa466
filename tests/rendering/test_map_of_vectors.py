"""The names of labels in the map of vectors."""

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from vsebench.rendering.figures.map_of_vectors import NAME_SIZE, places_of_names

COORDINATES = st.floats(-200, 200)


@given(st.lists(st.tuples(COORDINATES, COORDINATES), max_size=8))
def test_names_on_the_same_side_do_not_overlap(points):
    width, height = NAME_SIZE
    names = [(side, x, y - down) for (x, y), (side, down) in zip(points, places_of_names(points), strict=True)]
    for (side, x, y), (other_side, other_x, other_y) in combinations(names, 2):
        assert side != other_side or abs(x - other_x) >= width or abs(y - other_y) >= height - 1e-6


def test_only_names_that_would_overlap_are_moved():
    far_apart, close = [(0.0, 0.0), (100.0, 0.0), (200.0, 0.0)], [(0.0, 0.0), (100.0, 2.0), (101.0, 0.0)]
    assert places_of_names(far_apart) == [(-1, 0.0), (1, 0.0), (1, 0.0)]
    assert places_of_names(close) == [(-1, 0.0), (1, 0.0), (1, NAME_SIZE[1] - 2.0)]
