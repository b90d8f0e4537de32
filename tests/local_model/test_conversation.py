"""A streamed two-turn conversation with a real model on a real llama.cpp server, in a real terminal."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.local_model.llama_server import LlamaServer, free_port
from tests.terminal.pty_screen import PtyScreen

pytestmark = [pytest.mark.local_model, pytest.mark.pty]


def chat(base_url: str, home: Path) -> PtyScreen:
    arguments = ["--base-url", base_url, "--model", "smollm2", "--no-tools", "--max-tokens", "off"]
    return PtyScreen(
        [sys.executable, "-m", "agent_cli", *arguments, "--system", "You answer in one short sentence."],
        env={"AGENT_HOME": str(home), "LLM_API_KEY": "none", "PYTHONPATH": str(Path(__file__).parents[2])},
        cwd=home,
    )


def test_two_turns_stream_and_the_second_knows_the_first(tmp_path: Path) -> None:
    with LlamaServer() as server, chat(server.base_url, tmp_path) as screen:
        server.wait_for(200)
        screen.wait_for("smollm2")
        screen.submit("Say hello to Ada.")
        screen.wait_for("answered", timeout=60)
        screen.submit("What is 2 plus 2?")
        screen.wait_until(lambda: screen.text().count("answered") == 2, "second answer", timeout=60)
        screen.submit("/history")
        screen.wait_for("What is 2 plus 2?")
        text = "\n".join(screen.all_lines())
        assert "Traceback" not in text
        assert "failed" not in text


def test_a_server_that_still_loads_is_waited_for_visibly(tmp_path: Path) -> None:
    port = free_port()
    with chat(f"http://127.0.0.1:{port}/v1", tmp_path) as screen:
        screen.wait_for("smollm2")
        screen.submit("/model")  # nobody listens yet, but after this the SDK is loaded
        screen.wait_for("cannot reach", timeout=30)
        with LlamaServer(port) as server:
            server.wait_for(503)
            screen.submit("Say hello.")
            screen.wait_for("loading", timeout=10)
            screen.wait_for("answered", timeout=60)
            assert "retr" in screen.text()
