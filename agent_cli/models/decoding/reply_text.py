"""The words of one reply: what of its content is thought, what is text, what may be shown already.

Content passes three readers, each of which holds back no more than it must: :class:`RepeatFilter`
(text that is sent again), :class:`ThoughtSplitter` (``<think>``) and a :class:`TextFilter` (calls
written as text).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from agent_cli.events import ReasoningDelta, TextDelta
from agent_cli.messages import clean_text
from agent_cli.models.base import Discarded, StreamPart
from agent_cli.models.decoding.leaked import Rest, TextFilter
from agent_cli.models.decoding.repeats import RepeatFilter
from agent_cli.models.decoding.thoughts import Split, ThoughtSplitter

Kind = Literal["text", "thought"]


class ReplyText:
    """Takes pieces as they come, gives them out as parts, neighbours joined. ``content`` is exactly the
    text that was shown and not discarded."""

    def __init__(self, new_filter: Callable[[], TextFilter], *, thoughts_open: bool) -> None:
        self._new_filter = new_filter
        self._filter = new_filter()
        self._thoughts = ThoughtSplitter(began_open=thoughts_open)
        self._repeats: dict[Kind, RepeatFilter] = {"text": RepeatFilter(), "thought": RepeatFilter()}
        self._surrogates: dict[Kind, _SurrogateJoiner] = {
            "text": _SurrogateJoiner(),
            "thought": _SurrogateJoiner(),
        }
        self._fresh: list[tuple[Kind, list[str]]] = []
        self._shown: dict[Kind, list[str]] = {"text": [], "thought": []}
        self.has: dict[Kind, bool] = {"text": False, "thought": False}

    @property
    def content(self) -> str:
        return "".join(self._shown["text"])

    @property
    def reasoning(self) -> str:
        return "".join(self._shown["thought"])

    @property
    def thoughts_were_open(self) -> bool:
        """Whether this reply closed a thought that it had not opened: the endpoint's template did."""
        return self._thoughts.found_unopened

    def add(self, kind: Kind, piece: str, *, last: bool) -> None:
        """Take a piece of content, or of a reasoning field. ``last``: it came with the finish reason."""
        if kind == "thought":
            self._thoughts.trust_reasoning_fields()
        self.has[kind] = True
        self._push(kind, self._repeats[kind].feed(piece, last=last))

    def parts(self) -> list[StreamPart]:
        """What can be shown since the last time."""
        parts: list[StreamPart] = []
        for kind, pieces in self._fresh:
            self._read(kind, "".join(pieces), parts)
        self._fresh.clear()
        return parts

    def finish(self, *, has_calls: bool, cut: bool) -> tuple[list[StreamPart], Rest]:
        """The rest of the parts, and what the text filter found."""
        for kind, repeats in self._repeats.items():
            self._push(kind, repeats.finish())
        parts = self.parts()
        for kind, surrogates in self._surrogates.items():
            self._read(kind, surrogates.finish(), parts)
        self._split(self._thoughts.finish(cut=cut), parts)
        rest = self._filter.finish(has_calls=has_calls, cut=cut)
        self._show("text", rest.text, parts)
        return parts, rest

    def _push(self, kind: Kind, text: str) -> None:
        if not text:
            return
        if self._fresh and self._fresh[-1][0] == kind:
            self._fresh[-1][1].append(text)
        else:
            self._fresh.append((kind, [text]))

    def _read(self, kind: Kind, text: str, parts: list[StreamPart]) -> None:
        text = self._surrogates[kind].feed(text)
        if kind == "thought":
            self._show(kind, text, parts)
        elif text:
            self._split(self._thoughts.feed(text), parts)

    def _split(self, split: Split, parts: list[StreamPart]) -> None:
        if split.retracted:
            parts.append(Discarded("these were thoughts" if split.thought else "this was the answer"))
            self._shown = {"text": [], "thought": []}
            self._filter = self._new_filter()
        self._show("thought", split.thought, parts)
        if split.text:
            self._show("text", self._filter.feed(split.text), parts)

    def _show(self, kind: Kind, text: str, parts: list[StreamPart]) -> None:
        if text:
            self._shown[kind].append(text)
            parts.append(TextDelta(text) if kind == "text" else ReasoningDelta(text))


class _SurrogateJoiner:
    """Cleans text that comes in pieces: a surrogate pair cut between two pieces is joined."""

    def __init__(self) -> None:
        self._high = ""

    def feed(self, text: str) -> str:
        text, self._high = self._high + text, ""
        if text and "\ud800" <= text[-1] <= "\udbff":
            text, self._high = text[:-1], text[-1]
        return clean_text(text)

    def finish(self) -> str:
        high, self._high = self._high, ""
        return clean_text(high)
