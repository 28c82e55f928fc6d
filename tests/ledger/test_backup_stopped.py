"""A back-up that is stopped half-way leaves nothing behind: what it works on is the ledger in plain text."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def heard() -> None:
    """Tests that run in the background ignore these signals, and what they start would too."""
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def begun(place: Path, stuck: str, seconds: float) -> subprocess.Popen[bytes]:
    """The script under sh, which is dash on Debian, while the program ``stuck`` is at work in it."""
    for name in ("bin", "work", "back-ups"):
        (place / name).mkdir()
    plain = '#!/bin/sh\necho "Patients of the north" > "$3"\n'
    part = '#!/bin/sh\nwhile [ "$1" != -out ]; do shift; done\necho half > "$2"\n'
    for name, program in (("epsilon-lab", plain), ("openssl", part)):
        file = place / "bin" / name
        more = f': > "{place}/started"\nexec sleep {seconds}\n' if name == stuck else ""
        file.write_text(program + more)
        file.chmod(0o700)
    environment = os.environ | {"PATH": f"{place / 'bin'}:{os.environ['PATH']}", "TMPDIR": str(place / "work")}
    process = subprocess.Popen(
        ["sh", str(ROOT / "deploy" / "backup.sh"), str(place / "back-ups"), "certificate.pem"],
        env=environment,
        start_new_session=True,
        preexec_fn=heard,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    for _ in range(2000):
        if (place / "started").exists():
            break
        time.sleep(0.01)
    assert [one.name for one in (place / "work").glob("*/*")] == ["ledger"]
    return process


@pytest.mark.parametrize("stuck", ["epsilon-lab", "openssl"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_leaves_no_plain_text_and_no_half(tmp_path: Path, stuck: str, number: signal.Signals) -> None:
    """As a service manager or a terminal stops it: the script and what it runs."""
    process = begun(tmp_path, stuck, 60)
    os.killpg(process.pid, number)
    assert process.wait(30) != 0
    assert list((tmp_path / "work").iterdir()) == []
    assert list((tmp_path / "back-ups").iterdir()) == []


def test_a_signal_for_the_script_alone_ends_it_after_the_program_it_waits_for(tmp_path: Path) -> None:
    process = begun(tmp_path, "epsilon-lab", 0.2)
    process.send_signal(signal.SIGTERM)
    assert process.wait(30) == 128 + signal.SIGTERM
    assert list((tmp_path / "work").iterdir()) == []
    assert list((tmp_path / "back-ups").iterdir()) == []
