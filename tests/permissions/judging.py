"""Shared by the tests of permissions: requests, and verdicts in one word."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agent_cli.approval import ApprovalMode, ApprovalRequest
from agent_cli.permissions.judge import Judge
from agent_cli.permissions.rules import Rule, Rules


def request(
    name: str = "run_shell", *, effect: str = "write", required: bool = True, **values: Any
) -> ApprovalRequest:
    return ApprovalRequest("c1", name, json.dumps(values), effect, "", values, required)


def shell(command: str) -> ApprovalRequest:
    return request(command=command)


def rules(
    allow: Sequence[str] = (), ask: Sequence[str] = (), deny: Sequence[str] = (), *, reads: bool = False
) -> Rules:
    lists = [tuple(map(Rule.parse, texts)) for texts in (allow, ask, deny)]
    return Rules(lists[0], lists[1], lists[2], reads=reads)


def verdict(judge: Judge, wanted: ApprovalRequest, mode: ApprovalMode = "ask") -> str:
    """``allow``, ``deny`` or ``ask``."""
    approval = judge.decide(wanted, mode)
    if approval is None:
        return "ask"
    assert not approval.by_user
    return "allow" if approval.allowed else "deny"


def reading_judge(folder: Path) -> Judge:
    return Judge(rules(reads=True), folder)


def commands(name: str) -> list[str]:
    """The commands of a table, one a line."""
    return (Path(__file__).parent / f"{name}.txt").read_text(encoding="utf-8").splitlines()
