"""A web server on this machine for tests of downloads."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Handler(BaseHTTPRequestHandler):
    """A handler that answers requests by its method `answer`, and writes nothing on standard error."""

    def do_GET(self) -> None:
        self.answer()

    def answer(self) -> None:
        raise NotImplementedError

    def log_message(self, *args: Any) -> None:
        pass


@contextmanager
def serve(handler: type[Handler], **attributes: Any) -> Iterator[Any]:
    """Yield a running server with the given attributes, its `address`, and a list `seen` for requests."""
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads, server.block_on_close = True, False
        vars(server).update({"seen": [], "address": f"http://127.0.0.1:{server.server_port}"} | attributes)
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server
        server.shutdown()
