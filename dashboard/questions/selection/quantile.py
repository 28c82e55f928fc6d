"""What is the median, or another quantile?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from dashboard import words
from dashboard.blocks import Ask, Block, Formula, Keep, Picture, Small, Tab, Text, Undo
from dashboard.case import Case
from dashboard.charts.laws import curves
from dashboard.charts.promise import Line
from dashboard.charts.theme import palette
from dashboard.charts.tradeoff import Scale
from dashboard.controls import Choice, Number, Read, slug
from dashboard.promise import Promise, along
from dashboard.question import BRIEF, CannotAsk, Need, NoOffer, Offer, Outcomes, Question, Uncertain, Way
from dashboard.questions.selection import one_number, one_person
from dashboard.questions.selection.quantile_law import LawPicture, law_picture, resized
from dashboard.questions.selection.quantile_request import quantile_request, quartiles
from dashboard.usual import SAMPLING, SEED, measure, neighbours, people, questions
from dashboard.view import View
from dashboard.ways import fitting, way
from dashboard.words import change_one
from dashboard.words import one_number as ball_said
from dashboard.words import promise as theory_said
from dashboard.words import quantile as said
from dashboard.words.usual import BAND
from dpcore.datasets import Column, PrivateRows, Schema
from dpcore.releases.selection import QuantileValue, points_of
from dpcore.selection import QuantileProblem
from dpcore.theorems import theorems
from dpcore.validate import FloatArray, Neighbours

PAGE = "quantile"
CLOSE_RANK = 0.01
"""r₀ of the theorem, as a share of people, where values lie that close together."""
BETA = 0.05
"""Chance that the theorem's promise fails."""
MOST_VALUES = 1_000_000
"""Values that there are at most where people are taken several times: each is in an exact law."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantile:
    """The question as a plug-in."""

    key: ClassVar[str] = "quantile"
    title: ClassVar[str] = said.TITLE
    rank: ClassVar[int] = 20
    once: ClassVar[tuple[str, ...]] = ("Median or quantile",)

    @classmethod
    def ways(cls, schema: Schema) -> Sequence[Way]:
        return [
            way(suited, suited.choices("column")[0], question=cls.key, quantile_column=suited.choices("column")[0])
            for suited in fitting(schema, "selection", "quantile")
        ]

    @classmethod
    def ask(cls, case: Case, read: Read) -> Question:
        schema = case.table.schema
        offered = tuple(column.name for column in schema.columns if column.is_numeric and column.bounded)
        if not offered or schema.each_row == "option":
            raise CannotAsk(said.NO_COLUMN)
        which: Choice[float] = Choice(
            key="quantile",
            label=said.QUANTILE,
            options=tuple(said.QUANTILES),
            names=said.QUANTILES,
            default=0.5,
            hide_label=True,
            width=180,
        )
        name = Choice(
            key="quantile_column",
            label=said.COLUMN,
            options=offered,
            names=words.visible,
            default=case.source.first(offered),
            hide_label=True,
            width=200,
            linked=case.source.public,
        )
        q, column = read(which, "sentence"), schema.column(read(name, "sentence"))
        values = case.keeping(len(case.table.frame))(
            ("numbers", case.table.fingerprint, column.name), lambda: case.table.numbers(column.name)
        )
        if values.size == 0:
            raise CannotAsk(said.missing(column.name))
        setting = _Setting.of(case, column, values, q, read)
        return setting.question(
            ("What is the", which, "of", name, said.among(case.table.rows, simulated=case.source.simulated))
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Setting:
    """The column, everything that was chosen, and what follows from it."""

    case: Case
    read: Read
    column: Column
    values: FloatArray
    q: float
    relation: Neighbours
    metric: str
    sampling: bool
    close: Number
    tolerance: float
    times: float
    bounded: bool
    questions: int
    need: Number
    target: float

    @classmethod
    def of(cls, case: Case, column: Column, values: FloatArray, q: float, read: Read) -> _Setting:
        low, high = float(column.low or 0.0), float(column.high or 0.0)
        relation = read(neighbours("quantile_neighbours", case.table.schema.unit, case.table.schema.each_row))
        metric = read(measure("quantile_metric", said.METRICS), "need")
        sampling = read(SAMPLING)
        read(SEED)
        close = Number(
            key=slug("close", case.source.key, column.name),
            label=said.close(column.unit),
            default=float(f"{(high - low) / 50:.1g}"),  # one round part of the declared range, nothing of the data
            low=1e-12,
            step=float(f"{(high - low) / 200:.1g}"),
            linked=case.source.public,
        )
        tolerance = read(close, "tab")
        usual = {"success": 95.0, "expected_error": tolerance, "rank_error": 1.0}[metric]
        percent = metric == "success"
        need = Number(
            key=f"{PAGE}_{metric}_target",
            label=said.NEED[metric],
            help=said.NEED_HELP,
            default=usual,
            low=1.0 if percent else 1e-9,
            high=99.9 if percent else 1e12,
            step=1.0 if percent else max(usual / 10, 1e-9),
        )
        times = float(read(people("quantile_factor", said.PEOPLE), "tab"))
        return cls(
            case=case,
            read=read,
            column=column,
            values=values,
            q=q,
            relation=relation,
            metric=metric,
            sampling=sampling,
            close=close,
            tolerance=tolerance,
            times=min(times, max(1.0, MOST_VALUES / values.size)),
            bounded=times > max(1.0, MOST_VALUES / values.size),
            questions=int(read(questions("quantile_questions"), "tab")),
            need=need,
            target=read(need, "need") / (1.0 if metric == "expected_error" else 100.0),
        )

    @property
    def epsilon(self) -> float:
        return self.case.epsilon

    @property
    def unit(self) -> str:
        return self.column.unit

    @property
    def points(self) -> int:
        """Of how many numbers an answer is one, as its release is."""
        return points_of(self.column)

    @property
    def changed(self) -> bool:
        return self.times != 1.0 or self.questions != 1

    def problem(self, times: float, shared: int) -> QuantileProblem:
        same = (self.q, self.relation, self.tolerance, self.sampling)
        key = ("quantile of", self.case.table.fingerprint, self.column.name, *same, times, shared)
        held = 3.0 * self.values.size * times  # values, edges, ranks
        return self.case.keeping(held)(key, lambda: self._made(times, shared))

    def _made(self, times: float, shared: int) -> QuantileProblem:
        return QuantileProblem(
            values=self.values if times == 1.0 else resized(self.values, times),
            low=float(self.column.low or 0.0),
            high=float(self.column.high or 0.0),
            q=self.q,
            relation=self.relation,
            tolerance=self.tolerance,
            rows_per_person=self.case.table.schema.rows_per_person,
            points=self.points,
            questions=shared,
            band=0.8 if self.sampling else 0.0,
        )

    def view(self) -> View:
        table = self.case.table
        same = (self.q, self.relation, self.tolerance, self.sampling)
        identity = ("quantile", table.fingerprint, self.column.name, *same)
        title, unit = said.scale_titles(self.unit)[self.metric], f" {words.visible(self.unit)}" if self.unit else ""
        scale = {
            "success": Scale(title=title, factor=100.0, unit=" times in 100", hundred=True),
            "expected_error": Scale(title=title, unit=unit),
            "rank_error": Scale(title=title, factor=100.0, unit=" of 100 people"),
        }[self.metric]
        return View(
            page=PAGE,
            problem=self.problem(self.times, self.questions),
            identity=(*identity, self.times, self.questions),
            memo=self.case.memo,
            metric=self.metric,
            scale=scale,
            names=said.NAMES,
            methods=list(said.NAMES),
            everything=list(said.NAMES),
            main="quantile",
            epsilon=self.epsilon,
            target=self.target,
            ghost=self.problem(1.0, 1) if self.changed else None,
            ghost_identity=(*identity, 1.0, 1),
            mark=self.case.source.mark,
            band=BAND if self.sampling else "",
        )

    def question(self, sentence: tuple[str | Choice[float] | Choice[str], ...]) -> Question:
        view = self.view()
        problem = self.problem(self.times, self.questions)
        law: LawPicture = self.case.memo(
            (*view.identity, "law", self.epsilon, self.tolerance),
            lambda: law_picture(problem, self.epsilon, self.tolerance),
        )
        chance = view.at("quantile", "success")
        goal = self.target if self.metric == "success" else None
        return Question(
            key=PAGE,
            sentence=sentence,
            headline=said.headline(self.q, self.epsilon, self.tolerance, self.unit, chance, goal),
            caption=said.caption(
                self.q,
                problem.truth,
                law.quartiles,
                self.unit,
                self.tolerance,
                problem.high - problem.low,
                simulated=self.case.source.simulated,
            ),
            view=view,
            need=Need(control=self.need, found=None if self.case.brief else view.needed()),
            outcomes=Outcomes(
                names=said.outcomes(law.near),
                chances=law.chances,
                good=(False, True, False),
            ),
            uncertain=self.uncertain(view, problem, chance),
            protected=words.LabelCard(neighbours=self.relation, epsilon=self.epsilon, unit=self.case.table.schema.unit),
            tabs=(
                Tab(key="how", title=said.HOW, blocks=lambda: self.how(law, problem)),
                Tab(key="what_if", title=said.WHAT_IF, blocks=lambda: self.what_if(view, chance)),
                Tab(key="theory", title=theory_said.TITLE, blocks=lambda: self.theory(view, problem)),
                Tab(key="one_number", title=ball_said.TITLE, blocks=self.one_number),
                Tab(key="one_person", title=change_one.TITLE, blocks=lambda: self.one_person(problem)),
            ),
            offer=BRIEF if self.case.brief else self.offer(law),
            follows=True,
        )

    def uncertain(self, view: View, problem: QuantileProblem, chance: float) -> Uncertain:
        """Not close through noise, and how often other people's own quantile would not be close to this one."""
        people = self.case.memo((*view.identity, "elsewhere"), problem.elsewhere)
        who = self.case.table.schema.unit
        sentence = said.uncertain(
            1.0 - chance, people, problem.n, who, said.with_unit(self.tolerance, self.unit), self.q
        )
        return Uncertain(noise=1.0 - chance, people=people, sentence=sentence)

    def how(self, law: LawPicture, problem: QuantileProblem) -> Sequence[Block]:
        return [
            Text(said.how(self.points, problem.low, problem.high)),
            Picture(
                key="quantile-law",
                figure=lambda dark: curves(
                    law.numbers,
                    {"law": law.each},
                    {"law": said.LAW},
                    {"law": palette(dark).accent},
                    x_title=said.answer_title(self.unit),
                    y_title=said.LIKELIHOOD,
                    marks={problem.truth: said.MADE_UP if self.case.source.simulated else said.TRUTH},
                    steps=["law"],
                    dark=dark,
                ),
                alt=said.law_alt(self.q, problem.truth, self.unit),
            ),
            Formula(latex=said.FORMULA, source=said.SOURCE),
        ]

    def what_if(self, view: View, chance: float) -> Sequence[Block]:
        controls = (people("quantile_factor", said.PEOPLE), questions("quantile_questions"), self.close)
        least = view.needed().epsilon
        return [
            Text(said.what_if(self.changed)),
            Ask(controls),
            *([Small(said.no_more_than(MOST_VALUES, self.times))] if self.bounded else []),
            Undo(label="Back to the data as they are", controls=controls, enabled=self.changed),
            Keep(
                current=(
                    ("ε", words.number(self.epsilon)),
                    ("people", words.whole(view.size)),
                    ("close answers in 100", words.number(100 * chance)),
                    ("ε needed", "none" if least is None else words.number(least)),
                )
            ),
        ]

    def theory(self, view: View, problem: QuantileProblem) -> Sequence[Block]:
        """The theorem about ranks against people up to 10⁹, and what is true of these values."""
        mechanism, x = problem.mechanism(self.epsilon), along(10.0, max(1e9, 10 * view.size))
        gaps = mechanism.intervals(problem.values)
        away, widths = np.abs(gaps.off(self.q)), gaps.widths
        close = max(CLOSE_RANK, float(away[widths > 0.0].min()))
        average = self.case.memo(
            (*view.identity, "theory", self.epsilon),
            lambda: problem.central.evaluate("quantile", "rank_error", np.full(x.size, self.epsilon), x).value,
        )
        return Promise(
            key="quantile-theory",
            theorem=theorems()["quantile"],
            axis="n",
            x=x,
            settings={
                "share": float(widths[away <= close].sum() / widths.sum()),
                "epsilon": mechanism.epsilon,
                "beta": BETA,
                "sensitivity": mechanism.sensitivity,
            },
            chosen=view.size,
            truth=100.0 * float(problem.central.evaluate("quantile", "rank_error", *self.here(view)).value[0]),
            truth_name=theory_said.AVERAGE,
            exact=(Line(key="here", name=theory_said.AVERAGE, x=x, values=100.0 * average),),
            x_title=theory_said.PEOPLE,
            y_title=theory_said.RANK,
            unit=" in 100",
            factor=100.0,
            offset=100.0 * close,
            share=True,
        ).blocks()

    def here(self, view: View) -> tuple[FloatArray, FloatArray]:
        """The chosen ε and the data's own size."""
        return np.array([self.epsilon]), np.array([view.size])

    def one_number(self) -> Sequence[Block]:
        """The same column as one number chosen by its loss over a ball."""
        bounds = float(self.column.low or 0.0), float(self.column.high or 0.0)
        return one_number.blocks(
            self.case, self.read, self.values, bounds, self.column.name, self.relation, self.epsilon
        )

    def one_person(self, problem: QuantileProblem) -> Sequence[Block]:
        """Two worlds that differ in one person."""
        mechanism, values = problem.mechanism(self.epsilon), problem.values
        return one_person.quantile_blocks(self.case, self.read, mechanism, values, self.column.name, self.unit)

    def offer(self, law: LawPicture) -> Offer | NoOffer:
        """The release about the data as they are; ``law`` is that of the answer in the picture."""
        source, name = self.case.source, self.column.name
        obstacle = source.obstacle(name)
        if obstacle or source.rows is None or source.declared is None:
            return NoOffer(sentence=obstacle or source.unreleased)
        request = quantile_request(source.declared, name, q=self.q, epsilon=self.epsilon, neighbours=self.relation)
        if isinstance(request, str):
            return NoOffer(sentence=request)
        made_up = law.likely if source.simulated and not self.changed else None
        before = () if source.public else request.instead_of  # of a sample nothing was paid that is not given back
        earlier = tuple(self.offer_of(one, source.rows) for one in before)
        return replace(self.offer_of(request, source.rows, made_up), instead_of=earlier)

    def offer_of(
        self, request: QuantileValue, data: Callable[[], PrivateRows], made_up: tuple[float, float] | None = None
    ) -> Offer:
        """The offer of this request; ``made_up`` between which numbers 95 in 100 answers about made-up rows lie."""
        source, bound = self.case.source, request.error_bound(0.05)
        rows = len(self.case.table.frame) if source.simulated else None  # as many as were declared
        if source.public:
            forecast = said.forecast(quartiles(request, self.case.read(request)), self.unit)
        else:
            forecast = said.forecast_bound(self.q, bound, self.unit, rows, made_up)
        return Offer(
            request=request,
            data=data,
            forecast=forecast,
            describe=lambda answer: said.answer(request.shortest(answer["value"]), self.unit),
            gives=said.gives(self.q),
            relation="quantile_neighbours",
            conclude=said.conclude(self.q, bound, rows),
            claim=said.claim(self.q, bound, rows),
        )
