"""Drills: each plays one fault of a model, a service or a tool, so that a real guard can be watched.

A drill only decides what the model says next; what happens then is the program's own loop.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping

from agent_cli.models.errors_map import classify
from agent_cli.models.practice.situation import Ask, Reply, Say, Situation, ask, catalog
from agent_cli.models.practice.tasks import told
from agent_cli.text import LANGUAGES

SCRATCH = "practice-drill.txt"
ENOUGH_SUMS = 20
SLOW_SECONDS = 600
_RATE_LIMITED = json.dumps({"error": {"message": "practice: slow down", "code": "rate_limit_exceeded"}})
_DRILL = re.compile(r"^\W*(?:drill|演练)\b\s*[:：]?\s*(?P<name>\w*)", re.IGNORECASE)
_SEAM = "⟡"


def drill_named(words: str) -> str | None:
    """The name after "drill" (maybe empty or unknown), or ``None`` if no drill is asked for."""
    found = _DRILL.match(words)
    return found["name"].lower() if found else None


def play(name: str, now: Situation) -> Reply:
    """The next reply of a drill; an unknown name is answered with the list of drills."""
    drill = DRILLS.get(name)
    if drill is None:
        return Say(now.say("drills"))
    missing = [tool for tool in _NEEDS.get(name, ()) if tool not in now.tools]
    return Say(now.say("no_tool", name=missing[0])) if missing else drill(now)


def _loop(_: Situation) -> Reply:
    """The same call for ever."""
    return ask("calculate", expression="6*7")


def _rate_limit(now: Situation) -> Reply:
    """429 with a server wait, twice."""
    if now.faults < 2:
        return classify(
            429,
            {"retry-after": "2"},
            _RATE_LIMITED,
            endpoint="built-in",
            model="practice",
            key_source="",
            now=0.0,
        )
    return Say(now.say("drill_429_done"))


def _timeout(now: Situation) -> Reply:
    """A command that takes longer than any tool may."""
    if not now.outcomes:
        return ask("run_shell", command=f"sleep {SLOW_SECONDS}")
    last = now.outcomes[-1]
    if "did not finish within" not in last.content:
        return Say(told(now, last))
    return Say(now.say("drill_timeout_done", report=last.content))


def _edit(now: Situation) -> Reply:
    """Write, edit with the wrong text, read, edit with the right one."""
    steps = (
        ask("write_file", path=SCRATCH, content="The quick brown fox\n"),
        ask("edit_file", path=SCRATCH, old_text="The quick red fox", new_text="The slow brown fox"),
        ask("read_file", path=SCRATCH),
        ask("edit_file", path=SCRATCH, old_text="The quick brown fox", new_text="The slow brown fox"),
    )
    done = now.outcomes
    if len(done) == len(steps):
        return Say(now.say("drill_edit_done", path=SCRATCH, report=told(now, done[-1])))
    if done and not done[-1].ok and len(done) != 2:
        return Say(told(now, done[-1]))
    return steps[len(done)]


def _breaker(now: Situation) -> Reply:
    """Calls that fail, each in another way."""
    number = len(now.outcomes)
    missing = f"no-such-thing-{number}.txt"
    ways = (
        ask("read_file", path=missing),
        ask("calculate", expression=f"{number + 1}/0"),
        ask("list_files", path=missing),
        Ask((("calculate", {"formula": number}),)),
    )
    return ways[number % len(ways)]


def _budget(now: Situation) -> Reply:
    """One more sum, and one more."""
    count = len(now.outcomes)
    if count >= ENOUGH_SUMS:
        return Say(now.say("drill_budget_done", count=count))
    return ask("calculate", expression=f"{count + 1} * {count + 1}")


def _cut(now: Situation) -> Reply:
    """A reply cut off by the output limit; :func:`rest_of_cut` gives its rest."""
    return Say(now.say("drill_cut").split(_SEAM)[0], "length")


def rest_of_cut(said: str) -> Say | None:
    """The rest, if ``said`` is the reply that the drill had cut off."""
    for language in LANGUAGES:
        first, rest = catalog(language)("practice.drill_cut").split(_SEAM)
        if said.rstrip().endswith(first.rstrip()):
            return Say(rest)
    return None


def _garbage(now: Situation) -> Reply:
    """Broken JSON, a tool that does not exist, wrong arguments, then the right call."""
    calls = (
        Ask((("calculate", '{"expression": "6*7'),)),
        Ask((("calculator", {"expression": "6*7"}),)),
        Ask((("calculate", {"formula": "6*7"}),)),
        ask("calculate", expression="6*7"),
    )
    done = now.outcomes
    if len(done) < len(calls):
        return calls[len(done)]
    return Say(now.say("drill_garbage_done", report=told(now, done[-1])))


def _long(now: Situation) -> Reply:
    """A long answer with everything that markdown has."""
    return Say(now.say("drill_long"))


DRILLS: Mapping[str, Callable[[Situation], Reply]] = {
    "loop": _loop,
    "429": _rate_limit,
    "timeout": _timeout,
    "edit": _edit,
    "breaker": _breaker,
    "budget": _budget,
    "cut": _cut,
    "garbage": _garbage,
    "long": _long,
}
_NEEDS: Mapping[str, tuple[str, ...]] = {
    "loop": ("calculate",),
    "timeout": ("run_shell",),
    "edit": ("write_file", "edit_file", "read_file"),
    "breaker": ("read_file", "calculate", "list_files"),
    "budget": ("calculate",),
    "garbage": ("calculate",),
}
