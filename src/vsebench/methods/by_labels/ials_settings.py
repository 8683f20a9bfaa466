"""The settings of iALS, for the methods `ials` and `irspack_ials`; the module `ials` defines the loss."""

from pydantic import Field

from vsebench.methods.base import FactorSettings


class IalsSettings(FactorSettings):
    """Settings of iALS, with the names that Rendle and others use."""

    alpha_0: float = Field(gt=0)  # weight of the squared scores of all pairs; squared errors of positives have weight 1
    regularisation: float = Field(ge=0)  # lambda, the penalty on squared vectors
    # Exponent in the factors of the penalties: (|C_i| + alpha_0 |C|)^nu for an image with |C_i| of the |C| labels, and
    # (n_c + alpha_0 n)^nu for a label that n_c of the n images have; 0: all penalties are equal.
    nu: float = Field(ge=0)
    deviation: float = Field(gt=0)  # standard deviation of the initial embeddings, which are normal
