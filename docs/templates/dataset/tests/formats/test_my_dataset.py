"""The reader of my_dataset, on small files."""

from pathlib import Path

import pytest

from vsebench.config.dataset import DatasetConfig
from vsebench.core.errors import UserError
from vsebench.core.yaml_files import read_config
from vsebench.formats.readers.my_dataset import Options, read

ROOT = Path(__file__).parents[2]


def test_labels_are_read(tmp_path):
    (tmp_path / "my_dataset.txt").write_text("b sea sky sea\na sky\nc\n")
    annotations = read(tmp_path, Options())
    assert annotations.images.to_list() == ["b", "a", "c"]
    assert annotations.labels == ["sea", "sky"]
    assert annotations.pairs.rows() == [(0, 0, 2), (0, 1, 1), (1, 1, 1)]


def test_an_image_twice_is_refused(tmp_path):
    (tmp_path / "my_dataset.txt").write_text("a sea\na sky\n")
    with pytest.raises(UserError, match="the image 'a' occurs 2 times"):
        read(tmp_path, Options())


def test_its_description_is_complete():
    assert read_config(DatasetConfig, ROOT / "config/datasets/my-dataset.yaml").adapter == "my_dataset"
