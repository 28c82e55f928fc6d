"""Which option is most common, or scores best?"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dashboard import words
from dashboard.blocks import Ask, Block, Formula, Keep, Picture, Small, Tab, Text, Undo
from dashboard.case import Case
from dashboard.charts.draws import noisy_race
from dashboard.charts.laws import chances
from dashboard.charts.promise import Line
from dashboard.charts.theme import colours
from dashboard.controls import Choice, Number, Numbers, Read, slug
from dashboard.plan import RIGHT, PlanKind
from dashboard.promise import Promise, along
from dashboard.question import BRIEF, CannotAsk, Need, NoOffer, Offer, Outcomes, Question, Uncertain, Way
from dashboard.questions.selection import one_person, rounding
from dashboard.questions.selection.candidates import Candidates, candidates, columns
from dashboard.questions.selection.most_common_request import chance_right, most_common_request
from dashboard.usual import BETA, SAMPLING, SEED, neighbours, people, questions
from dashboard.view import View, scale_of
from dashboard.ways import fitting, way
from dashboard.words import change_one, promise
from dashboard.words import most_common as said
from dashboard.words.usual import BAND
from dpcore.datasets import Schema, Table
from dpcore.selection import FiniteClass, FreeGap, catalog
from dpcore.selection import MostCommon as Problem
from dpcore.selection.measures import measures
from dpcore.theorems import theorems
from dpcore.tradeoff import epsilon_for
from dpcore.validate import FloatArray, Neighbours

PAGE = "selection"
METHODS = {key: kind for key, kind in catalog().items() if hasattr(kind, "probabilities")}
NAMES = {key: kind.about.name for key, kind in METHODS.items()} | {"theory": said.THEORY}
METRICS = {key: measure.metric for key, measure in measures().items()}
EDITABLE, DRAWS, SHOWN = 12, 12, 8
OWN_LOSS = 5.0
"""How far from the best a person accepts an option of their own data until they say, in the scores' unit."""
TEXTBOOK = "exponential"
OTHER_PEOPLE = 4000
"""Simulated draws of as many other people."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MostCommon:
    """The question as a plug-in."""

    key: ClassVar[str] = "most_common"
    title: ClassVar[str] = said.TITLE
    rank: ClassVar[int] = 10
    once: ClassVar[tuple[str, ...]] = ("Most common or best",)

    @classmethod
    def ways(cls, schema: Schema) -> Sequence[Way]:
        return [
            way(suited, suited.columns[-1][1][0], question=cls.key, column=suited.columns[-1][1][0])
            for suited in fitting(schema, "selection", "most_common", "scores")
        ]

    @classmethod
    def plans(cls) -> Sequence[PlanKind]:
        """A planned answer for every method that a release can draw."""
        return [
            PlanKind(
                key=key,
                label=said.planned(kind.about),
                cost=lambda epsilon, _, kind=kind: kind(epsilon=epsilon).cost,  # type: ignore[misc]
                goal=RIGHT,
                needed=lambda right, _, table, column, key=key: _epsilon_for(right, table, column, key),  # type: ignore[misc]
                columns=columns,
            )
            for key, kind in METHODS.items()
            if kind.about.release is not None
        ]

    @classmethod
    def ask(cls, case: Case, read: Read) -> Question:
        schema = case.table.schema
        offered = columns(schema)
        if not offered:
            raise CannotAsk(said.NO_COLUMN)
        column = Choice(
            key="column",
            label=said.COLUMN,
            options=offered,
            names=words.visible,
            default=offered[0],
            hide_label=True,
            width=220,
            linked=case.source.public,
        )
        name = read(column, "sentence")
        as_is = candidates(case.table, name)
        if len(as_is.names) < 2:
            raise CannotAsk(said.one_option(name))
        if as_is.counted and as_is.scores.sum() < 1:
            raise CannotAsk(said.nothing_there(name))
        setting = _Setting.of(case, as_is, read)
        edited = float(setting.edited.scores.sum()) if setting.edited.counted and setting.scored_anew else None
        return setting.question(said.sentence(case.table, column, name, edited))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Setting:
    """The candidates, everything that was chosen, and what follows from it."""

    case: Case
    read: Read
    as_is: Candidates
    edited: Candidates
    counts: Numbers
    relation: Neighbours
    metric: str
    main: str
    sampling: bool
    beta: float
    seed: int
    times: float
    questions: int
    need: Number
    target: float

    @classmethod
    def of(cls, case: Case, as_is: Candidates, read: Read) -> _Setting:
        relation = read(neighbours("neighbours"))
        metric = read(
            Choice(
                key="selection_metric",
                label=said.MEASURE,
                options=tuple(METRICS),
                names={key: known.name for key, known in METRICS.items()},
                default="success",
                look="buttons",
            )
        )
        main = read(
            Choice(
                key="selection_method",
                label=said.METHOD,
                options=tuple(METHODS),
                names={key: said.method(kind.about) for key, kind in METHODS.items()},
                default="permute_and_flip",
                once={kind.about.name: key for key, kind in METHODS.items()},
            )
        )
        sampling, beta, seed = read(SAMPLING), read(BETA), read(SEED)
        counts = _counts(case, as_is)
        edits = read(counts, "tab")
        times = read(people("what_if_factor", said.as_many(as_is.unit)), "tab") if as_is.counted else 1.0
        shared = int(read(questions("what_if_questions"), "tab"))
        need = _need(case, as_is, metric)
        return cls(
            case=case,
            read=read,
            as_is=as_is,
            edited=_edited(as_is, counts, edits, times),
            counts=counts,
            relation=relation,
            metric=metric,
            main=main,
            sampling=sampling,
            beta=beta,
            seed=int(seed),
            times=times,
            questions=shared,
            need=need,
            target=read(need, "need") / METRICS[metric].factor,
        )

    @property
    def epsilon(self) -> float:
        return self.case.epsilon

    @property
    def scored_anew(self) -> bool:
        """Whether What if has changed a score."""
        return bool((self.edited.scores != self.as_is.scores).any())

    @property
    def changed(self) -> bool:
        return self.questions != 1 or self.scored_anew

    def problem(self, shown: Candidates, shared: int) -> Problem:
        return Problem(
            scores=shown.scores,
            relation=self.relation,
            sensitivity=shown.sensitivity,
            counted=shown.counted,
            monotonic=shown.one_way if self.relation == "add_remove" else None,
            questions=shared,
            beta=self.beta,
            band=0.8 if self.sampling else 0.0,
            theorem=self.main,
        )

    def view(self) -> View:
        settings = (self.as_is.column, self.relation, self.beta, self.sampling, self.main)
        identity = ("most common", self.case.table.fingerprint, *settings)
        edits = (self.questions, *self.edited.scores.tolist()) if self.changed else ()
        return View(
            page=PAGE,
            problem=self.problem(self.edited, self.questions),
            identity=(*identity, edits),
            memo=self.case.memo,
            metric=self.metric,
            scale=scale_of(METRICS[self.metric], words.visible(self.as_is.unit, 20)),
            names=NAMES,
            methods=list(NAMES),
            everything=list(NAMES),
            main=self.main,
            epsilon=self.epsilon,
            target=self.target,
            size_word=self.as_is.unit if self.as_is.counted else "people",
            ghost=self.problem(self.as_is, 1) if self.changed else None,
            ghost_identity=(*identity, ()),
            mark=self.case.source.mark,
            band=BAND if self.sampling and self.edited.counted else "",
            code=said.code(self.as_is.scores.tolist(), self.relation),
            plain=METHODS[self.main].about.plain,
            textbook=TEXTBOOK,
        )

    def question(self, sentence: tuple[str | Choice[str], ...]) -> Question:
        view = self.view()
        law = self.problem(self.edited, self.questions).law(self.main, self.epsilon)
        right = float(law[self.edited.best].sum())
        headline = said.headline(view, self.edited, right, self.target if self.metric == "success" else None)
        return Question(
            key="selection",
            sentence=sentence,
            headline=headline,
            caption=said.caption(view),
            uncertain=self.uncertain(1.0 - right),
            view=view,
            need=Need(control=self.need, found=None if self.case.brief else view.needed()),
            outcomes=Outcomes(
                names=self.edited.names,
                chances=law.tolist(),
                good=self.edited.best.tolist(),
                place=lambda answer: place_of(self.edited.names, answer),
            ),
            protected=words.LabelCard(neighbours=self.relation, epsilon=self.epsilon),
            tabs=(
                Tab(key="how", title=said.HOW, blocks=lambda: self.how(view)),
                Tab(key="what_if", title=said.WHAT_IF, blocks=lambda: self.what_if(view, right)),
                Tab(key="compare", title=said.COMPARE, blocks=lambda: self.compare(view)),
                Tab(key="one_person", title=change_one.TITLE, blocks=self.one_person),
                Tab(key="theory", title=promise.TITLE, blocks=lambda: self.theory(view)),
                Tab(key="rounding", title=said.ROUNDING, blocks=lambda: rounding.blocks(self.epsilon, self.read)),
            ),
            offer=BRIEF if self.case.brief else self.offer(),
            follows=True,
        )

    def uncertain(self, noise: float) -> Uncertain | None:
        """Wrong through noise, and how often as many other people would have another winner; for counts of people."""
        edited = self.edited
        if not edited.counted or not edited.one_way:
            return None

        def other() -> float:
            counts = np.maximum(edited.scores, 0.0)
            rng = np.random.Generator(np.random.PCG64(self.seed))
            drawn = rng.multinomial(round(float(counts.sum())), counts / counts.sum(), OTHER_PEOPLE)
            return float(1.0 - edited.best[np.argmax(drawn, axis=1)].mean())

        key = ("other people", self.case.table.fingerprint, self.as_is.column, tuple(edited.scores.tolist()), self.seed)
        people = self.case.memo(key, other)
        return Uncertain(
            noise=noise,
            people=people,
            sentence=said.uncertain(noise, people, edited.scores.sum(), edited.unit, OTHER_PEOPLE),
        )

    def how(self, view: View) -> Sequence[Block]:
        """The mechanism as it runs, one formula, and its source."""
        edited, kind = self.edited, METHODS[self.main]
        mechanism = kind(
            epsilon=self.epsilon / self.questions,
            sensitivity=edited.sensitivity,
            monotonic=self.relation == "add_remove" and edited.one_way,
        )
        order = np.argsort(-edited.scores, kind="stable")[:SHOWN]
        rng = np.random.Generator(np.random.PCG64(self.seed))
        noise = mechanism.noise(edited.scores.size, rng, DRAWS)[:, order]
        winners = [edited.names[order[place]] for place in np.argmax(edited.scores[order] + noise, axis=1)]
        race = Picture(
            key="selection-race",
            figure=lambda dark: noisy_race(
                [words.html(edited.names[place]) for place in order],
                edited.scores[order],
                noise,
                unit=edited.unit,
                dark=dark,
            ),
            alt=said.race_alt(DRAWS, winners),
        )
        gap = []
        if self.main == "permute_and_flip":
            free = FreeGap(epsilon=mechanism.epsilon, sensitivity=mechanism.sensitivity, monotonic=mechanism.monotonic)
            gap = [Small(said.free_gap(free.mean_gap(edited.scores), edited.unit))]
        return [
            Text(said.method_in_use(kind.about)),
            race,
            *gap,
            Formula(latex=kind.about.formula, source=said.source(edited.sensitivity, kind.about.source)),
        ]

    def what_if(self, view: View, right: float) -> Sequence[Block]:
        """What the picture depends on, edited in place."""
        shared = questions("what_if_questions")
        factor = people("what_if_factor", said.as_many(self.as_is.unit))
        controls = (*((factor,) if self.as_is.counted else ()), shared)
        least = view.needed().epsilon
        more = len(self.as_is.names) - EDITABLE
        return [
            Text(said.what_if(self.changed)),
            Ask((self.counts,)),
            Ask(controls),
            Undo(label=said.BACK, controls=(self.counts, *controls), enabled=self.changed),
            *([Small(said.largest(EDITABLE, len(self.as_is.names)))] if more > 0 else []),
            Keep(
                current=(
                    ("ε", words.number(self.epsilon)),
                    (view.size_word, words.whole(view.size)),
                    ("questions", str(self.questions)),
                    (view.scale.title, words.number(view.at(self.main) * view.scale.factor)),
                    ("ε needed", "none" if least is None else words.number(least)),
                )
            ),
        ]

    def compare(self, view: View) -> Sequence[Block]:
        """Every method's chances side by side, and why the noisy-counts idea costs so much."""
        edited, problem = self.edited, self.problem(self.edited, self.questions)
        order = np.argsort(-edited.scores, kind="stable")[:SHOWN]
        laws = {key: problem.law(key, self.epsilon) for key in METHODS}
        right = {key: float(law[edited.best].sum()) for key, law in laws.items()}
        return [
            Text(said.which_one(right, self.main)),
            Picture(
                key="selection-chances",
                figure=lambda dark: chances(
                    [words.html(edited.names[place]) for place in order],
                    {key: law[order] for key, law in laws.items()},
                    NAMES,
                    colours(view.everything, dark),
                    dark=dark,
                ),
                alt=said.chances_alt({NAMES[key]: chance for key, chance in right.items()}),
            ),
            Text(said.why_not_all(len(edited.names), right, edited.one_way and self.relation == "add_remove")),
        ]

    def one_person(self) -> Sequence[Block]:
        """Two worlds that differ in one person."""
        share = self.epsilon / self.questions
        return one_person.choice_blocks(self.case, self.read, self.edited, self.main, self.relation, share)

    def theory(self, view: View) -> Sequence[Block]:
        """The utility theorem against people up to 10⁹, what is true of the worst scores, and of these."""
        edited, problem = self.edited, self.problem(self.edited, self.questions).central
        one_way = self.relation == "add_remove" and edited.one_way
        share, size = self.epsilon / self.questions, edited.scores.size
        mechanism = METHODS[self.main](epsilon=share, sensitivity=edited.sensitivity, monotonic=one_way)
        relation: Neighbours = "add_remove" if one_way else "replace_one"
        slack = math.log(size / self.beta)
        x = along(10.0, max(1e9, 10 * view.size))

        def exact() -> tuple[float, FloatArray]:
            finite = FiniteClass(epsilon=share, relation=relation, method=self.main)
            lead = finite.worst_lead(size, self.beta) * edited.sensitivity
            loss = problem.evaluate(self.main, "expected_loss", np.full(x.size, self.epsilon), x).value
            return lead, np.asarray(loss / x)

        lead, loss = self.case.memo((*view.identity, "theory", self.main, self.epsilon, self.questions), exact)
        return Promise(
            key="selection-theory",
            theorem=theorems()["selection_utility"],
            axis="n",
            x=x,
            settings={
                "k": size,
                "epsilon": share,
                "beta": self.beta,
                "sensitivity": edited.sensitivity,
                "c": mechanism.utility_bound(size, self.beta) * share / (edited.sensitivity * slack),
            },
            chosen=view.size,
            truth=100.0 * lead / view.size,
            truth_name=promise.WORST,
            exact=(
                Line(key="worst", name=promise.WORST, x=x, values=100.0 * lead / x),
                Line(key="here", name=promise.AVERAGE, x=x, values=100.0 * loss),
            ),
            x_title=promise.PEOPLE,
            y_title=promise.short_of_best(view.size_word),
            unit=promise.of_100(view.size_word),
            factor=100.0,
            share=True,
        ).blocks()

    def offer(self) -> Offer | NoOffer:
        """The release of the method that was chosen, about the data as they are."""
        source, about = self.case.source, METHODS[self.main].about
        if about.release is None:
            nearest = about.nearest or "permute_and_flip"
            other = METHODS[nearest].about.name
            return NoOffer(
                sentence=said.no_release(about.name, other),
                instead=("selection_method", nearest, said.use(other)),
            )
        obstacle = source.obstacle(self.as_is.column)
        if obstacle or source.rows is None or source.declared is None:
            return NoOffer(sentence=obstacle or source.unreleased)
        names: tuple[str, ...] = ()
        if source.declared.each_row == "option":
            option = next((one.name for one in source.declared.columns if not one.is_numeric), None)
            names = () if option is None else source.rows().public_names(source.declared, option)
        request = most_common_request(
            source.declared,
            self.as_is.column,
            epsilon=self.epsilon,
            neighbours=self.relation,
            rule=about.release,
            names=names,
        )
        if isinstance(request, str):
            return NoOffer(sentence=request)
        if source.public:
            forecast = said.forecast(chance_right(request, source.rows()))
        else:
            forecast = said.forecast_bound(request.error_bound(0.05))
        return Offer(
            request=request,
            data=source.rows,
            forecast=forecast,
            describe=said.answer,
            relation="neighbours",
            conclude=said.CONCLUDE,
        )


