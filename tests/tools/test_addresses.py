"""Which addresses are public, in every disguise."""

from __future__ import annotations

import ipaddress

import pytest

from tools.addresses import checked_addresses, is_public
from tools.failures import ToolError


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "127.9.9.9", "0.0.0.0", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1",
        "169.254.169.254", "100.64.0.1", "192.0.2.1", "198.18.0.1", "224.0.0.1", "239.1.1.1", "240.0.0.1",
        "255.255.255.255", "::", "::1", "fe80::1", "fc00::1", "fd12::1", "ff02::1", "2001:db8::1",
        "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "64:ff9b::7f00:1",
        "64:ff9b::a9fe:a9fe", "2002:7f00:1::", "2002:a00:1::1", "2001:0:4136:e378:8000:63bf:f5ff:fffe",
    ],
)  # fmt: skip
def test_what_is_not_for_everyone_is_not_public(address: str) -> None:
    assert not is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize(
    "address",
    ["8.8.8.8", "172.32.0.1", "93.184.216.34", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"],
)
def test_public_addresses_are(address: str) -> None:
    assert is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize("host", ["localhost", "127.1", "2130706433", "0x7f.0.0.1", "017700000001", "::1"])
def test_spellings_of_loopback_are_seen_through(host: str) -> None:
    with pytest.raises(ToolError) as caught:
        checked_addresses(host, 80, is_public)
    assert caught.value.kind in {"permission_denied", "network"}


def test_one_private_address_among_public_ones_is_enough_to_refuse() -> None:
    with pytest.raises(ToolError, match=r"'mixed\.test' is at 10\.0\.0\.1, a private or local address"):
        checked_addresses("mixed.test", 80, is_public, lambda *_: ["8.8.8.8", "10.0.0.1"])


def test_a_zone_of_an_address_is_looked_past() -> None:
    with pytest.raises(ToolError, match="private or local"):
        checked_addresses("zone.test", 80, is_public, lambda *_: ["fe80::1%eth0"])


def test_a_name_that_nobody_knows_is_a_network_failure() -> None:
    def fail(host: str, port: int) -> list[str]:
        raise OSError(-2, "Name or service not known")

    with pytest.raises(ToolError, match="cannot be resolved: Name or service not known") as caught:
        checked_addresses("nowhere.test", 80, is_public, fail)
    assert caught.value.kind == "network"
    with pytest.raises(ToolError, match="is no host name"):
        checked_addresses("a" * 64 + ".test", 80, is_public)
