"""How a turn is worded: plain values in, one line of text out. The REPL and ``-p`` say the same.

Text that came from outside (names, arguments, reasons) is put in as it is: clean it at display.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from agent_cli.text import Catalog
from agent_cli.text.numbers import amount, money, seconds
from agent_cli.text.signs import ABOUT, DONE, DOT, ELLIPSIS, FAILED, PARTIAL, STOPPED

_LONGEST_VALUE = 500
_LONGEST_ARGUMENTS = 20_000


def step(catalog: Catalog, number: int, limit: int | None) -> str:
    """``step 2/12``."""
    if limit is None:
        return catalog("turn.step_unlimited", step=number)
    return catalog("turn.step", step=number, limit=limit)


def call(name: str, arguments: str) -> str:
    """``read_file("notes.txt", start=3)``."""
    return f"{name}({arguments_text(arguments)})"


def arguments_text(text: str) -> str:
    """Arguments (JSON text) for people: the first value bare if it is text, the others named."""
    try:
        values = json.loads(text) if len(text) <= _LONGEST_ARGUMENTS else None
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, dict):
        return " ".join(text[: 2 * _LONGEST_VALUE].split())
    parts = [f"{name}={_value(value)}" for name, value in values.items()]
    if values and isinstance(next(iter(values.values())), str):
        parts[0] = parts[0].partition("=")[2]
    return ", ".join(parts)


def failure(catalog: Catalog, name: str, kind: str) -> str:
    """``edit_file · edit_mismatch``, with the kind explained where its name is no word of the language."""
    return f"{name} {DOT} {_known(catalog, f'failure.{kind}', kind)}"


def counts(catalog: Catalog, same: int, max_same: int | None, failures: int, limit: int | None) -> str:
    """The two failure ledgers: ``same call 1/3 · turn 1/6``."""
    return joined(
        catalog("turn.same_call", count=same, limit=_or_off(max_same)),
        catalog("turn.failures", count=failures, limit=_or_off(limit)),
    )


def retry(catalog: Catalog, kind: str, attempt: int, limit: int | None, wait: float) -> str:
    """``rate limited · attempt 2/4 · 3s · Ctrl+C stops``; ``wait`` is what is left of it, in seconds."""
    what = _known(catalog, f"error.{kind}", kind)
    left = f"{max(0.0, wait):.0f}s"
    if limit is None:
        return catalog("turn.retry_unlimited", what=what, attempt=attempt, seconds=left)
    return catalog("turn.retry", what=what, attempt=attempt, limit=limit, seconds=left)


def compacted(catalog: Catalog, before: int, after: int, results: int, messages: int) -> str:
    return catalog(
        "turn.compacted",
        before=amount(before),
        after=amount(after),
        results=catalog.counted("turn.compacted_results", results),
        messages=catalog.counted("turn.compacted_messages", messages),
    )


@dataclass(frozen=True, slots=True)
class Gauge:
    """One meter: its text, and the share of its limit that is used (``None`` without a limit)."""

    text: str
    share: float | None


def gauges(
    catalog: Catalog,
    *,
    steps: int,
    max_steps: int | None,
    tokens: int,
    max_tokens: int | None,
    estimated: bool,
    seconds: float,
    max_seconds: float | None,
    cost: float | None,
    max_cost: float | None,
    failures: int,
    max_failures: int | None,
) -> list[Gauge]:
    """``steps 2/12``, ``1.2k/60k tok``, ``3s/120s``, ``fails 1/6``; money only where it has a limit."""
    about = ABOUT if estimated else ""
    found = [
        Gauge(catalog("gauge.steps", used=_of(steps, max_steps)), _share(steps, max_steps)),
        Gauge(
            catalog("gauge.tokens", used=about + _of(amount(tokens), _named(amount, max_tokens))),
            _share(tokens, max_tokens),
        ),
        Gauge(
            _of(_whole_seconds(seconds), _named(_whole_seconds, max_seconds)), _share(seconds, max_seconds)
        ),
        Gauge(catalog("gauge.failures", used=_of(failures, max_failures)), _share(failures, max_failures)),
    ]
    if max_cost is not None:
        used = catalog("gauge.cost_unknown") if cost is None else ABOUT + money(cost)
        found.insert(3, Gauge(_of(used, money(max_cost)), None if cost is None else _share(cost, max_cost)))
    return found


def footer(
    catalog: Catalog,
    status: str,
    *,
    steps: int,
    tokens: int,
    estimated: bool,
    cost: float | None,
    seconds_used: float,
    retries: int,
    label: str = "",
    reason: str = "",
) -> str:
    """``✓ answered · 3 steps · 1.2k tok · ≈$0.002 · 2.1s · 1 retry``.

    ``label`` (see :func:`stop_label`) stands behind a partial answer, ``reason`` behind a failure.
    """
    heads = {
        "ok": f"{DONE} {catalog('footer.answered')}",
        "llm_error": f"{FAILED} {catalog('footer.failed', reason=reason)}",
        "interrupted": f"{STOPPED} {catalog('footer.interrupted')}",
    }
    return joined(
        heads.get(status) or f"{PARTIAL} {catalog('footer.partial', label=label or status)}",
        catalog.counted("footer.steps", steps),
        catalog("footer.tokens", amount=(ABOUT if estimated else "") + amount(tokens)),
        "" if cost is None else ABOUT + money(cost),
        seconds(seconds_used),
        catalog.counted("footer.retries", retries) if retries else "",
    )


def stop_label(status: str, evidence: Mapping[str, Any]) -> str:
    """What ended a turn, in a word or two: ``max_steps 12/12``, ``loop 4/2``, ``filtered``.

    ``evidence`` is the guard's: ``count`` and ``limit``, and for a budget its name as ``budget``.
    """
    count, limit = _numbers(evidence)
    name = str(evidence.get("budget", status))
    return f"{name} {count}/{limit}" if count and limit else name


def reason(catalog: Catalog, status: str, evidence: Mapping[str, Any], fallback: str) -> str:
    """Why a turn was stopped, as one sentence. ``fallback`` is the guard's own English sentence."""
    key = f"reason.{evidence.get('budget', status)}"
    count, limit = _numbers(evidence)
    if key not in catalog or (catalog.language == "en" and fallback):
        return fallback
    return catalog(key, count=count, limit=limit) if count and limit else fallback


