"""Tool calls put together from streamed deltas, whatever their indexes, ids and names look like."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from agent_cli.models.decoding.arguments import dumped, is_complete

_ENTRY_KEYS = frozenset({"index", "id", "type", "function", "name", "arguments"})
_UNNAMED = "unnamed"


@dataclass(slots=True)
class CallSlot:
    """One call while it is being written. ``extra`` holds unknown keys as received; those of the
    inner function stand under ``function``."""

    index: int | None = None
    id: str = ""
    name: str = ""
    characters: int = 0
    named_again: bool = False
    extra: dict[str, Any] = field(default_factory=dict)
    _pieces: list[str] = field(default_factory=list)

    @property
    def arguments(self) -> str:
        """The text so far."""
        if len(self._pieces) > 1:
            self._pieces = ["".join(self._pieces)]
        return self._pieces[0] if self._pieces else ""

    def write(self, piece: str, *, whole: bool) -> None:
        """Add a piece; a ``whole`` one (sent as an object, not as text) replaces what was there."""
        if whole:
            self._pieces.clear()
            self.characters = 0
        if piece:
            self._pieces.append(piece)
            self.characters += len(piece)


class CallSlots:
    """The calls of one reply, in the order in which they began.

    ``known`` are the names of the tools that were offered: they tell a repeated name from the rest
    of a split one, and the next call from a continuation.
    """

    def __init__(self, known: Collection[str]) -> None:
        self._known = frozenset(known)
        self._slots: list[CallSlot] = []
        self._by_index: dict[int, CallSlot] = {}
        self._by_id: dict[str, CallSlot] = {}

    def __len__(self) -> int:
        return len(self._slots)

    @property
    def newest(self) -> CallSlot | None:
        return self._slots[-1] if self._slots else None

    def add(self, entries: object) -> bool:
        """Take the ``tool_calls`` of one delta; whether it held anything of a call."""
        found = False
        for entry in entries if isinstance(entries, list) else [entries]:
            if isinstance(entry, Mapping):
                self._add(entry)
                found = True
        return found

    def finish(self) -> list[CallSlot]:
        """The calls. Entries that never said anything are left out; each call has a legal name."""
        slots = [slot for slot in self._slots if slot.name or slot.arguments.strip() or slot.extra]
        for slot in slots:
            if slot.name not in self._known:
                slot.name = legal_name(slot.name)
        return slots

    def _add(self, entry: Mapping[str, Any]) -> None:
        inner = entry.get("function")
        function: Mapping[str, Any] = inner if isinstance(inner, Mapping) else entry
        index = _index(entry.get("index"))
        call_id, name = _text(entry.get("id")), _text(function.get("name"))
        arguments = function.get("arguments")
        whole = isinstance(arguments, dict | list)
        piece = dumped(arguments) if whole else arguments if isinstance(arguments, str) else ""

        slot = self._slot_for(index, call_id, name)
        if slot and piece[:1] in {"{", "["} and (name or slot.named_again) and is_complete(slot.arguments):
            if call_id and slot.id == call_id and (whole or slot.arguments == piece):
                slot.write(piece, whole=True)  # the server sends the whole call again
                return
            name, slot = name or slot.name, None
        if slot is None:
            slot = self._open(index)
        if call_id and not slot.id:
            slot.id = call_id
            self._by_id[call_id] = slot
        self._name(slot, name)
        slot.write(piece, whole=whole)
        _keep_extra(slot.extra, entry, function)

    def _slot_for(self, index: int | None, call_id: str, name: str) -> CallSlot | None:
        """The call that a delta continues; ``None`` if it begins one."""
        slot = self.newest if index is None else self._by_index.get(index)
        if call_id:
            if slot and slot.id == call_id:
                return slot
            same = self._by_id.get(call_id)
            if same and (index is None or same.index in {None, index}):
                return same
            return None if slot and slot.id else slot
        if slot and name and name != slot.name and {slot.name, name} <= self._known:
            return None
        if slot and name and name == slot.name and is_complete(slot.arguments):
            slot.named_again = True
        return slot

    def _open(self, index: int | None) -> CallSlot:
        slot = CallSlot(index)
        self._slots.append(slot)
        if index is not None:
            self._by_index[index] = slot
        return slot

    def _name(self, slot: CallSlot, name: str) -> None:
        """Set once; repeated names are ignored, pieces of a known name are joined."""
        if not name or name == slot.name:
            return
        if not slot.name or (name in self._known and name.startswith(slot.name)):
            slot.name = name
        elif slot.name not in self._known:
            joined = slot.name + name
            if any(known.startswith(joined) for known in self._known):
                slot.name = joined


def legal_name(name: str) -> str:
    """A name that every server accepts in the history, also for a tool that does not exist."""
    plain = re.sub(r"[^a-zA-Z0-9_-]", "_", name)[:64]
    if not plain.strip("_-"):
        return _UNNAMED
    return plain if re.match(r"[a-zA-Z_]", plain) else f"_{plain}"[:64]


def _index(value: object) -> int | None:
    if isinstance(value, str) and value.isdecimal() and len(value) < 10:
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _keep_extra(extra: dict[str, Any], entry: Mapping[str, Any], function: Mapping[str, Any]) -> None:
    for key, value in entry.items():
        if key not in _ENTRY_KEYS and value is not None:
            extra[key] = value
    if function is not entry:
        inner = {
            key: value for key, value in function.items() if key not in _ENTRY_KEYS and value is not None
        }
        if inner:
            extra["function"] = {**extra.get("function", {}), **inner}
