from __future__ import annotations

from agent_cli.memory.journal import Journal, Line


class Paper:
    """Journal lines as a file would keep them."""

    def __init__(self) -> None:
        self.lines: list[Line] = []

    def journal(self) -> Journal:
        """The journal of a program that starts now, whatever became of the one before."""
        return Journal(list(self.lines), self.lines.append)


def test_the_line_is_written_before_the_call_can_run() -> None:
    paper = Paper()
    key = paper.journal().begin("turn", "write a", "c1")
    assert [(line["event"], line["key"]) for line in paper.lines] == [("begin", key)]


def test_the_key_is_made_of_turn_signature_and_ordinal() -> None:
    journal = Journal()
    first = journal.begin("turn", "write a", "c1")
    assert journal.begin("turn", "write a", "c2") != first
    assert journal.begin("turn", "write b", "c3") != first
    assert journal.begin("next", "write a", "c4") != first
    assert Journal().begin("turn", "write a", "other id") == first


def test_a_call_whose_end_is_known_may_be_repeated() -> None:
    journal = Journal()
    journal.finish(journal.begin("turn", "write a", "c1"), known=True)
    assert not journal.outcome_unknown("write a")


def test_a_timeout_with_unknown_effect_must_be_verified_first() -> None:
    journal = Journal()
    journal.finish(journal.begin("turn", "write a", "c1"), known=False)
    assert journal.outcome_unknown("write a")
    assert not journal.outcome_unknown("write b")
    journal.verified()
    assert not journal.outcome_unknown("write a")


def test_g50_a_call_that_was_running_when_the_program_was_killed_is_in_doubt() -> None:
    paper = Paper()
    journal = paper.journal()
    journal.finish(journal.begin("turn", "write a", "c1"), known=True)
    journal.begin("turn", "write b", "c2")
    after = paper.journal()
    assert after.unknown() == ("write b",)
    after.verified()
    assert paper.journal().unknown() == ()


def test_a_call_that_ended_but_whose_result_was_not_stored_is_in_doubt() -> None:
    paper = Paper()
    journal = paper.journal()
    journal.finish(journal.begin("turn", "write a", "c1"), known=True)
    journal.finish(journal.begin("turn", "write b", "c2"), known=True)
    assert Journal(list(paper.lines), paper.lines.append, ["c2", "a read"]).unknown() == ("write b",)
    assert paper.journal().unknown() == ("write b",)


def test_a_call_that_still_runs_when_its_turn_ends_is_in_doubt() -> None:
    journal = Journal()
    journal.begin("turn", "write a", "c1")
    assert not journal.outcome_unknown("write a")
    journal.abandon()
    assert journal.outcome_unknown("write a")


def test_the_users_word_counts_only_after_a_refusal_and_the_end_of_its_turn() -> None:
    """A resumed session begins with a user message: that alone settles nothing."""
    journal = Journal()
    journal.finish(journal.begin("turn", "write a", "c1"), known=False)
    journal.user_spoke()
    assert journal.outcome_unknown("write a")
    journal.refused("write a")
    journal.user_spoke()
    assert journal.outcome_unknown("write a"), "the turn runs: the user was not told yet"
    journal.abandon()
    assert journal.outcome_unknown("write a")
    journal.user_spoke()
    assert not journal.outcome_unknown("write a")


def test_a_refusal_does_not_settle_another_call() -> None:
    journal = Journal()
    for signature in ("write a", "write b"):
        journal.finish(journal.begin("turn", signature, "c"), known=False)
    journal.refused("write a")
    journal.abandon()
    journal.user_spoke()
    assert journal.unknown() == ("write b",)


def test_refusing_what_is_not_in_doubt_writes_nothing() -> None:
    paper = Paper()
    journal = paper.journal()
    journal.refused("write a")
    journal.verified()
    journal.user_spoke()
    assert paper.lines == []


def test_every_state_survives_a_restart() -> None:
    paper = Paper()
    journal = paper.journal()
    journal.finish(journal.begin("turn", "write a", "c1"), known=False)
    assert paper.journal().unknown() == ("write a",)
    journal.refused("write a")
    journal.abandon()
    again = paper.journal()
    assert again.unknown() == ("write a",)
    again.user_spoke()
    assert paper.journal().unknown() == ()


def test_a_refusal_in_a_turn_that_was_killed_told_nobody_anything() -> None:
    paper = Paper()
    journal = paper.journal()
    journal.finish(journal.begin("turn", "write a", "c1"), known=False)
    journal.refused("write a")
    again = paper.journal()
    again.user_spoke()
    assert again.unknown() == ("write a",)


def test_damaged_lines_are_passed_over() -> None:
    journal = Journal([{}, {"event": "finish"}, {"event": "begin"}, {"event": "later version"}])
    assert journal.unknown() == ("",)
