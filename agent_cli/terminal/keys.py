"""The keys, as people know them from other agents."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from prompt_toolkit.application import get_app
from prompt_toolkit.filters import Condition, FilterOrBool, has_completions, has_focus, is_searching
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.keys import Keys

from agent_cli.terminal.entry import Entry
from agent_cli.terminal.question import Question


class Hands(Protocol):
    """What keys can do beyond editing."""

    @property
    def is_busy(self) -> bool: ...

    def send(self) -> None:
        """Enter on a finished line."""

    def stop(self) -> None:
        """Ctrl+C: the turn, else the line, else how to leave."""

    def leave(self) -> None: ...

    def take_back_or_recall(self) -> None:
        """Up on an empty line: the newest queued message, else the newest of the history."""

    def toggle_detail(self) -> None: ...

    def show_keys(self) -> None: ...

    def edit(self) -> None:
        """$EDITOR."""

    def suspend(self) -> None: ...

    def redraw(self) -> None: ...


def bind(entry: Entry, question: Question, hands: Hands) -> KeyBindings:
    """All bindings. Those of an open question come before everything but stopping."""
    keys = KeyBindings()
    at_line = has_focus(entry.buffer)
    empty = at_line & Condition(lambda: not entry.buffer.text)
    busy = Condition(lambda: hands.is_busy)
    alone = Condition(lambda: not get_app().key_processor.input_queue)
    """Escape with more keys behind it in one read is Alt and a key."""
    choosing = Condition(lambda: question.open and not question.wording)
    wording = Condition(lambda: question.wording)

    def on(*names: str, do: Callable[[], object], when: FilterOrBool = at_line, first: bool = False) -> None:
        keys.add(*names, filter=when, eager=first)(lambda _: do())

    on("enter", do=lambda: _enter(entry, hands))
    on("enter", do=question.refuse, when=wording)
    on("c-j", do=entry.new_line)
    on("escape", "enter", do=entry.new_line)
    on("escape", "c-j", do=entry.new_line)
    on("backspace", do=entry.erase_before)
    on("tab", do=entry.complete)
    on("s-tab", do=entry.buffer.complete_previous)
    on("up", do=hands.take_back_or_recall, when=empty)
    on("?", do=hands.show_keys, when=empty)
    on("c-d", do=hands.leave, when=empty)
    on("c-x", "c-e", do=hands.edit)
    on("c-o", do=hands.toggle_detail, when=True)
    on("c-l", do=hands.redraw, when=True)
    on("c-z", do=hands.suspend, when=True)
    on("c-c", do=hands.stop, when=~is_searching, first=True)
    on("escape", do=entry.buffer.cancel_completion, when=has_completions & alone, first=True)
    on("escape", do=hands.stop, when=busy & alone & ~wording & ~has_completions, first=True)
    on("escape", do=question.back, when=wording, first=True)
    keys.add(Keys.BracketedPaste, filter=at_line)(lambda event: entry.paste(event.data))
    keys.add(Keys.Any, filter=choosing, eager=True)(lambda event: question.press(event.key_sequence[0].key))
    return keys


def _enter(entry: Entry, hands: Hands) -> None:
    """Send, unless a completion is being chosen or the line ends with a backslash."""
    buffer = entry.buffer
    if buffer.complete_state and buffer.complete_state.current_completion:
        buffer.complete_state = None
    elif buffer.document.is_cursor_at_the_end_of_line and buffer.document.char_before_cursor == "\\":
        buffer.delete_before_cursor(1)
        entry.new_line()
    else:
        hands.send()
