"""Data lent to worker processes: laid once in shared memory, read there in place, and gone when the work ends.

Imported by every worker process, so it imports neither Streamlit nor a page. Only this user's processes can open the
memory. On Linux it has no name: workers open it by the server's descriptor of it, so it is gone with the last of them,
however they end. Elsewhere Python's resource tracker removes what a killed server leaves behind.
"""

from __future__ import annotations

import functools
import gc
import mmap
import os
import pickle
import threading
import traceback
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from multiprocessing.shared_memory import SharedMemory
from pathlib import Path
from typing import Any, Protocol, cast

_ALIGNED = 64  # bytes: where an array may begin


class _Open(Protocol):
    """Memory that this process has open."""

    @property
    def buf(self) -> memoryview | None:
        """None after it was closed."""

    def close(self) -> None:
        """Raises BufferError while an array of it is held."""


class _Place(Protocol):
    """Where the memory is, for any process of this user."""

    def mapped(self) -> _Open:
        """Raises FileNotFoundError when it is gone."""


@dataclass(frozen=True, slots=True)
class _Named:
    name: str

    def mapped(self) -> _Open:
        return SharedMemory(self.name)


@dataclass(frozen=True, slots=True)
class _Nameless:
    """The descriptor of a process; ``inode`` tells it from what has its number afterwards."""

    process: int
    descriptor: int
    inode: int

    def mapped(self) -> _Open:
        try:
            handle = os.open(f"/proc/{self.process}/fd/{self.descriptor}", os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        except OSError as error:  # a socket, which has the number now, cannot be opened
            raise FileNotFoundError from error
        try:
            found = os.fstat(handle)
            if found.st_nlink or found.st_ino != self.inode:
                raise FileNotFoundError
            return _Mapped(handle, mmap.ACCESS_READ)
        finally:
            os.close(handle)


class _Mapped:
    def __init__(self, handle: int, access: int) -> None:
        self._map = mmap.mmap(handle, 0, access=access)
        self.buf: memoryview | None = memoryview(self._map)

    def close(self) -> None:
        if self.buf is not None:
            self.buf.release()
            self.buf = None
        self._map.close()


@dataclass(frozen=True, slots=True)
class Borrowed:
    """``work(value, part)`` as a function of the part, for a worker process: it carries the place, not the value.

    ``spans`` are the beginnings and ends of what lies there: the pickled value first, then its arrays.
    """

    work: Callable[[Any, Any], Any]
    place: _Place
    spans: tuple[tuple[int, int], ...]

    def __call__(self, part: Any) -> Any:
        memory = self.place.mapped()
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
        self._memory: _Reserved | None = None
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
        self._memory.fill(self._spans, pieces)

    def lent(self, work: Callable[[Any, Any], Any]) -> Callable[[Any], Any]:
        if self._memory is None:
            return Carried(work, self._value)
        return Borrowed(work, self._memory.place, self._spans)

    def close(self) -> None:
        """Give the memory back; what is still to come from it then fails."""
        with self._lock:
            memory, self._memory, self._value = self._memory, None, None
        if memory is not None:
            memory.free()


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


class _Reserved(Protocol):
    """Memory with room for all of it."""

    @property
    def place(self) -> _Place: ...

    def fill(self, spans: tuple[tuple[int, int], ...], pieces: list[memoryview]) -> None:
        """Lay each piece in its span."""

    def free(self) -> None:
        """Give it back; who has it open keeps it until then."""


class _ByDescriptor:
    def __init__(self, size: int) -> None:
        self._handle = os.memfd_create("epsilon-lab", os.MFD_CLOEXEC)
        try:
            os.posix_fallocate(self._handle, 0, size)  # writing to what the system cannot provide would end the server
        except OSError:
            os.close(self._handle)
            raise
        self.place: _Place = _Nameless(os.getpid(), self._handle, os.fstat(self._handle).st_ino)

    def fill(self, spans: tuple[tuple[int, int], ...], pieces: list[memoryview]) -> None:
        memory = _Mapped(self._handle, mmap.ACCESS_WRITE)
        for (start, stop), piece in zip(spans, pieces, strict=True):
            _bytes(memory)[start:stop] = piece
        memory.close()

    def free(self) -> None:
        os.close(self._handle)


class _ByName:
    def __init__(self, size: int) -> None:
        self._memory = SharedMemory(create=True, size=size)
        self.place: _Place = _Named(self._memory.name)

    def fill(self, spans: tuple[tuple[int, int], ...], pieces: list[memoryview]) -> None:
        for (start, stop), piece in zip(spans, pieces, strict=True):
            _bytes(self._memory)[start:stop] = piece

    def free(self) -> None:
        self._memory.close()
        self._memory.unlink()


def _reserved(size: int) -> _Reserved:
    return _ByDescriptor(size) if _shows_descriptors() else _ByName(size)


@functools.cache
def _shows_descriptors() -> bool:
    """Whether another process of this user can open what this one has open."""
    own = Path("/proc/self/fd")
    return hasattr(os, "memfd_create") and own.exists() and own.stat().st_uid == os.geteuid()


def _bytes(memory: _Open) -> memoryview:
    return cast(memoryview, memory.buf)  # None only after it was closed


def _let_go(error: BaseException | None) -> None:
    """The frames of an error, and of what led to it, hold on to arrays that lie in the memory."""
    while error is not None:
        traceback.clear_frames(error.__traceback__)
        error = error.__cause__ or error.__context__


def _close(memory: _Open) -> None:
    try:
        memory.close()
    except BufferError:  # objects that refer to each other still hold an array
        gc.collect()
        memory.close()
