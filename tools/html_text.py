"""From a web page to text that a model can read."""

from __future__ import annotations

import re

_MAX_HTML = 1_000_000


def html_to_text(html: str) -> tuple[str, str]:
    """Title and text of a page (as Markdown); scripts and styles are left out."""
    from justhtml import JustHTML  # noqa: PLC0415  0.15 s that only a fetched page has to pay

    document = JustHTML(html[:_MAX_HTML])
    titles = re.search(r"(?is)<title[^>]*>(.*?)</title>", html[:100_000])
    return (titles.group(1) if titles else ""), str(document.to_markdown())
