"""Compare exact search with a matrix product, with faiss and scikit-learn, and with random projection trees."""

import importlib
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.clock import Row, clock_for, comparison, interleave, timed
from benchmarks.feature_rows import Searched, blobs, dense_rows, installed, searched, sparse_rows
from benchmarks.plan import SEED, Plan
from vsebench.core.workers import Workers, workers
from vsebench.data.chunks import even_chunks
from vsebench.data.features import Rows
from vsebench.data.problem import Ids, Matrix
from vsebench.data.streams import Stream
from vsebench.kernels.random_numbers import new_state
from vsebench.methods.by_features.neighbours import Search
from vsebench.methods.by_features.random_projection_tree import descend, grow

Work = Callable[[], object]
ROUNDING = 1e-6  # smaller differences of distances are rounding errors


def dense_neighbours(plan: Plan) -> list[Row]:
    """Compare a search with the matrix product that it needs, with faiss, and with scikit-learn."""
    searched = dense_rows(plan)
    products = np.empty((searched.queries.shape[0], searched.rows.shape[0]), dtype=np.float32)
    peers: dict[str, Work] = {"sgemm": lambda: np.matmul(searched.queries, searched.rows.T, out=products)}
    if installed("faiss", "dense_neighbours, faiss"):
        peers["faiss, flat"] = flat_index(searched, min(plan.on_features.neighbours, searched.rows.shape[0]))
    return compare(plan, "dense_neighbours", searched, peers)


def sparse_neighbours(plan: Plan) -> list[Row]:
    return compare(plan, "sparse_neighbours", sparse_rows(plan), {})


def compare(plan: Plan, what: str, searched: Searched, others: dict[str, Work]) -> list[Row]:
    """Compare exact search with peers, for each number of threads.

    The quality is the share of our neighbours that are as near as scikit-learn's. It is given only for
    the comparison with scikit-learn.
    """
    k = min(plan.on_features.neighbours, searched.rows.shape[0])
    search = Search(searched.rows, "cosine")
    found = brute_force(searched, k) if installed("sklearn", f"{what}, scikit-learn") else None
    peers = others | ({"scikit-learn": found} if found else {})
    rows = []
    for threads in plan.threads if peers else ():
        with workers(threads) as pool:
            turns: list[Work] = [partial(search_by_all, search, searched, k, pool)]
            turns += [partial(limited, peer, threads) for peer in peers.values()]
            seconds = interleave([timed(turn, clock_for(threads)) for turn in turns], plan.repeats)
            near = search_by_all(search, searched, k, pool)
        keys = {"what": what, "size": searched.name, "threads": threads, "ours": "exact search"}
        for (name, peer), theirs in zip(peers.items(), seconds[1:], strict=True):
            quality = (
                (as_near(search, searched.queries, near, found()), 1.0) if found is not None and peer is found else None
            )
            rows.append(comparison(keys | {"peer": name}, seconds[0], theirs, quality))
    return rows


