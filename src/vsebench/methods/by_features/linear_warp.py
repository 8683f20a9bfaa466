"""WARP for a linear model, f_c(x) = <w_c, x>; w_c starts at 0, and norms are not limited.

Source: Weston, Bengio and Usunier, "Large scale image annotation: learning to rank with joint word-image embeddings",
Machine Learning 81(1), 2010, Algorithm 1 with alpha_j = 1/j and the rows "Linear, WARP" of table 5. The paper does not
state whether it limits norms here. Negatives are the labels that the image does not carry; Y - 1 is their number.
"""

from vsebench.methods.by_features.linear_sgd import LinearMethod


class LinearWarp(LinearMethod):
    """WARP for a linear model."""


METHOD = LinearWarp
