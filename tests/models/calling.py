"""One model call with retries on a clock that never waits, and all that happened in it."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from agent_cli.clock import ManualClock
from agent_cli.errors import ModelError
from agent_cli.limits import Limits
from agent_cli.models.base import ModelOptions, Retrying, StreamPart
from agent_cli.models.retry import RetryBucket, stream_with_retries
from agent_cli.models.scripted import ScriptedModel


class Fixed(random.Random):
    def __init__(self, value: float) -> None:
        super().__init__()
        self.value = value

    def random(self) -> float:
        return self.value


class Call:
    """One model call with retries, and all that happened in it."""

    def __init__(
        self,
        script: list[Any],
        *,
        limits: Limits | None = None,
        left: float | None = None,
        rng: random.Random | None = None,
        bucket: RetryBucket | None = None,
        options: ModelOptions | None = None,
    ) -> None:
        self.model = ScriptedModel(script)
        self.clock = ManualClock()
        self.parts: list[StreamPart] = []
        self.waits_seen_before_sleeping: list[int] = []
        started = self.clock.now()
        time_left: Callable[[], float | None] = lambda: (  # noqa: E731
            None if left is None else left - (self.clock.now() - started)
        )
        self.stream = stream_with_retries(
            self.model,
            [],
            [],
            limits=limits or Limits(),
            time_left=time_left,
            clock=self.clock,
            rng=rng or Fixed(0.0),
            bucket=bucket if bucket is not None else RetryBucket(),
            options=options or {},
        )

    async def run(self) -> Call:
        async for part in self.stream:
            if isinstance(part, Retrying):
                self.waits_seen_before_sleeping.append(len(self.clock.slept))
            self.parts.append(part)
        return self

    async def fail(self) -> ModelError:
        with pytest.raises(ModelError) as raised:
            await self.run()
        return raised.value

    @property
    def requests(self) -> int:
        return len(self.model.requests)

    @property
    def retries(self) -> list[Retrying]:
        return [part for part in self.parts if isinstance(part, Retrying)]


def asking(wait: float, **changes: Any) -> ModelError:
    return replace(ModelError("rate_limited", "slow down", status=429, transient=True, wait=wait), **changes)
