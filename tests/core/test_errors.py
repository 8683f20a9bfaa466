import tomllib
from pathlib import Path

import pytest

from vsebench.core.errors import IMAGES, PEERS, missing_package


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("implicit", "it needs the package implicit; `make setup-peers` installs it"),
        ("implicit.als", "it needs the package implicit; `make setup-peers` installs it"),
        ("onnxruntime.capi", "it needs the package onnxruntime; `make setup-images` installs it"),
        ("tokenizers", "it needs the package tokenizers; `make setup-images` installs it"),
        ("torchish", "it needs the package torchish; install it, usually with `pip install torchish`"),
        ("vsebench.kernals", "there is no module vsebench.kernals"),
    ],
)
def test_what_to_do_about_a_missing_package(name, words):
    assert missing_package(name) == words


def test_the_peers_are_those_of_the_project():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))
    assert {name.removesuffix("-next") for name in project["dependency-groups"]["peers"]} == PEERS


def test_packages_that_run_networks_are_in_the_extra_of_the_project():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))
    assert {name.partition(">")[0] for name in project["project"]["optional-dependencies"]["images"]} >= IMAGES
