"""A server of the handshake's time, without the SDK: starts in no time, and does what its argument says.

``strict`` ends when the first message is no ``initialize``; ``silent`` never answers; ``mute`` ends at once.
``pages`` lists its tools one by one; ``garbage`` writes lines that are no messages in between; ``grows``
offers another tool after each call. ``stubborn`` and a child of it ignore the end of their input and signals.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from typing import Any


class Legacy:
    """What it answers to each request."""

    def __init__(self, mode: str = "plain") -> None:
        self.mode = mode
        self.names = ["one", "two", "three"]

    def answer(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        if method == "initialize":
            about = {"name": "legacy", "version": "1"}
            version = params["protocolVersion"]
            return {
                "result": {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": about}
            }
        if method == "tools/list":
            return {"result": self.tools(int(params.get("cursor") or 0))}
        if method == "tools/call" and params["name"] == "three":
            return {"error": {"code": -32602, "message": "three takes no arguments", "data": {"got": 1}}}
        if method == "tools/call":
            return {"result": {"content": [{"type": "text", "text": f"I am {params['name']}"}]}}
        return {"error": {"code": -32601, "message": f"no {method}"}}

    def tools(self, index: int) -> dict[str, Any]:
        if self.mode != "pages":
            return {"tools": list(map(tool, self.names))}
        more = {"nextCursor": str(index + 1)} if index + 1 < len(self.names) else {}
        return {"tools": [tool(self.names[index])], **more}


def tool(name: str) -> dict[str, Any]:
    return {"name": name, "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}}


def say(message: dict[str, Any]) -> None:
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def main(mode: str) -> None:
    if mode == "mute":
        sys.exit("legacy: no licence found")
    if mode == "stubborn":
        for unheard in (signal.SIGINT, signal.SIGTERM):
            signal.signal(unheard, signal.SIG_IGN)
        os.fork()
        time.sleep(600)
    legacy = Legacy(mode)
    for number, line in enumerate(sys.stdin):
        message = json.loads(line)
        if mode == "strict" and number == 0 and message["method"] != "initialize":
            sys.exit("legacy: expected initialize")
        if mode == "garbage":
            print("this is no message", flush=True)
        if mode == "grows" and message["method"] == "tools/call":
            legacy.names.append(f"more{len(legacy.names)}")
            say({"method": "notifications/tools/list_changed"})
        if "id" in message and mode != "silent":
            say({"id": message["id"], **legacy.answer(message["method"], message.get("params") or {})})


if __name__ == "__main__":
    main(sys.argv[1])
