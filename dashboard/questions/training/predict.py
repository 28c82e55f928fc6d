"""Can we train on these data privately, and what will it cost in accuracy?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import pandas as pd

from dashboard import words
from dashboard.blocks import Block, Tab, Text
from dashboard.case import Case, unremembered
from dashboard.controls import Choice, Number, Read, Several
from dashboard.question import BRIEF, CannotAsk, Need, NoOffer, Offer, Outcomes, Piece, Question, Uncertain, Way, Work
from dashboard.questions.training import (
    curves,
    gentle_problems,
    inside,
    lessons,
    others,
    textbook,
    training_theory,
    trust,
)
from dashboard.questions.training import predict_controls as controls
from dashboard.questions.training.curves import Asked, Curves, at_epsilon, methods, scale, slot
from dashboard.questions.training.predict_controls import DELTAS, SEEDS
from dashboard.questions.training.prepared_rows import Task, TooManyNumbers, prepared, targets
from dashboard.questions.training.released_model import below, bought, charted_epsilon, model_request
from dashboard.usual import SEED, measure, method
from dashboard.usual import delta as usual_delta
from dashboard.view import Needed, axis_control
from dashboard.ways import fitting, way
from dashboard.words import predict as said
from dashboard.words.inside import TITLE as INSIDE
from dashboard.words.others import TAB as OTHERS
from dashboard.words.promise import TITLE as THEORY
from dashboard.words.trust import TAB as TRUST
from dpcore.datasets import Schema
from dpcore.errors import InvalidArgument, TooFewRows
from dpcore.releases.model import PrivateModel
from dpcore.releases.steps_model import StepsModel
from dpcore.training import Method, PartResult, ScaledSteps, Sweep, collect, judges, reaching, recall, run_slice
from dpcore.training.baselines import NON_PRIVATE
from dpcore.training.judges import EIGHTY
from dpcore.training.training_problem import METRICS

FIRST_METHOD = "noisy_gradient_descent"
CLEARLY = 0.03
"""By how much another method must do better to be named: this share more right, or four times it less error."""


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
        measured = {key: METRICS[key].name for key in (task.metric, *(() if task.apart else ("excess_risk",)))}
        metric = read(measure(f"training_metric-{task.sort}", measured))
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
        delta = read(usual_delta(case, "training_delta", said.DELTA, DELTAS))
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

    def at(self, frame: pd.DataFrame | None, method: str) -> tuple[float, float, float] | None:
        """Value and band of a method at the chosen ε, in the task's own metric."""
        return None if frame is None else at_epsilon(frame, method, self.task.metric, self.asked.epsilon)

    # -- the question --------------------------------------------------------------------------------------------------

    def question(self, sentence: tuple[Piece, ...]) -> Question:
        task, asked = self.task, self.asked
        view = Curves(task=task, asked=replace(asked, main=self.charted))
        axis = self.read(axis_control(view), "axis")
        along = self.frame("epsilon")
        memo = self.case.memo if slot(axis) in self.case.complete else unremembered
        view = replace(view, axis=axis, frame=self.frame(axis), memo=memo)
        found = self.at(along, asked.main)
        plain = self.at(along, NON_PRIVATE)
        headline, caption = self.told(found, None if plain is None else plain[0])
        schema = self.case.table.schema
        return Question(
            key="training",
            sentence=sentence,
            headline=headline,
            caption=caption,
            view=view,
            need=Need(control=self.need, found=None)
            if self.case.brief
            else self.needed(along, axis, self.wrong(found)),
            protected=words.LabelCard(
                neighbours="add_remove",
                epsilon=asked.epsilon,
                delta=asked.delta,
                unit=schema.unit,
                who=said.who(schema.unit, schema.rows_per_person),
                not_protected=said.NOT_PROTECTED,
            ),
            outcomes=self.outcomes(found),
            uncertain=self.uncertain(found),
            tabs=(
                Tab(key="trust", title=TRUST, blocks=lambda: trust.blocks(self.case, task, asked)),
                *(() if task.apart else self.lessons(along)),
                Tab(key="what_if", title=said.WHAT_IF, blocks=lambda: self.what_if(found)),
                Tab(key="others", title=OTHERS, blocks=lambda: others.blocks(self.case, task, asked)),
            ),
            offer=BRIEF if self.case.brief else self.offer(along),
            notes=(
                *(words.safe(note, 300) for note in task.notes),
                *self.better(along, found),
                *self.worth_buying(along, found),
            ),
            works=tuple(self.work(one) for one in dict.fromkeys(("epsilon", axis))),
            follows=slot("epsilon") in self.case.complete,
        )

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

    def told(self, found: tuple[float, float, float] | None, plain: float | None) -> tuple[str, str]:
        """Headline and caption, from what is simulated so far."""
        task, asked = self.task, self.asked
        how = said.how_judged(methods(task)[asked.main].about, task.n, task.tested, self.mistakes(self.wrong(found)))
        if found is None or plain is None:
            return said.headline_waiting(asked.epsilon), how
        target = asked.target if asked.metric == task.metric else None
        apart = self.uncertain(found) is not None
        if not task.classifies:
            headline = said.headline_error(asked.epsilon, found[0], task.guessing, plain, target)
            return headline, said.caption_error(plain, task.guessing, found[1:], how, apart=apart)
        headline = said.headline_right(asked.epsilon, found[0], task.guessing, plain, target, found[1])
        return headline, said.caption_right(plain, found, task.tested, how, apart=apart)

    def wrong(self, found: tuple[float, float, float] | None) -> tuple[float, float] | None:
        """The shares of the second of two classes and of the first that are told wrong at this ε, where known."""
        task, asked = self.task, self.asked
        missed = None if found is None else self.missed(asked.epsilon)
        if found is None or missed is None:
            return None
        second = float((task.rows.y_test > 0.0).mean())
        spared = (found[0] - second * (1.0 - missed)) / (1.0 - second)
        return missed, 1.0 - spared

    def missed(self, epsilon: float) -> float | None:
        """The share of the second of two classes that is not found at ``epsilon``, where known."""
        task, asked = self.task, self.asked
        if not task.classifies or task.apart or slot("epsilon") not in self.case.complete:
            return None
        key = ("recall", *curves.sweep_key(task, asked, "epsilon"), asked.main)
        shares = self.case.memo(key, lambda: recall(self.case.results[slot("epsilon")], asked.main, task.n))
        one_class = float((task.rows.y_test > 0.0).mean()) in (0.0, 1.0)
        return None if shares.empty or one_class else 1.0 - curves.between(shares, epsilon, "found")

    def mistakes(self, wrong: tuple[float, float] | None) -> str:
        """How many of each of two classes are told ``wrong`` at this ε, of 100; where it is told if that is not
        known."""
        if wrong is None:
            return said.MISTAKES_ELSEWHERE if self.task.classifies else ""
        return said.mistakes(self.task.features.classes, *wrong)

    def better(self, along: pd.DataFrame | None, found: tuple[float, float, float] | None) -> list[str]:
        """A sentence where another method that has a release does clearly better; on data that everybody may see."""
        task, asked, kinds = self.task, self.asked, methods(self.task)
        if found is None or not self.case.source.public or slot("epsilon") not in self.case.complete:
            return []
        values = {key: self.at(along, key) for key in asked.methods if kinds[key].about.release is not None}
        others = {key: value[0] for key, value in values.items() if value is not None and key != asked.main}
        if not others:
            return []
        best = (max if task.classifies else min)(others, key=others.__getitem__)
        clearly = others[best] > found[0] + CLEARLY if task.classifies else others[best] < (1 - 4 * CLEARLY) * found[0]
        tell = said.right if task.classifies else said.error
        return [said.better(kinds[best].about.name, tell(others[best]), tell(found[0]))] if clearly else []

    def worth_buying(self, along: pd.DataFrame | None, found: tuple[float, float, float] | None) -> list[str]:
        """Where cuts or pairs are bought, or the way is chosen: what the fixed way does beside, and when that pays."""
        task, asked = self.task, self.asked
        kind = methods(task)[asked.main]
        sorts = (
            (curves.buys_cuts(kind), said.WORTH_BUYING, said.free_beside),
            (curves.buys_pairs(kind), said.WORTH_PAIRING, said.singles_beside),
            (curves.chooses(kind), said.WORTH_CHOOSING, said.fixed_beside),
        )
        told = [(worth, beside) for true, worth, beside in sorts if true]
        if not told:
            return []
        ((worth, beside),) = told
        free = self.at(along, ScaledSteps.key)
        if found is None or free is None or slot("epsilon") not in self.case.complete:
            return [worth]
        tell = said.right if task.classifies else said.error
        return [beside(tell(found[0]), tell(free[0])) + " " + worth]

    def outcomes(self, found: tuple[float, float, float] | None) -> Outcomes | None:
        """Fifty predictions, when no more models come that would change the number."""
        if found is None or not self.task.classifies or slot("epsilon") not in self.case.finished:
            return None
        return Outcomes(
            names=said.RIGHT_WRONG,
            chances=[found[0], 1 - found[0]],
            good=[True, False],
            what=said.dots(self.task.guessing),
        )

    def uncertain(self, found: tuple[float, float, float] | None) -> Uncertain | None:
        """How far off through the luck of the noise, and through having only these people to judge by: of 100 cases 80.

        The first from the simulated models; the second by the binomial law of right predictions on the rows left out
        (normal approximation), or for a number by how much squared errors differ between them (``judges``).
        """
        task = self.task
        if found is None or task.tested < 2 or slot("epsilon") not in self.case.complete:
            return None
        value, low, high = found
        noise, models = (high - low) / 2.0, self.asked.seeds
        if task.classifies:
            people = EIGHTY * math.sqrt(max(value * (1.0 - value), 1e-9) / task.tested)
            sentence = said.uncertain(low, high, people, task.tested, models=models)
            return Uncertain(noise=noise, people=people, sentence=sentence, names=said.UNSURE, sign="±")
        half, error = self.by_rows()
        sentence = said.uncertain_error(low, high, (half, error), task.tested, models=models)
        return Uncertain(noise=noise, people=half, sentence=sentence, names=said.UNSURE, sign="±", in_100=False)

    def by_rows(self) -> tuple[float, float]:
        """By how much other rows to judge on would move a squared error at this ε in 80 of 100 cases, and by what share
        of itself that may be wrong."""
        key = ("judges", *curves.sweep_key(self.task, self.asked, "epsilon"), self.asked.main)
        results = self.case.results[slot("epsilon")]
        found = self.case.memo(key, lambda: judges(results, self.asked.main, self.task.tested, self.task.n))
        half, error = (curves.between(found, self.asked.epsilon, name) for name in ("half", "error"))
        return half, error

    def needed(self, along: pd.DataFrame | None, axis: str, wrong: tuple[float, float] | None) -> Need:
        """Which ε and how many rows are enough, once whole curves are there to read it off; with what is told
        ``wrong`` at this one, where known."""
        asked = self.asked
        if along is None or slot("epsilon") not in self.case.complete:
            over = slot("epsilon") in self.case.finished
            return Need(control=self.need, found=None, waiting=said.STOPPED if over else said.WAITING)
        mine = along[(along["metric"] == asked.metric) & (along["method"] == asked.main)]
        plain = along[(along["metric"] == asked.metric) & (along["method"] == NON_PRIVATE)]
        if mine.empty:
            return Need(control=self.need, found=None, waiting=said.NOT_MEASURED)
        higher, best = METRICS[asked.metric].higher, float(plain["value"].iloc[0])
        how = {"method": asked.main, "metric": asked.metric}
        epsilon = reaching(along, asked.target, **how)
        needed = Needed(
            epsilon=epsilon,
            size=None,
            size_word=said.ROWS,
            possible=epsilon is not None or (best >= asked.target if higher else best <= asked.target),
            without_privacy=best * scale(asked.metric).factor,
            sized=False,
        )
        sizes = self.frame("n") if axis == "n" and slot("n") in self.case.complete else None
        if sizes is not None:
            span = (float(sizes["n"].min()), float(sizes["n"].max()))
            enough = reaching(sizes, asked.target, along="n", **how)
            needed = replace(needed, size=enough, sized=True, searched=span)
        hint = said.HINT_ROWS if sizes is None and needed.possible and axis != "n" else ""
        missed = None if wrong is None else wrong[0]
        there = None if missed is None or epsilon is None else self.missed(epsilon)
        proviso = said.will_do(self.task.features.classes, missed, there) if self.task.classifies else None
        return Need(control=self.need, found=needed, hint=hint, proviso=proviso)

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
