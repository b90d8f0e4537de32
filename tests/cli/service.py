"""A small chat-completions service on loopback, good and bad."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

KEY = "sk-right-0123456789"
MODEL = "small-model"
WEB_PAGE = b"<!doctype html><html><title>Welcome</title><body>Sign in</body></html>"


class _Handler(BaseHTTPRequestHandler):
    """``/v1`` is an API; ``/busy/v1`` is never free; every other path is a web page."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        if self.path == "/v1/models" and self.headers.get("authorization") != f"Bearer {KEY}":
            self._error(401, "Incorrect API key provided", "invalid_api_key")
        elif self.path == "/v1/models":
            self._json(200, {"object": "list", "data": [{"id": MODEL, "object": "model"}]})
        else:
            self._send(200, "text/html", WEB_PAGE)

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))) or b"{}")
        if self.path == "/busy/v1/chat/completions":
            self._error(429, "Too many requests", "rate_limit_exceeded")
        elif self.path != "/v1/chat/completions":
            self._send(404 if self.path == "/chat/completions" else 200, "text/html", WEB_PAGE)
        elif self.headers.get("authorization") != f"Bearer {KEY}":
            self._error(401, "Incorrect API key provided", "invalid_api_key")
        elif body.get("model") != MODEL:
            self._error(404, f"The model `{body.get('model')}` does not exist", "model_not_found")
        else:
            self._stream(str(body["messages"][-1]["content"]))

    def _stream(self, question: str) -> None:
        def chunk(delta: dict[str, Any], finish: str | None = None, **more: Any) -> bytes:
            choice = {"index": 0, "delta": delta, "finish_reason": finish}
            value = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": MODEL}
            return f"data: {json.dumps({**value, 'choices': [choice], **more})}\n\n".encode()

        usage = {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15}
        chunks = (
            chunk({"role": "assistant", "content": "You said: "}),
            chunk({"content": question[:40]}),
            chunk({}, "stop", usage=usage),
            b"data: [DONE]\n\n",
        )
        self._send(200, "text/event-stream", b"".join(chunks))

    def _error(self, status: int, message: str, code: str) -> None:
        self._json(status, {"error": {"message": message, "type": "error", "code": code}})

    def _json(self, status: int, value: object) -> None:
        self._send(status, "application/json", json.dumps(value).encode())

    def _send(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  (the base class's name)
        """Tests stay quiet."""


@contextmanager
def model_service() -> Iterator[str]:
    """The service's address, without a path."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
