"""The contestants, and the settings to try for each contestant.

The number of settings to try is the same for all contestants whose quality is compared. Our methods have the settings
in `config/methods`, except for the settings named here.
"""

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

from benchmarks.biases.opt_auc import OptAucBiases
from benchmarks.biases.warp import WarpAdaptive
from benchmarks.clock import timed
from benchmarks.data import configured
from benchmarks.plan import SEED
from vsebench.core.errors import UserError
from vsebench.core.workers import Workers
from vsebench.data.problem import LabelMatrix, Problem
from vsebench.data.problem import Training as Labels
from vsebench.methods.base import Method, load_method, read_settings, with_factors
from vsebench.models import Model
from vsebench.training import warm_up

Settings = dict[str, float | str]
PEERS = ("implicit", "irspack", "cornac", "lightfm")
FEW_FACTORS = 16  # enough to load kernels


class Training:
    """A model that is being trained, by a `method` of ours or by a third-party package."""

    method: Any

    def run(self, epochs: int) -> list[float]:
        """Train for some epochs, and return the seconds of each epoch.

        The seconds do not include preparations that a package repeats in each call.
        """
        return [timed(self.epoch)() for _ in range(epochs)]

    def epoch(self) -> object:
        """Train for one epoch."""
        return self.method.epoch()

    def model(self) -> Model:
        """Return the current model."""
        model: Model = self.method.model()
        return model


@dataclass(frozen=True)
class Contestant:
    """A method of ours or of a third-party package.

    `start` is called with the training labels, the settings including the number of factors, and a pool of threads.
    """

    name: str
    title: str
    start: Callable[[LabelMatrix, Settings, Workers], Training]
    grid: tuple[Settings, ...]


@cache
def warm(variant: str, own: type[Method] | None) -> tuple[type[Method], dict[str, Any]]:
    """Compile the kernels of a method before it is timed, and return the method and its settings.

    The settings are those in the variant's file in `config/methods`. The method is `own` or, if this is None, the
    method that the file names.
    """
    config = configured(variant)
    method = own or load_method(config.method)
    if not issubclass(method, Method):
        raise UserError(f"{variant}: an untrained method has no training time")
    settings = config.settings
    if own:
        settings = {key: value for key, value in settings.items() if key in method.settings_type.model_fields}
    warm_up(method, read_settings(method, with_factors(method, settings, FEW_FACTORS), variant))
    return method, settings


class Ours(Training):
    """A method of this package with the settings of a file in `config/methods`; `method` replaces the file's method."""

    def __init__(
        self,
        variant: str,
        fixed: Settings,
        train: LabelMatrix,
        settings: Settings,
        pool: Workers,
        method: type[Method] | None = None,
        seed: int = SEED,
    ) -> None:
        trained, values = warm(variant, method)
        problem = Problem(Labels.all_of(train), seed, pool)
        self.method = trained(problem, read_settings(trained, values | fixed | settings, variant))


def _peer(name: str, train: LabelMatrix, settings: Settings, pool: Workers) -> Training:
    """Start a peer; its package is imported only now."""
    peers = importlib.import_module("benchmarks.peers")
    training: Training = getattr(peers, name)(train, settings, pool)
    return training


def grid_of(names: str, *settings: tuple[float, ...]) -> tuple[Settings, ...]:
    """Return settings for each tuple of values; `names` are the settings' names, separated by spaces."""
    return tuple(dict(zip(names.split(), values, strict=True)) for values in settings)


# The settings to try for VSE-fs and implicit ALS. `ImplicitAls` explains `beta_0` and `regularisation`.
OBJECTIVES = grid_of("beta_0 regularisation", (4.0, 4.0), (4.0, 8.0), (128.0, 16.0), (256.0, 32.0))
IALS_OBJECTIVES = grid_of(
    "alpha_0 regularisation nu", (0.003, 0.03, 1.0), (0.01, 0.03, 1.0), (0.03, 0.03, 1.0), (0.03, 0.1, 1.0)
)
BPR = grid_of("learning_rate regularisation", (0.05, 0.003), (0.1, 0.003), (0.2, 0.01), (0.3, 0.01))
WARP = grid_of("learning_rate regularisation", (0.01, 0.0), (0.01, 0.01), (0.02, 0.01), (0.05, 0.0))
LIGHTFM = grid_of("learning_rate regularisation", (0.01, 0.0), (0.02, 0.0), (0.02, 0.0003), (0.05, 0.0))
AS_CONFIGURED: tuple[Settings, ...] = ({},)  # for methods whose quality is not compared

VSE_FS = Contestant("vse_fs", "VSE-fs", partial(Ours, "vse_fs", {"gamma": 0.01}), OBJECTIVES)
MATCHED = Contestant(
    "vse_fs_matched",
    "VSE-fs, gamma 0",
    partial(Ours, "vse_fs", {"gamma": 0.0, "alpha": 0.0, "weights": "ones"}),
    OBJECTIVES,
)
# As in Cornac and LightFM, embeddings start smaller than in the papers, and Opt-AUC and WARP have biases.
OPT_AUC = Contestant(
    "opt_auc",
    "Opt-AUC, biases",
    partial(Ours, "opt_auc", {"deviation": 0.01}, method=OptAucBiases),
    BPR,
)
WARP_10 = Contestant(
    "warp",
    "WARP, 10 trials, adaptive",
    partial(Ours, "warp", {"trials": 10, "deviation": 0.002}, method=WarpAdaptive),
    WARP,
)
OPT_AUC_PLAIN = Contestant("opt_auc_plain", "Opt-AUC", partial(Ours, "opt_auc", {}), AS_CONFIGURED)
ENS = Contestant("vse_ens", "VSE-ens", partial(Ours, "vse_ens", {}), AS_CONFIGURED)
# Pairs: a method in two parts, which two threads train, and the same method without parts.
IN_PARTS = tuple(
    (
        Contestant(f"{plain.name}_parts", f"{plain.title}, 2 parts", partial(Ours, file, {"parts": 2}), AS_CONFIGURED),
        plain,
    )
    for file, plain in (("opt_auc", OPT_AUC_PLAIN), ("vse_ens", ENS))
)
ALS = Contestant("implicit_als", "implicit ALS", partial(_peer, "ImplicitAls"), OBJECTIVES)
IALS = Contestant("ials", "iALS", partial(Ours, "ials", {}), IALS_OBJECTIVES)
IRSPACK_IALS = Contestant("irspack_ials", "irspack iALS", partial(_peer, "IrspackIals"), IALS_OBJECTIVES)
IRSPACK_IALSPP = Contestant("irspack_ialspp", "irspack iALS++", partial(_peer, "IrspackIalspp"), IALS_OBJECTIVES)
IMPLICIT_BPR = Contestant("implicit_bpr", "implicit BPR", partial(_peer, "ImplicitBpr"), BPR)
CORNAC_BPR = Contestant("cornac_bpr", "Cornac BPR", partial(_peer, "CornacBpr"), BPR)
LIGHTFM_WARP = Contestant("lightfm_warp", "LightFM WARP", partial(_peer, "LightfmWarp"), LIGHTFM)
EVERYONE = (
    VSE_FS, MATCHED, OPT_AUC, OPT_AUC_PLAIN, WARP_10, ENS, ALS, IALS, IRSPACK_IALS, IRSPACK_IALSPP, IMPLICIT_BPR,
    CORNAC_BPR, LIGHTFM_WARP,
)  # fmt: skip
