"""A PostgreSQL server of our own for tests and measurements: private folder, no network, gone afterwards."""

from __future__ import annotations

import os
import pwd
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PORT = 54399  # only part of the socket's name: the server does not listen on the network
_SMALL = ("--data-checksums", "--wal-segsize=1")  # damage is noticed; files stay small
NEEDED = (
    "PostgreSQL's server programs were not found under /usr/lib/postgresql; "
    "install Debian's package postgresql and run this again."
)


class PrivateServer:
    """A running server; ``new_schema`` and ``new_database`` give the URL of an empty place for tables."""

    def __init__(self, folder: Path, process: subprocess.Popen[bytes]) -> None:
        self.folder = folder
        self.process = process
        self._made = 0

    def url(self, database: str) -> str:
        return f"postgresql+psycopg://ledger@/{database}?host={self.folder}&port={PORT}"

    def new_schema(self) -> str:
        """Quicker and smaller than a database of its own."""
        name = self._make("SCHEMA")
        return self.url("postgres") + f"&options=-csearch_path%3D{name}"

    def new_database(self) -> str:
        return self.url(self._make("DATABASE"))

    def _make(self, what: str) -> str:
        import psycopg

        self._made += 1
        name = f"ledger_{os.getpid()}_{self._made}"
        with psycopg.connect(host=str(self.folder), port=PORT, user="ledger", dbname="postgres", autocommit=True) as db:
            db.execute(f'CREATE {what} "{name}"')
        return name

    def kill(self) -> None:
        """Stop at once, as a power cut would: nothing is written any more."""
        self.process.send_signal(signal.SIGQUIT)
        self.process.wait(30)

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Every process of the server stands still, as on a machine that swaps or lost its disk."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        everyone = [self.process.pid, *map(int, children)]
        for each in everyone:
            os.kill(each, signal.SIGSTOP)
        try:
            yield
        finally:
            for each in everyone:
                os.kill(each, signal.SIGCONT)

    def start_again(self, *, file_limit: int | None = None, settings: tuple[str, ...] = ()) -> None:
        """Start on the same files, recovering from a stop of any kind; no file may grow beyond ``file_limit`` bytes."""
        self.process = _start(self.folder, file_limit, settings)


def programs() -> Path:
    """The folder of the newest installed server. Raises RuntimeError with a sentence when there is none."""
    found = [path.parent for path in Path("/usr/lib/postgresql").glob("*/bin/initdb")]
    if not found:
        raise RuntimeError(NEEDED)
    return max(found, key=lambda path: float(re.sub(r"[^\d.]", "", path.parent.name) or 0))


@contextmanager
def private_server() -> Iterator[PrivateServer]:
    """A server in a new folder, stopped and removed at the end."""
    bin_folder = programs()
    folder = Path(tempfile.mkdtemp(prefix="epsilon-lab-pg-"))
    identity = _identity()
    if identity:
        os.chown(folder, pwd.getpwnam(identity["user"]).pw_uid, -1)
    try:
        _run(
            [
                bin_folder / "initdb",
                "-D",
                folder / "data",
                "-U",
                "ledger",
                "-A",
                "trust",
                "-E",
                "UTF8",
                "--locale=C",
                *_SMALL,
            ]
        )
        server = PrivateServer(folder, _start(folder))
        try:
            yield server
        finally:
            server.kill()  # its files are thrown away, so there is nothing to wait for
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _identity() -> dict[str, str]:
    """PostgreSQL refuses to run as root; then it runs as its own user, or as nobody."""
    if os.geteuid() != 0:
        return {}
    for user in ("postgres", "nobody"):
        try:
            pwd.getpwnam(user)
        except KeyError:
            continue
        return {"user": user}
    raise RuntimeError("PostgreSQL cannot run as root, and there is neither a user postgres nor nobody.")


def _run(command: list[object]) -> None:
    done = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, cwd="/", check=False, **_identity()
    )
    if done.returncode:
        raise RuntimeError(f"PostgreSQL could not be set up: {done.stderr.strip()}")


def _start(folder: Path, file_limit: int | None = None, more: tuple[str, ...] = ()) -> subprocess.Popen[bytes]:
    settings = [*more, "listen_addresses=", f"unix_socket_directories={folder}", f"port={PORT}", "max_connections=200"]
    settings += ["shared_buffers=64MB", "autovacuum=off", "logging_collector=off"]
    command = [str(programs() / "postgres"), "-D", str(folder / "data")]
    for setting in settings:
        command += ["-c", setting]
    if file_limit is not None:
        # the shell counts in blocks of 512 bytes
        command = ["/bin/sh", "-c", f'ulimit -S -f {file_limit // 512} && exec "$0" "$@"', *command]
    log = (folder / "log").open("ab")
    process = subprocess.Popen(command, stdout=log, stderr=log, cwd="/", start_new_session=True, **_identity())
    log.close()
    import psycopg

    until = time.monotonic() + 60
    while time.monotonic() < until and process.poll() is None:
        try:
            psycopg.connect(host=str(folder), port=PORT, user="ledger", dbname="postgres").close()
        except psycopg.OperationalError:
            time.sleep(0.05)
        else:
            return process
    process.kill()
    raise RuntimeError(f"PostgreSQL did not start: {(folder / 'log').read_text(errors='replace')[-2000:]}")
