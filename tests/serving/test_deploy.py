"""What is shipped to run it for others says what the operations page promises."""

from __future__ import annotations

import configparser
import os
import re
import shlex
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from dashboard.__main__ import _parser
from dashboard.serving import replicas

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"


def service(name: str) -> configparser.SectionProxy:
    found = configparser.ConfigParser(strict=False, interpolation=None)
    found.optionxform = str  # type: ignore[assignment,method-assign]
    found.read(DEPLOY / name)
    return found["Service"]


def test_the_unit_bounds_files_memory_and_what_is_left_behind() -> None:
    unit = service("epsilon-lab.service")
    promised = {"LimitNOFILE": "65536", "LimitCORE": "0", "MemoryMax": "6G", "PrivateTmp": "yes"}
    promised |= {"NoNewPrivileges": "yes", "ProtectSystem": "strict", "ProtectHome": "yes", "UMask": "0077"}
    promised |= {"KillMode": "mixed", "OOMPolicy": "continue", "RemoveIPC": "yes"}
    assert {name: unit[name] for name in promised} == promised
    assert int(unit["TimeoutStopSec"]) > 4 * replicas.DRAIN, "the balancer and the servers are ended in time"
    _, *call = shlex.split(unit["ExecStart"])
    assert _parser().parse_args(call).replicas == 2


def test_the_containers_bound_the_same() -> None:
    """Read as lines: the tests have no reader of YAML, and need none for so much."""
    text = (ROOT / "compose.yaml").read_text(encoding="utf-8")
    lab, db = text.split("\n  db:\n")
    db = db.split("\nvolumes:")[0]
    for one in (lab, db):
        assert "nofile: {soft: 65536, hard: 65536}" in one
        assert re.search(r"^ +core: 0$", one, flags=re.M)
        assert re.search(r"^ +mem_limit: \dg$", one, flags=re.M)
        assert "no-new-privileges:true" in one
    assert 'tmpfs: ["/tmp:' in lab
    assert "read_only: true" in lab
    assert "cap_drop: [ALL]" in lab
    login = "/run/epsilon-lab-login.toml"
    assert f"EPSILON_LAB_LOGIN: ${{LAB_LOGIN:+{login}}}" in lab
    assert f"- ${{LAB_LOGIN:-/dev/null}}:{login}:ro" in lab
    (believed,) = re.findall(r"^ +FORWARDED_ALLOW_IPS: \$\{FORWARDED_ALLOW_IPS:-([^}]*)\}", lab, flags=re.M)
    assert believed == replicas.HERE, "an empty one would mean nobody, not the default"
    (stopped,) = re.findall(r"^    stop_grace_period: (\d+)s", lab, flags=re.M)
    assert int(stopped) > 4 * replicas.DRAIN, "the balancer and the servers are ended in time"
    (call,) = re.findall(r"^    command: \[(.+)\]$", lab, flags=re.M)
    words = [word.strip().strip('"') for word in call.split(",")]
    assert _parser().parse_args(words).address == "0.0.0.0"  # noqa: S104 - in a container


def unchecked(text: str) -> list[str]:
    """The calls of pip in an image that take anything whose hash is not known: a package, or what one is built with."""
    calls = [line for line in text.replace("\\\n", " ").splitlines() if "pip install" in line]
    assert calls
    return [
        one
        for one in calls
        if "--require-hashes" not in one and not {"--no-deps", "--no-build-isolation"} <= {*one.split()}
    ]


def test_the_image_is_built_from_what_the_lock_names_by_its_hash() -> None:
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    assert unchecked(text) == []
    assert unchecked(text.replace(" --no-build-isolation", "")), "a build tool of that day is found"
    assert unchecked(text.replace(" --require-hashes", ""))
    (needed,) = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["build-system"]["requires"]
    name = re.split(r"[<>=]", needed)[0]
    assert re.search(rf"^{name}==\S+ \\\n +--hash=sha256:", (ROOT / "requirements.txt").read_text("utf-8"), re.M)


def test_what_the_units_keep_is_their_user_s_alone() -> None:
    """A unit without the mode sets the folder open again each night."""
    for name in ("epsilon-lab.service", "epsilon-lab-backup.service"):
        unit = service(name)
        assert "StateDirectory" not in unit or unit["StateDirectoryMode"] == "0700"


def test_the_nightly_backup_runs_what_is_shipped() -> None:
    unit = service("epsilon-lab-backup.service")
    assert re.search(r"^OnCalendar=\*-\*-\* \d\d:\d\d:\d\d$", (DEPLOY / "epsilon-lab-backup.timer").read_text(), re.M)
    _, script, folder, _ = shlex.split(unit["ExecStart"])
    assert (DEPLOY / Path(script).name).is_file()
    assert unit["ReadWritePaths"] == folder
    assert unit["LimitCORE"] == "0"


@pytest.mark.skipif(shutil.which("sh") is None, reason="the script is for a shell")
@pytest.mark.parametrize("fails", [True, False])
def test_a_backup_that_could_not_be_encrypted_leaves_nothing(fails: bool, tmp_path: Path) -> None:
    """With a ledger and an encryption that stand for the real ones; the second may stop half-way."""
    programs, backups, work = tmp_path / "bin", tmp_path / "backups", tmp_path / "work"
    for folder in (programs, backups, work):
        folder.mkdir()
    encrypts = f'while [ "$1" != -out ]; do shift; done; echo half > "$2"; exit {int(fails)}'
    for name, does in {"epsilon-lab": 'echo all > "$3"', "openssl": encrypts}.items():
        (programs / name).write_text(f"#!/bin/sh\n{does}\n")
        (programs / name).chmod(0o700)
    found = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "TMPDIR": str(work)}
    call = ["sh", str(DEPLOY / "backup.sh"), str(backups), "certificate.pem"]
    done = subprocess.run(call, env=found, capture_output=True, text=True, check=False)
    assert (done.returncode != 0) is fails, done.stderr
    assert [file.suffix for file in backups.iterdir()] == ([] if fails else [".cms"])
    assert not list(work.iterdir())
