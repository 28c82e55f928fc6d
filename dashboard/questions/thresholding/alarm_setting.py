"""A private alarm as it is set: the series, what was chosen, and all that follows from it but its pictures."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dashboard.blocks import Small, Text
from dashboard.case import Case
from dashboard.charts.theme import ENDINGS
from dashboard.controls import Choice, Number, Read, Switch
from dashboard.question import CannotAsk, NoOffer, Offer, Uncertain
from dashboard.questions.thresholding import alarm_controls as controls
from dashboard.questions.thresholding.alarm_controls import METHODS, ON_TIME, SCALES
from dashboard.questions.thresholding.alarm_request import alarm_request
from dashboard.questions.thresholding.watched import Series, Watched, row_word
from dashboard.usual import BETA, SAMPLING, SEED, neighbours, people
from dashboard.words import alarm as said
from dpcore.datasets import PrivateRows
from dpcore.errors import InvalidArgument
from dpcore.releases.alarm import AlarmRun, units_of
from dpcore.thresholding import AboveThreshold
from dpcore.thresholding.alarm_problem import THEORY, AlarmProblem
from dpcore.thresholding.alarm_problem import Outcomes as Ends
from dpcore.validate import FloatArray, Neighbours


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Setting:
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
    own: bool
    settled: Switch
    unshaded: bool

    @classmethod
    def of(cls, case: Case, watched: Watched, series: Series, read: Read) -> Setting:
        line = controls.line(case, watched, series)
        threshold = read(line, "sentence")
        schema = case.table.schema
        relation = read(neighbours("alarm_neighbours", schema.unit, "step" if schema.protects_rows else "record"))
        series = series.under(relation)
        metric = read(controls.metric(), "need")
        main = read(controls.method(series.one_way(relation)))
        limit, late_by = int(read(controls.limit())), int(read(controls.late_by(series)))
        sampling = series.counts and read(SAMPLING)  # asked for by what is declared: a link carries what is read
        banded = sampling and bool((series.answers >= 0).all())
        beta, seed = read(BETA), int(read(SEED))
        try:
            as_is = AlarmProblem(
                answers=series.answers,
                threshold=threshold,
                people=series.people,
                limit=limit,
                late_by=late_by,
                sensitivity=series.sensitivity,
                monotonic=series.one_way(relation),
                beta=beta,
                band=0.8 if banded else 0.0,
                seed=seed,
                units=units_of(schema.column(watched.column) if watched.kind == "column" else None, series.sensitivity),
            )
        except InvalidArgument as error:
            raise CannotAsk(said.cannot(str(error))) from None
        factor = people("alarm_factor", said.PEOPLE)
        times = read(factor, "tab")
        need = controls.need(metric, series.unit)
        settled = controls.settled(case, watched)
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
            target=read(need, "need") / SCALES[controls.goal(metric)].factor,
            own=case.source.public or threshold != line.default or read(settled, "tab"),
            settled=settled,
            unshaded=sampling and not banded,
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
        settings = (asked.threshold, asked.limit, asked.late_by, asked.sensitivity, asked.monotonic, asked.beta, *drawn)
        return ("alarm", self.case.table.fingerprint, self.watched, *settings)

    @property
    def on_time(self) -> dict[str, float]:
        """How often each method that draws alarms is on time here, each by the law of its release."""
        at = np.array([self.epsilon]), np.array([float(self.edited.n)])

        def found() -> dict[str, float]:
            drawn = [method for method in self.edited.methods if method != THEORY]
            return {method: float(self.edited.outcomes(method, *at).on_time[0]) for method in drawn}

        return self.case.memo((*self.identity, "on time", self.times, self.epsilon), found)

    @property
    def shown(self) -> float:
        """The line in the picture: What if moves it along with the people."""
        return self.threshold * self.times

    def chances(self, problem: AlarmProblem) -> dict[str, float]:
        """How a run of the method in use ends, by the law of its release."""
        at = np.array([self.epsilon]), np.array([float(problem.n)])
        return _by_key(problem.outcomes(self.main, *at), problem)

    def uncertain(self, noise: float) -> Uncertain | None:
        """Wrong through noise, and how often other people like these would make another alarm right; for counts."""
        edited, series = self.edited, self.series
        if not series.counts or (edited.answers < 0.0).any():
            return None
        people = self.case.memo((*self.identity, "elsewhere", self.times), lambda: edited.elsewhere)
        start, end = edited.window
        when = None if edited.crossing is None else said.window(series, start, end - 1)
        return Uncertain(noise=noise, people=people, sentence=said.uncertain(noise, people, when, self.shown))

    def _rows(self) -> PrivateRows:
        """What a release is drawn from, where there is one."""
        if self.case.source.rows is None:
            raise CannotAsk(self.case.source.unreleased)
        return self.case.source.rows()

    def law(self) -> FloatArray:
        """Where the alarm that counts falls, as ``chances``."""
        key = (*self.identity, "law", self.times, self.main, self.epsilon)
        return self.case.memo(key, lambda: self.edited.judged_law(self.main, self.epsilon))

    @property
    def first_alarm(self) -> AboveThreshold:
        """The method in use with one alarm to raise, about the data as they are."""
        found = replace(self.as_is, limit=1, band=0.0).mechanism(self.main, self.epsilon)
        if not isinstance(found, AboveThreshold):
            raise TypeError("every way to raise one alarm is an AboveThreshold")
        return found

    def made(self) -> AlarmRun | NoOffer:
        """The release of the method that was chosen, about the data as they are; or why there is none."""
        source, about = self.case.source, METHODS[self.main].about
        if about.release is None:
            other = about.nearest or next(key for key, way in METHODS.items() if way.about.release)
            name = METHODS[other].about.name
            control = controls.method(self.as_is.monotonic)
            return NoOffer(sentence=said.no_release(about.name, name), instead=(control.key, other, said.use(name)))
        obstacle = source.obstacle(*self.watched.columns)
        if obstacle or source.rows is None or source.declared is None:
            return NoOffer(sentence=obstacle or source.unreleased)
        if not self.series.stated:
            return NoOffer(sentence=said.declare_sensitivity(self.watched.column, self.case.table.schema.unit))
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
        )
        return NoOffer(sentence=made) if isinstance(made, str) else made

    def offer(self, made: AlarmRun | NoOffer, series: str) -> Offer | NoOffer:
        """The request with its forecast, which follows from the request and, for public data, from these."""
        if isinstance(made, NoOffer):
            return made
        asked = self.as_is
        if self.case.source.public:
            forecast = said.forecast(self.chances(asked), asked.crossing)
        else:
            forecast = said.forecast_bound(made.error_bound(asked.beta).number, asked.beta, self.series.unit)
        public = said.LINE_ON_SAMPLE if self.case.source.public else said.LINE_IS_PUBLIC
        return Offer(
            request=made,
            data=self._rows,
            forecast=forecast,
            describe=said.answer,
            gives=said.gives(made.labels),
            relation="alarm_neighbours",
            conclude=said.CONCLUDE,
            claim=said.CLAIM,
            before=(Text(said.in_words(self._row, asked.limit, self.threshold, series)), Small(public)),
        )

    @property
    def _row(self) -> str:
        """What a row is called beside the answer: of a file a column that nobody declared does not decide it."""
        declared = self.case.source.declared
        return self.series.step if self.watched.kind != "column" or declared is None else row_word(declared)


def ending_of(alarms: Sequence[int], crossing: int | None, end: int) -> str:
    """How a run that stops at its first alarm has ended; the line is reached at ``crossing``, and ``end`` is late."""
    if not alarms:
        return ON_TIME if crossing is None else "missed"
    if crossing is None or alarms[0] < crossing:
        return "false_alarm"
    return ON_TIME if alarms[0] < end else "late"


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
