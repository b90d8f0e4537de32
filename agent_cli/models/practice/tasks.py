"""What the practice model understands of ordinary requests, and how it answers from the results.

One request may hold several wishes ("what time is it in Tokyo, and what is 12*7?"): they become the
calls of one step. "The temperature of Cairo times three" needs two steps: the second works on the
result of the first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from agent_cli.models.practice.expressions import expression_in, operation_after
from agent_cli.models.practice.situation import Ask, Outcome, Reply, Say, Situation, ask

_SHOWN_LINES = 40
_QUOTED = r"[\"'“‘「`](?P<{0}>[^\"'”’」`]*)[\"'”’」`]"
_PATH = r"[`\"'“]?(?P<path>[\w.~/\\-]*[\w/~.])[`\"'”]?"
_CITIES = {
    "北京": "Beijing", "上海": "Shanghai", "东京": "Tokyo", "伦敦": "London", "巴黎": "Paris",
    "柏林": "Berlin",
    "纽约": "New York", "开罗": "Cairo", "悉尼": "Sydney", "香港": "Hong Kong", "新加坡": "Singapore",
    "首尔": "Seoul", "莫斯科": "Moscow", "洛杉矶": "Los Angeles",
}  # fmt: skip
_ZONES = {"beijing": "Asia/Shanghai", "hong kong": "Asia/Hong_Kong"}
_END = (
    r"(?=\s*(?:[?,.!;，。？！；]|[*+/-]|$"
    r"|\b(?:and|times|plus|minus|multiplied|divided|right|now|today|in)\b))"
)
_TIME = re.compile(
    rf"\b(?:what(?:'s| is)? (?:the )?(?:time|date|day)|time is it|current time|today's date|the time)\b"
    rf"(?:(?:[^?,.;]*?)\b(?:in|at|for)\s+(?P<city>[a-z][a-z/_ -]*?){_END})?"
    rf"|(?P<known>{'|'.join(_CITIES)})?[^，。？,?]{{0,6}}?(?:几点|现在的?时间|什么时间|今天(?:是)?几[号日]|日期)",
    re.IGNORECASE,
)
_WEATHER = re.compile(
    r"\b(?:weather|temperature|forecast|how (?:hot|cold|warm))\b[^?.;]*?\b(?:in|of|for|at)\s+"
    rf"(?P<city>[a-z][a-z .'-]*?){_END}"
    rf"|(?P<known>{'|'.join(_CITIES)})(?:市|今天|现在|的)*(?:天气|气温|温度)",
    re.IGNORECASE,
)
_NUMBER = r"(-?\d+(?:\.\d+)?)"
_READ_AT_MOST = 2_000
Make = Callable[[re.Match[str]], Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class _Wish:
    """One thing a sentence asks for: the tool, the pattern, and the arguments of a match."""

    tool: str
    pattern: re.Pattern[str]
    arguments: Make


def _wish(tool: str, pattern: str, arguments: Make) -> _Wish:
    return _Wish(tool, re.compile(pattern, re.IGNORECASE | re.DOTALL), arguments)


def _part(found: re.Match[str], name: str) -> str:
    """A part of a match: quoted as ``name_q``, or bare."""
    groups = found.groupdict()
    quoted = groups.get(f"{name}_q")
    return quoted if quoted is not None else (groups.get(name) or "").strip()


def _piece(name: str, bare: str) -> str:
    return rf"(?:{_QUOTED.format(f'{name}_q')}|(?P<{name}>{bare}))"


def _edit(found: re.Match[str]) -> Mapping[str, Any]:
    return {"path": found["path"], "old_text": _part(found, "old"), "new_text": _part(found, "new")}


def _path(found: re.Match[str]) -> Mapping[str, Any]:
    return {"path": found["path"]} if found["path"] else {}


def _search(found: re.Match[str]) -> Mapping[str, Any]:
    return {"pattern": _part(found, "text"), **_path(found)}


def _todo(found: re.Match[str]) -> Mapping[str, Any]:
    items = [item.strip() for item in re.split(r"[,，;；、]", found["items"]) if item.strip(" .。")]
    return {"items": [{"text": item.rstrip(".。"), "status": "pending"} for item in items]}


_DEMANDS = (
    _wish(
        "edit_file",
        rf"\breplace\s+{_piece('old', '.+?')}\s+(?:with|by)\s+{_piece('new', '.+?')}\s+in\s+{_PATH}",
        _edit,
    ),
    _wish(
        "edit_file",
        rf"[把将]\s*{_PATH}\s*(?:文件)?[里中]?的?\s*{_piece('old', '.+?')}\s*"
        rf"(?:改成|改为|替换为|替换成|换成)\s*{_piece('new', '[^，。]+')}",
        _edit,
    ),
    _wish(
        "write_file",
        rf"\bwrite\s+{_piece('text', '.+?')}\s+(?:in)?to\s+{_PATH}",
        lambda found: {"path": found["path"], "content": f"{_part(found, 'text')}\n"},
    ),
    _wish(
        "write_file",
        rf"[把将]\s*{_piece('text', '.+?')}\s*写[入到进]\s*{_PATH}",
        lambda found: {"path": found["path"], "content": f"{_part(found, 'text')}\n"},
    ),
    _wish(
        "search_text",
        rf"\b(?:search|grep|look)\s+(?:for\s+)?{_piece('text', r'[^ ]+')}(?:\s+in\s+{_PATH})?\s*[?.]?$",
        _search,
    ),
    _wish("search_text", rf"在\s*{_PATH}\s*[里中]?(?:搜索|查找)\s*{_piece('text', '[^，。]+')}", _search),
    _wish("search_text", rf"(?:搜索|查找)\s*{_piece('text', '[^，。 ]+')}(?P<path>)", _search),
    _wish("fetch_url", r"(?P<url>https?://[^\s，。]+)", lambda found: {"url": found["url"]}),
    _wish(
        "run_shell",
        r"^(?:please\s+)?(?:run|execute|运行|执行)\s*[:：]?\s*`?(?P<command>[^`]+?)`?$",
        lambda found: {"command": found["command"]},
    ),
    _wish("todo", r"(?:\btodos?\b|\bremind me to\b|待办)\s*[:：]?\s*(?P<items>.+)$", _todo),
    _wish(
        "list_files",
        rf"(?:\b(?:list|show|what|which)\b[^?.]*\b(?:files|folder|directory)\b|^ls\b)(?:.*?\bin\s+{_PATH})?",
        _path,
    ),
    _wish("list_files", r"(?:列出|有哪些|有什么|显示)[^，。]*(?:文件|目录)(?P<path>)", _path),
    _wish(
        "read_file",
        r"\b(?:read|open|show|cat|print)\s+(?:me\s+)?(?:the\s+)?(?:file\s+)?[`\"']?(?P<path>[\w~-]*[./][\w./~-]*\w)",
        _path,
    ),
    _wish("read_file", r"(?:读取?|打开|查看|显示)\s*(?:一下)?(?:文件)?\s*(?P<path>[\w./~-]+\w)", _path),
)


def calls_wanted(words: str) -> tuple[tuple[str, Mapping[str, Any]], ...]:
    """The calls of the first step: one demand about files or commands, or any of sum, time, weather."""
    words = words[:_READ_AT_MOST]
    for demand in _DEMANDS:
        if found := demand.pattern.search(words):
            return ((demand.tool, demand.arguments(found)),)
    return tuple(_questions(words))


def _questions(words: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    rest = words
    if found := _TIME.search(words):
        rest = rest.replace(found[0], " ", 1)
        city = _city(found)
        zone = _ZONES.get(city.lower(), city)
        yield "get_current_time", {"timezone": zone} if zone else {}
    if found := _WEATHER.search(words):
        rest = rest.replace(found[0], " ", 1)
        unit = {"unit": "fahrenheit"} if re.search(r"fahrenheit|°f\b|华氏", words, re.IGNORECASE) else {}
        yield "get_weather", {"city": _city(found), **unit}
    if expression := expression_in(rest):
        yield "calculate", {"expression": expression}


def _city(found: re.Match[str]) -> str:
    return _CITIES.get(found["known"] or "", (found["city"] or "").strip())


def next_step(now: Situation) -> Reply | None:
    """What to do about the user's words; ``None`` if they ask for nothing that is understood."""
    wanted = calls_wanted(now.words)
    if not wanted:
        return None
    if not now.outcomes:
        missing = [name for name, _ in wanted if name not in now.tools]
        if missing:
            return Say(now.say("no_tool", name=missing[0]))
        return Ask(wanted)
    return _follow_up(now) or Say("\n\n".join(told(now, outcome) for outcome in now.outcomes))


