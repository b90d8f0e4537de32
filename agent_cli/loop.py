"""The loop: think, act, observe until no call is asked for, and always an honest end."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

from agent_cli.approval import Approver
from agent_cli.batch import Batch
from agent_cli.completion import ModelCall
from agent_cli.ending import End, Ending
from agent_cli.errors import ModelError
from agent_cli.events import StepStarted, TextDiscarded
from agent_cli.guards.base import Verdict
from agent_cli.guards.finish import Judgement, join_continuation
from agent_cli.limits import ContextRoom
from agent_cli.memory.session import Session
from agent_cli.messages import AssistantMessage, Message, UserMessage
from agent_cli.models.base import ChatModel, Completed, ModelOptions
from agent_cli.request import RequestBuilder
from agent_cli.turn import Turn
from tools import ToolRegistry

CUT_OFF = "the reply was cut off by the output limit"
NOT_COUNTED = {"announced": "a tool call was announced, but none came", "no_text": "the reply was empty"}


class Parts(Protocol):
    """What a turn works with. Asked anew each time: all of it may change while a turn runs."""

    @property
    def model(self) -> ChatModel: ...

    @property
    def tools(self) -> ToolRegistry: ...

    @property
    def system(self) -> str | None: ...

    @property
    def approver(self) -> Approver: ...

    @property
    def session(self) -> Session: ...

    def context_room(self) -> ContextRoom: ...


@dataclass
class Loop:
    """Plays one turn."""

    turn: Turn
    parts: Parts

    async def run(self) -> End:
        """Think, act, observe. The guards are asked before each step, each call, after each result."""
        turn, options = self.turn, ModelOptions()
        while True:
            if stop := turn.guards.before_step(turn.meters()):
                return await self._stopped(stop)
            try:
                reply = await self._think(options)
            except ModelError as error:
                return self.ending().service_failed(error)
            if isinstance(reply, Verdict):
                if reply.action == "stop":
                    return await self._stopped(reply)
                turn.note(reply)
                turn.nudge = reply.text
                continue
            self.parts.session.recorder.reply(reply.message, reply.finish_reason, reply.usage)
            if note := turn.guards.price_note(turn.meters()):
                turn.note(note)
            judgement = turn.judge.judge(reply.message, reply.finish_reason, turn.limits())
            turn.judge.record(judgement)
            if not reply.message.tool_calls:
                turn.guards.record_reply(reply.message.content, ())
            options = {"max_tokens": judgement.max_tokens} if judgement.max_tokens else {}
            if end := await self._follow(reply.message, judgement):
                return end
            turn.emit(turn.gauges())

    async def _think(self, options: ModelOptions) -> Completed | Verdict:
        """One model call; after an overflow the request is made smaller, once."""
        turn = self.turn
        turn.steps += 1
        turn.guards.record_step()
        turn.emit(StepStarted(turn.steps, turn.limits().max_steps))
        turn.streamed.clear()
        call, request = ModelCall(turn, self.parts.model, self.parts.tools.schemas()), self._request()
        try:
            reply = await call.run(request.build(), options)
        except ModelError as error:
            if error.kind != "context_too_long" or not request.compact(error):
                raise request.explained(error) from error.__cause__
            try:
                reply = await call.run(request.build(), options)
            except ModelError as again:
                raise request.explained(again) from again.__cause__
        turn.nudge = ""
        return reply

    async def _follow(self, message: AssistantMessage, judgement: Judgement) -> End | None:
        """Do what the judgement of a reply says; the end of the turn, if it is one."""
        turn, parts = self.turn, self.parts
        match judgement.action:
            case "answer":
                parts.session.conversation.append(replace(message, content=judgement.answer, tool_calls=()))
                return End(judgement.answer)
            case "run_calls" | "reject_calls":
                if turn.answer_so_far:
                    message = replace(message, content=join_continuation(turn.answer_so_far, message.content))
                turn.forget_tail()
                batch = Batch(turn, parts.tools, parts.approver, parts.session)
                reject = judgement.text if judgement.action == "reject_calls" else ""
                if stop := await batch.answer(message, reject):
                    return await self._stopped(stop)
                self._note_budget()
            case "continue":
                turn.answer_so_far = judgement.answer
                turn.tail = [AssistantMessage(judgement.answer), UserMessage(judgement.text)]
            case "nudge" | "raise_output":
                turn.nudge = judgement.text
                if turn.streamed:
                    turn.streamed.clear()
                    turn.emit(TextDiscarded(NOT_COUNTED.get(judgement.cause, CUT_OFF)))
            case "stop":
                turn.answer_so_far = judgement.answer
                turn.streamed.clear()
                assert judgement.verdict is not None
                return await self._stopped(judgement.verdict)
        return None

    def _note_budget(self) -> None:
        if note := self.turn.guards.budget_note(self.turn.meters()):
            self.parts.session.conversation.note_on_last_result(f"[{note.text}]")
            self.turn.note(note)

    async def _stopped(self, stop: Verdict) -> End:
        request: list[Message] = self._request().build() if self.turn.steps else []
        return await self.ending().wrap_up(stop, request)

    def _request(self) -> RequestBuilder:
        parts = self.parts
        schemas = parts.tools.schemas()
        return RequestBuilder(self.turn, parts.session, parts.system, schemas, parts.context_room())

    def ending(self) -> Ending:
        parts = self.parts
        return Ending(self.turn, parts.model, parts.tools.schemas(), parts.session.conversation)
