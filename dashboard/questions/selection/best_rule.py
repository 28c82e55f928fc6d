"""Which simple rule predicts best? Private learning over a finite class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dashboard import made_up, words
from dashboard.blocks import Ask, Block, Formula, Keep, Tab, Text
from dashboard.case import Case
from dashboard.charts.tradeoff import Scale
from dashboard.controls import Choice, Control, Number, Read, Several, slug
from dashboard.question import BRIEF, CannotAsk, Need, NoOffer, Offer, Outcomes, Question, Uncertain, Way
from dashboard.questions.selection import how_many, rule_one_person
from dashboard.questions.selection.best_rule_request import best_rule_request, expected_errors
from dashboard.questions.selection.learned import (
    DRAWS,
    MOST_RULES,
    MOST_TOGETHER,
    Learned,
    covariance,
    features,
    learn,
    rule_class,
    targets,
    worse_elsewhere,
)
from dashboard.usual import BETA, SAMPLING, measure, method, neighbours, questions
from dashboard.view import View
from dashboard.ways import fitting, way
from dashboard.words import best_rule as said
from dashboard.words import change_one
from dashboard.words import how_many as many_said
from dashboard.words import page as page_words
from dashboard.words import promise as theory_said
from dashboard.words.usual import BAND, proved
from dpcore.datasets import Schema
from dpcore.selection import FiniteClass, FiniteClassProblem, catalog
from dpcore.validate import FloatArray, Neighbours

PAGE = "rule"
METHODS = dict(catalog())
ABOUT = {key: kind.about for key, kind in METHODS.items()}
NAMES = {key: about.name for key, about in ABOUT.items()} | said.THEORY
SCALES = {
    "error": Scale(title=said.SCALES["error"], factor=100.0, unit=" in 100"),
    "excess": Scale(title=said.SCALES["excess"], factor=100.0, unit=" in 100"),
    "success": Scale(title=said.SCALES["success"], factor=100.0, unit=" times in 100", hundred=True),
}
OWN_ERROR = 20.0
"""Mistakes in 100 that a person accepts on their own data until they say."""
NEAR = 0.01
"""A rule is near the best when it errs on at most this share of people more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BestRule:
    """The question as a plug-in."""

    key: ClassVar[str] = "best_rule"
    title: ClassVar[str] = said.TITLE
    rank: ClassVar[int] = 30
    once: ClassVar[tuple[str, ...]] = ("Best simple rule",)

    @classmethod
    def ways(cls, schema: Schema) -> Sequence[Way]:
        return [
            way(suited, suited.choices("label")[0], question=cls.key, rule_target=suited.choices("label")[0])
            for suited in fitting(schema, "selection", "rule")
            if _two_answers(schema, suited.choices("label")[0])
        ]

    @classmethod
    def ask(cls, case: Case, read: Read) -> Question:
        table = case.table
        offered = [name for name in targets(table) if features(table, name)]
        if not offered or table.schema.each_row != "record":
            raise CannotAsk(said.NO_COLUMN)
        which = Choice(
            key="rule_target",
            label=said.TARGET,
            options=tuple(offered),
            names=words.visible,
            default=case.source.stated(offered)[0],
            hide_label=True,
            width=220,
            linked=case.source.public,
        )
        target = read(which, "sentence")
        made_up.related(case, target)
        setting = _Setting.of(case, target, read)
        end = said.sentence_end(setting.learned.people, table.rows, simulated=case.source.simulated)
        return setting.question(("Which simple rule predicts", which, end))


