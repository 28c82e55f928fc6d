"""Slices on other computers: a cluster of Dask's takes them while it answers, and this computer's workers when not.

EPSILON_LAB_CLUSTER names its scheduler. Only work that was lent to the cluster (``Cluster.lend``) leaves this computer:
simulations. Each worker gets the data once, as a value of its own that dies with the job, with our connection, or with
the worker; it is never given to a second worker by the first, so that nothing of it stays where no slice needs it. A
worker takes a slice when it has a thread free. One that is lost loses its slice, which another does again: slices are
seeded by what they are, so the results are the same wherever and however often they ran.
"""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import logging
import os
import re
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from typing import Any, ParamSpec, TypeVar, cast
from urllib.parse import urlsplit

from dashboard.background import slices
from dashboard.background.in_turn import InTurn
from dashboard.background.lending import Loan, weight
from dashboard.background.slices import Came, program, slice_of
from dashboard.background.workers import Workers
from dashboard.people import visitors
from dpcore.threads import NoThread, begun

P = ParamSpec("P")
R = TypeVar("R")

VARIABLE, PLAIN = "EPSILON_LAB_CLUSTER", "EPSILON_LAB_CLUSTER_PLAIN"
CONNECT, ANSWER = 5.0, 5.0
"""Seconds for the scheduler to let us in, and to say who works for it."""
LOOK, AGAIN = 1.0, 10.0
"""Seconds between two questions who works for it, and until one that did not answer is tried again."""
LIVES = 3
"""Workers that one slice may lose before it is given up: it may be what ends them."""
OTHER = "has workers of another version of this program, of Python, or of a package"
_LOG = logging.getLogger(__name__)


def wanted() -> str | None:
    """The scheduler's address; None where there is no cluster. Raises ValueError with a sentence."""
    address = os.environ.get(VARIABLE, "").strip()
    if not address:
        return None
    try:
        parts = urlsplit(address)
        sound = parts.scheme in ("tcp", "tls") and bool(parts.hostname) and bool(parts.port)
    except ValueError:
        sound = False
    if not sound or re.fullmatch(r"\w+://[^/?#@]+", address) is None:
        raise ValueError(f"{VARIABLE} must be the scheduler's address, such as tls://cluster.example:8786")
    if parts.scheme == "tcp" and not visitors.is_here(parts.hostname or "") and os.environ.get(PLAIN) != "trusted":
        raise ValueError(
            f"{VARIABLE} names another computer by tcp, which anyone on the way can read: use tls, or say that the "
            f"network is yours alone with {PLAIN}=trusted"
        )
    if importlib.util.find_spec("distributed") is None:
        raise ValueError("a cluster needs Dask: install epsilon-lab[cluster]")
    return address


class Shipment:
    """What all slices of one job need, until ``close``: lent to each worker of the cluster that takes one, and to this
    computer's own workers should one run here."""

    def __init__(self, value: Any, forget: Callable[[Shipment], None]) -> None:
        self.value = value
        self._forget = forget
        self._here: Loan | None = None
        self._closed = False
        self._lock = threading.Lock()

    @property
    def closed(self) -> bool:
        return self._closed

    def lent(self, work: Callable[[Any, Any], Any]) -> Shipped:
        return Shipped(self, work)

    def here(self, work: Callable[[Any, Any], Any]) -> Callable[[Any], Any]:
        """``work`` for this computer's own workers. Raises CancelledError when the job is over."""
        with self._lock:
            if self._closed:
                raise CancelledError
            if self._here is None:
                self._here = Loan(self.value)
            return self._here.lent(work)

    def close(self) -> None:
        """Take it back everywhere."""
        with self._lock:
            self._closed, here, self._here, self.value = True, self._here, None, None
        if here is not None:
            here.close()
        self._forget(self)


