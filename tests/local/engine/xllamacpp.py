"""Stands in for the package ``xllamacpp``, in a process of its own: the same classes, and a real server.

It loads as long as a file ``<model>.loading`` exists, fails on a model that holds ``broken``, and wants
the key.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

ANSWER = "Hello from the local model"


class CommonParams:
    def __init__(self) -> None:
        self.model = SimpleNamespace(path="")
        self.model_alias: set[str] = set()
        self.port = 0
        self.api_keys: list[str] = []
        self.cors_origins = "*"
        self.endpoint_slots = True


class Server:
    """Returns once the model is loaded; answers with 503 until then."""

    def __init__(self, params: CommonParams) -> None:
        model = Path(params.model.path)
        self.loaded = False
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                models = [{"id": name, "object": "model"} for name in params.model_alias]
                self.answer(200 if server.loaded else 503, {"object": "list", "data": models})

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                if self.headers["authorization"] != f"Bearer {params.api_keys[0]}":
                    self.answer(401, {"error": {"message": "wrong key"}})
                elif body.get("stream"):
                    self.stream(body["model"])

            def stream(self, name: str) -> None:
                self.send_response(200)
                self.send_header("content-type", "text/event-stream")
                self.end_headers()
                delta = {"role": "assistant", "content": f"{ANSWER} {name}"}
                for choice in ({"delta": delta}, {"delta": {}, "finish_reason": "stop"}):
                    chunk = {"id": "1", "model": name, "choices": [{"index": 0, **choice}]}
                    self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())
                self.wfile.write(b"data: [DONE]\n\n")

            def answer(self, status: int, value: dict[str, Any]) -> None:
                data = json.dumps(value).encode()
                self.send_response(status)
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: object) -> None:
                """Quiet."""

        http = ThreadingHTTPServer(("127.0.0.1", params.port), Handler)
        threading.Thread(target=http.serve_forever, daemon=True).start()
        while model.with_suffix(".loading").exists():
            time.sleep(0.01)
        if b"broken" in model.read_bytes():
            sys.stderr.write("0.00.000.001 I loading\n0.00.000.002 E load: tensor 3 is cut off\n0.1 E bye\n")
            raise RuntimeError("Failed to init server")
        self.loaded = True
