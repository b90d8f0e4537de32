"""Histories for property tests: valid ones, and any heap of messages."""

from __future__ import annotations

from hypothesis import strategies as st

from agent_cli.messages import (
    AssistantMessage,
    Message,
    SystemMessage,
    ToolCall,
    ToolMessage,
    UserMessage,
)

TEXTS = st.one_of(
    st.text('aZ {}"\\\n\u00e9\u6d4b\U0001f600\u2028', max_size=40),
    st.sampled_from(["x" * 3_000, "line\n" * 400, "测试" * 700, "word " * 20]),
)
SOLID_TEXTS = TEXTS.map(lambda text: text if text.strip() else "said")
ANY_TEXTS = st.one_of(TEXTS, st.sampled_from(["", " ", "\ud800", "a\x00b", "{}", "{"]))
ANY_IDS = st.sampled_from(["", "a", "b", "c", "\udfff"])


@st.composite
def valid_histories(draw: st.DrawFn, max_groups: int = 12, with_system: bool = True) -> list[Message]:
    """Histories that the validator accepts, ending anywhere a request may be made."""
    messages: list[Message] = []
    if with_system and draw(st.booleans()):
        messages.append(SystemMessage(draw(TEXTS)))
    for number in range(draw(st.integers(0, max_groups))):
        kind = draw(st.sampled_from(["user", "answer", "calls", "calls"]))
        if kind == "user":
            messages.append(UserMessage(draw(TEXTS)))
        elif kind == "answer":
            messages.append(AssistantMessage(draw(SOLID_TEXTS), reasoning=draw(TEXTS)))
        else:
            ids = [f"call{number}x{index}" for index in range(draw(st.integers(1, 3)))]
            calls = tuple(ToolCall(call_id, "tool") for call_id in ids)
            messages.append(AssistantMessage(draw(TEXTS), calls, reasoning="thought"))
            messages += [ToolMessage(call_id, draw(TEXTS), "tool", ok=draw(st.booleans())) for call_id in ids]
    return messages


CALLS = st.builds(ToolCall, id=ANY_IDS, name=st.sampled_from(["", "tool"]), arguments=ANY_TEXTS)
ANY_MESSAGES = st.one_of(
    st.builds(SystemMessage, ANY_TEXTS),
    st.builds(UserMessage, ANY_TEXTS),
    st.builds(AssistantMessage, ANY_TEXTS, st.lists(CALLS, max_size=3).map(tuple), st.just("") | ANY_TEXTS),
    st.builds(ToolMessage, ANY_IDS, ANY_TEXTS, ok=st.booleans(), pending=st.booleans()),
)
ANY_HISTORIES = st.lists(ANY_MESSAGES, max_size=15)
