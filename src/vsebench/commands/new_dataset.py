"""Write the files of a new data set: an adapter that reads it, its description, and a test that passes at once.

It is run in the folder of the repository and overwrites nothing. A table of images and labels needs none of this.
"""

import argparse
from pathlib import Path

from vsebench.core.templates import write_new

ADAPTER = '''"""NAME: say here what its files are, what is read of them, and where the format is described.

A line of `NAME.txt` is an image's id and its labels, with blanks between them.
"""

from pathlib import Path

import numpy as np

from vsebench.core.configuration import Strict
from vsebench.core.errors import UserError
from vsebench.formats.annotations import RawAnnotations, check_unique, count_pairs, image_ids


class Options(Strict):
    """What a data set's file can say under `options`: a typed key each."""


def read(raw: Path, options: Options) -> RawAnnotations:
    """Read the labels of all images; `raw` is the folder of the downloaded files."""
    path = raw / "NAME.txt"
    try:
        lines = [line.split() for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    except (OSError, ValueError) as error:
        raise UserError(f"{path}: cannot be read ({error})") from None
    images = [line[0] for line in lines]
    check_unique(images, str(path), "image")
    names = sorted({name for line in lines for name in line[1:]})
    number = {name: column for column, name in enumerate(names)}
    rows = np.array([row for row, line in enumerate(lines) for _ in line[1:]], dtype=np.int64)
    columns = np.array([number[name] for line in lines for name in line[1:]], dtype=np.int64)
    return RawAnnotations(image_ids(images), names, count_pairs(rows, columns, len(names)))
'''
CONFIG = """title: NAME
family: other
adapter: NAME  # the module
licence: under which the files may be used
citation: authors, title, where and when
files:
  - name: NAME.txt
    sources: []  # addresses to download it from; without one, put it into the mirror or data/raw/NAME
"""
TEST = '''"""NAME by hand."""

from pathlib import Path

import pytest

from vsebench.core.configuration import DatasetConfig, read_config
from vsebench.core.errors import UserError
from vsebench.formats.NAME import Options, read

ROOT = Path(__file__).parents[2]


def test_labels_are_read(tmp_path):
    (tmp_path / "NAME.txt").write_text("b sea sky sea\\na sky\\nc\\n")
    found = read(tmp_path, Options())
    assert found.images.to_list() == ["b", "a", "c"]
    assert found.labels == ["sea", "sky"]
    assert found.pairs.rows() == [(0, 0, 2), (0, 1, 1), (1, 1, 1)]


def test_an_image_twice_is_refused(tmp_path):
    (tmp_path / "NAME.txt").write_text("a sea\\na sky\\n")
    with pytest.raises(UserError, match="duplicate image 'a'"):
        read(tmp_path, Options())


def test_its_description_is_complete():
    assert read_config(DatasetConfig, ROOT / "config/datasets/NAME.yaml").adapter == "NAME"
'''
TEMPLATES = {
    "src/vsebench/formats/NAME.py": ADAPTER,
    "config/datasets/NAME.yaml": CONFIG,
    "tests/formats/test_NAME.py": TEST,
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the stage's arguments."""
    parser.add_argument("name", help="of the adapter and of the data set: small letters, digits and _")


def run(arguments: argparse.Namespace) -> None:
    """Run the stage."""
    adapter, config, test = write_new(TEMPLATES, arguments.name, Path.cwd())
    print(f"{adapter}\n    how its files are read")
    print(f"{config}\n    its title, licence, citation and files")
    print(f"{test}\n    passes now: .venv/bin/pytest {test}")
    print(f"Then name {arguments.name} in a run's `datasets`; docs/data.md says what is done with it.")
