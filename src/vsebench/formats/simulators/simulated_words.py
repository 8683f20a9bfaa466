"""Simulate word vectors that have a given correlation with the appearance vectors of labels (`simulated_tags.py`).

    u_l = unit[A (rho z_l + sqrt(1 - rho^2) z'_l)],   z'_l ~ N(0, I_m / m),   A (d, m) with orthonormal columns
    v_l = sqrt(1 - kappa^2) u_l + kappa c,            c a unit vector that all words share

z_l is the appearance vector of label l, with m dimensions. v_l is the word vector of label l, with d dimensions.
unit[v] is v divided by its length. With `correlation` rho = 1 and without a shared component (kappa = 0), the word
vectors of two labels are as similar as their appearance vectors. With rho = 0, word vectors are independent of
appearance vectors.

Source: made for this project.
"""

import math
from collections.abc import Collection
from pathlib import Path

import numpy as np
from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from vsebench.core.yaml_files import Strict
from vsebench.data.streams import generator
from vsebench.formats.simulators.simulated_tags import label_names, looks
from vsebench.formats.word_vectors.word_files import VectorsRead

MEANINGS, AXES, COMMON = 100, 101, 102  # random streams; the data set uses others


class Options(Strict):
    """Options: the distribution of the word vectors; `labels`, `latent` and `seed` must be as in the data set."""

    labels: int = Field(ge=2)  # number of labels, as in the data set
    latent: int = Field(ge=1)  # m, the number of dimensions of the appearance vectors, as in the data set
    dimensions: int = Field(ge=1)  # d, the number of dimensions of the word vectors
    correlation: float = Field(ge=0, le=1)  # rho, the correlation of word vectors and appearance vectors
    common: float = Field(ge=0, lt=1)  # kappa, the length of the component that all words share
    seed: int = Field(default=0, ge=0)  # seed of the data set

    @model_validator(mode="after")
    def _enough_dimensions(self) -> "Options":
        if self.dimensions < self.latent:
            raise PydanticCustomError("dimensions", "dimensions: must be at least `latent`")
        return self


def read_vectors(raw: Path, options: Options, needed: Collection[str]) -> VectorsRead:
    """Draw the vectors of the needed words; `raw` is not used. The same options give the same vectors."""
    z, rho = looks(options.labels, options.latent, options.seed), options.correlation
    other_z = generator(options.seed, MEANINGS).standard_normal(z.shape) / math.sqrt(options.latent)
    axes, _ = np.linalg.qr(generator(options.seed, AXES).standard_normal((options.dimensions, options.latent)))
    own = (rho * z + math.sqrt(1 - rho**2) * other_z) @ axes.T
    own /= np.linalg.norm(own, axis=1, keepdims=True)
    shared = generator(options.seed, COMMON).standard_normal(options.dimensions)
    shared /= np.linalg.norm(shared)
    vectors = (math.sqrt(1 - options.common**2) * own + options.common * shared).astype(np.float32)
    words = dict(zip(label_names(options.labels), vectors, strict=True))
    return VectorsRead({word: words[word] for word in words if word in needed}, options.dimensions, [])
