"""Which is the first to reach the line? A private alarm over counts per day, per group, or a column in order."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pandas as pd

from dashboard import words
from dashboard.blocks import Ask, Block, Click, Formula, Go, Keep, Note, Picture, Small, Tab, Text, Undo
from dashboard.case import Case
from dashboard.charts.alarms import RunWords, run, shown_steps, stopping
from dashboard.charts.theme import ENDINGS, EPSILON_TITLE, Figure, colours, ending_colours
from dashboard.charts.tradeoff import Scale, tradeoff
from dashboard.controls import Choice, Number, Read, Switch, slug
from dashboard.question import BRIEF, CannotAsk, Need, NoOffer, Offer, Outcomes, Question, Uncertain, Way
from dashboard.questions.thresholding import accuracy, known_mistakes, one_person
from dashboard.questions.thresholding.alarm_request import alarm_request, endings, where_it_rings
from dashboard.questions.thresholding.watched import (
    Series,
    Watched,
    first_line,
    names_of,
    offered,
    own_line,
    sensitivity_of,
    series_of,
)
from dashboard.usual import BETA, SAMPLING, SEED, neighbours, people
from dashboard.view import EPSILON_HIGH, EPSILON_LOW, View, describe_at
from dashboard.ways import fitting
from dashboard.words import alarm as said
from dashboard.words import change_one
from dashboard.words import promise as theory_said
from dpcore.datasets import PrivateRows, Schema
from dpcore.errors import InvalidArgument
from dpcore.grid import nearest
from dpcore.releases.alarm import AlarmRun
from dpcore.thresholding import AboveThreshold, select_instead
from dpcore.thresholding.alarm_problem import ABOUT_THEORY, METRICS, THEORY, AlarmProblem
from dpcore.thresholding.alarm_problem import Outcomes as Ends
from dpcore.thresholding.ways import catalog
from dpcore.tradeoff import sweep_epsilon
from dpcore.validate import FloatArray, Neighbours

PAGE = "thresholding"
METHODS = catalog()
NAMES = {key: way.about.name for key, way in METHODS.items()} | {THEORY: ABOUT_THEORY.name}
SCALES = {
    key: Scale(title=metric.title, factor=metric.factor, unit=metric.unit, hundred=metric.share)
    for key, metric in METRICS.items()
}
FAR_LINE = 1e12
CLEARLY_BETTER = 0.05
ON_TIME = "on_time"


@dataclass(frozen=True, slots=True, kw_only=True)
class Alarm:
    """The question as a plug-in."""

    key: ClassVar[str] = "alarm"
    title: ClassVar[str] = said.TITLE
    rank: ClassVar[int] = 10
    once: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def ways(cls, schema: Schema) -> Sequence[Way]:
        possible = offered(schema)
        found = []
        for suited in fitting(schema, "thresholding", "days", "groups", "series"):
            lead = suited.columns[0][1][0]
            for one in possible:
                if one.column == lead:
                    undeclared = one.kind == "column" and sensitivity_of(schema, schema.column(lead)) is None
                    found.append(
                        Way(
                            form=suited.kind,
                            sentence=said.way(schema, one.kind, one.column, one.yes),
                            sets={"series": one},
                            about=one.columns,
                            lacking=suited.lacking or (said.lacking(lead) if undeclared else ""),
                        )
                    )
        return found

    @classmethod
    def ask(cls, case: Case, read: Read) -> Question:
        schema = case.table.schema
        possible = offered(schema)
        if not possible:
            raise CannotAsk(said.NO_SERIES)
        control = Choice(
            key="series",
            label=said.SERIES,
            options=possible,
            names=names_of(schema, possible),
            default=possible[0],
            hide_label=True,
            width=280,
            linked=case.source.public,
            code=lambda one: one.code,
            once={said.once(one.kind, one.column, one.yes): one for one in possible},
        )
        watched = read(control, "sentence")
        series = case.memo(("series", case.table.fingerprint, watched), lambda: series_of(case.table, watched))
        if isinstance(series, str):
            raise CannotAsk(series)
        return _Setting.of(case, watched, series, read).question(control)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Setting:
    """The series, everything that was chosen, and what follows from it."""

    case: Case
    read: Read
    watched: Watched
    series: Series
    line: Number
    threshold: float
    relation: Neighbours
    metric: str
    main: str
    seed: int
    factor: Choice[float]
    as_is: AlarmProblem
    edited: AlarmProblem
    times: float
    need: Number
    target: float
    looked: bool
    own: bool
    settled: Switch

    @classmethod
    def of(cls, case: Case, watched: Watched, series: Series, read: Read) -> _Setting:
        line = _line(case, watched, series)
        threshold = read(line, "sentence")
        relation = read(neighbours("alarm_neighbours"))
        metric = read(_metric())
        main = read(_method(series.one_way(relation)))
        limit, late_by = int(read(_limit())), int(read(_late_by(series)))
        banded = series.counts and bool((series.answers >= 0).all())
        sampling = read(SAMPLING) if banded else False
        beta, seed = read(BETA), int(read(SEED))
        try:
            as_is = AlarmProblem(
                answers=series.answers,
                threshold=series.met(threshold),
                people=series.people,
                limit=limit,
                late_by=late_by,
                sensitivity=series.sensitivity,
                monotonic=series.one_way(relation),
                beta=beta,
                band=0.8 if sampling else 0.0,
                seed=seed,
            )
        except InvalidArgument as error:
            raise CannotAsk(said.cannot(str(error))) from None
        factor = people("alarm_factor", said.PEOPLE)
        times = read(factor, "tab")
        need = _need(metric, series.unit)
        remembered, settled = _clicked(case, watched), _settled(case, watched)
        return cls(
            case=case,
            read=read,
            watched=watched,
            series=series,
            line=line,
            threshold=threshold,
            relation=relation,
            metric=metric,
            main=main,
            seed=seed,
            factor=factor,
            as_is=as_is,
            edited=_scaled(as_is, times),
            times=times,
            need=need,
            target=read(need, "need") / SCALES[_goal(metric)].factor,
            looked=case.source.mode == "what_if" and read(remembered, "tab") == threshold,
            own=case.source.public or threshold != line.default or read(settled, "tab"),
            settled=settled,
        )

    @property
    def epsilon(self) -> float:
        return self.case.epsilon

    @property
    def changed(self) -> bool:
        return self.edited is not self.as_is

    @property
    def named(self) -> str:
        """The method in use, in plain words and by its name."""
        about = METHODS[self.main].about
        return f"{about.plain} ({about.name})"

    @property
    def identity(self) -> tuple[Hashable, ...]:
        """The data and everything but ε, n and What if that the numbers depend on."""
        asked = self.as_is
        drawn = (asked.band, asked.seed if asked.band else 0)
        settings = (asked.threshold, asked.limit, asked.late_by, asked.monotonic, asked.beta, *drawn)
        return ("alarm", self.case.table.fingerprint, self.watched, *settings)

    def view(self, chances: Mapping[str, float]) -> View:
        as_it_was = (*self.identity, 1.0)
        goal = _goal(self.metric)
        return View(
            page=PAGE,
            problem=self.edited,
            identity=(*self.identity, self.times),
            memo=self.case.memo,
            metric=self.metric,
            scale=SCALES[self.metric],
            names=NAMES,
            methods=self.edited.methods,
            everything=list(NAMES),
            main=self.main,
            epsilon=self.epsilon,
            target=self.target if goal == self.metric else None,
            ghost=self.as_is if self.changed else None,
            ghost_identity=as_it_was,
            mark=self.case.source.mark,
            band=said.lines_note(self.series.whole, bool(self.as_is.band)),
            extra={"when": (said.WHEN, lambda: self.when(chances))},
            first="when",
            about=self.named,
            code=said.code(
                self.edited.answers.tolist(),
                self.edited.threshold,
                self.edited.late_by,
                self.edited.sensitivity,
                self.edited.limit,
                self.edited.monotonic,
            ),
        )

    @property
    def shown(self) -> float:
        """The line in the picture: What if moves it along with the people."""
        return self.threshold * self.times

    def question(self, series: Choice[Watched]) -> Question:
        made = self.made()
        chances = self.chances(made)
        view = self.view(chances)
        goal = _goal(self.metric)
        crossing, (start, end) = self.edited.crossing, self.edited.window
        blind = (end - start) / self.edited.answers.size
        promise = view.at(THEORY, ON_TIME)
        return Question(
            key=PAGE,
            sentence=said.sentence(self.series.step, self.as_is.limit, self.line, series),
            headline=said.headline(self.epsilon, chances, crossing, blind, self.target if goal == ON_TIME else None),
            caption=said.caption(self.series, crossing, end - 1, self.edited.late_by, blind, promise),
            view=view,
            need=Need(control=self.need, found=None if self.case.brief else view.needed(goal, self.target)),
            outcomes=Outcomes(
                names=[said.ENDINGS[key] for key in chances],
                chances=list(chances.values()),
                good=[key == ON_TIME for key in chances],
                what=said.RUNS,
                inks=lambda dark: [ending_colours(dark)[key] for key in chances],
                place=lambda answer: (
                    list(chances).index(ending_of(answer["alarms"], crossing, end)) if self.edited.limit == 1 else None
                ),
            ),
            protected=words.LabelCard(
                neighbours=self.relation,
                epsilon=self.epsilon,
                who=said.hidden(self.relation, self.series) if self.watched.kind == "column" else None,
                not_protected=said.not_protected(self.looked),
            ),
            tabs=(
                Tab(key="how", title=said.HOW, blocks=self.how),
                Tab(key="what_if", title=said.WHAT_IF, blocks=lambda: self.what_if(view, chances)),
                Tab(key="alpha", title=said.ALPHA, blocks=lambda: self.alpha(view)),
                Tab(
                    key="goes_wrong",
                    title=said.MISTAKES,
                    blocks=lambda: known_mistakes.blocks(self.case, self.read),
                ),
                Tab(key="one_person", title=change_one.TITLE, blocks=self.one_person),
                Tab(key="theory", title=theory_said.TITLE, blocks=self.theory),
                Tab(key="instead", title=said.INSTEAD, blocks=self.instead),
            ),
            uncertain=self.uncertain(1.0 - chances[ON_TIME]),
            offer=BRIEF if self.case.brief else self.offer(made, series.name(self.watched)),
            follows=True,
            notes=self.notes(chances[ON_TIME]),
        )

    def chances(self, made: AlarmRun | NoOffer) -> dict[str, float]:
        """How a run ends: by the law of the very release where that is what is shown and its data are public."""
        if isinstance(made, AlarmRun) and self.case.source.public and not self.changed:
            return self._drawn(made)
        at = np.array([self.epsilon]), np.array([float(self.edited.n)])
        return _by_key(self.edited.outcomes(self.main, *at), self.edited)

    def uncertain(self, noise: float) -> Uncertain | None:
        """Wrong through noise, and how often other people like these would make another alarm right; for counts."""
        edited, series = self.edited, self.series
        if not series.counts or (edited.answers < 0.0).any():
            return None
        people = self.case.memo((*self.identity, "elsewhere", self.times), lambda: edited.elsewhere)
        start, end = edited.window
        when = None if edited.crossing is None else said.window(series, start, end - 1)
        return Uncertain(noise=noise, people=people, sentence=said.uncertain(noise, people, when, self.shown))

    def _drawn(self, request: AlarmRun) -> dict[str, float]:
        """How the release ends on its data, which are public."""
        found = self.case.memo(self._released(request), lambda: endings(request, self._rows(), self.as_is))
        return _by_key(found, self.as_is)

    def _rows(self) -> PrivateRows:
        """What a release is drawn from, where there is one."""
        if self.case.source.rows is None:
            raise CannotAsk(self.case.source.unreleased)
        return self.case.source.rows()

    def law(self) -> FloatArray:
        """Where the alarm that counts falls; as ``chances``, of the very release where that is shown."""
        made = self.made()
        if isinstance(made, AlarmRun) and self.case.source.public and not self.changed:
            key = (*self._released(made), "law")
            return self.case.memo(key, lambda: where_it_rings(made, self._rows(), self.as_is))
        key = (*self.identity, "law", self.times, self.main, self.epsilon)
        return self.case.memo(key, lambda: self.edited.judged_law(self.main, self.epsilon))

    def _released(self, request: AlarmRun) -> tuple[Hashable, ...]:
        """Names a release about public data, and how it is judged."""
        return ("alarm drawn", self.case.table.fingerprint, self.watched, self.as_is.late_by, request)

    def notes(self, right: float) -> tuple[str, ...]:
        """What a reader should mind."""
        found = []
        if not self.series.stated:
            found.append(said.not_declared(self.watched.column, self.series.sensitivity))
        if self.edited.crossing == 0:
            found.append(said.at_once(self.series.step))
        if self.case.source.public:
            at = np.array([self.epsilon]), np.array([float(self.edited.n)])
            found += self.case.memo(
                (*self.identity, "better", self.times, self.main, self.epsilon, round(right, 6)),
                lambda: _better(self.edited, self.main, right, at),
            )
        return tuple(found)

    def when(self, chances: Mapping[str, float]) -> Picture:
        """The series and its line, and where the alarm falls."""
        series, edited = self.series, self.edited
        law = self.law()
        (start, end), names = edited.window, [words.html(name) for name in series.names]
        shown = {key: said.legend(key, chance) for key, chance in chances.items()}
        if edited.crossing is not None:
            shown[ON_TIME] = said.legend(ON_TIME, chances[ON_TIME], said.window(series, start, end - 1))

        def figure(dark: bool) -> Figure:
            return stopping(
                names,
                edited.answers,
                self.shown,
                law,
                (start, end),
                unit=words.html(series.unit),
                line=said.line_label(self.shown),
                axis=said.when_axis(edited.limit),
                endings={key: words.html(text) for key, text in shown.items()},
                dark=dark,
            )

        looked = self.case.source.mode == "what_if"
        values = [float(value) for value in series.answers]
        return Picture(
            key="thresholding-when",
            figure=figure,
            alt=said.when_alt(series.names, law.tolist(), chances),
            data=lambda: pd.DataFrame(
                {
                    "query": [*series.names, "never"],
                    "answer": [*edited.answers.tolist(), None],
                    "alarm here": law,
                }
            ),
            note=said.when_note(self.named, looked),
            click=Click(
                key=self.line.key,
                values=[nearest(value) for value in values] if looked else values,
                remember=_clicked(self.case, self.watched).key if looked else None,
            ),
        )

    def how(self) -> Sequence[Block]:
        """One run of the method in use, why its line lies where it does, one formula, and its source."""
        series, edited, about = self.series, self.edited, METHODS[self.main].about
        mechanism = edited.mechanism(self.main, self.epsilon)
        pair, rng = mechanism.scales, np.random.Generator(np.random.PCG64(self.seed))
        trace = mechanism.trace(edited.answers, self.shown, rng)
        rang = [int(place) for place in trace.alarms]
        names = [series.names[place] for place in rang]
        spread = pair.threshold_scale * (1.0 if pair.one_sided else float(np.sqrt(2.0)))
        middle = self.shown + mechanism.offset + (pair.threshold_scale if pair.one_sided else 0.0)
        asked, size = shown_steps(trace), edited.answers.size
        drawn = RunWords(
            chosen=said.chosen_line(self.shown),
            noisy=said.noisy_line(trace.noisy_threshold),
            true=said.TRUE,
            compared=said.COMPARED,
            alarm=said.RANG,
            steps=[said.run_step(count, size, series.step, count - 1 in rang) for count in asked],
            hover_true=said.TRUE_HERE,
            hover_noisy=said.NOISY_HERE,
        )
        return [
            Text(said.method_in_use(about, mechanism.about)),
            Picture(
                key="thresholding-run",
                figure=lambda dark: run(
                    [words.html(name) for name in series.names],
                    edited.answers,
                    self.shown,
                    (middle - spread, middle + spread),
                    trace,
                    drawn,
                    unit=words.html(series.unit),
                    dark=dark,
                ),
                alt=said.run_alt(names, self.shown, trace.noisy_threshold),
                note=said.run_note(bool(rang), names, edited.answers[rang].tolist(), series.unit),
            ),
            Text(
                said.why_there(
                    line=self.shown,
                    noisy=trace.noisy_threshold,
                    lift=mechanism.offset,
                    noise=trace.noisy_threshold - self.shown - mechanism.offset,
                    spread=pair.query_scale * (1.0 if pair.one_sided else float(np.sqrt(2.0))),
                    entries=size,
                    unit=series.unit,
                    step=series.step,
                )
            ),
            Formula(
                latex=about.formula or mechanism.about.formula,
                source=said.source(pair.threshold_scale, pair.query_scale, about.source),
            ),
        ]

    def what_if(self, view: View, chances: Mapping[str, float]) -> Sequence[Block]:
        """More or fewer people, a longer or shorter watch, and scenarios."""
        goal = _goal(self.metric)
        least = view.needed(goal, self.target).epsilon
        found = self.case.memo(
            (*self.identity, "longer", self.times, self.main, self.epsilon),
            lambda: _longer(self.edited, self.main, self.epsilon),
        )
        here = (self.edited.answers.size, chances[ON_TIME])
        shown = [here if one[0] == here[0] else one for one in found][:: max(1, len(found) // 5)]
        return [
            Text(said.what_if(self.changed, self.shown)),
            Ask((self.factor,)),
            Undo(label=said.BACK, controls=(self.factor,), enabled=self.changed),
            *([Text(said.longer(shown, self.series.step))] if len(found) > 1 else []),
            Keep(
                current=(
                    ("ε", words.number(self.epsilon)),
                    ("people", words.whole(self.edited.n)),
                    ("line", words.number(self.shown)),
                    ("alarms", str(self.edited.limit)),
                    ("on time in 100", words.number(100 * chances[ON_TIME])),
                    ("ε needed", "none" if least is None else words.number(least)),
                )
            ),
        ]

    def alpha(self, view: View) -> Sequence[Block]:
        """The theorem's α, the textbook's exact one, and the best method's, on one chart."""
        problem, scale = self.edited, Scale(title=said.ALPHA_TITLE)
        methods = list(problem.methods)
        levels = np.geomspace(EPSILON_LOW, EPSILON_HIGH, 51)
        frame = self.case.memo(
            (*self.identity, "alpha", self.times),
            lambda: sweep_epsilon(problem.central, levels, methods=methods, metrics=["alpha"]),
        )
        here = {method: view.at(method, "alpha") for method in methods}
        best = min((method for method in methods if method != THEORY), key=here.__getitem__)
        return [
            Text(said.alpha(problem.beta, self.epsilon, here, best, NAMES[best], self.series.unit)),
            Picture(
                key="thresholding-alpha",
                figure=lambda dark: tradeoff(
                    frame,
                    x="epsilon",
                    x_title=EPSILON_TITLE,
                    scale=scale,
                    names=NAMES,
                    colour=colours(list(NAMES), dark),
                    main=self.main,
                    chosen=self.epsilon,
                    dark=dark,
                    log_y=True,
                ),
                alt=describe_at(frame, NAMES, scale, "epsilon", self.epsilon, f"ε = {words.number(self.epsilon)}"),
                data=frame,
            ),
            *accuracy.split(self.case, self.series, self.first_alarm, problem.beta),
        ]

    @property
    def first_alarm(self) -> AboveThreshold:
        """The method in use with one alarm to raise, about the data as they are."""
        found = replace(self.as_is, limit=1, band=0.0).mechanism(self.main, self.epsilon)
        if not isinstance(found, AboveThreshold):
            raise TypeError("every way to raise one alarm is an AboveThreshold")
        return found

    def theory(self) -> Sequence[Block]:
        """α against the number of answers up to 10⁹: the theorem's, and the exact ones."""
        return accuracy.theory(
            self.case, self.series, self.first_alarm, self.epsilon, self.as_is.beta, NAMES["book"], NAMES[self.main]
        )

    def one_person(self) -> Sequence[Block]:
        """Two worlds that differ in one person, and the proof between them."""
        answers, line = self.as_is.answers, self.as_is.threshold
        name = (self.watched, self.main)
        return one_person.blocks(self.case, self.read, self.series, self.first_alarm, answers, line, self.seed, name)

    def instead(self) -> Sequence[Block]:
        """When all questions are known in advance, selecting needs less."""
        asked, size = self.as_is, self.as_is.answers.size
        margins = self.case.memo(
            (*self.identity, "instead", self.epsilon),
            lambda: select_instead(
                size, self.epsilon, asked.beta, sensitivity=asked.sensitivity, monotonic=asked.monotonic
            ),
        )
        return [
            Text(said.instead(size, asked.beta, margins, self.series.unit, self.series.step)),
            Go(page="selection", label=said.SELECT),
        ]

    def made(self) -> AlarmRun | NoOffer:
        """The release of the method that was chosen, about the data as they are; or why there is none."""
        source, about = self.case.source, METHODS[self.main].about
        if about.release is None:
            other = about.nearest or next(key for key, way in METHODS.items() if way.about.release)
            name = METHODS[other].about.name
            control = _method(self.as_is.monotonic)
            return NoOffer(sentence=said.no_release(about.name, name), instead=(control.key, other, said.use(name)))
        obstacle = source.obstacle(*self.watched.columns)
        if obstacle or source.rows is None or source.declared is None:
            return NoOffer(sentence=obstacle or source.unreleased)
        if not self.series.stated:
            return NoOffer(sentence=said.declare_sensitivity(self.watched.column))
        if not self.own:
            at = self.threshold
            return NoOffer(sentence=said.type_a_line(at), instead=(self.settled.key, True, said.keep_line(at)))
        made = alarm_request(
            source.declared,
            self.watched,
            rows=source.rows,
            line=self.threshold,
            epsilon=self.epsilon,
            neighbours=self.relation,
            method=self.main,
            limit=self.as_is.limit,
            beta=self.as_is.beta,
            looked=self.looked,
        )
        return NoOffer(sentence=made) if isinstance(made, str) else made

    def offer(self, made: AlarmRun | NoOffer, series: str) -> Offer | NoOffer:
        """The request with its forecast, which follows from the request and, for public data, from these."""
        if isinstance(made, NoOffer):
            return made
        asked = self.as_is
        if self.case.source.public:
            forecast = said.forecast(self._drawn(made), asked.crossing)
        else:
            forecast = said.forecast_bound(made.error_bound(asked.beta).number, asked.beta, self.series.unit)
        public = said.LINE_ON_SAMPLE if self.case.source.public else said.LINE_IS_PUBLIC
        mind = Note(said.LOOKED_WARNING, warning=True) if self.looked else Small(public)
        return Offer(
            request=made,
            data=self._rows,
            forecast=forecast,
            describe=said.answer,
            relation="alarm_neighbours",
            conclude=said.CONCLUDE,
            before=(Text(said.in_words(self.series.step, asked.limit, self.threshold, series)), mind),
        )


