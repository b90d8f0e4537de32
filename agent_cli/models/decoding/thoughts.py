"""Thoughts that a server leaves in the text: ``<think>…</think>`` at the start of a reply."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from agent_cli.models.decoding.code_context import CodeContext

PAIRS = {
    "<think>": "</think>",
    "<thinking>": "</thinking>",
    "<thought>": "</thought>",
    "<reasoning>": "</reasoning>",
    "<|START_THINKING|>": "<|END_THINKING|>",
    "[THINK]": "[/THINK]",
}
_CLOSERS = tuple(PAIRS.values())


@dataclass(frozen=True, slots=True)
class Split:
    """What a piece of content turned out to be. ``retracted``: all text that was passed on before was
    thought, too; it comes again in ``thought``."""

    thought: str = ""
    text: str = ""
    retracted: bool = False


class _State(Enum):
    START = auto()
    THINKING = auto()
    AFTER = auto()
    ANSWER = auto()
    PLAIN = auto()


class ThoughtSplitter:
    """Splits content into thoughts and answer while it streams.

    Text that may be the beginning of a tag is held back, nothing else is. A closing tag without an
    opening one (the template opened the block) is recognised outside of code and quotation; then the
    text so far is retracted. ``began_open`` (learned from an earlier reply) expects that from the start.
    """

    def __init__(self, *, began_open: bool = False) -> None:
        self._state = _State.THINKING if began_open else _State.START
        self._began_open = began_open
        self._may_be_unopened = True
        self._closers = _CLOSERS
        self._held = ""
        self._passed: list[str] = []
        self._context = CodeContext()
        self.found_unopened = False

    def trust_reasoning_fields(self) -> None:
        """Reasoning came in a field of its own: a lone closing tag in the text is only text."""
        self._may_be_unopened = False
        if self._began_open and not self._passed:
            self._state, self._began_open = _State.START, False
        if self._state is _State.ANSWER:
            self._state = _State.PLAIN
            self._passed.clear()

    def feed(self, content: str) -> Split:
        content, self._held = self._held + content, ""
        if self._state is _State.START:
            return self._start(content)
        if self._state is _State.THINKING:
            return self._think(content)
        if self._state is _State.AFTER:
            return self._after(content)
        if self._state is _State.ANSWER:
            return self._watch(content)
        return Split(text=content)

    def finish(self, *, cut: bool = False) -> Split:
        """What was held back. ``cut``: the reply ended at its length limit, perhaps while thinking."""
        held, self._held = self._held, ""
        if self._state is _State.THINKING:
            if self._began_open and not cut:
                return Split(text="".join(self._passed) + held, retracted=True)
            return Split(thought=held)
        at, closer = _first(held, _CLOSERS)
        if closer and self._state is _State.ANSWER:
            return self._close_unopened(held[:at], closer, "")
        return Split(text=held if held.strip() else "")

    def _start(self, content: str) -> Split:
        begun = content.lstrip()
        for opener, closer in PAIRS.items():
            if begun.startswith(opener):
                self._state, self._closers = _State.THINKING, (closer,)
                return self._think(begun[len(opener) :])
        if not begun or any(opener.startswith(begun) for opener in PAIRS):
            self._held = content
            return Split()
        self._state = _State.ANSWER if self._may_be_unopened else _State.PLAIN
        return self._watch(content) if self._may_be_unopened else Split(text=content)

    def _think(self, content: str) -> Split:
        at, closer = _first(content, self._closers)
        if closer:
            self._state, self._began_open = _State.AFTER, False
            self._passed.clear()
            after = self._after(content[at + len(closer) :])
            return Split(content[:at].rstrip(), after.text)
        cut = len(content) - held_back(content, self._closers)
        self._held, content = content[cut:], content[:cut]
        if self._began_open:
            self._passed.append(content)
        return Split(thought=content)

    def _after(self, content: str) -> Split:
        content = content.lstrip()
        if content:
            self._state = _State.PLAIN
        return Split(text=content)

    def _watch(self, content: str) -> Split:
        at, closer = _first(content, _CLOSERS)
        if closer:
            before, rest = content[:at], content[at + len(closer) :]
            if not rest:
                self._held = content
                return Split()
            return self._close_unopened(before, closer, rest)
        cut = len(content) - held_back(content, _CLOSERS)
        self._held, content = content[cut:], content[:cut]
        self._passed.append(content)
        self._context.feed(content)
        return Split(text=content)

    def _close_unopened(self, before: str, closer: str, rest: str) -> Split:
        self._context.feed(before)
        quoted = self._context.in_code or self._context.last in "\"'“‘«("
        mid_sentence = self._context.after_space and rest[:1] in {" ", "\t"}
        if quoted or mid_sentence:
            self._state = _State.PLAIN
            self._passed.clear()
            return Split(text=before + closer + rest)
        thought = "".join(self._passed) + before
        self._passed.clear()
        self.found_unopened = True
        self._state = _State.AFTER
        return Split(thought.strip(), self._after(rest).text, retracted=True)


def held_back(text: str, markers: tuple[str, ...]) -> int:
    """How many characters at the end of ``text`` may be the beginning of a marker (``<…`` or ``[…``)."""
    tail = text[-max(map(len, markers)) + 1 :]
    if "<" not in tail and "[" not in tail:
        return 0
    for at in range(len(tail)):
        if tail[at] in "<[" and any(marker.startswith(tail[at:]) for marker in markers):
            return len(tail) - at
    return 0


def _first(text: str, markers: tuple[str, ...]) -> tuple[int, str]:
    found = [(at, marker) for marker in markers if (at := text.find(marker)) >= 0]
    return min(found, default=(-1, ""))
