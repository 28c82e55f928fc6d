"""Which one of several columns costs least, chosen once and for all?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import numpy as np

from dashboard import words
from dashboard.blocks import Ask, Block, Formula, Keep, Picture, Tab, Text, Undo
from dashboard.case import Case
from dashboard.charts.laws import chances
from dashboard.charts.promise import Line
from dashboard.charts.theme import colours
from dashboard.charts.tradeoff import Scale
from dashboard.controls import Choice, Number, Read, Several, slug
from dashboard.promise import Promise, along
from dashboard.question import BRIEF, CannotAsk, Need, NoOffer, Offer, Outcomes, Question, Uncertain, Way
from dashboard.questions.experts import one_row, other_rounds
from dashboard.questions.experts.column_costs import costs
from dashboard.questions.experts.fixed_choice_request import LIKELY, expected, fixed_choice_request
from dashboard.questions.experts.followed import numeric
from dashboard.usual import BETA, method, neighbours
from dashboard.view import View
from dashboard.words import change_one
from dashboard.words import fixed_choice as said
from dashboard.words import page as page_words
from dashboard.words import promise as theory_said
from dpcore.datasets import Schema
from dpcore.errors import InvalidArgument
from dpcore.experts import LinearProblem
from dpcore.experts.linear import catalog, printed_account
from dpcore.experts.linear.linear_problem import THEORY, THEORY_DRAW
from dpcore.theorems import theorems
from dpcore.validate import FloatArray

PAGE = "linear"
PERCENT = 50.0
"""Times a cost in [−1, 1]: % of its declared range."""
FIRST = "vertex_permute_and_flip"
MOST_COLUMNS, SHOWN = 12, 8
MOST_ROWS, MOST_REPEATED = 20_000, 200_000
"""Rows of so many columns that are looked at, and that a table is repeated to; of more columns fewer, so that no chart
is more work."""
MOST_ROWS_PROMISED = 1e9
PLACES = 13
FACTORS = (0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0)
FIRST_SEED = 1
RELATION = "linear_neighbours"


@dataclass(frozen=True, slots=True, kw_only=True)
class FixedChoice:
    """The question as a plug-in."""

    key: ClassVar[str] = "fixed_choice"
    title: ClassVar[str] = said.TITLE
    rank: ClassVar[int] = 20
    once: ClassVar[tuple[str, ...]] = ("Best fixed choice for a linear cost",)

    @classmethod
    def ways(cls, schema: Schema) -> Sequence[Way]:
        return []  # whether columns are costs of one and the same thing cannot be told from their types

    @classmethod
    def ask(cls, case: Case, read: Read) -> Question:
        schema = case.table.schema
        choices = tuple(numeric(schema))
        if len(choices) < 2:
            raise CannotAsk(said.TOO_FEW)
        columns = Several(
            key=slug("linear_columns", case.source.key),
            label=said.THESE,
            help=said.COLUMNS_HELP,
            options=choices,
            names=words.visible,
            default=case.source.stated(choices, least=2)[:MOST_COLUMNS],
            least=2,
            refusal=page_words.too_few(2),
            linked=case.source.public,
        )
        names = read(columns, "sentence")
        if len(names) < 2:
            raise CannotAsk(said.ONE_COLUMN)
        try:
            return _Setting.of(case, names, read).question(said.sentence(columns))
        except InvalidArgument as error:
            raise CannotAsk(said.cannot_compare(str(error))) from None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Setting:
    """The columns, everything that was chosen, and what follows from it. ``problem`` has ``times`` as many rows."""

    case: Case
    names: tuple[str, ...]
    as_is: LinearProblem
    problem: LinearProblem
    main: str
    factor: Choice[float]
    times: float
    need: Number
    target: float
    read: Read

    @classmethod
    def of(cls, case: Case, names: tuple[str, ...], read: Read) -> _Setting:
        relation = read(neighbours(RELATION, case.table.schema.unit, case.table.schema.each_row))
        beta = read(BETA)
        most = _at_most(MOST_ROWS, len(names))
        keep = case.keeping(len(names) * min(most, case.table.rows))
        table = keep(("costs", case.table.fingerprint, names), lambda: costs(case.table, names, most))
        key = ("linear problem", case.table.fingerprint, names, beta, relation)
        as_is = keep(key, lambda: LinearProblem(costs=table, beta=beta, relation=relation))
        about = {key: catalog()[key].about for key in as_is.methods if key in catalog()}
        main = read(method("linear_method" if relation == "replace_one" else "linear_method_draws", about, FIRST))
        factor = Choice(
            key="linear_factor",
            label=said.as_many(words.many(case.table.schema.unit)),
            options=tuple(times for times in FACTORS if 2 <= round(as_is.n * times) <= _longest(as_is)),
            names=lambda times: f"×{times:g}",
            default=1.0,
            look="scale",
            linked=case.source.public,  # which there are hangs on how many rows there are
        )
        times = read(factor, "tab")
        need = Number(
            key=slug("linear_target", case.source.key),
            label=said.NEED,
            help=said.NEED_HELP,
            default=1.0,
            low=0.001,
            high=100.0,
            step=0.5,
            linked=case.source.public,
        )
        return cls(
            case=case,
            names=names,
            as_is=as_is,
            problem=case.keeping(as_is.costs.size * times)((*key, times), lambda: _longer(as_is, times)),
            main=main,
            factor=factor,
            times=times,
            need=need,
            target=read(need, "need") / PERCENT,
            read=read,
        )

    @property
    def epsilon(self) -> float:
        return self.case.epsilon

    @property
    def unit(self) -> str:
        return self.case.table.schema.unit

    @property
    def means(self) -> FloatArray:
        """Average cost of each column, in % of its declared range."""
        return np.asarray(PERCENT * (1.0 + self.problem.costs.mean(axis=0)))

    def view(self) -> View:
        problem, as_is, units = self.problem, self.as_is, words.many(self.unit)
        identity = ("linear", self.case.table.fingerprint, self.names, as_is.beta, as_is.relation)
        return View(
            page=PAGE,
            problem=problem,
            identity=(*identity, self.times),
            memo=self.case.memo,
            metric="excess",
            scale=Scale(title=said.extra_title(self.unit), factor=PERCENT, unit=said.EXTRA_UNIT),
            names=problem.labels,
            methods=list(problem.methods),
            everything=[*catalog(), THEORY_DRAW, THEORY],
            main=self.main,
            epsilon=self.epsilon,
            target=self.target,
            size_word=units,
            size_title=said.size_title(units),
            ghost=as_is if self.times != 1.0 else None,
            ghost_identity=(*identity, 1.0),
            sizes=(
                float(max(10, as_is.n // 50)),
                float(min(max(as_is.n * 10, problem.n), _longest(as_is))),
            ),
            mark=self.case.source.mark,
            band=said.BAND,
        )

    def law(self, key: str, view: View) -> FloatArray:
        """How often a method chooses each column, exactly."""
        method = self.problem.method(key, self.epsilon)
        return self.case.memo(
            (*view.identity, "law", key, self.epsilon), partial(method.expected_choice, self.problem.costs)
        )

    def question(self, sentence: tuple[str | Several, ...]) -> Question:
        view, means = self.view(), self.means
        best = int(np.argmin(means))
        extra = PERCENT * view.at(self.main)
        declared = self.case.source.declared
        several = declared is not None and declared.rows_per_person > 1
        return Question(
            key=PAGE,
            sentence=sentence,
            headline=said.headline(self.epsilon, extra, PERCENT * self.target, self.unit),
            caption=said.caption(
                columns=len(self.names),
                rows=self.problem.n,
                unit=self.unit,
                best=self.names[best],
                own=float(means[best]),
                at_random=float(means.mean() - means[best]),
                theory=self.theory(view, extra),
            )
            + self.looked_at,
            view=view,
            need=Need(control=self.need, found=None if self.case.brief else replace(view.needed(), part=self.partial)),
            outcomes=Outcomes(
                names=self.names,
                chances=self.law(self.main, view).tolist(),
                good=(means == means.min()).tolist(),
                what=said.CHOICES,
            ),
            uncertain=self.uncertain(view),
            protected=words.LabelCard(
                neighbours=self.as_is.relation,
                epsilon=self.epsilon,
                delta=self.problem.method(self.main, self.epsilon).cost.delta,
                unit=self.unit,
            ),
            tabs=(
                Tab(key="compare", title=said.COMPARE, blocks=lambda: self.compare(view)),
                Tab(key="how", title=said.HOW, blocks=self.how),
                Tab(key="what_if", title=said.WHAT_IF, blocks=lambda: self.what_if(view, extra)),
                Tab(key="theory", title=theory_said.TITLE, blocks=lambda: self.on_axes(view)),
                Tab(key="one_row", title=change_one.ROW_TITLE, blocks=self.one_row),
            ),
            offer=BRIEF if self.case.brief else self.offer(),
            follows=True,
            notes=(
                *([said.several_rows(self.unit, declared.rows_per_person)] if several and declared else []),
                *([said.LEARNER_LEFT_OUT] if self.as_is.relation == "add_remove" else []),
            ),
        )

    def uncertain(self, view: View) -> Uncertain | None:
        """Another column through noise, and how often another would be cheapest had other rows come."""
        if not other_rounds.few_enough(self.problem.costs):
            return None
        means = self.means
        noise = 1.0 - float(self.law(self.main, view)[means == means.min()].sum())
        people = self.case.memo(
            (*view.identity, "other rows"), lambda: other_rounds.another_best(self.problem.costs, FIRST_SEED)
        )
        sentence = said.uncertain(noise, people, self.problem.n, self.unit, other_rounds.DRAWS)
        return Uncertain(noise=noise, people=people, sentence=sentence)

    @property
    def looked_at(self) -> str:
        """After the caption: of how many rows the charts speak, where it is not all of them."""
        return said.some_rows(self.as_is.n, self.case.table.rows) if self.partial else ""

    @property
    def partial(self) -> bool:
        """Whether the charts look at some of the rows alone."""
        return self.as_is.n < self.case.table.rows

    @property
    def draws(self) -> bool:
        """Whether the method in use names one column, rather than a mix of them."""
        return catalog()[self.main].about.release is not None

    def theory(self, view: View, extra: float) -> str:
        """What is proved of the method in use, beside what is true."""
        if self.draws or THEORY not in self.problem.methods:
            return said.theory_draw(PERCENT * view.at(THEORY_DRAW), extra)
        return said.theory_learner(PERCENT * view.at(THEORY))

    def compare(self, view: View) -> Sequence[Block]:
        """How often each method chooses each of the cheapest columns."""
        order = np.argsort(self.means, kind="stable")[:SHOWN]
        methods = [key for key in self.problem.methods if key in catalog()]
        laws = {key: self.law(key, view) for key in methods}
        name = catalog()[self.main].about.name
        right = float(laws[self.main][self.means == self.means.min()].sum())
        return [
            Text(
                said.which_one(
                    said.in_use_draw(name, right) if self.draws else said.in_use_learner(name, right, self.unit)
                )
            ),
            Picture(
                key="linear-chances",
                figure=lambda dark: chances(
                    words.labels([self.names[place] for place in order]),
                    {key: law[order] for key, law in laws.items()},
                    self.problem.labels,
                    colours(view.everything, dark),
                    dark=dark,
                ),
                alt=said.CHANCES_ALT,
            ),
        ]

    def how(self) -> Sequence[Block]:
        """The method in use, and what the textbook's learner really costs."""
        about = catalog()[self.main].about
        blocks: list[Block] = [
            Text(said.method_in_use(about)),
            Formula(latex=about.formula, source=about.source),
        ]
        if self.as_is.relation == "replace_one":
            account = printed_account(self.epsilon, self.problem.delta, self.problem.n)
            blocks += [
                Text(said.printed(account, self.problem.n, self.unit)),
                Formula(latex=r"\eta = \frac{\varepsilon}{\sqrt{32\,T \ln(1/\delta)}}", source=said.PRINTED_SOURCE),
            ]
        return blocks

    def on_axes(self, view: View) -> Sequence[Block]:
        """What is proved of the method in use against rows up to 10⁹, and what is true of these."""
        problem, columns = self.problem.central, float(self.problem.columns)
        longest = _longest(self.as_is)
        rows = np.union1d(np.rint(np.geomspace(10, longest, PLACES)), [view.size])
        made = self.case.memo(
            (*view.identity, "theory", self.main, self.epsilon),
            lambda: problem.evaluate(self.main, "excess", np.full(rows.size, self.epsilon), rows).value,
        )
        given = {"epsilon": self.epsilon, "beta": problem.beta}
        if self.draws:
            # a changed row moves a total of costs in [−1, 1] by 2, one more or less by 1 either way
            span = 2.0 if problem.relation == "replace_one" else 1.0
            theorem, settings = theorems()["selection_utility"], {**given, "k": columns, "sensitivity": span, "c": 2.0}
        else:
            theorem, settings = theorems()["11.6"], {**given, "columns": columns, "delta": problem.delta}
        return Promise(
            key="linear-theory",
            theorem=theorem,
            axis="rows",
            x=along(10.0, max(MOST_ROWS_PROMISED, view.size)),
            settings=settings,
            chosen=view.size,
            truth=PERCENT * view.at(self.main),
            truth_name=theory_said.AVERAGE,
            exact=(Line(key="here", name=theory_said.AVERAGE, x=rows, values=PERCENT * made),),
            x_title=theory_said.rows(words.many(self.unit)),
            y_title=theory_said.EXTRA,
            unit=said.EXTRA_UNIT,
            factor=PERCENT,
            share=self.draws,
        ).blocks()

    def one_row(self) -> Sequence[Block]:
        """Two worlds that differ in one row."""
        costed = one_row.Costed(names=self.names, costs=self.problem.costs, unit=self.unit, times=self.times)
        return one_row.blocks(self.case, self.read, costed, self.problem.method(self.main, self.epsilon))

    def what_if(self, view: View, extra: float) -> Sequence[Block]:
        """More or fewer rows, and scenarios."""
        least, changed = view.needed().epsilon, self.times != 1.0
        return [
            Text(said.what_if(changed)),
            Ask((self.factor,)),
            Undo(label=said.BACK, controls=(self.factor,), enabled=changed),
            Keep(
                current=(
                    ("ε", words.number(self.epsilon)),
                    (view.size_word, words.whole(self.problem.n)),
                    ("columns", str(self.problem.columns)),
                    ("method", self.problem.labels[self.main]),
                    ("extra cost", said.percent(extra)),
                    ("ε needed", "none" if least is None else words.number(least)),
                )
            ),
        ]

    def offer(self) -> Offer | NoOffer:
        """The release of the method that was chosen, about the data as they are."""
        source, about = self.case.source, catalog()[self.main].about
        if about.release is None:
            nearest = about.nearest or FIRST
            other = catalog()[nearest].about.name
            return NoOffer(
                sentence=said.no_release(about.name, other),
                instead=("linear_method", nearest, said.use(other)),
            )
        obstacle = source.obstacle(*self.names)
        if obstacle or source.rows is None or source.declared is None:
            return NoOffer(sentence=obstacle or source.unreleased)
        request = fixed_choice_request(
            source.declared,
            self.names,
            epsilon=self.epsilon,
            neighbours=self.as_is.relation,
            rule=about.release,
        )
        if isinstance(request, str):
            return NoOffer(sentence=request)
        if source.public:
            key = ("fixed choice forecast", self.case.table.fingerprint, request)
            right, above = self.case.memo(key, lambda: expected(request, self.case.read(request)))
            forecast = said.forecast(right, above, self.case.table.rows, self.unit)
        else:
            forecast = said.forecast_bound(request.error_bound(LIKELY).number, LIKELY)
        return Offer(
            request=request,
            data=source.rows,
            forecast=forecast,
            describe=said.answer,
            gives=said.gives(request.columns),
            relation=RELATION,
        )


def _longer(problem: LinearProblem, times: float) -> LinearProblem:
    """The same question with ``times`` as many rows like these: the first of them, or all of them again."""
    if times == 1.0:
        return problem
    return replace(problem, costs=np.resize(problem.costs, (round(problem.n * times), problem.columns)))


def _at_most(rows: int, columns: int) -> int:
    """As many rows as make no more work than ``rows`` of few columns."""
    return max(2, rows * MOST_COLUMNS // max(MOST_COLUMNS, columns))


def _longest(problem: LinearProblem) -> int:
    """Rows that a table is repeated to."""
    return max(problem.n, _at_most(MOST_REPEATED, problem.columns))
