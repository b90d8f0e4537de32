"""A chat-completions server that plays recorded answers byte for byte, in the test's own event loop.

An answer is ``{"status", "headers", "body"}`` or ``{"status", "headers", "chunks"}``. A chunk is wire
text, or ``{"hex"}`` raw bytes, ``{"sleep"}`` seconds, ``{"cut": true}`` (close in the middle), or
``{"fill": [before, character, count, after]}``.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

Body = dict[str, Any]
Answer = dict[str, Any]
Answerer = Callable[[Body], Answer]

CASES: dict[str, dict[str, Any]] = {
    case["id"]: case
    for case in json.loads((Path(__file__).parent / "data" / "cases.json").read_text("utf-8"))
}


def event(delta: Body, finish: str | None = None, **more: Any) -> str:
    """One event of a stream, as text."""
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return f"data: {json.dumps({'choices': [choice], **more})}\n\n"


def stream(*events: str | dict[str, Any], finish: str | None = "stop") -> Answer:
    """An answer that streams ``events``, then the finish reason and ``[DONE]``."""
    ending = [event({}, finish), "data: [DONE]\n\n"] if finish else []
    return {"status": 200, "headers": {"content-type": "text/event-stream"}, "chunks": [*events, *ending]}


def text(content: str) -> Answer:
    return stream(event({"content": content}))


def call(name: str, arguments: str = "{}", **entry: Any) -> Answer:
    """A reply with one tool call."""
    function = {"name": name, "arguments": arguments}
    entry = {"index": 0, "id": "call_a", "type": "function", "function": function, **entry}
    return stream(event({"tool_calls": [entry]}), finish="tool_calls")


def refusal(status: int, message: str, **error: Any) -> Answer:
    body = json.dumps({"error": {"message": message, **error}})
    return {"status": status, "headers": {"content-type": "application/json"}, "body": body}


def in_turn(*answers: Answer) -> Answerer:
    """The answers one after another; the last one repeats."""
    played = iter(answers)
    last = answers[-1]
    return lambda _: next(played, last)


def recorded(case: dict[str, Any]) -> Answerer:
    """The answers of a recorded case."""
    if "match" not in case:
        return in_turn(case["http"], *case.get("then", []))
    others = in_turn(*(case.get("else") or [text("done")]))
    return lambda body: case["http"] if matches(case["match"], body) else others(body)


def matches(rule: dict[str, Any], body: Body) -> bool:
    """Whether a request has what the case's first answer is meant for."""
    ((kind, wanted),) = rule.items()
    messages = body["messages"]
    callers = [message for message in messages if message.get("tool_calls")]
    match kind:
        case "has_param":
            return body.get(wanted) is not None
        case "any_message":
            return any(wanted.items() <= message.items() for message in messages)
        case "any_message_has":
            return any(wanted in message for message in messages)
        case "assistant_tool_call_lacks":
            return any(wanted not in message for message in callers)
        case "tool_call_lacks":
            return any(wanted not in message["tool_calls"][0] for message in callers)
        case "content_null":
            return any(message["content"] is None for message in callers)
        case "content_empty":
            return any(message["content"] == "" for message in callers)
        case "content_list":
            return any(isinstance(message["content"], list) for message in messages)
        case "tool_id_not":
            ids = [entry["id"] for message in callers for entry in message["tool_calls"]]
            return not all(re.fullmatch(wanted, call_id) for call_id in ids)
        case "unanswered_tool_call":
            return any(_unanswered(messages, index) for index, _ in enumerate(messages))
        case "schema_has":
            return f'"{wanted}"' in json.dumps(body.get("tools", []))
    raise ValueError(kind)


def _unanswered(messages: Sequence[Body], index: int) -> bool:
    ids = {entry["id"] for entry in messages[index].get("tool_calls") or []}
    answered = {message.get("tool_call_id") for message in messages[index + 1 :][: len(ids)]}
    return bool(ids - answered)


@dataclass
class Request:
    """One request as it came. ``closed`` is set when the client closed its connection."""

    path: str
    headers: dict[str, str]
    body: Body
    at: float
    closed: asyncio.Event = field(default_factory=asyncio.Event)


class WireServer:
    """Serves on a loopback port while entered. ``requests`` holds what came to chat/completions;
    ``asked`` is set by the first of them."""

    def __init__(self, answerer: Answerer | Answer, models: Sequence[str] = ("mock",)) -> None:
        self._answerer = answerer if callable(answerer) else in_turn(answerer)
        self._models = models
        self._tasks: set[asyncio.Task[None]] = set()
        self.requests: list[Request] = []
        self.asked = asyncio.Event()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/v1"

    @property
    def bodies(self) -> list[Body]:
        return [request.body for request in self.requests]

    async def __aenter__(self) -> WireServer:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            await self._answer(reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the one request of a connection."""
        head, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines if line)}
        received = await reader.readexactly(int(headers.get("content-length", 0)))
        path = head.split(" ")[1]
        if path.endswith("/models"):
            data = [{"id": name} for name in self._models]
            return await _play({"status": 200, "body": json.dumps({"data": data})}, writer)
        if head.startswith("GET") or not path.split("?")[0].endswith("/v1/chat/completions"):
            return await _play({"status": 404, "body": '{"detail":"Not Found"}'}, writer)
        request = Request(path, headers, json.loads(received), asyncio.get_running_loop().time())
        self.requests.append(request)
        self.asked.set()
        watch = asyncio.create_task(_watch(reader, request.closed))
        try:
            await _play(self._answerer(request.body), writer)
        finally:
            watch.cancel()
            await asyncio.gather(watch, return_exceptions=True)
        return None


async def _watch(reader: asyncio.StreamReader, closed: asyncio.Event) -> None:
    """Notice that the client goes away in the middle of an answer."""
    with suppress(ConnectionError):
        await reader.read()
    closed.set()


async def _play(answer: Answer, writer: asyncio.StreamWriter) -> None:
    headers = {"content-type": "application/json", "connection": "close", **answer.get("headers", {})}
    if "body" in answer:
        data = answer["body"].encode("utf-8", "surrogatepass")
        writer.write(_head(answer["status"], {**headers, "content-length": str(len(data))}) + data)
        await writer.drain()
        return
    writer.write(_head(answer["status"], {**headers, "transfer-encoding": "chunked"}))
    for chunk in answer["chunks"]:
        if isinstance(chunk, dict) and "cut" in chunk:
            return
        if isinstance(chunk, dict) and "sleep" in chunk:
            await asyncio.sleep(chunk["sleep"])
            continue
        data = _bytes(chunk)
        writer.write(b"%x\r\n%b\r\n" % (len(data), data))
        await writer.drain()
    writer.write(b"0\r\n\r\n")
    await writer.drain()


def _bytes(chunk: str | dict[str, Any]) -> bytes:
    if isinstance(chunk, str):
        return chunk.encode()
    if "hex" in chunk:
        return bytes.fromhex(chunk["hex"])
    before, character, count, after = chunk["fill"]
    return f"{before}{character * count}{after}".encode()


def _head(status: int, headers: dict[str, str]) -> bytes:
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"HTTP/1.1 {status} mock\r\n{lines}\r\n".encode()
