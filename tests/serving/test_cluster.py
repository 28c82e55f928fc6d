"""Slices on a cluster: a real scheduler and its workers, as threads of this process; one is lost, then all are.

With processes, three workers, and kill -9 it is ``make reliability``.
"""

from __future__ import annotations

import asyncio
import logging
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dashboard.__main__ import main
from dashboard.background import cluster
from dashboard.background.cluster import Cluster, SliceFailed
from dashboard.background.jobs import Job
from dpcore.training import Sweep, run_slice

PATIENCE = 120.0


class Here(ThreadPoolExecutor):
    """In place of this computer's worker processes: it counts what it is given."""

    at_once = 2

    def __init__(self) -> None:
        super().__init__(2)
        self.given = 0

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.given += 1
        return super().submit(fn, *args, **kwargs)


class Dask:
    """A scheduler and workers in a thread of their own."""

    def __init__(self, security: Any = None) -> None:
        self.options: dict[str, Any] = {"host": "127.0.0.1", "dashboard_address": "127.0.0.1:0", "dashboard": False}
        self.options |= {} if security is None else {"security": security}
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()
        self.workers: list[Any] = []
        self.scheduler = self.do(self._schedule())

    def do(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(PATIENCE)

    async def _schedule(self) -> Any:
        import distributed

        return await distributed.Scheduler(port=0, **self.options)

    async def _work(self) -> Any:
        import distributed

        return await distributed.Worker(self.scheduler.address, nthreads=1, **self.options)

    def more(self, count: int = 1) -> None:
        self.workers += [self.do(self._work()) for _ in range(count)]

    def lose(self, worker: Any) -> None:
        """As when its computer is switched off: its connections break, and nothing that it does comes back."""

        async def gone() -> None:
            worker.batched_stream.comm.abort()
            await worker.close(nanny=False, executor_wait=False, timeout=0)

        self.workers.remove(worker)
        self.do(gone())

    def end(self) -> None:
        async def gone() -> None:
            for worker in self.workers:
                await worker.close(nanny=False, executor_wait=False)
            await self.scheduler.close()

        if self.thread.is_alive():
            self.do(gone())
            self.loop.call_soon_threadsafe(self.loop.stop)
            self.thread.join()
            self.loop.close()


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "LOOK", 0.05)
    monkeypatch.setattr(cluster, "AGAIN", 0.1)


@pytest.fixture
def dask() -> Iterator[Dask]:
    found = Dask()
    yield found
    found.end()


@pytest.fixture
def far(dask: Dask, quick: None) -> Iterator[Cluster]:
    dask.more(2)
    found = Cluster(dask.scheduler.address, Here())  # type: ignore[arg-type]
    until(lambda: found.threads == 2)
    yield found
    found.shutdown()


def until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end, "it did not come to be"
        time.sleep(0.01)


class Rows:
    """Data that count how often they are brought somewhere."""

    brought = 0

    def __init__(self) -> None:
        self.rows = np.arange(10.0)

    def __reduce__(self) -> Any:
        return _bring, ()


def _bring() -> Rows:
    Rows.brought += 1
    return Rows()


GO = threading.Event()
DOING: list[int] = []


def waiting(value: Rows, part: int) -> float:
    """A slice that ends when the test says so."""
    DOING.append(part)
    assert GO.wait(PATIENCE)
    if part < 0:
        raise ValueError("12345 is a private value")
    return float(part * value.rows.sum())


@pytest.fixture(autouse=True)
def anew() -> None:
    GO.clear()
    DOING.clear()
    Rows.brought = 0


def run(pool: Any, work: Any, value: Any, parts: Any) -> Job:
    loan = pool.lend(value)
    return Job(pool, loan.lent(work), parts, ended=loan.close)


def small_sweep() -> Sweep:
    rng = np.random.Generator(np.random.SFC64(0))
    X, y = rng.uniform(-0.5, 0.5, (60, 3)), np.where(rng.random(60) < 0.5, 1.0, -1.0)
    methods = ("scaled_descent", "noisy_gradient_descent", "objective_perturbation")
    return Sweep(X=X, y=y, X_test=X, y_test=y, methods=methods, epsilon=(0.5, 1.0), seeds=6)


