"""While a turn runs: what moves, what waits, what an interruption gives back."""

from __future__ import annotations

import re
import threading

import pytest

from agent_cli.errors import ModelError
from agent_cli.messages import AssistantMessage
from agent_cli.models.base import Completed
from agent_cli.models.scripted import Stream
from tests.terminal.stage import Stage


async def test_a_message_typed_during_a_turn_waits_and_is_sent_when_it_ends() -> None:
    async with Stage() as stage:
        stage.type("nap 0.3\r")
        await stage.until("napping")
        stage.type("say second\r")
        await stage.until("queued: say second")
        await stage.until(lambda: len(stage.agent.history) == 2)
        await stage.idle()
        rows = stage.transcript()
        assert rows.index("› say second") > rows.index("The result was: slept well")
        assert "queued" not in stage.text()


async def test_up_takes_the_newest_queued_message_back() -> None:
    async with Stage() as stage:
        stage.type("nap 0.4\r")
        await stage.until("napping")
        stage.type("one\rtwo\r")
        await stage.until("queued: two")
        stage.type("\x1b[A")
        await stage.until(lambda: "queued: two" not in stage.text())
        assert stage.view.entry.text == "two"
        assert list(stage.chat.queue) == ["one"]


async def test_an_interrupt_returns_queued_messages_to_the_line_before_the_draft() -> None:
    async with Stage() as stage:
        stage.type("stall\r")
        await stage.until("third")
        stage.type("one\rtwo\rdraft")
        await stage.until("› draft")
        stage.type("\x03")
        await stage.until("interrupted")
        await stage.idle()
        assert stage.view.entry.text == "one\ntwo\ndraft"
        assert len(stage.agent.history) == 1


@pytest.mark.parametrize("key", ["\x03", "\x1b"], ids=["ctrl-c", "escape"])
async def test_a_turn_stopped_before_any_reply_gives_its_text_back(key: str) -> None:
    async with Stage() as stage:
        stage.type("hang on\r")
        await stage.until("waiting for the model")
        stage.type(key)
        await stage.until("interrupted")
        await stage.idle()
        assert stage.view.entry.text == "hang on"


async def test_a_turn_stopped_after_a_reply_began_keeps_the_partial_text_in_the_history() -> None:
    async with Stage() as stage:
        stage.type("stall\r")
        await stage.until("third")
        stage.type("\x03")
        await stage.until("interrupted")
        await stage.idle()
        assert stage.view.entry.text == ""
        assert "first second third" in stage.agent.messages[-1]["content"]
        assert "first second third" in stage.transcript()


async def test_alt_and_a_letter_during_a_turn_moves_the_cursor_and_stops_nothing() -> None:
    async with Stage() as stage:
        stage.type("nap 0.3\r")
        await stage.until("napping")
        stage.type("two words\x1bb\x1bbx ")
        await stage.until("› x two words")
        await stage.until("The result was: slept well")


async def test_the_seconds_of_a_retry_count_down_on_one_row_which_then_goes_away() -> None:
    async with Stage([ModelError("rate_limited", "429", transient=True, wait=2), "made it"]) as stage:
        stage.type("go\r")
        seen = set()
        while not stage.agent.history:
            seen |= set(re.findall(r"rate limited · attempt 2/4 · (\d)s · Ctrl\+C stops", stage.text()))
            assert stage.text().count("rate limited") <= 1
            await stage.frames(1)
        await stage.idle()
        assert {"1", "2"} <= seen
        assert "rate limited" not in "\n".join(stage.transcript())
        assert "1 retry" in stage.text()


async def test_ctrl_c_during_a_retry_sends_no_further_request() -> None:
    async with Stage([ModelError("rate_limited", "429", transient=True, wait=20), "never"]) as stage:
        stage.type("go\r")
        await stage.until("attempt 2/4")
        stage.type("\x03")
        await stage.until("interrupted")
        assert len(stage.model.requests) == 1


async def test_a_stall_says_for_how_long_nothing_came() -> None:
    async with Stage() as stage:
        stage.type("stall\r")
        await stage.until("third")
        stage.clock.advance(7)
        await stage.until("nothing came for 7s")


async def test_a_running_tool_shows_its_time_and_its_last_line_of_output() -> None:
    async with Stage() as stage:
        stage.type("nap 0.5\r")
        await stage.until("napping")
        stage.clock.advance(5)
        await stage.until(lambda: bool(re.search(r"nap\(.*\) · 5s · napping 0.5 seconds", stage.text())))


async def test_reasoning_is_one_line_until_it_is_unfolded() -> None:
    long = "First I look at it from the left. " * 10
    async with Stage([AssistantMessage("Done.", reasoning=long)]) as stage:
        await stage.ask("go")
        assert sum("I look at it" in row for row in stage.transcript()) == 1
        stage.type("\x0f")
        await stage.until("detail on")
        assert sum("I look at it" in row for row in stage.transcript()) > 3


