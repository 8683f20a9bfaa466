"""Report in one line why a run's configuration file cannot be read; Snakemake would show a long traceback.

`make CONFIG=FILE` runs this script first. The package checks the content later, when Snakemake has read the file.
"""

import sys
from pathlib import Path

from vsebench.core.errors import UserError
from vsebench.core.yaml_files import read_yaml

path = Path(sys.argv[1])
try:
    if not isinstance(read_yaml(path), dict):
        raise UserError(f"{path}: no keys; a run's configuration is one YAML mapping, see docs/configuration.md")
except UserError as error:
    sys.exit(f"vsebench: {error}")
except OSError as error:
    sys.exit(f"vsebench: {path}: {error.strerror}")
