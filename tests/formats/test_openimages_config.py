"""The configuration files of the data sets that this folder's adapters read, with the adapters' options."""

from pathlib import Path

import pytest

from vsebench.core.configuration import DatasetConfig, check, read_config
from vsebench.formats.adapters import load_adapter

CONFIGS = Path(__file__).parents[2] / "config" / "datasets"
ADAPTERS = ("lear", "nuswide_concepts", "nuswide_tags", "openimages")
FILES = {path: config for path in sorted(CONFIGS.glob("*.yaml")) if (config := read_config(DatasetConfig, path))}
OURS = [path for path, config in FILES.items() if config.adapter in ADAPTERS]


PACKED_BY_HAND = "NUS_WID_Low_Level_Features.zip"


def test_every_data_set_has_a_file():
    openimages = {"openimages-ens", "openimages-fs", "openimages-v3-human"}
    nuswide = {"nuswide", "nuswide1k", "nuswide1006", "nuswide925", "nuswide81"}
    assert openimages | nuswide <= {path.stem for path in OURS}


@pytest.mark.parametrize("path", OURS, ids=lambda path: path.stem)
def test_options_are_valid_and_their_files_are_downloaded(path):
    config = FILES[path]
    module = load_adapter(config.adapter, str(path))
    options = check(module.Options, config.options, str(path))
    names = [file.name for file in config.files]
    assert len(names) == len(set(names))
    if config.adapter == "openimages":
        assert names == [options.archive, options.class_names.archive]
        assert all(file.md5 and file.size for file in config.files)
    if config.adapter == "lear":
        assert names[0] == f"{options.prefix}.{options.release}.tar.bz2"
        assert names[1:] == ([config.features.file, config.features.ids] if config.features else [])
    if config.adapter.startswith("nuswide"):
        assert all(len(file.sources) == 2 for file in config.files if file.name != PACKED_BY_HAND)
    assert all(source.endswith(file.name) for file in config.files for source in file.sources)
