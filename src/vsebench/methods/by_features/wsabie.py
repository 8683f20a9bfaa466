"""WSABIE: image features and labels are mapped into one space by two matrices, trained by WARP.

    f_c(x) = <w_c, V' x>,   |row of V| <= C,   |w_c| <= C

V and W start from a normal distribution with the standard deviation 1 / sqrt(d); longer rows are shortened to C.

Source: Weston, Bengio and Usunier, "Large scale image annotation: learning to rank with joint word-image embeddings",
Machine Learning 81(1), 2010, Eq. 1 to 3 and Algorithm 1, with alpha_j = 1/j. Images have several labels here, so a step
draws one of all pairs of an image and its label; negatives are the labels that the image does not carry, and their
number replaces Y - 1.
"""

from vsebench.methods.by_features.embedding_sgd import EmbeddingMethod


class Wsabie(EmbeddingMethod):
    """WSABIE."""


METHOD = Wsabie