@pytest.mark.thorough
def test_a_lost_worker_s_slice_is_done_by_another_and_every_number_is_the_same(far: Cluster, dask: Dask) -> None:
    """Each worker gets the data once, the lost one's slice is repeated, and at the end nobody holds anything."""
    job = run(far, waiting, Rows(), range(1, 8))
    until(lambda: len(DOING) == 2)
    assert far.at_once == 3
    dask.lose(dask.workers[0])
    GO.set()
    job.wait(PATIENCE, lambda results: False)
    assert job.results() == [45.0 * part for part in range(1, 8)]
    assert sorted(DOING) != list(range(1, 8)), "one slice was done twice"
    assert sorted(set(DOING)) == list(range(1, 8))
    assert Rows.brought == 2
    dask.more()
    until(lambda: far.threads == 2)
    sweep = small_sweep()
    there = run(far, run_slice, sweep, sweep.parts())
    there.wait(PATIENCE, lambda results: False)
    assert there.error is None
    for found, part in zip(there.results(), sweep.parts(), strict=True):
        here = run_slice(sweep, part)
        assert {name: values.tobytes() for name, values in found.values.items()} == {
            name: values.tobytes() for name, values in here.values.items()
        }
    assert far.local.given == 0  # type: ignore[attr-defined]
    until(lambda: not any(worker.data for worker in dask.workers))
    until(lambda: not dask.scheduler.tasks)


