"""Tools by words alone, for models and servers without tool calls."""

from __future__ import annotations

import json

import pytest

from agent_cli.messages import (
    AssistantMessage,
    Message,
    SystemMessage,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from agent_cli.models.decoding.leaked import Rest
from agent_cli.models.text_tools import ActionFilter, protocol, told_as_text
from tests.wire.server import WireServer, in_turn, text
from tests.wire.talking import Bench, Talk, ask

ACTION = 'Action: get_weather\nAction Input: {"city": "Oslo"}'


def read(words: str, size: int = 0) -> tuple[str, Rest]:
    """What is shown of a reply that comes in pieces of this size, and what the filter found."""
    actions = ActionFilter()
    size = size or len(words)
    shown = "".join(actions.feed(words[start : start + size]) for start in range(0, len(words), size))
    rest = actions.finish(has_calls=False, cut=False)
    return shown + rest.text, rest


@pytest.mark.parametrize("size", [0, 1, 7])
@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (ACTION, ""),
        (f"Thought: I need the weather.\n{ACTION}", "I need the weather.\n"),
        (f"Let me see.\n\n{ACTION}\n", "Let me see.\n\n"),
        (f"{ACTION}\nObservation: 12 C\nFinal Answer: 12 C", ""),
        ('**Action:** `get_weather`\n**Action Input:** {"city": "Oslo"}', ""),
        ('Action: get_weather\nAction Input:\n```json\n{"city": "Oslo"}\n```', ""),
    ],
)
def test_an_action_becomes_a_call_and_leaves_the_screen(words: str, shown: str, size: int) -> None:
    seen, rest = read(words, size)
    assert seen == shown
    ((call),) = rest.calls
    assert (call.name, json.loads(call.arguments)) == ("get_weather", {"city": "Oslo"})


@pytest.mark.parametrize("size", [0, 1, 5])
@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("Final Answer: It is 12 C.", "It is 12 C."),
        ("Thought: easy.\nFinal Answer: 12.\nAction: none needed.", "easy.\n12.\nAction: none needed."),
        ("Actions speak louder.\nAct", "Actions speak louder.\nAct"),
        ("No labels at all: none.", "No labels at all: none."),
        ("Yes.\nObservation: invented\nmore", "Yes.\n"),
    ],
)
def test_an_answer_loses_its_labels_only(words: str, shown: str, size: int) -> None:
    seen, rest = read(words, size)
    assert (seen, rest.calls) == (shown, ())


def test_several_actions_keep_their_order_and_broken_input_stays_broken() -> None:
    _, rest = read(f"{ACTION}\nAction: list_files\nAction: write_file\nAction Input: {{oops")
    assert [call.name for call in rest.calls] == ["get_weather", "list_files", "write_file"]
    assert [call.arguments for call in rest.calls][1:] == ["{}", "{oops"]


def test_the_prompt_names_every_tool_with_its_arguments() -> None:
    words = protocol(Bench().schemas)
    for name in ("get_weather", "list_files", "write_file"):
        assert f"- {name}: " in words
    assert '"city"' in words
    assert "Action Input:" in words


def test_calls_and_results_are_told_in_the_words_of_the_protocol() -> None:
    call = ToolCall("abcdefghi", "get_weather", '{"city": "Oslo"}')
    history: list[Message] = [
        SystemMessage("be kind"),
        UserMessage("weather?"),
        AssistantMessage("Let me see.", (call,)),
        ToolMessage("abcdefghi", "sunny"),
    ]
    system, user, said, result = told_as_text(history, Bench().schemas)
    assert system.content.startswith("be kind\n\nYou can use tools.")
    assert user == UserMessage("weather?")
    assert said == AssistantMessage(f"Let me see.\n{ACTION}")
    assert result == UserMessage("Observation: sunny")


async def test_the_model_is_stopped_before_it_invents_a_result_only_if_it_has_tools() -> None:
    async with WireServer(text("hi")) as server:
        talk = Talk(server, tool_style="text")
        await talk.play()
        await ask(talk.model)
        await talk.model.aclose()
    assert server.bodies[0]["stop"] == ["\nObservation:"]
    assert "stop" not in server.bodies[1]


async def test_a_whole_turn_works_without_any_tool_fields() -> None:
    async with WireServer(in_turn(text(f"Thought: look.\n{ACTION}"), text("Final Answer: sunny"))) as server:
        talk = Talk(server, tool_style="text")
        result = await talk.play("weather in Oslo?")
        await talk.model.aclose()
    assert (result.status, result.answer) == ("ok", "sunny")
    assert talk.bench.ran == [("get_weather", {"city": "Oslo"})]
    assert talk.shown == "look.\nsunny"
    for body in server.bodies:
        assert not {"tools", "tool_choice"} & body.keys()
        assert all(message["role"] in {"system", "user", "assistant"} for message in body["messages"])
    assert server.bodies[1]["messages"][-1] == {"role": "user", "content": "Observation: sunny in Oslo"}
