"""What is said when a turn ends before its answer: to the model, and without it. Source: GUARDS section 6."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from agent_cli.guards.base import ResultFacts, clip
from agent_cli.messages import AssistantMessage, Message, ToolMessage, UserMessage
from agent_cli.results import Status

LISTED = 12
_ONE_LINE = 160
_CLOSED = frozenset({"done", "completed"})


def wrap_up_prompt(status: Status, reason: str, todos: Sequence[Mapping[str, str]] = ()) -> str:
    """The last request of a stopped turn, for the model. Open ``todos`` are listed as not done."""
    open_items = [_title(todo) for todo in todos if todo.get("status") not in _CLOSED]
    listed = "".join(f"\n- {item}" for item in open_items)
    not_done = f"\nThese items are not done:{listed}" if listed else ""
    return (
        f"This turn ends here ({status}): {reason}. Tools are disabled now; do not call any. "
        "From what stands above and nothing else, tell the user briefly: what was found, what is done, "
        f"what is not done, and what to do next. Do not claim anything that no result shows.{not_done}"
    )


def flatten_exchanges(messages: Iterable[Message]) -> list[Message]:
    """The same conversation with its tool exchanges told as text: for servers that refuse calls and
    results in a request without tools. Neighbours of one role are merged."""
    flat: list[Message] = []
    for message in messages:
        told = _told(message)
        last = flat[-1] if flat else None
        if isinstance(told, UserMessage) and isinstance(last, UserMessage):
            flat[-1] = UserMessage(f"{last.content}\n\n{told.content}")
        elif isinstance(told, AssistantMessage) and isinstance(last, AssistantMessage):
            flat[-1] = AssistantMessage(f"{last.content}\n\n{told.content}")
        else:
            flat.append(told)
    return flat


def ledger_summary(results: Sequence[ResultFacts], reason: str, last_error: str = "") -> str:
    """A partial answer without a model: what was obtained, what was changed, what failed. Cannot fail."""
    got = [result for result in results if result.ok and not result.cause]
    failed = [result for result in results if result.failed]
    changed = dict.fromkeys(path for result in got for path in result.changed)
    sections = [f"The work stopped before it was finished: {_line(reason, 300) or 'no reason was given'}."]
    sections += _section("Results obtained", [f"{result.call}: {_outcome(result)}" for result in got])
    sections += _section("Files changed", list(changed))
    sections += _section("Failed", [f"{result.call}: {_outcome(result)}" for result in failed])
    if not got and not failed:
        sections.append("No tool result was obtained.")
    if last_error.strip():
        sections.append(f"Last error: {_line(last_error, 300)}")
    return "\n\n".join(sections)


def _told(message: Message) -> Message:
    if isinstance(message, ToolMessage):
        return UserMessage(f"[result of {message.name or 'a tool'}]\n{message.content}")
    if isinstance(message, AssistantMessage):
        calls = [f"[called {call.name} with {call.arguments}]" for call in message.tool_calls]
        return AssistantMessage("\n".join([message.content, *calls] if message.content else calls))
    return message


def _section(title: str, lines: Sequence[str]) -> list[str]:
    if not lines:
        return []
    more = len(lines) - LISTED
    shown = [f"… {more} more before these", *lines[-LISTED:]] if more > 0 else lines
    return ["\n".join([f"{title}:", *(f"- {line}" for line in shown)])]


def _outcome(result: ResultFacts) -> str:
    text = _line(result.content, _ONE_LINE) or "(no output)"
    if result.exit_code:
        return f"exit code {result.exit_code}: {text}"
    return f"{result.kind}: {text}" if result.kind else text


def _line(text: str, limit: int) -> str:
    return clip(" ".join(text.split()), limit).rstrip(".")


def _title(todo: Mapping[str, str]) -> str:
    for key in ("text", "content", "title", "task"):
        if todo.get(key):
            return _line(todo[key], _ONE_LINE)
    return _line(", ".join(todo.values()), _ONE_LINE)
