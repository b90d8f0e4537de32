"""Any OpenAI-compatible chat-completions endpoint as a :class:`ChatModel`.

The SDK's client gives connections, authorisation and proxies; the body is ours (``body.py``), and so
is the reading of the answer (``reply.py``). One attempt: retries are the business of ``retry.py``.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import replace
from functools import partial
from typing import Any, Unpack

from agent_cli.errors import ModelError
from agent_cli.messages import Message
from agent_cli.models.address import Address, checked_key, named_model
from agent_cli.models.base import Completed, ModelOptions, Notice, StreamPart, ToolSchema
from agent_cli.models.body import BodyBuilder, ToolStyle
from agent_cli.models.connection import Connection, foreign_errors
from agent_cli.models.decoding.arguments import parameters_of
from agent_cli.models.decoding.assembly import Assembly, ReplyContext, taken_ids
from agent_cli.models.decoding.leaked import LeakFilter
from agent_cli.models.dialects import Dialect, Dialects, Lesson, Request, lessons_of
from agent_cli.models.error_text import LINE_LIMIT, one_line
from agent_cli.models.exchange import Classifier, Exchange, Refused
from agent_cli.models.model_list import model_names, nearest
from agent_cli.models.silent_cut import cut_silently
from agent_cli.models.text_tools import ActionFilter

MOST_LESSONS = 4
"""Resends of one call that teach a dialect. Each sends other bytes than all before."""
LIST_TIMEOUT = 5.0


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
        key = checked_key(api_key, key_source, own_address=base_url is not None)
        self._name = named_model(model)
        self._origin = f"{address.base_url.split('@')[-1]} {self._name}"
        self._classifier = Classifier(address.host, self._name, key_source, key)
        self._connection = Connection(address, key)
        self._bodies = BodyBuilder(self._name, self._origin, fields, tool_style)
        self._tool_style = tool_style
        self._dialects = dialects or Dialects()
        self._rng = rng or random.Random()
        self._told: set[str] = set()

    @property
    def name(self) -> str:
        return self._name

    @property
    def endpoint(self) -> str:
        return self._classifier.endpoint

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
            raise self._classifier.of_exception(error) from error
        return model_names(response.text, self._classifier.of_body)

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[ToolSchema], **options: Unpack[ModelOptions]
    ) -> AsyncGenerator[StreamPart, None]:
        await self._ready()
        dialect = self._dialects.of(self._origin)
        build = partial(self._bodies.build, messages, tools, options)
        request = build(dialect)
        sent = {request.body}
        lessons: list[Lesson] = []
        while True:
            context = self._context(messages, tools, dialect)
            exchange = Exchange(self._connection, self._classifier, context, options)
            try:
                async with aclosing(exchange.parts(request.body)) as parts:
                    async for part in parts:
                        for notice in self._accepted(dialect, lessons):
                            yield notice
                        if isinstance(part, Completed):
                            for notice in self._hints(exchange.decoder.assembly, request, part):
                                yield notice
                        yield part
                return
            except Refused as refused:
                lesson, request = _mended(refused, request, dialect, build, sent)
                dialect = lesson.dialect
                sent.add(request.body)
                lessons.append(lesson)
            except ModelError as error:
                await self._name_the_nearest(error)
                raise

    async def _ready(self) -> None:
        """Load the SDK, if nobody did before: no server is to blame for that time."""
        try:
            await self._connection.client()
        except foreign_errors() as error:
            raise self._classifier.of_exception(error) from error

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

    def _accepted(self, dialect: Dialect, lessons: list[Lesson]) -> Iterator[Notice]:
        """The endpoint took a request that was changed for it: remember how, and tell."""
        if lessons:
            self._dialects.keep(self._origin, dialect)
        while lessons:
            yield Notice(f"{self._name}: {lessons.pop(0).told}")

    def _hints(self, assembly: Assembly, request: Request, reply: Completed) -> Iterator[Notice]:
        """What a reply shows about its endpoint."""
        if assembly.thoughts_were_open:
            self._dialects.keep(self._origin, replace(self._dialects.of(self._origin), thoughts_open=True))
        if assembly.ending == "unknown":
            text = f"unknown finish_reason {assembly.reason!r}, taken as stop"
            yield from self._tell_once("finish_reason", text)
        if reply.usage and (hint := cut_silently(request.body, reply.usage)):
            yield from self._tell_once("cut", hint)

    def _tell_once(self, subject: str, text: str) -> Iterator[Notice]:
        if subject not in self._told:
            self._told.add(subject)
            yield Notice(f"{self._name}: {text}")

    async def _name_the_nearest(self, error: ModelError) -> None:
        """Add to "no such model" the models that there are, if the endpoint says so."""
        if error.kind != "not_found":
            return
        with suppress(ModelError):
            names = await self.list_models()
            if near := nearest(self._name, names if self._name not in names else []):
                cure = f"Did you mean {' or '.join(near)}? {error.cure}"
                error.cure = one_line(cure, LINE_LIMIT - len(error.message) - 1)


def _mended(
    refused: Refused,
    request: Request,
    dialect: Dialect,
    build: Callable[[Dialect], Request],
    sent: Collection[bytes],
) -> tuple[Lesson, Request]:
    """The first lesson of a refusal that leads to a request that was not sent yet, and that request.
    Raises the error if there is none, or after too many of them."""
    if len(sent) <= MOST_LESSONS:
        for lesson in lessons_of(refused.body, request, dialect):
            changed = build(lesson.dialect)
            if changed.body not in sent:
                return lesson, changed
    raise refused.error from refused.__cause__
