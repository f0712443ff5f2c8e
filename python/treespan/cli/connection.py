"""Where the services are, as the global options say."""

from __future__ import annotations

from dataclasses import dataclass

import click

from treespan.client import Client


@dataclass(frozen=True, slots=True)
class Connection:
    """Addresses of both services and the tenant to speak for."""

    ingest: str
    search: str
    tenant: str | None

    def client(self) -> Client:
        """Return a client; close it."""
        return Client(self.ingest, self.search, tenant=self.tenant)


pass_connection = click.make_pass_decorator(Connection)

collection_option = click.option(
    "-c",
    "--collection",
    default="default",
    show_default=True,
    metavar="NAME",
    help="Collection to work in.",
)

json_option = click.option("--json", "as_json", is_flag=True, help="Write JSON instead.")
