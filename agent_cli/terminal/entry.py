"""The input line: a draft of several lines, long pastes folded, drafts that are never lost."""

from __future__ import annotations

from collections.abc import Callable

from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import CompleteEvent, Completer, get_common_complete_suffix
from prompt_toolkit.document import Document
from prompt_toolkit.filters import Condition
from prompt_toolkit.history import History

from agent_cli.terminal.paste import Folds
from agent_cli.terminal.sanitize import clean


class Entry:
    """Owns the buffer. ``fold_mark`` words the mark of a folded paste of so many lines."""

    def __init__(self, history: History, completer: Completer, fold_mark: Callable[[int], str]) -> None:
        self._folds = Folds()
        self._fold_mark = fold_mark
        self._set_aside = ""
        self.buffer = Buffer(
            history=history,
            completer=completer,
            complete_while_typing=Condition(self._completes_while_typing),
            multiline=True,
        )

    def _completes_while_typing(self) -> bool:
        return self.buffer.text.startswith("/") and "\n" not in self.buffer.text

    @property
    def text(self) -> str:
        """What would be sent."""
        return self._folds.unfold(self.buffer.text)

    def replace(self, text: str) -> None:
        self._set(clean(text))

    def take(self) -> tuple[str, str]:
        """Empty the line. Returns the text to send and the text as it looked."""
        shown = self.buffer.text
        typed = self.text
        if typed.strip():
            self.buffer.history.append_string(typed)
        self.buffer.reset()
        return typed, shown

    def put(self, text: str) -> None:
        """Put text back in front of what is being typed."""
        if text:
            draft = self.buffer.text
            self._set(f"{text}\n{draft}" if draft else text)

    def paste(self, text: str) -> None:
        plain = clean(text.replace("\r\n", "\n").replace("\r", "\n"))
        self.buffer.insert_text(self._folds.fold(plain, self._fold_mark))

    def new_line(self) -> None:
        self.buffer.insert_text("\n")

    def complete(self) -> None:
        """Tab: the only candidate, else what all of them share, else one after another.

        Asked at once and not in the background: keys typed in one go must not overtake it.
        """
        buffer = self.buffer
        if buffer.complete_state and buffer.complete_state.current_completion:
            buffer.complete_next()
            return
        event = CompleteEvent(completion_requested=True)
        found = list(buffer.completer.get_completions(buffer.document, event))
        if len(found) == 1:
            buffer.apply_completion(found[0])
        elif shared := get_common_complete_suffix(buffer.document, found):
            buffer.insert_text(shared)
            buffer.start_completion()
        elif buffer.complete_state:
            buffer.complete_next()
        else:
            buffer.start_completion()

    def erase_before(self) -> None:
        """Backspace; a folded paste goes as a whole."""
        mark = self._folds.mark_before(self.buffer.document.text_before_cursor)
        self.buffer.delete_before_cursor(max(1, len(mark)))

    def set_aside(self) -> None:
        """Keep the draft while the line is needed for something else; :meth:`take_up` brings it back."""
        self._set_aside = self.buffer.text
        self.buffer.reset()

    def take_up(self) -> None:
        self._set(self._set_aside)
        self._set_aside = ""

    def _set(self, text: str) -> None:
        self.buffer.set_document(Document(text, len(text)), bypass_readonly=True)
