"""Start a job, `start_job.py SOCKET STAGE ...`, in a fork of the server (src/vsebench/job_server.py), and wait.

If the server cannot be reached, `python -m vsebench` replaces this process. The script imports as little as possible,
since each job waits for it.
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
        except OSError:
            os.execv(sys.executable, [sys.executable, "-m", "vsebench", *arguments])
        answer = connection.recv(1)
    # Without an answer, the server was killed: together with Snakemake, or because memory ran out.
    sys.exit(answer[0] if answer else 137)


main()
