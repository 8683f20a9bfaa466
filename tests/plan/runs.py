"""Configurations of runs for the tests of the plan."""

from pathlib import Path

import yaml

from vsebench.core.tasks import Task
from vsebench.plan import read_plan

ROOT = Path(__file__).parents[2]
CONFIG = ROOT / "config"
ONE = {"protocols": ["distinct"]}
IAPR = Task("sim-iapr", "distinct")
TREE = {"dataset": "sim-tree", "repeats": 2, "images": [10, 20], "terms": [5, 10]}
ENSEMBLE = "wsabie_100_200"


def values(path):
    return yaml.safe_load(path.read_text())


def default(**changes):
    """Return the default configuration for one data set."""
    return values(CONFIG / "config.yaml") | {"datasets": {"sim-iapr": ONE}} | changes


def planned(folder=CONFIG, **changes):
    """Return the plan of the default run on one data set, with changes."""
    return read_plan(folder, default(**changes), [])


def partitioned(folder=CONFIG, **changes):
    """Return the plan of a run on a data set with a partition and features, and a simulated one without."""
    datasets = {"corel5k-densehue": {"protocols": ["official", "distinct"]}, "sim-iapr": ONE}
    return planned(folder, datasets=datasets, papers=[], **changes)


def with_grid(variant, grid, **changes):
    return default(methods=["opt_auc"], tune=True, tuning_budget=2, grids={variant: grid}) | changes


def with_variants(variants, **changes):
    """Return the configuration of a run that names the variants of one of its two data sets."""
    chosen = {"protocols": ["official"], "methods": variants}
    methods = ["wsabie_100", "wsabie_200", ENSEMBLE, "ridge", "popularity"]
    return default(datasets={"corel5k-densehue": chosen, "sim-iapr": ONE}, papers=[], methods=methods, **changes)


def change_method(folder, name, **changes):
    path = folder / "methods" / f"{name}.yaml"
    content = {key: value for key, value in (values(path) | changes).items() if value is not None}
    path.write_text(yaml.safe_dump(content))


def own_table(folder, **data):
    (folder / "t.csv").write_text("image,label\n1,a\n")
    return {"mine": {"protocols": ["distinct"], "data": {"pairs": str(folder / "t.csv"), **data}}}
