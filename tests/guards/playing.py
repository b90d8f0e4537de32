"""Shared by the tests of the guards: traces of calls, played as the loop plays them."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import dataclass, replace

from agent_cli.guards.base import CallFacts, Effect, Meters, ResultFacts, Verdict
from agent_cli.guards.fingerprint import call_signature, echoed_arguments, result_fingerprint
from agent_cli.guards.turn import SessionGuards, TurnGuards
from agent_cli.limits import Limits

NOW = 1_000.0


@dataclass(frozen=True)
class Call:
    """A call that the model makes and the result that it would have."""

    name: str
    argument: str = ""
    result: str = "ok"
    ok: bool = True
    kind: str = ""
    effect: Effect = "read"
    exit_code: int | None = None
    changed: tuple[str, ...] = ()
    poll: bool = False
    known: bool = True
    backend: str = ""
    target: str | None = None
    denied: bool = False
    words: str = ""

    def facts(self, step: int = 1) -> CallFacts:
        arguments = {"argument": self.argument}
        return CallFacts(
            name=self.name,
            signature=call_signature(self.name, arguments),
            target=self.argument if self.target is None else self.target,
            arguments=f'{{"argument": "{self.argument}"}}',
            effect=self.effect,
            poll=self.poll,
            known=self.known,
            backend=self.backend,
            step=step,
        )

    def outcome(self, step: int = 1) -> ResultFacts:
        echoed = echoed_arguments({"argument": self.argument}, self.exit_code)
        return ResultFacts(
            call=self.facts(step),
            ok=self.ok and not self.denied,
            fingerprint=result_fingerprint(self.result, (), echoed),
            content=self.result,
            kind="" if self.ok else self.kind,
            executed=self.known and not self.denied,
            exit_code=self.exit_code,
            changed=self.changed,
            cause="denied" if self.denied else "",
            words=self.words,
        )


def read(argument: str, result: str | None = None, name: str = "read") -> Call:
    return Call(name, argument, f"content of {argument}" if result is None else result)


def write(argument: str, result: str = "written", name: str = "write") -> Call:
    return Call(name, argument, result, effect="write", changed=(argument,))


def failing(
    argument: str, result: str | None = None, kind: str = "not_found", name: str = "get", **facts: str
) -> Call:
    text = f"no {argument}" if result is None else result
    return Call(name, argument, text, ok=False, kind=kind, target=facts.get("target"))


def command(line: str, output: str = "(no output)", exit_code: int = 0) -> Call:
    text = f"exit code {exit_code}\n{output}"
    return Call("run_shell", line, text, effect="write", exit_code=exit_code)


def poll(argument: str, result: str) -> Call:
    return Call("status", argument, result, poll=True)


def unknown(argument: str = "", name: str = "add") -> Call:
    return Call(name, argument, f"no tool {name}", ok=False, kind="unknown_tool", known=False)


@dataclass(frozen=True)
class Step:
    """One reply of the model: its text and its calls."""

    calls: tuple[Call, ...]
    text: str = ""


def steps(*calls: Call, text: str = "") -> list[Step]:
    """One step for each call."""
    return [Step((call,), text) for call in calls]


def batch(*calls: Call, text: str = "") -> list[Step]:
    """One step with all calls."""
    return [Step(calls, text)]


@dataclass(frozen=True)
class Happened:
    """What became of one call, counted from 1: ``run``, ``refuse`` or ``stop``, and who spoke."""

    number: int
    what: str
    notes: tuple[Verdict, ...] = ()
    verdict: Verdict | None = None
    executed: bool = False

    def __str__(self) -> str:
        speakers = [f"note:{note.guard}" for note in self.notes]
        held = [f"{self.what}:{self.verdict.guard}"] if self.verdict else []
        return f"{self.number} {' '.join([*held, *speakers]) or self.what}"


class Player:
    """Plays traces against the guards of one turn, as the loop does."""

    def __init__(self, limits: Limits | None = None, session: SessionGuards | None = None) -> None:
        self.limits = limits or Limits()
        self.guards = TurnGuards(session)
        self.now = NOW
        self.step = 0
        self.happened: list[Happened] = []
        self.ended: Verdict | None = None
        """The stop that came before a step, if one did."""

    def play(self, trace: Sequence[Step]) -> list[Happened]:
        """Everything that happened until a guard ended the turn."""
        for step in trace:
            if self.stopped:
                break
            self.ended = self.guards.before_step(Meters(self.limits))
            if self.ended:
                break
            self._play(step)
        return self.happened

    @property
    def stopped(self) -> Verdict | None:
        last = self.happened[-1] if self.happened else None
        return last.verdict if last and last.what == "stop" else self.ended

    @property
    def spoken(self) -> list[str]:
        """Each call at which a guard spoke, e.g. ``3 refuse:replay``."""
        return [str(one) for one in self.happened if one.notes or one.verdict]

    @property
    def executed(self) -> int:
        return sum(one.executed for one in self.happened)

    def _play(self, step: Step) -> None:
        self.step += 1
        self.guards.record_step()
        self.guards.record_reply(step.text, [call.facts(self.step) for call in step.calls])
        for call in step.calls:
            if not self.stopped:
                self.happened.append(self._call(call))

    def _call(self, call: Call) -> Happened:
        number, facts = len(self.happened) + 1, call.facts(self.step)
        held = self.ask(facts)
        if held:
            result = replace(call.outcome(self.step), executed=False, cause="refused", ok=False, kind="")
        else:
            self.guards.record_call(facts, self.limits, self.now)
            result = call.outcome(self.step)
        verdicts = self.record(result)
        if held and held.action == "stop":
            again = self.ask(facts)
            assert again is not None
            assert again.action == "stop"
            return Happened(number, "stop", (), held)
        notes = tuple(verdict for verdict in verdicts if verdict.action == "note")
        stop = next((verdict for verdict in verdicts if verdict.action == "stop"), None)
        if stop:
            return Happened(number, "stop", notes, stop, executed=not held)
        return Happened(number, "refuse" if held else "run", notes, held, executed=not held)

    def ask(self, facts: CallFacts) -> Verdict | None:
        """What the guards say before a call; asserts that asking changes nothing."""
        before = pickle.dumps(self.guards)
        verdict = self.guards.before_call(facts, self.limits, self.now)
        self.guards.poll_wait(facts)
        self.guards.counters(Meters(self.limits))
        assert pickle.dumps(self.guards) == before
        return verdict

    def record(self, result: ResultFacts) -> list[Verdict]:
        """What the guards say after a result; asserts that asking changes nothing."""
        self.guards.record_result(result, self.limits, self.now)
        before = pickle.dumps(self.guards)
        verdicts = self.guards.after_result(result, self.limits)
        assert pickle.dumps(self.guards) == before
        for verdict in verdicts:
            if verdict.action == "note":
                self.guards.record_noted(verdict)
        return verdicts
