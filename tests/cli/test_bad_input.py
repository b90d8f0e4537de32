"""The real program, wrongly used: one line with cause and cure, the right exit code, no traceback."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.cli.running import Ended, command, environment, run_program
from tests.cli.service import KEY, MODEL, model_service

pytestmark = pytest.mark.process
PRACTICE = ("--model", "practice")
QUESTION = "what is 12*7"
WRONG_SETTINGS: dict[str, tuple[dict[str, str], int, str]] = {
    "unreachable URL": ({"LLM_BASE_URL": "http://127.0.0.1:1/v1"}, 75, "LLM_BASE_URL"),
    "unknown host": ({"LLM_BASE_URL": "http://no-such-host.invalid/v1"}, 75, "LLM_BASE_URL"),
    "URL without /v1": ({"LLM_BASE_URL": "{url}"}, 1, "is /v1 missing at its end?"),
    "web page": ({"LLM_BASE_URL": "{url}/site"}, 1, "answered with a web page"),
    "wrong key": ({"LLM_API_KEY": "sk-wrong-0123456789"}, 1, "Check the key in LLM_API_KEY"),
    "no key": ({"LLM_API_KEY": ""}, 1, "LLM_API_KEY"),
    "wrong model": ({"LLM_MODEL": "no-such-model"}, 1, "no-such-model"),
    "busy service": ({"LLM_BASE_URL": "{url}/busy/v1"}, 75, "wait a little"),
}


@pytest.fixture(scope="module")
def wrongly_set(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Future[Ended]]]:
    """The program once with each wrong setting; side by side, because each loads the slow SDK."""
    folder = tmp_path_factory.mktemp("wrong")
    with model_service() as url, ThreadPoolExecutor(4) as pool:
        right = {"LLM_BASE_URL": f"{url}/v1", "LLM_API_KEY": KEY, "LLM_MODEL": MODEL}

        def start(wrong: Mapping[str, str]) -> Future[Ended]:
            env = right | {name: value.format(url=url) for name, value in wrong.items()}
            once = ("-q", "--no-session", "--max-attempts", "1", "-p", "hi")
            return pool.submit(run_program, *once, folder=folder, env=env)

        yield {name: start(wrong) for name, (wrong, _, _) in WRONG_SETTINGS.items()} | {"right": start({})}


def test_the_service_of_these_tests_answers_when_everything_is_right(
    wrongly_set: dict[str, Future[Ended]],
) -> None:
    assert wrongly_set["right"].result() == Ended(0, "You said: hi\n", "")


@pytest.mark.parametrize("name", list(WRONG_SETTINGS))
def test_a_wrong_setting_is_one_line_with_its_cure(wrongly_set: dict[str, Future[Ended]], name: str) -> None:
    _, code, cure = WRONG_SETTINGS[name]
    ended = wrongly_set[name].result()
    assert ended.code == code
    assert ended.out == ""
    (line,) = ended.err.splitlines()
    assert line.startswith("✗ failed: ")
    assert cure in line
    assert KEY not in line


@pytest.mark.parametrize(
    ("arguments", "env", "said"),
    [
        (("-p", "hi"), {}, "No model is configured. Put LLM_BASE_URL, LLM_API_KEY and LLM_MODEL into .env"),
        (("-p", "hi"), {"OPENAI_API_KEY": "sk-theirs-0123456"}, "No model is configured."),
        (("-p", "hi"), {"LLM_API_KEY": "sk-ours-0123456"}, "LLM_MODEL is not set: name the model with"),
        (("-p", "hi"), {"LLM_MODEL": "m"}, "LLM_API_KEY is not set: put the key into .env"),
        (("-p", "hi"), {"LLM_BASE_URL": "localhost:8080"}, "LLM_BASE_URL: 'localhost:8080' is not a URL"),
        (("-p", "hi", *PRACTICE, "--tools", "reed_*"), {}, "--tools: no tool matches reed_*. There are: "),
        (("-p", "", *PRACTICE), {}, "The message is empty."),
        (("-p", "  \t ", *PRACTICE), {}, "The message is empty."),
        (("-p", "hi", *PRACTICE, "-c"), {}, "There is no session of this folder to go on with."),
    ],
)
def test_what_cannot_be_run_is_said_in_one_line_and_leaves_with_2(
    tmp_path: Path, arguments: tuple[str, ...], env: dict[str, str], said: str
) -> None:
    ended = run_program(*arguments, folder=tmp_path, env=env)
    assert (ended.code, ended.out) == (2, "")
    (line,) = ended.err.splitlines()
    assert line.startswith(f"agent-cli: {said}")


def test_a_session_that_does_not_exist_is_said(tmp_path: Path) -> None:
    ended = run_program("-p", "hi", *PRACTICE, "-r", "gone", folder=tmp_path)
    assert ended == Ended(1, "", "agent-cli: no session 'gone'\n")


def test_a_broken_dotenv_file_is_said_with_its_line(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("LLM_MODEL=practice\nthis is broken\n")
    ended = run_program("-p", QUESTION, folder=tmp_path)
    cure = ".env line 2 cannot be read: write NAME=value, and close every quote."
    assert ended == Ended(2, "", f"agent-cli: {cure}\n")


def test_an_unusable_state_folder_is_said_once_and_the_answer_still_comes(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    env = {"AGENT_HOME": str(tmp_path / "file" / "home")}
    ended = run_program("-p", QUESTION, *PRACTICE, folder=tmp_path, env=env)
    assert (ended.code, ended.out) == (0, "12*7 = 84\n")
    (message,) = ended.messages
    assert message.startswith(f"{env['AGENT_HOME']} cannot be used: Not a directory.")
    assert "set AGENT_HOME" in message


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_terminal_that_is_not_utf8_gets_ascii(tmp_path: Path, lang: str) -> None:
    env = {"PYTHONIOENCODING": "ascii", "AGENT_LANG": lang}
    ended = run_program("-p", f"{QUESTION} 你好", *PRACTICE, folder=tmp_path, env=env)
    assert (ended.code, ended.out) == (0, "12*7 = 84\n")
    assert ended.err.isascii()
    assert 'calculate("12*7")' in ended.err
    assert "?" not in ended.err


def test_a_message_of_one_megabyte_is_answered(tmp_path: Path) -> None:
    ended = run_program("-q", "-p", *PRACTICE, folder=tmp_path, stdin=b"hello " * 170_000)
    assert (ended.code, ended.err) == (0, "")
    assert "practice model" in ended.out


def test_bytes_that_are_no_text_are_answered(tmp_path: Path) -> None:
    ended = run_program("-q", "-p", *PRACTICE, folder=tmp_path, stdin=b"what is 12*7\xff\xfe\x00")
    assert (ended.code, ended.err) == (0, "")


def run_by_shell(line: str, folder: Path) -> Ended:
    """``line`` with ``$AGENT`` for the program; stdout of the whole line."""
    env = environment(folder, {"AGENT": " ".join(command()), "Q": QUESTION})
    done = subprocess.run(
        ["bash", "-c", line], cwd=folder, env=env, capture_output=True, text=True, timeout=60, check=False
    )
    return Ended(done.returncode, done.stdout, done.stderr)


@pytest.mark.skipif(os.name != "posix", reason="needs a POSIX shell")
@pytest.mark.parametrize(
    "line",
    [
        '$AGENT -q -p "$Q" --model practice >&- </dev/null',
        'set -o pipefail; $AGENT -q -p "$Q" --model practice </dev/null | true',
        '$AGENT -q -p "$Q" --model practice <&- >/dev/null',
        '$AGENT -p "$Q" --model practice 2>&- >/dev/null </dev/null',
        '$AGENT -p "$Q" --model practice 2>/dev/full >/dev/null </dev/null',
    ],
)
def test_closed_streams_end_quietly(tmp_path: Path, line: str) -> None:
    assert run_by_shell(line, tmp_path) == Ended(0, "", "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_an_answer_that_cannot_be_written_is_a_failure(tmp_path: Path) -> None:
    ended = run_by_shell('$AGENT -q -p "$Q" --model practice >/dev/full </dev/null', tmp_path)
    assert ended == Ended(1, "", "agent-cli: stdout cannot be written: No space left on device.\n")


def test_a_folder_that_is_gone_is_said(tmp_path: Path) -> None:
    ended = run_by_shell('mkdir gone; cd gone; rmdir ../gone; $AGENT -p "$Q"', tmp_path)
    said = "The working folder does not exist any more. Change to another one."
    assert ended == Ended(2, "", f"agent-cli: {said}\n")
