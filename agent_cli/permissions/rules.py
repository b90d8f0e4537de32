"""Rules about calls: ``tool`` or ``tool(pattern)``, as the user writes them into ``config.toml``.

What allows is read narrowly, what asks or denies generously. In a command ``*`` is any part of one word;
at the end, alone or right behind a word (``git status*``), it is any further words. In a path or an
address ``*`` stops at ``/`` and ``**`` does not.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Any

from agent_cli.permissions.shell_parts import Part, Unclear, Word, split

KEYS = ("allow", "ask", "deny")
_RUNNERS = (
    "sudo doas su env xargs nohup nice ionice time timeout command builtin exec eval source . sh bash dash "
    "zsh ksh fish find fd parallel watch ssh script strace stdbuf setsid chroot unshare flock busybox python "
    "perl ruby node deno bun lua php awk gawk pwsh osascript make npx uv uvx pipx poetry docker podman"
)
_RULE = re.compile(r"([a-z*?][a-z0-9_*?]*)(?:\((.+)\))?", re.DOTALL)
_OPEN_END = re.compile(r"\w\*")
_SCRIPT = re.compile(r"[\s;&|]")
_DEEPEST = 4


@dataclass(frozen=True)
class Rule:
    """``pattern`` is empty for every call of the tool. Raises ``ValueError`` for what is no rule."""

    tool: str
    pattern: str = ""

    @classmethod
    def parse(cls, text: str) -> Rule:
        found = _RULE.fullmatch(text.strip())
        if found is None:
            raise ValueError(f"{text!r} is no rule: write a tool, or tool(pattern)")
        rule = cls(found[1], (found[2] or "").strip())
        try:
            shlex.split(rule.pattern)
        except ValueError:
            raise ValueError(f"{text!r} has an open quote") from None
        return rule

    def __str__(self) -> str:
        return f"{self.tool}({self.pattern})" if self.pattern else self.tool

    def names(self, tool: str) -> bool:
        return fnmatchcase(tool, self.tool)

    @property
    def weight(self) -> tuple[int, int]:
        """How specific it is: the characters that are spelled out."""
        return _spelled_out(self.pattern), _spelled_out(self.tool)

    @cached_property
    def _words(self) -> tuple[list[str], bool]:
        """The words of a command's pattern, and whether any others may follow."""
        words = shlex.split(self.pattern)
        if not words or words[-1] == "*":
            return words[:-1], True
        if _OPEN_END.fullmatch(words[-1][-2:]):
            return [*words[:-1], words[-1][:-1]], True
        return words, False

    # Narrowly: what is not certain does not fit

    def fits_part(self, part: Part) -> bool:
        """Whether a simple command is surely one that the pattern means; no file is written by it, and
        no variable set, unless the rule is about every call."""
        if not self.pattern:
            return True
        wanted, open_end = self._words
        words = part.words
        if part.writes or part.inputs or part.assigns or len(words) < max(len(wanted), 1):
            return False
        if len(words) > len(wanted) and not open_end:
            return False
        return words[0].sure and all(map(_fits_word, words, wanted))

    def fits_text(self, text: str) -> bool:
        return not self.pattern or re.fullmatch(_as_regex(self.pattern, "[^/]*"), text) is not None

    # Generously: what is not certain does fit

    def touches_command(self, command: str) -> bool:
        """Whether any part of a command, also one behind ``sudo`` or inside ``sh -c``, may be meant."""
        return not self.pattern or self._touches(command, 0)

    def touches_part(self, part: Part) -> bool:
        return not self.pattern or self._touches_words(part.words, 0)

    def _touches(self, command: str, depth: int) -> bool:
        try:
            parts = split(command)
        except Unclear:
            return self._may_occur_in(command)
        return any(self._touches_words(part.words, depth) for part in parts)

    def _touches_words(self, words: Sequence[Word], depth: int) -> bool:
        if not words:
            return False
        if self._begins(words):
            return True
        if words[0].sure and not runs_others(words[0].text):
            return False
        later = any(self._begins(words[start:]) for start in range(1, len(words)))
        scripts = (word.text for word in words[1:] if _SCRIPT.search(word.text))
        return later or (depth < _DEEPEST and any(self._touches(each, depth + 1) for each in scripts))

    def _begins(self, words: Sequence[Word]) -> bool:
        """The pattern's words come first; options may stand before a subcommand."""
        program, *wanted = self._words[0] or ["*"]
        others = words[1:]
        if not fnmatchcase(_program(words[0].text).casefold(), _program(program).casefold()):
            return False
        if others and others[0].text.startswith("-"):
            return all(any(_may_fit(word, each) for word in others) for each in wanted)
        return len(others) >= len(wanted) and all(map(_may_fit, others, wanted))

    def _may_occur_in(self, command: str) -> bool:
        seen = re.split(r"[^\w.-]+", re.sub(r"[\\'\"]", "", command.casefold()))
        return all(
            any(fnmatchcase(word, _program(wanted).casefold()) for word in seen) for wanted in self._words[0]
        )

    def touches_text(self, text: str) -> bool:
        pattern = _as_regex(self.pattern.casefold(), ".*")
        return not self.pattern or re.fullmatch(pattern, text.casefold(), re.DOTALL) is not None