def _epsilon_for(right: float, table: Table | None, column: str, method: str) -> float | None:
    """The ε at which ``method`` names the best option of ``column`` this often, in 100; None where none does."""
    if table is None or column not in columns(table.schema):
        return None
    found = candidates(table, column)
    problem = Problem(
        scores=found.scores, sensitivity=found.sensitivity, counted=found.counted, monotonic=found.one_way
    )
    return epsilon_for(right / 100, problem, method=method, metric="success", low=1e-6, high=1e3)


def place_of(names: Sequence[str], answer: Mapping[str, Any]) -> int | None:
    """Which option an answer names."""
    found = str(answer["option"] if "option" in answer else answer.get("candidate"))
    return list(names).index(found) if found in names else None


def _counts(case: Case, as_is: Candidates) -> Numbers:
    """The counts that can be edited: the largest, in the order of the table."""
    places = _largest(as_is)
    return Numbers(
        key=slug("edit", case.source.key, as_is.column),
        label=said.EDIT,
        names=tuple(words.visible(as_is.names[place], 30) for place in places),
        default=tuple(float(as_is.shown[place]) for place in places),
        low=0.0 if as_is.counted else None,
        linked=case.source.public,
    )


def _edited(as_is: Candidates, counts: Numbers, edits: tuple[float, ...], times: float) -> Candidates:
    if edits == counts.default and times == 1.0:
        return as_is
    values: FloatArray = as_is.shown.copy()
    values[list(_largest(as_is))] = edits
    if as_is.counted:
        values = np.maximum(values, 0.0) * times
        if values.sum() < 1:
            return as_is
    return as_is.with_shown(values)


def _largest(as_is: Candidates) -> list[int]:
    return sorted(np.argsort(-as_is.scores, kind="stable")[:EDITABLE].tolist())


def _need(case: Case, as_is: Candidates, metric: str) -> Number:
    """What a person needs; a person's own file begins with a number that does not come from it."""
    if metric == "success":
        return Number(
            key="selection_target", label=said.NEED_RIGHT, help=said.NEED_HELP, default=95.0, low=1.0, high=99.9
        )
    known = METRICS[metric]
    spread = (float(np.ptp(as_is.scores)) or 1.0) / 20 if case.source.public else OWN_LOSS
    usual = float(f"{spread * known.factor:.3g}")
    return Number(
        key="selection_target_loss" if metric == "expected_loss" else f"selection_target_{metric}",
        label=said.need(known),
        help=said.NEED_HELP,
        default=95.0 if known.share else usual,
        low=1e-9,
        high=99.9 if known.share else 1e9,
        step=1.0 if known.share else max(usual / 10, 1e-6),
    )
