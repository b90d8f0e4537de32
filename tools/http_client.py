"""One HTTP GET: to a checked address, within a total time, of a bounded size. Standard library only."""

from __future__ import annotations

import io
import socket
import ssl
import threading
import time
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from tools.addresses import Allowed, Resolve, anywhere, checked_addresses, resolve
from tools.failures import ToolError

if TYPE_CHECKING:
    from http.client import HTTPResponse

_SLICE = 0.25
"""Seconds after which a waiting read looks again whether it was cancelled."""
_CHUNK = 65_536
_USER_AGENT = "agent-cli (+python http.client)"


@dataclass(frozen=True, slots=True)
class Response:
    """``headers`` have lower-case names; ``body`` is decompressed, ``complete`` unless cut at the limit."""

    url: str
    status: int
    headers: Mapping[str, str]
    body: bytes
    complete: bool

    @property
    def content_type(self) -> str:
        return self.headers.get("content-type", "").split(";")[0].strip().lower()


@dataclass(frozen=True, slots=True)
class Reach:
    """Where a request may go and how long everything may take. ``seconds`` is the time of all requests
    made with it; ``cancelled`` ends them within a quarter of a second."""

    seconds: float = 10.0
    max_bytes: int = 2 * 2**20
    allowed: Allowed = anywhere
    look_up: Resolve = resolve
    cancelled: threading.Event = field(default_factory=threading.Event)
    begun: float = field(default_factory=time.monotonic)

    def left(self) -> float:
        """Seconds left. Raises ``ToolError`` when the time is over or the call was cancelled."""
        if self.cancelled.is_set():
            raise ToolError("timeout", "The request was cancelled.")
        left = self.begun + self.seconds - time.monotonic()
        if left <= 0:
            raise ToolError("timeout", f"No complete answer within {self.seconds:g} s.")
        return left


def get(url: str, reach: Reach, accept: str = "*/*") -> Response:
    """Follows no redirect. Raises ``ToolError``: network, timeout, permission_denied, invalid_arguments."""
    import http.client  # noqa: PLC0415  15 ms that only a request has to pay

    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    headers = {"User-Agent": _USER_AGENT, "Accept": accept, "Accept-Encoding": "gzip, identity"}
    headers["Host"] = parts.netloc
    stream = _connect(host, port, reach, tls=parts.scheme == "https")
    connection = http.client.HTTPConnection(host, port)
    try:
        connection.sock = _TimedSocket(stream, reach)
        connection.request("GET", path, headers=headers)
        response = connection.getresponse()
        found = {name.lower(): value for name, value in response.getheaders()}
        body, complete = _read(response, reach, found.get("content-encoding", "").lower())
        return Response(url, response.status, found, body, complete)
    except (OSError, http.client.HTTPException, zlib.error) as error:
        raise ToolError("network", f"{host} broke off: {type(error).__name__} {error}".strip()) from None
    finally:
        stream.close()


def _connect(host: str, port: int, reach: Reach, *, tls: bool) -> socket.socket:
    error: OSError | None = None
    for number in checked_addresses(host, port, reach.allowed, reach.look_up):
        try:
            plain = socket.create_connection((number, port), timeout=min(reach.left(), 5.0))
        except OSError as refused:
            error = refused
            continue
        try:
            plain.settimeout(reach.left())
            return _secure(plain, host) if tls else plain
        except BaseException:
            plain.close()
            raise
    raise ToolError("network", f"{host}:{port} cannot be reached: {error or 'it has no address'}.")


def _secure(plain: socket.socket, host: str) -> ssl.SSLSocket:
    try:
        return ssl.create_default_context().wrap_socket(plain, server_hostname=host)
    except (ssl.SSLError, OSError) as error:
        raise ToolError("network", f"No secure connection to {host}: {error}.") from None


class _TimedSocket(io.RawIOBase):
    """What ``http.client`` needs of a socket, with a total deadline and an ear for cancellation."""

    def __init__(self, inner: socket.socket, reach: Reach) -> None:
        self._inner = inner
        self._reach = reach

    def sendall(self, data: Any) -> None:
        self._inner.settimeout(self._reach.left())
        self._inner.sendall(data)

    def makefile(self, mode: str) -> io.BufferedReader:
        del mode
        return io.BufferedReader(self)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while True:
            self._inner.settimeout(min(self._reach.left(), _SLICE))
            try:
                return self._inner.recv_into(buffer)
            except TimeoutError:
                continue

    def close(self) -> None:
        """Nothing: http.client closes its socket before the body is read, ``get`` closes the real one."""


def _read(response: HTTPResponse, reach: Reach, encoding: str) -> tuple[bytes, bool]:
    """The body up to the limit, counted after decompression: a small bomb stays small."""
    unpack = zlib.decompressobj(wbits=47) if encoding in {"gzip", "x-gzip", "deflate"} else None
    body = bytearray()
    while len(body) <= reach.max_bytes:
        data = response.read1(_CHUNK)
        if not data:
            return bytes(body), not response.length  # what was announced and did not come
        body += unpack.decompress(data, reach.max_bytes + 1 - len(body)) if unpack else data
    return bytes(body[: reach.max_bytes]), False