def ending_of(alarms: Sequence[int], crossing: int | None, end: int) -> str:
    """How a run that stops at its first alarm has ended; the line is reached at ``crossing``, and ``end`` is late."""
    if not alarms:
        return ON_TIME if crossing is None else "missed"
    if crossing is None or alarms[0] < crossing:
        return "false_alarm"
    return ON_TIME if alarms[0] < end else "late"


def _line(case: Case, watched: Watched, series: Series) -> Number:
    """The line: for a sample one that shows something, for a person's own data one from declared facts alone."""
    default = first_line(series) if case.source.public else own_line(case.table.schema, watched)
    return Number(
        key=slug("line", case.source.key, watched.code),
        label=said.LINE,
        help=said.LINE_HELP,
        default=default,
        low=-FAR_LINE,
        high=FAR_LINE,
        step=max(float(f"{abs(default) / 20:.1g}"), 1e-6),
        hide_label=True,
        width=130,
        linked=case.source.public,
    )


def _clicked(case: Case, watched: Watched) -> Number:
    """The line that was last taken from a look at a person's own data; never drawn, and never in a link."""
    return Number(
        key=slug("line-looked", case.source.key, watched.code), label=said.LINE, default=2 * FAR_LINE, linked=False
    )


def _settled(case: Case, watched: Watched) -> Switch:
    """Whether a person keeps the line that their own data began with."""
    return Switch(key=slug("line-settled", case.source.key, watched.code), label=said.LINE, default=False, linked=False)


