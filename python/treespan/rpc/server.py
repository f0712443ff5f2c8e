"""Starting and stopping a gRPC server: options, address, signals."""

from __future__ import annotations

import signal
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    import grpc


class AddressInUse(Exception):
    """An address cannot be listened on."""


def server_options(max_message_bytes: int) -> list[tuple[str, int]]:
    """Return the channel options of a server.

    Two servers on one port would share its connections unseen, so the port is not shared. Clients
    that ping an idle connection every 10 s or slower are let be.
    """
    return [
        ("grpc.max_receive_message_length", max_message_bytes),
        ("grpc.max_send_message_length", max_message_bytes),
        ("grpc.so_reuseport", 0),
        ("grpc.http2.min_recv_ping_interval_without_data_ms", 10_000),
        ("grpc.keepalive_permit_without_calls", 1),
    ]


def bind(server: grpc.Server | grpc.aio.Server, address: str) -> int:
    """Listen on an address; return the port.

    Raises:
        AddressInUse: the address is taken, or is none of this machine's.
    """
    try:
        return server.add_insecure_port(address)
    except RuntimeError as error:
        raise AddressInUse(
            f"cannot listen on {address}: it is taken (by another treespan?), or is no address "
            "of this machine; choose another with --ingest or --search"
        ) from error


def drained_on_signal(stop: Callable[[], None]) -> None:
    """Wait for SIGTERM or SIGINT in the main thread, then stop."""
    asked = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: asked.set())
    asked.wait()
    stop()
