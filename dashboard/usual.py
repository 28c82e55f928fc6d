"""Controls that several questions share, so that one setting is one value on every page."""

from __future__ import annotations

from collections.abc import Mapping

from dashboard.case import Case
from dashboard.controls import Choice, Number, Switch, slug
from dashboard.words import one_of, tiny
from dashboard.words import usual as words
from dpcore.about import About
from dpcore.datasets.schema import EachRow, Schema
from dpcore.validate import Neighbours

AT_A_GLANCE = 80
"""Letters of names that stand side by side in two rows of a card."""
DELTAS = tuple(float(f"1e-{power}") for power in range(16, 3, -1))
"""What a release can ask for: down to a tenth of the smallest δ that a budget has."""
RELATIONS: tuple[Neighbours, ...] = ("add_remove", "replace_one")
SEED = Number(
    key="seed",
    label=words.SEED,
    help=words.SEED_HELP,
    default=1.0,
    low=0.0,
    high=2.0**32 - 1,
    whole=True,
)
BETA: Choice[float] = Choice(
    key="beta",
    label=words.BETA,
    help=words.BETA_HELP,
    options=(0.01, 0.05, 0.1, 0.2),
    default=0.05,
    look="scale",
)
SAMPLING = Switch(key="sampling", label=words.SAMPLING, help=words.SAMPLING_HELP, default=False)


def neighbours(key: str, unit: str, each_row: EachRow = "record") -> Choice[Neighbours]:
    """Who is hidden, one ``unit``: the neighbour relation, in words. A row that is a step in time is changed and never
    missing, where a question is about rows."""
    options: tuple[Neighbours, ...] = ("replace_one",) if each_row == "step" else RELATIONS
    return Choice(
        key=key,
        label=words.NEIGHBOURS,
        help=words.NEIGHBOURS_HELP,
        options=options,
        names={relation: one_of(relation, unit) for relation in options},
        default=options[0],
        look="buttons",
    )


def hides(schema: Schema) -> Neighbours:
    """What an answer about these rows hides unless chosen otherwise: what ``neighbours`` begins with."""
    return "replace_one" if schema.protects_rows else RELATIONS[0]


def measure(key: str, names: Mapping[str, str], once: Mapping[str, str] | None = None) -> Choice[str]:
    """What the main chart measures, and what is needed is said of; the first of ``names`` until another is chosen."""
    return Choice(
        key=key,
        label=words.MEASURE,
        options=tuple(names),
        names=names,
        default=next(iter(names)),
        look="buttons" if sum(map(len, names.values())) <= AT_A_GLANCE else "list",
        once=once or {},
    )


def method(key: str, about: Mapping[str, About], default: str, label: str = words.METHOD) -> Choice[str]:
    """Which method gives the answer; older links name it as the field does."""
    return Choice(
        key=key,
        label=label,
        options=tuple(about),
        names={name: words.method(one) for name, one in about.items()},
        default=default,
        once={one.name: name for name, one in about.items()},
    )


def requested(delta: float) -> float:
    """δ for which a release asks unless told otherwise, where ``delta`` is the most it should (``request_delta`` of a
    budget): the largest of ``DELTAS`` up to that, so that it never runs out first, else the smallest."""
    return max((one for one in DELTAS if one <= delta * (1 + 1e-9)), default=min(DELTAS))


def delta(case: Case, key: str, label: str, help_text: str | None = None) -> Choice[float]:
    """δ of a release. About a person's own data it begins anew when their budget turns out to be another one."""
    default = requested(case.delta)
    return Choice(
        key=key if case.source.public else slug(key, "own", f"{default:g}"),
        label=label,
        help=help_text,
        options=DELTAS,
        names=tiny,
        default=default,
        look="scale",
    )


def questions(key: str) -> Number:
    """How many questions of the same kind share one ε."""
    return Number(
        key=key, label=words.QUESTIONS, help=words.QUESTIONS_HELP, default=1.0, low=1.0, high=1000.0, whole=True
    )


def people(key: str, label: str) -> Choice[float]:
    """As many people as now, times."""
    return Choice(
        key=key,
        label=label,
        options=(0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0),
        names=lambda factor: f"×{factor:g}",
        default=1.0,
        look="scale",
    )