def _metric() -> Choice[str]:
    return Choice(
        key="alarm_metric",
        label=said.MEASURE,
        options=tuple(METRICS),
        names={key: metric.name for key, metric in METRICS.items()},
        default=ON_TIME,
        look="buttons",
    )


def _method(one_way: bool) -> Choice[str]:
    keys = tuple(key for key, way in METHODS.items() if one_way or not way.monotonic)
    return Choice(
        key="alarm_method" if one_way else "alarm_method_general",
        label=said.METHOD,
        options=keys,
        names={key: said.method(METHODS[key].about) for key in keys},
        default=keys[-1] if one_way else "exponential",
        once={METHODS[key].about.name: key for key in keys},
    )


def _limit() -> Number:
    return Number(key="alarms", label=said.LIMIT, help=said.LIMIT_HELP, default=1.0, low=1.0, high=20.0, whole=True)


def _late_by(series: Series) -> Number:
    """How long an alarm is still on time; only where entries follow each other in time is there such a while."""
    default = 3.0 if series.timed else 0.0
    return Number(key="late_by", label=said.late_label(series.step), default=default, low=0.0, high=200.0, whole=True)


def _goal(metric: str) -> str:
    """What can be asked for: small ε exchanges missed alarms for false ones, so neither alone can be a goal."""
    return "alpha" if metric == "alpha" else ON_TIME


