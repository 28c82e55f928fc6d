"""The back-up, and the drill of coming back, as the operations page writes them: its own commands are run."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.private_postgresql import PrivateServer
from dpcore.costs import Cost
from dpcore.ledger import Ledger

ROOT = Path(__file__).parents[2]
OPERATIONS = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")


@pytest.fixture
def shell(tmp_path: Path) -> Path:
    """A folder with the shipped files, a program ``epsilon-lab``, and a ledger on PostgreSQL to look after."""
    (tmp_path / "deploy").symlink_to(ROOT / "deploy")
    (tmp_path / "back-ups").mkdir()
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "epsilon-lab"
    program.write_text(f'#!/bin/sh\nPYTHONPATH={shlex.quote(str(ROOT))} exec {sys.executable} -m dashboard "$@"\n')
    program.chmod(0o700)
    return tmp_path


@pytest.mark.thorough
def test_the_drill_of_the_operations_page_runs_as_written(
    shell: Path, server: PrivateServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    section = OPERATIONS.split("## Back-up, and how to practise coming back")[1].split("\n## ")[0]
    keys, backup, drill = re.findall(r"```sh\n(.*?)```", section, flags=re.S)
    monkeypatch.setenv("EPSILON_LAB_KEY", str(shell / "ledger.key"))
    environment = os.environ | {"PATH": f"{shell / 'bin'}:{os.environ['PATH']}", "BACKUPS": str(shell / "back-ups")}

    def run(commands: str, **more: str) -> str:
        call = ["sh", "-euc", commands]
        done = subprocess.run(call, cwd=shell, env=environment | more, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    url = server.new_schema()
    with Ledger.open(url, journal=shell / "ledger.journal", create=True) as ledger:
        ledger.open_budget("people", epsilon=1.0, name="Patients of the north")
        ledger.charge("a", "people", Cost.pure(0.25), "Which?")
    run(keys)
    run(backup, EPSILON_LAB_LEDGER=url, XDG_DATA_HOME=str(shell / "data"))
    (written,) = (shell / "back-ups").iterdir()
    assert b"Patients" not in written.read_bytes()
    assert written.stat().st_mode & 0o077 == 0
    told = run(drill.replace("rm -r drill", ""))
    assert "Sound: " in told
    assert "1 charges" in told
    assert "Patients of the north" in told
    assert "0.75 left" in told
    assert "Patients" in (shell / "drill" / "backup").read_text(), "which is why it is encrypted"
