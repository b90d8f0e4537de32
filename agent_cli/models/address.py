"""Where an endpoint is and how one gets in: base URL and key, checked before anything is sent."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlsplit, urlunsplit

from agent_cli.errors import ConfigError

DEFAULT_BASE_URL = "https://api.openai.com/v1"
_AZURE = (".openai.azure.com", ".cognitiveservices.azure.com", ".services.ai.azure.com")


@dataclass(frozen=True)
class Address:
    """One endpoint. ``host`` is fit for people: no path, no credentials. Raises ``ConfigError``."""

    base_url: str
    host: str
    query: Mapping[str, str] = field(default_factory=dict)
    is_loopback: bool = False

    @classmethod
    def parse(cls, base_url: str | None) -> Address:
        text = (base_url or _environment("BASE_URL") or DEFAULT_BASE_URL).strip()
        if "://" not in text:
            raise ConfigError(
                f"The base URL {text!r} has no scheme.", f"Write http://{text} or https://{text}."
            )
        try:
            parts = urlsplit(text)
            port = parts.port
        except ValueError as error:
            raise ConfigError(f"The base URL {text!r} is not a URL ({error}).") from None
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ConfigError(f"The base URL {text!r} is not an http or https address.")
        path = parts.path.rstrip("/").removesuffix("/chat/completions")
        host = parts.hostname if port is None else f"{parts.hostname}:{port}"
        return cls(
            urlunsplit((parts.scheme, parts.netloc, path, "", "")),
            host,
            dict(parse_qsl(parts.query)),
            _is_loopback(parts.hostname),
        )

    def headers(self, key: str) -> dict[str, str]:
        """What an endpoint wants beside the usual: Azure's own key header."""
        return {"api-key": key} if key and self.host.split(":")[0].endswith(_AZURE) else {}


def checked_key(api_key: str | None, key_source: str, *, own_address: bool) -> str:
    """The key without the white space around it; empty if there is none. Raises ``ConfigError``.

    Without ``api_key`` the environment's is taken; ``OPENAI_API_KEY`` not for an address of the
    caller's own (``own_address``), which may belong to somebody else.
    """
    if api_key is None:
        api_key = os.environ.get("LLM_API_KEY", "") if own_address else _environment("API_KEY")
    key = api_key.strip()
    if not key.isascii() or not key.isprintable() or " " in key:
        found = (
            "a character that no key has" if key.isprintable() and " " not in key else "white space inside"
        )
        raise ConfigError(f"The key in {key_source} contains {found}.", "Copy it again, on one line.")
    return key


def named_model(model: str | None) -> str:
    name = (model or _environment("MODEL") or "").strip()
    if not name:
        raise ConfigError("No model is named.", "Set LLM_MODEL, or give --model.")
    return name


def _environment(name: str) -> str:
    return os.environ.get(f"LLM_{name}") or os.environ.get(f"OPENAI_{name}") or ""


def _is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