@dataclass(frozen=True, slots=True)
class Rules:
    """``deny`` wins; of ``allow`` and ``ask`` the most specific does. ``reads``: commands that only
    look, and only inside of the working folder, run without asking."""

    allow: tuple[Rule, ...] = ()
    ask: tuple[Rule, ...] = ()
    deny: tuple[Rule, ...] = ()
    reads: bool = False

    def shown(self) -> Iterator[tuple[str, str]]:
        """The lists that are not empty, as text by key."""
        if self.reads:
            yield "reads", "true"
        for key in KEYS:
            if listed := getattr(self, key):
                yield key, ", ".join(map(str, listed))

    @classmethod
    def read(cls, table: Mapping[str, Any]) -> tuple[Rules, dict[str, str]]:
        """The rules of a table of ``config.toml``, and what is wrong, by key."""
        lists: dict[str, tuple[Rule, ...]] = {}
        problems: dict[str, str] = {}
        for key, value in table.items():
            if key == "reads" and not isinstance(value, bool):
                problems[key] = "write true or false"
            elif key != "reads" and key not in KEYS:
                problems[key] = f"there are only {', '.join(KEYS)} and reads"
            elif key in KEYS:
                try:
                    lists[key] = _parse_all(value)
                except ValueError as error:
                    problems[key] = str(error)
        return cls(**lists, reads=table.get("reads") is True), problems


def _parse_all(value: object) -> tuple[Rule, ...]:
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise ValueError('write a list of texts: ["run_shell(git status*)"]')
    return tuple(Rule.parse(each) for each in value)


def _spelled_out(pattern: str) -> int:
    return sum(character not in "*?" for character in pattern)


def _fits_word(word: Word, wanted: str) -> bool:
    """A pattern with ``*`` in it does not reach up to a folder above."""
    if not word.sure or not fnmatchcase(word.text, wanted):
        return False
    return word.text == wanted or ".." not in word.text.split("/")


def _may_fit(word: Word, wanted: str) -> bool:
    return not word.sure or fnmatchcase(word.text.casefold(), wanted.casefold())


def runs_others(program: str) -> bool:
    """Whether a program runs what its arguments say, with or without a version in its name."""
    name = _program(program)
    return name in _RUNNERS.split() or re.sub(r"[\d.]+$", "", name) in _RUNNERS.split()


def _program(text: str) -> str:
    return text.rpartition("/")[2]


def _as_regex(pattern: str, star: str) -> str:
    tokens = re.split(r"(\*\*|\*|\?)", pattern)
    meaning = {"**": ".*", "*": star, "?": "[^/]"}
    return "".join(meaning.get(token) or re.escape(token) for token in tokens)