class Shipped:
    """``work(value, part)`` as a function of the part, to be handed to ``Cluster.submit``."""

    def __init__(self, shipment: Shipment, work: Callable[[Any, Any], Any]) -> None:
        self.shipment, self.work = shipment, work

    def __call__(self, part: Any) -> Any:
        return self.work(self.shipment.value, part)


class _Lost(Exception):
    """The worker went before its slice came back."""


class SliceFailed(RuntimeError):
    """A slice raised something on a worker; only its name came back."""


class _Unwanted(Exception):
    """It was cancelled while it waited."""


def _begins(future: Future[Any]) -> None:
    """From here on it cannot be cancelled any more. Raises _Unwanted."""
    if not future.running() and not future.set_running_or_notify_cancel():
        raise _Unwanted


def _fail(future: Future[Any], error: BaseException) -> None:
    if future.running() or future.set_running_or_notify_cancel():
        future.set_exception(error)


class _Place:
    """One worker of the cluster: how many slices it has, and what it was lent."""

    def __init__(self, address: str, threads: int) -> None:
        self.address, self.threads, self.busy = address, threads, 0
        self.gone = asyncio.Event()
        self._lent: dict[Shipment, asyncio.Future[Any]] = {}

    async def run(self, client: Any, shipped: Shipped, part: Any) -> Came:
        """One slice on this worker. Raises _Lost when it goes."""
        doing = asyncio.ensure_future(self._run(client, shipped, part))
        doing.add_done_callback(_heard)
        gone = asyncio.ensure_future(self.gone.wait())
        try:
            await asyncio.wait({doing, gone}, return_when=asyncio.FIRST_COMPLETED)
            if not doing.done():
                raise _Lost
            return doing.result()
        finally:
            doing.cancel()
            gone.cancel()

    async def _run(self, client: Any, shipped: Shipped, part: Any) -> Came:
        future = None
        try:
            value = await self._lend(client, shipped.shipment)
            future = client.submit(
                slice_of,
                shipped.work,
                value,
                part,
                key=f"slice-{os.urandom(8).hex()}",  # says nothing of the data, and is never answered from before
                workers=[self.address],
                allow_other_workers=False,
                pure=False,
            )
            return cast(Came, await future)
        except Exception as error:  # ``slice_of`` raises nothing: its worker, or what that was lent, is no more
            raise _Lost from error
        finally:
            if future is not None:
                future.release()

    async def _lend(self, client: Any, shipment: Shipment) -> Any:
        """The value on this worker: brought there by the first slice, and waited for by the others.

        A slice of a job that is over may get here before it is told so: what was taken back is not brought anew.
        """
        if shipment.closed:
            raise asyncio.CancelledError
        if shipment not in self._lent:
            bringing = client.scatter([shipment.value], workers=[self.address], hash=False)
            self._lent[shipment] = asyncio.ensure_future(bringing)
            self._lent[shipment].add_done_callback(_heard)
        (value,) = await asyncio.shield(self._lent[shipment])
        return value

    def forget(self, shipment: Shipment) -> None:
        """Let the worker drop what it was lent, at once or as soon as it has come."""
        brought = self._lent.pop(shipment, None)
        if brought is not None:
            brought.add_done_callback(_release)


def _heard(done: asyncio.Future[Any]) -> None:
    """Python writes what was raised into the log where nobody asked for it."""
    if not done.cancelled():
        done.exception()


def _release(brought: asyncio.Future[Any]) -> None:
    if not brought.cancelled() and brought.exception() is None:
        for value in brought.result():
            value.release()


