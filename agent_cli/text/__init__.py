"""Text for people, in English and Chinese: catalogues of flat TOML tables, one file per area.

``agent_cli/text/<language>/<file>.toml`` holds tables ``[area]`` of ``key = "text with {placeholders}"``.
Both languages have the same keys and placeholders; notes for the model are not here, they are English.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, get_args

Language = Literal["en", "zh"]
LANGUAGES: tuple[Language, ...] = get_args(Language)

_FOLDER = Path(__file__).parent
_PLACEHOLDER = re.compile(r"\{(\w+)\}")
_LANGUAGE_VARIABLES = ("AGENT_LANG", "LC_ALL", "LC_MESSAGES", "LANG")
_CHINESE_SAMPLE = "中文，。（）"


class Catalog:
    """The texts of one language: ``catalog("area.key", name=value)``.

    Raises ``KeyError`` for a key that does not exist and for a placeholder without a value. Values are
    put in as they are: braces in them mean nothing.
    """

    def __init__(self, language: Language) -> None:
        self.speak(language)

    def speak(self, language: Language) -> None:
        """Change the language for everybody who holds this catalogue."""
        self.language = language
        self._texts = read_texts(language)

    def __call__(self, key: str, /, **values: object) -> str:
        return _PLACEHOLDER.sub(lambda found: str(values[found[1]]), self._texts[key])

    def __contains__(self, key: object) -> bool:
        return key in self._texts

    def counted(self, key: str, count: int) -> str:
        """A text about ``{count}`` things; ``<key>_1`` is the text about exactly one."""
        return self(f"{key}_1" if count == 1 else key, count=count)


def read_texts(language: Language, folder: Path = _FOLDER) -> dict[str, str]:
    """``{"area.key": text}`` from all files of a language. ``ValueError`` if two files share a key."""
    texts: dict[str, str] = {}
    for path in sorted((folder / language).glob("*.toml")):
        for area, table in tomllib.loads(path.read_text(encoding="utf-8")).items():
            for name, text in table.items():
                key = f"{area}.{name}"
                if key in texts:
                    raise ValueError(f"{path.name} says {key} a second time")
                texts[key] = text
    return texts


def placeholders(text: str) -> frozenset[str]:
    """The names that a text wants values for."""
    return frozenset(_PLACEHOLDER.findall(text))


def detect_language(flag: str | None, environ: Mapping[str, str], encoding: str | None = "utf-8") -> Language:
    """The first of ``--lang``, ``AGENT_LANG`` and the locale variables that says something.

    English where ``encoding`` (of the output) cannot hold Chinese.
    """
    wishes = (flag, *(environ.get(name) for name in _LANGUAGE_VARIABLES))
    wish = next((wish for wish in wishes if wish), "")
    if not wish.lower().startswith("zh"):
        return "en"
    return "zh" if can_encode(_CHINESE_SAMPLE, encoding) else "en"


def can_encode(text: str, encoding: str | None) -> bool:
    """Whether an output with this encoding (``None`` and unknown names count as ASCII) can show a text."""
    try:
        text.encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
