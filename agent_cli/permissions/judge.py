"""Decides about calls by the mode, the rules and what was allowed for the session; else a person does."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Literal

from agent_cli.approval import Approval, ApprovalMode, ApprovalRequest, Approver
from agent_cli.permissions.reads import is_plain_read
from agent_cli.permissions.rules import Rule, Rules, runs_others
from agent_cli.permissions.shell_parts import Part, Unclear, split

Opinion = Literal["allow", "ask", ""]
SHELL = "run_shell"
ONLY_READING = "only reading is allowed now (/approve)"
_SUBCOMMAND = re.compile(r"[a-z][a-z0-9-]*")
_GLOB = frozenset("*?[")
_WITH_SUBCOMMANDS = frozenset(("apt", "apt-get", "cargo", "gh", "git", "go", "kubectl", "npm", "pip"))
_ALLOWED = Approval(True, by_user=False)


class Judge:
    """One for each conversation. ``folder`` is where paths start, and where plain reads stay.

    ``remembered`` is what was allowed for the session, for people.
    """

    def __init__(self, rules: Rules | None = None, folder: Path | str = ".") -> None:
        self.rules = rules or Rules()
        self.remembered: list[str] = []
        self._root = os.path.realpath(folder)
        self._session: list[Rule] = []
        self._exactly: set[tuple[str, str]] = set()

    def decide(self, request: ApprovalRequest, mode: ApprovalMode) -> Approval | None:
        """``None`` when a person has to be asked."""
        if denied := next((rule for rule in self.rules.deny if self._touches(rule, request)), None):
            return Approval(False, f"denied by the user's rule {denied}", by_user=False)
        if mode == "all":
            return _ALLOWED
        if mode == "reads" and not self._only_reads(request):
            return Approval(False, ONLY_READING, by_user=False)
        match self._opinion(request, mode):
            case "allow":
                return _ALLOWED
            case "" if mode == "reads" or not request.required:
                return _ALLOWED
            case _:
                return None

    def remember(self, request: ApprovalRequest) -> None:
        """A person allowed this for the session: see :func:`session_rule`."""
        self.remembered.append(session_text(request))
        if rule := session_rule(request):
            self._session.append(rule)
        else:
            self._exactly.add((request.name, command_of(request) or ""))

    def forget(self) -> bool:
        """Allow nothing any more for the session; whether there was anything."""
        had = bool(self.remembered)
        for allowed in (self.remembered, self._session, self._exactly):
            allowed.clear()
        return had

    def _opinion(self, request: ApprovalRequest, mode: ApprovalMode) -> Opinion:
        command = command_of(request)
        if command is None:
            return self._about_text(request)
        if (request.name, command) in self._exactly:
            return "allow"
        try:
            parts = split(command)
        except Unclear:
            whole = (rule for rule in self.rules.allow if not rule.pattern)
            return self._weigh(
                request.name, whole, (rule for rule in self.rules.ask if rule.touches_command(command))
            )
        looking = request.name == SHELL and (self.rules.reads or mode == "reads")
        opinions = {self._about_part(request.name, part, looking=looking) for part in parts}
        if "ask" in opinions:
            return "ask"
        return "allow" if opinions == {"allow"} else ""

    def _about_part(self, name: str, part: Part, *, looking: bool) -> Opinion:
        if any(rule.names(name) and rule.fits_part(part) for rule in self._session):
            return "allow"
        opinion = self._weigh(
            name,
            (rule for rule in self.rules.allow if rule.fits_part(part)),
            (rule for rule in self.rules.ask if rule.touches_part(part)),
        )
        return "allow" if not opinion and looking and is_plain_read(part, self._inside) else opinion

    def _about_text(self, request: ApprovalRequest) -> Opinion:
        if any(rule.names(request.name) for rule in self._session):
            return "allow"
        typed, real = self._subject(request)
        return self._weigh(
            request.name,
            (rule for rule in self.rules.allow if rule.fits_text(real)),
            (rule for rule in self.rules.ask if rule.touches_text(real) or rule.touches_text(typed)),
        )

    def _weigh(self, name: str, allow: Iterable[Rule], ask: Iterable[Rule]) -> Opinion:
        """The most specific wins; of equals the one that asks."""
        allowing = max((rule.weight for rule in allow if rule.names(name)), default=(-1, 0))
        asking = max((rule.weight for rule in ask if rule.names(name)), default=(-1, 0))
        if allowing == asking == (-1, 0):
            return ""
        return "allow" if allowing > asking else "ask"

    def _touches(self, rule: Rule, request: ApprovalRequest) -> bool:
        if not rule.names(request.name):
            return False
        command = command_of(request)
        if command is not None:
            return rule.touches_command(command)
        return any(map(rule.touches_text, self._subject(request)))

    def _only_reads(self, request: ApprovalRequest) -> bool:
        if request.effect == "read":
            return True
        command = command_of(request) if request.name == SHELL else None
        try:
            return command is not None and all(is_plain_read(part, self._inside) for part in split(command))
        except Unclear:
            return False

    def _subject(self, request: ApprovalRequest) -> tuple[str, str]:
        """What a pattern is compared with, as typed and as it really is: the path, else the first text."""
        path = request.values.get("path")
        if isinstance(path, str):
            real = self._real(path, os.path.expanduser)
            return path, os.path.relpath(real, self._root) if self._is_inside(real) else real
        text = next((value for value in request.values.values() if isinstance(value, str)), "")
        return text, text

    def _inside(self, path: str) -> bool:
        return self._is_inside(self._real(path))

    def _real(self, path: str, expanded: Callable[[str], str] = str) -> str:
        """Where a path leads, links followed. A text that can be no path (a NUL in it) leads nowhere."""
        try:
            return os.path.realpath(os.path.join(self._root, expanded(path)))
        except ValueError:
            return os.sep

    def _is_inside(self, real: str) -> bool:
        return os.path.commonpath([self._root, real]) == self._root


class RuledApprover:
    """An approver for a run without a terminal: a judge first, ``otherwise`` about what it leaves open."""

    def __init__(self, judge: Judge, mode: ApprovalMode, otherwise: Approver) -> None:
        self._judge, self._mode, self._otherwise = judge, mode, otherwise

    def ruling(self, request: ApprovalRequest) -> Approval | None:
        return self._judge.decide(request, self._mode)

    async def approve(self, request: ApprovalRequest) -> Approval:
        return self.ruling(request) or await self._otherwise.approve(request)


def session_rule(request: ApprovalRequest) -> Rule | None:
    """What "for this session" covers: the tool; of a command the same prefix. ``None``: only this very
    command, because it has more than one part, or its prefix could run anything."""
    command = command_of(request)
    if command is None:
        return Rule(request.name)
    prefix = _prefix(command)
    return Rule(request.name, f"{shlex.join(prefix)} *") if prefix else None


def _prefix(command: str) -> list[str]:
    """The program, and its subcommand where it has one."""
    try:
        (part,) = split(command)
    except (Unclear, ValueError):
        return []
    if part.writes or part.inputs or part.assigns:
        return []
    program, *others = part.words
    if not program.sure or set(program.text) & _GLOB or runs_others(program.text):
        return []
    if others and others[0].sure and _SUBCOMMAND.fullmatch(others[0].text):
        return [program.text, others[0].text]
    return [] if others and program.text in _WITH_SUBCOMMANDS else [program.text]


def session_text(request: ApprovalRequest) -> str:
    """The same, for people."""
    return str(session_rule(request) or Rule(request.name, command_of(request) or ""))


def command_of(request: ApprovalRequest) -> str | None:
    command = request.values.get("command")
    return command.strip() if isinstance(command, str) else None
