"""Private models on real tables against other libraries and against no privacy: writes docs/benchmarks.md.

Every method has its fixed defaults on every table; columns are declared as in ``models_tables``. Each split keeps
eight tenths of the rows to train on (of every class alike) and measures on the rest. For classes: accuracy and AUC (of
the second class, or the mean over classes); for numbers: the error in the column's own unit, mean absolute. ± is the
standard error over splits.

``python -m benchmarks.models`` runs all; names of tables run some and leave the others in the report as they were,
``--splits N`` fewer splits, ``--without-peers`` no other libraries, ``--memory`` the run of 10⁶ rows × 50 columns of
cuts. Exits with 1 when a goal is missed.
"""

from __future__ import annotations

import json
import logging
import resource
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from threadpoolctl import threadpool_limits

from benchmarks.models_command import parser
from benchmarks.models_peers import predictions
from benchmarks.models_tables import MAKERS, Task, tasks
from dpcore.training import (
    CodedRows,
    Encoding,
    Features,
    NoisyGradientDescent,
    PrivateClassifier,
    PrivateRegressor,
    ScaledDescent,
    area_under_curve,
    non_private,
    public_cuts,
)
from dpcore.training.losses import LOGISTIC, SQUARED

LEVELS, DELTA = (0.1, 0.5, 1.0, 3.0), 1e-5
SPLITS, FEW, MANY, SPLITS_OF_MANY = 4, 5_000, 100_000, 2  # other libraries are slow: fewer splits from FEW rows on
ADULT_SPLITS = 8
REPORT = Path(__file__).parents[1] / "docs" / "benchmarks.md"
OPTIONS = {
    "Cuts at private quantiles": REPORT.with_name("benchmarks-cuts.md"),
    "Three pairs of columns chosen privately": REPORT.with_name("benchmarks-pairs.md"),
    "Settings chosen privately": REPORT.with_name("benchmarks-tuning.md"),
}
KEPT = Path(__file__).parents[1] / "build" / "benchmarks" / "models"
MEMORY = KEPT / "memory.txt"
GOALS = {0.1: (0.845, 0.900), 0.5: (0.855, 0.910), 1.0: (0.862, 0.916)}  # Adult: accuracy, AUC
OURS, PLAIN = "ours", "noisy gradient descent, uncut"
PEERS = {"interpret": "interpret DP-EBM", "diffprivlib": "diffprivlib (pure ε)"}
NO_PRIVACY = ("trees, no privacy", "linear, no privacy", "majority or mean")


@dataclass
class Found:
    """Scores of one table by method, ε (“-” without privacy) and measure, one a split; kept as JSON between runs."""

    name: str
    what: str
    measures: list[str]
    scores: dict[str, list[float]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, task: Task) -> Found:
        measures = ["error"] if task.target else ["accuracy", "AUC"]
        return cls(task.name, f"{task.what}; from {task.source} ({task.licence}).", measures)

    def add(self, method: str, level: float | None, scores: dict[str, float]) -> None:
        for measure, value in scores.items():
            self.scores.setdefault(_key(method, level, measure), []).append(value)

    def keep(self) -> None:
        (KEPT / f"{self.name}.json").write_text(json.dumps(asdict(self), ensure_ascii=False), encoding="utf-8")

    def cell(self, method: str, level: float | None, measure: str) -> tuple[float, float] | None:
        """Mean and standard error."""
        values = self.scores.get(_key(method, level, measure))
        if not values:
            return None
        return float(np.mean(values)), float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0


def _key(method: str, level: float | None, measure: str) -> str:
    return f"{method}|{'-' if level is None else f'{level:g}'}|{measure}"


def kept() -> list[Found]:
    """What this and earlier runs found, in the order of the tables."""
    files = [KEPT / f"{name}.json" for name in MAKERS]
    return [Found(**json.loads(file.read_text(encoding="utf-8"))) for file in files if file.exists()]


def written(report: str) -> dict[str, str]:
    """The sections of a report by their titles: what runs on other machines found stays as they wrote it."""
    parts = report.split("\n## ")[1:]
    return {part.split("\n", 1)[0]: f"## {part.strip()}" for part in parts}


def measured(task: Task, truth: np.ndarray, told: np.ndarray) -> dict[str, float]:
    """``told``: chances of the second of two classes, of all classes, or numbers."""
    if task.target:
        return {"error": float(np.abs(truth - told).mean())}
    if told.ndim == 1:
        right = truth == 1
        return {"accuracy": float(((told > 0.5) == right).mean()), "AUC": area_under_curve(right, told)}
    areas = [area_under_curve(truth == place, told[:, place]) for place in range(told.shape[1])]
    return {"accuracy": float((told.argmax(axis=1) == truth).mean()), "AUC": float(np.nanmean(areas))}


