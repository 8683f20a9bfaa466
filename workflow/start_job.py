"""Start a job, `start_job.py SOCKET STAGE ...`, in a fork of the server (src/vsebench/job_server.py), and wait.

If the server cannot be reached, or if it ends before the job does, `python -m vsebench` replaces this process. The
script imports as little as possible, because each job waits for it.
"""

import json
import os
import signal
import socket
import sys


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # the job receives the signal, too
    path, *arguments = sys.argv[1:]
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        try:
            connection.connect(path)
            socket.send_fds(connection, [b"."], [0, 1, 2])
            message = json.dumps([arguments, os.getcwd(), dict(os.environ)])  # noqa: PTH109 (pathlib would take half of the time)
            connection.sendall(message.encode() + b"\n")
            answer = connection.makefile("rb").read(5)  # the number of the job's process, and its exit status
        except OSError:
            answer = b""
    if len(answer) == 5:
        sys.exit(answer[4])
    # There is no server, or it was killed, either together with Snakemake or because memory ran out.
    if len(answer) == 4 and exists(int.from_bytes(answer, "big"), signal.SIGKILL):
        print("the server of jobs ended; this job begins again without it", file=sys.stderr)
    if not exists(int(os.environ.get("VSEBENCH_PARENT", os.getppid()))):
        sys.exit(137)
    os.execv(sys.executable, [sys.executable, "-m", "vsebench", *arguments])


def exists(process: int, number: int = 0) -> bool:
    """Send a signal to a process, 0 to send none; return whether there is such a process."""
    try:
        os.kill(process, number)
    except OSError:
        return False
    return True


main()
