import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from vsebench.core.errors import PEERS, last_words, missing_package


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("import sys; sys.exit('no such thing\\nuse another')", "use another"),
        (
            "import os; os.write(2, b'a warning'); os.kill(os.getpid(), 9)",
            "it was killed; most often that means that memory ran out",
        ),
        ("import sys; sys.exit(3)", "it ended with status 3"),
    ],
)
def test_last_words_of_a_process(code, words):
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert last_words(process) == words


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
