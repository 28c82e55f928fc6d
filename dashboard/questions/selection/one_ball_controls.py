"""What can be set about one number, one ball: the points, who is moved, the loss and the ball."""

from __future__ import annotations

from dashboard import words
from dashboard.case import Case
from dashboard.controls import Choice, Control, Number, slug
from dashboard.words import one_ball as said
from dashboard.words import one_number as number_said
from dpcore.datasets import Column

PAGE = "ball"
GOAL = 0.1
WHICH = Choice(
    key="ball_fit",
    label=said.WHICH,
    options=tuple(said.STATISTICS),
    names=said.STATISTICS,
    default="line",
    hide_label=True,
    width=130,
)
PEOPLE: Choice[int] = Choice(
    key="ball_people",
    label=said.PEOPLE,
    options=(10, 30, 100, 300, 1000),
    names=words.whole,
    default=100,
    look="scale",
)
RADIUS: Choice[float] = Choice(
    key="ball_radius",
    label=said.RADIUS,
    options=(0.3, 0.5, 1.0, 1.5, 2.0),
    names=words.number,
    default=1.0,
    look="scale",
)
STEEP = Number(key="ball_fit_steepness", label=number_said.STEEP, default=1.0, low=0.1, high=10.0, step=0.5)
CAP = Number(key="ball_fit_cap", label=number_said.CAP, default=0.0, low=0.0, high=20.0, step=0.1)
RIDGE = Number(key="ball_fit_ridge", label=number_said.RIDGE, default=0.0, low=0.0, high=10.0, step=0.1)
SHAPES: tuple[Control[float], ...] = (STEEP, CAP, RIDGE, RADIUS)
METRIC = Choice(
    key="ball_metric",
    label=said.METRIC,
    options=tuple(said.METRICS),
    names=said.METRICS,
    default="likely",
    look="buttons",
)
AXIS: Choice[str] = Choice(
    key="ball_many_axis", label=said.AXIS, options=("d", "epsilon", "n"), names=said.AXES, default="d", look="buttons"
)
AT_ONCE = Number(key="ball_many_d", label=said.AT_ONCE, default=20.0, low=2.0, high=150.0, step=10.0, whole=True)


def column_choice(key: str, label: str, options: tuple[str, ...], case: Case) -> Choice[str]:
    """One of these columns."""
    return Choice(
        key=slug(key, case.source.key),
        label=label,
        options=options,
        names=words.visible,
        default=case.source.first(options),
        hide_label=True,
        width=200,
        linked=case.source.public,
    )


def places(case: Case, columns: tuple[Column, ...], people: int) -> tuple[Number, ...]:
    """Who is moved, and where to in each column: until somebody chooses, the first person to a corner."""
    names = [column.name for column in columns]
    who = Number(
        key=slug("ball_who", case.source.key),
        label=said.WHO,
        default=1.0,
        low=1.0,
        high=float(people),
        whole=True,
        linked=case.source.public,
    )
    found = []
    for place, column in enumerate(columns):
        low, high = ends(column)
        found.append(
            Number(
                key=slug(f"ball_to_{place}", case.source.key, *names),
                label=said.to(column.name),
                default=low if place else high,
                low=low,
                high=high,
                step=float(f"{(high - low) / 50:.1g}"),
                linked=case.source.public,
            )
        )
    return (who, *found)


def need_control(metric: str) -> Number:
    """How much worse than the best it may be, in the measure that is shown."""
    return Number(
        key=f"{PAGE}_{metric}_target",
        label=said.NEED[metric],
        help=said.NEED_HELP,
        default=GOAL,
        low=1e-6,
        high=100.0,
        step=0.05,
    )


def ends(column: Column) -> tuple[float, float]:
    """The declared bounds."""
    return float(column.low or 0.0), float(column.high or 0.0)
