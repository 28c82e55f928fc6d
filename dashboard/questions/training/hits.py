"""How often is a private model, once drawn, right on these rows?"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import pandas as pd

from dashboard import made_up, words
from dashboard.blocks import Ask, Block, Formula, Keep, Rows, Small, Tab, Text, Undo
from dashboard.case import Case, DrawnModel, Source
from dashboard.charts.tradeoff import Scale
from dashboard.controls import Choice, Number, Read, slug
from dashboard.question import BRIEF, CannotAsk, Need, NoOffer, Offer, Outcomes, Question, Then, Uncertain, Way
from dashboard.questions.training import predict_controls
from dashboard.questions.training.hits_request import Known, enough, fitting, hits_request
from dashboard.questions.training.leaning import leaning
from dashboard.usual import RELATIONS, measure, neighbours, people, questions
from dashboard.view import View
from dashboard.words import hits as said
from dpcore.datasets import Declaration, Schema
from dpcore.datasets.declaration import shown
from dpcore.ledger import Receipt
from dpcore.releases.asked_confusion import AskedConfusion
from dpcore.training.confusion import CELLS, Confusion, confusion_of
from dpcore.training.confusion_law import told_off
from dpcore.training.confusion_problem import TOLD, ConfusionProblem
from dpcore.training.model import LinearModel, load_model
from dpcore.validate import Neighbours

PAGE = "hits"
ASKED = "training_question"
"""The control that says which question of the page is asked (``catalogue.question_choice``)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hits:
    """The question as a plug-in."""

    key: ClassVar[str] = PAGE
    title: ClassVar[str] = said.TITLE
    rank: ClassVar[int] = 20
    once: ClassVar[tuple[str, ...]] = ()
    of_models: ClassVar[bool] = True

    @classmethod
    def ways(cls, schema: Schema) -> Sequence[Way]:
        """None: that a model was drawn is nothing that columns say."""
        return ()

    @classmethod
    def ask(cls, case: Case, read: Read) -> Question:
        if not case.models:
            raise CannotAsk(said.NO_MODEL)
        declared = case.source.declared
        if declared is None:
            raise CannotAsk(case.source.unreleased or said.NOT_DECLARED)
        by_receipt = {one.receipt: one for one in case.models}
        found = fitting(case.models, declared, case.memo)
        if not found.models:
            raise CannotAsk(f"{said.NONE_FITS} {found.others}")
        which: Choice[str] = Choice(
            key=_model_key(case.source),
            label=said.MODEL,
            options=tuple(found.models),
            names={receipt: _named(by_receipt[receipt], one) for receipt, one in found.models.items()},
            default=next(iter(found.models)),
            hide_label=True,
            refusal=said.NOT_OFFERED,
            width=460,
            linked=False,  # whoever follows a link has another ledger
        )
        drawn = by_receipt[read(which, "sentence")]
        model = case.memo(("hits model", case.table.fingerprint, drawn.receipt), lambda: load_model(drawn.answer()))
        made_up.related(case, model.features.target.name, said.unrelated)
        true = case.memo(
            ("hits", case.table.fingerprint, drawn.receipt),
            lambda: confusion_of(model.features, model.weights, case.table.frame),
        )
        if true.total < 1:
            raise CannotAsk(said.NO_VALUES.format(words.visible(model.features.target.name)))
        setting = _Setting.of(case, read, drawn, model, true, found.others)
        told = said.right_on(int(true.total), case.table.schema.unit, simulated=case.source.simulated)
        return setting.question((said.SENTENCE, which, told))


def _named(drawn: DrawnModel, known: Known) -> str:
    return said.option(known.target, known.epsilon, drawn.when, same=drawn.same)


def _model_key(source: Source) -> str:
    """The control that chooses a model, of each table another: their models are others."""
    return slug("hits_model", source.key)


