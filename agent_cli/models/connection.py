"""The SDK's client for one endpoint: made late, once for each event loop, without blocking the loop."""

from __future__ import annotations

import asyncio
import ssl
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from agent_cli.models.address import Address

if TYPE_CHECKING:
    import httpx2
    from openai import AsyncOpenAI

NO_KEY = "no-key"
_HUNG_UP = frozenset({"RemoteProtocolError", "ReadError", "WriteError"})
MOST_WAITING = 1024 * 1024


class Connection:
    """Makes and keeps the client. The import behind it takes about a second, so it happens in a
    thread: :meth:`warm_up` early, from any thread, or :meth:`client` when it is needed. ``is_kept`` is
    set by who has read an answer to its end: its connection waits to be used again."""

    def __init__(self, address: Address, key: str) -> None:
        self._address = address
        self._key = key
        self._lock = threading.Lock()
        self._client: AsyncOpenAI | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self.is_kept = False

    def warm_up(self) -> None:
        """Import the SDK and make the client, if that is possible."""
        with suppress(ImportError, ValueError, OSError):  # the first request meets it again, and says it
            self._make()

    async def client(self) -> AsyncOpenAI:
        """The client of the running loop; its connections cannot be used from another loop."""
        loop = asyncio.get_running_loop()
        if self._loop is not None and self._loop is not loop:
            self._client = None
        if self._client is None:
            await self._warm_up_in_thread()
            self._make()
        self._loop = loop
        assert self._client is not None
        return self._client

    async def post(self, path: str, body: bytes) -> httpx2.Response:
        """A response whose body was not read yet. There are no timeouts: the caller's clock decides.

        A server may close a kept connection in the moment in which it is used again; then the request is
        sent once more on a new one.
        """
        from openai import APIConnectionError  # noqa: PLC0415  (late: see the class)

        kept, self.is_kept = self.is_kept, False
        try:
            return await self._post(path, body)
        except APIConnectionError as error:
            if not kept or type(error.__cause__).__name__ not in _HUNG_UP:
                raise
            return await self._post(path, body)

    async def _post(self, path: str, body: bytes) -> httpx2.Response:
        import httpx2  # noqa: PLC0415  (late: see the class)

        client = await self.client()
        return await client.post(
            path,
            cast_to=httpx2.Response,
            content=body,
            stream=True,
            options={"timeout": httpx2.Timeout(None), "headers": self._headers()},
        )

    async def get(self, path: str) -> httpx2.Response:
        """A whole response."""
        import httpx2  # noqa: PLC0415  (slow, and only sometimes needed)

        client = await self.client()
        return await client.get(
            path,
            cast_to=httpx2.Response,
            options={"timeout": httpx2.Timeout(None), "headers": self._headers()},
        )

    async def aclose(self) -> None:
        client, self._client = self._client, None
        if client is not None and self._loop is asyncio.get_running_loop():
            await client.close()

    def _headers(self) -> dict[str, Any]:
        from openai import omit  # noqa: PLC0415  (the SDK is slow: late)

        return {} if self._key else {"Authorization": omit}

    def _make(self) -> None:
        with self._lock:
            if self._client is None:
                self._client = _make_client(self._address, self._key)

    async def _warm_up_in_thread(self) -> None:
        """In a daemon thread, which never keeps the program from ending."""
        loop = asyncio.get_running_loop()
        done = asyncio.Event()

        def run() -> None:
            self.warm_up()
            with suppress(RuntimeError):  # the loop ended before we did
                loop.call_soon_threadsafe(done.set)

        threading.Thread(target=run, daemon=True, name="sdk-import").start()
        await done.wait()


class Reader:
    """Reads a response in a task of its own, so that all that has arrived is taken in one piece.

    Reading pauses while ``MOST_WAITING`` bytes wait to be taken. ``begun`` tells that some bytes came.
    """

    def __init__(self, response: httpx2.Response) -> None:
        self.begun = False
        self._response = response
        self._pieces: list[bytes] = []
        self._waiting = 0
        self._arrived = asyncio.Event()
        self._taken = asyncio.Event()
        self._task = asyncio.create_task(self._pump())

    async def read(self, deadline: float | None) -> bytes:
        """All that has arrived, empty at the end. Raises ``TimeoutError`` when nothing has by
        ``deadline`` (on the loop's clock), and the errors of the client."""
        if not self._arrived.is_set():
            async with asyncio.timeout_at(deadline):
                await self._arrived.wait()
        received = b"".join(self._pieces)
        self._pieces.clear()
        self._waiting = 0
        self._taken.set()
        if not received:
            await self._task
        elif not self._task.done():
            self._arrived.clear()
        return received

    @property
    def has_ended(self) -> bool:
        """Whether all of the answer came."""
        return self._task.done() and not self._task.cancelled() and self._task.exception() is None

    async def aclose(self) -> None:
        """Give the connection back if all was read, else close it at once."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        await self._response.aclose()

    async def _pump(self) -> None:
        try:
            async for piece in self._response.aiter_bytes():
                if piece:
                    self.begun = True
                    self._pieces.append(piece)
                    self._waiting += len(piece)
                    self._arrived.set()
                if self._waiting > MOST_WAITING:
                    self._taken.clear()
                    await self._taken.wait()
        finally:
            self._arrived.set()


def _make_client(address: Address, key: str) -> AsyncOpenAI:
    from openai import AsyncOpenAI  # noqa: PLC0415  (a second; see the class)

    return AsyncOpenAI(
        api_key=key or NO_KEY,
        base_url=address.base_url,
        default_headers=address.headers(key),
        default_query=dict(address.query),
        max_retries=0,
        http_client=_http_client(address),
    )


def _http_client(address: Address) -> httpx2.AsyncClient:
    """The SDK's own settings, but: a proxy for the machine itself is never meant, whatever the environment
    says, and without https there are no certificates to load, which is what costs time."""
    from openai import DefaultAsyncHttpxClient  # noqa: PLC0415  (the SDK is slow: late)

    if not address.is_loopback:
        return DefaultAsyncHttpxClient()
    if address.base_url.startswith("https"):
        return DefaultAsyncHttpxClient(trust_env=False)
    trusts_nobody = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    return DefaultAsyncHttpxClient(trust_env=False, verify=trusts_nobody)


def foreign_errors() -> tuple[type[Exception], ...]:
    """Everything that the SDK and what lies below it may raise; for ``except``, evaluated late."""
    known: tuple[type[Exception], ...] = (ValueError, ImportError, OSError)
    with suppress(ImportError):
        import httpx2  # noqa: PLC0415  (slow, and only sometimes needed)
        from openai import OpenAIError  # noqa: PLC0415  (the SDK is slow: late)

        known = (*known, OpenAIError, httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError)
    return known


def words_of_refusal(error: BaseException) -> str | None:
    """The body of an error that is an answer; ``None`` for all others."""
    response = getattr(error, "response", None)
    return None if response is None else str(response.text)


def moved_to(response: httpx2.Response | None) -> str:
    """The base URL that a request was redirected to, if the redirect lost its body on the way: a client
    turns a POST that is answered with 301 or 302 into a GET. Empty otherwise."""
    if response is None or not response.history or response.request.method == "POST":
        return ""
    return str(response.url.copy_with(query=None)).removesuffix("/chat/completions")
