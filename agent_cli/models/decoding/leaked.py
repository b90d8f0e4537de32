"""Tool calls that leak into the text of a reply: withheld from the screen while it streams."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum, auto
from typing import Protocol

from agent_cli.models.decoding.code_context import CodeContext
from agent_cli.models.decoding.markup import Schemas, WrittenCall, calls_in, calls_in_whole_reply
from agent_cli.models.decoding.thoughts import held_back

LONGEST_MARKUP = 1_000_000
_BARS = ("|", "｜", "||", "｜｜")
MARKERS = (
    "<tool_call>",
    "<function=",
    "<function_calls>",
    "<invoke name=",
    "<|python_tag|>",
    "[TOOL_CALLS]",
    *(f"<{bars}DSML{bars}" for bars in _BARS),
    "<｜tool▁calls▁begin｜>",
    "<｜tool▁call▁begin｜>",
    "<|tool_calls_section_begin|>",
    "<|tool_call_begin|>",
    "<|channel|>commentary to=",
)
_MARKER = re.compile("|".join(re.escape(marker) for marker in MARKERS))
_SENTENCE_ENDS = frozenset("\n.!?…。！？")
_UNDECIDED = 400
_NAME_KEYS = "name|function|function_name|tool|tool_name"
_OPEN = r"(?:\[\s*)?\{\s*"
_NAMED_CALL = re.compile(rf'{_OPEN}"(?:function"\s*:\s*{{\s*")?(?:{_NAME_KEYS})"\s*:\s*"([^"]*)"')
_OTHER_CALL = re.compile(
    rf'{_OPEN}"(?:type"\s*:\s*"function"|id"\s*:\s*"call_|(?:arguments|parameters)"\s*:\s*{{)'
)
_CALL_BEGUN = re.compile(
    rf'(?:\[\s*)?(?:\{{\s*(?:"(?:\w*|(?:{_NAME_KEYS}|type|id|arguments|parameters)"[\s\S]*))?)?\Z'
)
_FENCE = re.compile(r"```(?:json|tool_call|tool_calls|tool_code|xml|)[ \t]*\n\s*")
_FENCE_BEGUN = re.compile(r"`{1,2}\Z|```[a-z_]{0,10}[ \t]*\Z")
_CUT_NAME = re.compile(r'"name"\s*:\s*"([\w-]+)"|<function=([\w-]+)|invoke name="([\w-]+)"')


@dataclass(frozen=True, slots=True)
class Rest:
    """What a filter kept back: text to show after all, and the calls found in it."""

    text: str = ""
    calls: tuple[WrittenCall, ...] = ()


class TextFilter(Protocol):
    """Looks for calls in the text of a reply while it streams."""

    def feed(self, text: str) -> str:
        """What may be shown now."""

    def finish(self, *, has_calls: bool, cut: bool) -> Rest:
        """The end. ``has_calls``: the reply had proper calls, so that calls in text are only echoes.
        ``cut``: it ended at its length limit."""


class _State(Enum):
    START = auto()
    FLOW = auto()
    WITHHELD = auto()


class LeakFilter:
    """Finds calls of known tools written as text.

    With a marker they must begin a line or follow a sentence, outside of quoted code, and go on to
    the end of the reply; without one they must be the whole reply. Text that turns out to be something
    else is shown at the end, unchanged. Without tools nothing is ever withheld.
    """

    def __init__(self, schemas: Schemas) -> None:
        self._schemas = schemas
        self._state = _State.START if schemas else _State.FLOW
        self._whole = False
        self._kept: list[str] = []
        self._context = CodeContext()

    def feed(self, text: str) -> str:
        if not self._schemas:
            return text
        if self._state is _State.WITHHELD:
            self._kept.append(text)
            return ""
        text = "".join([*self._kept, text])
        self._kept.clear()
        if self._state is _State.START:
            verdict = _whole_reply(text.lstrip(), self._schemas)
            if verdict is None and len(text) < 2 * _UNDECIDED:
                self._kept.append(text)
                return ""
            if verdict:
                return self._withhold(text, whole=True)
            self._state = _State.FLOW
        return self._flow(text)

    def finish(self, *, has_calls: bool, cut: bool) -> Rest:
        text = "".join(self._kept)
        self._kept.clear()
        if self._state is _State.FLOW or not text.strip() or len(text) > LONGEST_MARKUP:
            return Rest(text if text.strip() else "")
        whole = self._whole or self._state is _State.START
        calls = (calls_in_whole_reply if whole else calls_in)(text, self._schemas)
        if calls is None and cut and not whole:
            calls = self._cut_call(text)
        if calls is None:
            return Rest(text)
        return Rest(calls=() if has_calls else tuple(calls))

    def _cut_call(self, text: str) -> list[WrittenCall] | None:
        """A call that the length limit cut: with its broken text as arguments, so that it never runs."""
        named = _CUT_NAME.search(text)
        name = next((group for group in named.groups() if group), "") if named else ""
        return [WrittenCall(name, text)] if name in self._schemas else None

    def _flow(self, text: str) -> str:
        shown: list[str] = []
        position = 0
        while marker := _MARKER.search(text, position):
            before = text[position : marker.start()]
            self._context.feed(before)
            shown.append(before)
            if not self._context.in_code and self._context.last in _SENTENCE_ENDS:
                self._withhold(text[marker.start() :], whole=False)
                return "".join(shown)
            self._context.feed(marker[0])
            shown.append(marker[0])
            position = marker.end()
        cut = len(text) - held_back(text[position:], MARKERS)
        rest = text[position:cut]
        self._context.feed(rest)
        shown.append(rest)
        if cut < len(text):
            self._kept.append(text[cut:])
        return "".join(shown)

    def _withhold(self, text: str, *, whole: bool) -> str:
        self._state, self._whole = _State.WITHHELD, whole
        self._kept.append(text)
        return ""


def _whole_reply(text: str, schemas: Schemas) -> bool | None:
    """Whether a reply that begins with ``text`` may be a bare call; ``None`` while it is too early."""
    if not text:
        return None
    fence = _FENCE.match(text)
    if fence:
        text = text[fence.end() :]
    elif _FENCE_BEGUN.match(text):
        return None
    if named := _NAMED_CALL.match(text):
        return named[1] in schemas
    if _OTHER_CALL.match(text):
        return True
    if len(text) < _UNDECIDED and _CALL_BEGUN.match(text):
        return None
    return _python_call(text.removeprefix("[").lstrip(), schemas)


def _python_call(text: str, schemas: Schemas) -> bool | None:
    for name in schemas:
        if text.startswith(f"{name}("):
            return True
        if f"{name}(".startswith(text):
            return None
    return False
