"""A shell command taken apart into the simple commands that it would run.

Nothing is guessed: whatever is not plainly one of the forms below is ``Unclear``. Substitutions are
parts of their own, and the word that holds one is no longer sure.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_RESERVED = "! case coproc do done elif else esac fi for function if in select then time until while [[ ]]"
RESERVED = frozenset(_RESERVED.split())
_DEEPEST = 8
_BLANK = " \t"
_ENDS_WORD = frozenset(" \t\n;&|<>()")
_EXPANDS = frozenset("*?[{}")
_TILDE_AFTER = frozenset(":=")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")
_SEPARATOR = re.compile(r"&&|\|\||\|&|;(?!;)|&(?![>&])|\||\n")
_MAY_BE_LAST = frozenset({";", "&", "\n"})
_REDIRECTION = re.compile(r"&>>|&>|\d*(?:>>|>\||>&|<&|<<|<>|>|<)(?!\()")
_COPY = re.compile(r"\d+-?|-")
_PARAMETER = re.compile(r"\w+|[?$!#@*-]|\{\w+\}")
_NOWHERE = "/dev/null"


class Unclear(Exception):  # noqa: N818  (it is no error of ours: the person decides)
    """A command of which nobody can be certain what it runs."""


@dataclass(frozen=True, slots=True)
class Word:
    """One word after the quotes are gone. Not ``sure``: the shell makes something else of it."""

    text: str
    sure: bool = True


@dataclass(slots=True)
class Part:
    """One simple command. ``inputs`` are files that it is fed with; ``writes``: some output goes to a
    file; ``assigns``: a variable is set, for it or for what follows."""

    words: list[Word] = field(default_factory=list)
    inputs: list[Word] = field(default_factory=list)
    writes: bool = False
    assigns: bool = False

    @property
    def empty(self) -> bool:
        return not (self.words or self.inputs or self.writes or self.assigns)


def split(command: str) -> list[Part]:
    """Every simple command in a line, those inside of substitutions too. Raises ``Unclear``."""
    return _split(command, 0)


def _split(command: str, depth: int) -> list[Part]:
    if any(not (character.isprintable() or character in "\t\n") for character in command):
        raise Unclear("characters that cannot be seen")
    reader = _Reader(command, depth)
    reader.read_line("")
    if not reader.parts:
        raise Unclear("nothing")
    return reader.parts


class _Reader:
    """Reads from left to right; ``parts`` grows as simple commands end."""

    def __init__(self, text: str, depth: int) -> None:
        self.parts: list[Part] = []
        self._text, self._at, self._depth = text, 0, depth

    @property
    def _next(self) -> str:
        return self._text[self._at : self._at + 1]

    @property
    def _substitutes(self) -> bool:
        return self._text.startswith(("<(", ">("), self._at)

    def read_line(self, end: str) -> None:
        """Up to ``end``, a parenthesis, or to the end of the text."""
        part, separator = Part(), ""
        while True:
            while self._next and self._next in _BLANK:
                self._at += 1
            if self._next == end:
                break
            if redirection := _REDIRECTION.match(self._text, self._at):
                self._redirect(part, redirection)
            elif found := _SEPARATOR.match(self._text, self._at):
                separator = found[0]
                self._at = found.end()
                self._finish(part, may_be_empty=separator == "\n")
                part = Part()
            elif self._next == "#" or (self._next in _ENDS_WORD and not self._substitutes):
                raise Unclear("a comment, a group, or an operator that stands wrong")
            elif not self._next:
                raise Unclear("an open parenthesis")
            else:
                self._add_word(part)
        self._finish(part, may_be_empty=separator in _MAY_BE_LAST)

    def _finish(self, part: Part, *, may_be_empty: bool) -> None:
        if part.empty and not may_be_empty:
            raise Unclear("an operator without a command")
        if part.words and part.words[0].text in RESERVED:
            raise Unclear("a reserved word")
        if not part.empty:
            self.parts.append(part)

    def _add_word(self, part: Part) -> None:
        word = self._word()
        if not part.words and _ASSIGNMENT.match(word.text):
            part.assigns = True
        else:
            part.words.append(word)

    def _redirect(self, part: Part, found: re.Match[str]) -> None:
        operator = found[0].lstrip("0123456789")
        if operator in {"<<", "<>"}:
            raise Unclear("a here-document")
        self._at = found.end()
        while self._next and self._next in _BLANK:
            self._at += 1
        target = self._word()
        if not target.text and target.sure:
            raise Unclear("a redirection to nowhere")
        if operator in {">&", "<&"} and target.sure and _COPY.fullmatch(target.text):
            return
        if operator == "<":
            part.inputs.append(target)
        elif target != Word(_NOWHERE):
            part.writes = True

    def _word(self) -> Word:
        text, sure = "", True
        if self._substitutes:
            self._at += 2
            self._substitute()
            return Word("<()", sure=False)
        while self._next and self._next not in _ENDS_WORD:
            character = self._next
            self._at += 1
            if character == "'":
                text += self._until("'")
            elif character == '"':
                inner, inner_sure = self._in_double_quotes()
                text, sure = text + inner, sure and inner_sure
            elif character == "\\":
                text += self._escaped()
            elif character in "$`":
                value, literal = self._expansion(character, quoted=False)
                text, sure = text + value, sure and literal
            else:
                tilde = character == "~" and (not text or text[-1] in _TILDE_AFTER)
                sure = sure and not (tilde or character in _EXPANDS)
                text += character
        return Word(text, sure)

    def _in_double_quotes(self) -> tuple[str, bool]:
        text, sure = "", True
        while (character := self._next) != '"':
            if not character:
                raise Unclear("an open quote")
            self._at += 1
            if character == "\\":
                following = self._escaped()
                text += following if following in '$`"\\' else f"\\{following}"
            elif character in "$`":
                value, literal = self._expansion(character, quoted=True)
                text, sure = text + value, sure and literal
            else:
                text += character
        self._at += 1
        return text, sure

    def _escaped(self) -> str:
        character = self._next
        if character in {"", "\n"}:
            raise Unclear("a line that goes on")
        self._at += 1
        return character

    def _expansion(self, sign: str, *, quoted: bool) -> tuple[str, bool]:
        """What stands behind ``$`` or a backtick, and whether it is literal after all."""
        if sign == "`":
            inner = self._until("`")
            if "\\" in inner:
                raise Unclear("escapes inside of backticks")
            self._deeper()
            self.parts += _split(inner, self._depth + 1)
            return "``", False
        following = self._next
        if following == "(":
            self._at += 1
            if self._next == "(":
                raise Unclear("arithmetic")
            self._substitute()
            return "$()", False
        if found := _PARAMETER.match(self._text, self._at):
            self._at = found.end()
            return f"${found[0]}", False
        if (following and following in "{[") or (following and following in "'\"" and not quoted):
            raise Unclear("an expansion")
        return "$", True

    def _substitute(self) -> None:
        """Read ``…)`` as commands of their own."""
        self._deeper()
        self._depth += 1
        self.read_line(")")
        self._depth -= 1
        self._at += 1

    def _deeper(self) -> None:
        if self._depth >= _DEEPEST:
            raise Unclear("too deep")

    def _until(self, end: str) -> str:
        stop = self._text.find(end, self._at)
        if stop < 0:
            raise Unclear("an open quote")
        text = self._text[self._at : stop]
        self._at = stop + 1
        return text
