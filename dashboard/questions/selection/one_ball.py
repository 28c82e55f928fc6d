"""Which line, median or mean fits best? A world of risk minimisation small enough to be drawn whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from dashboard import words
from dashboard.blocks import Ask, Block, Drag, Formula, Note, Picture, Small, Tab, Text
from dashboard.case import Case
from dashboard.charts.ball import ball
from dashboard.charts.ball_plane import BallMap, Lines, PlaneWords, Points, plane, ratio_map, with_people
from dashboard.charts.promise import Line, promise
from dashboard.charts.theme import EPSILON_TITLE
from dashboard.charts.tradeoff import Scale
from dashboard.charts.worlds import WorldWords, place_worlds
from dashboard.controls import Choice, Control, Group, Number, Read, slug
from dashboard.promise import Promise, along
from dashboard.question import CannotAsk, Need, NoOffer, Outcomes, Question, Way
from dashboard.usual import BETA, SEED, neighbours
from dashboard.view import EPSILON_HIGH, EPSILON_LOW, View
from dashboard.words import one_ball as said
from dashboard.words import one_number as number_said
from dashboard.words import promise as theory_said
from dpcore.datasets import Column, Schema
from dpcore.theorems import theorems
from dpcore.training import Ball, BallProblem, BallWorld, approximate_excess, pure_excess
from dpcore.training.ball_problem import THEORY
from dpcore.validate import FloatArray

PAGE = "ball"
CELLS = {1: 401, 2: 61}
DRAWN = 12
DELTA = 1e-6
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
        which = WHICH if len(offered) > 1 else replace(WHICH, options=("median", "mean"), default="median")
        statistic = read(which, "sentence")
        name = _column("ball_column", said.COLUMN, offered[1:] + offered[:1], case)
        columns = [schema.column(read(name, "sentence"))]
        pieces: list[str | Control[Any]] = [said.TO, which, said.FITS, name]
        if statistic == "line":
            others = tuple(one for one in offered if one != columns[0].name)
            other = _column("ball_from", said.AGAINST, others, case)
            columns.insert(0, schema.column(read(other, "sentence")))
            pieces += ["from", other]
        setting = _Setting.of(case, read, statistic, tuple(columns))
        return setting.question((*pieces, said.among(setting.world.n, case.table.rows)))


def _column(key: str, label: str, options: tuple[str, ...], case: Case) -> Choice[str]:
    return Choice(
        key=slug(key, case.source.key),
        label=label,
        options=options,
        names=words.visible,
        default=options[0],
        hide_label=True,
        width=200,
        linked=case.source.public,
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Setting:
    """The points with everything that was chosen, the world as it was, and the world with one person moved.

    ``columns`` are those of the points, the one that is fitted last; ``at`` their values, (n, 1 or 2), in their units.
    ``name`` names all that the world depends on besides ε.
    """

    case: Case
    read: Read
    statistic: str
    columns: tuple[Column, ...]
    at: FloatArray
    who: int
    to: tuple[float, ...]
    before: BallWorld
    world: BallWorld
    metric: str
    seed: int
    group: Group
    keys: tuple[str, str, str | None]
    need: Number
    goal: float
    name: tuple[Any, ...]

    @classmethod
    def of(cls, case: Case, read: Read, statistic: str, columns: tuple[Column, ...]) -> _Setting:
        names = [column.name for column in columns]
        rows = np.flatnonzero(case.table.complete(*names))[: read(PEOPLE)]
        if rows.size < 2:
            raise CannotAsk(said.FEW)
        at = np.stack([case.table.frame[one].to_numpy(np.float64, na_value=np.nan)[rows] for one in names], axis=1)
        at = np.clip(at, *np.array([_ends(column) for column in columns]).T)
        controls = _where(case, columns, read(PEOPLE))
        who, *to = (read(one, "sentence") for one in controls)
        relation = read(replace(neighbours("ball_neighbours"), default="replace_one"))
        steep, cap, ridge, radius = (read(one, "sentence") for one in SHAPES)
        beta, metric, seed = read(BETA), read(METRIC), int(read(SEED))
        need = Number(
            key=f"{PAGE}_{metric}_target",
            label=said.NEED[metric],
            help=said.NEED_HELP,
            default=GOAL,
            low=1e-6,
            high=100.0,
            step=0.05,
        )
        settings: dict[str, Any] = {
            "statistic": statistic,
            "epsilon": case.epsilon,
            "radius": radius,
            "steepness": steep,
            "ridge": ridge,
            "cap": cap or None,
            "beta": beta,
            "neighbours": relation,
            "cells": CELLS[len(columns)],
        }
        place = min(int(who), int(rows.size)) - 1
        others = {key: value for key, value in settings.items() if key != "epsilon"}
        name = ("one ball", case.table.fingerprint, *names, rows.size, place, *to, *others.values())

        def make() -> tuple[BallWorld, BallWorld]:
            scaled = _scaled(at, columns)
            first = BallWorld(points=scaled if statistic == "line" else scaled[:, 0], **settings)
            moved = _scaled(np.array([to]), columns)[0]
            return first, first.moved(place, moved if statistic == "line" else float(moved[0]))

        before, world = case.memo((*name, case.epsilon), make)
        return cls(
            case=case,
            read=read,
            statistic=statistic,
            columns=columns,
            at=at,
            who=place,
            to=tuple(to),
            before=before,
            world=world,
            metric=metric,
            seed=seed,
            group=Group(label=said.MOVE, controls=controls, notes=said.MOVE_NOTES, icon=":material/open_with:"),
            keys=(controls[0].key, controls[1].key, controls[2].key if len(controls) > 2 else None),
            need=need,
            goal=read(need, "need"),
            name=name,
        )

    @property
    def epsilon(self) -> float:
        return self.case.epsilon

    @property
    def fitted(self) -> Column:
        return self.columns[-1]

    @property
    def made(self) -> str:
        """What the world is made with besides its points, as Python."""
        names = ("statistic", "epsilon", "radius", "steepness", "ridge", "cap", "beta", "neighbours", "cells")
        return ", ".join(f"{one}={getattr(self.world, one)!r}" for one in names)

    @property
    def most(self) -> float:
        """Δ/n."""
        return self.world.sensitivity / self.world.n

    def view(self) -> View:
        problem = BallProblem(world=self.world)
        return View(
            page=PAGE,
            problem=problem,
            identity=self.name,
            memo=self.case.memo,
            metric=self.metric,
            scale=Scale(title=problem.metrics[self.metric].title),
            names=said.NAMES,
            methods=[Ball.key, THEORY] if self.metric == "likely" else [Ball.key],
            everything=list(said.NAMES),
            main=Ball.key,
            epsilon=self.epsilon,
            target=self.goal,
            mark=self.case.source.mark,
            code=said.code_curve(repr(self.world.points.tolist()), self.made) if self.case.source.public else None,
            extra={"ball": (said.BALL_AXIS, self.picture)},
            first="ball",
            height=780,
        )

    def question(self, sentence: tuple[str | Control[Any] | Group, ...]) -> Question:
        view, world = self.view(), self.world
        found, promised = view.at(Ball.key), view.at(THEORY)
        moved = float(self.before.effect(world).max())
        told = said.headline(
            said.STATISTICS[self.statistic], self.epsilon, self.metric, world.beta, found, self.goal, promised
        )
        return Question(
            key=PAGE,
            sentence=(*sentence, self.group, Group(label=said.LOSS, controls=SHAPES, notes=said.LOSS_NOTES)),
            headline=told,
            caption=said.caption(moved, self.most),
            view=view,
            need=Need(control=self.need, found=view.needed()),
            outcomes=Outcomes(
                names=(said.GOOD, said.BAD), chances=(1.0 - world.bad_chance, world.bad_chance), good=(True, False)
            ),
            protected=words.LabelCard(neighbours=world.neighbours, epsilon=self.epsilon),
            tabs=(
                Tab(key="how", title=said.HOW, blocks=self.how),
                Tab(key="two_worlds", title=said.TWO, blocks=self.two_worlds),
                Tab(key="many", title=said.MANY, blocks=self.many),
                Tab(key="theory", title=theory_said.TITLE, blocks=lambda: self.theory(view)),
            ),
            offer=NoOffer(sentence=said.NO_RELEASE, instead=("question", "quantile", said.USE_QUANTILE)),
        )

    # -- the picture -------------------------------------------------------------------------------------------------

    def picture(self) -> Picture:
        """The points, the loss over the ball, and how likely each place of it is chosen."""
        world = self.world
        line = self.statistic == "line"
        best, was = (_least(one) for one in (world, self.before))
        frame = {f"w{place + 1}": world.grid[:, place] for place in range(world.d)}
        table = frame | {"loss before": self.before.loss, "loss": world.loss, "density": world.density}
        listed = self.before.points.tolist()
        to = _scaled(np.array([self.to]), self.columns)[0].tolist()
        y = None if line else float(self._bottom())
        reach = tuple(_ends(column) for column in self.columns)
        return Picture(
            key="ball-world",
            figure=self._plane if line else self._line,
            alt=said.plane_alt(
                said.moved_to(self.to[0], self.to[1] if line else None),
                best,
                was,
                world.bad_chance,
                world.expected_excess,
            )
            if line
            else number_said.alt(
                world.expected_excess, world.bad_chance, float(self.before.effect(world).max()), self.most
            ),
            data=lambda: pd.DataFrame(table | {"good": world.good}),
            code=said.code(repr(listed), self.made, self.who, repr(to if line else to[0]))
            if self.case.source.public
            else None,
            note=(
                said.plane_note(world.near, world.tail, world.bad_chance, world.beta)
                if line
                else number_said.bad(world.bad_chance, world.beta, world.near, world.tail)
            )
            + said.person(world.lipschitz, world.sensitivity),
            drag=Drag(
                at=[(float(one[0]), float(one[1]) if y is None else y) for one in self._shown()],
                axes=("xaxis2", "yaxis2") if line else ("xaxis", "yaxis2"),
                keys=self.keys,
                reach=(reach[0], reach[-1]),
            ),
        )

    def _shown(self) -> FloatArray:
        """Where everybody stands now."""
        at = self.at.copy()
        at[self.who] = self.to
        return np.asarray(at)

    def _bottom(self) -> float:
        """Where the points of a line lie below its loss."""
        both = np.concatenate([self.world.loss, self.before.loss])
        return float(both.min() - 0.12 * max(float(np.ptp(both)), 1e-9))

    def _points(self) -> Points:
        ends = [_ends(column) for column in self.columns]
        if self.statistic == "line":
            return Points(at=self.at, who=self.who, to=(self.to[0], self.to[1]), reach=(ends[0], ends[1]))
        low = self._bottom()
        flat = np.column_stack([self.at[:, 0], np.full(len(self.at), low)])
        return Points(at=flat, who=self.who, to=(self.to[0], low), reach=(ends[0], (low, low)))

    def _line(self, dark: bool) -> dict[str, Any]:
        """A loss over one number, in the column's own unit."""
        world, column = self.world, self.fitted
        finite = bool(np.isfinite(world.bound))
        low, high = _ends(column)
        w = low + (world.grid[:, 0] + 1.0) / 2.0 * (high - low)
        title = words.html(said.axis_title(column.name, column.unit))
        figure = ball(
            w,
            world.loss,
            self.before.loss,
            world.density * 2.0 / (high - low),
            world.good.astype(np.float64),
            float(world.loss.min()) + world.bound if finite else None,
            replace(number_said.PICTURE, x=title),
            dark=dark,
        )
        names = self._words()
        return with_people(figure, self._points(), (names.people, names.moved, names.was), dark=dark)

    def _words(self) -> PlaneWords:
        titles = [words.html(said.axis_title(column.name, column.unit)) for column in self.columns]
        return said.plane_words(titles[0], titles[-1])

    def _plane(self, dark: bool) -> dict[str, Any]:
        """A line through points, and the ball of lines."""
        world, before = self.world, self.before
        rng = np.random.Generator(np.random.PCG64(self.seed))
        drawn = world.grid[rng.choice(len(world.grid), size=DRAWN, p=world.probabilities)]
        best, was = (_least(one) for one in (world, before))
        lines = Lines(
            now=self._ends_of(np.array([best])), was=self._ends_of(np.array([was])), drawn=self._ends_of(drawn)
        )
        axis = np.linspace(-world.radius, world.radius, world.cells)
        mapped = BallMap(
            axis=axis,
            density=_square(world, world.density),
            loss=_square(world, world.loss),
            good=_square(world, world.good.astype(np.float64)),
            limit=float(world.loss.min()) + world.bound if np.isfinite(world.bound) else None,
            best=best,
            was=was,
        )
        return plane(self._points(), lines, mapped, self._words(), dark=dark)

    def _ends_of(self, w: FloatArray) -> FloatArray:
        """Both ends of the lines w (m, 2), in the columns' own units, shape (m, 2, 2)."""
        sides = np.array([-1.0, 1.0])
        height = (w[:, :1] + w[:, 1:] * sides) / np.sqrt(2.0)
        scaled = np.stack([np.broadcast_to(sides, height.shape), height], axis=-1)
        lows, highs = np.array([_ends(column) for column in self.columns]).T
        return np.asarray(lows + (scaled + 1.0) / 2.0 * (highs - lows))

    # -- the tabs ----------------------------------------------------------------------------------------------------

    def how(self) -> Sequence[Block]:
        world = self.world
        return [
            Text(said.how(said.STATISTICS[self.statistic], world.n, world.lipschitz, world.sensitivity, world.radius)),
            Formula(latex=said.FORMULA, source=said.SOURCE),
        ]

    def two_worlds(self) -> Sequence[Block]:
        """The log-ratio of the laws with the person here and there, and of a version that takes Δ for half."""

        def make() -> tuple[FloatArray, FloatArray]:
            found = []
            for factor in (1.0, 2.0):  # half the Δ is the law of twice the ε
                pair = [replace(one, epsilon=factor * self.epsilon) for one in (self.before, self.world)]
                found.append(pair[0].two_worlds(pair[1]).log_ratio)
            return found[0], found[1]

        kept, leaky = self.case.memo((*self.name, self.epsilon, "two worlds"), make)
        most, worst = float(np.abs(kept).max()), float(np.abs(leaky).max())
        world, before = self.world, self.before
        column = self.fitted
        low, high = _ends(column)
        names = WorldWords(
            before=said.WITHOUT,
            after=said.WITH,
            ratios={"kept": said.KEPT, "leaky": said.LEAKY},
            law_axis=number_said.PICTURE.density_axis,
            ratio_axis=said.RATIO,
            bound=f"ε = {words.number(self.epsilon)}",
        )

        def drawn(dark: bool) -> dict[str, Any]:
            if self.statistic == "line":
                axis = np.linspace(-world.radius, world.radius, world.cells)
                titles = (said.RATIO, self._words().height, self._words().slope)
                return ratio_map(axis, _square(world, kept), self.epsilon, titles, dark=dark)
            return place_worlds(
                low + (world.grid[:, 0] + 1.0) / 2.0 * (high - low),
                before.density,
                world.density,
                {"kept": kept, "leaky": leaky},
                self.epsilon,
                names,
                x_title=words.html(said.axis_title(column.name, column.unit)),
                dark=dark,
            )

        table = {f"w{place + 1}": world.grid[:, place] for place in range(world.d)}
        return [
            Text(said.two_worlds(self.epsilon, most, worst)),
            Picture(
                key="ball-two-worlds",
                figure=drawn,
                alt=said.two_alt(self.epsilon, most, worst),
                data=lambda: pd.DataFrame(
                    table
                    | {
                        "as it was": before.probabilities,
                        "moved": world.probabilities,
                        "log ratio": kept,
                        "log ratio with half the Δ": leaky,
                    }
                ),
                code=self.picture().code,
            ),
        ]

    def many(self) -> Sequence[Block]:
        """Pure against approximate, along d, ε or n."""
        axis, d = self.read(AXIS, "tab"), self.read(AT_ONCE, "tab")
        n, epsilon, relation = float(self.world.n), self.epsilon, self.world.neighbours
        chosen = {"d": d, "epsilon": epsilon, "n": n}[axis]
        grid = {
            "d": np.geomspace(2, 300, 25),
            "epsilon": np.geomspace(EPSILON_LOW, EPSILON_HIGH, 25),
            "n": np.geomspace(10, 1e9, 25),
        }[axis]
        places = np.concatenate([grid, [chosen, 2.0 * chosen]])

        def make() -> tuple[FloatArray, FloatArray]:
            at = {"d": d, "epsilon": epsilon, "n": n} | {axis: places}
            size, level, people = at["d"], at["epsilon"], at["n"]
            return (
                pure_excess(size, people, level, relation),
                approximate_excess(size, people, level, DELTA, relation),
            )

        pure, approximate = self.case.memo(("ball many", axis, d, n, epsilon, relation), make)
        told = float(pure[-2]), float(approximate[-2])
        grown = float(pure[-1] / pure[-2]), float(approximate[-1] / approximate[-2])
        place = said.place(axis, chosen)
        values = {said.PURE: pure[:-2], said.APPROXIMATE: approximate[:-2]}
        lines = [Line(key=key, name=key, x=grid, values=found) for key, found in values.items()]
        title = {"d": number_said.D_AXIS, "epsilon": EPSILON_TITLE, "n": said.PEOPLE_AXIS}[axis]
        ends = f"np.geomspace({float(grid[0])!r}, {float(grid[-1])!r}, 25)"
        given = {"d": repr(d), "n": repr(n), "epsilon": repr(epsilon)} | {axis: ends}
        return [
            Text(said.many(axis, told, grown, place)),
            Ask((AXIS, AT_ONCE)),
            Picture(
                key="ball-many",
                figure=lambda dark: promise(
                    lines, x_title=title, y_title=said.EXCESS_AXIS, chosen=(chosen, place), dark=dark
                ),
                alt=said.many_alt(told, place),
                data=lambda: pd.DataFrame({axis: grid, "pure": pure[:-2], "approximate": approximate[:-2]}),
                code=said.code_many(given["d"], given["n"], given["epsilon"], DELTA, relation),
            ),
            Small(said.many_note(DELTA)),
        ]

    def theory(self, view: View) -> Sequence[Block]:
        """The theorem against people up to 10⁹, and the exact excess that is seldom passed."""
        world, x = self.world, along(10.0, 1e9)
        if world.cap is not None or world.ridge:
            return [Note(said.PLAIN_LOSS)]
        halves = 1.0 if world.neighbours == "add_remove" else 2.0
        x = x[x * self.epsilon / halves >= world.d]
        problem = BallProblem(world=world)

        def make() -> FloatArray:
            return problem.evaluate(Ball.key, "likely", np.full(x.size, self.epsilon), x).value

        exact = self.case.memo((*self.name, self.epsilon, "theory"), make)
        floor = np.maximum(exact, world.half_cell * 1e-3)
        return Promise(
            key="ball-theory",
            theorem=theorems()["ball"],
            axis="n",
            x=x,
            settings={
                "d": float(world.d),
                "epsilon": self.epsilon,
                "spread": world.sensitivity,
                "halves": halves,
                "beta": world.beta,
            },
            chosen=float(world.n),
            truth=view.at(Ball.key, "likely"),
            truth_name=said.EXACT,
            exact=(Line(key="here", name=said.EXACT, x=x, values=floor),),
            x_title=theory_said.PEOPLE,
            y_title=said.EXCESS,
            offset=world.half_cell,
        ).blocks()


def _where(case: Case, columns: tuple[Column, ...], people: int) -> tuple[Number, ...]:
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
        low, high = _ends(column)
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


def _ends(column: Column) -> tuple[float, float]:
    return float(column.low or 0.0), float(column.high or 0.0)


def _scaled(at: FloatArray, columns: tuple[Column, ...]) -> FloatArray:
    """Values (n, columns) brought to −1…1 by declared bounds."""
    lows, highs = np.array([_ends(column) for column in columns]).T
    return np.asarray(np.clip(2.0 * (at - lows) / (highs - lows) - 1.0, -1.0, 1.0))


def _least(world: BallWorld) -> tuple[float, float]:
    """The place of the least loss, for a line."""
    place = world.grid[int(np.argmin(world.loss))]
    return float(place[0]), float(place[-1])


def _square(world: BallWorld, values: FloatArray) -> FloatArray:
    """Values on the grid as a square map, rows along the second number of w; NaN outside the ball."""
    found = np.full((world.cells, world.cells), np.nan)
    at = np.rint((world.grid + world.radius) / (2.0 * world.radius) * (world.cells - 1)).astype(int)
    found[at[:, 1], at[:, 0]] = values
    return found
