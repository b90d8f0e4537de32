"""Fetching a web page as text."""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import Annotated
from urllib.parse import quote, urljoin, urlsplit, urlunsplit

from tools.addresses import Allowed, Resolve, is_public, resolve
from tools.base import Arguments, Tool, ToolContext, ToolResult, tool
from tools.failures import Kind, ToolError
from tools.html_text import html_to_text
from tools.http_client import Reach, Response, get
from tools.text_file import detect

_SECONDS = 20.0
_MAX_BYTES = 2 * 2**20
_MAX_REDIRECTS = 5
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_ACCEPT = "text/html, text/*;q=0.9, application/json;q=0.9, */*;q=0.5"
_HOST = re.compile(r"[a-z0-9._:-]+", re.IGNORECASE)
_SAFE = "%/:=&?~+!$,;'@()*[]|"
_PAGE_START = re.compile(r"\s*<(?:!doctype html|html)\b", re.IGNORECASE)
_TEXT_TYPE = re.compile(r"text/.*|application/(?:.*\+)?(?:json|xml)|application/(?:javascript|x-ndjson|yaml)")
_KIND_OF_STATUS: dict[int, Kind] = {
    401: "permission_denied",
    403: "permission_denied",
    404: "not_found",
    410: "not_found",
    408: "timeout",
    429: "rate_limited",
}


class WebTool:
    """``fetch_url``. ``allowed`` decides which addresses may be reached, also after redirects."""

    def __init__(
        self,
        allowed: Allowed = is_public,
        look_up: Resolve = resolve,
        *,
        seconds: float = _SECONDS,
        max_bytes: int = _MAX_BYTES,
    ) -> None:
        self._allowed = allowed
        self._look_up = look_up
        self._seconds = seconds
        self._max_bytes = max_bytes

    def tool(self) -> Tool:
        return tool(self.fetch_url, target="url", backend=_host)

    def fetch_url(self, url: Annotated[str, "http or https"], context: ToolContext) -> ToolResult:
        """Fetch a web page or text file over HTTP and return it as text (Markdown)."""
        seconds = self._seconds if context.timeout is None else min(self._seconds, context.timeout)
        reach = Reach(seconds, self._max_bytes, self._allowed, self._look_up, context.cancelled)
        response = self._follow(url.strip(), reach)
        _expect_success(response)
        _expect_text(response)
        text = _decode(response)
        if response.content_type.endswith("json"):
            return ToolResult(True, text, style="json")
        title = ""
        if _is_page(response, text):
            title, text = html_to_text(text, reach.left)
        head = f"{title}\n{response.url}\n\n" if title else f"{response.url}\n\n"
        cut = "" if response.complete else f"\n[only the first {len(response.body):,} bytes were fetched]"
        return ToolResult(True, f"{head}{text.strip() or '(no text)'}{cut}")

    def _follow(self, url: str, reach: Reach) -> Response:
        for _ in range(_MAX_REDIRECTS + 1):
            response = get(checked_url(url), reach, _ACCEPT)
            target = response.headers.get("location")
            if response.status not in _REDIRECTS or not target:
                return response
            url = urljoin(response.url, target)
        raise ToolError(
            "network", f"More than {_MAX_REDIRECTS} redirects; the last one leads to {url[:200]}."
        )


def checked_url(url: str) -> str:
    """The URL in a form fit for a request line. Raises ``ToolError`` ``invalid_arguments``."""
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or "").encode("idna").decode("ascii"), parts.port
    except (ValueError, UnicodeError) as error:
        raise ToolError("invalid_arguments", f"{url[:200]!r} is no valid URL: {error}.") from None
    if parts.scheme not in {"http", "https"} or not _HOST.fullmatch(host):
        raise ToolError("invalid_arguments", f"{url[:200]!r}: only full http and https URLs can be fetched.")
    if parts.username or parts.password:
        raise ToolError("invalid_arguments", "The URL holds a user name or password, which is never sent.")
    shown = f"[{host}]" if ":" in host else host
    netloc = f"{shown}:{port}" if port else shown
    path, query = quote(parts.path or "/", _SAFE), quote(parts.query, _SAFE)
    return urlunsplit((parts.scheme, netloc, path, query, ""))


def _host(arguments: Arguments) -> str:
    try:
        return urlsplit(str(arguments.get("url", ""))).hostname or ""
    except ValueError:
        return ""


def _is_page(response: Response, text: str) -> bool:
    return "html" in response.content_type or bool(_PAGE_START.match(text))


def _expect_success(response: Response) -> None:
    status = response.status
    if 200 <= status < 300:
        return
    kind: Kind = _KIND_OF_STATUS.get(status, "unavailable" if status >= 500 else "not_found")
    known = status in HTTPStatus.__members__.values()
    wait = response.headers.get("retry-after", "")
    raise ToolError(
        kind,
        f"{response.url} answered {status}{f' {HTTPStatus(status).phrase}' if known else ''}.",
        wait_seconds=float(wait) if wait.isdecimal() else None,
    )


def _expect_text(response: Response) -> None:
    kind = response.content_type
    if kind and not _TEXT_TYPE.fullmatch(kind):
        raise ToolError("invalid_arguments", f"{response.url} is {kind}, not text: it cannot be shown.")


def _decode(response: Response) -> str:
    declared = re.search(r"charset=[\"']?([\w.:-]+)", response.headers.get("content-type", ""))
    head = response.body[:2_048].decode("latin-1")
    found = declared or re.search(r"<meta[^>]+charset=[\"']?([\w.:-]+)", head, re.IGNORECASE)
    if found:
        try:
            return response.body.decode(found.group(1), "replace")
        except LookupError:
            pass
    encoding = detect(response.body)
    if encoding is None:
        raise ToolError("invalid_arguments", f"{response.url} holds binary data, not text.")
    return encoding.decode(response.body)
