"""The gRPC edge that both services share: calls, errors, health, drain."""

from treespan.rpc.admission import CountedPool
from treespan.rpc.call import Call, current_call
from treespan.rpc.edge import AsyncEdge, SyncEdge
from treespan.rpc.server import bind, drained_on_signal, server_options

__all__ = [
    "AsyncEdge",
    "Call",
    "CountedPool",
    "SyncEdge",
    "bind",
    "current_call",
    "drained_on_signal",
    "server_options",
]
