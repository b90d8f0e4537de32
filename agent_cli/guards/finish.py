"""What a reply is, by evidence and not by its label. Source: GUARDS section 8."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from agent_cli.guards.base import Verdict, clip
from agent_cli.limits import Limits
from agent_cli.messages import AssistantMessage
from agent_cli.results import Status

RAISED_OUTPUT = 8_192
LEAST_OVERLAP = 8
LONGEST_OVERLAP = 2_000

Action = Literal["answer", "run_calls", "reject_calls", "raise_output", "continue", "nudge", "stop"]
Cause = Literal["", "cut_calls", "cut_text", "cut_thoughts", "no_text", "announced", "filtered"]

CONTINUE = (
    "Your reply was cut off by the output limit. Continue exactly where it stopped: do not repeat anything "
    "and do not comment."
)
SMALLER_CALL = (
    "Not executed: your reply was cut off by the output limit (finish_reason length), so the arguments may "
    "be incomplete. Make a smaller call, for example write the text in several parts."
)
THINK_LESS = (
    "Note: your last reply was cut off by the output limit before it said anything. Think less and answer "
    "now, briefly, or make the next tool call."
)
ONLY_THOUGHT = (
    "Note: your last reply held only reasoning, no answer and no tool call. Give the answer or make the "
    "call now."
)
SAID_NOTHING = "Note: your last reply was empty. Give the answer or make the next tool call now."
NO_CALL_CAME = (
    "Note: you announced a tool call but none came. Make the call now, or answer if nothing is left to do."
)


@dataclass(frozen=True, slots=True)
class Judgement:
    """What to do with a reply.

    - ``answer``: it is the answer. ``run_calls``: run its calls.
    - ``reject_calls``: run none; each gets ``text`` as its result (kind ``output_too_long``).
    - ``raise_output``: throw it away and ask again with ``max_tokens``.
    - ``continue``: it was cut; ask on with ``text``. ``nudge``: throw it away, ask again with ``text``.
    - ``stop``: go to wrap-up with ``verdict``.

    ``cause`` says what was found. ``answer`` is the whole text of the answer so far, seams joined.
    """

    action: Action
    text: str = ""
    cause: Cause = ""
    max_tokens: int | None = None
    verdict: Verdict | None = None
    answer: str = ""


class ReplyJudge:
    """Judges the replies of one turn. ``judge`` asks, ``record`` remembers.

    Calls decide, whatever the finish reason says, except ``length`` (a cut call never runs: once more
    output is asked for, once a smaller call, then the turn ends ``truncated``) and ``content_filter``
    (``filtered``, not asked again). Cut text is continued up to ``max_continuations`` times, each must
    add text. A reply without text and calls is asked for a second time, then the turn ends
    (``llm_error``); if it was cut, more output is asked for before that (``truncated``). Text that only
    announces a call, with a finish reason that claims one, gets one nudge in the turn. Calls that can be
    run clear the rest.
    """

    def __init__(self) -> None:
        self._raised = False
        self._rejected = False
        self._nudged = False
        self._announced = False
        self._continued = 0
        self._so_far = ""

    def judge(self, message: AssistantMessage, finish_reason: str, limits: Limits) -> Judgement:
        refusal = message.extra.get("refusal")
        if finish_reason == "content_filter" or (isinstance(refusal, str) and refusal.strip()):
            return self._filtered(message, refusal if isinstance(refusal, str) else "")
        if message.tool_calls:
            return self._cut_calls(message) if finish_reason == "length" else Judgement("run_calls")
        answer = join_continuation(self._so_far, message.content) if self._so_far else message.content
        if self._so_far and not _adds_text(self._so_far, answer):
            return self._truncated("the last continuation added nothing", answer, limits)
        if not message.content.strip():
            return self._cut_thoughts(message) if finish_reason == "length" else self._no_text(message)
        if finish_reason == "length":
            return self._cut_text(answer, limits)
        if finish_reason == "tool_calls" and not self._announced and announces_action(message.content):
            return Judgement("nudge", NO_CALL_CAME, "announced", answer=answer)
        return Judgement("answer", answer=answer)

    def record(self, judgement: Judgement) -> None:
        """Remember what was done. Calls that can be run are a new beginning."""
        match judgement.action:
            case "run_calls":
                self._raised = self._rejected = self._nudged = False
                self._continued, self._so_far = 0, ""
            case "reject_calls":
                self._rejected = True
                self._so_far = ""
            case "raise_output":
                self._raised = True
            case "continue":
                self._continued += 1
                self._so_far = judgement.answer
            case "nudge" if judgement.cause == "announced":
                self._announced = True
            case "nudge":
                self._nudged = True

    def _cut_calls(self, message: AssistantMessage) -> Judgement:
        if not self._raised:
            return Judgement("raise_output", "", "cut_calls", _more_than(message))
        if not self._rejected:
            return Judgement("reject_calls", SMALLER_CALL, "cut_calls")
        reason = (
            "stopped as truncated: tool calls were cut off by the output limit in 3 of 3 tries, "
            "also with more room and after asking for a smaller call"
        )
        return _stop("truncated", "cut_calls", reason, count=3, limit=3, answer=self._so_far)

    def _cut_text(self, answer: str, limits: Limits) -> Judgement:
        if limits.max_continuations is None or self._continued < limits.max_continuations:
            return Judgement("continue", CONTINUE, "cut_text", answer=answer)
        return self._truncated("it is still cut", answer, limits)

    def _truncated(self, why: str, answer: str, limits: Limits) -> Judgement:
        allowed = "unlimited" if limits.max_continuations is None else limits.max_continuations
        reason = (
            f"stopped as truncated: the answer was cut off by the output limit and {why} "
            f"after {self._continued} of {allowed} continuations"
        )
        count, limit = self._continued, limits.max_continuations
        return _stop("truncated", "cut_text", reason, count=count, limit=limit, answer=answer)

    def _cut_thoughts(self, message: AssistantMessage) -> Judgement:
        if not self._raised:
            return Judgement("raise_output", "", "cut_thoughts", _more_than(message))
        if not self._nudged:
            return Judgement("nudge", THINK_LESS, "cut_thoughts")
        what = "reasoning" if message.reasoning.strip() else "nothing"
        reason = (
            f"stopped as truncated: the output limit cut off {what} before any text came, in 3 of 3 tries"
        )
        return _stop("truncated", "cut_thoughts", reason, count=3, limit=3)

    def _no_text(self, message: AssistantMessage) -> Judgement:
        thought = bool(message.reasoning.strip())
        if not self._nudged:
            return Judgement("nudge", ONLY_THOUGHT if thought else SAID_NOTHING, "no_text")
        what = "only reasoning, no answer" if thought else "nothing"
        reason = f"the model sent {what} in 2 of 2 tries: try another model or rephrase the request"
        return _stop("llm_error", "no_text", reason, count=2, limit=2)

    def _filtered(self, message: AssistantMessage, refusal: str) -> Judgement:
        what = "the model refused to answer" if refusal else "the provider's content filter stopped the reply"
        said = clip(" ".join(refusal.split()), 200)
        reason = f"{what}{': ' if said else ''}{said} (asked 1 of 1 time, not asked again)"
        answer = join_continuation(self._so_far, message.content or refusal)
        return _stop("filtered", "filtered", reason, count=1, limit=1, answer=answer)


def join_continuation(first: str, second: str) -> str:
    """A cut text and its continuation as one; what the continuation repeats of the end stands once."""
    if second.startswith(first):
        return second
    start = second.lstrip()
    for length in range(min(len(first), len(start), LONGEST_OVERLAP), LEAST_OVERLAP - 1, -1):
        if first.endswith(start[:length]):
            return first + start[length:]
    return first + second


_ANNOUNCES = re.compile(
    r"\b(let me|let's|i'll|i will|i'm going to|i am going to|i need to|now i|next,? i|going to)\b"
    r"|让我|我来|我将|我会|我要|我先|接下来",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[.!?\u3002\uff01\uff1f\n]+\s*(?=\S)")


def announces_action(text: str) -> bool:
    """Whether the end of a text says that something will be done now."""
    end = text.strip().replace("\u2019", "'")
    last_sentence = _SENTENCE_END.split(end)[-1]
    return end.endswith((":", "\uff1a")) or _ANNOUNCES.search(last_sentence) is not None


def _adds_text(before: str, after: str) -> bool:
    return len(after.strip()) > len(before.strip())


def _more_than(message: AssistantMessage) -> int:
    """An output limit with room for twice of what was cut off."""
    written = len(message.content) + len(message.reasoning)
    written += sum(len(call.arguments) for call in message.tool_calls)
    return max(RAISED_OUTPUT, 2 * (written // 4))


def _stop(
    status: Status, cause: Cause, reason: str, *, count: int, limit: int | None, answer: str = ""
) -> Judgement:
    evidence = {"cause": cause, "count": count, "limit": limit}
    verdict = Verdict("stop", "finish", reason, reason, status, count, limit, evidence)
    return Judgement("stop", "", cause, verdict=verdict, answer=answer)
