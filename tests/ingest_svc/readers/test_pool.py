"""The pool against files that crash, hang or eat their reader; real processes, no stand-ins."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from ingest_svc.readers.frames import Setup
from ingest_svc.readers.limits import ReaderLimits
from ingest_svc.readers.pool import ReaderPool
from ingest_svc.readers.process import ReaderProcess, WorkerStartError
from treespan.config import OcrConfig
from treespan.errors import DamagedFile, EncryptedFile, TooLarge

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1".ljust(512, b"\0")
ENCRYPTED = OLE + "EncryptedPackage".encode("utf-16-le").ljust(64, b"\0") + b"\x22\0" + bytes(62)

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the limits are Linux's")


@pytest.fixture
def good(tmp_path: Path) -> Path:
    path = tmp_path / "good.md"
    path.write_text("# Title\n\nWords.\n", "utf-8")
    return path


@pytest.fixture
def slow(tmp_path: Path) -> Path:
    """Return a page that keeps its reader busy in native code for many seconds."""
    path = tmp_path / "slow.html"
    path.write_text("<div>" * 200_000 + "x", "utf-8")
    return path


def run(scenario, workers: int = 1, **limits: float):
    async def within() -> None:
        pool = ReaderPool(workers, ReaderLimits(**limits))
        try:
            await scenario(pool)
        finally:
            await pool.close()
        assert not readers()

    asyncio.run(within())


def readers() -> list[psutil.Process]:
    """Return the reader processes of this one."""
    children = psutil.Process().children()
    return [child for child in children if "ingest_svc.readers.worker" in child.cmdline()]


async def busy_reader() -> psutil.Process:
    """Return the reader process that is at work on the slow file, once it is."""
    while True:
        for process in readers():
            if process.cpu_percent(0.05) > 10 and process.cpu_times().user > 0.8:
                return process
        await asyncio.sleep(0.05)


def test_files_are_read_and_progress_and_problems_come_back(good, tmp_path):
    encrypted = tmp_path / "e.docx"
    encrypted.write_bytes(ENCRYPTED)

    async def scenario(pool: ReaderPool) -> None:
        parsed = await pool.read(good, "a.md")
        assert [block.text for block in parsed.blocks] == ["Title", "Words."]
        with pytest.raises(EncryptedFile, match="only be read with its password"):
            await pool.read(encrypted, "a.docx")
        with pytest.raises(DamagedFile):
            await pool.read(encrypted, "a.docx", "secret")
        assert await pool.read(good, "b.md") == parsed

    run(scenario)


def test_as_many_files_as_workers_are_read_at_the_same_time_and_no_more_processes_wait(good):
    async def scenario(pool: ReaderPool) -> None:
        parsed = await asyncio.gather(*(pool.read(good, f"{n}.md") for n in range(8)))
        assert all(file == parsed[0] for file in parsed)
        assert len(readers()) <= 3

    run(scenario, workers=2)


def test_nothing_is_started_before_the_first_file():
    async def scenario(_: ReaderPool) -> None:
        assert not readers()

    run(scenario)


def test_a_hang_ends_at_the_wall_limit_and_the_next_file_is_read(good, slow):
    async def scenario(pool: ReaderPool) -> None:
        await pool.read(good, "a.md")
        started = time.monotonic()
        with pytest.raises(TooLarge, match=r"readers\.wall_s is 1"):
            await pool.read(slow, "slow.html")
        assert time.monotonic() - started < 3
        assert (await pool.read(good, "a.md")).blocks

    run(scenario, wall_s=1)


def test_processor_time_is_bounded_for_each_file_anew(good, slow):
    async def scenario(pool: ReaderPool) -> None:
        with pytest.raises(TooLarge, match=r"readers\.cpu_s is 1"):
            await pool.read(slow, "slow.html")
        assert (await pool.read(good, "a.md")).blocks

    run(scenario, cpu_s=1)


def test_a_file_that_needs_too_much_memory_is_refused_by_name(good, tmp_path):
    large = tmp_path / "large.txt"
    with large.open("wb") as file:
        file.truncate(200 << 20)

    async def scenario(pool: ReaderPool) -> None:
        with pytest.raises(TooLarge, match=r"readers\.memory_bytes is 67108864"):
            await pool.read(large, "large.txt")
        assert (await pool.read(good, "a.md")).blocks

    run(scenario, memory_bytes=64 << 20)


def test_a_file_above_the_size_limit_is_not_even_opened(tmp_path):
    large = tmp_path / "large.txt"
    large.write_bytes(b"x" * 11)

    async def scenario(pool: ReaderPool) -> None:
        with pytest.raises(TooLarge, match="max_file_bytes is 10; this file has 11"):
            await pool.read(large, "large.txt")

    run(scenario, max_file_bytes=10)


@pytest.mark.parametrize(
    ("number", "problem", "words"),
    [
        (signal.SIGSEGV, DamagedFile, "crashed on this file .SIGSEGV."),
        (signal.SIGABRT, DamagedFile, "crashed on this file .SIGABRT."),
        (signal.SIGKILL, TooLarge, r"readers\.memory_bytes is"),
    ],
)
def test_a_crash_is_that_files_problem_and_the_next_file_is_read(
    good, slow, number, problem, words
):
    async def scenario(pool: ReaderPool) -> None:
        reading = asyncio.create_task(pool.read(slow, "slow.html"))
        (await busy_reader()).send_signal(number)
        with pytest.raises(problem, match=words):
            await reading
        assert (await pool.read(good, "a.md")).blocks

    run(scenario)


def test_a_cancelled_reading_kills_its_process_within_a_second(good, slow):
    async def scenario(pool: ReaderPool) -> None:
        reading = asyncio.create_task(pool.read(slow, "slow.html"))
        process = await busy_reader()
        started = time.monotonic()
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
        assert time.monotonic() - started < 1
        assert not process.is_running()
        assert (await pool.read(good, "a.md")).blocks

    run(scenario)


def test_a_process_is_replaced_after_its_number_of_files(good):
    async def scenario(pool: ReaderPool) -> None:
        seen = set()
        for _ in range(5):
            await pool.read(good, "a.md")
            seen |= {process.pid for process in readers()}
        assert len(seen) >= 3

    run(scenario, files_per_worker=2)


def test_an_idle_process_that_died_is_no_files_problem(good):
    async def scenario(pool: ReaderPool) -> None:
        await pool.read(good, "a.md")
        for process in readers():
            process.kill()
        await asyncio.sleep(0.2)
        assert (await pool.read(good, "a.md")).blocks

    run(scenario)


def test_a_reader_knows_no_secret_of_the_service_nor_shows_a_password(slow, monkeypatch):
    monkeypatch.setenv("TREESPAN__AUTH__TOKEN", "of-the-service")

    async def scenario(pool: ReaderPool) -> None:
        reading = asyncio.create_task(pool.read(slow, "slow.html", "pass-word"))
        process = await busy_reader()
        shown = " ".join([*process.cmdline(), *process.environ().values()])
        assert "of-the-service" not in shown
        assert "pass-word" not in shown
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)

    run(scenario)


def test_readers_end_with_the_service_even_when_it_is_killed(slow):
    script = (
        "import asyncio, sys; from pathlib import Path\n"
        "from ingest_svc.readers.pool import ReaderPool\n"
        "asyncio.run(ReaderPool(1).read(Path(sys.argv[1]), 'slow.html'))\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen([sys.executable, "-c", script, str(slow)], env=environment) as service:
        children: list[psutil.Process] = []
        while not any(child.cpu_times().user > 0.8 for child in children):
            children = psutil.Process(service.pid).children()
            time.sleep(0.05)
        service.kill()
        gone, alive = psutil.wait_procs(children, timeout=5)
    assert gone
    assert not alive


def test_a_process_that_cannot_start_is_the_services_fault(monkeypatch, capfd):
    monkeypatch.setattr(sys, "executable", "/bin/false")

    async def start() -> None:
        with pytest.raises(WorkerStartError, match="exit status 1"):
            await ReaderProcess.start(Setup(ReaderLimits(), OcrConfig()))

    asyncio.run(start())


def test_what_a_library_prints_does_not_reach_the_protocol():
    script = (
        "import os\n"
        "from ingest_svc.readers import worker\n"
        "jobs, answers = worker._pipes()\n"
        "os.write(1, b'noise'); print('more noise', flush=True)\n"
        "answers.write(b'<' + jobs.read() + b'>'); answers.flush()\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", script],
        input=b"in",
        capture_output=True,
        env=environment,
        check=True,
    )
    assert done.stdout == b"<in>"
    assert b"noise" in done.stderr


def test_a_reader_starts_without_the_heavy_libraries():
    script = "import sys, ingest_svc.readers.worker; print(*sys.modules)"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, env=environment, check=True, text=True
    )
    heavy = {"onnxruntime", "tokenizers", "pymupdf", "numpy", "markdown_it", "selectolax"}
    assert not heavy & set(done.stdout.split())


@pytest.mark.parametrize("answer", [b"\xff\xff\xff\xff", b"\x01\0\0\0\xc1", b"\x02\0\0\0\x91\x01"])
def test_a_reader_that_answers_nonsense_is_not_believed(good, tmp_path, monkeypatch, answer):
    from ingest_svc.readers import frames

    bytes_said = frames.framed(frames.packed(frames.Ready())) + answer
    traitor = tmp_path / "traitor"
    traitor.write_text(
        f"#!{sys.executable}\nimport sys, time\n"
        f"sys.stdout.buffer.write({bytes_said!r}); sys.stdout.flush(); time.sleep(60)\n",
        "utf-8",
    )
    traitor.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(traitor))

    async def scenario(pool: ReaderPool) -> None:
        with pytest.raises(DamagedFile, match="answer nonsense"):
            await pool.read(good, "a.md")

    run(scenario)
