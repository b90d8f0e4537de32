from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agent_cli.errors import ModelError
from agent_cli.limits import Limits
from agent_cli.memory.otel import otel_trace
from agent_cli.messages import AssistantMessage, ToolCall, Usage
from agent_cli.models.base import Completed
from tests.memory.recorded import Recording

LOCKED = ("change", {"what": "locked"})
BUSY = ModelError("rate_limited", "busy", transient=True, wait=2.0)
CALLS = AssistantMessage("looking", (ToolCall("c1", "look", '{"what": "sky"}'), ToolCall("c2", "lok")), "hm")


def attributes(span: dict[str, Any]) -> dict[str, Any]:
    return {entry["key"]: next(iter(entry["value"].values())) for entry in span["attributes"]}


async def spans(home: Path, script: list[Any], limits: Limits | None = None) -> list[dict[str, Any]]:
    record = await Recording(home).play(script, limits=limits)
    trace = json.loads(json.dumps(otel_trace(record, "1.2.3")))
    (resource,) = trace["resourceSpans"]
    (scope,) = resource["scopeSpans"]
    found: list[dict[str, Any]] = scope["spans"]
    return found


async def test_a_turn_is_one_trace_of_agent_chat_and_tool_spans(tmp_path: Path) -> None:
    found = await spans(tmp_path, [Completed(CALLS, "tool_calls", Usage(100, 20, 60)), "done"])
    names = [(span["name"], span["kind"]) for span in found]
    assert names == [
        ("invoke_agent agent-cli", 1),
        ("chat scripted", 3),
        ("execute_tool look", 1),
        ("chat scripted", 3),
    ]
    assert len({span["traceId"] for span in found}) == 1
    assert len({span["spanId"] for span in found}) == 4
    assert {len(span["traceId"]) for span in found} == {32}
    agent, *children = found
    assert "parentSpanId" not in agent
    assert {span["parentSpanId"] for span in children} == {agent["spanId"]}


async def test_the_attributes_are_those_of_the_semantic_conventions(tmp_path: Path) -> None:
    agent, chat, call, _ = await spans(tmp_path, [Completed(CALLS, "tool_calls", Usage(100, 20, 60)), "done"])
    assert attributes(agent)["gen_ai.operation.name"] == "invoke_agent"
    assert json.loads(attributes(agent)["gen_ai.output.messages"])[0]["parts"] == [
        {"type": "text", "content": "done"}
    ]
    told = attributes(chat)
    assert told["gen_ai.operation.name"] == "chat"
    assert (told["gen_ai.request.model"], told["gen_ai.provider.name"]) == ("scripted", "script")
    assert (told["gen_ai.usage.input_tokens"], told["gen_ai.usage.output_tokens"]) == ("100", "20")
    assert told["gen_ai.usage.cache_read.input_tokens"] == "60"
    assert told["gen_ai.response.finish_reasons"] == {"values": [{"stringValue": "tool_calls"}]}
    assert [part["type"] for part in json.loads(told["gen_ai.output.messages"])[0]["parts"]] == [
        "reasoning",
        "text",
        "tool_call",
        "tool_call",
    ]
    told = attributes(call)
    assert told["gen_ai.operation.name"] == "execute_tool"
    assert (told["gen_ai.tool.name"], told["gen_ai.tool.call.id"]) == ("look", "c1")
    assert told["gen_ai.tool.call.result"] == "sky is the same as ever"


async def test_spans_lie_inside_their_turn_and_take_the_time_they_took(tmp_path: Path) -> None:
    agent, *children = await spans(tmp_path, [("look", {"what": "sky"}), "done"])
    for span in children:
        assert (
            int(agent["startTimeUnixNano"]) <= int(span["startTimeUnixNano"]) <= int(span["endTimeUnixNano"])
        )
        assert int(span["endTimeUnixNano"]) <= int(agent["endTimeUnixNano"])
    look = children[1]
    assert int(look["endTimeUnixNano"]) - int(look["startTimeUnixNano"]) == 1_500_000_000
    assert int(agent["startTimeUnixNano"]) == 1_700_000_000_000_000_000


async def test_failures_retries_and_guards_are_told(tmp_path: Path) -> None:
    found = await spans(tmp_path, [BUSY, *[LOCKED] * 2, "summary"], replace(Limits(), max_failures=2))
    agent, chat, call = found[:3]
    assert agent["status"]["code"] == 2
    assert attributes(agent)["error.type"] == "breaker"
    assert [event["name"] for event in chat["events"]] == ["retry"]
    assert attributes(call)["error.type"] == "permission_denied"
    assert call["status"] == {"code": 2, "message": call["status"]["message"]}
    assert attributes(agent["events"][-1])["guard.action"] == "stop"


@pytest.mark.parametrize(
    ("endpoint", "provider"),
    [
        ("api.openai.com", "openai"),
        ("api.deepseek.com", "deepseek"),
        ("notopenai.com", "notopenai.com"),
        ("localhost:8080", "localhost"),
        ("", "unknown"),
    ],
)
async def test_known_hosts_have_their_customary_provider_name(
    tmp_path: Path, endpoint: str, provider: str
) -> None:
    record = replace(await Recording(tmp_path).play(["hi"]), endpoint=endpoint)
    (resource,) = otel_trace(record, "0")["resourceSpans"]
    assert attributes(resource["scopeSpans"][0]["spans"][1])["gen_ai.provider.name"] == provider
