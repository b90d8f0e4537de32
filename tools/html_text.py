"""From a web page to text that a model can read."""

from __future__ import annotations

import html as markup
import re

_MAX_HTML = 1_000_000
_MAX_HEAD = 50_000


def html_to_text(html: str) -> tuple[str, str]:
    """Title and text of a page (as Markdown); scripts and styles are left out."""
    from justhtml import JustHTML  # noqa: PLC0415  0.15 s that only a fetched page has to pay

    document = JustHTML(html[:_MAX_HTML])
    found = re.search(r"(?is)<title[^>]*>(.{0,500}?)</title>", html[:_MAX_HEAD])
    title = " ".join(markup.unescape(found.group(1)).split()) if found else ""
    return title, str(document.to_markdown())
