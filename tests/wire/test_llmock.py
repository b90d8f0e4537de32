"""The loop against llmock, a chaos server that judges its clients: every fault, a clean strict verdict."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable

import pytest
from llmock.pytest_plugin import LLMock

from agent_cli.agent import Agent
from agent_cli.approval import AllowAll
from agent_cli.clock import SystemClock
from agent_cli.limits import Limits
from agent_cli.memory.session import Session
from agent_cli.models.openai_chat import OpenAIChatModel
from agent_cli.results import AgentResult
from tests.wire.talking import Bench
from tools import ToolRegistry

Break = Callable[[LLMock], LLMock]


class HurriedClock(SystemClock):
    """Real time, but waits take only a share of it."""

    def __init__(self, share: float) -> None:
        self._share = share

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds * self._share)


class Client:
    """An agent on the chaos server."""

    def __init__(
        self, llmock: LLMock, *, hurry: float = 0.1, tools: bool = False, **limits: float | None
    ) -> None:
        self.bench = Bench()
        self.model = OpenAIChatModel(llmock.base_url(), "sk-test", "gpt-4o")
        settings = {"request_timeout": 3.0, "stream_idle": 0.5, **limits}
        self.agent = Agent(
            model=self.model,
            tools=ToolRegistry(self.bench.tools if tools else []),
            limits=Limits(**settings),  # type: ignore[arg-type]
            approver=AllowAll(),
            session=Session.in_memory(clock=HurriedClock(hurry), rng=random.Random(3)),
        )

    async def play(self, words: str = "Weather in Oslo?") -> AgentResult:
        async for _ in self.agent.run(words):
            pass
        await self.model.aclose()
        assert self.agent.last_result is not None
        return self.agent.last_result


def status(code: int, times: int = 1) -> Break:
    return lambda llmock: llmock.fail(
        code, times=times, retry_after=0.02 if code in {503, 504, 529} else None
    )


PASSING: dict[str, tuple[Break, int]] = {
    # a fault, and the requests that it takes to live through it
    **{f"status {code}": (status(code), 2) for code in (408, 409, 500, 502, 503, 504, 529)},
    "status 500 twice": (status(500, times=2), 3),
    "disconnect at once": (lambda llmock: llmock.disconnect(after_chunks=0), 2),
    "disconnect in the text": (lambda llmock: llmock.disconnect(after_chunks=2), 2),
    "truncate at once": (lambda llmock: llmock.truncate(after_chunks=0), 2),
    "truncate in the text": (lambda llmock: llmock.truncate(after_chunks=2), 2),
    # paced, so that the server is still writing when we hang up, and sees it
    "malformed at once": (lambda llmock: llmock.corrupt(after_chunks=0).pace(30), 2),
    "malformed in the text": (lambda llmock: llmock.corrupt(after_chunks=2).pace(30), 2),
    "stall": (lambda llmock: llmock.stall(after_chunks=1, seconds=20.0), 2),
    "slow first token": (lambda llmock: llmock.slow_first_token(0.2), 1),
    "slow stream": (lambda llmock: llmock.pace(30), 1),
    "delay": (lambda llmock: llmock.delay(0.2), 1),
}


@pytest.mark.parametrize("name", PASSING)
async def test_a_passing_fault_is_lived_through(llmock: LLMock, name: str) -> None:
    fault, requests = PASSING[name]
    fault(llmock.reply("It is sunny in Oslo today.", times=None))
    result = await Client(llmock, hurry=0.3).play()
    assert (result.status, result.answer) == ("ok", "It is sunny in Oslo today.")
    assert len(llmock.requests) == requests
    llmock.assert_resilient(strict=True)


async def test_the_wait_that_the_server_asks_for_is_kept(llmock: LLMock) -> None:
    llmock.rate_limit(times=2, retry_after=0.3)
    assert (await Client(llmock, hurry=1.0).play()).status == "ok"
    llmock.assert_resilient(strict=True)


async def test_a_real_quota_is_waited_for(llmock: LLMock) -> None:
    llmock.limits(tpm=60_000)
    assert (await Client(llmock, max_tokens=None).play("word " * 47_000)).status == "ok"
    assert (await Client(llmock, hurry=1.0, max_tokens=None).play("word " * 1_600)).status == "ok"
    assert len(llmock.requests) == 3
    llmock.assert_resilient(strict=True)


@pytest.mark.parametrize("code", [400, 401, 403, 404, 422])
async def test_a_final_error_is_asked_once(llmock: LLMock, code: int) -> None:
    llmock.fail(code, times=None)
    result = await Client(llmock).play()
    assert (result.status, result.temporary) == ("llm_error", False)
    assert [request.method for request in llmock.requests].count("POST") == 1
    llmock.assert_resilient(strict=True)


@pytest.mark.parametrize("code", [500, 503])
async def test_an_outage_is_given_up_after_four_attempts(llmock: LLMock, code: int) -> None:
    status(code, times=9)(llmock)
    result = await Client(llmock).play()
    assert (result.status, result.temporary) == ("llm_error", True)
    assert len(llmock.requests) == 4
    llmock.assert_resilient(strict=True)


@pytest.mark.parametrize("kind", ["malformed_arguments", "unknown_tool"])
async def test_a_broken_tool_call_is_answered_and_mended(llmock: LLMock, kind: str) -> None:
    llmock.break_tool_call(kind).tool_mode("auto")
    client = Client(llmock, tools=True)
    result = await client.play()
    assert result.status == "ok"
    failed = [message for message in client.agent.messages if message["role"] == "tool"]
    assert len(failed) >= 1
    llmock.assert_resilient(strict=True)


@pytest.mark.parametrize("fault", ["disconnect", "truncate", "corrupt"])
async def test_a_call_that_breaks_off_never_runs_twice(llmock: LLMock, fault: str) -> None:
    llmock.call_tool("write_file", {"path": "a.txt", "text": "hello"}, times=2).reply("Written.")
    getattr(llmock.pace(30), fault)(after_chunks=2)
    client = Client(llmock, tools=True)
    assert (await client.play()).status == "ok"
    assert client.bench.ran == [("write_file", {"path": "a.txt", "text": "hello"})]
    llmock.assert_resilient(strict=True)


async def test_a_prompt_that_is_too_long_is_made_smaller_once(llmock: LLMock) -> None:
    llmock.context_overflow()
    result = await Client(llmock).play()
    assert result.status == "llm_error"
    assert "context" in result.reason
    llmock.assert_resilient(strict=True)


async def test_a_small_window_is_learned(llmock: LLMock) -> None:
    llmock.limits(context_window=2_000).reply("Fine.", times=None)
    client = Client(llmock)
    for _ in range(5):
        result = await client.play("word " * 500)
        assert result.status == "ok", result.reason
    llmock.assert_resilient(strict=True)