def test_nobody_waits_when_the_cluster_goes_and_it_is_used_again_when_it_comes(
    far: Cluster, dask: Dask, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was under way is done here; the page has a sentence, the log a line each time it changes."""
    job = run(far, waiting, Rows(), range(1, 5))
    until(lambda: len(DOING) == 2)
    with caplog.at_level(logging.WARNING):
        for worker in list(dask.workers):
            dask.lose(worker)
        until(lambda: far.alone)
        GO.set()
        job.wait(PATIENCE, lambda results: False)
        assert job.results() == [45.0 * part for part in range(1, 5)]
        assert far.local.given == 4  # type: ignore[attr-defined]
        until(lambda: len(told(caplog)) == 1)
        dask.more()
        until(lambda: len(told(caplog)) == 2)
        assert not far.alone
        monkeypatch.setattr(cluster, "ANSWER", 1.0)
        dask.end()
        until(lambda: told(caplog)[-1].startswith("the cluster does not answer ("))
        assert far.alone
    assert [line.split(";")[0] for line in told(caplog)][:2] == [
        "the cluster has no workers",
        "the cluster works for us",
    ]
    assert "Traceback" not in caplog.text


def told(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.name == cluster.__name__]


def test_a_job_that_is_cancelled_leaves_nothing_there(far: Cluster, dask: Dask) -> None:
    job = run(far, waiting, Rows(), range(1, 50))
    until(lambda: len(DOING) == 2)
    job.cancel()
    assert job.finished
    GO.set()
    until(lambda: not dask.scheduler.tasks)
    assert set(DOING) <= {1, 2, 3}, "what was handed over, and nothing more"


def test_a_worker_has_no_other_slice_while_it_does_one_that_nobody_wants(far: Cluster) -> None:
    """Dask stops none that runs: whoever began slices and cancelled them had others wait behind them, and charged."""
    job = run(far, waiting, Rows(), range(1, 50))
    until(lambda: len(DOING) == 2)
    job.cancel()
    asked = run(far, waiting, Rows(), [60])
    time.sleep(0.3)
    assert [place.busy for place in far._places.values()] == [1, 1]
    assert 60 not in DOING
    GO.set()
    asked.wait(PATIENCE, lambda results: False)
    assert asked.complete
    until(lambda: not any(place.busy for place in far._places.values()))
    assert job.error is None


def test_a_slice_that_begins_when_its_job_is_over_lends_nothing() -> None:
    """Its worker would hold it for as long as the server lives."""
    place, shipment = cluster._Place("tcp://127.0.0.1:1", 1), cluster.Shipment(object(), lambda shipment: None)
    shipment.close()
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(place._lend(None, shipment))
    assert place._lent == {}


def test_what_a_slice_raises_comes_back_by_its_name_alone(far: Cluster, caplog: pytest.LogCaptureFixture) -> None:
    GO.set()
    job = run(far, waiting, Rows(), [-1])
    job.wait(PATIENCE, lambda results: False)
    assert isinstance(job.error, SliceFailed)
    assert str(job.error) == "ValueError"
    assert "12345" not in caplog.text


def test_only_what_was_lent_to_it_goes_to_the_cluster(far: Cluster) -> None:
    """Anything else that is handed to the pool, by whomever, stays on this computer."""
    assert far.submit(threading.current_thread).result(PATIENCE).name.startswith("ThreadPool")
    assert far.local.given == 1  # type: ignore[attr-defined]


def test_workers_of_another_program_are_not_used(
    dask: Dask, quick: None, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Theirs would be other numbers."""
    dask.more()
    monkeypatch.setattr(cluster, "program", lambda: "another")
    far = Cluster(dask.scheduler.address, Here())  # type: ignore[arg-type]
    try:
        until(lambda: far.alone)
        GO.set()
        job = run(far, waiting, Rows(), [1, 2])
        job.wait(PATIENCE, lambda results: False)
        assert job.results() == [45.0, 90.0]
        assert Rows.brought == 0 or far.local.given == 2  # type: ignore[attr-defined]
        assert any(cluster.OTHER in line for line in told(caplog))
    finally:
        far.shutdown()


def test_by_tls_with_the_certificates_that_the_environment_names(
    quick: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As docs/cluster.md sets it up; whoever has no certificate of that authority is not let in."""
    import dask
    import distributed

    pem, key = str(tmp_path / "pem"), str(tmp_path / "key")
    made = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-batch"]
    subprocess.run([*made, "-keyout", key, "-out", pem], check=True, capture_output=True)
    ends = {
        f"tls_{end}_{kind}": file for end in ("scheduler", "worker") for kind, file in (("cert", pem), ("key", key))
    }
    secure = Dask(distributed.Security(require_encryption=True, tls_ca_file=pem, **ends))
    prefix = "DASK_DISTRIBUTED__COMM__TLS__"
    environment = {f"{prefix}CA_FILE": pem, f"{prefix}CLIENT__CERT": pem, f"{prefix}CLIENT__KEY": key}
    read = dask.config.collect_env(environment)["distributed"]["comm"]["tls"]
    client = {f"distributed.comm.tls.client.{name}": file for name, file in read["client"].items()}
    certificates = {"distributed.comm.tls.ca_file": read["ca_file"], **client}
    try:
        secure.more()
        assert secure.scheduler.address.startswith("tls://")
        for known in (True, False):
            if not known:
                monkeypatch.setattr(cluster, "CONNECT", 0.5)  # a scheduler that does not know somebody says nothing
            with dask.config.set(certificates if known else {}):
                far = Cluster(secure.scheduler.address, Here())  # type: ignore[arg-type]
                try:
                    until(lambda far=far: far._tried)  # type: ignore[misc]
                    assert far.alone != known
                finally:
                    far.shutdown()
    finally:
        secure.end()


@pytest.mark.parametrize(
    ("address", "plain", "sentence"),
    [
        ("tcp://127.0.0.1:8786", "", ""),
        ("tcp://[::1]:8786", "", ""),
        ("tls://cluster.example:8786", "", ""),
        ("tcp://cluster.example:8786", "trusted", ""),
        ("tcp://cluster.example:8786", "", "by tcp, which anyone on the way can read"),
        ("tcp://127.0.0.1.example:8786", "", "by tcp"),
        ("tcp://cluster.example:8786", "yes", "by tcp"),
        ("tcp://cluster.example", "", "must be the scheduler's address"),
        ("tcp://127.0.0.1:none", "", "must be the scheduler's address"),
        ("tcp://127.0.0.1:8786@cluster.example:1", "", "must be the scheduler's address"),
        ("inproc://1/2/3", "", "must be the scheduler's address"),
        ("127.0.0.1:8786", "", "must be the scheduler's address"),
    ],
)
def test_private_rows_leave_by_tls_or_where_it_is_stated(
    address: str, plain: str, sentence: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(cluster.VARIABLE, address)
    monkeypatch.setenv(cluster.PLAIN, plain)
    if not sentence:
        assert cluster.wanted() == address
        return
    assert main(["serve"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert sentence in line


def test_a_cluster_without_dask_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(cluster.VARIABLE, "tcp://127.0.0.1:8786")
    monkeypatch.setattr(cluster.importlib.util, "find_spec", lambda name: None)
    assert main(["serve"]) == 2
    assert "install epsilon-lab[cluster]" in capsys.readouterr().err


def test_a_connection_that_does_not_end_is_let_go_for_good() -> None:
    """The library would begin to close it again whenever it is collected, with nobody to wait for that."""

    class Stuck:
        status = "running"

        async def close(self, timeout: float) -> None:
            self.status = "closing"
            raise TimeoutError

    stuck = Stuck()
    asyncio.run(cluster._close(stuck))
    assert stuck.status == "closed"
