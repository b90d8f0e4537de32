"""Tools from MCP servers: their settings, their connections, and how they become tools of ours.

Only :mod:`agent_cli.mcp.connection` knows the SDK (the extra ``agent-cli[mcp]``); it is imported in a
thread of its own, and only once a server is to be started.
"""
