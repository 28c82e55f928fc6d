"""What the textbook's noisy descent spends, how good its models are, and what keeps them from the best."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from dashboard.blocks import Ask, Block, Note, Picture, Slow, Small, Text
from dashboard.case import Case
from dashboard.charts.excess_parts import excess_parts
from dashboard.charts.theme import colours, palette
from dashboard.charts.tradeoff import HEIGHT, Scale, tradeoff
from dashboard.controls import Choice, Read
from dashboard.questions.training.curves import Asked, at_epsilon, scale
from dashboard.questions.training.prepared_rows import Task
from dashboard.questions.training.training_code import rows_code
from dashboard.words import number
from dashboard.words import textbook as said
from dpcore.training import BookGradientDescent, BookSplit, book_spend, book_split, count_not_positive
from dpcore.validate import FloatArray

LEVELS = (0.001, 0.002, 0.003, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1)
STEP_EPSILON: Choice[float] = Choice(
    key="textbook_step_epsilon",
    label=said.STEP_EPSILON,
    options=LEVELS,
    names=number,
    default=0.1,
    look="scale",
)
STEPS: Choice[int] = Choice(
    key="textbook_steps", label=said.STEPS, options=(1, 3, 10, 30, 100, 300, 1000), default=10, look="scale"
)
MOST_ROWS, REPLICAS = 5000, 40


def controls(read: Read) -> tuple[float, int]:
    """The ε of one step and how many steps there are."""
    return read(STEP_EPSILON, "tab"), read(STEPS, "tab")


def blocks(
    case: Case, task: Task, asked: Asked, along: pd.DataFrame | None, chosen: tuple[float, int]
) -> Sequence[Block]:
    """The tab: the run under every accountant, the accuracy by three counts, and the split of what the model loses.

    ``along`` is the page's simulation over ε as far as it is there.
    """
    spent = _spend(case, task, asked, *chosen)
    if not task.two_classes:
        return [*spent, Note(said.NOT_HERE)]
    return [*spent, *_accuracy(case, task, asked, along), _split(case, task, asked)]


# -- what it spends ----------------------------------------------------------------------------------------------------


def _spend(case: Case, task: Task, asked: Asked, step_epsilon: float, steps: int) -> Sequence[Block]:
    found = case.memo(
        ("book spend", steps, asked.delta), lambda: book_spend(LEVELS, steps=steps, delta=asked.delta)
    ).rename(columns={"step_epsilon": said.LABEL})
    at = found[found[said.LABEL] == step_epsilon].iloc[0]
    shown = [name for name in said.SPEND if name in found.columns]
    tidy = pd.concat([_line(name, found[said.LABEL], found[name], "epsilon of the run") for name in shown])
    tidy.loc[tidy["method"] == "added_up", "kind"] = "bound"
    chance = float(count_not_positive(task.n, step_epsilon))
    return [
        Ask((STEP_EPSILON, STEPS)),
        Text(said.spend(steps, step_epsilon, float(at["added_up"]), float(at[said.EXACT]), asked.delta)),
        Picture(
            key="textbook-spend",
            figure=lambda dark: tradeoff(
                tidy,
                x="epsilon",
                x_title=said.SPEND_X,
                scale=Scale(title=said.SPEND_Y),
                names=said.SPEND,
                colour=colours(shown, dark),
                main=said.EXACT,
                chosen=step_epsilon,
                dark=dark,
                log_y=True,
            ),
            alt=said.spend_alt(steps, step_epsilon, {name: float(at[name]) for name in shown}),
            data=found,
            code=said.code_spend(LEVELS, steps, asked.delta),
            note=said.spend_note(asked.delta, steps),
        ),
        Text(said.count(chance, task.n, step_epsilon)),
    ]


def _line(name: str, x: pd.Series, y: pd.Series | FloatArray, metric: str) -> pd.DataFrame:
    return pd.DataFrame(
        {"method": name, "epsilon": x, "n": 0, "metric": metric, "value": y, "low": y, "high": y, "kind": "exact"}
    )


# -- how good its models are -------------------------------------------------------------------------------------------


def _accuracy(case: Case, task: Task, asked: Asked, along: pd.DataFrame | None) -> Sequence[Block]:
    key = BookGradientDescent.key
    found = None if along is None else along[(along["method"] == key) & (along["metric"] == "accuracy")]
    at = None if along is None else at_epsilon(along, key, "accuracy", asked.epsilon)
    if found is None or at is None or len(found) < 2:
        return [Text(said.ACCURACY), Note(said.NO_CURVE)]
    levels = tuple(found["epsilon"].tolist())
    counts = case.memo(("book counts", levels, asked.delta), lambda: _counted(levels, asked.delta))
    chosen = _counted((asked.epsilon,), asked.delta)
    tidy = pd.concat([_line(name, counts[name], found["value"].to_numpy(), "accuracy") for name in said.AXES])
    return [
        Text(said.ACCURACY),
        Picture(
            key="textbook-accuracy",
            figure=lambda dark: tradeoff(
                tidy,
                x="epsilon",
                x_title=said.ACCURACY_X,
                scale=scale("accuracy"),
                names=said.AXES,
                colour=colours(list(said.AXES), dark),
                main="exact",
                chosen=float(chosen["exact"].iloc[0]),
                dark=dark,
            ),
            alt=said.accuracy_alt({name: float(chosen[name].iloc[0]) for name in said.AXES}, at[0]),
            data=tidy,
            code=rows_code(
                case,
                task,
                task.n,
                ("BookGradientDescent",),
                said.code_accuracy(levels, asked.delta, asked.seed, asked.seeds),
            ),
        ),
    ]


def _counted(levels: tuple[float, ...], delta: float) -> pd.DataFrame:
    """The ε of the textbook's runs, ``levels`` by adding up, in the two other ways."""
    runs = [BookGradientDescent(epsilon=level, delta=delta) for level in levels]
    return pd.DataFrame(
        {
            "step": [run.step_epsilon for run in runs],
            "added": list(levels),
            "exact": [run.true_epsilon for run in runs],
        }
    )


