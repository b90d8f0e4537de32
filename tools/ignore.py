"""``.gitignore`` rules and glob patterns, matched part by part so that no pattern can be slow."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase


@dataclass(frozen=True, slots=True)
class _Rule:
    base: str
    parts: tuple[str, ...]
    negated: bool
    folders_only: bool


class IgnoreRules:
    """The rules that are in force in one folder: those of its parents and its own."""

    def __init__(self, rules: tuple[_Rule, ...] = ()) -> None:
        self._rules = rules

    def below(self, prefix: str, text: str) -> IgnoreRules:
        """The rules inside a folder whose ``.gitignore`` holds ``text``; ``prefix`` ends with ``/``."""
        added = tuple(rule for line in text.splitlines() if (rule := _parse(prefix, line)))
        return IgnoreRules(self._rules + added) if added else self

    def ignores(self, path: str, is_folder: bool) -> bool:
        """Whether git would leave out this path. Parents are not asked: a walk ends at an ignored folder."""
        for rule in reversed(self._rules):
            if (is_folder or not rule.folders_only) and path.startswith(rule.base):
                inside = path[len(rule.base) :].split("/")
                if match_parts(rule.parts, inside):
                    return not rule.negated
        return False


def _parse(prefix: str, line: str) -> _Rule | None:
    line = re.sub(r"(?<!\\)\s+$", "", line)
    if not line or line.startswith("#"):
        return None
    negated = line.startswith("!")
    line = line[1:] if negated else line.removeprefix("\\")
    folders_only = line.endswith("/")
    anchored = "/" in line.rstrip("/")
    parts = [part for part in line.strip("/").split("/") if part]
    if not parts:
        return None
    return _Rule(prefix, tuple(parts if anchored else ["**", *parts]), negated, folders_only)


def match_glob(pattern: str, path: str) -> bool:
    """Whether a path fits a glob. Without a ``/`` the pattern is asked of the name at any depth."""
    parts = [part for part in pattern.removeprefix("./").split("/") if part]
    return match_parts(parts if "/" in pattern else ["**", *parts], path.split("/"))


def match_parts(pattern: Sequence[str], path: Sequence[str]) -> bool:
    """``**`` stands for any number of whole parts. Takes at most len(pattern) × len(path) steps."""
    reachable = {0}
    for number, part in enumerate(pattern):
        if part == "**":
            first = min(reachable)
            if number == len(pattern) - 1:
                return first < len(path)
            reachable = set(range(first, len(path) + 1))
        else:
            reachable = {at + 1 for at in reachable if at < len(path) and _match_name(part, path[at])}
        if not reachable:
            return False
    return len(path) in reachable


def _match_name(pattern: str, name: str) -> bool:
    return pattern == name or fnmatchcase(name, pattern)