def _two_answers(schema: Schema, name: str) -> bool:
    column = schema.column(name)
    return column.type == "yes/no" or len(column.categories) in (0, 2)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Setting:
    """The class of rules, everything that was chosen, and what follows from it."""

    case: Case
    read: Read
    target: str
    learned: Learned
    rules: tuple[Any, ...]
    identity: tuple[Any, ...]
    relation: Neighbours
    metric: str
    main: str
    sampling: bool
    beta: float
    questions: int
    cuts: int
    need: Number
    goal: float

    @classmethod
    def of(cls, case: Case, target: str, read: Read) -> _Setting:
        table = case.table
        usable = features(table, target)
        columns = Several(
            key=slug("rule_columns", target),
            label=said.COLUMNS,
            options=usable,
            names=words.visible,
            default=case.source.stated(usable),
            least=1,
            refusal=page_words.too_few(1),
            linked=case.source.public,
        )
        cuts: Choice[int] = Choice(
            key="rule_cuts",
            label=said.CUTS,
            help=said.CUTS_HELP,
            options=(5, 10, 20, 50, 100),
            default=20,
            look="scale",
        )
        chosen, count = read(columns), read(cuts)
        relation = read(neighbours("rule_neighbours", case.table.schema.unit))
        metric = read(measure("rule_metric", {key: said.METRICS[key] for key in SCALES}), "need")
        main = read(method("rule_method", ABOUT, "permute_and_flip"))
        sampling, beta = read(SAMPLING), read(BETA)
        if not chosen:
            raise CannotAsk(said.NOTHING_CHOSEN)
        identity = ("rule", table.fingerprint, target, chosen, count)
        rules = rule_class(table, list(chosen), count)
        if rules.size > MOST_RULES:
            raise CannotAsk(said.too_many_rules(rules.size, MOST_RULES))
        learned = case.memo((*identity, "errors"), lambda: learn(table, target, rules))
        if learned.people == 0:
            raise CannotAsk(said.NO_ROW)
        rate = float(learned.errors.min()) / learned.people
        start = round(100 * rate + 1, 1) if case.source.public else OWN_ERROR
        usual = {"error": start, "excess": 1.0, "success": 95.0}[metric]
        need = Number(
            key=f"{PAGE}_{metric}_target",
            label=said.NEED[metric],
            help=said.NEED_HELP,
            default=min(usual, 99.9),
            low=0.001,
            high=99.9,
            step=1.0 if metric == "success" else 0.5,
        )
        return cls(
            case=case,
            read=read,
            target=target,
            learned=learned,
            rules=identity,
            identity=(*identity, relation, sampling, beta, main),
            relation=relation,
            metric=metric,
            main=main,
            sampling=sampling,
            beta=beta,
            questions=int(read(questions("rule_questions"), "tab")),
            cuts=count,
            need=need,
            goal=read(need, "need") / 100.0,
        )

    @property
    def epsilon(self) -> float:
        return self.case.epsilon

    def problem(self, shared: int) -> FiniteClassProblem:
        return FiniteClassProblem(
            errors=self.learned.errors,
            people=self.learned.people,
            relation=self.relation,
            rows_per_person=self.case.table.schema.rows_per_person,
            questions=shared,
            beta=self.beta,
            band=0.8 if self.sampling else 0.0,
            covariance=self.covariance() if self.sampling and self.learned.few else None,
            theorem=self.main,
        )

    def covariance(self) -> FloatArray:
        learned = self.learned
        key = (*self.rules, "together")
        return self.case.large(key, lambda: covariance(self.case.table, self.target, learned.rules))

    def view(self) -> View:
        bounds = ["theory", "pac"] if self.metric != "error" else ["pac"]
        return View(
            page=PAGE,
            problem=self.problem(self.questions),
            identity=(*self.identity, self.questions),
            memo=self.case.memo,
            metric=self.metric,
            scale=SCALES[self.metric],
            names=NAMES,
            methods=[*METHODS, *bounds],
            everything=list(NAMES),
            main=self.main,
            epsilon=self.epsilon,
            target=self.goal,
            ghost=self.problem(1) if self.questions != 1 else None,
            ghost_identity=(*self.identity, 1),
            mark=self.case.source.mark,
            band=self.band,
        )

    @property
    def band(self) -> str:
        """What the chart says of the error of having only these people."""
        if not self.sampling:
            return ""
        return BAND if self.learned.few else said.no_band(MOST_TOGETHER)

    def question(self, sentence: tuple[str | Control[Any], ...]) -> Question:
        view, learned = self.view(), self.learned
        mechanism = self.problem(self.questions).mechanism(self.main, self.epsilon)
        law: FloatArray = self.case.memo(
            (*view.identity, "law", self.main, self.epsilon), lambda: mechanism.probabilities(-learned.errors)
        )
        wrong = float(law @ learned.errors) / learned.people
        best = int(np.argmin(learned.errors))
        near = learned.errors <= learned.errors[best] + NEAR * learned.people
        goal = self.goal if self.metric == "error" else None
        return Question(
            key=PAGE,
            sentence=sentence,
            headline=said.headline(self.epsilon, wrong, goal),
            caption=said.caption(len(learned.names), learned.names[best], float(learned.errors[best]) / learned.people),
            view=view,
            need=Need(control=self.need, found=None if self.case.brief else view.needed()),
            outcomes=Outcomes(names=learned.names, chances=law.tolist(), good=near.tolist()),
            uncertain=self.uncertain(1.0 - float(law[near].sum())),
            protected=words.LabelCard(neighbours=self.relation, epsilon=self.epsilon, unit=self.case.table.schema.unit),
            tabs=(
                Tab(key="how", title=said.HOW, blocks=self.how),
                Tab(key="what_if", title=said.WHAT_IF, blocks=lambda: self.what_if(view, wrong)),
                Tab(key="how_many", title=many_said.TITLE, blocks=self.how_many),
                Tab(key="theory", title=theory_said.TITLE, blocks=lambda: self.theory(view)),
                Tab(key="one_person", title=change_one.TITLE, blocks=self.one_person),
            ),
            offer=BRIEF if self.case.brief else self.offer(),
            follows=True,
        )

    def uncertain(self, noise: float) -> Uncertain | None:
        """A worse rule through noise, and how often the best rule here would be a worse one among other people."""
        learned = self.learned
        if not learned.few:
            return None
        people = self.case.memo(
            (*self.rules, "other people"), lambda: worse_elsewhere(learned, self.covariance(), NEAR)
        )
        unit = self.case.table.schema.unit
        sentence = said.uncertain(noise, people, learned.people, unit, 100 * NEAR, DRAWS)
        return Uncertain(noise=noise, people=people, sentence=sentence)

    def how(self) -> Sequence[Block]:
        k, alpha = len(self.learned.names), self.problem(1).alpha
        mechanism = FiniteClass(epsilon=self.epsilon, relation=self.relation, method=self.main)
        asked = mechanism.sample_size_bound(k, alpha, self.beta)
        enough = mechanism.sample_size(k, alpha, self.beta)
        return [
            Text(said.how(METHODS[self.main].about)),
            Text(said.sample_size(alpha, k, self.beta, asked["both"], asked["privacy"], asked["sampling"], enough)),
            Formula(latex=said.FORMULA, source=said.source(mechanism.constant(k))),
        ]

    def what_if(self, view: View, wrong: float) -> Sequence[Block]:
        least = view.needed().epsilon
        return [
            Text(said.WHAT_IF_TEXT),
            Ask((questions("rule_questions"),)),
            Keep(
                current=(
                    ("ε", words.number(self.epsilon)),
                    ("people", words.whole(view.size)),
                    ("wrong in 100", words.number(100 * wrong)),
                    ("ε needed", "none" if least is None else words.number(least)),
                )
            ),
        ]

    def how_many(self) -> Sequence[Block]:
        """What learning asks for, with privacy and without."""
        k, people = max(2, len(self.learned.names)), self.learned.people
        return how_many.blocks(self.case, self.read, k, people, self.main, self.relation, self.epsilon, self.beta)

    def theory(self, view: View) -> Sequence[Block]:
        """The learning theorem beside what is true."""
        k, share = max(2, len(self.learned.names)), self.epsilon / self.questions
        return how_many.theory(self.case, self.problem(1), self.main, k, share, view.identity)

    def one_person(self) -> Sequence[Block]:
        """Two worlds that differ in one person."""
        mechanism = self.problem(self.questions).mechanism(self.main, self.epsilon)
        return rule_one_person.blocks(self.case, self.read, self.learned, self.target, self.main, mechanism)

    def offer(self) -> Offer | NoOffer:
        """The release of the method that was chosen, about the data as they are."""
        source, about = self.case.source, METHODS[self.main].about
        if about.release is None:
            nearest = about.nearest or "permute_and_flip"
            other = METHODS[nearest].about.name
            return NoOffer(
                sentence=said.no_release(about.name, other), instead=("rule_method", nearest, said.use(other))
            )
        names = [column.column for column in self.learned.rules.columns]
        obstacle = source.obstacle(self.target, *names)
        if obstacle or source.rows is None or source.declared is None:
            return NoOffer(sentence=obstacle or source.unreleased)
        request = best_rule_request(
            source.declared,
            self.target,
            names,
            cuts=self.cuts,
            epsilon=self.epsilon,
            neighbours=self.relation,
            rule=about.release,
        )
        if isinstance(request, str):
            return NoOffer(sentence=request)
        bound = request.error_bound(0.05)
        if source.public:
            people = max(1, int((self.case.table.codes(self.target) >= 0).sum()))
            forecast = said.forecast(expected_errors(request, self.case.read(request)) / people)
        else:
            forecast = said.forecast_bound(bound)
        return Offer(
            request=request,
            data=source.rows,
            forecast=forecast,
            describe=lambda answer: said.answer(answer, self.target, request.positive),
            gives=said.gives(request.rules_to_choose.columns[0].rules()),
            relation="rule_neighbours",
            conclude=said.conclude(bound, self.case.table.schema.unit),
            claim=proved(bound),
        )
