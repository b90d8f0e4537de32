"""The command line: every flag, and what a mistake is answered with."""

from __future__ import annotations

import re

import pytest

from agent_cli.cli.arguments import (
    NEWEST,
    PICKED,
    Arguments,
    build_parser,
    parse,
    wished_language,
)
from agent_cli.cli.command import Grammar, read_command
from agent_cli.cli.program import run
from agent_cli.errors import ConfigError
from agent_cli.limits import FIELD_NAMES
from agent_cli.settings import TABLE
from agent_cli.text import Catalog

CATALOG = Catalog("en")


def parsed(*argv: str) -> Arguments:
    return parse(argv, CATALOG)


@pytest.mark.parametrize(
    "argv",
    [
        ("-p", "hello", "--model", "m"),
        ("--model", "m", "-p", "hello"),
        ("-p", "--model=m", "hello"),
        ("hello", "-m", "m", "--print"),
    ],
)
def test_the_prompt_may_stand_anywhere(argv: tuple[str, ...]) -> None:
    arguments = parsed(*argv)
    assert (arguments.prompt, arguments.once, arguments.flags["model"]) == ("hello", True, "m")


def test_a_prompt_may_look_like_a_number_or_begin_with_a_dash_and_a_word() -> None:
    assert parsed("-p", "-5").prompt == "-5"
    assert parsed("-p", "- a list").prompt == "- a list"
    assert parsed("-p", "--", "--help me").prompt == "--help me"


def test_without_arguments_it_is_a_stored_interactive_chat() -> None:
    arguments = parsed()
    assert arguments == Arguments(flags=arguments.flags)
    assert set(arguments.flags.values()) == {None}


def test_every_limit_has_a_flag_that_takes_a_number_or_off() -> None:
    for name in FIELD_NAMES:
        flag = f"--{name.replace('_', '-')}"
        assert parsed(flag, "off").flags[name] == "off"
        assert parsed(flag, "-5").flags[name] == "-5"


def test_resume_takes_an_id_or_the_newest() -> None:
    assert parsed("-r", "abc").resume == "abc"
    assert parsed("-p", "q", "-r").resume == PICKED
    assert parsed("-c").resume == NEWEST
    assert parsed().resume is None


def test_short_ways_to_say_a_setting() -> None:
    flags = parsed("--yolo", "--no-tools", "--limits", "deep").flags
    assert (flags["approve"], flags["tools"], flags["preset"]) == ("all", "none", "deep")


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (("--max-step", "3"), "unknown option --max-step: did you mean --max-steps?"),
        (("--zzz",), "unknown option --zzz. agent-cli --help lists them all."),
        (("what", "is", "this"), "is: there is one message only. Put it into quotes."),
        (("--model",), "argument -m/--model: expected one argument"),
        (("--output-format", "json", "hi"), "--output-format needs -p."),
        (("--lang", "zh", "config"), "A command comes first: agent-cli config ..."),
    ],
)
def test_a_mistake_is_one_line_that_helps(argv: tuple[str, ...], expected: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parsed(*argv)
    assert str(caught.value) == expected


@pytest.mark.parametrize(
    ("text", "fits"), [("0", False), ("1", True), ("64", True), ("65", False), ("x", False)]
)
def test_jobs_are_between_one_and_sixty_four(text: str, fits: bool) -> None:
    if fits:
        assert parsed("--batch", "q.txt", "--jobs", text).jobs == int(text)
    else:
        with pytest.raises(ConfigError, match="--jobs"):
            parsed("--batch", "q.txt", "--jobs", text)


def test_a_batch_takes_no_message() -> None:
    for more in (("-p",), ("hello",)):
        with pytest.raises(ConfigError, match="--batch takes its questions from the file"):
            parsed("--batch", "q.txt", *more)


@pytest.mark.parametrize(
    ("argv", "language"),
    [(("--lang", "zh"), "zh"), (("-p", "--lang=zh"), "zh"), (("--lang",), None), (("-p", "x"), None)],
)
def test_the_language_is_known_before_anything_is_said(argv: tuple[str, ...], language: str | None) -> None:
    assert wished_language(argv) == language


def test_help_names_every_flag_in_both_languages(capsys: pytest.CaptureFixture[str]) -> None:
    for language in ("en", "zh"):
        assert run(["--help", "--lang", language], {}) == 0
        shown = capsys.readouterr().out
        for setting in TABLE:
            assert not setting.flag or setting.flag in shown
        assert "130" in shown
        assert not re.search(r"\{\w+\}", shown)


def test_help_of_a_command_names_its_actions(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["config", "--help"], {}) == 0
    assert "show|check|edit|path|example" in capsys.readouterr().out


def test_version_is_the_packages(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version"], {}) == 0
    assert re.fullmatch(r"agent-cli \d+\.\d+\.\d+\n", capsys.readouterr().out)


def test_a_usage_error_is_one_line_on_stderr_and_exit_code_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--zzz"], {}) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err == "agent-cli: unknown option --zzz. agent-cli --help lists them all.\n"


def test_commands_read_settings_too() -> None:
    command = read_command(Grammar("config", ("show", "check")), ["check", "--max-steps", "3"], CATALOG)
    assert (command.action, command.flags["max_steps"]) == ("check", "3")
    with pytest.raises(ConfigError, match="unknown option --max-step: did you mean --max-steps"):
        read_command(Grammar("config", ("show",)), ["--max-step=3"], CATALOG)


def test_no_flag_is_said_twice() -> None:
    options = [option for action in build_parser(CATALOG)._actions for option in action.option_strings]
    assert len(options) == len(set(options))