def search_by_all(search: Search, searched: Searched, k: int, pool: Workers) -> Ids:
    """Return the k nearest rows of each query; the queries are divided among the threads.

    For m queries, the result has shape (m, k) and dtype int32.
    """
    n_queries = searched.queries.shape[0]
    near = np.empty((n_queries, k), dtype=np.int32)

    def work(start: int, stop: int) -> None:
        near[start:stop] = search.nearest(searched.queries[start:stop], k)[0]

    pool.run(work, even_chunks(n_queries, -(-n_queries // pool.threads)))
    return near


def brute_force(searched: Searched, k: int) -> Callable[[], Ids]:
    """Return scikit-learn's search by Euclidean distance.

    For rows of unit length, this search is equivalent to the search by cosine, but faster.
    """
    module = importlib.import_module("sklearn.neighbors")
    fitted = module.NearestNeighbors(n_neighbors=k, algorithm="brute", metric="euclidean").fit(searched.rows)
    return lambda: np.asarray(fitted.kneighbors(searched.queries, return_distance=False), dtype=np.int32)


def flat_index(searched: Searched, k: int) -> Callable[[], Ids]:
    """Return faiss's exact search by inner products.

    For rows of unit length, inner products equal cosines.
    """
    index = importlib.import_module("faiss").IndexFlatIP(searched.rows.shape[1])
    index.add(searched.rows)
    return lambda: np.asarray(index.search(searched.queries, k)[1], dtype=np.int32)


def limited(work: Work, threads: int) -> object:
    """Do work with at most `threads` threads of BLAS and OpenMP."""
    with threadpool_limits(threads):
        return work()


def as_near(search: Search, queries: Rows, ours: Ids, theirs: Ids) -> float:
    """Return the share of our nearest rows that are not farther than the peer's row of the same rank.

    `ours` and `theirs` contain the k nearest rows of m queries, in shape (m, k).
    """
    distances_ours, distances_peer = (np.sort(search.distances(queries, near)) for near in (ours, theirs))
    return float((distances_ours <= distances_peer + ROUNDING).mean())


class Tree:
    """A random projection tree, searched as in the method `random_projection_tree`, but without votes."""

    def __init__(self, searched: Searched, levels: int) -> None:
        self.seed, self.queries = new_state(SEED, Stream.DIRECTIONS)[0], searched.queries
        self.order, bounds, self.thresholds = grow(searched.rows, levels, self.seed)
        self.leaves = [Search(searched.rows[self.order[a:b]], "cosine", by_lists=False) for a, b in pairwise(bounds)]
        self.starts = bounds[:-1]

    def first(self, k: int) -> Ids:
        """Search the leaf of each query for the k nearest rows, and return the nearest row of each query.

        For m queries, the result has shape (m,).
        """
        first = np.empty(self.queries.shape[0], dtype=np.int32)
        leaf_of_query = descend(self.queries, self.thresholds, self.seed)
        for leaf in np.unique(leaf_of_query).tolist():
            here, search = np.flatnonzero(leaf_of_query == leaf), self.leaves[leaf]
            near, keys = search.nearest(self.queries[here], min(k, search.rows.shape[0]))
            first[here] = self.order[self.starts[leaf] + first_of(near, keys)]
        return first


def first_of(near: Ids, keys: Matrix) -> Ids:
    """Return the nearest neighbour of each query, from the results of `Search.nearest`.

    For m queries, the result has shape (m,).
    """
    return np.asarray(near[np.arange(len(near)), keys.argmax(axis=1)], dtype=np.int32)


def tree(plan: Plan) -> list[Row]:
    """Compare trees with exact search, on one thread.

    The times are seconds per query. The quality is the share of queries for which a tree finds the nearest row.
    """
    all_searched = (searched(blobs(plan)), dense_rows(plan), sparse_rows(plan))
    return [row for searched in all_searched for row in against_exact(plan, searched, plan.on_features.levels)]


def against_exact(plan: Plan, searched: Searched, levels: Sequence[int]) -> list[Row]:
    """Compare a tree with exact search for each number of levels; return a row for each number."""
    n_rows, n_queries = searched.rows.shape[0], searched.queries.shape[0]
    k, search = min(plan.on_features.neighbours, n_rows), Search(searched.rows, "cosine")
    trees = {p: Tree(searched, p) for p in levels if 2**p <= n_rows}
    with workers(1):
        exact = first_of(*search.nearest(searched.queries, k))
        by_trees = [partial(tree.first, k) for tree in trees.values()]
        turns: list[Work] = [partial(search.nearest, searched.queries, k), *by_trees]
        seconds = interleave([timed(turn, clock_for(1)) for turn in turns], plan.repeats)
    per_query = [[time / n_queries for time in times] for times in seconds]
    keys = {"what": "tree", "size": searched.name, "threads": 1, "peer": "exact search"}
    return [
        comparison(keys | {"ours": f"p = {p}"}, own, per_query[0], (float((grown.first(k) == exact).mean()), 1.0))
        for (p, grown), own in zip(trees.items(), per_query[1:], strict=True)
    ]
