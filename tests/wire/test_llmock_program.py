"""The real program against ``llmock serve``, judged by ``llmock report --strict``."""

from __future__ import annotations

import json
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import run_program
from tests.local_model.llama_server import free_port

pytestmark = pytest.mark.process

SCENARIO: list[dict[str, Any]] = [
    {"type": "fail", "status": 429, "retry_after": 0.4},
    {"type": "stream_fault", "kind": "truncate", "after_chunks": 2},
]


def llmock(*arguments: str) -> list[str]:
    return [sys.executable, "-c", "from llmock.cli import app; app()", *arguments]


@contextmanager
def chaos_server() -> Iterator[str]:
    """The URL of ``llmock serve`` in a process of its own."""
    port = free_port()
    process = subprocess.Popen(
        llmock("serve", "--port", str(port), "--stream-chunk-delay-ms", "30"),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        url = f"http://127.0.0.1:{port}"
        wait_for(url)
        yield url
    finally:
        process.kill()
        process.wait()


def wait_for(url: str) -> None:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        try:
            urllib.request.urlopen(f"{url}/_llmock/requests", timeout=5).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise AssertionError("llmock did not start")


def test_a_turn_through_its_faults_earns_a_clean_strict_verdict(tmp_path: Path) -> None:
    with chaos_server() as url:
        body = json.dumps({"behaviors": SCENARIO}).encode()
        urllib.request.urlopen(f"{url}/_llmock/scenario", body, timeout=10).close()
        ended = run_program(
            "-p",
            "What time is it?",
            folder=tmp_path,
            env={"LLM_BASE_URL": f"{url}/v1", "LLM_API_KEY": "sk-test", "LLM_MODEL": "gpt-4o"},
        )
        report = subprocess.run(
            llmock("report", "--url", url, "--strict", "--json"), capture_output=True, text=True, check=False
        )
    assert ended.code == 0, ended.err
    assert ended.out.strip()
    assert report.returncode == 0, report.stdout
    verdict = json.loads(report.stdout)
    assert verdict["faults_injected"] == len(SCENARIO)
    assert verdict["warnings"] == verdict["errors"] == 0
