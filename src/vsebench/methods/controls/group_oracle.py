"""Oracle of a simulated tree: rank labels by the probability of their parent, then by their own probability.

No ranking has a larger expected sibling precision at k, if every parent has at least k labels.
"""

import numpy as np

from vsebench.data.needs import TRUTH
from vsebench.methods.base import Control
from vsebench.methods.controls.tree_posterior import TreePosterior


class GroupOracle(Control):
    """The tree's posterior, with labels ranked by their parent first."""

    needs = frozenset({"truth", "tree"})
    ranks_unseen = True

    def model(self) -> TreePosterior:
        return TreePosterior.from_arrays({**TRUTH.of(self.problem), "groups_first": np.array(True)})


METHOD = GroupOracle
