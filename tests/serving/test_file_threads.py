"""In a moment without threads files are waited for: a page that lost one of its parts stays blank."""

from __future__ import annotations

import asyncio
import io
import logging
import math
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import SpooledTemporaryFile

import httpx
import pytest
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile
from starlette.staticfiles import StaticFiles

from dashboard.serving import file_threads
from dpcore.threads import NoThread
from tests.test_threads import Short

SIZE = 300_000
TOGETHER = 10


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> Iterator[Short]:
    monkeypatch.setattr(file_threads, "AGAIN", 0.0)
    monkeypatch.setattr(file_threads, "_missing", False)
    file_threads.guard()
    yield Short(monkeypatch)
    file_threads.unguard()


async def served(folder: Path) -> int:
    """How much of a part of a page is answered."""
    transport = httpx.ASGITransport(app=StaticFiles(directory=folder))
    async with httpx.AsyncClient(transport=transport, base_url="http://lab") as client:
        answer = await client.get("/part.js")
        return len(answer.content) if answer.status_code == 200 else 0


async def uploaded(_: Path) -> int:
    """How much is kept of a file that is sent, which has no room in memory."""
    with SpooledTemporaryFile(max_size=10) as file:
        await UploadFile(file).write(bytes(SIZE))  # type: ignore[arg-type]
        return file.seek(0, io.SEEK_END)


KINDS: dict[str, Callable[[Path], Awaitable[int]]] = {"a part of a page": served, "an upload": uploaded}


async def in_a_moment_without(short: Short, work: Callable[[], Awaitable[int]], rested: int) -> list[int]:
    """What comes of it for so many at once, where so many threads had been made and the system gives no other."""
    barrier = threading.Barrier(max(rested, 1))
    await asyncio.gather(*(run_in_threadpool(barrier.wait) for _ in range(rested)))
    with short:
        asked = [asyncio.ensure_future(work()) for _ in range(TOGETHER)]
        while short.asked < 3 * TOGETHER and not all(one.done() for one in asked):
            await asyncio.sleep(0)
    return await asyncio.gather(*asked)


@pytest.mark.parametrize("guarded", [True, False], ids=["guarded", "as it was"])
@pytest.mark.parametrize("rested", [0, 1, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_whoever_asks_for_a_file_in_a_moment_without_threads_has_all_of_it(
    kind: str, rested: int, guarded: bool, short: Short, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """They were answered that the server failed, or a part of it; from then on, too, where threads end at rest."""
    (tmp_path / "part.js").write_bytes(bytes(SIZE))
    if not guarded:
        file_threads.unguard()
    found: list[int] = []
    with caplog.at_level(logging.WARNING), suppress(RuntimeError):
        found = asyncio.run(in_a_moment_without(short, lambda: KINDS[kind](tmp_path), rested))
    assert short.asked, "else this would show nothing"
    assert (found == [SIZE] * TOGETHER) == guarded
    assert len([one for one in caplog.messages if "files wait" in one]) == guarded


def test_what_a_thread_raises_is_raised_and_nothing_is_done_twice(short: Short) -> None:
    called: list[int] = []

    def fail() -> int:
        called.append(1)
        raise RuntimeError("can't start new thread")

    async def failed() -> int:
        with pytest.raises(RuntimeError, match="can't start"):
            await run_in_threadpool(fail)
        return 1

    assert asyncio.run(in_a_moment_without(short, failed, 1)) == [1] * TOGETHER
    assert len(called) == TOGETHER


def test_nobody_waits_for_good(short: Short, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_threads, "PATIENCE", 0.0)
    with short, pytest.raises(NoThread):
        asyncio.run(run_in_threadpool(math.sqrt, 4.0))


def test_threads_that_were_made_stay(short: Short) -> None:
    """Those at rest ended after ten seconds, all but one."""

    async def many_and_later_one() -> int:
        await in_a_moment_without(short, lambda: asyncio.sleep(0, SIZE), 5)
        there = {one for one in threading.enumerate() if isinstance(one, file_threads._Worker)}
        for one in there:
            one.idle_since -= 1000.0
        await run_in_threadpool(math.sqrt, 4.0)
        return sum(one.is_alive() and not one.stopping for one in there)

    assert asyncio.run(many_and_later_one()) == 5
