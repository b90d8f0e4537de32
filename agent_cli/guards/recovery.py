"""The kinds of failure, and for each the one sentence that says what to do differently.

A hint never says "try again" where repeating cannot help. Source: GUARDS section 3.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

_HINTS = {
    "invalid_json": "Send the arguments as one valid JSON object; escape quotes and newlines in strings.",
    "invalid_arguments": "Correct the arguments that are named above; they must fit the tool's schema.",
    "unknown_tool": "Use one of the tools that exist.",
    "not_found": "Find out what exists first (list or search), then use an exact name from there.",
    "edit_mismatch": "Read the file again and take the exact text from it; do not repeat the same edit.",
    "edit_ambiguous": "Add surrounding lines to the old text so that it occurs only once.",
    "permission_denied": "It is not allowed and repeating changes nothing: go another way or ask the user.",
    "timeout": "Make it smaller or narrower so that it ends in time.",
    "timeout_unknown_effect": "It may have taken effect: verify first (read what it changes), then decide.",
    "network": "The other side cannot be reached: use another source, or go on without it and say so.",
    "rate_limited": "The service asks for a pause: do something else first, or go on without it.",
    "context_too_long": "Ask for less at once: a range, a narrower search, or a smaller part.",
    "output_too_long": "The output limit cut the call off: make a smaller call, or several small ones.",
    "unavailable": "The service is down: use another source or tool, or answer with what you have.",
    "internal": "The tool itself failed: use another tool or other arguments, or tell the user.",
}
KINDS: tuple[str, ...] = tuple(_HINTS)
TRANSPORT_KINDS = frozenset({"network", "timeout", "timeout_unknown_effect", "rate_limited", "unavailable"})
"""The world's faults: they open the health breaker of a backend and say nothing about the arguments."""


def hint_for(kind: str, *, tool: str = "", known: Iterable[str] = (), detail: str = "") -> str:
    """One sentence for the model. ``known`` are the tools that exist, for an unknown ``tool``.

    A ``kind`` that is not in ``KINDS`` is answered like ``internal``. ``detail`` is the message of the
    failure: what it already says is not said again.
    """
    if kind == "unknown_tool":
        names = nearest_first(tool, known)
        if not names:
            return "There are no tools here: answer without one."
        if all(name in detail for name in names):
            return _HINTS[kind]
        return f"The tools are: {', '.join(names)}."
    return _HINTS.get(kind, _HINTS["internal"])


def nearest_first(name: str, known: Iterable[str]) -> list[str]:
    """``known`` names, those that look most like ``name`` first, else alphabetically. The order of the
    words in a name does not matter."""

    def unlike(candidate: str) -> tuple[float, str]:
        return -difflib.SequenceMatcher(None, _words(name), _words(candidate)).ratio(), candidate

    return sorted(known, key=unlike)


def _words(name: str) -> str:
    return "_".join(sorted(name.lower().split("_")))
