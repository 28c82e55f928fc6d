"""Python that makes the rows a picture of training was drawn from, for the samples, which everybody has."""

from __future__ import annotations

from collections.abc import Sequence

from dashboard.case import Case
from dashboard.questions.training.prepared_rows import MOST_ROWS, TEST_SHARE, Task, shapes


def rows_code(case: Case, task: Task, most: int, names: Sequence[str], then: str) -> str | None:
    """``rows``, at most ``most`` to train on, and their ``loss``, then the lines of ``then``, which use ``names`` of
    ``dpcore.training``. None for a person's own data, of which a script holds nothing."""
    if not case.source.public:
        return None
    used = tuple(column.name for column in task.features.columns)
    cuts = {name: list(cut) for name, cut in shapes(case.table.schema.columns, used).items()} if task.steps else None
    together = f",\n    pairs={task.features.paired!r}" if task.features.pairs else ""
    loss = type(task.loss).__name__
    needed = ", ".join(sorted({"Features", "Rows", loss, *names}, key=lambda name: (name.islower(), name)))
    return (
        "import numpy as np\n"
        "from dpcore.datasets import load_sample\n"
        f"from dpcore.training import {needed}\n\n"
        f"table = load_sample({case.source.key!r})\n"
        "features = Features.of(\n"
        f"    table.schema, target={task.target!r}, columns={used!r}, positive={task.positive!r}, shapes={cuts!r}"
        f"{together}\n"
        ")\n"
        "found = features.prepare(table)\n"
        f"order = np.random.Generator(np.random.SFC64(7)).permutation(found.n)[:{MOST_ROWS}]\n"
        f"test, train = np.split(order, [max(1, round({TEST_SHARE!r} * order.size))])\n"
        f"train = train[:{most}]\n"
        "rows = Rows(X=found.X[train], y=found.y[train], X_test=found.X[test], y_test=found.y[test])\n"
        f"loss = {loss}()\n"
        f"{then}"
    )
