"""What an error answer of a chat endpoint means: the rules, most telling first.

Sources: GUARDS section 5. Money is told by the equality of codes, never by words inside a sentence,
because servers echo the user's text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from agent_cli.errors import ModelError, ModelErrorKind
from agent_cli.models.error_text import LINE_LIMIT, ErrorFacts, one_line, reason_phrase
from agent_cli.models.overflow import is_overflow, window_named
from agent_cli.models.server_wait import reset_named, spell
from agent_cli.models.status import (
    BAD_KEY,
    FILTER,
    LONG_QUOTA,
    MONEY,
    NO_MODEL,
    OVERLOADED,
    SERVER_FAULT,
    TRANSIENT,
)

WHILE_LOADING = 1_000
"""Attempts while a server loads its model: the time left is what ends them."""

_LONG_WINDOW = 3600.0
_SOON = 600.0
_LOADING = re.compile(r"loading (?:the )?model|model .{0,80}\bis (?:still |currently )?loading|warming up")
_TEMPLATE = re.compile(
    r"jinja|\btemplate\b|\broles?\b|json\.exception|failed to parse (?:tool|json|input|messages)"
)
_NO_TOOLS = re.compile(
    r"does not support (?:tools|function)|enable-auto-tool-choice|tool-call-parser|--jinja"
    r"|tools? (?:is|are|use is) not supported|no endpoints found that support tool"
)
_ARREARS = re.compile(
    r"arrear|overdue|past.?due|欠费|余额不足|insufficient (?:balance|credit|funds)|out of credits?"
    r"|credit balance|available credits|spending limit|free tier"
)
_DAILY = re.compile(r"per[- ](?:day|week|month)\b|\b(?:daily|weekly|monthly|rpd|tpd)\b|每[日天周月]")
_GEMINI_DAILY = re.compile(r"^quotaid: .*perday", re.MULTILINE)
_RESETS_AT = re.compile(r"\bresets? (?:at|on)\b")


@dataclass(frozen=True, slots=True)
class Answer:
    """One error answer with all that the rules look at. ``wait`` is what the server asks for."""

    status: int | None
    facts: ErrorFacts
    wait: float | None
    should_retry: str
    endpoint: str
    model: str
    key_source: str
    has_key: bool
    now: float


@dataclass(frozen=True, slots=True)
class Meaning:
    """What the rules say of an answer. ``message`` replaces the server's words."""

    kind: ModelErrorKind
    cure: str = ""
    transient: bool = False
    attempts: int | None = None
    message: str = ""


def classify_answer(answer: Answer) -> Meaning:
    """The first rule that knows the answer, then the server's own wish about retries."""
    for rule in _RULES:
        if meaning := rule(answer):
            return _as_the_server_wishes(answer, meaning)
    return _as_the_server_wishes(answer, _by_status(answer))


def error_of(answer: Answer, meaning: Meaning) -> ModelError:
    """The error: the server's words and the cure, together one line of at most 300 characters."""
    words = meaning.message or answer.facts.message
    if not words:
        words = reason_phrase(answer.status) if answer.status else "the server gave no details"
    if meaning.cure and words[-1] not in ".!?…。！？":
        words = f"{words}."
    window = window_named(answer.facts, answer.status) if meaning.kind == "context_too_long" else None
    return ModelError(
        meaning.kind,
        one_line(words, LINE_LIMIT - 1 - len(meaning.cure)),
        meaning.cure,
        answer.status,
        meaning.transient,
        answer.wait,
        window,
        meaning.attempts,
    )


def _page(answer: Answer) -> Meaning | None:
    """A web page where an answer of the API should be."""
    if not answer.facts.is_page or (answer.status is not None and answer.status >= 300):
        return None
    title = f" ({answer.facts.message})" if answer.facts.message else ""
    message = f"{answer.endpoint} answered with a web page{title}, not as an API"
    return Meaning("not_an_api", "Check LLM_BASE_URL: is /v1 missing at its end?", message=message)


def _refused_prompt(answer: Answer) -> Meaning | None:
    if not answer.facts.words & FILTER and "flagged_input" not in answer.facts.fields:
        return None
    return Meaning("filtered", "The provider's filter refused this prompt: word it differently.")


def _overflow(answer: Answer) -> Meaning | None:
    if not is_overflow(answer.facts, answer.status):
        return None
    return Meaning(
        "context_too_long", "The prompt is too long for the model: /compact or /clear, or a larger window."
    )


def _money(answer: Answer) -> Meaning | None:
    """No credit, or a quota whose window is longer than anybody waits at a prompt."""
    words, text = answer.facts.words, answer.facts.text
    in_arrears = answer.status in {400, 403} and _ARREARS.search(text)
    if answer.status == 402 or words & MONEY or in_arrears:
        return Meaning("quota", "Out of credit: check the billing of this account, or switch with /model.")
    if answer.status != 429:
        return None
    reset = reset_named(text, answer.now)
    if (
        words & LONG_QUOTA
        or (reset is not None and reset > _SOON)
        or (_RESETS_AT.search(text) and not answer.wait)
    ):
        return Meaning("quota", _until(reset or answer.wait, answer.now))
    if _GEMINI_DAILY.search(text):
        return Meaning("quota", "The daily quota is used up until tomorrow: switch with /model, or upgrade.")
    if _DAILY.search(text) and (answer.wait is None or answer.wait > _LONG_WINDOW):
        return Meaning("quota", _until(answer.wait, answer.now))
    return None


