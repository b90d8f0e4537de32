"""What of a history is sent when all of it does not fit. Pure; the stored history is never cut.

Source: GUARDS section 10. At 80 % of the room the request is brought down to 50 %: first bulky old
results become stubs, then whole groups (an assistant message with its results; a turn in the middle
with its user message) are left out, oldest first. Never touched: the system prompt, the first and the
last user message, the newest group.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from agent_cli.messages import (
    AssistantMessage,
    Message,
    SystemMessage,
    ToolMessage,
    UserMessage,
    history_problems,
)
from agent_cli.tokens import TokenEstimator, measure

TRIGGER = 0.8
GOAL = 0.5
BULKY = 1_500
"""Characters from which an old result is worth a stub."""
_STUB_TAIL_LINES = 6
_STUB_TAIL_CHARS = 800
_STUB_HEAD_CHARS = 150
_FRAME_CHARS = 16
"""What a role and its delimiters cost, in characters."""


@dataclass(frozen=True, slots=True)
class Cut:
    """What of a stored history is not sent: indexes of stubbed results and of left-out messages.

    ``summary`` stands for the left-out messages, if somebody wrote one. A cut only grows while the
    conversation does, so what is sent keeps its beginning from one step to the next.
    """

    stubbed: frozenset[int] = frozenset()
    dropped: frozenset[int] = frozenset()
    summary: str = ""

    def before(self, length: int) -> Cut:
        """This cut for a history that was taken back to ``length`` messages."""
        kept = (frozenset(index for index in part if index < length) for part in (self.stubbed, self.dropped))
        stubbed, dropped = kept
        return Cut(stubbed, dropped, self.summary if dropped else "")


NOTHING_CUT = Cut()


@dataclass(frozen=True, slots=True)
class Fitted:
    """``messages`` to send, and the ``cut`` that made them, to be given to the next :func:`fit`.

    Tokens are estimates of the whole request. The two counts tell what this fit did beyond the cut
    it was given: results stubbed and messages left out.
    """

    messages: list[Message]
    cut: Cut
    tokens_before: int
    tokens_after: int
    stubbed_results: int = 0
    dropped_messages: int = 0

    @property
    def changed(self) -> bool:
        return bool(self.stubbed_results or self.dropped_messages)

    @property
    def gain(self) -> float:
        """The share of the tokens that went away, 0 to 1."""
        return 1 - self.tokens_after / self.tokens_before if self.tokens_before else 0.0


@dataclass
class _Weight:
    """A running sum of what the request weighs."""

    estimator: TokenEstimator
    overhead: int
    narrow: int = 0
    wide: int = 0
    messages: int = 0

    def add(self, message: Message, sign: int = 1) -> None:
        narrow, wide = message_size(message)
        self.narrow += sign * narrow
        self.wide += sign * wide
        self.messages += sign

    @property
    def tokens(self) -> int:
        return self.overhead + self.estimator.count_chars(self.narrow, self.wide)


@dataclass(frozen=True, slots=True)
class _Room:
    tokens: float | None
    messages: float | None

    def holds(self, weight: _Weight) -> bool:
        return (self.tokens is None or weight.tokens <= self.tokens) and (
            self.messages is None or weight.messages <= self.messages
        )


def fit(
    messages: Sequence[Message],
    *,
    window: int | None,
    estimator: TokenEstimator,
    cut: Cut = NOTHING_CUT,
    overhead: int = 0,
    max_messages: int | None = None,
    force: bool = False,
) -> Fitted:
    """The messages to send for a valid history.

    ``window`` is the room in tokens (the model's, or the smaller one a user set), ``None`` if
    unknown; ``overhead`` what the request needs besides (tool schemas); ``max_messages`` the room in
    messages. ``force`` trims also below the trigger: a server has just said that it does not fit, or
    a person asked; without a window it halves what there is.
    """
    weight = _Weight(estimator, overhead)
    for message in render(messages, cut):
        weight.add(message)
    before = weight.tokens
    if not force and _room(window, max_messages, TRIGGER).holds(weight):
        return Fitted(render(messages, cut), cut, before, before)
    goal = _room(before if window is None and force else window, max_messages, GOAL)
    stubbed = _stub_until(goal, messages, cut, weight)
    dropped = _drop_until(goal, messages, replace(cut, stubbed=stubbed), weight)
    grown = replace(cut, stubbed=stubbed - dropped, dropped=dropped)
    sent = render(messages, grown)
    after = sum_tokens(sent, estimator) + overhead
    return Fitted(
        sent, grown, before, after, len(stubbed - cut.stubbed - dropped), len(dropped - cut.dropped)
    )


def _room(tokens: int | None, messages: int | None, share: float) -> _Room:
    return _Room(None if tokens is None else tokens * share, None if messages is None else messages * share)


def _stub_until(goal: _Room, messages: Sequence[Message], cut: Cut, weight: _Weight) -> frozenset[int]:
    stubbed = set(cut.stubbed)
    newest = _groups(messages)[-1].start if messages else 0
    for index, message in enumerate(messages[:newest]):
        if goal.tokens is None or weight.tokens <= goal.tokens:
            break
        if not isinstance(message, ToolMessage) or len(message.content) < BULKY:
            continue
        if index not in stubbed and index not in cut.dropped:
            weight.add(message, -1)
            weight.add(stub(message))
            stubbed.add(index)
    return frozenset(stubbed)


def _drop_until(goal: _Room, messages: Sequence[Message], cut: Cut, weight: _Weight) -> frozenset[int]:
    dropped = set(cut.dropped)
    for group in _droppable(messages):
        if goal.holds(weight):
            break
        fresh = [index for index in group if index not in dropped]
        for index in fresh:
            message = messages[index]
            weight.add(stub(message) if index in cut.stubbed else message, -1)
        dropped.update(fresh)
    return frozenset(dropped)


def _groups(messages: Sequence[Message]) -> list[range]:
    """The smallest pieces that can stand alone: one message, or a call message with its results."""
    starts = [index for index, message in enumerate(messages) if not isinstance(message, ToolMessage)]
    return [range(start, end) for start, end in pairwise([*starts, len(messages)])]


def everything_droppable(messages: Sequence[Message]) -> frozenset[int]:
    """The indexes of all messages that may be left out."""
    return frozenset(index for group in _droppable(messages) for index in group)


def _droppable(messages: Sequence[Message]) -> Iterator[range]:
    """What may be left out, oldest first: middle turns whole, else group by group."""
    users = [index for index, message in enumerate(messages) if isinstance(message, UserMessage)]
    kept = {*users[:1], *users[-1:]}
    middle = range(users[1], users[-1]) if len(users) > 2 else range(0)
    turn: list[int] = []
    for group in _groups(messages)[:-1]:
        inside = group.start in middle
        if turn and (not inside or isinstance(messages[group.start], UserMessage)):
            yield range(turn[0], turn[-1] + 1)
            turn = []
        if inside:
            turn += group
        elif group.start not in kept and not isinstance(messages[group.start], SystemMessage):
            yield group
    if turn:
        yield range(turn[0], turn[-1] + 1)


def render(messages: Sequence[Message], cut: Cut) -> list[Message]:
    """The messages that a cut leaves, with a note where something was left out."""
    if not cut.stubbed and not cut.dropped:
        return list(messages)
    sent: list[Message] = []
    for index, message in enumerate(messages):
        if index in cut.dropped:
            continue
        bulky = index in cut.stubbed and isinstance(message, ToolMessage)
        sent.append(stub(message) if bulky else message)
    return _with_note(sent, len(cut.dropped), cut.summary)


def _with_note(sent: list[Message], count: int, summary: str) -> list[Message]:
    """The note goes into the first user message: a message of its own could break a role order."""
    if not count:
        return sent
    note = f"[{count} messages of this conversation are left out here to fit the context window.]"
    if summary:
        note = f"{note}\n[Summary of what was left out:]\n{summary}"
    for index, message in enumerate(sent):
        if isinstance(message, UserMessage):
            sent[index] = UserMessage(f"{message.content}\n\n{note}")
            break
    return sent


def sound_cut(messages: Sequence[Message], cut: Cut) -> Cut:
    """The cut if it leaves a valid request; nothing cut otherwise (it was damaged, or they were)."""
    allowed = cut.dropped <= everything_droppable(messages)
    return cut if allowed and not history_problems(render(messages, cut)) else NOTHING_CUT


def stub(message: Message) -> Message:
    """An old result made small: how it began, how much is missing, and its last lines, where the
    verdict of a build stands, and the note on where the full text lies."""
    if not isinstance(message, ToolMessage) or len(message.content) < BULKY:
        return message
    text = message.content
    head = text[:_STUB_HEAD_CHARS].splitlines()[0] if text.strip() else ""
    tail = "\n".join(text.rstrip().splitlines()[-_STUB_TAIL_LINES:])[-_STUB_TAIL_CHARS:]
    missing = len(text) - len(head) - len(tail)
    note = f"[… {missing} characters of this old result are left out to fit the context window …]"
    return replace(message, content=f"{head}\n{note}\n{tail}")


def message_size(message: Message) -> tuple[int, int]:
    """Narrow and wide characters that a message costs in a request."""
    narrow, wide = measure(message.content)
    if isinstance(message, AssistantMessage):
        for text in (message.reasoning, *(call.name + call.arguments for call in message.tool_calls)):
            more_narrow, more_wide = measure(text)
            narrow, wide = narrow + more_narrow, wide + more_wide
    return narrow + _FRAME_CHARS, wide


def sum_tokens(messages: Sequence[Message], estimator: TokenEstimator) -> int:
    """Estimated tokens of messages in a request."""
    weight = _Weight(estimator, 0)
    for message in messages:
        weight.add(message)
    return weight.tokens