def answers(task: Task) -> np.ndarray:
    if task.target:
        return task.y.to_numpy(dtype=float)
    return np.asarray(pd.Index(task.classes).get_indexer(pd.Index(task.y)))


def splits(task: Task, y: np.ndarray, count: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    for seed in range(count):
        rng = np.random.Generator(np.random.SFC64(seed))
        groups = [np.arange(len(y))] if task.target else [np.flatnonzero(y == one) for one in np.unique(y)]
        shuffled = [rng.permutation(rows) for rows in groups]
        train = np.concatenate([rows[: rows.size * 8 // 10] for rows in shuffled])
        yield rng.permutation(train), np.concatenate([rows[rows.size * 8 // 10 :] for rows in shuffled])


def uncut(task: Task) -> tuple[Features, np.ndarray]:
    """Numbers as they are and options as a one each: rows of the unit ball."""
    columns = []
    for name, given in task.columns.items():
        if isinstance(given, list):
            columns.append(Encoding(name=name, kind="category", categories=tuple(map(str, given))))
        else:
            columns.append(Encoding(name=name, kind="number", low=float(given[0]), high=float(given[1])))
    features = Features(columns=tuple(columns), target=Encoding(name="\0", kind="yes/no"), positive="yes")
    numbers = []
    for column in columns:
        own = task.frame[column.name]
        if column.categories:
            numbers.append(pd.Index(list(column.categories)).get_indexer(pd.Index(own.astype(str))).astype(float))
        else:
            numbers.append(column.scaled(own.to_numpy(dtype=float)))
    return features, features.rows(numbers)


def run(task: Task, count: int, peers: bool) -> Found:
    """All methods on all splits of one table."""
    found, y = Found.of(task), answers(task)
    _, X = uncut(task)
    runs = list(splits(task, y, count))
    for seed, (train, test) in enumerate(runs):
        frame, held = task.frame.iloc[train], task.frame.iloc[test]
        for level in LEVELS:
            told = ours(task, level, seed, frame, task.y.iloc[train], held)
            found.add(OURS, level, measured(task, y[test], told))
        if task.target or len(task.classes) == 2:
            for level, told in earlier(task, X, y, train, test, seed):
                found.add(PLAIN, level, measured(task, y[test], told))
        for method, told in without_privacy(task, X, y, train, test):
            found.add(method, None, measured(task, y[test], told))
    if len(task.frame) > MANY:
        found.notes.append(f"Other libraries were not run on more than {MANY:,} rows.")
        peers = False
    shared = runs if len(task.frame) <= FEW else runs[:SPLITS_OF_MANY]
    for peer, label in PEERS.items() if peers else ():
        asked = [(train, test, level, seed) for seed, (train, test) in enumerate(shared) for level in LEVELS]
        got = predictions(peer, task, y, asked, DELTA)
        if isinstance(got, str):
            found.notes.append(f"{label}: {got}.")
            continue
        for (_, test, level, _), told in zip(asked, got, strict=True):
            found.add(label, level, measured(task, y[test], told))
    return found


def ours(
    task: Task,
    level: float,
    seed: int,
    frame: pd.DataFrame,
    y: pd.Series,
    held: pd.DataFrame,
    *,
    pairs: int | None = None,
) -> np.ndarray:
    common: dict[str, Any] = {
        "epsilon": level, "delta": DELTA, "columns": task.columns, "random_state": seed, "pairs": pairs
    }  # fmt: skip
    if task.target:
        return PrivateRegressor(target=task.target, **common).fit(frame, y).predict(held)
    model = PrivateClassifier(classes=task.classes, **common)
    chances = model.fit(frame, y).predict_proba(held)
    return chances[:, 1] if chances.shape[1] == 2 else chances


def earlier(
    task: Task, X: np.ndarray, y: np.ndarray, train: np.ndarray, test: np.ndarray, seed: int
) -> Iterator[tuple[float, np.ndarray]]:
    """Plain noisy gradient descent on uncut columns."""
    loss = SQUARED if task.target else LOGISTIC
    low, high = task.target or (0.0, 1.0)
    scaled = 2.0 * (np.clip(y, low, high) - low) / (high - low) - 1.0
    methods = [NoisyGradientDescent(epsilon=level, delta=DELTA, loss=loss) for level in LEVELS]
    rng = np.random.Generator(np.random.SFC64([seed, 2]))
    for level, fit in zip(LEVELS, NoisyGradientDescent.fit_all(methods, X[train], scaled[train], rng), strict=True):
        margins = X[test] @ fit.weights[0]
        yield (
            level,
            low + (np.clip(margins, -1, 1) + 1) / 2 * (high - low) if task.target else 1 / (1 + np.exp(-margins)),
        )


def without_privacy(
    task: Task, X: np.ndarray, y: np.ndarray, train: np.ndarray, test: np.ndarray
) -> Iterator[tuple[str, np.ndarray]]:
    words = [isinstance(given, list) for given in task.columns.values()]
    table = np.column_stack([
        pd.factorize(task.frame[name])[0] if word else task.frame[name].to_numpy(dtype=float)
        for name, word in zip(task.columns, words, strict=True)
    ])  # fmt: skip
    many = [bool(word and len(given) > 250) for word, given in zip(words, task.columns.values(), strict=True)]
    kinds = [word and not too_many for word, too_many in zip(words, many, strict=True)]
    if task.target:
        trees: Any = HistGradientBoostingRegressor(categorical_features=kinds, random_state=0)
        line: Any = Ridge(alpha=1e-3)
        least = np.full(test.size, np.median(y[train]))
    else:
        trees = HistGradientBoostingClassifier(categorical_features=kinds, random_state=0)
        line = LogisticRegression(C=10_000.0, max_iter=1000)
        counts = np.bincount(y[train], minlength=len(task.classes)) / train.size
        least = np.tile(counts, (test.size, 1)) if len(counts) > 2 else np.full(test.size, counts[1])
    models = [(NO_PRIVACY[0], trees, table)]
    if not task.target and len(task.classes) == 2:
        yield NO_PRIVACY[1], expit(X[test] @ non_private(X[train], 2.0 * y[train] - 1.0).weights[0])
    else:
        models.append((NO_PRIVACY[1], line, X))
    for method, model, rows in models:
        fitted = model.fit(rows[train], y[train])
        told = fitted.predict(rows[test]) if task.target else fitted.predict_proba(rows[test])
        yield method, told[:, 1] if told.ndim == 2 and told.shape[1] == 2 else told
    yield NO_PRIVACY[2], least


def markdown(every: list[Found], absent: list[str], memory: list[str], earlier: dict[str, str] | None = None) -> str:
    """The report of ``every`` table found, with sections of an ``earlier`` report where there is nothing newer."""
    earlier, own = earlier or {}, {found.name: found for found in every}
    lines = [
        "# Benchmarks of private models",
        "",
        "Written by `python -m benchmarks.models`. One set of defaults for every table: those for classes were chosen",
        "on a validation part of the training rows of Adult's first split (some are test rows of other splits), the",
        "rate for numbers on the four tables of numbers. Columns are declared as a person would who has not seen the",
        "data (`benchmarks/tables.py`), but for flights: after a look, delays became `heavy`. (ε, δ) for adding or",
        f"removing one row, δ = {DELTA:g}; diffprivlib's models are pure ε. Mean over splits ± standard error, 80/20.",
        "“Ours” is `PrivateClassifier` or `PrivateRegressor` with classes declared; the error is the mean absolute",
        "one in the column's own unit (less is better), all else more is better. Bold: best private model.",
        "",
    ]
    for name in dict.fromkeys([*MAKERS, *own]):
        if name in own:
            lines += section(own[name])
        elif name in earlier:
            lines += [earlier[name], ""]
    lines += [f"Left out: {sentence}.\n" for sentence in absent]
    lines += ["## Memory", "", *memory, ""] if memory else [earlier["Memory"], ""] if "Memory" in earlier else []
    lines += options()
    return "\n".join(lines).rstrip() + "\n"


def section(found: Found) -> list[str]:
    """One table's lines."""
    lines = [f"## {found.name}", "", found.what, ""]
    for measure in found.measures:
        lines += [f"| {measure} | " + " | ".join(f"ε = {level:g}" for level in LEVELS) + " |"]
        lines += ["|---|" + "---|" * len(LEVELS)]
        for method in (OURS, PLAIN, *PEERS.values()):
            cells = [found.cell(method, level, measure) for level in LEVELS]
            if any(cells):
                lines.append(f"| {method} | " + " | ".join(
                    _cell(cell, best(found, level, measure)) for cell, level in zip(cells, LEVELS, strict=True)
                ) + " |")  # fmt: skip
        for method in NO_PRIVACY:
            cell = found.cell(method, None, measure)
            lines.append(f"| {method} | {_cell(cell, None)} |" + " |" * (len(LEVELS) - 1))
        lines.append("")
    lines += [f"{note}\n" for note in found.notes]
    return lines


def options() -> list[str]:
    """What is off unless asked for, and where it pays, as its own benchmark found; nothing before that has run."""
    lines = []
    for name, report in OPTIONS.items():
        if report.exists():
            text = report.read_text(encoding="utf-8").splitlines()
            told = [line for line in text if line.startswith(("Better by", "Worse by"))]
            lines += [f"- {name} (`docs/{report.name}`). {' '.join(told)}".rstrip()]
    return ["## Off unless asked for", "", *lines, ""] if lines else []


def best(found: Found, level: float, measure: str) -> float | None:
    cells = [found.cell(method, level, measure) for method in (OURS, PLAIN, *PEERS.values())]
    values = [cell[0] for cell in cells if cell is not None]
    if not values:
        return None
    return min(values) if measure == "error" else max(values)


def _cell(cell: tuple[float, float] | None, leading: float | None) -> str:
    if cell is None:
        return "–"
    digits = 4 if abs(cell[0]) < 1.5 else 2
    text = f"{cell[0]:,.{digits}f} ± {cell[1]:,.{digits}f}"
    return f"**{text}**" if cell[0] == leading else text


def missed(every: list[Found]) -> list[str]:
    """Goals not met, in sentences: Adult's, and elsewhere no peer ahead by more than one standard error."""
    problems = []
    for found in every:
        for level in LEVELS:
            if found.name == "Adult" and level in GOALS:
                for measure, goal in zip(("accuracy", "AUC"), GOALS[level], strict=True):
                    cell = found.cell(OURS, level, measure)
                    if cell is None or cell[0] < goal:
                        problems.append(f"Adult, ε = {level:g}: {measure} below {goal}")
            for label in PEERS.values():
                own, other = (found.cell(method, level, found.measures[0]) for method in (OURS, label))
                if own is None or other is None:
                    continue
                behind = own[0] - other[0] if found.measures == ["error"] else other[0] - own[0]
                if behind > np.hypot(own[1], other[1]):
                    problems.append(f"{found.name}, ε = {level:g}: {label} is ahead by {behind:.4g}")
    return problems


def memory(rows: int = 1_000_000, columns: int = 50, steps: int = 3) -> list[str]:
    """Peak memory of this process for 13 ε × 20 models of 10⁶ rows × 50 columns of cuts, a few steps of them."""
    rng = np.random.Generator(np.random.SFC64(0))
    number = Encoding(name="x", kind="number", low=0.0, high=100.0, levels=public_cuts(0.0, 100.0))
    basis = number.basis()
    codes = [rng.integers(basis.shape[0] - 1, size=rows, dtype=np.int64) for _ in range(columns)]
    data = CodedRows.of([*codes, np.zeros(rows, dtype=np.int64)], [*[basis] * columns, np.ones((1, 1))])
    y = np.where(codes[0] > 10, 1.0, -1.0)
    del codes
    methods = [
        ScaledDescent(epsilon=float(level), delta=DELTA, steps=steps, calibration_share=0.0)
        for level in np.geomspace(0.01, 10.0, 13)
    ]
    start = time.process_time()
    ScaledDescent.fit_all(methods, data, y, rng, 20)
    spent = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
    return [
        f"{rows:,} rows × {columns} columns of cuts ({data.shape[1]:,} ones), 13 ε × 20 models together: "
        f"{data.codes.nbytes / 1e6:.0f} MB for the rows, {peak:.2f} GB at most for the whole process (goal 2 GB), "
        f"{spent / steps:.1f} s of one core a step."
    ]


def main(arguments: list[str]) -> int:
    logging.getLogger("absl").setLevel(logging.ERROR)
    command = parser("benchmarks.models", __doc__, None)
    command.add_argument("--without-peers", action="store_true")
    command.add_argument("--memory", action="store_true")
    given = command.parse_args(arguments)
    with threadpool_limits(1):
        KEPT.mkdir(parents=True, exist_ok=True)
        used = memory() if given.memory else []
        for line in used:
            print(line, flush=True)
        found, absent = ([], []) if given.tables == ["none"] else tasks(tuple(given.tables))
        every = []
        for task in found:
            usual = ADULT_SPLITS if task.name == "Adult" else SPLITS_OF_MANY if len(task.frame) > MANY else SPLITS
            every.append(run(task, given.splits or usual, not given.without_peers))
            every[-1].keep()
            print(markdown(every[-1:], [], []).partition("\n## ")[2], flush=True)
    for sentence in absent:
        print(sentence)
    if used:
        MEMORY.write_text(used[0], encoding="utf-8")
    known = written(REPORT.read_text(encoding="utf-8")) if REPORT.exists() else {}
    remembered = [MEMORY.read_text(encoding="utf-8")] if MEMORY.exists() else []
    REPORT.write_text(markdown(kept(), absent, remembered, known), encoding="utf-8")
    problems = missed(every)
    for problem in problems:
        print("MISSED", problem)
    print("goals missed" if problems else "all goals met")
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
