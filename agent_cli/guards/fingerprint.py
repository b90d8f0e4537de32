"""When two calls, and two results, are the same. Source: GUARDS section 4."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

_WORD = re.compile(r"\w+")


def canonical_arguments(arguments: Mapping[str, Any]) -> str:
    """One text for arguments that mean the same: keys sorted, strings NFC and stripped, ``1.0`` = ``1``."""
    return json.dumps(_canonical(arguments), ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def call_signature(name: str, arguments: Mapping[str, Any] | str, loop_key: str | None = None) -> str:
    """The identity of a call: tool and canonical arguments, or the tool's own ``loop_key``.

    ``arguments`` that came as text are parsed; text that is not a JSON object stands for itself.
    """
    if loop_key is not None:
        return f"{name}:key:{_digest(loop_key)}"
    if isinstance(arguments, str):
        parsed = _parse(arguments)
        if parsed is None:
            return f"{name}:raw:{_digest(arguments.strip())}"
        arguments = parsed
    return f"{name}:args:{_digest(canonical_arguments(arguments))}"


def result_fingerprint(content: str, volatile: Sequence[str] = (), echoed: Sequence[str] = ()) -> str:
    """The hash of a full result without its volatile parts.

    ``volatile`` are the tool's regular expressions; ``echoed`` texts from the arguments that the result
    may merely repeat (see :func:`echoed_arguments`): they and their words do not count.
    """
    for pattern in volatile:
        content = re.sub(pattern, "", content)
    if echoed:
        content = _without_echo(content, echoed)
    return _digest(content.strip())


def echoed_arguments(arguments: Mapping[str, Any], exit_code: int | None) -> tuple[str, ...]:
    """The texts of the arguments that a command's output may merely repeat (``echo word; make``).

    Nothing is an echo in the result of any other tool: it may be about nothing but its argument.
    """
    return () if exit_code is None else tuple(_texts(arguments))


def _canonical(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {_clean(str(key)): _canonical(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_canonical(item) for item in value]
    if isinstance(value, float):
        return int(value) if value.is_integer() else value
    if value is None or isinstance(value, bool | int):
        return value
    return _clean(str(value))


def _clean(text: str) -> str:
    return unicodedata.normalize("NFC", text).strip()


def _parse(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _texts(value: Any) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)


def _without_echo(content: str, echoed: Iterable[str]) -> str:
    words: set[str] = set()
    for text in sorted(echoed, key=len, reverse=True):
        if text.strip():
            content = content.replace(text, " ")
        words.update(_WORD.findall(text))
    kept = _WORD.sub(lambda word: "" if word[0] in words else word[0], content)
    return " ".join(kept.split())


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
