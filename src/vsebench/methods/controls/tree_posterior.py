"""The exact posterior of the labels of a simulated tree, given an image's counts of terms.

    a_ur(x) = sum over terms t of x_t log(p_ur(t) / (w0 q0(t))),   P(u | x) ~ pi_u sum over views r of exp(a_ur(x))
    score of label y = (1 - e) P(y | x) + e / (g - 1) sum over the other children u of y's parent of P(u | x)

where e is the probability that an image gets a sibling of its true label instead of the true label, g is the number of
children of y's parent, and ~ means "is proportional to". The score is the probability that the image gets the label y.
The other symbols are explained in `formats/simulators/simulated_tree.py`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from vsebench.data.features import csr
from vsebench.data.problem import Matrix, Queries
from vsebench.models import Model, features_of


@dataclass(frozen=True)
class TreePosterior(Model):
    """Ranks labels by the probability that an image gets them, or first by the probability of their parent.

    The score of a label is not its probability, but its position when all labels are sorted in ascending order. The
    reason is that different float64 probabilities can be equal in float32.

    Attributes
    ----------
    label : (n_labels,) int32, the index of each scored label in the tree
    parent : (L,) int32, ascending, the parent of each of the tree's labels
    log_prior : (L,) float64, log pi_u, the logarithm of the prior probability of each label u
    confusion : () float64, e, the probability that an image gets a sibling of its true label
    ratios : (terms, L * views) CSR float64, log(p_ur(t) / (w0 q0(t))) for each term t and each view r of each label u;
        the views of a label are in adjacent columns
    groups_first : () bool, whether labels are ranked by the posterior of their parent, and those of the same parent by
        their own posterior
    """

    kind: ClassVar[str] = "tree_posterior"
    label: NDArray[np.int32]
    parent: NDArray[np.int32]
    log_prior: NDArray[np.float64]
    confusion: NDArray[np.float64]
    ratios: Any
    groups_first: NDArray[np.bool_]

    def __post_init__(self) -> None:
        n_leaves = len(self.parent)
        if self.log_prior.shape != (n_leaves,) or self.ratios.shape[1] % n_leaves or (np.diff(self.parent) < 0).any():
            raise ValueError("the shapes of parent, log_prior and ratios do not match, or parent does not ascend")
        self.ratios.check_format(full_check=True)  # SciPy's products do not check bounds
        if len(self.label) and not 0 <= self.label.min() <= self.label.max() < n_leaves:
            raise ValueError(f"label: the labels' numbers must be from 0 to {n_leaves - 1}")

    @property
    def n_labels(self) -> int:
        return len(self.label)

    def scores(self, queries: Queries) -> Matrix:
        log_own = self.log_posterior(features_of(queries, self.ratios.shape[0]))
        own = np.exp(log_own)
        first = np.flatnonzero(np.diff(self.parent, prepend=-1))
        children = np.diff(first, append=len(self.parent))
        group = np.repeat(np.add.reduceat(own, first, axis=1), children, axis=1)
        key = group if self.groups_first else self.given(own, group, np.repeat(children, children))
        order = np.lexsort((log_own, key), axis=-1)
        positions = np.empty(order.shape, dtype=np.float32)
        np.put_along_axis(positions, order, np.arange(order.shape[1], dtype=np.float32)[None], axis=1)
        return np.ascontiguousarray(positions[:, self.label])

    def log_posterior(self, counts: Any) -> NDArray[np.float64]:
        """Return the logarithm of the posterior of each label of the tree for each image, (n, L).

        `counts`, (n, terms) CSR, contains the counts of terms of each image.
        """
        ratios = (sparse.csr_array(counts).astype(np.float64) @ self.ratios).toarray()
        views = ratios.reshape(len(ratios), len(self.parent), -1)
        joint = self.log_prior + np.logaddexp.reduce(views, axis=2)
        return np.asarray(joint - np.logaddexp.reduce(joint, axis=1)[:, None])

    def given(
        self, own: NDArray[np.float64], group: NDArray[np.float64], children: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return the probability that an image gets each label, (n, L).

        Parameters
        ----------
        own, group : (n, L), the posteriors of each label and of its parent
        children : (L,), the number of children of each label's parent
        """
        wrong = np.where(children > 1, self.confusion, 0.0)
        return np.asarray((1 - wrong) * own + wrong / np.maximum(children - 1, 1) * (group - own))

    def largest_score(self) -> float:
        finite = np.isfinite(self.ratios.data).all() and np.isfinite(self.log_prior).all()
        return float(len(self.parent)) if finite else np.nan

    def arrays(self) -> dict[str, NDArray[Any]]:
        named = {name: getattr(self, name) for name in ("label", "parent", "log_prior", "confusion", "groups_first")}
        ratios = {"data": self.ratios.data, "indices": self.ratios.indices, "offsets": self.ratios.indptr}
        named["views"] = np.array(self.ratios.shape[1] // len(self.parent))
        return named | {f"ratio_{name}": array for name, array in ratios.items()}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> "TreePosterior":
        offsets, views = arrays["ratio_offsets"], int(arrays["views"])
        ratios = csr(
            arrays["ratio_data"], arrays["ratio_indices"], offsets, (len(offsets) - 1, views * len(arrays["parent"]))
        )
        groups_first = arrays.get("groups_first", np.array(False))
        label, parent, log_prior, confusion = (arrays[n] for n in ("label", "parent", "log_prior", "confusion"))
        return cls(label, parent, log_prior, confusion, ratios, groups_first)


MODELS = {"tree_posterior": TreePosterior}
