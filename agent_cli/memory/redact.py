"""Keeping secrets out of every file: known values wherever they occur, and what looks like a key."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote

_SECRET_NAME = re.compile(
    r"(?:^|_)(?:API_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|PWD_?HASH|CREDENTIALS?|AUTH|BEARER|COOKIE|"
    r"PRIVATE)(?:_|$)|(?:KEY|TOKEN|SECRET|PASSWORD)$",
    re.IGNORECASE,
)
_MIN_LENGTH = 8
"""Shorter values (``true``, ``1``, a user's name) would blank out ordinary text."""

_SHAPES = (
    re.compile(
        r"-----BEGIN [A-Z ]*PRIVATE KEY-----(?P<secret>.*?)(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL
    ),
    re.compile(
        r"\b(?:proxy-)?authorization[\"']?\s*[:=]\s*[\"']?(?:(?:bearer|basic|token)\s+)?(?P<secret>[^\s\"',;]{8,})",
        re.IGNORECASE,
    ),
    re.compile(r"\bbearer\s+(?P<secret>[A-Za-z0-9._~+/=-]{12,})", re.IGNORECASE),
    re.compile(
        r"\b(?:api[_-]?key|access[_-]?token|auth[_-]?token|client[_-]?secret|secret[_-]?key|x-api-key|password|passwd)"
        r"\\?[\"']?\s*[:=]\s*\\?[\"']?(?P<secret>[^\s\"',;&\\]{8,})",
        re.IGNORECASE,
    ),
    re.compile(r"\b[a-z][a-z0-9+.-]{1,15}://[^/\s:@\"']{0,100}:(?P<secret>[^/\s@\"']{3,200})@"),
    re.compile(
        r"\b(?P<secret>(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}"
        r"|hf_[A-Za-z0-9]{20,}|xox[a-z]-[\w-]{10,}|AKIA[0-9A-Z]{16}|AIza[\w-]{30,}|gsk_[A-Za-z0-9]{20,}"
        r"|eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,})"
    ),
)


class Redactor:
    """Masks secrets in text and in plain JSON-able data.

    ``secrets`` are values known to be secret. Each is also found URL-quoted, JSON-escaped and in
    Base64. Whatever looks like a key, an ``Authorization`` header or a password in a URL goes too.
    """

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._forms: dict[str, str] = {}
        self._known: re.Pattern[str] | None = None
        self.learn(secrets)

    def learn(self, secrets: Iterable[str]) -> None:
        """Mask these too, from now on."""
        known = {form: secret for secret in secrets if len(secret) >= _MIN_LENGTH for form in _forms(secret)}
        self._forms = {**self._forms, **known}
        longest_first = sorted(self._forms, key=len, reverse=True)
        self._known = re.compile("|".join(map(re.escape, longest_first))) if longest_first else None

    @classmethod
    def from_environ(cls, environ: Mapping[str, str], secrets: Iterable[str] = ()) -> Redactor:
        """Also hides the values of variables whose names look secret."""
        values = [value.strip() for name, value in environ.items() if is_secret_name(name)]
        return cls([*values, *secrets])

    def text(self, text: str) -> str:
        if len(text) < _MIN_LENGTH:
            return text
        if self._known:
            text = self._known.sub(lambda match: mask(self._forms[match.group()]), text)
        for shape in _SHAPES:
            text = shape.sub(_mask_group, text)
        return text

    def data(self, value: Any) -> Any:
        """A copy of dicts, lists, tuples and texts with every text masked, keys included."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {self.text(str(key)): self.data(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.data(item) for item in value]
        return value


def is_secret_name(name: str) -> bool:
    """Whether a variable of this name should hold a secret."""
    return bool(_SECRET_NAME.search(name))


def mask(secret: str) -> str:
    """``****`` and the last four characters; nothing of a secret shorter than twelve."""
    return f"****{secret[-4:]}" if len(secret) >= 12 else "****"


def _forms(secret: str) -> set[str]:
    """How a secret may be spelled in text: also inside JSON, and inside JSON inside JSON."""
    raw = secret.encode(errors="surrogatepass")
    forms = {secret, quote(raw, safe=""), base64.b64encode(raw).decode().rstrip("=")}
    for ascii_only in (True, False):
        escaped = json.dumps(secret, ensure_ascii=ascii_only)[1:-1]
        forms |= {escaped, json.dumps(escaped, ensure_ascii=ascii_only)[1:-1]}
    return forms


def _mask_group(match: re.Match[str]) -> str:
    start, end = match.start("secret") - match.start(), match.end("secret") - match.start()
    whole, secret = match.group(), match.group("secret")
    return whole if secret.startswith("****") else whole[:start] + mask(secret) + whole[end:]
