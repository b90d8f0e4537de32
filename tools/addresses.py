"""Which network addresses tools may reach: public ones, unless told otherwise."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable

from tools.failures import ToolError

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Allowed = Callable[[Address], bool]
Resolve = Callable[[str, int], list[str]]
"""Host and port to numeric addresses; raises ``OSError``."""

_TRANSLATED = ipaddress.ip_network("64:ff9b::/96")


def is_public(address: Address) -> bool:
    """False for loopback, private, link-local, shared, multicast and reserved addresses, also where an
    IPv6 address only carries such an IPv4 one (mapped, 6to4, Teredo, NAT64)."""
    if isinstance(address, ipaddress.IPv6Address):
        carried = address.ipv4_mapped or address.sixtofour or (address.teredo or (None, None))[1]
        if carried is None and address in _TRANSLATED:
            carried = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if carried is not None:
            return is_public(carried)
    return address.is_global and not address.is_multicast


def anywhere(address: Address) -> bool:
    del address
    return True


def resolve(host: str, port: int) -> list[str]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def checked_addresses(host: str, port: int, allowed: Allowed, look_up: Resolve = resolve) -> list[str]:
    """The numeric addresses of a host, all of them allowed. Connect to these, never to the name again."""
    try:
        numbers = look_up(host, port)
    except OSError as error:
        raise ToolError(
            "network", f"The name {host!r} cannot be resolved: {error.strerror or error}."
        ) from None
    except UnicodeError:
        raise ToolError("invalid_arguments", f"{host!r} is no host name.") from None
    for number in numbers:
        if not allowed(ipaddress.ip_address(number.partition("%")[0])):
            raise ToolError(
                "permission_denied",
                f"{host!r} is at {number}, a private or local address, which is not allowed here.",
            )
    return numbers
