"""What others' private models get on the samples of the page: writes what its tab “Other programs” shows.

Each sample that the page trains on, by the first question on the page (its column, class and columns). Methods,
splits and measures are those of ``benchmarks.models``: interpret-core's private explainable boosting and diffprivlib's
regression with their defaults, ours, and trees without privacy, all on the same rows. Dates are days since the first.
Written to dashboard/questions/training/others.json, with versions and the day.

``python -m benchmarks.others [SAMPLE …] [--splits N]``; samples that are not named stay as they were. The census table
is read from the file that EPSILON_LAB_ADULT names, and left out where there is none.
"""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
from threadpoolctl import threadpool_limits

from benchmarks.adult import adult_file
from benchmarks.models import DELTA, FEW, LEVELS, NO_PRIVACY, OURS, PEERS, PLAIN, SPLITS, SPLITS_OF_MANY, Found, run
from benchmarks.models_command import parser
from benchmarks.models_peers import PACKAGES
from benchmarks.models_tables import Task
from dashboard.questions.training.others import FILE
from dashboard.questions.training.prepared_rows import targets, usable, varying
from dpcore.datasets import Column, Sample, load_sample, samples

LINES = {
    "scaled_descent": OURS,
    "noisy_gradient_descent": PLAIN,
    "interpret": PEERS["interpret"],
    "diffprivlib": PEERS["diffprivlib"],
    "trees": NO_PRIVACY[0],
    "guessing": NO_PRIVACY[2],
}
"""The page's keys, and what ``benchmarks.models`` calls them."""


def task_of(known: Sample, path: Path | None) -> tuple[Task, dict[str, Any]]:
    """The sample's first question as a task of ``benchmarks.models``, and what says which question it is."""
    table = load_sample(known.key, path=path)
    schema = table.schema
    target = targets(schema)[0]
    column, names = schema.column(target), varying(table, usable(schema, target))
    frame = table.frame[[*names, target]].dropna().reset_index(drop=True)
    columns, typed = {}, {}
    for name in names:
        columns[name], typed[name] = _declared(schema.column(name), frame[name])
    classes, positive, bounds = tuple(column.categories) if column.type == "category" else (), None, None
    if column.type == "yes/no":
        y = frame[target].map({True: "yes", False: "no"}).astype(object)
    elif classes:
        positive = classes[-1] if len(classes) == 2 else classes[0]
        y = (frame[target].astype(object) == positive).map({True: "yes", False: "no"}).astype(object)
    else:
        y, bounds = frame[target].astype(float), (float(column.low or 0.0), float(column.high or 0.0))
    task = Task(name=known.key, source="", licence="", frame=pd.DataFrame(typed), y=y, columns=columns, target=bounds)
    return task, {"sample": known.key, "target": target, "positive": positive, "columns": list(names)}


def _declared(column: Column, values: pd.Series) -> tuple[Any, pd.Series]:
    """What is declared of a column, and its values, as ``Task`` has them."""
    if column.type == "category":
        return list(column.categories), values.astype(object)
    if column.type == "yes/no":
        return ["no", "yes"], values.map({True: "yes", False: "no"}).astype(object)
    if column.type == "date":
        first, last = pd.Timestamp(column.earliest), pd.Timestamp(column.latest)
        return (0.0, float((last - first).days)), (pd.to_datetime(values) - first).dt.days.astype(float)
    return (float(column.low or 0.0), float(column.high or 0.0)), values.astype(float)


def entry(found: Found, task: Task, question: dict[str, Any], splits: int) -> dict[str, Any]:
    """One sample's figures: mean and standard error of every line at every ε, or once where there is no ε."""
    measure = found.measures[0]

    def cells(method: str) -> list[list[float]] | None:
        levels = (None,) if method in NO_PRIVACY else LEVELS
        each = [found.cell(method, level, measure) for level in levels]
        return None if None in each else [[float(f"{value:.5g}") for value in cell] for cell in each if cell]

    lines = {key: cells(method) for key, method in LINES.items()}
    return question | {
        "rows": len(task.frame),
        "splits": splits,
        "measure": measure,
        "scores": {key: own for key, own in lines.items() if own is not None},
    }


def main(arguments: list[str]) -> int:
    logging.getLogger("absl").setLevel(logging.ERROR)
    given = parser("benchmarks.others", __doc__, None).parse_args(arguments)
    written = json.loads(FILE.read_text(encoding="utf-8"))["tables"] if FILE.exists() else []
    tables = {one["sample"]: one for one in written}
    asked = [one for one in samples() if any(page == "training" for page, _ in one.why)]
    with threadpool_limits(1):
        for known in asked:
            path = adult_file() if known.needs_network else None
            if (given.tables and known.key not in given.tables) or (known.needs_network and path is None):
                continue
            task, question = task_of(known, path)
            splits = given.splits or (SPLITS if len(task.frame) <= FEW else SPLITS_OF_MANY)
            tables[known.key] = entry(run(task, splits, True), task, question, splits)
            print(json.dumps(tables[known.key]["scores"]), flush=True)
            write(tables, [one.key for one in asked])
    return 0


def write(tables: dict[str, Any], order: list[str]) -> None:
    """A line for each table, so that what changed can be seen."""
    head = {
        "written": datetime.now(UTC).date().isoformat(),
        "delta": DELTA,
        "levels": list(LEVELS),
        "versions": {peer: packages[0].replace("==", " ") for peer, packages in PACKAGES.items()},
    }
    lines = ",\n".join(json.dumps(tables[key], ensure_ascii=False) for key in order if key in tables)
    text = json.dumps(head, ensure_ascii=False)[:-1] + ', "tables": [\n' + lines + "\n]}\n"
    FILE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