# -- what keeps them from the best -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Split:
    """Rows of the unit ball to train the textbook's model on; ``row_norm`` makes them as long as the book's."""

    X: FloatArray
    y: FloatArray
    row_norm: float
    epsilon: float
    delta: float
    seed: int


def split(task: Split, _: None) -> BookSplit:
    """What keeps the textbook's model from the best; for a worker process."""
    rng = np.random.Generator(np.random.SFC64(task.seed))
    return book_split(
        task.X,
        task.y,
        rng,
        epsilon=task.epsilon,
        delta=task.delta,
        replicas=REPLICAS,
        row_norm=task.row_norm,
    )


def _split(case: Case, task: Task, asked: Asked) -> Slow:
    few = Split(
        X=task.rows.X[:MOST_ROWS],
        y=task.rows.y[:MOST_ROWS],
        row_norm=task.features.scale,
        epsilon=asked.epsilon,
        delta=asked.delta,
        seed=asked.seed,
    )
    then = said.code_split(asked.epsilon, asked.delta, asked.seed, REPLICAS)
    code = rows_code(case, task, MOST_ROWS, ("book_split",), then)
    return Slow(
        slot="training-textbook",
        key=(*task.identity, "textbook", asked.epsilon, asked.delta, asked.seed),
        work=split,
        common=lambda: few,
        show=lambda found: _parts(found, int(few.X.shape[0]), code),
        what=said.SPLITTING,
        height=HEIGHT // 2,
    )


def _parts(found: BookSplit, rows: int, code: str | None) -> Sequence[Block]:
    named = {said.PARTS[name]: value for name, value in found.parts.items()}

    def inks(dark: bool) -> dict[str, str]:
        look = palette(dark)
        return dict(zip(named, (look.good, look.accent, look.bad), strict=True))

    return [
        Text(said.split(found.parts, found.book, found.descent, found.epsilon, 2 * math.hypot(*found.errors[:2]))),
        Picture(
            key="textbook-split",
            figure=lambda dark: excess_parts(
                named,
                inks(dark),
                whole=said.WHOLE,
                other=said.OTHER,
                beside=found.descent,
                x_title=said.EXCESS,
                dark=dark,
            ),
            alt=said.split_alt(found.parts, found.book, found.descent),
            data=pd.DataFrame({"part": list(named), "excess_risk": list(named.values())}),
            code=code,
        ),
        Small(said.split_note(rows, REPLICAS, found.errors)),
    ]
