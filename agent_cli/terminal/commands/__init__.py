"""The slash commands."""

from __future__ import annotations

from agent_cli.terminal.commands import context, conversation, info, limits, mcp, sessions, setup, turn, undo
from agent_cli.terminal.registry import Registry


def all_commands() -> Registry:
    """Every command, in the order of ``/help``."""
    return Registry(
        (
            turn.continue_,
            undo.retry,
            undo.undo,
            undo.redo,
            turn.guards,
            turn.why,
            limits.limits,
            limits.limit,
            setup.model,
            setup.setup,
            setup.tools,
            mcp.mcp,
            setup.approve,
            setup.system,
            setup.lang,
            setup.bell,
            conversation.history,
            context.context,
            context.compact,
            conversation.clear,
            conversation.todo,
            conversation.export,
            conversation.copy,
            sessions.sessions,
            sessions.resume,
            sessions.rename,
            sessions.runs,
            sessions.replay_,
            info.status,
            info.usage,
            info.help_,
            info.exit_,
        )
    )
