"""Fetching pages from a real server: text, redirects, limits, and addresses that are refused."""

from __future__ import annotations

import asyncio
import gzip
import os
import socket
import ssl
import threading
import time
import zlib
from collections.abc import Iterator

import pytest

from tests.tools.calling import call
from tests.tools.serving import Site, serving
from tools import Tool, ToolContext
from tools.addresses import Address, is_public
from tools.process_tree import processes
from tools.web import WebTool, checked_url


@pytest.fixture
def site() -> Iterator[Site]:
    with serving() as running:
        yield running


def loopback_only(address: Address) -> bool:
    """Lets a test server be reached and nothing else that is private."""
    return str(address) == "127.0.0.1" or is_public(address)


@pytest.fixture
def web() -> Tool:
    return WebTool(loopback_only).tool()


PAGE = """<!doctype html><html><head><title>A &amp; B</title><style>p {color: red}</style></head><body>
<script>alert("no")</script><h1>Heading</h1><p>Some <b>bold</b> text with a <a href="/next">link</a>.</p>
<ul><li>one<li>two</ul><pre>  kept
    as is</pre></body></html>"""


async def test_a_page_becomes_readable_text(site: Site, web: Tool) -> None:
    site.text("/a", PAGE, "text/html; charset=utf-8")
    content = (await call(web, "fetch_url", url=f"{site.url}/a")).content
    assert content.startswith(f"A & B\n{site.url}/a\n\n# Heading\n\nSome **bold** text with a [link](")
    assert "- one\n- two" in content
    assert "  kept\n    as is" in content
    assert "alert" not in content
    assert "color" not in content


async def test_a_page_made_to_be_slow_runs_into_the_time_and_its_process_is_ended(site: Site) -> None:
    site.text("/slow", "<html>" + "<" * 1_000_000, "text/html")
    web = WebTool(loopback_only, seconds=0.8).tool()
    began = time.monotonic()
    assert (await call(web, "fetch_url", url=f"{site.url}/slow")).kind == "timeout"
    assert time.monotonic() - began < 1.5
    assert not [process for process in processes() if process.parent == os.getpid()]


async def test_a_page_without_text_says_so(site: Site, web: Tool) -> None:
    site.text("/empty", "<html>" + "<p>" * 1_000, "text/html")
    assert (await call(web, "fetch_url", url=f"{site.url}/empty")).content == f"{site.url}/empty\n\n(no text)"


async def test_plain_text_and_json_come_as_they_are(site: Site, web: Tool) -> None:
    site.text("/t", "just <b>text</b>\n")
    site.text("/j", '{"a": [1, 2]}', "application/json")
    assert (await call(web, "fetch_url", url=f"{site.url}/t")).content == f"{site.url}/t\n\njust <b>text</b>"
    result = await call(web, "fetch_url", url=f"{site.url}/j")
    assert (result.content, result.style) == ('{"a": [1, 2]}', "json")


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("Grüße".encode("latin-1"), "text/plain; charset=iso-8859-1"),
        ("Grüße".encode("latin-1"), "text/plain"),
        ("Grüße".encode(), "text/plain; charset=no-such"),
        ("Grüße".encode("utf-16"), "text/plain"),
        (b"<html><meta charset='windows-1252'><body>Gr\xfc\xdfe", "text/html"),
    ],
)
async def test_the_encoding_is_found(site: Site, web: Tool, body: bytes, kind: str) -> None:
    site.text("/e", body, kind)
    assert "Grüße" in (await call(web, "fetch_url", url=f"{site.url}/e")).content


@pytest.mark.parametrize(("encoding", "pack"), [("gzip", gzip.compress), ("deflate", zlib.compress)])
async def test_compressed_answers_are_unpacked(site: Site, web: Tool, encoding: str, pack: object) -> None:
    site.text("/z", pack(b"packed text"), Content_Encoding=encoding)  # type: ignore[operator]
    assert "packed text" in (await call(web, "fetch_url", url=f"{site.url}/z")).content


