"""What must hold for every command, however it is put together; and a real shell that checks it."""

from __future__ import annotations

import os
import random
import shlex
import subprocess
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agent_cli.permissions.judge import Judge
from agent_cli.permissions.rules import Rule
from agent_cli.permissions.shell_parts import Unclear, Word, split
from tests.permissions.judging import commands, reading_judge, rules, shell, verdict

JUDGE = reading_judge(Path("/nowhere"))
ALLOWED = [line for line in commands("reads") if verdict(JUDGE, shell(line)) == "allow"]
ASKING = [line for line in commands("asks") if verdict(JUDGE, shell(line)) == "ask"]


def is_whole(line: str) -> bool:
    """Whether it can stand before something else without changing what that means."""
    try:
        return bool(split(line))
    except Unclear:
        return False


WHOLE = [line for line in ASKING if is_whole(line)]
OPERATORS = [";", "&&", "||", "|", "|&", "&", "\n", " ; ", " && ", " || ", " | ", " & ", " \n "]
WORDS = st.lists(
    st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=6),
    min_size=1,
    max_size=5,
)


@given(st.sampled_from(ALLOWED), st.sampled_from(OPERATORS), st.sampled_from(WHOLE), st.booleans())
def test_joining_an_allowed_and_an_asking_command_always_asks(
    allowed: str, operator: str, asking: str, first: bool
) -> None:
    line = f"{asking}{operator}{allowed}" if first else f"{allowed}{operator}{asking}"
    assert verdict(JUDGE, shell(line)) == "ask"


@given(st.sampled_from(ALLOWED), st.sampled_from(OPERATORS[:7]), st.sampled_from(ALLOWED))
def test_joining_two_allowed_commands_is_allowed(one: str, operator: str, other: str) -> None:
    if not one.endswith("&"):
        assert verdict(JUDGE, shell(f"{one} {operator} {other}")) == "allow"


@given(st.sampled_from(WHOLE), st.sampled_from(["$({})", '"$({})"', "<({})"]))
def test_no_substitution_hides_an_asking_command(asking: str, form: str) -> None:
    judge = Judge(rules(allow=["run_shell(echo *)"], reads=True), Path("/nowhere"))
    assert verdict(judge, shell("echo " + form.format("ls"))) == "allow"
    assert verdict(judge, shell("echo " + form.format(asking))) == "ask"


@given(st.sampled_from(ASKING))
def test_a_whole_command_in_quotes_is_no_allowed_one(asking: str) -> None:
    assert verdict(JUDGE, shell(shlex.quote(asking))) == "ask"
    assert verdict(JUDGE, shell(f"{shlex.quote(asking)} x")) == "ask"


def in_quotes(word: str, style: int) -> str:
    match style:
        case 0:
            return shlex.quote(word)
        case 1:
            return '"' + "".join(f"\\{each}" if each in '$`"\\' else each for each in word) + '"'
        case _:
            return "".join(f"\\{each}" for each in word)


@given(WORDS, st.lists(st.integers(0, 2), min_size=5, max_size=5))
def test_every_way_of_quoting_means_the_same_words(words: list[str], styles: list[int]) -> None:
    line = " ".join(in_quotes(word, style) for word, style in zip(words, styles, strict=False))
    try:
        (part,) = split(line)
    except Unclear:
        return  # a reserved word, or what cannot be seen: asks either way
    if not part.assigns:
        assert part.words == [Word(word) for word in words]


@given(st.text(st.sampled_from("ls rm;&|<>$()`'\"\\\n#{}*?~=!-/.a1")))
@example("$(" * 100)
@example("`" * 99)
def test_any_text_is_split_or_unclear(text: str) -> None:
    try:
        parts = split(text)
    except Unclear:
        return
    assert parts
    assert not any(part.empty for part in parts)


@given(st.text(max_size=30), st.text(max_size=30))
def test_an_allowed_prefix_never_allows_another_program(pattern: str, command: str) -> None:
    judge = Judge(rules(allow=["run_shell(safe *)"]))
    if verdict(judge, shell(command)) == "allow":
        assert all(part.words[0] == Word("safe") for part in split(command))
    assert Rule("x", pattern).weight >= (0, 1)


PIECES = [
    *("ls", "cat", "echo", "pwd", "sh", "evil", "./evil", "a.txt", "sub", "-l", "-n", "x"),
    *(
        "'",
        '"',
        "\\",
        "$(",
        "`",
        ")",
        "(",
        ";",
        "&",
        "&&",
        "|",
        "||",
        ">",
        "<",
        ">>",
        "2>&1",
        "&>",
        "<(",
        ">(",
    ),
    *("\n", "#", "{", "}", "!", "$X", "${X}", "$'", "FOO=1", "env", "eval", "/dev/null", "*", "~", "=", "--"),
]


def lines(count: int) -> set[str]:
    chance = random.Random(7)
    made = set()
    for _ in range(count):
        pieces = [
            chance.choice(PIECES[: chance.choice([5, 12, len(PIECES)])]) for _ in range(chance.randint(1, 8))
        ]
        made.add("".join(piece + chance.choice(["", " ", " "]) for piece in pieces))
    return made


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder in which a real shell may run, with a program that leaves a mark."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "work" / "sub").mkdir(parents=True)
    (tmp_path / "work" / "a.txt").write_text("evil\n")
    for path in (tmp_path / "bin" / "evil", tmp_path / "work" / "evil"):
        path.write_text(f"#!/bin/sh\n: > {tmp_path}/mark\n")
        path.chmod(0o755)
    return tmp_path


def test_what_is_allowed_runs_nothing_else_in_a_real_shell(folder: Path) -> None:
    work = folder / "work"
    judge = reading_judge(work)
    allowed = sorted(line for line in lines(12_000) if verdict(judge, shell(line)) == "allow")
    assert len(allowed) > 150
    before = sorted(work.rglob("*"))
    environment = {"PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "X": "evil", "HOME": str(folder)}
    chosen = random.Random(7).sample(allowed, 60)
    for line in chosen:
        subprocess.run(
            ["bash", "-c", line],
            cwd=work,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=10,
            check=False,
        )
        assert not (folder / "mark").exists(), line
        assert sorted(work.rglob("*")) == before, line


def test_the_real_shell_would_have_noticed(folder: Path) -> None:
    subprocess.run(["bash", "-c", "./evil"], cwd=folder / "work", check=True)
    assert (folder / "mark").exists()
