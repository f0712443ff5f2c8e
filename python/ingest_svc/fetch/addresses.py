"""Which network addresses a fetch may reach.

A name is only as safe as the addresses it stands for, and an address has more spellings than one:
numbers in four bases, short forms, and IPv4 wrapped into IPv6. Each is judged by what it reaches.
"""

from __future__ import annotations

import re
import socket
from enum import Enum
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from ipaddress import IPv4Network

Address: TypeAlias = "IPv4Address | IPv6Address"


class Reach(Enum):
    """Who can be reached at an address."""

    PUBLIC = "public"
    PRIVATE = "private"
    """This machine or its network; only where the settings name the host."""
    NEVER = "never"
    """Nobody that a document could come from: link-local (where clouds keep the credentials of
    their machines), multicast, reserved, or a tunnel that hides another address."""


def _nets4(*texts: str) -> tuple[IPv4Network, ...]:
    return tuple(net for net in map(ip_network, texts) if net.version == 4)


def _nets6(*texts: str) -> tuple[IPv6Network, ...]:
    return tuple(net for net in map(ip_network, texts) if net.version == 6)


# As in the IANA registries of special-purpose addresses.
_PRIVATE4: Final = _nets4(
    "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "127.0.0.0/8", "100.64.0.0/10", "198.18.0.0/15"
)
_NEVER4: Final = _nets4(
    "0.0.0.0/8",
    "169.254.0.0/16",
    "192.0.0.0/24",
    "192.0.2.0/24",
    "192.88.99.0/24",
    "198.51.100.0/24",
    "203.0.113.0/24",
    "224.0.0.0/4",
    "240.0.0.0/4",
)
_PRIVATE6: Final = _nets6("::1/128", "fc00::/7")
_GLOBAL6: Final = IPv6Network("2000::/3")
# Within it: protocol assignments with Teredo, documentation (twice), 6to4.
_NEVER6: Final = _nets6("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")
_NAT64: Final = IPv6Network("64:ff9b::/96")

# What `inet_aton` takes: one to four numbers, decimal, octal or hexadecimal. A host whose last part
# looks like a number is an address or nothing, as browsers have it.
_NUMERIC: Final = re.compile(r"(?:[^.]*\.)*(?:[0-9]+|0[xX][0-9a-fA-F]*)")


def reach(address: Address) -> Reach:
    """Return who can be reached at an address."""
    if isinstance(address, IPv4Address):
        return _reach4(address)
    wrapped = address.ipv4_mapped
    if wrapped is None and address in _NAT64:
        wrapped = IPv4Address(int(address) & 0xFFFF_FFFF)
    if wrapped is not None:
        return _reach4(wrapped)
    if any(address in net for net in _PRIVATE6):
        return Reach.PRIVATE
    if address not in _GLOBAL6 or any(address in net for net in _NEVER6):
        return Reach.NEVER
    return Reach.PUBLIC


def _reach4(address: IPv4Address) -> Reach:
    if any(address in net for net in _PRIVATE4):
        return Reach.PRIVATE
    return Reach.NEVER if any(address in net for net in _NEVER4) else Reach.PUBLIC


def literal(host: str) -> Address | None:
    """Return the address that a host spells out in any notation; None for a name.

    Raises:
        ValueError: the host looks like an address and is none.
    """
    if ":" in host:
        return ip_address(host)
    bare = host.removesuffix(".")
    if not _NUMERIC.fullmatch(bare):
        return None
    try:
        return IPv4Address(socket.inet_aton(bare))
    except OSError:
        raise ValueError(f"{host!r} is no IPv4 address") from None