def _until(wait: float | None, now: float) -> str:
    if wait is None:
        return "The quota of a long window is used up: come back later, or switch with /model."
    moment = datetime.fromtimestamp(now + wait, UTC).strftime("%Y-%m-%d %H:%M UTC")
    return f"The quota is used up until {moment} (in {spell(wait)}): come back then, or switch with /model."


def _slip(answer: Answer) -> Meaning | None:
    """The server could not read the model's own call: the next try may be better."""
    if "tool_use_failed" not in answer.facts.words:
        return None
    return Meaning(
        "server", "The model wrote a call that its server could not read.", transient=True, attempts=3
    )


def _fault_in_disguise(answer: Answer) -> Meaning | None:
    """Statuses that say something else than their text."""
    words, text = answer.facts.words, answer.facts.text
    if answer.status == 403 and (words & SERVER_FAULT or "server_error" in text):
        return Meaning("server", _LATER, transient=True)
    if answer.status == 429 and words & OVERLOADED:
        return Meaning("overloaded", _LATER, transient=True)
    if answer.status in {500, None} and _TEMPLATE.search(text):
        return Meaning(
            "bad_request", "The server's chat template refuses this history: /clear, or another model."
        )
    return None


def _loading(answer: Answer) -> Meaning | None:
    if answer.status not in {503, None} or not _LOADING.search(answer.facts.text):
        return None
    cure = "Wait until it is loaded, then send again."
    return Meaning("loading", cure, True, WHILE_LOADING, "the server is loading the model")


_LATER = "The service has a fault or is overloaded: try again in some minutes, or switch with /model."


def _without_tools(answer: Answer) -> Meaning | None:
    if answer.status not in {400, 404, 422, 500, None} or not _NO_TOOLS.search(answer.facts.text):
        return None
    return Meaning(
        "bad_request",
        "Start the server with tool support (vLLM: --enable-auto-tool-choice and --tool-call-parser; "
        "llama.cpp: --jinja), take another model, or use --tool-style text.",
    )


def _refused_entry(answer: Answer) -> Meaning | None:
    """A key that is missing, wrong, or may not do this."""
    held = answer.key_source or "the settings"
    names_key = answer.facts.words & BAD_KEY or "api key not valid" in answer.facts.text
    if answer.status == 401 or (answer.status in {400, 403} and names_key):
        return Meaning(
            "auth", f"Check the key in {held}." if answer.has_key else f"No key was sent: set {held}."
        )
    if answer.status == 403:
        return Meaning("auth", f"Access refused: may the key in {held} use this model, from this place?")
    return None


def _by_status(answer: Answer) -> Meaning:
    status, facts = answer.status, answer.facts
    if status in {404, 405}:
        return _not_found(answer)
    if status == 407:
        return Meaning("connection", "The proxy wants a login: check HTTPS_PROXY.")
    if status in TRANSIENT:
        cure = "Too many requests: wait a little, then send again." if status == 429 else _LATER
        return Meaning(TRANSIENT[status], cure, transient=True)
    if status is not None and 400 <= status < 500:
        vague = "" if facts.message else "If the conversation is long, it may be too long: try /compact."
        return Meaning("bad_request", vague)
    if status is None and "error_message" in facts.fields:
        return Meaning("unknown")
    if status is not None and status < 400:
        return Meaning("not_an_api", "Check LLM_BASE_URL: is /v1 missing at its end?")
    return Meaning("unknown", transient=True, attempts=2)


def _not_found(answer: Answer) -> Meaning:
    """Three things can be missing: a loaded model, the model, or the path."""
    text = answer.facts.text
    if "no models loaded" in text or "no model loaded" in text:
        return Meaning("not_found", "Load a model in the server first.")
    if "try pulling" in text:
        return Meaning("not_found", f"Fetch it first: ollama pull {answer.model}")
    if "deployment" in text:
        return Meaning(
            "not_found", "On Azure the model's name is the name of the deployment: check it and the address."
        )
    names_model = re.search(r"\bmodels?\b|no endpoints found", text) is not None and not answer.facts.is_page
    if answer.facts.words & NO_MODEL or names_model:
        return Meaning("not_found", f"Is {answer.model!r} right? /model lists what {answer.endpoint} offers.")
    return Meaning("not_found", "Check LLM_BASE_URL: is /v1 missing at its end?")


def _as_the_server_wishes(answer: Answer, meaning: Meaning) -> Meaning:
    """``x-should-retry``: ``false`` is obeyed, ``true`` is allowed once where a resend can make sense."""
    if answer.should_retry == "false" and meaning.transient:
        return Meaning(meaning.kind, meaning.cure, False, None, meaning.message)
    hopeless = meaning.kind in {"quota", "context_too_long", "filtered"}
    if answer.should_retry == "true" and not meaning.transient and not hopeless:
        return Meaning(meaning.kind, meaning.cure, True, 2, meaning.message)
    return meaning


_RULES: tuple[Callable[[Answer], Meaning | None], ...] = (
    _page,
    _refused_prompt,
    _overflow,
    _money,
    _slip,
    _fault_in_disguise,
    _loading,
    _without_tools,
    _refused_entry,
)
