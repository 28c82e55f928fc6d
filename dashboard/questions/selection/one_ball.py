"""Which line, median or mean fits best? A world of risk minimisation small enough to be drawn whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

from dashboard import words
from dashboard.blocks import Tab
from dashboard.case import Case
from dashboard.charts.tradeoff import Scale
from dashboard.controls import Control, Group, Read
from dashboard.question import CannotAsk, Need, NoOffer, Outcomes, Question, Way
from dashboard.questions.selection import one_ball_tabs as tabs
from dashboard.questions.selection.one_ball_controls import PAGE, SHAPES, WHICH, column_choice
from dashboard.questions.selection.one_ball_picture import picture
from dashboard.questions.selection.one_ball_setting import Setting
from dashboard.view import View
from dashboard.words import one_ball as said
from dashboard.words import promise as theory_said
from dpcore.datasets import Schema
from dpcore.training import Ball, BallProblem
from dpcore.training.ball_problem import THEORY


@dataclass(frozen=True, slots=True, kw_only=True)
class OneBall:
    """The question as a plug-in. It is a world for a picture, so the Data page does not offer it."""

    key: ClassVar[str] = "one_ball"
    title: ClassVar[str] = said.TITLE
    rank: ClassVar[int] = 40
    once: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def ways(cls, schema: Schema) -> Sequence[Way]:
        return []

    @classmethod
    def ask(cls, case: Case, read: Read) -> Question:
        schema = case.table.schema
        offered = tuple(column.name for column in schema.columns if column.is_numeric and column.bounded)
        if not offered or schema.each_row != "record":
            raise CannotAsk(said.NO_COLUMN)
        which = WHICH if len(offered) > 1 else replace(WHICH, options=("median", "mean"))
        if len(offered) < 2 or not (case.source.public or len(case.source.stated(offered)) > 1):
            which = replace(which, default="median")
        statistic = read(which, "sentence")
        name = column_choice("ball_column", said.COLUMN, _second_first(case, offered), case)
        columns = [schema.column(read(name, "sentence"))]
        pieces: list[str | Control[Any]] = [said.TO, which, said.FITS, name]
        if statistic == "line":
            others = tuple(one for one in offered if one != columns[0].name)
            other = column_choice("ball_from", said.AGAINST, others, case)
            columns.insert(0, schema.column(read(other, "sentence")))
            pieces += ["from", other]
        setting = Setting.of(case, read, statistic, tuple(columns))
        return question(setting, (*pieces, said.among(setting.world.n, case.table.rows)))


def _second_first(case: Case, offered: tuple[str, ...]) -> tuple[str, ...]:
    """The columns in the order in which they are offered: of a person's own data the second declared one leads, so that
    the first is what it is fitted from."""
    if not case.source.public:
        known = case.source.stated(offered)
        offered = (*known, *(name for name in offered if name not in known))
        return (*known[1:], known[0], *offered[len(known) :])
    return offered[1:] + offered[:1]


def view(setting: Setting) -> View:
    """The ball first; then the excess loss against ε and people, beside its theorem."""
    problem = BallProblem(world=setting.world)
    return View(
        page=PAGE,
        problem=problem,
        identity=setting.name,
        memo=setting.case.memo,
        metric=setting.metric,
        scale=Scale(title=problem.metrics[setting.metric].title),
        names=said.NAMES,
        methods=[Ball.key, THEORY] if setting.metric == "likely" else [Ball.key],
        everything=list(said.NAMES),
        main=Ball.key,
        epsilon=setting.epsilon,
        target=setting.goal,
        mark=setting.case.source.mark,
        code=said.code_curve(repr(setting.world.points.tolist()), setting.made) if setting.case.source.public else None,
        extra={"ball": (said.BALL_AXIS, partial(picture, setting))},
        first="ball",
        height=780,
    )


def question(setting: Setting, sentence: tuple[str | Control[Any] | Group, ...]) -> Question:
    """The whole of it, for what is set."""
    shown, world = view(setting), setting.world
    found, promised = shown.at(Ball.key), shown.at(THEORY)
    moved, unit = float(setting.before.effect(world).max()), setting.case.table.schema.unit
    told = said.headline(
        said.STATISTICS[setting.statistic], setting.epsilon, setting.metric, world.beta, found, setting.goal, promised
    )
    return Question(
        key=PAGE,
        sentence=(*sentence, setting.group, Group(label=said.LOSS, controls=SHAPES, notes=said.LOSS_NOTES)),
        headline=told,
        caption=said.caption(moved, setting.most, unit),
        view=shown,
        need=Need(control=setting.need, found=None if setting.case.brief else shown.needed()),
        outcomes=Outcomes(
            names=(said.GOOD, said.BAD), chances=(1.0 - world.bad_chance, world.bad_chance), good=(True, False)
        ),
        protected=words.LabelCard(neighbours=world.neighbours, epsilon=setting.epsilon, unit=unit),
        tabs=(
            Tab(key="how", title=said.HOW, blocks=partial(tabs.how, setting)),
            Tab(key="two_worlds", title=said.TWO, blocks=partial(tabs.two_worlds, setting)),
            Tab(key="many", title=said.MANY, blocks=partial(tabs.many, setting)),
            Tab(key="theory", title=theory_said.TITLE, blocks=partial(tabs.theory, setting, shown)),
        ),
        offer=NoOffer(sentence=said.NO_RELEASE, instead=("question", "quantile", said.USE_QUANTILE)),
        follows=True,
    )
