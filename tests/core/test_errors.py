import tomllib
from pathlib import Path

import pytest

from vsebench.core.errors import PEERS, missing_package


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("implicit", "it needs the package implicit; `make setup-peers` installs it"),
        ("implicit.als", "it needs the package implicit; `make setup-peers` installs it"),
        ("torchish", "it needs the package torchish; install it, most often by `pip install torchish`"),
        ("vsebench.kernals", "there is no module vsebench.kernals"),
    ],
)
def test_what_to_do_about_a_missing_package(name, words):
    assert missing_package(name) == words


def test_the_peers_are_those_of_the_project():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))
    assert {name.removesuffix("-next") for name in project["dependency-groups"]["peers"]} == PEERS
