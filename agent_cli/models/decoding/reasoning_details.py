"""The ``reasoning_details`` of a reply: streamed in pieces, sent back unchanged."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_TEXT_KEYS = ("text", "summary")


class ReasoningDetails:
    """Collects the entries in their order. Text of entries with the same type and index is joined."""

    def __init__(self) -> None:
        self._entries: list[tuple[dict[str, Any], dict[str, list[str]]]] = []
        self._open: dict[tuple[object, object], int] = {}

    def add(self, entries: object) -> str:
        """Take the list of one delta; the text in it that a person may read."""
        shown = [
            self._add(entry)
            for entry in (entries if isinstance(entries, list) else [])
            if isinstance(entry, Mapping)
        ]
        return "".join(shown)

    def finish(self) -> list[dict[str, Any]]:
        return [
            {**entry, **{key: "".join(pieces) for key, pieces in texts.items()}}
            for entry, texts in self._entries
        ]

    def _add(self, entry: Mapping[str, Any]) -> str:
        texts = {key: entry[key] for key in _TEXT_KEYS if isinstance(entry.get(key), str)}
        place = (str(entry.get("type")), str(entry.get("index")))
        known = self._open.get(place) if texts or "signature" in entry else None
        if known is None:
            self._entries.append((dict(entry), {key: [text] for key, text in texts.items()}))
            if texts:
                self._open[place] = len(self._entries) - 1
        else:
            kept, pieces = self._entries[known]
            kept.update({key: value for key, value in entry.items() if value is not None})
            for key, text in texts.items():
                pieces.setdefault(key, []).append(text)
        return "".join(texts.values())
