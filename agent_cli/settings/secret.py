"""A key that cannot be printed by accident."""

from __future__ import annotations

from typing import NoReturn

_SHOWN = 4
_LONG_ENOUGH = 12


class Secret:
    """Holds a key. ``str``, ``repr`` and formatting show at most its last four characters.

    It cannot be pickled, and JSON does not know it, so it cannot reach a file by way of a record.
    Raises ``ValueError`` for characters that no HTTP header can carry.
    """

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        if not self.fits(value):
            raise ValueError(
                "a key is plain ASCII without line breaks: copy it again from the provider's page"
            )
        self._value = value

    @staticmethod
    def fits(value: str) -> bool:
        return value.isascii() and value.isprintable()

    def reveal(self) -> str:
        """The key itself, for the one place that sends it."""
        return self._value

    def __str__(self) -> str:
        return f"…{self._value[-_SHOWN:]}" if len(self._value) >= _LONG_ENOUGH else "…"

    def __repr__(self) -> str:
        return f"Secret({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._value == self._value

    def __hash__(self) -> int:
        return hash(self._value)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Secret cannot be pickled")
