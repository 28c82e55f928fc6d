"""Everything that must never happen to a ledger and its servers, tried on both databases; exit code 1 if any did.

Run as ``python -m benchmarks.reliability`` (under 25 minutes on two cores, and then the soak of 30, or ``--minutes``)
or with ``--short`` (under a minute).
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.private_postgresql import private_server
from benchmarks.reliability import clicks, cluster, crash, damage, logins, race, readers, refuse, soak, strangers
from benchmarks.reliability.outcome import Ground, Outcome

CHECKS: dict[str, Callable[[Ground], Iterator[Outcome]]] = {
    check.__name__: check
    for check in (
        race.latency,  # before the races, which keep the machine busy
        race.racing,
        race.bare_update,
        race.repeats,
        crash.killed_workers,
        crash.killed_server,
        refuse.disk_full,
        refuse.impossible_costs,
        damage.bit_flips,
        damage.server_bit_flips,
        damage.without_wal,
        damage.older_backup,
        damage.missing,
        clicks.clicking,
        cluster.clustering,
        logins.logging_in,
        readers.breaking,
        strangers.strolling,
        soak.soaking,
    )
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="the form that the tests run")
    parser.add_argument("--only", choices=CHECKS, action="append", help="run these checks only")
    parser.add_argument("--minutes", type=float, default=30.0, help="how long the soak takes")
    asked = parser.parse_args()
    began, good = time.monotonic(), True
    print(f"{'':4} {'check':28} {'database':11} {'seconds':>7}  tried → found")
    with tempfile.TemporaryDirectory(prefix="epsilon-lab-") as folder, private_server() as server:
        os.environ["EPSILON_LAB_KEY"] = str(Path(folder) / "ledger.key")  # not the person's own
        ground = Ground(folder=Path(folder), server=server, short=asked.short, minutes=asked.minutes)
        for name in asked.only or CHECKS:
            started = time.monotonic()
            for outcome in CHECKS[name](ground):
                took, started = time.monotonic() - started, time.monotonic()
                good &= outcome.good
                print(
                    f"{'ok' if outcome.good else 'BAD':4} {outcome.check:28} {outcome.database:11} {took:7.1f}  "
                    f"{outcome.tried} → {outcome.found}",
                    flush=True,
                )
    print(f"{'All good' if good else 'TROUBLE'} in {time.monotonic() - began:.0f} s.")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
