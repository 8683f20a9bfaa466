"""Writing the files of something new into the repository from templates."""

import re
from collections.abc import Mapping
from pathlib import Path

from vsebench.core.errors import UserError

NAME = re.compile(r"[a-z][a-z0-9_]*")


def write_new(templates: Mapping[str, str], name: str, root: Path) -> list[Path]:
    """Write files and return their paths below `root`, the repository's folder.

    Parameters
    ----------
    templates : path -> text; NAME stands for `name` in both

    Raises
    ------
    UserError
        The name is none of a module, this is not the repository, or a file is there already; then none is written.
    """
    if not NAME.fullmatch(name):
        raise UserError(f"{name!r} cannot be a name; use small letters, digits and _, with a letter first")
    files = {Path(path.replace("NAME", name)): text.replace("NAME", name) for path, text in templates.items()}
    for path in files:
        if not (root / path).parent.is_dir():
            raise UserError(f"{root}: no folder {path.parent}; run this in the folder of the repository")
        if (root / path).exists():
            raise UserError(f"{path}: is there already; take another name, or delete it first")
    for path, text in files.items():
        (root / path).write_text(text, encoding="utf-8")
    return list(files)
