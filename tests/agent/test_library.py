"""The synchronous door: plain dicts in, the same list out, extended."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from agent_cli import Limits, ScriptedModel, run_agent
from agent_cli.approval import NobodyToAsk
from agent_cli.errors import ConfigError, HistoryError
from tests.agent.playing import Ledger, lookup
from tools import default_tools, tool


def test_the_list_is_extended_in_place_and_ends_with_the_answer() -> None:
    model = ScriptedModel([("lookup", {"key": "a"}), "a is known"])
    messages: list[dict[str, Any]] = [{"role": "user", "content": "look a up"}]
    returned = run_agent("Be brief.", [lookup], messages, model=model)
    assert returned is messages
    assert [message["role"] for message in messages] == ["user", "assistant", "tool", "assistant"]
    assert messages[-1] == {"role": "assistant", "content": "a is known"}
    assert model.requests[0].wire[0] == {"role": "system", "content": "Be brief."}


def test_the_same_list_continues_the_conversation() -> None:
    model = ScriptedModel(["one", "two"])
    messages = [{"role": "user", "content": "first"}]
    run_agent("", None, messages, model=model)
    messages.append({"role": "user", "content": "second"})
    run_agent("", None, messages, model=model)
    assert [message["content"] for message in messages] == ["first", "one", "second", "two"]
    assert [message["content"] for message in model.requests[1].wire] == ["first", "one", "second"]
    assert model.requests[1].tools == ()


def test_a_plain_function_is_a_tool() -> None:
    def double(number: int) -> int:
        """Twice a number."""
        return 2 * number

    model = ScriptedModel([("double", {"number": 21}), "42"])
    messages = [{"role": "user", "content": "?"}]
    run_agent(None, [double], messages, model=model)
    assert messages[2]["content"] == "42"


def test_the_limits_hold_and_the_last_message_is_the_partial_answer() -> None:
    model = ScriptedModel([("lookup", {"key": "a"}), "so far: nothing"])
    messages = [{"role": "user", "content": "?"}]
    run_agent(None, [lookup], messages, limits=Limits(max_steps=1), model=model)
    assert messages[-1] == {"role": "assistant", "content": "so far: nothing"}


async def test_it_works_inside_a_running_loop() -> None:
    messages = [{"role": "user", "content": "?"}]
    assert run_agent(None, None, messages, model=ScriptedModel(["yes"]))[-1]["content"] == "yes"


@pytest.mark.parametrize(
    "messages",
    [
        [],
        [{"role": "assistant", "content": "hello"}],
        [{"role": "tool", "tool_call_id": "x", "content": "1"}, {"role": "user", "content": "?"}],
        [{"role": "user", "content": "?"}, {"role": "nobody", "content": "?"}],
    ],
)
def test_messages_that_are_no_history_are_refused_untouched(messages: list[dict[str, Any]]) -> None:
    before = list(messages)
    with pytest.raises(HistoryError):
        run_agent(None, None, messages, model=ScriptedModel(["never"]))
    assert messages == before


@pytest.mark.parametrize(("approver", "ran"), [(None, ["x"]), (NobodyToAsk(), [])])
def test_tools_run_unasked_unless_an_approver_refuses(approver: Any, ran: list[str]) -> None:
    ledger = Ledger()
    messages = [{"role": "user", "content": "?"}]
    model = ScriptedModel([("note", {"text": "x"}), "done"])
    run_agent(None, [ledger.tool], messages, model=model, approver=approver)
    assert ledger.lines == ran


def test_without_a_model_and_without_settings_the_error_says_what_to_set(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    for name in ("LLM_BASE_URL", "LLM_API_KEY", "LLM_MODEL", "OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AGENT_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match="LLM_MODEL"):
        run_agent(None, None, [{"role": "user", "content": "?"}])


def test_a_name_can_be_registered_once() -> None:
    registry = default_tools()

    @tool
    def calculate(expression: str) -> str:
        """Ours again."""
        return expression

    with pytest.raises(ValueError, match="calculate"):
        registry.register(calculate)


def test_importing_the_package_loads_nothing_slow() -> None:
    code = (
        "import sys, agent_cli, tools; from agent_cli import Agent, ScriptedModel, run_agent; "
        "print([name for name in ('openai', 'rich', 'prompt_toolkit', 'tenacity') if name in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
