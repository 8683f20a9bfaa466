"""The names of the tables and figures of a run; the workflow asks here, too."""

from collections.abc import Iterable

from vsebench.core.errors import UserError

Pair = tuple[str, str]  # a data set and a protocol
AUDIT_TABLES = ["audit", "audit-counts"]
CLAIM_TABLES = ["claims", "claims-summary"]
VSE_PAPERS = {"vse_ens": "VSE-ens", "vse_fs": "VSE-fs"}
# What each table of these two papers is about; the workflow makes a target of each table and figure.
PAPER_TABLES = {
    "vse_ens_table1": "statistics",
    "vse_ens_table2": "accuracy",
    "vse_ens_table3": "complexity",
    "vse_ens_table4": "time",
    "vse_fs_table1": "statistics",
    "vse_fs_table2": "complexity",
    "vse_fs_table3": "time",
    "vse_fs_table4": "accuracy",
}
PAPER_FIGURES = ["vse_ens_figure1", "vse_fs_figure2"]


def table_names(pairs: Iterable[Pair]) -> list[str]:
    """Return the names that stage `table` accepts for these data sets and protocols."""
    accuracy = (f"accuracy-{dataset}-{protocol}" for dataset, protocol in pairs)
    return ["datasets", "training-time", *AUDIT_TABLES, *CLAIM_TABLES, *accuracy]


def figure_names(pairs: Iterable[Pair]) -> list[str]:
    """Return the names that stage `figure` accepts for these data sets and protocols."""
    kinds = ("accuracy", "convergence")
    single = [f"{kind}-{dataset}-{protocol}" for dataset, protocol in pairs for kind in kinds]
    return ["overview", "mean-ranks", "training-time", "trials", *single]


def split_name(name: str, pairs: Iterable[Pair], known: list[str]) -> tuple[str, Pair | None]:
    """Return the kind of a table or figure and its data set and protocol, if it is about one of them.

    >>> split_name("accuracy-sim-iapr-distinct", [("sim-iapr", "distinct")], ["accuracy-sim-iapr-distinct"])
    ('accuracy', ('sim-iapr', 'distinct'))
    """
    if name not in known:
        raise UserError(f"there is no {name!r} in these results, but there are: {', '.join(known)}")
    for pair in pairs:
        suffix = "-" + "-".join(pair)
        if name.endswith(suffix) and name.removesuffix(suffix) in ("accuracy", "convergence"):
            return name.removesuffix(suffix), pair
    return name, None
