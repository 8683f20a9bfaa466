"""Parts of the search for the nearest images: multiply sparse rows, select the k largest keys, and add up votes.

The key of a training row x for a query q is <q, x> - h. Here, h is called the half of x. It is |x|^2 / 2 for the
Euclidean distance, and 0 for the cosine, for which all rows have norm 1. The largest keys belong to the nearest rows.
Keys are computed in float32. The slack is a bound on the rounding error of the difference between two keys. Where
rounding can change the result, the keys that differ from the k-th largest key by at most the slack are computed again
in float64, so the result is exact. Among rows with the same key, the first ones are taken.

The following arguments have the same meaning in all functions, whose docstrings do not repeat them.

keys : float32, (n,) for one query or (m, n) for m queries: the keys of the rows
queries, rows
    If dense, (m, d) and (n, d) float32. If sparse, each is a CSR matrix, given as the tuple (data, indices, offsets)
    with float32 data, int32 indices, and int32 or int64 offsets. The columns of each row are in ascending order.
halves : (n,) float64, the halves of the rows
slacks : (m,) float32, the slack of each query; `slack` is the slack of one query
k : integer from 1 to n, the number of nearest rows
near : int32, (k,) for one query or (m, k) for m queries: the numbers of the nearest rows
group_largest : (g,) float32, where k <= g <= n; scratch memory
spread : (d,) float32, scratch memory for a sparse query as a dense row; zeros before and after the call
"""

import numpy as np
from numba import njit

from vsebench.kernels.vectors import LANES, greater_mask, load

GROUPS = 8  # `lower_bound` splits keys into GROUPS x k groups; more groups give a closer bound but take longer
U32, U64 = np.uint32, np.uint64  # with unsigned indices, numba omits the test for negative indices


