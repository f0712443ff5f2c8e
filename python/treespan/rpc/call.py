"""What a handler may know of the call it answers: whose it is, its id, and how long it may take."""

from __future__ import annotations

import re
import threading
import time
import uuid
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from treespan.errors import DeadlineExceeded, InvalidName
from treespan.store.records import Tenant

if TYPE_CHECKING:
    from collections.abc import Iterable

TENANT_KEY = "treespan-tenant"
REQUEST_ID_KEY = "x-request-id"
DEFAULT_TENANT = Tenant("default")

# A remaining time of more than a year is grpc's way to say that the caller set no deadline.
_NO_DEADLINE_S = 365 * 86400.0
_TENANT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_REQUEST_ID = re.compile(r"[\x21-\x7e]{1,128}")


@dataclass(frozen=True, slots=True)
class Call:
    """One call."""

    method: str
    """Name of the rpc, for example "Search"."""
    request_id: str
    """The caller's `x-request-id`, else one made here; in logs and in the details of errors."""
    tenant: Tenant
    """From the caller's `treespan-tenant`, else "default"."""
    deadline: float
    """End of the caller's time, on the clock of `time.monotonic`."""
    ended: threading.Event = field(default_factory=threading.Event)
    """Set when the caller went away, or its time is over; kept by the sync server alone."""

    def time_left_s(self) -> float:
        """Return the seconds left.

        Raises:
            DeadlineExceeded: there are none.
        """
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise DeadlineExceeded("the deadline of the call has passed")
        return left


_CURRENT: ContextVar[Call] = ContextVar("call")


def current_call() -> Call:
    """Return the call that is being answered in this thread or task."""
    return _CURRENT.get()


def enter_call(
    method: str,
    metadata: Iterable[tuple[str, str | bytes]] | None,
    time_remaining_s: float | None,
    default_deadline_s: float,
) -> Call:
    """Make the call's description and set it as the current one."""
    pairs = [(key, value) for key, value in metadata or () if isinstance(value, str)]
    values = dict(pairs)
    # Two names, one from the caller and one from a proxy perhaps, are no name: `check_tenant`.
    tenants = dict.fromkeys(value for key, value in pairs if key == TENANT_KEY)
    known = time_remaining_s is not None and time_remaining_s < _NO_DEADLINE_S
    left_s = time_remaining_s if known and time_remaining_s is not None else default_deadline_s
    call = Call(
        method=method.rpartition("/")[2],
        request_id=_request_id(values.get(REQUEST_ID_KEY, "")),
        tenant=Tenant(", ".join(tenants or (DEFAULT_TENANT,))),
        deadline=time.monotonic() + left_s,
    )
    _CURRENT.set(call)
    return call


def check_tenant(call: Call) -> None:
    """Refuse a tenant whose name is not plain."""
    if not _TENANT.fullmatch(call.tenant):
        raise InvalidName(
            TENANT_KEY,
            f"{call.tenant[:40]!r} is no tenant's name; one has 1 to 128 letters, digits, "
            "dots, underscores and hyphens, a letter or digit first",
        )


def _request_id(given: str) -> str:
    return given if _REQUEST_ID.fullmatch(given) else uuid.uuid4().hex
