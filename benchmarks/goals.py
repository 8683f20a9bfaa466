"""The goals for the ratios of times; each goal has a floor and an aim.

A ratio is the peer's seconds divided by our seconds.
"""

from dataclasses import dataclass

TITLES = {
    "iteration": "One iteration",
    "ials_iteration": "One iteration of iALS",
    "time_to_95": "From the labels to 95 % of the best validation recall@10 that both methods reach",
    "bpr_epoch": "One epoch, uniform negatives",
    "warp_epoch": "One epoch, WARP with at most 10 trials",
    "parts_epoch": "One epoch in two parts, against the same method without parts",
    "ens_epoch": "One epoch, against our own Opt-AUC",
    "ranking": "Ranking the held-out labels",
}
FEATURE_TITLES = {
    "wsabie_epoch": "One epoch on blobs, WSABIE with at most one trial per other label",
    "wsabie_epoch_10": "One epoch on blobs, WSABIE with at most 10 trials",
    "wsabie_sparse": "One epoch on sparse rows, WSABIE with at most 10 trials",
    "network_epoch": "One epoch on blobs, a network with 256 hidden units",
    "linear_epoch": "One epoch on blobs, a linear map",
    "bce_network_torch": "One epoch on blobs, a network with 256 hidden units, against PyTorch",
    "bce_linear_torch": "One epoch on blobs, a linear map, against PyTorch",
    "lsep_network_torch": "One epoch on blobs, LSEP, a network with 256 hidden units, against PyTorch",
    "lsep_linear_torch": "One epoch on blobs, LSEP, a linear map, against PyTorch",
    "dense_neighbours": "Exact neighbours, dense rows",
    "sparse_neighbours": "Exact neighbours, sparse rows",
    "image_search": "A search for a word among images",
    "negative_draws": "Five positives and ten negatives for an image",
}
TREE = "tree"  # the comparison without a goal


@dataclass(frozen=True)
class Goal:
    """Two lower bounds for the median ratio."""

    floor: float
    aim: float

    def reached(self, ratio: float) -> str:
        """Return the name of the highest bound that a ratio reaches, or `no` if it reaches neither."""
        return "aim" if ratio >= self.aim else "floor" if ratio >= self.floor else "no"


def goal(what: str, peer: str, threads: int) -> Goal:
    """Return the goal of a comparison."""
    one = threads == 1
    match what:
        case "iteration":
            return Goal(2.5, 5.0)
        case "ials_iteration":
            return Goal(2.5, 3.0)
        case "time_to_95":
            return Goal(2.0, 4.0) if peer == "implicit ALS" else Goal(1.0, 2.0)
        case "bpr_epoch":
            return Goal(2.0, 2.5) if one else Goal(1.5, 2.0)
        case "warp_epoch":
            return Goal(3.0, 5.0)
        case "parts_epoch":
            return Goal(1 / 1.05, 1.0) if one else Goal(1.6, 1.8)
        case "ens_epoch":
            return Goal(1 / 1.7, 1 / 1.4)  # at most 1.7 and 1.4 times the time of Opt-AUC
        case "ranking":
            return Goal(2.5, 3.0) if peer.startswith("implicit") else Goal(1.5, 1.8)
        case "wsabie_epoch" | "wsabie_epoch_10" | "wsabie_sparse":
            return Goal(4.0, 10.0)
        case "network_epoch" | "linear_epoch":
            return Goal(1.0, 2.0)
        case "bce_network_torch" | "bce_linear_torch" | "lsep_network_torch" | "lsep_linear_torch":
            return Goal(1.0, 2.0)
        case "dense_neighbours":
            # At most 1.15 and 1.1 times the time of sgemm.
            return Goal(1 / 1.15, 1 / 1.1) if peer == "sgemm" else Goal(2.1, 2.5)
        case "sparse_neighbours":
            return Goal(2.5, 3.0)
        case "image_search":
            return Goal(1 / 1.25, 1 / 1.1)  # at most 1.25 and 1.1 times the time to read the vectors
        case "negative_draws":
            return Goal(10.0, 100.0)
    raise ValueError(what)


MEMORY_LIMIT = 2.5  # limit on the peak at the largest size, as a multiple of the size of embeddings and label matrix
START_LIMITS = {"cold": 20.0, "warm": 1.5}  # seconds