def _follow_up(now: Situation) -> Reply | None:
    """The step that depends on the result of the one before."""
    last = now.outcomes[-1]
    weather = now.succeeded("get_weather")
    found = _WEATHER.search(now.words)
    then = operation_after(now.words[found.end() :]) if found else None
    if (
        weather
        and then
        and "calculate" in now.tools
        and not any(done.name == "calculate" for done in now.outcomes)
    ):
        degrees = re.search(rf"{_NUMBER}\s*°", weather.content) or re.search(_NUMBER, weather.content)
        if degrees:
            return ask("calculate", expression=f"{degrees[1]} {then[0]} {then[1]}")
    lost = last.name == "edit_file" and not last.ok and "refused" not in last.content
    if lost and len(now.outcomes) == 1 and "read_file" in now.tools:
        return ask("read_file", path=last.arguments.get("path", ""))
    return None


def told(now: Situation, outcome: Outcome) -> str:
    """One outcome in the user's language, with the result as it came."""
    if not outcome.ok:
        return now.say("failed", name=outcome.name, reason=_first_line(outcome.content))
    match outcome.name:
        case "calculate":
            return f"{outcome.arguments.get('expression', '')} = {outcome.content}"
        case "get_current_time":
            return now.say("time", time=outcome.content)
        case "get_weather":
            return now.say("weather", weather=outcome.content)
        case "write_file" | "edit_file":
            return now.say("done", report=_first_line(outcome.content))
    lines = outcome.content.splitlines()
    shown = "\n".join(lines[:_SHOWN_LINES])
    more = now.say("more_lines", count=len(lines) - _SHOWN_LINES) if len(lines) > _SHOWN_LINES else ""
    fence = "~~~~" if "```" in shown else "```"
    return f"{now.say('result', name=outcome.name)}\n\n{fence}\n{shown}\n{fence}\n{more}".rstrip()


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "")
