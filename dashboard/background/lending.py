"""Data lent to worker processes: laid once in shared memory, read there in place, and gone when the work ends.

Imported by every worker process, so it imports neither Streamlit nor a page. Only this user's processes can open the
memory; what a killed server leaves behind is removed by Python's resource tracker.
"""

from __future__ import annotations

import gc
import os
import pickle
import threading
import traceback
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from multiprocessing.shared_memory import SharedMemory
from pathlib import Path
from typing import Any, cast

_ALIGNED = 64  # bytes: where an array may begin
_FILES = Path("/dev/shm")  # noqa: S108 - where Linux shows shared memory, not a folder for files of ours


@dataclass(frozen=True, slots=True)
class Borrowed:
    """``work(value, part)`` as a function of the part, for a worker process: it carries the place, not the value.

    ``spans`` are the beginnings and ends of what lies there: the pickled value first, then its arrays.
    """

    work: Callable[[Any, Any], Any]
    name: str
    spans: tuple[tuple[int, int], ...]

    def __call__(self, part: Any) -> Any:
        memory = SharedMemory(self.name)
        try:
            return self._run(_bytes(memory), part)
        except BaseException as error:
            _let_go(error)
            raise
        finally:
            _close(memory)

    def _run(self, memory: memoryview, part: Any) -> Any:
        stream, *arrays = (memory[start:stop].toreadonly() for start, stop in self.spans)
        return self.work(pickle.loads(stream, buffers=arrays), part)  # noqa: S301 - our own bytes


@dataclass(frozen=True, slots=True)
class Carried:
    """As ``Borrowed`` where memory cannot be shared: the value goes along with every part."""

    work: Callable[[Any, Any], Any]
    value: Any

    def __call__(self, part: Any) -> Any:
        return self.work(self.value, part)


class Loan:
    """Lays ``value`` in shared memory until ``close``; ``lent(work)`` is what to hand to a worker process.

    ``take`` is told how many bytes it will be, and may raise. Not ``shared``, for executors elsewhere, or where the
    system has no room, the value is carried along instead.
    """

    def __init__(self, value: Any, take: Callable[[int], None] | None = None, *, shared: bool = True) -> None:
        self._value = value
        self._memory: SharedMemory | None = None
        self._lock = threading.Lock()
        if not shared:
            if take is not None:
                take(weight(value))
            return
        pieces = _pieces(value)
        self._spans = _spans([piece.nbytes for piece in pieces])
        if take is not None:
            take(sum(piece.nbytes for piece in pieces))
        try:
            self._memory = _reserved(max(stop for _, stop in self._spans))
        except OSError:
            return
        self._value = None
        for (start, stop), piece in zip(self._spans, pieces, strict=True):
            _bytes(self._memory)[start:stop] = piece

    def lent(self, work: Callable[[Any, Any], Any]) -> Callable[[Any], Any]:
        if self._memory is None:
            return Carried(work, self._value)
        return Borrowed(work, self._memory.name, self._spans)

    def close(self) -> None:
        """Give the memory back; what is still to come from it then fails."""
        with self._lock:
            memory, self._memory, self._value = self._memory, None, None
        if memory is not None:
            memory.close()
            memory.unlink()


def weight(value: Any) -> int:
    """Bytes that a loan of ``value`` takes."""
    return sum(piece.nbytes for piece in _pieces(value))


def lend(executor: Executor, value: Any, take: Callable[[int], None] | None = None) -> Any:
    """``value`` as this executor's workers are lent it (its ``lend``); carried along where it has no way of its own.

    ``take`` as for ``Loan``.
    """
    own = getattr(executor, "lend", None)
    return Loan(value, take, shared=False) if own is None else own(value, take)


def _pieces(value: Any) -> list[memoryview]:
    """The value without its arrays, and these, where they are."""
    arrays: list[pickle.PickleBuffer] = []
    stream = pickle.dumps(value, protocol=5, buffer_callback=arrays.append)
    return [memoryview(stream), *(array.raw() for array in arrays)]


def _spans(sizes: list[int]) -> tuple[tuple[int, int], ...]:
    found, start = [], 0
    for size in sizes:
        found.append((start, start + size))
        start += -(-size // _ALIGNED) * _ALIGNED
    return tuple(found)


def _reserved(size: int) -> SharedMemory:
    """New memory with room for all of it: writing to what the system cannot provide would end the server."""
    memory = SharedMemory(create=True, size=size)
    try:
        if (_FILES / memory.name).exists():
            with (_FILES / memory.name).open("r+b") as file:
                os.posix_fallocate(file.fileno(), 0, size)
    except OSError:
        memory.close()
        memory.unlink()
        raise
    return memory


def _bytes(memory: SharedMemory) -> memoryview:
    return cast(memoryview, memory.buf)  # None only after it was closed


def _let_go(error: BaseException | None) -> None:
    """The frames of an error, and of what led to it, hold on to arrays that lie in the memory."""
    while error is not None:
        traceback.clear_frames(error.__traceback__)
        error = error.__cause__ or error.__context__


def _close(memory: SharedMemory) -> None:
    try:
        memory.close()
    except BufferError:  # objects that refer to each other still hold an array
        gc.collect()
        memory.close()
