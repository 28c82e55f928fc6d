"""Can we train on these data privately, and what will it cost in accuracy?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import pandas as pd

from dashboard import made_up, words
from dashboard.blocks import Block, Tab, Text
from dashboard.case import Case, unremembered
from dashboard.controls import Choice, Number, Read, Several
from dashboard.question import BRIEF, CannotAsk, Need, NoOffer, Offer, Piece, Question, Way, Work
from dashboard.questions.training import (
    curves,
    gentle_problems,
    hits,
    inside,
    lessons,
    others,
    textbook,
    training_theory,
    trust,
)
from dashboard.questions.training import predict_controls as controls
from dashboard.questions.training.curves import Asked, Curves, at_epsilon, methods, scale, slot
from dashboard.questions.training.measured import Measured, measurable, measures, of_one_class
from dashboard.questions.training.predict_controls import SEEDS
from dashboard.questions.training.prepared_rows import Task, TooManyNumbers, prepared, targets
from dashboard.questions.training.released_model import below, bought, charted_epsilon, model_request
from dashboard.usual import SEED, measure, method
from dashboard.view import axis_control
from dashboard.ways import fitting, way
from dashboard.words import predict as said
from dashboard.words.inside import TITLE as INSIDE
from dashboard.words.measured import ONE_CLASS
from dashboard.words.others import TAB as OTHERS
from dashboard.words.promise import TITLE as THEORY
from dashboard.words.trust import TAB as TRUST
from dpcore.datasets import Schema
from dpcore.errors import InvalidArgument, TooFewRows
from dpcore.releases.model import PrivateModel
from dpcore.releases.steps_model import StepsModel
from dpcore.training import Method, PartResult, ScaledSteps, Sweep, collect, run_slice

FIRST_METHOD = "noisy_gradient_descent"


@dataclass(frozen=True, slots=True, kw_only=True)
class Predict:
    """The question as a plug-in."""

    key: ClassVar[str] = "predict"
    title: ClassVar[str] = said.TITLE
    rank: ClassVar[int] = 10
    once: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def ways(cls, schema: Schema) -> Sequence[Way]:
        found = []
        for suited in fitting(schema, "training", "classify", "regress"):
            target = suited.choices("label" if suited.kind == "classify" else "target")[0]
            if target in targets(schema):
                found.append(way(suited, target, training_target=target))
        return found

    @classmethod
    def ask(cls, case: Case, read: Read) -> Question:
        schema = case.table.schema
        offered = targets(schema) if schema.each_row != "option" else ()
        if not offered:
            raise CannotAsk(said.NO_COLUMN)
        which = Choice(
            key="training_target",
            label=said.TARGET,
            options=offered,
            names=words.visible,
            default=case.source.stated(offered)[0],
            hide_label=True,
            width=220,
            linked=case.source.public,
        )
        target = read(which, "sentence")
        chosen, group = controls.columns(case, target, read)
        made_up.related(case, target)
        try:
            task = prepared(
                case,
                target,
                chosen.columns,
                chosen.positive,
                steps=not chosen.apart and controls.steps(case, chosen.columns, read),
                pairs=chosen.pairs,
                apart=chosen.apart,
            )
        except InvalidArgument as error:
            rows = error.rows if isinstance(error, TooFewRows) else 0
            raise CannotAsk(said.cannot_train(str(error)), rows, fewer=isinstance(error, TooManyNumbers)) from None
        setting = _Setting.of(case, task, read)
        return setting.question((said.SENTENCE[0], which, group, said.SENTENCE[1]))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Setting:
    """The task, everything that was chosen, and what follows from it and from what is simulated so far."""

    case: Case
    read: Read
    task: Task
    asked: Asked
    method: Choice[str]
    need: Number
    lesson: str
    book: tuple[float, int]
    tried: int

    @classmethod
    def of(cls, case: Case, task: Task, read: Read) -> _Setting:
        kinds = methods(task)
        if not kinds:
            raise CannotAsk(said.NO_METHOD)
        metric = measurable(task, read(measure(f"training_metric-{task.sort}", measures(task)), "need"))
        about = {key: kind.about for key, kind in kinds.items()}
        chosen = method(f"training_method-{task.sort}", about, ScaledSteps.key if task.apart else FIRST_METHOD)
        drawn = Several(
            key=f"training_drawn-{task.sort}-{task.most <= 3}",
            label=said.DRAWN,
            options=tuple(kinds),
            names=lambda key: kinds[key].about.name,
            default=tuple(key for key in kinds if key in curves.drawn_first(task)),  # in the order of the options
        )
        main, beside = read(chosen), read(drawn)
        pictured = {key for key, kind in kinds.items() if task.few or not curves.looks_at_pairs(kind)}
        if main not in pictured:
            raise CannotAsk(said.TOO_MANY_PAIRS, fewer=True)
        delta = read(controls.delta(case))
        seeds, seed = read(SEEDS), read(SEED)
        need = controls.need(case, task, metric)
        goal = read(need, "need") / scale(metric).factor
        charted = _charted(kinds[main], metric)
        return cls(
            case=case,
            read=read,
            task=task,
            asked=Asked(
                methods=tuple(key for key in kinds if key in pictured and key in (main, charted, *beside)),
                main=main,
                metric=metric,
                epsilon=case.epsilon,
                delta=delta,
                seeds=seeds,
                seed=int(seed),
                target=goal,
            ),
            method=chosen,
            need=need,
            lesson=read(lessons.LESSON, "tab"),
            book=textbook.controls(read),
            tried=int(read(lessons.SETTINGS, "tab")),
        )

    @property
    def charted(self) -> str:
        """The method that the chart is about: the one in use, or where it has no excess risk the next."""
        return _charted(methods(self.task)[self.asked.main], self.asked.metric)

    # -- what is simulated ---------------------------------------------------------------------------------------------

    def sweep(self, axis: str) -> Sweep:
        key = ("sweep", *curves.sweep_key(self.task, self.asked, axis))
        return self.case.large(key, lambda: curves.sweep(self.task, self.asked, axis))

    def work(self, axis: str) -> Work:
        return Work(
            slot=slot(axis),
            key=curves.sweep_key(self.task, self.asked, axis),
            run=run_slice,
            common=lambda: self.sweep(axis),
            parts=lambda: self.sweep(axis).parts(),
            what=said.TRAINING,
            enough=self._enough,
        )

    def _enough(self, results: Sequence[PartResult]) -> bool:
        return any(one.part.method == self.asked.main for one in results)

    def frame(self, axis: str) -> pd.DataFrame | None:
        """What is simulated so far; None before there is anything."""
        results = self.case.results.get(slot(axis), ())
        if not results:
            return None
        if slot(axis) not in self.case.complete:
            return collect(self.sweep(axis), results)
        key = ("frame", *curves.sweep_key(self.task, self.asked, axis))
        return self.case.memo(key, lambda: collect(self.sweep(axis), results))

    # -- the question --------------------------------------------------------------------------------------------------

    def question(self, sentence: tuple[Piece, ...]) -> Question:
        task, asked = self.task, self.asked
        view = Curves(task=task, asked=replace(asked, main=self.charted))
        axis = self.read(axis_control(view), "axis")
        along = self.frame("epsilon")
        memo = self.case.memo if slot(axis) in self.case.complete else unremembered
        view = replace(view, axis=axis, frame=self.frame(axis), memo=memo)
        seen = Measured(case=self.case, task=task, asked=asked, along=along)
        headline, caption = seen.told()
        schema = self.case.table.schema
        return Question(
            key="training",
            sentence=sentence,
            headline=headline,
            caption=caption,
            view=view,
            need=Need(control=self.need, found=None)
            if self.case.brief
            else seen.needed(self.need, self.method.key, self.sized(axis), by_rows=axis == "n"),
            protected=words.LabelCard(
                neighbours="add_remove",
                epsilon=asked.epsilon,
                delta=asked.delta,
                unit=schema.unit,
                who=said.who(schema.unit, schema.rows_per_person),
                not_protected=said.NOT_PROTECTED,
            ),
            outcomes=seen.outcomes(),
            uncertain=seen.uncertain(),
            price=seen.price(),
            also=seen.also(),
            tabs=(
                Tab(key="trust", title=TRUST, blocks=lambda: trust.blocks(self.case, task, asked)),
                *(() if task.apart else self.lessons(along)),
                Tab(key="what_if", title=said.WHAT_IF, blocks=lambda: self.what_if(seen.right)),
                Tab(key="others", title=OTHERS, blocks=lambda: others.blocks(self.case, task, asked)),
            ),
            offer=BRIEF if self.case.brief else self.offer(along),
            notes=(
                *(words.safe(note, 300) for note in task.notes),
                *((ONE_CLASS,) if of_one_class(task) else ()),
                *self.worth_buying(seen),
            ),
            works=tuple(self.work(one) for one in dict.fromkeys(("epsilon", axis))),
            follows=slot("epsilon") in self.case.complete,
        )

    def sized(self, axis: str) -> pd.DataFrame | None:
        """The whole curve along the number of rows, where the chart is drawn against that."""
        return self.frame("n") if axis == "n" and slot("n") in self.case.complete else None

    def lessons(self, along: pd.DataFrame | None) -> tuple[Tab, ...]:
        """The tabs about one class or a number: what they watch and prove has one weight for every column."""
        task, asked = self.task, self.asked
        return (
            Tab(key="descent", title=said.DESCENT, blocks=lambda: lessons.watched(self.case, task, asked)),
            Tab(
                key="lessons",
                title=said.TOO_MUCH,
                blocks=lambda: lessons.too_much(self.case, task, asked, self.lesson),
            ),
            Tab(key="theory", title=THEORY, blocks=lambda: training_theory.blocks(task, asked)),
            Tab(key="inside", title=INSIDE, blocks=lambda: inside.blocks(self.case, self.read, task, asked)),
            Tab(key="textbook", title=said.TEXTBOOK, blocks=lambda: self.textbook(along)),
            Tab(key="gentle", title=said.GENTLE_TAB, blocks=lambda: gentle_problems.blocks(self.case, self.read)),
        )

    def worth_buying(self, seen: Measured) -> list[str]:
        """Where cuts or pairs are bought, or the way is chosen: what the fixed way does beside, and when that pays."""
        kind = methods(self.task)[self.asked.main]
        sorts = (
            (curves.buys_cuts(kind), said.WORTH_BUYING, said.free_beside),
            (curves.buys_pairs(kind), said.WORTH_PAIRING, said.singles_beside),
            (curves.chooses(kind), said.WORTH_CHOOSING, said.fixed_beside),
        )
        told = [(worth, beside) for true, worth, beside in sorts if true]
        return [line for worth, beside in told for line in seen.worth_buying(worth, ScaledSteps.key, beside)]

    def textbook(self, along: pd.DataFrame | None) -> Sequence[Block]:
        return textbook.blocks(self.case, self.task, self.asked, along, self.book)

    def what_if(self, found: tuple[float, float, float] | None) -> Sequence[Block]:
        return lessons.what_if(self.task, self.asked, None if found is None else found[0], self.tried)

    # -- the release ---------------------------------------------------------------------------------------------------

    def offer(self, along: pd.DataFrame | None) -> Offer | NoOffer:
        """The release of the method that was chosen, from what is declared about the data."""
        task, asked, source = self.task, self.asked, self.case.source
        kinds = methods(task)
        about = kinds[asked.main].about
        if about.release is None:
            nearest = about.nearest or FIRST_METHOD
            other = kinds[nearest].about.name
            return NoOffer(
                sentence=said.no_release(about.name, other), instead=(self.method.key, nearest, said.use(other))
            )
        obstacle = source.obstacle(task.target, *task.columns)
        if obstacle or source.rows is None or source.declared is None:
            return NoOffer(sentence=obstacle or source.unreleased)
        request = model_request(
            about.release,
            source.declared,
            target=task.target,
            columns=task.columns,
            pairs=task.pairs,
            positive=task.positive,
            apart=task.apart,
            steps=task.steps,
            epsilon=asked.epsilon,
            delta=asked.delta,
        )
        if isinstance(request, str):
            return NoOffer(sentence=request)
        if source.in_place and not request.in_batches:
            other = ScaledSteps.about.name
            if request.features.target.kind == "date":
                return NoOffer(sentence=said.NO_DATE_OF_A_SOURCE)
            return NoOffer(
                sentence=said.not_of_a_source(about.name, other),
                instead=(self.method.key, ScaledSteps.key, said.use(other)),
            )
        return Offer(
            request=request,
            data=source.rows,
            forecast=self.forecast(request, along),
            describe=said.answer,
            gives=said.GIVES,
            below=lambda receipt: below(receipt, self.read),
            conclude=said.conclude(self.case.table.schema.unit),
            then=hits.then(source) if request.features.two_classes and not source.in_place else None,
            before=(
                Text(said.what_leaves(about)),
                *((Text(said.act_together(task.pairs)),) if task.pairs else ()),
                *bought(request),
                *((Text(said.READ_IN_BATCHES),) if source.in_place else ()),
                Text(_how_many_rows(request)),
            ),
        )

    def forecast(self, request: PrivateModel | StepsModel, along: pd.DataFrame | None) -> str:
        """How good the released model will be: simulated for its own noise on a sample, never from a private file."""
        task = self.task
        if not self.case.source.public:
            return said.forecast_unknown(_step_noise(request), request.people)
        if along is None or slot("epsilon") not in self.case.complete:
            return said.FORECAST_WAITING
        level = charted_epsilon(request)
        found = at_epsilon(along, self.asked.main, task.metric, max(curves.LEVELS[0], level))
        if found is None:
            return said.FORECAST_WAITING
        if task.classifies:
            return said.forecast_right(found, task.guessing, level)
        return said.forecast_error(found, task.guessing, level)


def _charted(kind: type[Method], metric: str) -> str:
    """A method on steps has no excess risk among the others: the first of those has the chart then."""
    return FIRST_METHOD if metric == "excess_risk" and curves.on_steps(kind) else kind.key


def _how_many_rows(request: PrivateModel | StepsModel) -> str:
    if isinstance(request, StepsModel):
        return said.how_many_in_each(request.people, request.counts_share)
    return said.how_many_rows(request.people, request.releases)


def _step_noise(request: PrivateModel | StepsModel) -> float:
    """The noise of each step in people who ask for as much as one may."""
    if isinstance(request, StepsModel):
        return request.noise_of(request.steps_share / request.steps)
    return request.noise_multiplier
