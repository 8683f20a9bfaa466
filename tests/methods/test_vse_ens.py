"""The number of times that VSE-ens sorts its lists."""

import math

import pytest

from tests.methods.problems import N_LABELS, method_of, planted_labels, problem_from, settings_of
from vsebench.core.workers import workers


@pytest.mark.parametrize("sort_every", [0.5, 1.0, 7.0, 1000.0])
def test_lists_are_sorted_before_the_first_draw_and_then_after_so_many_steps(sort_every):
    with workers(1) as pool:
        fitter = method_of("vse_ens")(
            problem_from(planted_labels(), pool), settings_of("vse_ens", sort_every=sort_every)
        )
        sort, times = fitter._refresh_lists, []
        fitter._refresh_lists = lambda *lists: times.append(sort(*lists))
        for _ in range(3):
            fitter.epoch()
    steps = 3 * planted_labels().n_pairs
    assert len(times) == math.ceil(steps / int(sort_every * N_LABELS * math.log(N_LABELS)))