def _need(metric: str, unit: str) -> Number:
    if _goal(metric) == "alpha":
        label = f"{said.NEED_ALPHA_LABEL} {unit}"
        return Number(key="thresholding_alpha", label=label, help=said.NEED_HELP, default=10.0, low=0.001, high=1e9)
    return Number(
        key="thresholding_on_time", label=said.NEED_ON_TIME, help=said.NEED_HELP, default=95.0, low=0.001, high=99.9
    )


def _scaled(problem: AlarmProblem, times: float) -> AlarmProblem:
    """The same question with so many times as many people: answers and line grow alike."""
    if times == 1.0:
        return problem
    return replace(
        problem,
        answers=problem.answers * times,
        threshold=problem.threshold * times,
        people=max(1, round(problem.people * times)),
    )


def _by_key(ends: Ends, problem: AlarmProblem) -> dict[str, float]:
    """Chances of the endings that can be."""
    left_out = () if problem.crossing is not None else ("late", "missed")
    before = ("false_alarm",) if problem.crossing == 0 else ()
    return {key: float(getattr(ends, key)[0]) for key in ENDINGS if key not in (*left_out, *before)}


def _better(problem: AlarmProblem, main: str, right: float, at: tuple[FloatArray, FloatArray]) -> list[str]:
    """A sentence where another method does clearly better on these data."""
    others = [method for method in problem.methods if method not in (main, THEORY)]
    found = {method: float(problem.outcomes(method, *at).on_time[0]) for method in others}
    best = max(found, key=found.__getitem__)
    return [said.better(NAMES[best], found[best], right)] if found[best] > right + CLEARLY_BETTER else []


def _longer(problem: AlarmProblem, main: str, epsilon: float) -> list[tuple[int, float]]:
    """How the answer depends on how long one watches before the line is reached."""
    usual = np.unique(np.geomspace(max(problem.limit, 5), 2000, 9).astype(int)).tolist()
    at, found = (np.array([epsilon]), np.array([float(problem.n)])), []
    for count in sorted({*usual, problem.answers.size}):
        try:
            stretched = problem.watched_for(int(count))
        except InvalidArgument:
            continue
        if stretched.crossing is not None or problem.crossing is None:
            found.append((int(count), float(stretched.central.evaluate(main, ON_TIME, *at).value[0])))
    return found
