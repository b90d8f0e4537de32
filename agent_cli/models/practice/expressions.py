"""Sums in the words of people: "12 times 7", "15% of 80", "12乘以7" as text for the calculator."""

from __future__ import annotations

import re

_WORDS = {
    r"multiplied by|times|乘以|乘": "*",
    r"divided by|除以": "/",
    r"to the power of|的(?=\d+次方)": "**",
    r"plus|加上|加": "+",
    r"minus|减去|减": "-",
    r"[×·]|(?<=\d)\s*x\s*(?=\d)": "*",
    r"÷": "/",
    r"\^": "**",
    r"(?<=\d)\s*%\s*(?:of|的)": "/100*",
    r"squared|的平方(?!根)": "**2",
}
_NUMBERS = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
    "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "twenty": 20, "hundred": 100,
    "零": 0, "一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5,
    "六": 6, "七": 7, "八": 8, "九": 9, "十": 10,
}  # fmt: skip
_DIGIT = "[零一二两三四五六七八九十]"
_FOLD = re.compile(rf"的?\s*([\d.]+|{_DIGIT})\s*倍")
_NUMBER_WORDS = re.compile(
    rf"\b(?:{'|'.join(word for word in _NUMBERS if word.isascii())})\b"
    rf"|(?<=[-+*/]){_DIGIT}|(?<!{_DIGIT}){_DIGIT}(?=\s*[-+*/])",
    re.IGNORECASE,
)
_ROOT = re.compile(r"square root of\s+(\d[\d.]*)|(\d[\d.]*)\s*的平方根", re.IGNORECASE)
_SPELLED_OUT = re.compile(
    r"^(?:please\s+)?(?:calculate|compute|evaluate|请?计算(?:一下)?)\s*[:：]?\s*(.+?)\s*[?？。=]*$",
    re.IGNORECASE,
)
_NUMBER = r"\d+(?:[.,]\d+)*(?:[eE][+-]?\d+)?%?"
_SUM = re.compile(
    rf"(?<![A-Za-z0-9_./-])[(\s]*-?(?:(?:sqrt|abs|sin|cos|tan|log)\()?\s*{_NUMBER}[)\s]*"
    rf"(?:(?:\*\*|//|[-+*/%])[(\s]*-?(?:sqrt\()?\s*{_NUMBER}[)\s]*)+(?![A-Za-z0-9_/]|\.[A-Za-z0-9_])"
    rf"|(?<![A-Za-z0-9_])(?:sqrt|abs|sin|cos|tan|log)\({_NUMBER}\)"
)
_ONLY_SIGNS = re.compile(r"(?=.*\d)[A-Za-z0-9_\s.+\-*/%^()!,]+", re.ASCII)
_DATE = re.compile(r"\d{4}-\d{1,2}-\d{1,2}|\d{1,2}/\d{1,2}/\d{2,4}")
_THEN = re.compile(rf"^\s*(?:and\s+)?(?P<operator>\*\*|[-+*/])\s*(?P<number>{_NUMBER})")


def expression_in(words: str) -> str | None:
    """The sum in a sentence, as the calculator reads it; ``None`` if there is none."""
    spelled = _SPELLED_OUT.match(words.strip())
    if spelled and _ONLY_SIGNS.fullmatch(plain := in_signs(spelled[1])):
        return plain
    found = _SUM.search(_DATE.sub(" ", in_signs(words)))
    return _balanced(found[0].strip().replace(",", "")) if found else None


def operation_after(words: str) -> tuple[str, str] | None:
    """Operator and number of "… times three" at the beginning of ``words``."""
    found = _THEN.match(in_signs(words))
    return (found["operator"], found["number"]) if found else None


def in_signs(words: str) -> str:
    """Operators and small numbers in words become signs and digits."""
    text = _FOLD.sub(r"*\1", words)
    for pattern, sign in _WORDS.items():
        text = re.sub(pattern, sign, text, flags=re.IGNORECASE)
    text = re.sub(r"次方", "", _ROOT.sub(lambda found: f"sqrt({found[1] or found[2]})", text))
    return _NUMBER_WORDS.sub(lambda found: str(_NUMBERS[found[0].lower()]), text)


def _balanced(expression: str) -> str:
    """The expression without brackets that the sentence opened or closed around it."""
    while expression.count("(") > expression.count(")") and expression.startswith("("):
        expression = expression[1:].lstrip()
    while expression.count(")") > expression.count("(") and expression.endswith(")"):
        expression = expression[:-1].rstrip()
    return expression
