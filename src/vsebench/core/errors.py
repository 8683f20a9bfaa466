"""The exception for a user's mistake or a bad file, and parts of messages that several modules need."""

import errno
import os
import re
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

EMPTY = "(empty)"  # in place of the last line of an empty log
LONGEST = 1000  # longest message in characters; without this limit, a message could quote a very long table cell
# import names of the packages that `make setup-peers` installs
PEERS = {"cornac", "faiss", "implicit", "irspack", "lightfm"}
ONNX = "onnxruntime"  # the package that runs networks
REFUSALS = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOMEM}
# paths in the folder of a run, and paths that lead out of it
PATHS_OF_RUN = re.compile(r"(?<![\w/.-])(?:(?:\.\./)+|(?:results|data|figures)/)[^\s:;,()'\"]+")
IMAGES = {ONNX, "tokenizers"}  # import names of packages that `make setup-images` installs


class UserError(Exception):
    """A mistake that the user can correct, described in one line.

    The message names what is wrong, in which file and key, and what to do. The command line prints the message without
    a traceback and exits with status 1.
    """

    def __init__(self, message: str) -> None:
        line = " ".join(message.splitlines())
        super().__init__(line if len(line) <= LONGEST else f"{line[: LONGEST - 300]} ... {line[-295:]}")


def one_line(error: Exception) -> str:
    """Return an error's message on one line, cut to 200 characters."""
    return " ".join(str(error).split())[:200]


def refusal(error: BaseException) -> str | None:
    """Return in a few words what the system refused: memory, space or permission.

    For an error of another kind, the result is None.

    >>> refusal(OSError(28, "No space left on device")), refusal(ValueError("wrong"))
    ('No space left on device', None)
    """
    if isinstance(error, MemoryError):
        return "memory ran out" + (f" ({one_line(error)})" if str(error) else "")
    in_text = re.search(r"\(os error (\d+)\)", str(error))  # polars states the error's number only in the text
    number = error.errno if isinstance(error, OSError) and error.errno else in_text and int(in_text[1])
    if number not in REFUSALS:
        return None
    path = getattr(error, "filename", None)
    return f"{path}: {os.strerror(number)}" if path else os.strerror(number)


def no_file(path: str | os.PathLike[str], what: str = "file") -> str:
    """Return a message that a file is missing.

    The message contains the full path of the file, because a run may work in another folder than the user.
    """
    return f"there is no {what} {os.path.abspath(path)}"  # noqa: PTH100 (links stay as they are named)


def seen_from_start(message: str, folder: Path) -> str:
    """Return a message with its paths made relative to the folder where the run was started.

    folder : the folder of the run, to which the paths in `message` are relative
    """
    return PATHS_OF_RUN.sub(lambda found: path_from_start(found[0], folder), message)


def path_from_start(path: str, folder: Path) -> str:
    """Return a path relative to the folder where the run was started, given a path relative to the run's folder."""
    if os.path.isabs(path):  # noqa: PTH117
        return path
    start = os.path.realpath(os.environ.get("PWD", "."))
    return os.path.relpath(os.path.join(os.path.realpath(folder), path), start)  # noqa: PTH118 (a path with ..)


def last_line(log: Path) -> str:
    """Return the last line of a log; if the log ends in a traceback, this line names the error."""
    text = log.read_text(errors="replace").strip() if log.is_file() else ""
    return text.splitlines()[-1] if text else EMPTY


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a question that suggests the known names most similar to an unknown name; empty if none is similar."""
    close = get_close_matches(name, known, n=3)
    return f"did you mean {' or '.join(close)}? " if close else ""


def instead(name: str, known: Iterable[str], kind: str) -> str:
    """Return the end of a message about an unknown name, which helps the user to find the right name.

    The text suggests the most similar names. It also says that the command `vsebench list <kind>` lists all names.
    """
    return f"{did_you_mean(name, known)}`vsebench list {kind}` lists all"


def missing_package(name: str) -> str:
    """Return the end of a message that says which package is missing and how to install it.

    `name` is the module that could not be imported (`ModuleNotFoundError.name`).
    """
    package = name.partition(".")[0]
    if package == __name__.partition(".")[0]:
        return f"there is no module {name}"
    if package in PEERS:
        return f"it needs the package {package}; `make setup-peers` installs it"
    if package in IMAGES:
        return f"it needs the package {package}; `make setup-images` installs it"
    return f"it needs the package {package}; install it, usually with `pip install {package}`"


def without_password(address: str) -> str:
    """Return an address without user and password, for records and messages.

    >>> without_password("https://me:secret@example.org/a.zip")
    'https://example.org/a.zip'
    """
    parts = urlsplit(address)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
