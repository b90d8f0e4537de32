from __future__ import annotations

import json

from hypothesis import given

from agent_cli.memory.context import context_use
from agent_cli.memory.export import to_json, to_markdown
from agent_cli.memory.message_json import message_from_json
from agent_cli.memory.trimming import NOTHING_CUT, fit
from agent_cli.messages import AssistantMessage, Message, ToolCall, ToolMessage, UserMessage
from agent_cli.tokens import TokenEstimator
from tests.memory.histories import valid_histories

TALK: list[Message] = [
    UserMessage("What is in a.md?"),
    AssistantMessage("I look.", (ToolCall("a", "read_file", '{"path": "a.md"}'),), "it is a file"),
    ToolMessage("a", "```\ncode\n```", "read_file"),
    AssistantMessage("Some code.", partial="wrap_up"),
]


def test_markdown_for_people() -> None:
    assert (
        to_markdown(TALK, "my\ntalk")
        == """\
# my talk

## User

What is in a.md?

## Assistant

<details><summary>Reasoning</summary>

```
it is a file
```

</details>

I look.

**read_file** called with:

```json
{"path": "a.md"}
```

**read_file** result:

````
```
code
```
````

## Assistant (partial: wrap_up)

Some code.
"""
    )


@given(valid_histories())
def test_json_for_programs_holds_everything(messages: list[Message]) -> None:
    data = json.loads(to_json(messages, session_id="x", name="y"))
    assert [message_from_json(message) for message in data["messages"]] == messages
    assert data["wire"] == [message.to_wire() for message in messages]


@given(valid_histories())
def test_what_fills_the_window_adds_up(messages: list[Message]) -> None:
    use = context_use(messages, cut=NOTHING_CUT, estimator=TokenEstimator(), window=1_000, system="s" * 400)
    assert use.tokens == sum(use.by_kind.values())
    assert use.by_kind["system"] >= 100
    sizes = [item.tokens for item in use.largest]
    assert sizes == sorted(sizes, reverse=True)


def test_the_largest_items_come_first_and_what_is_not_sent_is_told() -> None:
    messages = [*TALK, ToolMessage("b", "x" * 9_000, "run_shell")]
    use = context_use(messages, cut=NOTHING_CUT, estimator=TokenEstimator(), window=None, tools="t" * 4_000)
    assert [(item.kind, item.what) for item in use.largest[:2]] == [
        ("results", "run_shell"),
        ("tools", "tool schemas"),
    ]
    assert use.left_out == 0
    many = TALK * 20
    cut = fit(many, window=200, estimator=TokenEstimator()).cut
    assert context_use(many, cut=cut, estimator=TokenEstimator(), window=200).left_out == len(cut.dropped)
