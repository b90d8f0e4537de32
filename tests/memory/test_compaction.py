from __future__ import annotations

from dataclasses import replace

from hypothesis import given

from agent_cli.memory.compaction import condensed, summary_request
from agent_cli.memory.trimming import NOTHING_CUT, Cut, render, sum_tokens
from agent_cli.messages import (
    AssistantMessage,
    Message,
    SystemMessage,
    ToolCall,
    ToolMessage,
    UserMessage,
    history_problems,
)
from agent_cli.tokens import TokenEstimator
from tests.memory.histories import valid_histories

ESTIMATOR = TokenEstimator()
TALK: list[Message] = [
    UserMessage("Paint it."),
    AssistantMessage("", (ToolCall("a", "look"),)),
    ToolMessage("a", "It is red.\n" * 500, "look"),
    AssistantMessage("It is red."),
    UserMessage("Make it blue."),
    AssistantMessage("It is blue."),
    UserMessage("Thanks."),
    AssistantMessage("Welcome."),
]


@given(valid_histories())
def test_a_summary_leaves_a_valid_request_and_all_that_must_stay(messages: list[Message]) -> None:
    cut = replace(condensed(messages, NOTHING_CUT), summary="notes")
    sent = render(messages, cut)
    assert history_problems(sent) == []
    users = [message for message in messages if isinstance(message, UserMessage)]
    assert len([message for message in sent if isinstance(message, UserMessage)]) == min(2, len(users))
    assert condensed(messages, cut) == cut


def test_the_summary_stands_where_the_messages_stood() -> None:
    cut = replace(condensed(TALK, NOTHING_CUT), summary="It was red, then blue.")
    assert [message.content for message in render(TALK, cut)[1:]] == ["Thanks.", "Welcome."]
    assert "It was red, then blue." in render(TALK, cut)[0].content


def test_the_request_tells_what_is_left_out_in_short_and_the_users_wish() -> None:
    task, question = summary_request(
        TALK, condensed(TALK, NOTHING_CUT), focus="the colour", estimator=ESTIMATOR
    )
    assert isinstance(task, SystemMessage)
    assert "Make it blue." in question.content
    assert "Thanks." not in question.content
    assert "Keep above all: the colour" in question.content
    assert len(question.content) < 1_000


def test_a_second_summary_builds_on_the_first() -> None:
    cut = condensed(TALK, Cut(summary="They met."))
    assert (
        "Summary of what came before:\nThey met."
        in summary_request(TALK, cut, estimator=ESTIMATOR)[1].content
    )


def test_a_request_for_a_summary_fits_the_window_itself() -> None:
    long = [*TALK[:1], *[AssistantMessage("words " * 400) for _ in range(50)], *TALK[6:]]
    request = summary_request(long, condensed(long, NOTHING_CUT), window=4_000, estimator=ESTIMATOR)
    assert sum_tokens(request, ESTIMATOR) < 3_000
