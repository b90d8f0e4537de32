"""Both languages say everything, and the program asks only for what they say."""

from __future__ import annotations

import ast
import re
import tomllib
from functools import cache
from pathlib import Path

import pytest

import agent_cli
from agent_cli.text import Catalog, placeholders, read_texts

PACKAGE = Path(agent_cli.__file__).parent
ENGLISH = read_texts("en")
CHINESE = read_texts("zh")
AREAS = {key.partition(".")[0] for key in ENGLISH}
KEY = re.compile(r"[a-z_]+\.[a-z_0-9]+")


def test_both_languages_have_the_same_keys() -> None:
    assert sorted(ENGLISH) == sorted(CHINESE)


def test_both_languages_have_the_same_files() -> None:
    names = [sorted(path.name for path in (PACKAGE / "text" / code).glob("*.toml")) for code in ("en", "zh")]
    assert names[0] == names[1] != []


def test_both_languages_have_the_same_placeholders() -> None:
    different = {key for key in ENGLISH if placeholders(ENGLISH[key]) != placeholders(CHINESE.get(key, ""))}
    assert different == set()


def test_every_text_about_one_thing_stands_beside_a_text_about_many() -> None:
    alone = {key for key in ENGLISH if key.endswith("_1") and key[:-2] not in ENGLISH}
    assert alone == set()


def test_a_text_is_empty_in_both_languages_or_in_none() -> None:
    assert {key for key in ENGLISH if bool(ENGLISH[key].strip()) != bool(CHINESE[key].strip())} == set()


def test_no_text_holds_control_characters() -> None:
    for key, text in [*ENGLISH.items(), *CHINESE.items()]:
        assert all(character.isprintable() or character == "\n" for character in text), key


def test_chinese_texts_are_chinese() -> None:
    """A text may be the same in both only where it has no word of a language: names, numbers, commands."""
    same = {key: text for key, text in ENGLISH.items() if text == CHINESE.get(key)}
    wordy = {key: text for key, text in same.items() if re.search(r"[a-z]{3,} [a-z]{2,} [a-z]{2,}", text)}
    assert wordy == {}


def test_two_files_may_not_say_the_same_key(tmp_path: Path) -> None:
    folder = tmp_path / "en"
    folder.mkdir()
    (folder / "a.toml").write_text('[area]\nkey = "one"\n')
    (folder / "b.toml").write_text('[area]\nkey = "two"\n')
    with pytest.raises(ValueError, match=r"b\.toml says area\.key a second time"):
        read_texts("en", tmp_path)


def test_files_are_flat_tables_of_text() -> None:
    for path in (PACKAGE / "text").glob("*/*.toml"):
        for area, table in tomllib.loads(path.read_text(encoding="utf-8")).items():
            assert isinstance(table, dict), f"{path.name}: {area} is no table"
            assert all(isinstance(text, str) for text in table.values()), f"{path.name}: [{area}]"


def test_a_missing_key_raises() -> None:
    with pytest.raises(KeyError):
        Catalog("en")("turn.no_such_text")


def test_a_missing_value_raises() -> None:
    with pytest.raises(KeyError):
        Catalog("en")("turn.step", step=1)


def test_values_are_never_interpreted() -> None:
    text = Catalog("en")("turn.hint", text="{step} {0} {text} {text.__class__} %s \\g<0> \\1")
    assert text == "hint: {step} {0} {text} {text.__class__} %s \\g<0> \\1"


@pytest.mark.parametrize(("count", "text"), [(0, "0 steps"), (1, "1 step"), (2, "2 steps"), (21, "21 steps")])
def test_counts_choose_between_one_and_many(count: int, text: str) -> None:
    assert Catalog("en").counted("footer.steps", count) == text


def test_chinese_counts_too() -> None:
    assert Catalog("zh").counted("footer.steps", 1) == "1 步"


@cache
def _calls_with_keys() -> list[tuple[str, ast.Call, str]]:
    """Every call in the package whose first argument is a literal ``"area.key"`` of a known area."""
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or not node.args or not isinstance(node.args[0], ast.Constant):
                continue
            key = node.args[0].value
            if isinstance(key, str) and KEY.fullmatch(key) and key.partition(".")[0] in AREAS:
                found.append((f"{path.relative_to(PACKAGE)}:{node.lineno}", node, key))
    return found


def test_the_program_asks_only_for_texts_that_exist() -> None:
    calls = _calls_with_keys()
    assert len(calls) > 20
    assert {(where, key) for where, _, key in calls if key not in ENGLISH} == set()


def test_the_program_gives_every_text_its_values() -> None:
    for where, node, key in _calls_with_keys():
        if len(node.args) > 1 or any(keyword.arg is None for keyword in node.keywords):
            continue  # the values come in another form than name=value
        if isinstance(node.func, ast.Attribute) and node.func.attr == "counted":
            assert placeholders(ENGLISH[key]) == {"count"}, where
            continue
        given = {keyword.arg for keyword in node.keywords}
        assert placeholders(ENGLISH[key]) <= given, f"{where}: {key} needs {placeholders(ENGLISH[key])}"
