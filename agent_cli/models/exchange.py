"""One request and the answer to it: opened, read under two limits of patience, closed on every way out."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent_cli.errors import ModelError
from agent_cli.models.base import ModelOptions, StreamPart
from agent_cli.models.connection import Connection, Reader, foreign_errors, moved_to, words_of_refusal
from agent_cli.models.decoding.assembly import ReplyContext
from agent_cli.models.decoding.reply import ReplyDecoder
from agent_cli.models.error_text import one_line
from agent_cli.models.errors_map import classify, to_model_error

if TYPE_CHECKING:
    import httpx2

LINGER = 0.1
"""Seconds to wait for the end of a stream after ``[DONE]``, so that its connection can be used again."""
AFTER_FINISH = 5.0
"""Seconds to wait after a finish reason, when only the usage can still come."""
DEFAULT_PATIENCE = 60.0


@dataclass(frozen=True)
class Classifier:
    """Makes the :class:`ModelError` for whatever goes wrong at one endpoint. ``key`` is masked in it."""

    endpoint: str
    model: str
    key_source: str
    key: str

    def of_body(self, body: str) -> ModelError:
        """The error that an answer with status 200 reports, or is."""
        return classify(
            None,
            {},
            body,
            endpoint=self.endpoint,
            model=self.model,
            key_source=self.key_source,
            now=time.time(),
            key=self.key,
        )

    def of_exception(self, error: BaseException) -> ModelError:
        return to_model_error(
            error, endpoint=self.endpoint, model=self.model, key_source=self.key_source, key=self.key
        )

    def of_redirect(self, base_url: str) -> ModelError:
        text = one_line(f"{self.endpoint} redirects to {base_url}")
        return ModelError("not_an_api", text, "Use that address: set LLM_BASE_URL to it.")

    def of_silence(self, what: str, seconds: float | None) -> ModelError:
        return ModelError("timeout", f"{self.endpoint} {what} {seconds or 0:g} s", transient=True)


class Refused(Exception):  # noqa: N818  (not yet an error: the request may be mended)
    """The request was refused before anything was shown, in words that may teach a dialect.

    ``error`` is what it is if they do not; ``body`` holds the words.
    """

    def __init__(self, error: ModelError, body: str) -> None:
        super().__init__(str(error))
        self.error = error
        self.body = body


class Exchange:
    """Sends one body and reads the reply to it. ``request_timeout`` ends the wait for the first byte,
    ``stream_idle`` the wait for the next useful event."""

    def __init__(
        self, connection: Connection, classifier: Classifier, context: ReplyContext, options: ModelOptions
    ) -> None:
        self._connection = connection
        self._classifier = classifier
        self._context = context
        self._patience = options.get("request_timeout", DEFAULT_PATIENCE)
        self._idle = options.get("stream_idle", DEFAULT_PATIENCE)
        self._shown = False

    async def parts(self, body: bytes) -> AsyncGenerator[StreamPart, None]:
        """The parts, ``Completed`` last. Raises :class:`Refused` or :class:`ModelError`."""
        deadline = _later(self._patience)
        response = await self._open(body, deadline)
        content_type = response.headers.get("content-type", "")
        self.decoder = decoder = ReplyDecoder(self._context, self._classifier.of_body, content_type)
        reader = Reader(response)
        useful = None
        try:
            while received := await self._read(reader, deadline):
                for part in decoder.feed(received):
                    self._shown = True
                    yield part
                if useful != decoder.assembly.useful:  # holds for the first bytes, whatever they are
                    useful = decoder.assembly.useful
                    deadline = _later(self._idle)
                if decoder.is_complete:
                    deadline = _later(self._idle, LINGER if decoder.done else AFTER_FINISH)
                elif decoder.done:
                    break
            for part in decoder.finish():
                yield part
        except ModelError as error:
            if decoder.fault and self._may_teach(error):
                raise Refused(error, decoder.fault) from error
            raise
        finally:
            self._connection.is_kept = reader.has_ended
            await reader.aclose()

    async def _open(self, body: bytes, deadline: float | None) -> httpx2.Response:
        try:
            async with asyncio.timeout_at(deadline):
                response = await self._connection.post("/chat/completions", body)
        except TimeoutError as error:
            raise self._classifier.of_silence("did not answer within", self._patience) from error
        except foreign_errors() as error:
            if moved := moved_to(getattr(error, "response", None)):
                raise self._classifier.of_redirect(moved) from error
            mapped = self._classifier.of_exception(error)
            words = words_of_refusal(error)
            if words is not None and self._may_teach(mapped):
                raise Refused(mapped, words) from error
            raise mapped from error
        if moved := moved_to(response):
            await response.aclose()
            raise self._classifier.of_redirect(moved)
        return response

    async def _read(self, reader: Reader, deadline: float | None) -> bytes:
        """What has arrived; nothing at the end. What goes wrong after a finish reason does not matter."""
        try:
            return await reader.read(deadline)
        except foreign_errors() as error:
            if self.decoder.is_complete:
                return b""
            if isinstance(error, TimeoutError):
                raise self._silence(reader) from error
            raise self._classifier.of_exception(error) from error

    def _silence(self, reader: Reader) -> ModelError:
        if reader.begun:
            return self._classifier.of_silence("sent nothing useful for", self._idle)
        return self._classifier.of_silence("did not answer within", self._patience)

    def _may_teach(self, error: ModelError) -> bool:
        return error.kind == "bad_request" and not self._shown


def _later(*seconds: float | None) -> float | None:
    """The loop's time after the shortest of these; ``None`` if none of them ends."""
    limits = [limit for limit in seconds if limit is not None]
    return asyncio.get_running_loop().time() + min(limits) if limits else None
