"""my_method, on an example that is computed by hand."""

import numpy as np
from scipy import sparse

import vsebench


def test_the_label_that_is_most_often_with_the_known_label_is_first():
    """Both images of label 0 have label 1, and one of them has label 2; each of them adds 1 / (2 + 1) to a score."""
    matrix = sparse.csr_array(np.array([[1, 1, 0], [1, 1, 1], [0, 0, 1]]))
    new = sparse.csr_array(np.array([[1, 0, 0]]))
    labels, scores = vsebench.fit("my_method", matrix).annotate(labels=new, k=2)
    assert labels.tolist() == [[1, 2]]
    np.testing.assert_allclose(scores, [[2 / 3, 1 / 3]], rtol=1e-6)