@njit(cache=True)
def select(values, rank):
    """Return the value with a given rank; rank 0 is the smallest value.

    The values, (n,) float32, are reordered. Numba would need 40 times as long to compile `np.partition`. Source: Hoare,
    "Algorithm 65: find", CACM 4(7), 1961.
    """
    low, high = 0, len(values) - 1
    while low < high:
        pivot = values[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while values[i] < pivot:
                i += 1
            while values[j] > pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if j < rank < i:  # the values between j and i are the pivot
            break
        low, high = (low, j) if rank <= j else (i, high)
    return values[rank]


@njit(cache=True)
def lower_bound(keys, k, group_largest):
    """Return a lower bound of the k-th largest of n keys.

    The keys are split into groups, and the bound is the k-th largest of the groups' maxima. So at least k keys, one in
    each of k groups, reach the bound. Usually, not many more than k keys do.
    """
    n_groups = len(group_largest)
    group_largest[:] = keys[:n_groups]
    for start in range(n_groups, len(keys), n_groups):
        block = keys[start : start + n_groups]
        for g in range(len(block)):
            group_largest[g] = block[g] if block[g] > group_largest[g] else group_largest[g]
    return select(group_largest, n_groups - k)


@njit(cache=True)
def where_above(keys, bound, above):
    """Write the ascending indices of the keys above a bound to `above`, and return the number of these keys.

    16 keys are compared at a time.

    bound : float32
    above : (n,) int32
    """
    count = 0
    for start in range(0, len(keys), LANES):
        if start + LANES <= len(keys) and not greater_mask(load(keys, start), bound):
            continue
        for i in range(start, min(start + LANES, len(keys))):
            if keys[i] > bound:
                above[count] = i
                count += 1
    return count


@njit(cache=True)
def split_by_rounding(keys, k, slack, sure, open_rows, group_largest):
    """Find the rows that are certainly among the k nearest, and the rows for which rounding leaves this open.

    A row is sure if its key exceeds the k-th largest key by more than the slack. It is open if its key differs from the
    k-th largest key by at most the slack.

    sure : (k,) int32, gets the numbers of the sure rows, ascending
    open_rows : (n,) int32, gets the numbers of the open rows, ascending

    Returns the number of sure rows and the number of open rows.
    """
    bound = lower_bound(keys, k, group_largest)
    n_candidates = where_above(keys, np.nextafter(bound - slack, np.float32(-np.inf)), open_rows)
    candidates = open_rows[:n_candidates]
    smallest = select(keys[candidates], n_candidates - k)
    n_sure, n_open = 0, 0
    for r in candidates:
        if keys[r] - smallest > slack:
            sure[n_sure] = r
            n_sure += 1
        elif smallest - keys[r] <= slack:
            open_rows[n_open] = r  # never overwrites candidates that have not been read yet
            n_open += 1
    return n_sure, n_open


@njit(cache=True)
def keep_largest(near, n_sure, doubtful, exact):
    """Add the doubtful rows with the largest exact keys to the sure rows, up to k rows in all.

    Then the k rows are sorted.

    near : (k,) int32, starts with the sure rows of `split_by_rounding`; contains the k nearest rows after the call
    n_sure : number of sure rows
    doubtful : (t,) int32, the open rows of `split_by_rounding`, ascending; t is at least k - n_sure
    exact : (t,) float64, the exact keys of the doubtful rows; read only if t exceeds k - n_sure
    """
    left = len(near) - n_sure
    near[n_sure:] = doubtful[:left]
    if len(doubtful) > left:
        near[n_sure:] = doubtful[np.argsort(-exact, kind="mergesort")[:left]]
    near.sort()


@njit(cache=True, fastmath={"reassoc", "contract"})
def dense_product(left, right):
    """Return the inner product of two rows, (d,) float32; it is summed in float64."""
    total = 0.0
    for f in range(len(left)):
        total += np.float64(left[f]) * np.float64(right[f])
    return total


@njit(cache=True)
def sparse_product(spread, rows, r):
    """Return the inner product of the query in `spread` and the sparse row r; it is summed in float64."""
    data, indices, offsets = rows
    total = 0.0
    for entry in range(U64(offsets[r]), U64(offsets[r + 1])):
        total += np.float64(data[entry]) * np.float64(spread[U64(indices[entry])])
    return total


@njit(cache=True, nogil=True)
def nearest_dense(keys, queries, rows, halves, slacks, k):
    """Find the k nearest rows of each query.

    Returns the row numbers, (m, k) int32, ascending for each query, and the keys of these rows, (m, k) float32.
    """
    near, kept = np.empty((len(keys), k), dtype=np.int32), np.empty((len(keys), k), dtype=np.float32)
    doubtful, exact = np.empty(len(rows), dtype=np.int32), np.empty(len(rows))
    group_largest = np.empty(min(GROUPS * k, len(rows)), dtype=np.float32)
    for q in range(len(keys)):
        n_sure, n_doubtful = split_by_rounding(keys[q], k, slacks[q], near[q], doubtful, group_largest)
        if n_doubtful > k - n_sure:
            for t in range(n_doubtful):
                r = doubtful[t]
                exact[t] = dense_product(queries[q], rows[r]) - halves[r]
        keep_largest(near[q], n_sure, doubtful[:n_doubtful], exact[:n_doubtful])
        for slot in range(k):
            kept[q, slot] = keys[q, near[q, slot]]
    return near, kept


@njit(cache=True, nogil=True)
def add_lists(keys, queries, lists):
    """Add the inner products of sparse queries and rows to the keys, by means of inverted lists.

    lists : the rows as a CSC matrix, given as the tuple (data, indices, offsets). For each feature, it lists the rows
        in which this feature is not 0
    """
    data, indices, offsets = queries
    numbers, rows, starts = lists
    for q in range(len(keys)):
        own = keys[q]
        for slot in range(offsets[q], offsets[q + 1]):
            x, f = data[slot], indices[slot]
            for entry in range(U64(starts[f]), U64(starts[f + 1])):
                own[U32(rows[entry])] += x * numbers[entry]


@njit(cache=True, nogil=True)
def add_scan(keys, queries, rows, spread):
    """Do the same as `add_lists`, but row by row.

    This is fast if there are few rows, as in a leaf of a tree.
    """
    for q in range(len(keys)):
        spread_out(queries, q, spread)
        for r in range(keys.shape[1]):
            keys[q, r] += sparse_product(spread, rows, r)
        clear(queries, q, spread)


@njit(cache=True)
def spread_out(queries, q, spread):
    """Write the sparse query q into the dense row `spread`, which must contain only zeros."""
    data, indices, offsets = queries
    for entry in range(offsets[q], offsets[q + 1]):
        spread[indices[entry]] = data[entry]


@njit(cache=True)
def clear(queries, q, spread):
    """Set the numbers that `spread_out` has written for query q to 0 again."""
    _, indices, offsets = queries
    for entry in range(offsets[q], offsets[q + 1]):
        spread[indices[entry]] = 0


@njit(cache=True, nogil=True)
def nearest_sparse(keys, queries, rows, halves, slacks, spread, k):
    """Do the same as `nearest_dense` for sparse queries and rows."""
    m, n = keys.shape
    near, kept = np.empty((m, k), dtype=np.int32), np.empty((m, k), dtype=np.float32)
    doubtful, exact = np.empty(n, dtype=np.int32), np.empty(n)
    group_largest = np.empty(min(GROUPS * k, n), dtype=np.float32)
    for q in range(m):
        n_sure, n_doubtful = split_by_rounding(keys[q], k, slacks[q], near[q], doubtful, group_largest)
        if n_doubtful > k - n_sure:
            spread_out(queries, q, spread)
            for t in range(n_doubtful):
                exact[t] = sparse_product(spread, rows, doubtful[t]) - halves[doubtful[t]]
            clear(queries, q, spread)
        keep_largest(near[q], n_sure, doubtful[:n_doubtful], exact[:n_doubtful])
        for slot in range(k):
            kept[q, slot] = keys[q, near[q, slot]]
    return near, kept


@njit(cache=True, nogil=True)
def dense_products(queries, rows, near):
    """Return the inner products of each query with the k rows in its row of `near`, (m, k) float64."""
    products = np.empty(near.shape)
    for q in range(len(near)):
        for slot in range(near.shape[1]):
            products[q, slot] = dense_product(queries[q], rows[near[q, slot]])
    return products


@njit(cache=True, nogil=True)
def sparse_products(queries, rows, near, spread):
    """Do the same as `dense_products` for sparse queries and rows."""
    products = np.empty(near.shape)
    for q in range(len(near)):
        spread_out(queries, q, spread)
        for slot in range(near.shape[1]):
            products[q, slot] = sparse_product(spread, rows, near[q, slot])
        clear(queries, q, spread)
    return products


@njit(cache=True, nogil=True)
def add_votes(scores, near, weights, offsets, labels):
    """Add the weight of each neighbour of a query to the query's scores for the neighbour's labels.

    scores : (m, n_labels) float64, updated
    weights : (m, k) float64
    offsets : (n + 1,) int64, where the labels of each row start in `labels`
    labels : (n_pairs,) int32
    """
    for q in range(len(near)):
        for slot in range(near.shape[1]):
            r = near[q, slot]
            for pair in range(offsets[r], offsets[r + 1]):
                scores[q, labels[pair]] += weights[q, slot]


@njit(cache=True, nogil=True)
def round_in_order(sums, without_votes, scores):
    """Round each query's sums of votes to float32, but keep different sums different.

    If several different sums would be rounded to the same number, the smallest sum gets this number, and the larger
    sums get the next larger float32 numbers. The sums of labels without a vote are an exception: they are only rounded.

    sums : (m, n_labels) float64
    without_votes : (n_labels,) float64, the sum of each label if it has no vote
    scores : (m, n_labels) float32, written
    """
    voted = np.empty(sums.shape[1], dtype=np.int64)
    for q in range(len(sums)):
        n_voted = 0
        for c in range(sums.shape[1]):
            scores[q, c] = np.float32(sums[q, c])
            if sums[q, c] != without_votes[c]:
                voted[n_voted] = c
                n_voted += 1
        ascending = voted[:n_voted][np.argsort(sums[q][voted[:n_voted]], kind="mergesort")]
        for t in range(1, n_voted):
            c, before = ascending[t], ascending[t - 1]
            if scores[q, c] <= scores[q, before]:
                is_tie = sums[q, c] == sums[q, before]
                scores[q, c] = scores[q, before] if is_tie else np.nextafter(scores[q, before], np.float32(np.inf))


@njit(cache=True, nogil=True)
def take_in_turns(near, own, n, k):
    """Merge the neighbours that several searches found for each query.

    First, the nearest neighbour of each search is taken, then the second nearest of each search, and so on. No row is
    taken twice for the same query.

    near : (n_searches, m, t) int32, the row numbers that each search found for each query, nearest first
    own : (m,) int32, the row of the query itself, which is not taken as its neighbour; -1 if the query is not a row
    n : number of rows
    k
        Number of neighbours to take for each query. The searches must have found at least k different rows, besides the
        query's own row.

    Returns the row numbers of the neighbours, (m, k) int32, in the order in which they were taken.
    """
    n_searches, m, n_found = near.shape
    merged = np.empty((m, k), dtype=np.int32)
    taken_for = np.full(n, -1, dtype=np.int64)
    for q in range(m):
        if own[q] >= 0:
            taken_for[own[q]] = q
        count = 0
        for slot in range(n_found):
            for search in range(n_searches):
                r = near[search, q, slot]
                if count < k and taken_for[r] != q:
                    taken_for[r] = q
                    merged[q, count] = r
                    count += 1
    return merged
