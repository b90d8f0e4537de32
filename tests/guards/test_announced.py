"""Text that announces a tool call although none came."""

from __future__ import annotations

import pytest

from agent_cli.guards.finish import announces_action
from agent_cli.messages import AssistantMessage
from tests.guards.test_finish import CALLS, TEXT, actions, judged


def test_t14_a_call_that_was_announced_and_did_not_come_gets_one_nudge() -> None:
    announcing = AssistantMessage("I'll read the file now.")
    nudge, answer = judged(*[(announcing, "tool_calls")] * 2)
    assert (nudge.action, nudge.cause) == ("nudge", "announced")
    assert "none came" in nudge.text
    assert (answer.action, answer.answer) == ("answer", announcing.content)


def test_t14_there_is_one_such_nudge_in_the_turn() -> None:
    announcing = (AssistantMessage("Let me look:"), "tool_calls")
    assert actions(announcing, (CALLS, "tool_calls"), announcing) == ["nudge", "run_calls", "answer"]


def test_t14_an_answer_with_that_label_is_an_answer_and_so_is_an_announcement_without_it() -> None:
    assert actions((TEXT, "tool_calls")) == ["answer"]
    assert actions((AssistantMessage("I'll read the file now."), "stop")) == ["answer"]


@pytest.mark.parametrize(
    "text",
    [
        "Let me check.",
        "Found it. Now I will read the file",
        "I\u2019ll run the tests",
        "The files are:",
        "First I looked. Next, I need to fix it.",
        "\u6211\u6765\u770b\u4e00\u4e0b",
        "\u6587\u4ef6\u5982\u4e0b\uff1a",
    ],
)
def test_an_announcement_is_recognised(text: str) -> None:
    assert announces_action(text)


@pytest.mark.parametrize(
    "text",
    ["It is 42.", "Let me explain. The answer is no.", "I did it!", "", "Outlet menu", "\u5b8c\u6210\u3002"],
)
def test_an_answer_is_no_announcement(text: str) -> None:
    assert not announces_action(text)