async def test_results_are_folded_to_a_few_lines_and_unfold_with_ctrl_o() -> None:
    async with Stage(rows=40) as stage:
        await stage.ask("look x")
        assert "6 more lines" in stage.text()
        before = "\n".join(stage.transcript()).count("x line 9")
        stage.type("\x0f")
        await stage.until("detail on")
        assert "\n".join(stage.transcript()).count("x line 9") == before + 1
        await stage.ask("look y")
        assert "  y line 9 · " in stage.text()
        stage.type("\x0f")
        await stage.until("detail off")


async def test_a_failure_before_anything_was_done_is_told_once() -> None:
    async with Stage() as stage:
        await stage.ask("dead")
        assert stage.text().count("401: the key was refused.") == 1
        assert "✗ failed: 401: the key was refused." in stage.text()


async def test_results_are_summed_up_when_no_model_is_left_to_do_it() -> None:
    async with Stage([("look", {"path": "x"}), ModelError("auth", "401: refused.")]) as stage:
        await stage.ask("go")
        assert "The work stopped before it was finished" in stage.text()
        assert "✗ failed: 401: refused." in stage.text()


async def test_a_failing_command_of_the_shell_tells_its_exit_code_and_sends_nothing() -> None:
    async with Stage() as stage:
        stage.type("!echo out; echo err >&2; exit 3\r")
        await stage.until("\nexit 3\n")
        rows = stage.transcript()
        assert {"out", "err"} <= set(rows)
        assert stage.agent.messages == []


async def test_shell_output_cannot_steer_the_screen() -> None:
    async with Stage() as stage:
        stage.type("!printf 'a\\033[2Jb\\n'\r")
        await stage.until("a␛[2Jb")


async def test_what_the_client_runs_into_while_loading_is_told_at_the_first_turn() -> None:
    def broken() -> None:
        raise RuntimeError("no client here")

    async with Stage(warm_up=broken) as stage:
        stage.type("hello\r")
        await stage.until("Unexpected RuntimeError: no client here")
        stage.type("/status\r")
        await stage.until("approval:")


async def test_a_question_typed_at_once_is_sent_when_the_client_is_there() -> None:
    loaded = threading.Event()
    async with Stage(warm_up=loaded.wait) as stage:
        stage.type("hello\r")
        await stage.until("loading the model client")
        assert stage.model.requests == []
        loaded.set()
        await stage.until("You said: hello")


async def test_ctrl_c_while_the_client_loads_gives_the_text_back() -> None:
    loaded = threading.Event()
    async with Stage(warm_up=loaded.wait) as stage:
        stage.type("hello\r")
        await stage.until("loading the model client")
        stage.type("\x03")
        await stage.until(lambda: stage.view.entry.text == "hello")
        loaded.set()
        stage.type("\r")
        await stage.until("You said: hello")


async def test_a_turn_stopped_in_its_very_first_moment_gives_its_text_back() -> None:
    async with Stage() as stage:
        stage.chat.submit("hello")
        assert stage.chat.interrupt()
        await stage.idle()
        assert stage.view.entry.text == "hello"
        await stage.ask(" again")
        assert stage.agent.messages[-1]["content"] == "You said: hello again"


async def test_an_answer_that_was_cut_and_continued_is_shown_in_one_piece() -> None:
    cut = Completed(AssistantMessage("The first half of a sentence that "), "length")
    script = [Stream([cut.message.content, cut]), "goes on to its end."]
    async with Stage(script) as stage:
        await stage.ask("go")
        assert "The first half of a sentence that goes on to its end." in stage.transcript()
        assert stage.agent.history[-1].steps == 2


async def test_a_step_after_text_and_a_call_has_its_header() -> None:
    async with Stage([["I look.", ("look", {"path": "x"})], "Seen."]) as stage:
        await stage.ask("go")
        rows = stage.transcript()
        assert rows.index("I look.") < rows.index("step 2/12") < rows.index("Seen.")


async def test_a_very_low_screen_still_shows_input_and_gauges() -> None:
    async with Stage(rows=5, columns=30) as stage:
        stage.type("nap 60\r")
        await stage.until("nap(seconds")
        stage.type("one\rtwo\rthree\rfour\r/li")
        await stage.frames(4)
        assert "too small" not in stage.text()
        assert "› /li" in stage.text()


async def test_escape_closes_the_menu_before_it_stops_the_turn() -> None:
    async with Stage() as stage:
        stage.type("nap 60\r")
        await stage.until("napping")
        stage.type("/li")
        await stage.until("/limits")
        stage.type("\x1b")
        await stage.until(lambda: "/limits" not in stage.text())
        assert stage.chat.busy
        stage.type("\x1b")
        await stage.until("interrupted")


async def test_rows_that_are_no_longer_needed_are_given_back() -> None:
    async with Stage() as stage:
        stage.type("/li")
        await stage.until("/limits")
        stage.type("\x03")
        await stage.until(lambda: "/limits" not in stage.text())
        rows = stage.text().rstrip("\n").split("\n")
        assert rows[-2:] == ["›", "scripted · steps 0/12 · 0/60k tok · 0s/120s · fails 0/6"]
