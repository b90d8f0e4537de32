"""Numbers as people read them: short, and never more exact than they are."""

from __future__ import annotations

import math

_UNITS = ((10**9, "G"), (10**6, "M"), (10**3, "k"))
_SMALLEST_MONEY = 0.0001


def amount(count: float) -> str:
    """``950``, ``1.2k``, ``60k``, ``1M``: at most three digits before a unit."""
    for size, unit in _UNITS:
        scaled = count / size
        if scaled >= 0.9995:
            return f"{_short(scaled)}{unit}"
    return f"{count:.0f}"


def money(dollars: float) -> str:
    """US dollars: ``$1.25``, below one dollar two digits that count: ``$0.12``, ``$0.0021``."""
    if dollars <= 0:
        return "$0"
    if dollars < _SMALLEST_MONEY:
        return f"<${_SMALLEST_MONEY}"
    decimals = 2 if dollars >= 1 else 1 - math.floor(math.log10(dollars))
    text = f"{dollars:.{decimals}f}"
    return f"${text if dollars >= 1 else text.rstrip('0').rstrip('.')}"


def seconds(value: float) -> str:
    """``0.4s``, ``12s``, ``2m 05s``, ``1h 02m``."""
    if value < 9.95:
        return f"{max(0.0, value):.1f}s"
    whole = round(value)
    if whole < 120:
        return f"{whole}s"
    if whole < 3_600:
        return f"{whole // 60}m {whole % 60:02}s"
    return f"{whole // 3_600}h {whole % 3_600 // 60:02}m"


def _short(scaled: float) -> str:
    text = f"{scaled:.1f}" if scaled < 99.95 else f"{scaled:.0f}"
    return text.removesuffix(".0")
