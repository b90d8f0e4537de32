"""Token counts where the server does not tell them: an estimate that learns from the counts it tells."""

from __future__ import annotations

import re
from functools import lru_cache

_DEFAULT_CHARS_PER_TOKEN = 4.0
_WEIGHT = 0.3
_WIDE = re.compile("[\u2e80-\U0010ffff]+")


class TokenEstimator:
    """Estimates tokens from text. ``calibrate`` moves the ratio towards what a server reported.

    East Asian characters count as about one token each, everything else by the learned ratio.
    No tokenizer is downloaded; every number that comes from here is shown with ``≈``.
    """

    def __init__(self) -> None:
        self._chars_per_token = _DEFAULT_CHARS_PER_TOKEN

    @property
    def chars_per_token(self) -> float:
        return self._chars_per_token

    def count(self, text: str) -> int:
        """Estimated tokens of ``text``; 0 only for an empty text."""
        return self.count_chars(*measure(text))

    def count_chars(self, narrow: int, wide: int) -> int:
        if not narrow and not wide:
            return 0
        return max(1, round(narrow / self._chars_per_token + wide))

    def calibrate(self, narrow: int, wide: int, reported: int) -> None:
        """Learn from a prompt of known size. Absurd reports (caches, silent truncation) are ignored."""
        rest = reported - wide
        if narrow < 400 or rest <= 0:
            return
        ratio = narrow / rest
        if 1.5 <= ratio <= 8.0:
            self._chars_per_token += _WEIGHT * (ratio - self._chars_per_token)


def measure(text: str) -> tuple[int, int]:
    """How many narrow and how many wide (East Asian) characters a text has."""
    if text.isascii():
        return len(text), 0
    wide = _count_wide(text)
    return len(text) - wide, wide


@lru_cache(maxsize=32_768)
def _count_wide(text: str) -> int:
    """The same messages are measured before every request: each is counted once."""
    return sum(map(len, _WIDE.findall(text)))
