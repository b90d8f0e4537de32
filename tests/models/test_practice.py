"""The practice model: what it understands in two languages, and that it only uses what it is offered."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent_cli.clock import ManualClock
from agent_cli.events import TextDelta
from agent_cli.messages import AssistantMessage, Message, SystemMessage, ToolCall, ToolMessage, UserMessage
from agent_cli.models.base import Completed, StreamPart, ToolCallDelta
from agent_cli.models.catalog import price_of
from agent_cli.models.practice import PAUSE, PracticeModel
from agent_cli.models.practice.tasks import calls_wanted
from tools import default_tools

TOOLS = default_tools(Path.cwd()).schemas()


async def ask(*messages: Message, tools: Any = TOOLS, **options: Any) -> list[StreamPart]:
    return [part async for part in PracticeModel(ManualClock()).stream(messages, tools, **options)]


async def reply(*messages: Message, tools: Any = TOOLS, **options: Any) -> Completed:
    part = (await ask(*messages, tools=tools, **options))[-1]
    assert isinstance(part, Completed)
    return part


async def text(*messages: Message, tools: Any = TOOLS, **options: Any) -> str:
    return (await reply(*messages, tools=tools, **options)).message.content


def exchange(
    name: str, arguments: dict[str, Any], content: str, ok: bool = True, number: int = 1
) -> list[Message]:
    call = ToolCall(f"call{number}", name, json.dumps(arguments))
    return [AssistantMessage("", (call,)), ToolMessage(call.id, content, name, ok=ok)]


CITIES = {"city": "Cairo"}


@pytest.mark.parametrize(
    ("words", "name", "arguments"),
    [
        ("what is 12*7", "calculate", {"expression": "12*7"}),
        ("12乘以7是多少？", "calculate", {"expression": "12*7"}),
        ("What time is it?", "get_current_time", {}),
        ("what time is it in Tokyo right now?", "get_current_time", {"timezone": "Tokyo"}),
        ("东京现在几点？", "get_current_time", {"timezone": "Tokyo"}),
        ("time in Beijing: what is the time in Beijing", "get_current_time", {"timezone": "Asia/Shanghai"}),
        ("weather in Cairo", "get_weather", CITIES),
        ("开罗的天气", "get_weather", CITIES),
        (
            "the temperature in New York in Fahrenheit",
            "get_weather",
            {"city": "New York", "unit": "fahrenheit"},
        ),
        ("list files", "list_files", {}),
        ("list the files in src", "list_files", {"path": "src"}),
        ("列出文件", "list_files", {}),
        ("read README.md", "read_file", {"path": "README.md"}),
        ("show me notes/a.md", "read_file", {"path": "notes/a.md"}),
        ("读取 a.txt", "read_file", {"path": "a.txt"}),
        ("search for TODO in src", "search_text", {"pattern": "TODO", "path": "src"}),
        ("在 src 中搜索 TODO", "search_text", {"pattern": "TODO", "path": "src"}),
        (
            "replace foo with bar in a.txt",
            "edit_file",
            {"path": "a.txt", "old_text": "foo", "new_text": "bar"},
        ),
        ("replace 'a b' with '' in a.txt", "edit_file", {"path": "a.txt", "old_text": "a b", "new_text": ""}),
        ("把 a.txt 里的 foo 改成 bar", "edit_file", {"path": "a.txt", "old_text": "foo", "new_text": "bar"}),
        ("write 'hello world' to b.txt", "write_file", {"path": "b.txt", "content": "hello world\n"}),
        ("把 'hello' 写入 b.txt", "write_file", {"path": "b.txt", "content": "hello\n"}),
        ("run ls -l", "run_shell", {"command": "ls -l"}),
        ("运行 ls", "run_shell", {"command": "ls"}),
        ("fetch https://example.com/x", "fetch_url", {"url": "https://example.com/x"}),
        (
            "todo: milk, bread",
            "todo",
            {"items": [{"text": "milk", "status": "pending"}, {"text": "bread", "status": "pending"}]},
        ),
    ],
)
async def test_it_understands_plain_requests_and_calls_the_real_tools(
    words: str, name: str, arguments: dict[str, Any]
) -> None:
    done = await reply(UserMessage(words))
    (call,) = done.message.tool_calls
    assert (call.name, json.loads(call.arguments)) == (name, arguments)
    assert done.finish_reason == "tool_calls"
    schema = next(tool["function"]["parameters"] for tool in TOOLS if tool["function"]["name"] == name)
    assert set(arguments) <= set(schema["properties"])
    assert set(schema.get("required", [])) <= set(arguments)


async def test_several_questions_become_the_calls_of_one_step() -> None:
    done = await reply(
        UserMessage("What time is it in Tokyo, what is the weather in Cairo, and what is 12*7?")
    )
    assert [call.name for call in done.message.tool_calls] == ["get_current_time", "get_weather", "calculate"]
    assert len({call.id for call in done.message.tool_calls}) == 3


@pytest.mark.parametrize(
    ("words", "expression"),
    [("temperature of Cairo times three", "31.5 * 3"), ("开罗的气温的三倍", "31.5 * 3")],
)
async def test_a_second_step_works_on_the_result_of_the_first(words: str, expression: str) -> None:
    task = UserMessage(words)
    weather = exchange("get_weather", CITIES, "Cairo, Egypt: 31.5 °C, clear sky")
    done = await reply(task, *weather)
    (call,) = done.message.tool_calls
    assert (call.name, json.loads(call.arguments)) == ("calculate", {"expression": expression})
    last = await text(task, *weather, *exchange("calculate", {"expression": expression}, "94.5", number=2))
    assert "31.5 °C" in last
    assert f"{expression} = 94.5" in last


async def test_answers_come_from_the_results_without_the_notes_of_the_harness() -> None:
    task = UserMessage("what is 12*7")
    noted = exchange("calculate", {"expression": "12*7"}, "84\n\n[Note: this is the same result]")
    assert await text(task, *noted) == "12*7 = 84"


async def test_a_failed_call_is_told_in_one_line() -> None:
    failed = exchange(
        "calculate", {"expression": "1/0"}, "Cannot compute: division by zero.\n\nhint: x", ok=False
    )
    assert (
        await text(UserMessage("what is 1/0"), *failed)
        == "`calculate` did not work: Cannot compute: division by zero."
    )
    assert "没有成功" in await text(UserMessage("1除以0"), *failed)


async def test_an_edit_that_does_not_match_is_followed_by_a_look_at_the_file() -> None:
    task = UserMessage("replace foo with bar in a.txt")
    lost = exchange("edit_file", {"path": "a.txt"}, "old_text is not in the file", ok=False)
    (call,) = (await reply(task, *lost)).message.tool_calls
    assert (call.name, json.loads(call.arguments)) == ("read_file", {"path": "a.txt"})
    refused = exchange("edit_file", {"path": "a.txt"}, "The user refused this call", ok=False)
    assert "refused" in await text(task, *refused)


async def test_long_results_are_shown_in_part_and_fences_do_not_break() -> None:
    long = exchange("read_file", {"path": "a.md"}, "\n".join(["```"] + [f"line {n}" for n in range(60)]))
    shown = await text(UserMessage("read a.md"), *long)
    assert "line 38" in shown
    assert "line 39" not in shown
    assert "(21 more lines)" in shown
    assert shown.count("~~~~") == 2


@pytest.mark.parametrize("words", ["hello", "what can you do?", "tell me a joke", "how do you open a file?"])
async def test_otherwise_it_says_what_it_is_and_how_a_real_model_is_connected(words: str) -> None:
    said = await text(UserMessage(words))
    assert "practice model" in said
    assert "no AI" in said
    assert "LLM_API_KEY=" in said
    assert "LLM_MODEL=" in said


async def test_it_speaks_chinese_to_who_writes_chinese() -> None:
    assert "练习模型" in await text(UserMessage("你好"))


async def test_every_example_it_gives_is_understood() -> None:
    for greeting in (await text(UserMessage("hello")), await text(UserMessage("你好"))):
        examples = [
            part for line in greeting.splitlines() if line.startswith("- `") for part in line.split("`")[1::2]
        ]
        assert len(examples) >= 10
        for example in examples:
            assert example in {"drill", "演练"} or calls_wanted(example), example


async def test_a_tool_that_is_not_offered_is_not_called() -> None:
    done = await reply(UserMessage("what is 12*7"), tools=[])
    assert done.message.tool_calls == ()
    assert "`calculate`" in done.message.content


async def test_continue_takes_up_the_task_before_it() -> None:
    task = UserMessage("what is 12*7")
    done = await reply(task, UserMessage("Continue the task where it stopped."))
    assert done.message.tool_calls[0].name == "calculate"


@pytest.mark.parametrize(
    "content",
    [
        "[not started: the user interrupted the turn]",
        "[not run: the time of this turn is over]",
        "[interrupted by the user before it finished]",
    ],
)
async def test_continue_makes_a_call_again_that_never_came_to_its_end(content: str) -> None:
    broken_off = exchange("calculate", {"expression": "12*7"}, content, ok=False)
    done = await reply(UserMessage("what is 12*7"), *broken_off, UserMessage("Continue the task."))
    assert [call.name for call in done.message.tool_calls] == ["calculate"]


async def test_only_the_calls_of_this_turn_count() -> None:
    earlier = [
        UserMessage("what is 1+1"),
        *exchange("calculate", {"expression": "1+1"}, "2"),
        AssistantMessage("1+1 = 2"),
    ]
    done = await reply(SystemMessage("s"), *earlier, UserMessage("what is 12*7"))
    assert len(done.message.tool_calls) == 1


async def test_with_tools_disabled_it_tells_what_the_results_show() -> None:
    said = await text(
        UserMessage("what is 12*7"),
        *exchange("calculate", {"expression": "12*7"}, "84"),
        *exchange("read_file", {"path": "x"}, "There is no file 'x'.", ok=False, number=2),
        UserMessage("This turn ends here (max_steps)"),
        tool_choice="none",
    )
    assert "12*7 = 84" in said
    assert "There is no file 'x'." in said
    assert "/continue" in said


async def test_words_are_streamed_one_by_one_on_the_clock() -> None:
    clock = ManualClock()
    parts = [part async for part in PracticeModel(clock).stream([UserMessage("你好")], [])]
    deltas = [part.text for part in parts if isinstance(part, TextDelta)]
    end = parts[-1]
    assert isinstance(end, Completed)
    assert "".join(deltas) == end.message.content
    assert clock.slept == [PAUSE] * len(deltas)
    assert max(len(delta) for delta in deltas) < 60


async def test_calls_are_announced_and_usage_grows_with_the_conversation() -> None:
    parts = await ask(UserMessage("what is 12*7"))
    assert parts[0] == ToolCallDelta("calculate", len('{"expression": "12*7"}'))
    short = await reply(UserMessage("hello"))
    long = await reply(UserMessage("hello " * 500))
    assert short.usage
    assert long.usage
    assert long.usage.prompt_tokens > short.usage.prompt_tokens + 500
    assert short.usage.estimated


async def test_a_huge_message_is_answered_soon() -> None:
    assert "practice model" in await text(UserMessage("replace this and write that " * 40_000))


def test_practising_costs_nothing() -> None:
    model = PracticeModel()
    price = price_of(model.name, model.endpoint)
    assert price is not None
    assert (price.prompt, price.completion) == (0.0, 0.0)
