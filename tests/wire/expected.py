"""What must come of each recorded case, when an agent talks to the server that plays it.

Defaults: the agent calls nothing and the answer of the second request, "done", is the answer.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from agent_cli.results import Status

Ran = tuple[tuple[str, dict[str, Any]], ...]

OSLO: Ran = (("get_weather", {"city": "Oslo"}),)
ROME: Ran = (("get_weather", {"city": "Rome"}),)
FILES: Ran = (("list_files", {"path": "."}),)


@dataclass(frozen=True)
class Expected:
    """``ran``: the calls that ran, in order. ``shown``: the text on the screen, if it is not the answer.
    ``says``: fragments of the reason or, for results, of what the model was told. ``requests``: how many
    were sent. ``second``: ``path=value`` of the second request's body; ``...`` means absent."""

    answer: str = "done"
    status: Status = "ok"
    ran: Ran = ()
    requests: int = 1
    thought: str = ""
    shown: str | None = None
    says: tuple[str, ...] = ()
    told: tuple[str, ...] = ()
    tokens: int | None = None
    waits: tuple[float, ...] = ()
    notice: str = ""
    temporary: bool = False
    second: dict[str, Any] = field(default_factory=dict)


def answers(text: str, **more: Any) -> Expected:
    """The first request is answered with ``text``."""
    return Expected(text, **more)


def calls(*ran: tuple[str, dict[str, Any]], requests: int = 2, **more: Any) -> Expected:
    """The calls run, then the second request is answered."""
    return Expected(ran=ran, requests=requests, **more)


def retried(*waits: float, **more: Any) -> Expected:
    """Tried again after at least these waits."""
    return Expected(requests=1 + len(waits), waits=waits, **more)


def fails(*says: str, **more: Any) -> Expected:
    """Ends after one request, with a reason."""
    return Expected(answer="", status="llm_error", says=says, **more)


_CALLED = {"messages.2.content": None, "messages.3.role": "tool"}
_OSLO_SENT = {**_CALLED, "messages.2.tool_calls.0.function.name": "get_weather"}

EXPECTED: dict[str, Expected] = {
    # Streamed tool calls
    "T01": calls(*OSLO, second=_OSLO_SENT),
    "T02": calls(*OSLO, *ROME, second={"messages.4.content": "sunny in Rome", "messages.5": ...}),
    "T03": calls(*OSLO, second=_OSLO_SENT),
    "T04": calls(*OSLO, second=_OSLO_SENT),
    "T06": calls(*OSLO, second=_OSLO_SENT),
    "T07": calls(*OSLO, second=_OSLO_SENT),
    "T08": calls(*OSLO, second={"messages.2.tool_calls.0.function.arguments": '{"city": "Oslo"}'}),
    "T09a": calls(*FILES, second={"messages.2.tool_calls.0.function.arguments": "{}"}),
    "T10": calls(*OSLO, second={"messages.2.tool_calls.0.function.arguments": '{"city": "Oslo"}'}),
    "T11": calls(*OSLO),
    "T12": calls(*OSLO, *ROME, second={"messages.3.content": "sunny in Oslo"}),
    "T13": calls(*OSLO),
    "T14": Expected(answer="done", requests=2),
    "T15": calls(*OSLO, *FILES, second={"messages.2.tool_calls.1.function.name": "list_files"}),
    "T16": calls(*FILES, *FILES, requests=3),
    "T17": Expected(requests=2, second={"max_tokens": 8192, "messages.2": ...}),
    "T18": calls(told=("not valid JSON",), second={"messages.2.tool_calls.0.function.arguments": "{}"}),
    "T20": calls(told=("no_such_tool", "get_weather", "list_files")),
    "T24": retried(0.5, second={"messages.2": ...}),
    "T25": calls(*FILES, shown="Let me look.done", second={"messages.2.content": "Let me look."}),
    # Leaks into text
    "L01": calls(*OSLO, second=_OSLO_SENT),
    "L02": calls(*OSLO, second=_OSLO_SENT),
    "L04": calls(*OSLO, second=_OSLO_SENT),
    "L06": answers(
        'In Hermes format you write `<tool_call>{"name":"rm","arguments":{}}</tool_call>` '
        "and then the result follows in the next message."
    ),
    "L08": answers("Visible answer", thought="secret plan"),
    # Framing, usage, finish
    "S01": answers("hi"),
    "S02": answers("hi"),
    "S03": answers("hi", tokens=16),
    "S04": answers("hi", tokens=16),
    "S06": answers("hi", tokens=16),
    "S07": answers("hi"),
    "S09": retried(0.5),
    "S09b": fails("credit"),
    "S11": retried(0.5),
    "S12": retried(0.5),
    "S12b": retried(0.5),
    "S13": retried(0.5),
    "S13b": answers("whole"),
    "S14": fails("nothing useful", requests=4, waits=(0.5, 1.0, 2.0), temporary=True),
    "S14b": fails("nothing useful", requests=4, waits=(0.5, 1.0, 2.0), temporary=True),
    "S15": answers("hi"),
    "S16": answers("hi"),
    "S17": answers("hi"),
    "S18": answers("hi"),
    "S19": answers("first second"),
    "S20": answers("ok \ufffdend"),
    "S21": answers("é漢🙂"),
    "S22": retried(0.5),
    "S23": answers("ab"),
    "S24": answers("hello", tokens=16),
    "S25": fails("web page", "/v1"),
    "S26": answers("Hello"),
    "S27": answers("The quick brown fox jumps over the lazy dog"),
    "S27b": answers("hahaha"),
    "S29": answers("hi"),
    "S30b": answers("hi"),
    "S33": answers("ok \ufffd"),
    "S37": Expected(requests=2),
    "S38": Expected(requests=2, thought="I should say 4."),
    "S39": answers("answer", thought="plan"),
    "S40": Expected("I cannot help with that.", "filtered"),
    # What goes back
    "R01": calls(*FILES, thought="plan", second={"messages.2.reasoning_content": "plan"}),
    "R03": calls(*FILES, requests=3, thought="plan", notice="reasoning"),
    "R05": calls(
        *FILES,
        second={"messages.2.tool_calls.0.extra_content.google.thought_signature": "AbC+/=="},
    ),
    # Request fields
    "P01": answers("done"),
    "P02": answers("done"),
    "P03": answers("done"),
    "P08": answers("done"),
    "S08": Expected(requests=2, notice="stream_options", second={"stream_options": ...}),
    "P09": calls(*FILES, requests=3, notice="content"),
    "P09b": calls(*FILES, second={"messages.2.content": None}),
    "P10": answers("done"),
    "P12": calls(*FILES),
    "P15": answers("done"),
    "P19": fails("--enable-auto-tool-choice"),
    # Errors
    "E01a": fails("maximum context length"),
    "E01b": fails("available context size"),
    "E01d": fails("input token count"),
    "E01e": fails("TPM"),
    "E01g": fails("400"),
    "E03": fails("billing"),
    "E04": retried(0.5),
    "E05": fails("balance"),
    "E06": fails("Balance"),
    "E07": retried(1.5),
    "E08": retried(1.0),
    "E08b": retried(0.25),
    "E11": retried(0.5, 1.0),
    "E11b": retried(0.5),
    "E11c": retried(0.5),
    "E12": retried(0.5),
    "E13": fails("nope", "/model"),
    "E13b": fails("/v1"),
    "E13d": fails("No models loaded"),
    "E14": fails("LLM_API_KEY"),
    "E14b": fails("LLM_API_KEY"),
    "E15": fails("filter"),
    "E16": retried(0.5, 1.0),
}
