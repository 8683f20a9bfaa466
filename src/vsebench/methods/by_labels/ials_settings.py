"""The settings of iALS, which `ials` and `irspack_ials` share; `ials` states the loss."""

from pydantic import Field

from vsebench.methods.base import FactorSettings


class IalsSettings(FactorSettings):
    """Settings of iALS, named as by Rendle and others."""

    alpha_0: float = Field(gt=0)  # weight of the squared scores of all pairs; squared errors of positives have weight 1
    regularisation: float = Field(ge=0)  # lambda, the penalty on squared vectors
    # Exponent of the penalties' factors, |C_i| + alpha_0 |C| of an image and n_c + alpha_0 n of a label; 0: all equal.
    nu: float = Field(ge=0)
    deviation: float = Field(gt=0)  # standard deviation of the initial embeddings, which are normal
