"""Show treespan at work: start both services, ingest this folder, ask three questions, stop.

Everything runs on this machine, in a temporary folder that is deleted at the end; only the
converted embedding model stays, in the user's cache. Ends with a status other than 0 where a step
fails or a question is not answered from the right place.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from treespan.client import Client
from treespan.errors import TreespanError

if TYPE_CHECKING:
    from collections.abc import Iterator

SAMPLES = Path(__file__).resolve().parent
FILES = (
    "q3-report-zh.md",
    "q3-report-en.pdf",
    "handbook.md",
    "product-page.html",
)
COLLECTION = "samples"
# Short answers for the screen; the default is 1,024.
BUDGET_TOKENS = 400
# The command line of this very installation.
TREESPAN = str(Path(sys.executable).with_name("treespan"))
START_S = 120.0
STOP_S = 90.0


class DemoError(Exception):
    """A step of the demo failed."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question and words that its answer must hold."""

    text: str
    expected: str


QUESTIONS = (
    Question("第三季度营收为什么增长？", "增长 23.0%"),
    Question("Why did Northgate's revenue grow in the third quarter?", "grew by 12.6%"),
    Question("How long do I have to claim expenses?", "within 30 days"),
)


def main() -> int:
    """Run the demo and return the exit status."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        with tempfile.TemporaryDirectory(prefix="treespan-demo-") as folder:
            show(Path(folder))
    except DemoError as error:
        say(f"\nThe demo failed: {error}")
        return 1
    except KeyboardInterrupt:
        return 130
    say("\nBoth services have stopped; nothing is left behind but the model in the cache.")
    return 0


def show(folder: Path) -> None:
    """Run all steps, with the services' data and log in `folder`."""
    heading("Preparing the embedding model (the first time this converts it into the cache)")
    run("models", "prepare")
    ingest, search = free_addresses()
    os.environ |= {"TREESPAN_INGEST": ingest, "TREESPAN_SEARCH": search}
    with services(folder, ingest, search):
        heading(f"Ingesting {len(FILES)} files")
        run("ingest", "--collection", COLLECTION, *(str(SAMPLES / name) for name in FILES))
        for question in QUESTIONS:
            heading(question.text)
            ask(question)


def ask(question: Question) -> None:
    """Print the answer to a question and check that it is the right one."""
    options = ("--collection", COLLECTION, "--limit", "1", "--budget", str(BUDGET_TOKENS))
    answer = run("search", *options, question.text, captured=True)
    say(answer)
    # Without white space, since lines are wrapped to the width of the terminal.
    if "".join(question.expected.split()) not in "".join(answer.split()):
        raise DemoError(f"the answer to {question.text!r} does not hold {question.expected!r}")


@contextmanager
def services(folder: Path, ingest: str, search: str) -> Iterator[None]:
    """Run both services for the time of the block; stop them gracefully."""
    log = folder / "serve.log"
    settings = ("--data", str(folder / "data"), "--ingest", ingest, "--search", search)
    with log.open("wb") as sink:
        server = subprocess.Popen(
            [TREESPAN, "serve", *settings],
            stdin=subprocess.DEVNULL,
            stdout=sink,
            stderr=subprocess.STDOUT,
        )
    try:
        wait_until_serving(server, ingest, search)
        yield
    except BaseException:
        stop(server)
        say("\nThe last lines of the services' log:\n" + "".join(tail(log)))
        raise
    status = stop(server)
    if status != 0:
        raise DemoError(f"the services ended with status {status}:\n" + "".join(tail(log)))


def wait_until_serving(server: subprocess.Popen[bytes], ingest: str, search: str) -> None:
    """Wait until both services report that they serve."""
    heading("Starting both services")
    start = time.monotonic()
    with Client(ingest, search, timeout_s=1.0) as client:
        while not (serves(client, "ingest") and serves(client, "search")):
            waited = time.monotonic() - start
            if server.poll() is not None:
                raise DemoError(f"the services ended with status {server.returncode}")
            if waited > START_S:
                raise DemoError(f"the services were not ready after {START_S:.0f} s")
            progress(f"  {waited:.0f} s")
            time.sleep(0.1)
    say(f"  ready after {time.monotonic() - start:.1f} s: ingest on {ingest}, search on {search}")


def serves(client: Client, service: Literal["ingest", "search"]) -> bool:
    """Return whether a service says that it is ready."""
    try:
        return client.is_serving(service)
    except TreespanError:
        return False


def stop(server: subprocess.Popen[bytes]) -> int:
    """Ask the services to finish and stop, and return their exit status."""
    server.send_signal(signal.SIGTERM)
    try:
        return server.wait(STOP_S)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()
        raise DemoError(f"the services did not stop within {STOP_S:.0f} s") from None


def run(command: str, *arguments: str, captured: bool = False) -> str:
    """Run a `treespan` command, let it print or return what it printed."""
    done = subprocess.run(
        [TREESPAN, command, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE if captured else None,
        encoding="utf-8",
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
        check=False,
    )
    if done.returncode != 0:
        raise DemoError(f"`treespan {command}` ended with status {done.returncode}")
    return done.stdout or ""


def free_addresses() -> tuple[str, str]:
    """Return two addresses on the loopback that nobody listens on at the moment."""
    with (
        socket.create_server(("127.0.0.1", 0)) as one,
        socket.create_server(("127.0.0.1", 0)) as two,
    ):
        return f"127.0.0.1:{one.getsockname()[1]}", f"127.0.0.1:{two.getsockname()[1]}"


def tail(log: Path) -> list[str]:
    """Return the last lines of a log."""
    return log.read_text(encoding="utf-8", errors="replace").splitlines(keepends=True)[-20:]


def heading(text: str) -> None:
    """Print a line that begins a step."""
    bold, plain = ("\033[1m", "\033[0m") if sys.stdout.isatty() else ("", "")
    say(f"\n{bold}▸ {text}{plain}")


def progress(text: str) -> None:
    """Overwrite the line on a terminal; print nothing elsewhere."""
    if sys.stdout.isatty():
        sys.stdout.write(f"\r{text}\r")
        sys.stdout.flush()


def say(text: str) -> None:
    """Print a line at once, so that it stands before what a command prints next."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
