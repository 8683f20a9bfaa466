"""The exception for a user's mistake or a bad file, and the messages of failed processes and missing packages."""

import signal
from subprocess import CompletedProcess

LONGEST = 1000  # characters; a message may quote a cell of any length
PEERS = {"cornac", "implicit", "lightfm"}  # import names of the packages that `make setup-peers` installs


class UserError(Exception):
    """A mistake that the user can correct, described in one line.

    The message names what is wrong, in which file and key, and what to do. The command line
    prints it without a traceback and exits with status 1.
    """

    def __init__(self, message: str) -> None:
        line = " ".join(message.splitlines())
        super().__init__(line if len(line) <= LONGEST else f"{line[: LONGEST - 300]} ... {line[-295:]}")


def last_words(process: CompletedProcess[str]) -> str:
    """Return the last line that a failed process wrote to standard error, or how it ended if it wrote none."""
    if process.returncode == -signal.SIGKILL:
        return "it was killed; most often that means that memory ran out"
    lines = process.stderr.strip().splitlines()
    return lines[-1] if lines else f"it ended with status {process.returncode}"


def missing_package(name: str) -> str:
    """Return the end of a message: what is missing and how to install it.

    `name` is what could not be imported: `ModuleNotFoundError.name`.
    """
    package = name.partition(".")[0]
    if package == __name__.partition(".")[0]:
        return f"there is no module {name}"
    if package in PEERS:
        return f"it needs the package {package}; `make setup-peers` installs it"
    return f"it needs the package {package}; install it, most often by `pip install {package}`"
