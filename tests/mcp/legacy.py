"""A server of the handshake's time, without the SDK: starts in no time, and does what its argument says.

``strict`` ends when the first message is no ``initialize``; ``silent`` never answers; ``mute`` ends at once.
``pages`` lists its tools one by one; ``garbage`` writes lines that are no messages in between; ``grows``
offers another tool after each call.
"""

from __future__ import annotations

import json
import sys
from typing import Any

MODE = sys.argv[1]
NAMES = ["one", "two", "three"]


def tools(cursor: str | None) -> dict[str, Any]:
    if MODE != "pages":
        return {"tools": [tool(name) for name in NAMES]}
    index = int(cursor or 0)
    more = {"nextCursor": str(index + 1)} if index + 1 < len(NAMES) else {}
    return {"tools": [tool(NAMES[index])], **more}


def tool(name: str) -> dict[str, Any]:
    return {"name": name, "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}}


def answer(method: str, params: dict[str, Any]) -> dict[str, Any]:
    if method == "initialize":
        about = {"name": "legacy", "version": "1"}
        version = params["protocolVersion"]
        return {"result": {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": about}}
    if method == "tools/list":
        return {"result": tools(params.get("cursor"))}
    if method == "tools/call" and params["name"] == "three":
        return {"error": {"code": -32602, "message": "three takes no arguments", "data": {"got": 1}}}
    if method == "tools/call":
        return {"result": {"content": [{"type": "text", "text": f"I am {params['name']}"}]}}
    return {"error": {"code": -32601, "message": f"no {method}"}}


def main() -> None:
    if MODE == "mute":
        sys.exit("legacy: no licence found")
    first = True
    for line in sys.stdin:
        message = json.loads(line)
        if MODE == "strict" and first and message["method"] != "initialize":
            sys.exit("legacy: expected initialize")
        first = False
        if MODE == "garbage":
            print("this is no message", flush=True)
        if MODE == "grows" and message["method"] == "tools/call":
            NAMES.append(f"more{len(NAMES)}")
            print('{"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}', flush=True)
        if "id" in message and MODE != "silent":
            reply = answer(message["method"], message.get("params") or {})
            print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **reply}), flush=True)


if __name__ == "__main__":
    main()
