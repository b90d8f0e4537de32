"""Which language is spoken: the flag, then the environment, then English."""

from __future__ import annotations

import pytest

from agent_cli.text import can_encode, detect_language


@pytest.mark.parametrize(
    ("flag", "environ", "language"),
    [
        (None, {}, "en"),
        ("zh", {}, "zh"),
        ("en", {"AGENT_LANG": "zh", "LANG": "zh_CN.UTF-8"}, "en"),
        (None, {"AGENT_LANG": "zh"}, "zh"),
        (None, {"AGENT_LANG": "en", "LC_ALL": "zh_CN.UTF-8"}, "en"),
        (None, {"AGENT_LANG": "", "LC_ALL": "zh_CN.UTF-8"}, "zh"),
        (None, {"LC_ALL": "C", "LANG": "zh_CN.UTF-8"}, "en"),
        (None, {"LC_MESSAGES": "zh_TW.UTF-8", "LANG": "en_US.UTF-8"}, "zh"),
        (None, {"LANG": "zh_CN.UTF-8"}, "zh"),
        (None, {"LANG": "ZH-cn"}, "zh"),
        (None, {"LANG": "de_DE.UTF-8"}, "en"),
    ],
)
def test_the_first_that_says_something_decides(
    flag: str | None, environ: dict[str, str], language: str
) -> None:
    assert detect_language(flag, environ) == language


@pytest.mark.parametrize(
    ("encoding", "language"),
    [("utf-8", "zh"), ("gbk", "zh"), ("ascii", "en"), ("latin-1", "en"), (None, "en"), ("no-such", "en")],
)
def test_chinese_only_where_the_output_can_show_it(encoding: str | None, language: str) -> None:
    assert detect_language("zh", {}, encoding) == language


@pytest.mark.parametrize(
    ("text", "encoding", "possible"),
    [
        ("→", "utf-8", True),
        ("→", "ascii", False),
        ("→", None, False),
        ("a", None, True),
        ("a", "x-none", False),
    ],
)
def test_can_encode(text: str, encoding: str | None, possible: bool) -> None:
    assert can_encode(text, encoding) is possible
