"""Names for tools that others named: ``mcp__<server>__<tool>``, as other programs spell them too.

Runs of other characters become one ``_``, so that ``__`` only ever separates. What is too long, or is
taken already, ends with a mark made from the original name: the same name gets the same mark every time.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Container

PREFIX = "mcp__"
LONGEST = 64
LONGEST_SERVER = 24
_MARK = 8


def server_prefix(server: str, taken: Container[str] = ()) -> str:
    """The beginning of the names of a server's tools; ``taken`` are the prefixes of other servers."""
    return _fitted(PREFIX, server, len(PREFIX) + LONGEST_SERVER, taken, "__")


def tool_name(prefix: str, tool: str, taken: Container[str] = ()) -> str:
    """A name of ours for ``tool``; ``taken`` are the names of the server's other tools."""
    return _fitted(prefix, tool, LONGEST, taken, "")


def _fitted(start: str, original: str, longest: int, taken: Container[str], end: str) -> str:
    name = start + (re.sub(r"[^a-z0-9]+", "_", original.lower()).strip("_") or "x")
    if len(name) > longest or name + end in taken:
        mark = hashlib.sha256(original.encode(errors="surrogatepass")).hexdigest()[:_MARK]
        name = f"{name[: longest - _MARK - 1].rstrip('_')}_{mark}"
    return name + end
