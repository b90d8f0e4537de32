"""Code coloured line by line while it streams in.

Lines are coloured as soon as they are complete, except inside a string or comment that is still open:
those lines wait for its end, because a lexer sees only then what they are.
"""

from __future__ import annotations

from collections.abc import Iterable

from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.token import Comment, String, _TokenType
from pygments.util import ClassNotFound
from rich.text import Text

from agent_cli.terminal.theme import code_style

LONGEST_WAIT = 60
"""Lines that may wait for the end of a string; then the rest of the code goes without colours."""
LONGEST_LINE = 2_000
"""Characters; a longer line is data, and lexers may take for ever over it."""
_TAB = 4
_Token = tuple[_TokenType, str]


class CodeLines:
    """The lines of one code block, in order; the same however the text was cut into pieces."""

    def __init__(self, language: str) -> None:
        self._lexer = _lexer(language)
        self._block_comments = self._lexer is not None and _has_block_comments(self._lexer)
        self._waiting: list[str] = []

    @property
    def waiting(self) -> list[str]:
        """Lines that are complete but not given out yet."""
        return self._waiting

    def feed(self, line: str) -> list[Text]:
        """The lines that are final now that ``line`` (clean, without line end) has come."""
        self._waiting.append(line)
        tokens = self._tokens()
        if tokens and self._is_open(tokens):
            if len(self._waiting) < LONGEST_WAIT:
                return []
            self._lexer = None
            tokens = []
        return self._out(tokens)

    def finish(self) -> list[Text]:
        """The lines that were still waiting."""
        return self._out(self._tokens())

    def _tokens(self) -> list[_Token]:
        """The waiting lines as tokens; none where the code goes without colours."""
        if self._waiting and len(self._waiting[-1]) > LONGEST_LINE:
            self._lexer = None
        if self._lexer is None or not self._waiting:
            return []
        source = "".join(f"{line}\n" for line in self._waiting)
        tokens = list(self._lexer.get_tokens(source))
        if "".join(value for _, value in tokens) != source:
            self._lexer = None  # a few lexers change the text
            return []
        return tokens

    def _out(self, tokens: list[_Token]) -> list[Text]:
        lines = list(_painted(tokens)) if tokens else [Text(line) for line in self._waiting]
        self._waiting.clear()
        for line in lines:
            line.expand_tabs(_TAB)
        return lines

    def _is_open(self, tokens: list[_Token]) -> bool:
        source = "\n".join(self._waiting)
        if self._block_comments and source.rfind("/*") > source.rfind("*/"):
            return True  # to most lexers an unfinished comment is no comment
        kind = tokens[-1][0]
        return kind in String or _is_block_comment(kind)


def code_block(language: str, code: str) -> list[Text]:
    """A whole block at once."""
    lines = CodeLines(language)
    painted = [text for line in code.removesuffix("\n").split("\n") for text in lines.feed(line)]
    return painted + lines.finish()


def _painted(tokens: Iterable[_Token]) -> Iterable[Text]:
    """Tokens as lines. The last token ends with the last line's end."""
    line = Text()
    for kind, value in tokens:
        style = code_style(str(kind).removeprefix("Token."))
        for index, part in enumerate(value.split("\n")):
            if index:
                yield line
                line = Text()
            line.append(part, style)


def _lexer(language: str) -> Lexer | None:
    if not language:
        return None
    try:
        return get_lexer_by_name(language, stripnl=False, ensurenl=False, startinline=True)
    except ClassNotFound:
        return None


def _has_block_comments(lexer: Lexer) -> bool:
    return any(_is_block_comment(kind) for kind, _ in lexer.get_tokens("/* */\n"))


def _is_block_comment(kind: _TokenType) -> bool:
    return kind is Comment or kind in Comment.Multiline