async def test_redirects_are_followed_and_counted(site: Site, web: Tool) -> None:
    for number in range(7):
        site.redirect(f"/{number}", f"/{number + 1}?q=é x")
    site.text("/7", "arrived")
    assert (
        f"{site.url}/7?q=%C3%A9%20x\n\narrived" in (await call(web, "fetch_url", url=f"{site.url}/2")).content
    )
    result = await call(web, "fetch_url", url=f"{site.url}/0")
    assert (result.kind, "More than 5 redirects" in result.content) == ("network", True)
    assert len(site.paths) == 6 + 6


@pytest.mark.parametrize(
    "target",
    [
        "http://10.0.0.1/",
        "http://169.254.169.254/latest/meta-data/",
        "http://[::1]:1/",
        "//192.168.0.1/x",
        "http://0/",
    ],
)
async def test_a_redirect_to_a_private_address_is_refused(site: Site, web: Tool, target: str) -> None:
    site.redirect("/r", target)
    result = await call(web, "fetch_url", url=f"{site.url}/r")
    assert (result.ok, result.kind) == (False, "permission_denied")
    assert "private or local address" in result.content


@pytest.mark.parametrize("target", ["file:///etc/passwd", "ftp://127.0.0.1/", "javascript:alert(1)"])
async def test_a_redirect_to_another_scheme_is_refused(site: Site, web: Tool, target: str) -> None:
    site.redirect("/r", target)
    assert (await call(web, "fetch_url", url=f"{site.url}/r")).kind == "invalid_arguments"


async def test_private_addresses_are_refused_before_anything_is_sent(site: Site) -> None:
    web = WebTool().tool()
    site.text("/", "secret")
    for url in (site.url, f"http://localhost:{site.port}/", f"http://2130706433:{site.port}/"):
        result = await call(web, "fetch_url", url=url)
        assert (result.kind, "secret" in result.content) == ("permission_denied", False)
    assert site.paths == []


async def test_a_name_is_resolved_once_and_the_checked_address_is_used(site: Site) -> None:
    asked: list[str] = []

    def rebinding(host: str, port: int) -> list[str]:
        asked.append(host)
        return ["127.0.0.1"] if len(asked) == 1 else ["10.0.0.1"]

    site.text("/", "first")
    web = WebTool(loopback_only, rebinding).tool()
    assert "first" in (await call(web, "fetch_url", url=f"http://rebind.test:{site.port}/")).content
    assert asked == ["rebind.test"]
    assert site.hosts == [f"rebind.test:{site.port}"]
    assert (await call(web, "fetch_url", url=f"http://rebind.test:{site.port}/")).kind == "permission_denied"


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, "not_found"), (401, "permission_denied"), (403, "permission_denied"), (404, "not_found"),
        (410, "not_found"), (408, "timeout"), (429, "rate_limited"), (500, "unavailable"),
        (503, "unavailable"), (599, "unavailable"), (304, "not_found"),
    ],
)  # fmt: skip
async def test_a_status_that_is_no_success_has_its_kind(
    site: Site, web: Tool, status: int, kind: str
) -> None:
    site.text("/s", "no", status=status, Retry_After="7")
    result = await call(web, "fetch_url", url=f"{site.url}/s")
    assert (result.ok, result.kind, result.wait_seconds) == (False, kind, 7)
    assert f"answered {status}" in result.content


@pytest.mark.parametrize("kind", ["image/png", "application/pdf", "application/octet-stream", "video/mp4"])
async def test_what_is_not_text_is_refused_by_its_type(site: Site, web: Tool, kind: str) -> None:
    site.text("/b", b"\0\1", kind)
    result = await call(web, "fetch_url", url=f"{site.url}/b")
    assert (result.kind, f"is {kind}, not text" in result.content) == ("invalid_arguments", True)


async def test_binary_data_without_a_type_is_recognised(site: Site, web: Tool) -> None:
    site.text("/b", b"\0\1\2", "")
    assert "binary data" in (await call(web, "fetch_url", url=f"{site.url}/b")).content


async def test_a_body_is_read_up_to_the_limit(site: Site) -> None:
    site.text("/big", "x" * 5_000)
    web = WebTool(loopback_only, max_bytes=1_000).tool()
    content = (await call(web, "fetch_url", url=f"{site.url}/big")).content
    assert content.endswith("x\n[only the first 1,000 bytes were fetched]")
    site.text("/fits", "x" * 1_000)
    assert "only the first" not in (await call(web, "fetch_url", url=f"{site.url}/fits")).content


