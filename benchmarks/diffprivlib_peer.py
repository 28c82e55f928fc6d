"""Selections drawn by diffprivlib, in an environment of its own that is made here and left out of the lock."""

from __future__ import annotations

import os
import subprocess
import venv
from pathlib import Path

ENVIRONMENT = Path(__file__).parents[1] / "build" / "peers" / "diffprivlib"
PACKAGES = ("diffprivlib==0.6.6", "scikit-learn==1.7.2")  # it fails on newer ones
_SCRIPT = """
import sys, time
import numpy as np
from diffprivlib.mechanisms import Exponential, PermuteAndFlip
k = int(sys.argv[1])
utility = (np.random.default_rng(0).normal(size=k) * 30).tolist()
for kind in (Exponential, PermuteAndFlip):
    mechanism = kind(epsilon=1.0, sensitivity=1.0, utility=utility)
    best = 1e9
    for _ in range(2):
        start = time.process_time()
        mechanism.randomise()
        best = min(best, time.process_time() - start)
    print(best)
"""


def draw_seconds(k: int) -> dict[str, float] | str:
    """Seconds of one draw over ``k`` candidates by mechanism, or why there is no number."""
    python = ENVIRONMENT / "bin" / "python"
    try:
        if not (python.exists() and _run([str(python), "-c", "import diffprivlib; print(1)"], check=False)):
            venv.create(ENVIRONMENT, with_pip=True, clear=True)
            _run([str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *PACKAGES])
        times = [float(line) for line in _run([str(python), "-c", _SCRIPT, str(k)]).split()]
        return dict(zip(("exponential", "permute_and_flip"), times, strict=True))
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        return f"diffprivlib cannot be had here ({type(error).__name__})"


def _run(command: list[str], *, check: bool = True) -> str:
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    return subprocess.run(command, capture_output=True, text=True, check=check, timeout=900, env=environment).stdout
