"""The built-in practice model: rules instead of a network, so that the program can be tried at once.

It uses the real tools it is offered, in English and Chinese, and plays drills (``drill loop``) that
make the guards work. It never pretends to be more.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Sequence
from random import Random
from typing import Unpack

from agent_cli.clock import Clock, SystemClock
from agent_cli.errors import ModelError
from agent_cli.events import TextDelta
from agent_cli.messages import AssistantMessage, Message, ToolCall, Usage, new_call_id
from agent_cli.models.base import Completed, ModelOptions, StreamPart, ToolCallDelta, ToolSchema
from agent_cli.models.practice.drills import drill_named, play, rest_of_cut
from agent_cli.models.practice.situation import Ask, Reply, Say, Situation
from agent_cli.models.practice.tasks import next_step, told
from agent_cli.tokens import TokenEstimator

PAUSE = 0.012
"""Seconds between two words."""
_WORD = re.compile(r"[\u3000-\u9fff\uff00-\uffef]{1,2}|[^\s\u3000-\u9fff\uff00-\uffef]*\s*")


class PracticeModel:
    """A :class:`ChatModel` of rules. ``pause`` is the time between two words, on ``clock``."""

    name = "practice"
    endpoint = "built-in"

    def __init__(self, clock: Clock | None = None, *, pause: float = PAUSE) -> None:
        self._clock = clock or SystemClock()
        self._pause = pause
        self._rng = Random(0)
        self._ids: set[str] = set()
        self._tokens = TokenEstimator()
        self._faults = 0

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[ToolSchema], **options: Unpack[ModelOptions]
    ) -> AsyncIterator[StreamPart]:
        stopped = options.get("tool_choice") == "none"
        asked = messages[:-1] if stopped else messages  # the last one only says that the turn is stopped
        now = Situation.read(asked, tools, self._faults)
        reply = wrapped_up(now) if stopped else decide(now)
        if isinstance(reply, ModelError):
            self._faults += 1
            raise reply
        self._faults = 0
        for word in _WORD.findall(reply.text):
            if word:
                await self._clock.sleep(self._pause)
                yield TextDelta(word)
        message = self._message(reply)
        for call in message.tool_calls:
            yield ToolCallDelta(call.name, len(call.arguments))
        reason = reply.finish_reason if isinstance(reply, Say) else "tool_calls"
        yield Completed(message, reason, self._usage(messages, tools, message))

    def _message(self, reply: Say | Ask) -> AssistantMessage:
        calls = []
        for name, arguments in reply.calls if isinstance(reply, Ask) else ():
            text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
            calls.append(ToolCall(self._new_id(), name, text))
        return AssistantMessage(reply.text, tuple(calls))

    def _new_id(self) -> str:
        call_id = new_call_id(self._rng, self._ids)
        self._ids.add(call_id)
        return call_id

    def _usage(
        self, messages: Sequence[Message], tools: Sequence[ToolSchema], reply: AssistantMessage
    ) -> Usage:
        """What a real model of this kind would have used, roughly."""
        sent = json.dumps([*(message.to_wire() for message in messages), *tools], ensure_ascii=False)
        said = json.dumps(reply.to_wire(), ensure_ascii=False)
        return Usage(self._tokens.count(sent), self._tokens.count(said), estimated=True)


def decide(now: Situation) -> Reply:
    """What the practice model does next."""
    drill = drill_named(now.words)
    if rest := rest_of_cut(now.said):
        return rest
    if drill is not None:
        return play(drill, now)
    return next_step(now) or Say(now.say("greeting"))


def wrapped_up(now: Situation) -> Say:
    """The last words of a turn that was stopped: what the results show, and nothing else."""
    done = [told(now, outcome) for outcome in now.outcomes if outcome.ok]
    failed = [told(now, outcome) for outcome in now.outcomes if not outcome.ok]
    listed = "\n".join(f"- {line}" for line in dict.fromkeys(done + failed))
    return Say(now.say("wrapped_up", done=len(done), failed=len(failed), list=listed).strip())
