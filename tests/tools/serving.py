"""A real HTTP server on loopback that answers as a test says."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

Answer = Callable[[BaseHTTPRequestHandler], None]


class Site:
    """``routes`` maps a path (without query) to what answers it; ``paths`` lists what was asked for."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.url = f"http://127.0.0.1:{port}"
        self.routes: dict[str, Answer] = {}
        self.paths: list[str] = []
        self.hosts: list[str] = []
        self.closing = threading.Event()

    def text(
        self, path: str, body: str | bytes, kind: str = "text/plain", status: int = 200, **headers: str
    ) -> None:
        """Answer ``path`` with a whole body."""
        data = body.encode() if isinstance(body, str) else body

        def answer(request: BaseHTTPRequestHandler) -> None:
            request.send_response(status)
            if kind:
                request.send_header("Content-Type", kind)
            for name, value in headers.items():
                request.send_header(name.replace("_", "-"), value)
            request.send_header("Content-Length", str(len(data)))
            request.end_headers()
            request.wfile.write(data)

        self.routes[path] = answer

    def raw(self, path: str, data: bytes) -> None:
        """Answer with bytes that need not be HTTP."""

        def answer(request: BaseHTTPRequestHandler) -> None:
            request.wfile.write(data)

        self.routes[path] = answer

    def redirect(self, path: str, target: str, status: int = 302) -> None:
        self.text(path, "", status=status, Location=target)

    def drip(self, path: str, piece: bytes = b".", seconds: float = 0.05) -> None:
        """Answer with a body that never ends, one piece at a time."""

        def answer(request: BaseHTTPRequestHandler) -> None:
            request.send_response(200)
            request.send_header("Content-Type", "text/plain")
            request.end_headers()
            while not self.closing.wait(seconds):
                request.wfile.write(piece)

        self.routes[path] = answer


@contextmanager
def serving(tls: ssl.SSLContext | None = None) -> Iterator[Site]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.0"

        def do_GET(self) -> None:
            site.paths.append(self.path)
            site.hosts.append(self.headers.get("Host", ""))
            answer = site.routes.get(self.path.partition("?")[0])
            if answer is None:
                self.send_error(404)
                return
            try:
                answer(self)
            except OSError:
                self.close_connection = True

        def log_message(self, *_: object) -> None:
            """Nothing on stderr."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    if tls:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    site = Site(server.server_address[1])
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield site
    finally:
        site.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()
