"""Whether anything is known against a locked package: ``python -m supply.scan``, part of ``make lint``.

pip-audit asks PyPI's service or, where there is no network, the local list that EPSILON_LAB_ADVISORIES names
(``supply.advisories``). With neither the lock is not scanned, and this says so. Exit code 1 when something is known
that nobody has accepted, or with ``--strict`` when something could not be scanned.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from supply.advisories import served
from supply.lock import RUNTIME, TESTS, Pin, canonical, pins

LOCAL = "EPSILON_LAB_ADVISORIES"
PROBE = Pin("pip", "20.0")  # something has long been known against it
ACCEPTED: dict[str, str] = {}
"""Records that do not matter here: their names, and why."""


class NoService(RuntimeError):
    """No advisory service could be reached."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Scan; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path, default=[RUNTIME, TESTS])
    parser.add_argument("--strict", action="store_true", help="fail when nothing could be scanned")
    asked = parser.parse_args(arguments)
    local = os.environ.get(LOCAL)
    if local is None and not _answers():
        print(f"Not scanned for known vulnerabilities: no service answers, and {LOCAL} names no local list.")
        return int(asked.strict)
    locked = sorted({pin for file in asked.files for pin in pins(file)})
    with nullcontext() if local is None else served(Path(local)) as address:
        if local is not None and not known([PROBE], address)[0]:
            print(f"The local list does not even hold what is known against {PROBE.name} {PROBE.version}.")
            return 1
        known_, skipped = known(locked, address)
    found = [one for one in known_ if not set(one[2]) & ACCEPTED.keys()]
    for name in skipped:
        print(f"{name}: not scanned, the service does not know it.")
    for pin, fixed, names in found:
        print(f"{pin.name} {pin.version}: {', '.join(names)}; fixed in {', '.join(fixed) or 'no version'}")
    print(f"Scanned {len(locked)} locked packages: {len(found)} known vulnerabilities.")
    return int(bool(found) or (asked.strict and bool(skipped)))


def _answers() -> bool:
    """Whether a service is there that knows what it should."""
    try:
        return bool(known([PROBE])[0])
    except NoService:
        return False


def known(
    locked: Sequence[Pin], address: str | None = None
) -> tuple[list[tuple[Pin, list[str], list[str]]], list[str]]:
    """What is known against these: the package, the versions that mend it, the record's names; and who is not known.

    Every version is asked about, also one for other computers. Raises NoService when the connection fails, and another
    RuntimeError when pip-audit itself fails or has no answer about one of them.
    """
    found, skipped = [], []
    for batch in _batches(locked):
        versions = {canonical(pin.name): pin for pin in batch}
        answered = _audit(batch, address)
        if without := versions.keys() - {canonical(package["name"]) for package in answered}:
            raise RuntimeError(f"pip-audit failed: no answer about {', '.join(sorted(without))}.")
        for package in answered:
            if "skip_reason" in package:
                skipped.append(str(package["name"]))
            for record in package.get("vulns", ()):
                pin = versions[canonical(package["name"])]
                found.append((pin, list(record["fix_versions"]), [record["id"], *record["aliases"]]))
    return found, skipped


def _batches(locked: Sequence[Pin]) -> list[list[Pin]]:
    """pip-audit takes a package once: a second version of it goes into a second call."""
    batches: list[list[Pin]] = []
    for pin in locked:
        room = next((batch for batch in batches if all(pin.name != other.name for other in batch)), None)
        if room is None:
            batches.append(room := [])
        room.append(pin)
    return batches


def _audit(batch: Sequence[Pin], address: str | None) -> list[dict[str, Any]]:
    with TemporaryDirectory(prefix="epsilon-lab-scan-") as folder:
        file = Path(folder) / "requirements.txt"
        file.write_text("".join(f"{pin.name}=={pin.version}\n" for pin in batch), encoding="utf-8")
        command = [sys.executable, "-m", "pip_audit", "-r", str(file), "--no-deps", "--disable-pip", "-f", "json"]
        command += ["--progress-spinner", "off", "--desc", "off", "--aliases", "on", "--timeout", "5"]
        command += ["--cache-dir", folder]
        if address is not None:
            command += ["-s", "osv", "--osv-url", address]
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - ourselves
    if not done.stdout.strip():
        unreached = address is None and "onnection" in done.stderr
        raise (NoService if unreached else RuntimeError)(f"pip-audit failed: {done.stderr.strip()[-500:]}")
    answered: list[dict[str, Any]] = json.loads(done.stdout)["dependencies"]
    return answered


if __name__ == "__main__":
    sys.exit(main())
