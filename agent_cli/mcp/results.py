"""What a call of an MCP tool brought back, as text. Nothing in it is followed, opened or run."""

from __future__ import annotations

import json

from mcp import types

from tools import ToolResult
from tools.base import Style


def as_result(result: types.CallToolResult) -> ToolResult:
    """Texts as they are, everything else named. A failure that the tool itself reports is ``internal``."""
    text = "\n\n".join(map(_as_text, result.content))
    if not text and result.structured_content is not None:
        text = json.dumps(result.structured_content, ensure_ascii=False)
    if result.is_error:
        return ToolResult.failed("internal", text or "The tool failed without saying why.")
    style: Style = "json" if text.lstrip()[:1] in {"{", "["} else "text"
    return ToolResult(True, text or "Done; the tool returned nothing.", style=style)


def _as_text(block: types.ContentBlock) -> str:
    match block:
        case types.TextContent():
            return block.text
        case types.ImageContent() | types.AudioContent():
            return f"[{block.type}, {block.mime_type}, {_size(block.data)}: it cannot be shown here]"
        case types.ResourceLink():
            return f"[resource {block.name}: {block.uri}]"
        case types.EmbeddedResource():
            resource = block.resource
            if isinstance(resource, types.TextResourceContents):
                return resource.text
            return f"[resource {resource.uri}, {_size(resource.blob)}: it cannot be shown here]"


def _size(encoded: str) -> str:
    """The size of what Base64 text stands for."""
    return f"{len(encoded) * 3 // 4:,} bytes"
