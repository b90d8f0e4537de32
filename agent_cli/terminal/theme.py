"""The look of markdown and code: the terminal's own 16 colours, no backgrounds, so any screen can show it."""

from __future__ import annotations

from collections.abc import Mapping

MARKDOWN: Mapping[str, str] = {
    "h1": "bold underline",
    "heading": "bold",
    "em": "italic",
    "strong": "bold",
    "s": "strike",
    "code_inline": "cyan",
    "url": "dim",
    "marker": "cyan",
    "quote": "dim",
    "rule": "dim",
    "fence": "dim",
    "table_head": "bold",
}
CODE: Mapping[str, str] = {
    "Comment": "dim",
    "Keyword": "magenta",
    "Literal.String": "green",
    "Literal.Number": "cyan",
    "Name.Function": "bold",
    "Name.Class": "bold",
    "Name.Tag": "magenta",
    "Name.Decorator": "cyan",
    "Generic.Inserted": "green",
    "Generic.Deleted": "red",
    "Generic.Heading": "bold",
    "Generic.Subheading": "cyan",
}
"""By names of pygments' token types; a type without a style has that of its nearest parent."""


def code_style(token: str) -> str:
    """The style of a token type given by its dotted name, such as ``Literal.String.Doc``."""
    while token:
        if token in CODE:
            return CODE[token]
        token = token.rpartition(".")[0]
    return ""
