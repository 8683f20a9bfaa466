"""The mirror: a folder or web address that a download tries before a file's own address."""

import os
from pathlib import Path

from vsebench.core.errors import UserError, without_password

MIRROR = "VSEBENCH_MIRROR"


def mirror() -> Path | str | None:
    """Return the folder or web address in the environment variable `VSEBENCH_MIRROR`; None if it is not set.

    An address is returned without a / at its end. At the beginning of a folder's path, ~ stands for the user's home.
    The folder need not exist. An address that is neither http nor https, or the home of an unknown user, raises a
    `UserError`.
    """
    value = os.environ.get(MIRROR)
    if not value:
        return None
    if value.startswith(("http://", "https://")):
        return value.rstrip("/")
    if "://" in value:
        known = "set it to a folder or to an address that begins with http:// or https://, or unset it"
        raise UserError(f"{MIRROR}: {without_password(value)} is neither a folder nor a web address; {known}")
    try:
        return Path(value).expanduser()
    except RuntimeError:
        raise UserError(f"{MIRROR}: {value}: there is no such user; correct or unset {MIRROR}") from None
