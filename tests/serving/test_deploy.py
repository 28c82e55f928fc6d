"""What is shipped to run it for others says what the operations page promises."""

from __future__ import annotations

import configparser
import re
import shlex
from pathlib import Path

from dashboard.__main__ import _parser

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"


def service(name: str) -> configparser.SectionProxy:
    found = configparser.ConfigParser(strict=False, interpolation=None)
    found.optionxform = str  # type: ignore[assignment,method-assign]
    found.read(DEPLOY / name)
    return found["Service"]


def test_the_unit_bounds_files_memory_and_what_is_left_behind() -> None:
    unit = service("epsilon-lab.service")
    promised = {"LimitNOFILE": "65536", "LimitCORE": "0", "MemoryMax": "4G", "PrivateTmp": "yes"}
    promised |= {"NoNewPrivileges": "yes", "ProtectSystem": "strict", "ProtectHome": "yes", "UMask": "0077"}
    assert {name: unit[name] for name in promised} == promised
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
    (call,) = re.findall(r"^    command: \[(.+)\]$", lab, flags=re.M)
    words = [word.strip().strip('"') for word in call.split(",")]
    assert _parser().parse_args(words).address == "0.0.0.0"  # noqa: S104 - in a container


def test_the_nightly_backup_runs_what_is_shipped() -> None:
    unit = service("epsilon-lab-backup.service")
    assert re.search(r"^OnCalendar=\*-\*-\* \d\d:\d\d:\d\d$", (DEPLOY / "epsilon-lab-backup.timer").read_text(), re.M)
    _, script, folder, _ = shlex.split(unit["ExecStart"])
    assert (DEPLOY / Path(script).name).is_file()
    assert unit["ReadWritePaths"] == folder
    assert unit["LimitCORE"] == "0"
