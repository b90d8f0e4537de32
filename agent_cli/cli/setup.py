"""``agent-cli setup``: from nothing to a model that answers, asked step by step."""

from __future__ import annotations

import asyncio
import getpass
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from agent_cli.cli.command import Grammar, read_command
from agent_cli.cli.config_file import save_values
from agent_cli.errors import AgentCliError, ConfigError, ModelError
from agent_cli.messages import UserMessage
from agent_cli.models.base import Completed
from agent_cli.models.catalog import Provider, presets
from agent_cli.models.openai_chat import OpenAIChatModel
from agent_cli.settings import HOME_VARIABLE, Secret, Settings, load, places
from agent_cli.settings.table import BY_NAME, OURS
from agent_cli.text import Catalog
from agent_cli.text.sanitize import one_line

GRAMMAR = Grammar("setup")
LOCAL = ("ollama", "lmstudio", "llamacpp", "vllm")
_PROBE_SECONDS = 0.5
_OFFERED = 30
_ASK = "Answer with the single word: ready"


@dataclass(frozen=True, slots=True)
class Person:
    """Whom the questions go to. ``hidden`` asks without showing what is typed."""

    ask: Callable[[str], str]
    hidden: Callable[[str], str]
    show: Callable[[str], None]

    def choose(self, names: Sequence[str], prompt: str) -> int:
        """The index of one of the names; the first on an empty answer."""
        for number, name in enumerate(names, 1):
            self.show(f"{number:>3}  {one_line(name)}")
        while True:
            answer = self.ask(f"{prompt} 1-{len(names)} [1] ").strip() or "1"
            if answer.isdecimal() and 1 <= int(answer) <= len(names):
                return int(answer) - 1


def run_setup(argv: Sequence[str], catalog: Catalog, environ: Mapping[str, str], folder: Path) -> int:
    """Raises ``ConfigError`` when nobody can be asked; what a service says is told and asked anew."""
    read_command(GRAMMAR, argv, catalog)
    if not sys.stdin.isatty():
        raise ConfigError(catalog("setup.needs_person"))
    person = Person(input, getpass.getpass, print)

    async def ask() -> int:
        signal.signal(signal.SIGINT, signal.default_int_handler)  # asyncio's would not reach into input()
        return await Setup(person, catalog, environ, folder).run()

    return asyncio.run(ask())


def ask_apart(say: Catalog, environ: Mapping[str, str]) -> bool:
    """The same questions in a program of its own on this terminal, so that Ctrl+C ends them alone; whether
    a model was chosen."""
    ourselves = sys.orig_argv[1 : len(sys.orig_argv) - len(sys.argv) + 1]
    asking = [sys.executable, *ourselves, "setup", "--lang", say.language]
    return subprocess.run(asking, env=environ, check=False).returncode == 0


def with_stored_model(settings: Settings, environ: Mapping[str, str]) -> Settings:
    """The settings with the model that ``config.toml`` alone names, whatever else named another: it is
    what was chosen last. Raises ``ConfigError``."""
    others = {name: text for name, text in environ.items() if not name.startswith(OURS)}
    folder = settings.config_file.parent
    stored = load({}, {**others, HOME_VARIABLE: environ.get(HOME_VARIABLE, "")}, folder)
    names = ("base_url", "api_key", "model", "provider", "keys", "origins")
    return replace(settings, local="", **{name: getattr(stored, name) for name in names})


@dataclass(frozen=True, slots=True)
class _Choice:
    """What was chosen so far."""

    provider: Provider
    base_url: str
    key: Secret | None = None
    key_from: str = ""
    model: str = ""

    def connect(self) -> OpenAIChatModel:
        return OpenAIChatModel(
            base_url=self.base_url,
            api_key=self.key.reveal() if self.key else "",
            model=self.model or "-",
            key_source=self.key_from or "LLM_API_KEY",
        )