def error(catalog: Catalog, kind: str, fallback: str) -> str:
    """What a model call failed of, and the cure. ``fallback`` is the English sentence with the details."""
    key = f"error.{kind}"
    if key not in catalog or (catalog.language == "en" and fallback):
        return fallback
    return f"{catalog(key)} {DOT} {catalog(f'cure.{kind}')}"


def next_step(catalog: Catalog, status: str) -> str:
    """What the user can do after a turn with this status; empty after an answer."""
    key = f"next.{status}"
    return catalog(key) if key in catalog else ""


def not_done(catalog: Catalog, todos: Iterable[Mapping[str, str]]) -> str:
    """What a stopped turn left open of its list; empty if nothing."""
    items = [todo["text"] for todo in todos if todo.get("status") == "not_done" and todo.get("text")]
    return catalog("footer.not_done", items="; ".join(items)) if items else ""


def joined(*parts: str) -> str:
    """The parts that say something, with dots between them."""
    return f" {DOT} ".join(part for part in parts if part)


def _value(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST_VALUE else text[:_LONGEST_VALUE] + ELLIPSIS


def _known(catalog: Catalog, key: str, fallback: str) -> str:
    return catalog(key) if key in catalog else fallback


def _of(used: object, limit: object | None) -> str:
    return str(used) if limit is None else f"{used}/{limit}"


def _named(wording: Callable[[float], str], limit: float | None) -> str | None:
    return None if limit is None else wording(limit)


def _share(used: float, limit: float | None) -> float | None:
    if limit is None:
        return None
    return used / limit if limit else 1.0


def _or_off(limit: int | None) -> str:
    return "off" if limit is None else str(limit)


def _whole_seconds(value: float) -> str:
    return f"{value:.0f}s"


def _numbers(evidence: Mapping[str, Any]) -> tuple[str, str]:
    """The count and the limit of a stop, in the unit of its budget; empty where there is none."""
    budget = str(evidence.get("budget", ""))
    values = (evidence.get("count"), evidence.get("limit"))
    count, limit = ("" if value is None else _measured(budget, value) for value in values)
    return count, limit


def _measured(budget: str, value: float) -> str:
    if budget.endswith("tokens"):
        return amount(value)
    if budget.endswith("cost"):
        return money(value)
    return _whole_seconds(value) if budget.endswith("seconds") else f"{value:g}"