async def test_a_small_bomb_stays_small(site: Site, web: Tool) -> None:
    site.text("/bomb", gzip.compress(b"\n" * 40_000_000, 9), Content_Encoding="gzip")
    began = time.monotonic()
    result = await call(web, "fetch_url", url=f"{site.url}/bomb")
    assert time.monotonic() - began < 2
    assert "only the first 2,097,152 bytes" in result.content


async def test_a_server_that_drips_runs_into_the_total_time(site: Site) -> None:
    site.drip("/slow")
    web = WebTool(loopback_only, seconds=0.4).tool()
    began = time.monotonic()
    result = await call(web, "fetch_url", url=f"{site.url}/slow")
    assert (result.kind, "within 0.4 s" in result.content) == ("timeout", True)
    assert time.monotonic() - began < 1


async def test_a_cancelled_request_ends_its_thread_soon(site: Site, web: Tool) -> None:
    site.drip("/slow")
    task = asyncio.create_task(call(web, "fetch_url", ToolContext(timeout=30), url=f"{site.url}/slow"))
    await asyncio.sleep(0.2)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    for thread in threading.enumerate():
        if thread.name == "tool fetch_url":
            thread.join(1)
            assert not thread.is_alive()


async def test_a_closed_port_and_a_broken_answer_are_network_failures(site: Site, web: Tool) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    refused = await call(web, "fetch_url", url=f"http://127.0.0.1:{port}/")
    assert (refused.kind, "cannot be reached" in refused.content) == ("network", True)
    site.raw("/nonsense", b"no http at all\r\n\r\n")
    site.text("/garbage", b"no gzip at all", Content_Encoding="gzip")
    for path in ("/nonsense", "/garbage"):
        broken = await call(web, "fetch_url", url=f"{site.url}{path}")
        assert (broken.kind, "broke off" in broken.content) == ("network", True)


async def test_a_body_that_is_cut_off_is_told_as_such(site: Site, web: Tool) -> None:
    site.raw("/cut", b"HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 99\r\n\r\nhalf")
    content = (await call(web, "fetch_url", url=f"{site.url}/cut")).content
    assert content == f"{site.url}/cut\n\nhalf\n[only the first 4 bytes were fetched]"


async def test_a_server_without_tls_is_a_network_failure(site: Site, web: Tool) -> None:
    result = await call(web, "fetch_url", url=f"https://127.0.0.1:{site.port}/")
    assert (result.kind, "No secure connection" in result.content) == ("network", True)
    assert ssl.HAS_TLSv1_2


@pytest.mark.parametrize(
    "url",
    ["", "example.com", "ftp://example.com", "http://", "http://user:pass@example.com/", "http://example.com:99999/",
     "http://[::1", "http://a b/", "http://a<b/", "file:///etc/passwd", "http://" + "a" * 300],
)  # fmt: skip
async def test_a_url_that_cannot_be_fetched_is_refused(web: Tool, url: str) -> None:
    assert (await call(web, "fetch_url", url=url)).kind == "invalid_arguments"


@pytest.mark.parametrize(
    ("url", "sent"),
    [
        ("HTTP://Example.com", "http://example.com/"),
        ("http://example.com/ä b?q=ü&x=%20#part", "http://example.com/%C3%A4%20b?q=%C3%BC&x=%20"),
        ("https://münchen.example/", "https://xn--mnchen-3ya.example/"),
        ("http://[2606:4700::1]:8080/x", "http://[2606:4700::1]:8080/x"),
        ("http://example.com/a\r\nX: y", "http://example.com/aX:%20y"),
    ],
)
def test_a_url_is_made_fit_for_a_request(url: str, sent: str) -> None:
    assert checked_url(url) == sent


def test_the_backend_is_the_host_and_the_target_the_url(web: Tool) -> None:
    arguments = {"url": "https://Example.com:8080/x"}
    assert (web.backend_of(arguments), web.target_of(arguments)) == ("example.com", arguments["url"])
    assert web.backend_of({"url": "http://[bad"}) == ""
