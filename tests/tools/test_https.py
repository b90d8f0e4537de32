"""Fetching over TLS: the certificate is that of the name, the connection goes to the checked address."""

from __future__ import annotations

import shutil
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.tools.calling import call
from tests.tools.serving import Site, serving
from tools import Tool
from tools.addresses import anywhere
from tools.web import WebTool

pytestmark = pytest.mark.skipif(not shutil.which("openssl"), reason="the program openssl is not installed")


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    path = tmp_path / "certificate.pem"
    command = (
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 "
        f"-subj /CN=good.test -addext subjectAltName=DNS:good.test -keyout {path} "
        f"-out {tmp_path / 'only.pem'}"
    )
    subprocess.run(command.split(), check=True, capture_output=True, timeout=20)
    path.write_text(path.read_text() + (tmp_path / "only.pem").read_text())
    return path


@pytest.fixture
def site(certificate: Path) -> Iterator[Site]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with serving(context) as running:
        running.text("/", "sent over TLS")
        yield running


@pytest.fixture
def web() -> Tool:
    return WebTool(anywhere, lambda *_: ["127.0.0.1"]).tool()


async def test_a_trusted_certificate_of_that_name_is_accepted(
    site: Site, web: Tool, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    assert "sent over TLS" in (await call(web, "fetch_url", url=f"https://good.test:{site.port}/")).content


async def test_a_certificate_of_another_name_is_refused(
    site: Site, web: Tool, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    result = await call(web, "fetch_url", url=f"https://other.test:{site.port}/")
    assert (result.kind, "No secure connection" in result.content) == ("network", True)
    assert "mismatch" in result.content


async def test_a_certificate_that_nobody_vouches_for_is_refused(site: Site, web: Tool) -> None:
    result = await call(web, "fetch_url", url=f"https://good.test:{site.port}/")
    assert (result.kind, "self-signed" in result.content.replace("self signed", "self-signed")) == (
        "network",
        True,
    )
