"""CPU cost of an answer that streams, against re-rendering it at each frame.

One token is four characters; 50 tokens a second and 10 frames a second make 5 tokens a frame. ``naive``
renders all the text so far at each frame, as ``Live(Markdown(text))`` does; it is sampled at every n-th
frame and scaled. Times are CPU seconds of one process: trust the ratios of one run, not the digits.
"""

from __future__ import annotations

import io
import time
from collections.abc import Iterator

from rich.console import Console
from rich.markdown import Markdown

from agent_cli.terminal.markdown_stream import MarkdownStream
from tests.benchmarks.rows import Row

WIDTH, TAIL_ROWS = 80, 12
TOKENS_PER_FRAME, CHARACTERS_PER_TOKEN = 5, 4
_SECTION = """## Section {number}

A paragraph of prose with **bold** words, `code` and a [link](http://example.org/{number}), which goes on
for a few lines like the paragraphs that models write when they explain what they have found out.

- first point of section {number}
- second point, with *emphasis*
  - and a nested one

```python
def function_{number}(value: int) -> str:
    \"\"\"Say it.\"\"\"
    return f"{{value}} of {number}"
```

| name | value |
|------|-------|
| a{number} | 1 |
| b{number} | 2 |

"""
SHAPES = {
    "mixed": _SECTION,
    "one fence": "    value_{number} = compute({number}, 'text')  # line {number}\n",
    "one list": "{number}. item number {number} with **some** words in it\n",
    "one paragraph": "sentence {number} of a paragraph that does not end. ",
    "one quote": "> line {number} of a quote\n>\n",
}


def answer(shape: str, tokens: int) -> str:
    """A text of ``tokens`` tokens."""
    length = tokens * CHARACTERS_PER_TOKEN
    text = "```python\n" if shape == "one fence" else ""
    number = 0
    while len(text) < length:
        number += 1
        text += SHAPES[shape].format(number=number)
    return text[:length]


def frames(text: str) -> Iterator[str]:
    size = TOKENS_PER_FRAME * CHARACTERS_PER_TOKEN
    return (text[start : start + size] for start in range(0, len(text), size))


def streamed(text: str) -> tuple[float, int]:
    """CPU seconds of all frames, tails included, and the bytes of the committed lines."""
    started = time.process_time()
    stream = MarkdownStream(WIDTH, str)
    size = 0
    for piece in frames(text):
        stream.append(piece)
        size += sum(len(line.encode()) + 1 for line in stream.commit())
        stream.tail(TAIL_ROWS)
    size += sum(len(line.encode()) + 1 for line in stream.finish())
    return time.process_time() - started, size


def once(text: str) -> float:
    """CPU seconds of rendering the finished text one time."""
    console = Console(file=io.StringIO(), force_terminal=True, width=WIDTH)
    started = time.process_time()
    console.print(Markdown(text))
    return time.process_time() - started


def naive(text: str, samples: int) -> float:
    """CPU seconds of rendering all the text so far at each frame, from ``samples`` frames."""
    count = len(list(frames(text)))
    size = TOKENS_PER_FRAME * CHARACTERS_PER_TOKEN
    picked = [round((index + 0.5) * count / samples) for index in range(samples)]
    return sum(once(text[: frame * size]) for frame in picked) * count / samples


def measure(short: bool) -> list[Row]:
    few, many, samples = (20, 40, 1) if short else (1_000, 20_000, 5)
    streamed(answer("mixed", 500))  # imports
    return [row for shape in SHAPES for row in _rows(shape, few, many, samples)]


def _rows(shape: str, few: int, many: int, samples: int) -> list[Row]:
    small, large = answer(shape, few), answer(shape, many)
    fast = min(streamed(small)[0] for _ in range(3))
    spent, size = streamed(large)
    what = f"{shape}, {many} tokens"
    a_token = (1000 * spent / many, 1000 * fast / few)
    return [
        Row(f"{what}, streamed", "s CPU", spent, naive(large, samples), "naive, sampled"),
        Row(f"{what}, streamed", "s CPU", spent, once(large), "rendered once"),
        Row(f"{what}, each", "ms CPU", *a_token, f"each of {few}", 1.5),
        Row(f"{what}, bytes a character", "bytes", size / len(large)),
    ]