class Setup:
    """One walk through the questions."""

    def __init__(self, person: Person, catalog: Catalog, environ: Mapping[str, str], folder: Path) -> None:
        self._person = person
        self._say = catalog
        self._environ = environ
        self._folder = folder

    async def run(self) -> int:
        """0 once a model has answered and the settings are stored."""
        choice = self._with_key(self._with_address(await self._providers()))
        while True:
            try:
                choice = await self._with_model(choice)
                break
            except AgentCliError as error:
                self._person.show(one_line(str(error)))
                if not self._again():
                    return 1
                choice = self._with_key(self._with_address(choice.provider))
        self._store(choice)
        return 0

    def _again(self) -> bool:
        return self._person.ask(self._say("setup.again")).strip().lower() not in {"n", "no", "q", "否"}

    async def _providers(self) -> Provider:
        found = [presets[name] for name in LOCAL if await _listens(presets[name])]
        others = [provider for provider in presets.values() if provider not in found]
        names = [f"{provider.title} ({self._say('setup.running')})" for provider in found]
        names += [provider.title for provider in others] + [self._say("setup.other")]
        chosen = self._person.choose(names, self._say("setup.which_provider"))
        known = [*found, *others]
        return known[chosen] if chosen < len(known) else Provider("", "", "")

    def _with_address(self, provider: Provider) -> _Choice:
        if provider.base_url and "{" not in provider.base_url:
            return _Choice(provider, provider.base_url)
        hint = f" ({provider.base_url})" if provider.base_url else ""
        while True:
            typed = self._person.ask(self._say("setup.address", hint=hint)).strip()
            try:
                return _Choice(provider, str(BY_NAME["base_url"].parse(typed)))
            except ValueError as error:
                self._person.show(str(error))

    def _with_key(self, choice: _Choice) -> _Choice:
        variable = choice.provider.key_variable
        found = self._environ.get(variable, "").strip() if variable else ""
        if found and Secret.fits(found):
            self._person.show(self._say("setup.key_found", variable=variable))
            return replace(choice, key=Secret(found), key_from=variable)
        if choice.provider.name in LOCAL:
            return choice
        while True:
            typed = self._person.hidden(self._say("setup.key")).strip()
            try:
                return replace(choice, key=Secret(typed) if typed else None)
            except ValueError as error:
                self._person.show(str(error))

    async def _with_model(self, choice: _Choice) -> _Choice:
        """Chooses a model and lets it answer. Raises ``ModelError`` and ``ConfigError``."""
        names = await self._models(choice)
        if names:
            preferred = choice.provider.model
            ordered = sorted(names, key=lambda name: name != preferred)[:_OFFERED]
            model = ordered[self._person.choose(ordered, self._say("setup.which_model"))]
        else:
            model = self._person.ask(self._say("setup.model")).strip() or choice.provider.model
        choice = replace(choice, model=model)
        await self._try(choice)
        return choice

    async def _models(self, choice: _Choice) -> list[str]:
        connection = choice.connect()
        try:
            return await connection.list_models()
        except ModelError as error:
            if error.kind in {"not_found", "not_an_api", "bad_request"}:
                return []
            raise
        finally:
            await connection.aclose()

    async def _try(self, choice: _Choice) -> None:
        self._person.show(self._say("setup.trying", model=choice.model))
        connection = choice.connect()
        try:
            async for part in connection.stream([UserMessage(_ASK)], ()):
                if isinstance(part, Completed):
                    said = one_line(part.message.content or "…", 200)
                    self._person.show(self._say("setup.answered", model=choice.model, text=said))
        finally:
            await connection.aclose()

    def _store(self, choice: _Choice) -> None:
        values = {"model": choice.model}
        if choice.provider.name and choice.base_url == choice.provider.base_url:
            values["provider"] = choice.provider.name
        else:
            values["base_url"] = choice.base_url
        if choice.key and not (choice.key_from and "provider" in values):
            values["api_key"] = choice.key.reveal()
        path = places(self._environ, self._folder)[1]
        save_values(path, values, unset={"provider", "base_url", "api_key"} - set(values))
        self._person.show(self._say("setup.stored", path=path))


async def _listens(provider: Provider) -> bool:
    host, _, port = provider.host.partition(":")
    try:
        async with asyncio.timeout(_PROBE_SECONDS):
            _, writer = await asyncio.open_connection(host, int(port))
    except OSError:
        return False
    writer.close()
    return True
