"""Calls of the stages `download` and `prepare` as the workflow makes them."""

import json
from pathlib import Path
from typing import Any

from vsebench.cli import main
from vsebench.config.dataset import DatasetConfig
from vsebench.core.yaml_files import read_config

CONFIGS = Path(__file__).parent.parent / "config" / "datasets"


def described(name: str) -> DatasetConfig:
    """Return a data set of the repository's configuration."""
    config: DatasetConfig = read_config(DatasetConfig, CONFIGS / f"{name}.yaml")
    return config


def arguments(stage: str, definition: dict[str, Any] | DatasetConfig, *folders: Path | str, name: str) -> list[str]:
    """Return a stage's command line; `folders` are the folder of raw files and, for `prepare`, the output folder."""
    if isinstance(definition, DatasetConfig):
        definition = definition.definition()
    keys = ["--out"] if stage == "download" else ["--raw", "--out"]
    options = [word for key, folder in zip(keys, folders, strict=True) for word in (key, str(folder))]
    return ["stage", stage, "--name", name, "--definition", json.dumps(definition), *options]


def download(definition: dict[str, Any] | DatasetConfig, raw: Path | str, name: str = "tiny") -> int:
    """Run the stage `download`; return its exit status."""
    return main(arguments("download", definition, raw, name=name))


def prepare(definition: dict[str, Any] | DatasetConfig, raw: Path | str, out: Path | str, name: str = "tiny") -> int:
    """Run the stage `prepare`; return its exit status."""
    return main(arguments("prepare", definition, raw, out, name=name))
