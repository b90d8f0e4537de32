"""What a docstring says about a function and its parameters, in Google, NumPy or ``:param:`` style."""

from __future__ import annotations

import re

_SECTION = re.compile(r"(Args|Arguments|Parameters|Params|Returns|Yields|Raises|Examples?|Notes?):?\s*$")
_PARAMETER_SECTIONS = ("Args", "Arguments", "Parameters", "Params")
_ENTRY = re.compile(r"\*{0,2}(\w+)\s*(?:\([^)]*\))?\s*:\s*(.*)")
_FIELD = re.compile(r":param\s+(?:[^:]*\s)?(\w+)\s*:\s*(.*)")


def read_docstring(text: str) -> tuple[str, dict[str, str]]:
    """The description (everything before the first section) and the text of each parameter."""
    description: list[str] = []
    texts: dict[str, str] = {}
    section, current, margin = "", "", 0
    lines = text.splitlines()
    for number, line in enumerate(lines):
        plain, indent = line.strip(), len(line) - len(line.lstrip())
        following = lines[number + 1].strip() if number + 1 < len(lines) else ""
        heading = _SECTION.fullmatch(plain)
        if heading and indent == 0 and (plain.endswith(":") or _is_rule(following)):
            section, current, margin = heading.group(1), "", -1
        elif found := _FIELD.match(plain):
            section, current, margin = "Parameters", found.group(1), indent
            texts[current] = found.group(2)
        elif plain.startswith((":return", ":rtype", ":raise", ":type")):
            section, current = "Returns", ""
        elif not section:
            description.append(line)
        elif section in _PARAMETER_SECTIONS and plain and not _is_rule(plain):
            margin = indent if margin < 0 else margin
            if indent <= margin:
                current = _begin_entry(plain, indent, texts)
            elif current:
                texts[current] = f"{texts[current]} {plain}".strip()
    return "\n".join(description).strip(), {name: found for name, found in texts.items() if found}


def _begin_entry(plain: str, indent: int, texts: dict[str, str]) -> str:
    """A new parameter: Google style carries its text on the line, NumPy style (no indent) its type."""
    found = _ENTRY.fullmatch(plain)
    name = found.group(1) if found else plain.partition(" ")[0]
    texts[name] = found.group(2) if found and indent else ""
    return name


def _is_rule(line: str) -> bool:
    return len(line) >= 3 and set(line) == {"-"}
