"""One DP-SGD epoch by Opacus, in an environment of its own that is made here and left out of the lock."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

ENVIRONMENT = Path(__file__).parents[1] / "build" / "peers" / "opacus"
# without their dependencies, which would bring a graphics card's libraries; the plain ones follow
BARE = ("torch==2.13.0+cpu", "opacus==1.6.0")
PLAIN = ("numpy", "scipy", "opt-einsum", "typing-extensions", "sympy", "networkx", "jinja2", "fsspec", "filelock")
_SCRIPT = """
import sys, time, warnings
warnings.filterwarnings("ignore")
import torch
from opacus import PrivacyEngine
n, d, rate = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
torch.set_num_threads(1)
torch.manual_seed(0)
X = torch.nn.functional.normalize(torch.randn(n, d))
y = (torch.rand(n, 1) < 0.25).float()
model = torch.nn.Linear(d, 1, bias=False)
loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(X, y), batch_size=round(rate * n))
optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
model, optimizer, loader = PrivacyEngine().make_private(
    module=model, optimizer=optimizer, data_loader=loader, noise_multiplier=1.0, max_grad_norm=0.5)
loss = torch.nn.BCEWithLogitsLoss()
best = 1e9
for _ in range(3):
    start = time.process_time()
    for rows, labels in loader:
        optimizer.zero_grad()
        loss(model(rows), labels).backward()
        optimizer.step()
    best = min(best, time.process_time() - start)
print(best)
"""


def epoch_seconds(n: int, d: int, rate: float) -> float | str:
    """Processor seconds of an epoch of 1/rate steps on one thread, or why there is no number."""
    python = ENVIRONMENT / "bin" / "python"
    try:
        if not _works(python):
            venv.create(ENVIRONMENT, with_pip=True, clear=True)
            _pip(python, "--no-deps", *BARE)
            _pip(python, *PLAIN)
        done = _run([str(python), "-c", _SCRIPT, str(n), str(d), str(rate)])
        return float(done.strip().splitlines()[-1])
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        return f"Opacus cannot be had here ({type(error).__name__})"


def _works(python: Path) -> bool:
    if not python.exists():
        return False
    return subprocess.run([str(python), "-c", "import torch, opacus"], capture_output=True, check=False).returncode == 0


def _pip(python: Path, *what: str) -> None:
    _run([str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *what])


def _run(command: list[str]) -> str:
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=1200, env=environment).stdout


if __name__ == "__main__":
    print(epoch_seconds(36_176, 104, 0.01))
    sys.exit(0)