def then(source: Source) -> Then:
    """From a model that was just drawn to this question about it."""
    key = _model_key(source)

    def sets(receipt: Receipt) -> Mapping[str, Hashable]:
        return {ASKED: Hits.key, key: receipt.journal_hash}

    return Then(label=said.LEADS_SAMPLE if source.public else said.LEADS, sets=sets)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Setting:
    """The model, its true cells in these rows, everything that was chosen, and what follows from it."""

    case: Case
    read: Read
    drawn: DrawnModel
    model: LinearModel
    true: Confusion
    others: str
    relation: Neighbours
    delta: float | None
    """Of the answer where the budget of these people counts in ρ; None where it needs none."""
    metric: str
    times: float
    questions: int
    need: Number
    target: float

    @classmethod
    def of(
        cls, case: Case, read: Read, drawn: DrawnModel, model: LinearModel, true: Confusion, others: str
    ) -> _Setting:
        schema = case.table.schema
        made = model.about.get("neighbours")
        hidden = neighbours("hits_neighbours", schema.unit, schema.each_row)
        relation = read(replace(hidden, default=made) if made in RELATIONS else hidden)
        metric = read(measure("hits_metric", said.METRICS), "need")
        share = metric == "verdict"
        need = Number(
            key=f"hits_{metric}_target",
            label=said.NEED[metric],
            help=said.NEED_HELP,
            default=95.0 if share else 3.0,
            low=1.0 if share else 0.001,
            high=99.9 if share else 50.0,
            step=1.0 if share else 0.5,
        )
        return cls(
            case=case,
            read=read,
            drawn=drawn,
            model=model,
            true=true,
            others=others,
            relation=relation,
            delta=read(predict_controls.delta(case)) if case.counting == "zcdp" else None,
            metric=metric,
            times=float(read(people("hits_factor", said.PEOPLE), "tab")),
            questions=int(read(questions("hits_questions"), "tab")),
            need=need,
            target=read(need, "need") / 100.0,
        )

    @property
    def changed(self) -> bool:
        return self.times != 1.0 or self.questions != 1

    @property
    def classes(self) -> tuple[str, str]:
        """The answers no and yes, short enough for a table and told apart."""
        no, yes = words.shortened(self.model.classes, 30)
        return no, yes

    @property
    def always(self) -> str:
        """What one says who always says the more common answer."""
        return said.always(self.classes[1 if self.true.yes > self.true.no else 0])

    def problem(self, times: float, shared: int) -> ConfusionProblem:
        """As many people as now ``times``, whose cells keep their shares."""
        here = ConfusionProblem(
            true=self.true,
            relation=self.relation,
            rows_per_person=self.case.table.schema.rows_per_person,
            questions=shared,
            delta=self.delta,
        )
        return here if times == 1.0 else replace(here, rows=max(1, round(here.n * times)))

    def view(self) -> View:
        identity = ("hits", self.case.table.fingerprint, self.drawn.receipt, self.relation, self.delta)
        share = self.metric == "verdict"
        return View(
            page=PAGE,
            problem=self.problem(self.times, self.questions),
            identity=(*identity, self.times, self.questions),
            memo=self.case.memo,
            metric=self.metric,
            scale=Scale(title=said.TITLES[self.metric], factor=100.0, unit=said.UNITS[self.metric], hundred=share),
            names=said.NAMES,
            methods=list(said.NAMES),
            everything=list(said.NAMES),
            main=TOLD,
            epsilon=self.case.epsilon,
            target=self.target,
            ghost=self.problem(1.0, 1) if self.changed else None,
            ghost_identity=(*identity, 1.0, 1),
            mark=self.case.source.mark,
            plain=said.PLAIN,
            about=f"“{words.visible(self.model.features.target.name, 30)}”",
            code=said.code(self.true, self.relation, self.case.table.schema.rows_per_person, self.questions, self.delta)
            if self.case.source.public
            else None,
        )

    def question(self, sentence: tuple[str | Choice[str], ...]) -> Question:
        case, view = self.case, self.view()
        problem = self.problem(self.times, self.questions)
        unit = case.table.schema.unit
        return Question(
            key=PAGE,
            sentence=sentence,
            headline=said.headline(self.metric, case.epsilon, view.at(TOLD), self.target, self.always),
            caption=said.caption(
                self.true,
                unit,
                self.always,
                simulated=case.source.simulated,
                own=not case.source.public,
                made=said.MADE if self.drawn.same else said.MAYBE_MADE,
                lean=None if isinstance(self.lean, str) else self.lean,
            ),
            view=view,
            need=Need(control=self.need, found=None if case.brief else view.needed()),
            outcomes=self.outcomes(view),
            uncertain=Uncertain(
                noise=(noise := view.at(TOLD, "off")),
                people=(others := problem.elsewhere()),
                sentence=said.uncertain(noise, others, problem.n, unit),
                sign="±",
            ),
            protected=words.LabelCard(
                neighbours=self.relation,
                epsilon=case.epsilon,
                delta=self.delta or 0.0,
                unit=unit,
                not_protected=said.NOT_PROTECTED,
            ),
            tabs=(
                Tab(key="how", title=said.HOW, blocks=self.how),
                Tab(key="what_if", title=said.WHAT_IF, blocks=lambda: self.what_if(view)),
            ),
            offer=BRIEF if case.brief else self.offer(),
            notes=(self.others,) if self.others else (),
            follows=True,
        )

    def outcomes(self, view: View) -> Outcomes:
        """What the four counts say, in the end: whether the model is better on these rows."""
        right = view.at(TOLD, "verdict")
        better = right if self.true.better else 1.0 - right
        return Outcomes(
            names=said.VERDICTS,
            chances=(better, 1.0 - better),
            good=(self.true.better, not self.true.better),
            place=lambda answer: 0 if Confusion(**answer).better else 1,
        )

    def how(self) -> Sequence[Block]:
        problem = self.problem(1.0, self.questions)
        scale, law = problem.scale(self.case.epsilon), problem.noise_law
        some = all(total > 0 for total in (self.true.yes, self.true.named))
        return [
            Text(said.how_text(law)),
            Text(said.cells_title(simulated=self.case.source.simulated)),
            _table(self.true, self.classes),
            *(
                [
                    Text(
                        said.derived(
                            float(told_off(self.true.found, self.true.missed, scale, law=law, counts=1)[0]),
                            float(told_off(self.true.found, self.true.false_alarms, scale, law=law, counts=1)[0]),
                            self.classes[1],
                        )
                    )
                ]
                if some
                else []
            ),
            Text(self.leaning),
            Formula(latex=said.FORMULA, source=said.source(law)),
        ]

    @property
    def lean(self) -> float | str:
        """How much it leans on the rows it was made from at most, or why nothing is proved of that."""
        return leaning(self.model, alone=self.drawn.alone)

    @property
    def leaning(self) -> str:
        """That, in a sentence that says whether these rows are the ones."""
        return said.lean(self.lean, same=self.drawn.same)

    def with_model(self, request: AskedConfusion) -> str:
        """What the model and this count let somebody guess together."""
        about = self.model.about
        epsilon, delta = (
            float(one) if isinstance(one := about.get(name), (int, float)) else None for name in ("epsilon", "delta")
        )
        hides = (about.get("neighbours"), about.get("unit"), about.get("rows_per_person"))
        alike = hides == (request.neighbours, shown(request.unit), request.rows_per_person)
        return said.with_model(epsilon if alike else None, delta or 0.0, request.cost, request.neighbours, request.unit)

    def what_if(self, view: View) -> Sequence[Block]:
        controls = (people("hits_factor", said.PEOPLE), questions("hits_questions"))
        least = view.needed().epsilon
        return [
            Text(said.what_if(self.changed)),
            Ask(controls),
            Undo(label="Back to the data as they are", controls=controls, enabled=self.changed),
            Keep(
                current=(
                    ("ε", words.number(self.case.epsilon)),
                    ("people", words.whole(view.size)),
                    ("told off by at most, points", words.number(100 * view.at(TOLD, "off"))),
                    ("ε needed", "none" if least is None else words.number(least)),
                )
            ),
        ]

    def offer(self) -> Offer | NoOffer:
        """The release about the data as they are."""
        source, features = self.case.source, self.model.features
        obstacle = source.obstacle(features.target.name, *(column.name for column in features.columns))
        if obstacle or source.rows is None or source.declared is None:
            return NoOffer(sentence=obstacle or source.unreleased)
        request = hits_request(
            source.declared,
            self.model,
            self.drawn.receipt,
            epsilon=self.case.epsilon,
            delta=self.delta,
            neighbours=self.relation,
        )
        if isinstance(request, str):
            return NoOffer(sentence=request)
        earlier = tuple(
            replace(self, delta=None).offer_of(one, source.rows, source.declared) for one in request.instead_of
        )
        return replace(self.offer_of(request, source.rows, source.declared), instead_of=earlier)

    def over(self, request: AskedConfusion, off: float, people: int | None) -> str:
        """Where so many rows ``off`` is more than is accepted of about as many people, and which ε would be enough."""
        if self.metric != "off" or people is None or min(1.0, off / people) <= self.target:
            return ""
        return said.more_than(self.target, enough(request, self.target * people))

    def offer_of(self, request: AskedConfusion, rows: Callable[[], Any], declared: Declaration) -> Offer:
        """The release by this request, with the noise of this setting."""
        source = self.case.source
        if source.public:
            here = self.problem(1.0, 1)
            chances = (self.at(here, metric) for metric in ("off", "verdict"))
            forecast = said.forecast(*chances)
        else:
            bound = request.error_bound(0.05)
            forecast = said.forecast_bound(
                bound, declared.people, request.unit, self.over(request, bound.number, declared.people)
            )
        classes, target = self.model.classes, self.model.features.target.name
        noise = request.noise_law(scale=request.scale)
        together = self.with_model(request)
        return Offer(
            request=request,
            data=rows,
            forecast=forecast,
            describe=lambda answer: said.answer(Confusion(**answer), noise, target, classes),
            gives=said.GIVES,
            below=lambda receipt: _below(receipt, self.classes),
            relation="hits_neighbours",
            conclude=said.conclude(self.case.table.schema.unit),
            claim=f"{said.CLAIM}. {together.removesuffix('.')}",
            before=(
                Text(said.WHAT_LEAVES),
                *([Text(said.IN_RHO)] if self.delta is not None else []),
                Small(together),
                Small(self.leaning),
            ),
        )

    def at(self, problem: ConfusionProblem, metric: str) -> float:
        """A metric of the release itself, at the chosen ε."""
        return replace(self.view(), problem=problem).at(TOLD, metric)


def _table(cells: Confusion, classes: tuple[str, str]) -> Rows:
    """The four cells as a table: what the model says across, what the row says down."""
    no, yes = classes
    frame = pd.DataFrame(
        {
            "the row says": [yes, no],
            f"the model says “{yes}”": [said.cell(cells, "found"), said.cell(cells, "false_alarms")],
            f"the model says “{no}”": [said.cell(cells, "missed"), said.cell(cells, "rightly_left")],
        }
    )
    return Rows(frame=frame, alt=said.cells_alt(cells))


def _below(receipt: Receipt, classes: tuple[str, str]) -> Sequence[Block]:
    """The four counts under an answer."""
    answer: Mapping[str, Any] = receipt.answer
    told = Confusion(**{name: answer[name] for name in CELLS})
    return [Text(said.cells_title(simulated=False, told=True)), _table(told, classes)]
