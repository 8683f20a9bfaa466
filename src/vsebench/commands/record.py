"""Record the settings that a tuned run chose, for runs that do not tune.

The command writes <out>/<data set>.yaml (`config.method.ChosenSettings`) for each data set on which the run tuned
methods. If such a file exists already, its searches that the run did not repeat are kept, with two exceptions. If the
options or the vocabulary of the data set differ, no earlier search is kept. If the run used another validation metric
for a task, no earlier search on this task is kept.
"""

import argparse
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import yaml

from vsebench.core.errors import UserError
from vsebench.core.storage import read_json, replacing
from vsebench.core.yaml_files import read_yaml
from vsebench.selection import union

HEAD = """\
# Settings that a tuned run chose on this data set: for each seed, on the validation labels of that seed's split.
# `vsebench record` writes this file; config/README.md says when a run uses these settings.
"""

Entry = dict[str, Any]  # an entry of settings.json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--results", type=Path, default=Path("results"), help="results of a tuned run (default: results)"
    )
    out = "folder to write into (default: config/chosen)"
    parser.add_argument("--out", type=Path, default=Path("config/chosen"), help=out)


def run(arguments: argparse.Namespace) -> None:
    tuned = [entry for entry in read_json(arguments.results / "settings.json") if entry["choice"] == "tuned"]
    if not tuned:
        raise UserError(f"{arguments.results / 'settings.json'}: the run tuned no method; run with tune: true first")
    arguments.out.mkdir(parents=True, exist_ok=True)
    for dataset in read_json(arguments.results / "datasets.json"):
        entries = [entry for entry in tuned if entry["dataset"] == dataset["name"]]
        if entries:
            path = arguments.out / f"{dataset['name']}.yaml"
            write(with_earlier(record_of(dataset, entries), path), path)
            print(path)


def record_of(dataset: dict[str, Any], entries: list[Entry]) -> dict[str, Any]:
    """Return the record of a data set.

    dataset : the entry of the data set in datasets.json
    entries : the entries in settings.json for the methods that were tuned on this data set
    """
    by_protocol = groupby(sorted(entries, key=itemgetter("protocol", "method", "seed")), key=itemgetter("protocol"))
    return {
        "options": OneLine(dataset["options"]),
        "vocabulary": OneLine(dataset["vocabulary"]),
        "protocols": {protocol: searches_of(list(tuned)) for protocol, tuned in by_protocol},
    }


def searches_of(entries: list[Entry]) -> dict[str, Any]:
    """Return the searches on one task, given the task's entries in settings.json, sorted by method and seed."""
    variants: dict[str, dict[str, Any]] = {}
    for variant, tuned in groupby(entries, key=itemgetter("method")):
        searched = [entry for entry in tuned if entry["grid"]]  # a seed without a grid uses another seed's settings
        mean_of = searched[0]["seeds_of_search"]
        variants[variant] = {
            "configurations": max(entry["n_configurations"] for entry in searched),
            "grid": OneLine(union(entry["grid"] for entry in searched)),
            "seeds": {entry["seed"]: OneLine(entry["settings"]) for entry in searched},
        }
        edges = {entry["seed"]: entry["on_edges"] for entry in searched if entry.get("on_edges")}
        variants[variant] |= {"on_edges": OneLine(edges)} if edges else {}
        variants[variant] |= {"mean_of": mean_of} if len(mean_of) > 1 else {}
        variants[variant] |= {"tries": tries} if (tries := tries_of(searched[0])) else {}
        spread = searched[0].get("spread")
        variants[variant] |= {"spread": OneLine(rounded(spread))} if spread else {}
        variants[variant] |= {"data": data} if (data := searched[0].get("data")) else {}
    return {"validation_metric": entries[0]["validation_metric"], "variants": variants}


def tries_of(entry: Entry) -> list[dict[str, Any]]:
    """Return the configurations that a search over several seeds tried, with their best epochs.

    The list is empty if the method is not trained in epochs, or if the search used one seed.
    """
    return [
        OneLine(
            {
                "settings": {name: tried["settings"][name] for name in entry["grid"]},
                "epochs": tried["epochs_by_seed"],
                **({"at_limit": True} if tried["at_limit"] else {}),
            }
        )
        for tried in entry.get("tries", [])
        if "epochs_by_seed" in tried
    ]


def rounded(spread: dict[str, float | None]) -> dict[str, float | None]:
    return {metric: of_metric and round(of_metric, 5) for metric, of_metric in spread.items()}


def with_earlier(record: dict[str, Any], path: Path) -> dict[str, Any]:
    """Add to a record the searches that only the earlier file at `path` contains.

    Nothing is added if the options or the vocabulary of the data set differ between the record and the file. If the
    validation metrics for a protocol differ, nothing is added for this protocol.
    """
    if not path.exists():
        return record
    earlier = read_yaml(path)
    if any(given(earlier[key]) != given(record[key]) for key in ("options", "vocabulary")):
        return record
    protocols = {protocol: compact(searches) for protocol, searches in earlier["protocols"].items()}
    for protocol, searches in record["protocols"].items():
        before = protocols.get(protocol, searches)
        kept = before["variants"] if before["validation_metric"] == searches["validation_metric"] else {}
        protocols[protocol] = searches | {"variants": dict(sorted((kept | searches["variants"]).items()))}
    return record | {"protocols": dict(sorted(protocols.items()))}


def given(values: dict[str, Any]) -> dict[str, Any]:
    """Return a mapping without the keys whose value is null, because null means the same as a missing key."""
    return {key: value for key, value in values.items() if value is not None}


def compact(searches: dict[str, Any]) -> dict[str, Any]:
    """Return recorded searches in which every mapping that the file has on one line is a `OneLine`."""
    variants = {
        variant: search
        | {"grid": OneLine(search["grid"]), "seeds": {seed: OneLine(s) for seed, s in search["seeds"].items()}}
        | {key: OneLine(search[key]) for key in ("on_edges", "spread") if key in search}
        | ({"tries": [OneLine(tried) for tried in search["tries"]]} if "tries" in search else {})
        for variant, search in searches["variants"].items()
    }
    return searches | {"variants": variants}


class OneLine(dict[str, Any]):
    """A mapping that YAML writes on one line."""


class RecordDumper(yaml.SafeDumper):
    """A writer of YAML that puts each `OneLine` on one line."""


RecordDumper.add_representer(
    OneLine, lambda dumper, value: dumper.represent_mapping("tag:yaml.org,2002:map", value, flow_style=True)
)


def write(record: dict[str, Any], path: Path) -> None:
    """Write a record as YAML."""
    with replacing(path) as temporary:
        text = yaml.dump(record, Dumper=RecordDumper, sort_keys=False, default_flow_style=None, width=120)
        temporary.write_text(HEAD + text, encoding="utf-8")
