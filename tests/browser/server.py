"""A private server of the product for browser tests: own port, own ledger, ended by its own process id."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dpcore.ledger import Ledger

ROOT = Path(__file__).parents[2]
PRODUCT = ROOT / "dashboard" / "server.py"
CHROMIUM = "/usr/bin/chromium"
# Playwright turns features off as well, and the last list is the one that counts; these of its own matter here.
OFF = (
    "ScriptStreaming",  # reads each script once more beside what is compiled already: a tenth of a page
    "DestroyProfileOnBrowserClose",
    "HttpsUpgrades",
    "LensOverlay",
    "MediaRouter",
    "NetworkTimeServiceQuerying",
    "OptimizationHints",
    "PaintHolding",
    "ThirdPartyStoragePartitioning",
)
FLAGS = [
    f"--disable-features={','.join(OFF)}",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-dev-shm-usage",
    "--process-per-site",  # what was compiled for one page is there for the next
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",  # no page waits for another server
    "--force-prefers-reduced-motion",  # animations cost a core where no GPU draws them
]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def running(folder: Path, script: Path = PRODUCT, **environment: str) -> Iterator[str]:
    """Start the product, or another ``script``, with its ledger in ``folder``; yields its address and stops it."""
    port = free_port()
    ledger = f"sqlite:///{folder / 'ledger.db'}"
    Ledger.open(ledger).close()  # a server never makes one that is named
    log = (folder / "server.log").open("w")
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "streamlit",
            "run",
            str(script),
            f"--server.port={port}",
            "--server.headless=true",
        ],
        cwd=ROOT,
        stdout=log,
        stderr=subprocess.STDOUT,
        # each worker that starts loads everything once more, and other tests use the other cores
        env=os.environ
        | {"EPSILON_LAB_LEDGER": ledger, "EPSILON_LAB_WORKERS": "1", "OMP_NUM_THREADS": "1"}
        | environment,
    )
    address = f"http://127.0.0.1:{port}"
    try:
        _wait_until_healthy(address, process, folder / "server.log")
        yield address
    finally:
        process.terminate()
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(timeout=10)
        log.close()


def _wait_until_healthy(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + 600
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError(f"the server ended at start:\n{log.read_text()}")
        try:
            with urllib.request.urlopen(f"{address}/_stcore/health", timeout=2) as answer:
                if answer.status == 200:
                    return
        except OSError:
            time.sleep(0.2)
    raise RuntimeError(f"the server did not answer within 600 s:\n{log.read_text()}")
