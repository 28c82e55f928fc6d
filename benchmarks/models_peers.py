"""What other libraries' private models get, each in an environment of its own that is left out of the lock.

interpret-core's explainable boosting (additive trees on noisy histograms, (ε, δ)) and diffprivlib's logistic and linear
regression (pure ε) with their defaults and the declared bounds, options as one column each.
"""

from __future__ import annotations

import pickle
import subprocess
import tempfile
import venv
from pathlib import Path

import numpy as np

from benchmarks.models_tables import ONE_THREAD, Task

FOLDER = Path(__file__).parents[1] / "build" / "peers"
PACKAGES = {
    "interpret": ("interpret-core==0.7.8",),
    "diffprivlib": ("diffprivlib==0.6.6", "scikit-learn==1.7.2", "pandas"),  # it fails on newer ones
}
_INTERPRET = """
import pickle, sys, warnings
warnings.filterwarnings("ignore")
import numpy as np, pandas as pd
from interpret.privacy import DPExplainableBoostingClassifier, DPExplainableBoostingRegressor
job = pickle.load(open(sys.argv[1], "rb"))
frame, y, columns, target = (job[name] for name in ("frame", "y", "columns", "target"))
frame = pd.DataFrame(frame)
types, bounds = [], {}
for place, (name, given) in enumerate(columns.items()):
    types.append("nominal" if isinstance(given, list) else "continuous")
    if isinstance(given, list):
        frame[name] = frame[name].astype(str)
    else:
        bounds[place] = (float(given[0]), float(given[1]))
found = []
for train, test, epsilon, seed in job["runs"]:
    options = dict(epsilon=epsilon, delta=job["delta"], feature_types=types, privacy_bounds=bounds)
    options |= dict(random_state=seed, n_jobs=1)
    if target:
        model = DPExplainableBoostingRegressor(
            **options, privacy_target_min=target[0], privacy_target_max=target[1])
        model.fit(frame.iloc[train], np.clip(y[train], *target))
        found.append(np.clip(model.predict(frame.iloc[test]), *target))
    else:
        model = DPExplainableBoostingClassifier(**options).fit(frame.iloc[train], y[train])
        found.append(model.predict_proba(frame.iloc[test])[:, 1])
pickle.dump(found, open(sys.argv[2], "wb"))
"""
_DIFFPRIVLIB = """
import pickle, sys, warnings
warnings.filterwarnings("ignore")
import numpy as np
from diffprivlib.models import LogisticRegression, LinearRegression
job = pickle.load(open(sys.argv[1], "rb"))
frame, y, columns, target = (job[name] for name in ("frame", "y", "columns", "target"))
parts, many = [], 0
for name, given in columns.items():
    many += 1
    if isinstance(given, list):
        parts.append((frame[name][:, None] == np.array(given)).astype(float))
    else:
        parts.append(((np.clip(frame[name].astype(float), *given[:2]) - given[0]) / (given[1] - given[0]))[:, None])
X = np.hstack(parts)
found = []
for train, test, epsilon, seed in job["runs"]:
    if target:
        low, high = target
        model = LinearRegression(
            epsilon=epsilon, bounds_X=(np.zeros(X.shape[1]), np.ones(X.shape[1])), bounds_y=target, random_state=seed)
        found.append(np.clip(model.fit(X[train], np.clip(y[train], *target)).predict(X[test]), *target))
    else:
        model = LogisticRegression(epsilon=epsilon, data_norm=many ** 0.5, random_state=seed).fit(X[train], y[train])
        chance = model.predict_proba(X[test])
        found.append(chance[:, 1] if chance.shape[1] == 2 else chance)
pickle.dump(found, open(sys.argv[2], "wb"))
"""
SCRIPTS = {"interpret": _INTERPRET, "diffprivlib": _DIFFPRIVLIB}


def predictions(
    peer: str, task: Task, y: np.ndarray, runs: list[tuple[np.ndarray, np.ndarray, float, int]], delta: float
) -> list[np.ndarray] | str:
    """For every run (train, test, ε, seed) the chances of the second class, of all, or the numbers; or why not.

    ``y`` are numbers, or the classes' numbers from 0.
    """
    if peer == "interpret" and not task.target and len(task.classes) > 2:
        return "its private models know two classes only"
    try:
        python = _environment(peer)
        with tempfile.TemporaryDirectory() as folder:
            given, got = Path(folder) / "job", Path(folder) / "found"
            job = {"frame": task.frame, "y": y, "columns": task.columns, "target": task.target}
            with given.open("wb") as file:
                pickle.dump(_plain(job) | {"runs": runs, "delta": delta}, file)
            command = [python, "-c", SCRIPTS[peer], str(given), str(got)]
            subprocess.run(command, check=True, capture_output=True, timeout=3600, env=ONE_THREAD)
            with got.open("rb") as file:
                found: list[np.ndarray] = pickle.load(file)  # noqa: S301 - written by the line above
        return found
    except (OSError, subprocess.SubprocessError) as error:
        return f"it cannot be had here ({type(error).__name__})"


def _plain(job: dict) -> dict:  # type: ignore[type-arg]
    """Without types that other versions of pandas do not know."""
    frame = job["frame"]
    texts = {name: frame[name].astype(object) for name in frame if frame[name].dtype.kind not in "fiub"}
    return job | {"frame": {name: texts.get(name, frame[name]).to_numpy() for name in frame}}


def _environment(peer: str) -> str:
    folder = FOLDER / peer
    python = folder / "bin" / "python"
    probe = [str(python), "-c", f"import {'interpret.privacy' if peer == 'interpret' else 'diffprivlib.models'}"]
    if not (python.exists() and subprocess.run(probe, check=False, capture_output=True).returncode == 0):
        venv.create(folder, with_pip=True, clear=True)
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, *PACKAGES[peer]], check=True, capture_output=True, timeout=900)
    return str(python)
