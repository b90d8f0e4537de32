"""Any OpenAI-compatible chat-completions endpoint as a :class:`ChatModel`.

The SDK's client gives connections, authorisation and proxies; the body is ours (``body.py``), and so
is the reading of the answer (``reply.py``). One attempt: retries are the business of ``retry.py``.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

from agent_cli.errors import ModelError
from agent_cli.messages import Message
from agent_cli.models.address import Address, checked_key, named_model
from agent_cli.models.arguments import parameters_of
from agent_cli.models.assembly import ReplyContext, taken_ids
from agent_cli.models.base import Completed, ModelOptions, Notice, StreamPart, ToolSchema
from agent_cli.models.body import BodyBuilder, ToolStyle
from agent_cli.models.connection import Connection, Reader, foreign_errors, refused_with
from agent_cli.models.dialects import Dialect, Dialects, Lesson, Request, learn
from agent_cli.models.errors_map import classify, to_model_error
from agent_cli.models.leaked import LeakFilter
from agent_cli.models.model_list import model_names
from agent_cli.models.reply import ReplyDecoder
from agent_cli.models.silent_cut import cut_silently
from agent_cli.models.text_tools import ActionFilter

if TYPE_CHECKING:
    import httpx2

MOST_LESSONS = 4
"""Resends of one call that teach a dialect. Each sends other bytes than all before."""
LINGER = 0.1
"""Seconds to wait for the end of a stream after ``[DONE]``, so that its connection can be used again."""
AFTER_FINISH = 5.0
"""Seconds to wait after a finish reason, when only the usage can still come."""
LIST_TIMEOUT = 10.0
DEFAULT_PATIENCE = 60.0
TEACHING = frozenset({400, 422})


class OpenAIChatModel:
    """A chat model behind an OpenAI-compatible endpoint.

    Without ``base_url``, ``api_key`` or ``model`` the environment is asked (``LLM_…``, then
    ``OPENAI_…``). ``key_source`` names where the key came from, for error messages. ``tool_style="text"``
    drives models without tool calls by a protocol in the prompt. ``fields`` are further top-level fields
    of each request (``temperature``, …). ``dialects`` shares what was learned with other models.
    Raises ``ConfigError`` for an unusable URL, key or model name.
    """

    def __init__(
        self,
        base_url: str | None = None,
        api_key: str | None = None,
        model: str | None = None,
        *,
        key_source: str = "LLM_API_KEY",
        tool_style: ToolStyle = "native",
        fields: Mapping[str, Any] | None = None,
        dialects: Dialects | None = None,
        rng: random.Random | None = None,
    ) -> None:
        address = Address.parse(base_url)
        self._name = named_model(model)
        self._endpoint = address.host
        self._origin = f"{address.base_url.split('@')[-1]} {self._name}"
        self._key = checked_key(api_key, key_source, own_address=base_url is not None)
        self._key_source = key_source
        self._tool_style = tool_style
        self._dialects = dialects or Dialects()
        self._bodies = BodyBuilder(self._name, self._origin, fields, tool_style)
        self._connection = Connection(address, self._key)
        self._rng = rng or random.Random()
        self._told: set[str] = set()

    @property
    def name(self) -> str:
        return self._name

    @property
    def endpoint(self) -> str:
        return self._endpoint

    def warm_up(self) -> None:
        """Import the SDK ahead of the first request. For a background thread; takes about a second."""
        self._connection.warm_up()

    async def aclose(self) -> None:
        await self._connection.aclose()

    async def list_models(self) -> list[str]:
        """The names of the models that the endpoint offers. Raises ``ModelError``."""
        await self._ready()
        try:
            async with asyncio.timeout(LIST_TIMEOUT):
                response = await self._connection.get("/models")
        except foreign_errors() as error:
            raise self._mapped(error) from error
        return model_names(response.text, self._classify)

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[ToolSchema], **options: Unpack[ModelOptions]
    ) -> AsyncGenerator[StreamPart, None]:
        dialect = self._dialects.of(self._origin)
        request = self._bodies.build(messages, tools, options, dialect)
        lessons: list[Lesson] = []
        bodies = {request.body}
        while True:
            context = self._context(messages, tools, dialect)
            try:
                async with aclosing(self._attempt(request, context, options)) as parts:
                    async for part in parts:
                        if lessons:
                            self._dialects.keep(self._origin, dialect)
                            for lesson in lessons:
                                yield Notice(f"{self._name}: {lesson.told}")
                            lessons.clear()
                        yield part
                return
            except _Refused as refused:
                taught = learn(refused.body, request, dialect) if len(bodies) <= MOST_LESSONS else None
                if taught is None:
                    raise refused.error from refused.__cause__
                dialect = taught.dialect
                request = self._bodies.build(messages, tools, options, dialect)
                if request.body in bodies:
                    raise refused.error from refused.__cause__
                bodies.add(request.body)
                lessons.append(taught)

    async def _attempt(
        self, request: Request, context: ReplyContext, options: ModelOptions
    ) -> AsyncGenerator[StreamPart, None]:
        """One request. Raises :class:`_Refused` if it was refused before anything was shown."""
        clock = asyncio.get_running_loop().time
        await self._ready()
        patience = options.get("request_timeout", DEFAULT_PATIENCE)
        idle = options.get("stream_idle", DEFAULT_PATIENCE)
        deadline = None if patience is None else clock() + patience
        response = await self._open(request, deadline, patience)
        decoder = ReplyDecoder(context, self._classify, response.headers.get("content-type", ""))
        reader = Reader(response)
        shown = False
        useful = -1
        try:
            while received := await self._read(reader, decoder, deadline, idle if useful >= 0 else patience):
                for part in decoder.feed(received):
                    shown = True
                    yield part
                if decoder.assembly.useful != useful:
                    useful = decoder.assembly.useful
                    deadline = None if idle is None else clock() + idle
                if decoder.done and not decoder.is_complete:
                    break
                if decoder.is_complete:
                    rest = LINGER if decoder.done else AFTER_FINISH
                    deadline = clock() + (rest if idle is None else min(rest, idle))
            for part in self._finished(decoder, request):
                yield part
        except ModelError as error:
            if not shown and decoder.fault and _may_teach(error):
                raise _Refused(error, decoder.fault) from error
            raise
        finally:
            await reader.aclose()

    async def _ready(self) -> None:
        """Load the SDK, if nobody did before: no server is to blame for that time."""
        try:
            await self._connection.client()
        except foreign_errors() as error:
            raise self._mapped(error) from error

    async def _open(
        self, request: Request, deadline: float | None, patience: float | None
    ) -> httpx2.Response:
        try:
            async with asyncio.timeout_at(deadline):
                return await self._connection.post("/chat/completions", request.body)
        except TimeoutError as error:
            raise self._timeout(f"did not answer within {_seconds(patience)}") from error
        except foreign_errors() as error:
            mapped = self._mapped(error)
            status, body = refused_with(error)
            if status in TEACHING and _may_teach(mapped):
                raise _Refused(mapped, body) from error
            raise mapped from error

    async def _read(
        self, reader: Reader, decoder: ReplyDecoder, deadline: float | None, patience: float | None
    ) -> bytes:
        """The next bytes; none at the end. What goes wrong after a finish reason is of no interest."""
        try:
            return await reader.read(deadline)
        except TimeoutError as error:
            if decoder.is_complete:
                return b""
            raise self._timeout(f"sent nothing useful for {_seconds(patience)}") from error
        except foreign_errors() as error:
            if decoder.is_complete:
                return b""
            raise self._mapped(error) from error

    def _finished(self, decoder: ReplyDecoder, request: Request) -> Iterator[StreamPart]:
        """The last parts, with hints about the endpoint before :class:`Completed`."""
        for part in decoder.finish():
            if isinstance(part, Completed):
                if decoder.assembly.thoughts_were_open:
                    known = self._dialects.of(self._origin)
                    self._dialects.keep(self._origin, replace(known, thoughts_open=True))
                if decoder.assembly.ending == "unknown":
                    yield from self._tell_once(
                        f"unknown finish_reason {decoder.assembly.reason!r}, taken as stop"
                    )
                if part.usage and (hint := cut_silently(request.body, part.usage)):
                    yield from self._tell_once(hint)
            yield part

    def _tell_once(self, text: str) -> Iterator[Notice]:
        kind = text.split(" ", 1)[0]
        if kind not in self._told:
            self._told.add(kind)
            yield Notice(f"{self._name}: {text}")

    def _context(
        self, messages: Sequence[Message], tools: Sequence[ToolSchema], dialect: Dialect
    ) -> ReplyContext:
        schemas = {str(tool["function"]["name"]): parameters_of(tool) for tool in tools}
        by_text = self._tool_style == "text" and bool(tools)
        return ReplyContext(
            schemas,
            ActionFilter if by_text else lambda: LeakFilter(schemas),
            self._origin,
            self._rng,
            taken_ids(messages),
            dialect.thoughts_open,
        )

    def _classify(self, body: str) -> ModelError:
        return classify(
            None,
            {},
            body,
            endpoint=self._endpoint,
            model=self._name,
            key_source=self._key_source,
            now=time.time(),
            key=self._key,
        )

    def _mapped(self, error: BaseException) -> ModelError:
        return to_model_error(
            error, endpoint=self._endpoint, model=self._name, key_source=self._key_source, key=self._key
        )

    def _timeout(self, what: str) -> ModelError:
        return ModelError("timeout", f"{self._endpoint} {what}", transient=True)


class _Refused(Exception):  # noqa: N818  (not an error yet: the request may be mended)
    """An answer that may teach a dialect: the error it is otherwise, and its body."""

    def __init__(self, error: ModelError, body: str) -> None:
        super().__init__(str(error))
        self.error = error
        self.body = body


def _may_teach(error: ModelError) -> bool:
    return error.kind == "bad_request"


def _seconds(seconds: float | None) -> str:
    return f"{seconds or 0:g} s"