class Cluster(Executor):
    """Runs what was lent to it (``lend``) on a cluster, and everything else by ``local``.

    Where the cluster does not answer, has no workers or other programs, ``alone`` is true and ``local`` goes on with
    what was under way. A thread of its own speaks with the scheduler; nothing here waits for it.
    """

    def __init__(self, address: str, local: Workers) -> None:
        self.local = local
        self.turns = InTurn(self)
        self._address = address
        self._places: dict[str, _Place] = {}
        self._unfit: set[str] = set()  # addresses of workers of another program
        self._client: Any = None
        self._tried = self._closing = False
        self._told = ""
        self._loop = asyncio.new_event_loop()
        self._free = asyncio.Condition()
        try:
            self._thread = begun(self._loop.run_forever, "cluster")
        except NoThread:
            self._loop.close()
            raise
        self._watching = self._start(self._watch())

    @property
    def alone(self) -> bool:
        """Whether the cluster was asked, and is not there."""
        return self._tried and not self._places

    @property
    def threads(self) -> int:
        """How many slices it works on at once; 0 while it is not there."""
        return sum(place.threads for place in list(self._places.values()))

    @property
    def at_once(self) -> int:
        """Slices that one job may have handed over: one more than there are threads, so that none of them waits."""
        return self.threads + 1 if self._places else self.local.at_once

    @property
    def working(self) -> int:
        """See ``Workers.working``."""
        return self.threads if self._places else self.local.working

    def lend(self, value: Any, take: Callable[[int], None] | None = None) -> Shipment:
        """``take`` as for ``Loan``."""
        if take is not None:
            take(weight(value))
        return Shipment(value, self._take_back)

    def submit(self, fn: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> Future[R]:
        if isinstance(fn, Shipped):
            future: Future[Any] = Future()
            self._start(self._answered(future, fn, args[0]))
            return future
        return self.local.submit(fn, *args, **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        if not self._closing:
            self._closing = True
            self._watching.cancel()
            self._start(self._end())
            self._thread.join()
            self._loop.close()
        self.local.shutdown(wait=wait, cancel_futures=cancel_futures)

    def _start(self, work: Coroutine[Any, Any, R]) -> Future[R]:
        try:
            return asyncio.run_coroutine_threadsafe(work, self._loop)
        except RuntimeError:
            work.close()
            raise

    def _take_back(self, shipment: Shipment) -> None:
        def everywhere() -> None:
            for place in self._places.values():
                place.forget(shipment)

        if not self._closing:
            self._loop.call_soon_threadsafe(everywhere)

    # -- what follows runs in the thread that speaks with the scheduler ------------------------------------------------

    async def _answered(self, future: Future[Any], shipped: Shipped, part: Any) -> None:
        """A slice, from when it waits until its worker is done with it: Dask stops none that runs, so that one which
        nobody wants any more has its place until then. It can be cancelled while it waits, as in a pool of processes.
        """
        try:
            found = await self._slice(future, shipped, part)
        except _Unwanted:
            return
        except asyncio.CancelledError:  # the server ends, or what it was lent was taken back
            _fail(future, CancelledError())
            raise
        except Exception as error:  # noqa: BLE001 - it is for whoever waits
            _fail(future, error)
        else:
            future.set_result(found)

    async def _slice(self, future: Future[Any], shipped: Shipped, part: Any) -> Any:
        for _ in range(LIVES):
            place = await self._place()
            try:
                _begins(future)
            except _Unwanted:
                if place is not None:
                    place.busy -= 1
                    await self._tell()
                raise
            if place is None:
                return await self._by_local(shipped, part)
            try:
                return _value(await place.run(self._client, shipped, part))
            except _Lost:
                if self._places.get(place.address) is place:
                    self._drop(place)
            finally:
                place.busy -= 1
                await self._tell()
        raise BrokenExecutor(f"{LIVES} workers were lost with one slice")

    async def _by_local(self, shipped: Shipped, part: Any) -> Any:
        return await asyncio.wrap_future(self.local.submit(shipped.shipment.here(shipped.work), part))

    async def _place(self) -> _Place | None:
        """A worker with a free thread, the least busy; None when there is no worker at all."""
        async with self._free:
            while self._places:
                found = min(self._places.values(), key=lambda place: place.busy / place.threads)
                if found.busy < found.threads:
                    found.busy += 1
                    return found
                await self._free.wait()
        return None

    async def _tell(self) -> None:
        async with self._free:
            self._free.notify_all()

    def _drop(self, place: _Place) -> None:
        place.gone.set()
        self._places.pop(place.address, None)

    async def _lose(self, why: str) -> None:
        for place in list(self._places.values()):
            self._drop(place)
        self._say(f"the cluster {why}; this computer's workers go on alone")
        await self._tell()

    def _say(self, line: str) -> None:
        if line != self._told:
            self._told = line
            _LOG.warning(line)

    async def _watch(self) -> None:
        """Keep up the connection, for as long as the server lives."""
        while True:
            why = "does not answer"
            try:
                await self._stay()
            except Exception as error:  # noqa: BLE001 - whatever Dask raises, people's work goes on here
                why = f"does not answer ({type(error).__name__})"
            self._tried = True
            await self._lose(why)
            await asyncio.sleep(AGAIN)

    async def _stay(self) -> None:
        """Be connected, and know who works, until the scheduler does not answer."""
        client = await _client(self._address)
        try:
            self._client = client
            while True:
                async with asyncio.timeout(ANSWER):
                    found: dict[str, int] = await client.scheduler.ncores_running()
                await self._now(found)
                await asyncio.sleep(LOOK)
        finally:
            for place in list(self._places.values()):
                self._drop(place)
            self._client = None
            self._unfit.clear()
            await _close(client)

    async def _now(self, found: dict[str, int]) -> None:
        """Who works for it now, by address, with so many threads."""
        for place in list(self._places.values()):
            if place.address not in found:
                self._drop(place)
        self._unfit &= set(found)
        new = [one for one in found if found[one] > 0 and one not in self._places and one not in self._unfit]
        if new:
            async with asyncio.timeout(ANSWER):
                programs = await self._client.run(slices.program, workers=new, on_error="return")
            for address in new:
                if programs.get(address) == program():
                    self._places[address] = _Place(address, found[address])
                elif isinstance(programs.get(address), str | ImportError):
                    self._unfit.add(address)
        self._tried = True
        if self._places:
            self._say("the cluster works for us" + (f", and {OTHER}, which are left out" if self._unfit else ""))
            await self._tell()
        else:
            await self._lose(OTHER if self._unfit else "has no workers")

    async def _end(self) -> None:
        under_way = asyncio.all_tasks(self._loop) - {asyncio.current_task()}
        for task in under_way:
            task.cancel()
        if under_way:
            await asyncio.wait(under_way, timeout=ANSWER)
        self._loop.call_soon(self._loop.stop)


def _value(came: Came) -> Any:
    """What came back. Raises SliceFailed with no more than a name, also where something else did: a worker could send
    what does anything once it is looked at."""
    if type(came) is not Came or type(came.error) is not str:
        raise SliceFailed("NoResult")
    if came.error:
        raise SliceFailed(came.error if came.error.isidentifier() else "NoName")
    return came.value


async def _client(address: str) -> Any:
    """A connection to the scheduler."""
    distributed: Any = importlib.import_module("distributed")
    # a lost connection is one line of ours, not their traceback
    for name in list(logging.root.manager.loggerDict):
        if name.split(".")[0] in ("distributed", "tornado"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
    secure = distributed.Security(require_encryption=True) if address.startswith("tls:") else None
    client = distributed.Client(
        address,
        asynchronous=True,
        set_as_default=False,
        direct_to_workers=False,  # only the scheduler has to be reached from here
        security=secure,
        timeout=CONNECT,
        name="epsilon-lab",
    )
    try:
        async with asyncio.timeout(CONNECT):
            return await client
    except BaseException:
        await _close(client)
        raise


async def _close(client: Any) -> None:
    try:
        async with asyncio.timeout(ANSWER):
            await client.close(timeout=1)
    except (OSError, TimeoutError, CancelledError) as error:
        _LOG.info("the connection to the cluster did not end well: %s", type(error).__name__)
    finally:
        client.status = "closed"  # else it begins to close once more when it is collected, in a loop that has ended
