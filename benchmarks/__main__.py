"""All benchmarks of speed, one after the other: ``python -m benchmarks``; exits with 1 when one misses a goal.

Each runs in a process of its own, so that none warms up another. ``python -m benchmarks NAME …`` runs some of them.
"""

from __future__ import annotations

import os
import subprocess
import sys

NAMES = (
    *("selection", "thresholding", "experts", "training", "accounting", "reading", "in_place", "in_place_models"),
    *("lines", "tables", "drops", "dashboard", "finger", "capacity", "poll"),
)


def main(names: list[str]) -> int:
    failed = []
    for name in names or NAMES:
        print(f"\n== {name} ==", flush=True)
        done = subprocess.run(
            [sys.executable, "-m", f"benchmarks.{name}"], check=False, env=os.environ | {"OMP_NUM_THREADS": "1"}
        )
        if done.returncode:
            failed.append(name)
    print(f"\nMissed a goal: {', '.join(failed)}" if failed else "\nEvery goal met.")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
