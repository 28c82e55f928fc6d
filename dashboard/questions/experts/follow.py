"""Whom should we follow, round after round, without revealing any single round?"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import numpy as np
import pandas as pd

from dashboard import words
from dashboard.blocks import Ask, Block, Download, Formula, Keep, Note, Picture, Rows, Small, Tab, Text
from dashboard.case import Case
from dashboard.charts.experts import life, ribbon
from dashboard.charts.tradeoff import Scale
from dashboard.controls import Choice, Number, Read, Several, Switch, slug
from dashboard.question import Need, NoOffer, Offer, Outcomes, Question, Uncertain, Way
from dashboard.questions.experts import one_day, other_rounds, regret_theory
from dashboard.questions.experts.follow_request import LIKELY, Publish, chance_right, expected_regret, plays_request
from dashboard.questions.experts.followed import Followed, followed
from dashboard.usual import SEED
from dashboard.usual import delta as usual_delta
from dashboard.view import View
from dashboard.ways import fitting, way
from dashboard.words import change_one
from dashboard.words import follow as said
from dashboard.words import promise as theory_said
from dpcore.datasets import PrivateRows, Schema
from dpcore.datasets.text import safe_csv
from dpcore.experts import ExpertsProblem, Strategy, catalog, running_regret
from dpcore.experts.experts_problem import THEORIES
from dpcore.experts.strategy import ASSUMPTIONS, Assumption
from dpcore.ledger import Receipt
from dpcore.releases.plays import PrivatePlays
from dpcore.validate import FloatArray

PAGE = "experts"
NON_PRIVATE = "non_private"
DRAWN = ("textbook", "weighted_majority", "batched", "doubling_leader", NON_PRIVATE, "theory")
FIRST: dict[Assumption, str] = {
    "any": "weighted_majority",
    "oblivious": "batched",
    "independent": "doubling_leader",
}
"""The strategy in use until another is chosen: what can be released under each assumption."""
DELTAS = (1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4)
LONGEST_RUN = 20_000
MOST_SHOWN = 400
MOST_FOLLOWED = 200_000
"""Losses up to which every step of the ε scale is computed before it is asked for."""
OWN_REGRET = 0.05
"""Points a round more than the best expert that a person accepts of their own data until they say."""

ASSUME: Choice[Assumption] = Choice(
    key="assumption",
    label=said.ASSUME,
    help=said.ASSUME_HELP,
    options=ASSUMPTIONS,
    names=lambda one: said.ASSUMED[one],
    default="oblivious",
    look="buttons",
    once={"outcomes do not react to whom we follow": "oblivious"},
)
METRIC = Choice(
    key="experts_metric",
    label=said.MEASURE,
    options=tuple(said.METRICS),
    names=said.METRICS,
    default="regret_per_round",
    look="buttons",
    once=said.METRICS_ONCE,
)
BAND = Switch(key="experts_band", label=said.BAND_CONTROL, default=True)
PUBLISH: Choice[Publish] = Choice(
    key="experts_publish",
    label=said.PUBLISH,
    options=("plays", "from_now_on"),
    names=lambda one: said.PUBLISHED[one],
    default="plays",
    look="buttons",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Follow:
    """The question as a plug-in."""

    key: ClassVar[str] = "follow"
    title: ClassVar[str] = said.TITLE
    rank: ClassVar[int] = 10
    once: ClassVar[tuple[str, ...]] = ("Whom to follow",)

    @classmethod
    def ways(cls, schema: Schema) -> Sequence[Way]:
        return [
            way(suited, suited.columns[0][1][0], experts_question=cls.key)
            for suited in fitting(schema, "experts", "forecasts", "values")
        ]

    @classmethod
    def ask(cls, case: Case, read: Read) -> Question:
        return _Setting.of(case, followed(case, read), read).question()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Setting:
    """The experts, everything that was chosen, and what follows from it."""

    case: Case
    read: Read
    whom: Followed
    problem: ExpertsProblem
    metric: str
    main: str
    method: Choice[str]
    drawn: tuple[str, ...]
    seed: int
    publish: Publish
    need: Number
    target: float

    @classmethod
    def of(cls, case: Case, whom: Followed, read: Read) -> _Setting:
        assumption = read(ASSUME)
        delta = read(usual_delta(case, "experts_delta", said.DELTA, DELTAS, said.DELTA_HELP))
        metric, band = read(METRIC), read(BAND)
        problem = ExpertsProblem(
            losses=whom.losses.values,
            delta=delta,
            assumption=assumption,
            scenario=whom.scenario,
            band=0.8 if band else 0.0,
        )
        strategies = tuple(key for key in problem.methods if key not in THEORIES and key != NON_PRIVATE)
        method = Choice(
            key=slug("experts_method", assumption),
            label=said.STRATEGY,
            options=strategies,
            names={key: said.method(catalog()[key].about) for key in strategies},
            default=FIRST[assumption],
            once={catalog()[key].about.name: key for key in strategies},
        )
        main = read(method)
        beside = Several(
            key=slug("experts_drawn", assumption),
            label=said.DRAWN,
            options=problem.methods,
            names=lambda key: problem.labels[key],
            default=tuple(key for key in problem.methods if key in DRAWN),
        )
        shown = read(beside)
        seed = int(read(SEED))
        need = _need(case, whom, problem, metric)
        return cls(
            case=case,
            read=read,
            whom=whom,
            problem=problem,
            metric=metric,
            main=main,
            method=method,
            drawn=tuple(key for key in problem.methods if key in shown or key == main),
            seed=seed,
            publish=read(PUBLISH, "tab"),
            need=need,
            target=read(need, "need") / (100.0 if metric == "regret_per_round" else 1.0),
        )

    @property
    def epsilon(self) -> float:
        return self.case.epsilon

    @property
    def losses(self) -> FloatArray:
        return self.whom.losses.values

    @property
    def identity(self) -> tuple[object, ...]:
        return ("experts", *self.whom.key, self.problem.assumption, self.problem.delta, self.problem.band)

    @property
    def strategy(self) -> Strategy:
        return self.problem.strategy(self.main, self.epsilon)

    @property
    def best(self) -> int:
        """The expert with the fewest losses in all."""
        return int(np.argmin(self.losses.sum(axis=0)))

    @property
    def own(self) -> float:
        """Points per round that the best expert loses itself."""
        return float(self.losses[:, self.best].mean())

    @property
    def at_random(self) -> float:
        """Points per round more than the best, when one is picked at random each time."""
        return float(self.losses.mean()) - self.own

    def weights(self) -> FloatArray:
        """The chance of each expert over time, at most 400 rounds, the last one among them."""
        made = partial(_thinned, self.strategy, self.losses)
        return self.case.memo((*self.identity, "weights", self.main, self.epsilon), made)

    def view(self) -> View:
        problem, units = self.problem, self.whom.units
        widest = replace(problem, assumption="independent", band=0.0)
        return View(
            page=PAGE,
            problem=problem,
            identity=self.identity,
            memo=self.case.memo,
            metric=self.metric,
            scale=(
                Scale(title=said.regret_title(units), factor=100.0, unit=said.regret_unit(units))
                if self.metric == "regret_per_round"
                else Scale(title=said.TOTAL_TITLE, unit=said.TOTAL_UNIT)
            ),
            names=problem.labels,
            methods=list(self.drawn),
            everything=list(widest.methods),
            main=self.main,
            epsilon=self.epsilon,
            target=self.target,
            size_word=units,
            size_title=said.size_title(units),
            sizes=(
                float(max(10, problem.n // 20)),
                float(min(problem.longest_for(*self.drawn), problem.n * 5, 10**6)),
            ),
            mark=None if self.whom.scenario is not None else self.case.source.mark,
            band=said.BAND if problem.band else "",
            code=self.code(),
            extra={"whom": (said.WHOM, self.ribbon)},
        )

    def question(self) -> Question:
        view, offer, whom = self.view(), self.offer(), self.whom
        law = self.weights()[-1]
        lost = view.at(self.main)
        request = offer.request if isinstance(offer, Offer) else None
        delta = getattr(request, "delta", 0.0 if self.strategy.cost.delta == 0.0 else self.problem.delta)
        return Question(
            key=PAGE,
            sentence=said.sentence(whom.group, whom.unit),
            headline=(
                said.headline_regret(self.epsilon, 100 * lost, 100 * self.target, 100 * self.at_random, whom.units)
                if self.metric == "regret_per_round"
                else said.headline_total(self.epsilon, lost, self.target, self.problem.n, whom.unit)
            ),
            caption=self.caption(view),
            view=view,
            need=Need(
                control=self.need,
                found=None if self.case.brief else view.needed(),
                hint="" if self.case.brief else self.hint(view, lost),
                simulated=whom.scenario is not None,
            ),
            outcomes=Outcomes(
                names=whom.losses.names,
                chances=law.tolist(),
                good=[place == self.best for place in range(law.size)],
                what=said.last_plays(whom.unit),
                place=lambda answer: place_of(whom.losses.names, answer["experts"][answer["plays"][-1]]),
            ),
            protected=words.LabelCard(
                neighbours="replace_one",
                epsilon=self.epsilon,
                delta=delta,
                who=said.hidden(whom.unit),
                not_protected=said.not_hidden(whom.units),
            ),
            tabs=(
                Tab(key="run", title=said.ONE_RUN, blocks=self.one_run),
                Tab(key="what_if", title=said.WHAT_IF, blocks=lambda: self.what_if(view)),
                Tab(key="compare", title=said.COMPARE, blocks=self.compare),
                Tab(key="theory", title=theory_said.TITLE, blocks=self.theory),
                Tab(key="one_day", title=change_one.DAY_TITLE, blocks=self.one_day),
            ),
            uncertain=self.uncertain(1.0 - float(law[self.best])),
            offer=offer,
            notes=tuple(self.notes()),
            follows=self.losses.size <= MOST_FOLLOWED and self.main not in _simulated(),
        )

    def uncertain(self, noise: float) -> Uncertain | None:
        """Another expert at the end through noise, and how often another would be best had other rounds come.

        The rounds are drawn anew from these (bootstrap), as if each came for itself.
        """
        if not other_rounds.few_enough(self.losses):
            return None
        people = self.case.memo(
            (*self.identity, "other days", self.seed), partial(other_rounds.another_best, self.losses, self.seed)
        )
        learner = self.problem.strategy(NON_PRIVATE, self.epsilon)
        without = self.case.memo(
            (*self.identity, "learnt at the end"), lambda: 1.0 - float(learner.weights(self.losses)[-1][self.best])
        )
        return Uncertain(
            noise=noise,
            people=people,
            sentence=said.uncertain(noise, without, people, len(self.losses), self.whom.unit, other_rounds.DRAWS),
            names=said.unsure(self.whom.units),
        )

    def caption(self, view: View) -> str:
        whom, problem = self.whom, self.problem
        promise = problem.promise("theory", self.epsilon)
        lost = 100 * view.at(self.main, "regret_per_round")
        parts = [
            *([whom.caution] if whom.caution else []),
            said.caption(
                experts=problem.experts,
                rounds=problem.n,
                unit=whom.unit,
                best=whom.losses.names[self.best],
                own=100 * self.own,
                at_random=100 * self.at_random,
                learnt=100 * view.at(NON_PRIVATE, "regret_per_round"),
                point=said.point(whom.losses.meaning, whom.unit),
            ),
            *([said.caption_simulated_strategy(problem.labels[self.main])] if self.main in _simulated() else []),
            said.theory(100 * promise.per_round, lost, promise.vacuous, whom.unit),
        ]
        return " ".join(parts)

    def hint(self, view: View, lost: float) -> str:
        """What else keeps to the target at this ε, where the strategy in use does not."""
        if lost <= self.target or self.metric != "regret_per_round":
            return ""
        widest = replace(self.problem, assumption="independent", band=0.0)
        here = np.array([self.epsilon]), np.array([float(widest.n)])
        found = []
        for key, kind in catalog().items():
            if kind.about.release is None or key == self.main:
                continue
            value = self.case.memo(
                (*self.identity, "hint", key, self.epsilon),
                partial(_first, widest, key, self.metric, *here),
            )
            if value <= self.target:
                allowed = ASSUMPTIONS.index(kind.assumption) <= ASSUMPTIONS.index(self.problem.assumption)
                found.append((not allowed, value, key))
        if not found:
            return ""
        wider, value, key = min(found)
        assumption = catalog()[key].assumption if wider else None
        return said.hint(catalog()[key].about.name, 100 * value, assumption, self.whom.units)

    def notes(self) -> list[str]:
        problem, units = self.problem, self.whom.units
        return [
            said.longer(self.whom.scenario is not None, problem.n, units),
            *(
                said.left_out(name, problem.experts, problem.longest_for(key), problem.n, units)
                for key, name in problem.too_large.items()
            ),
        ]

    def ribbon(self) -> Picture:
        """Whom the strategy follows over time."""
        weights, names = self.weights(), self.whom.losses.names
        shown = [words.html(name) for name in names]
        return Picture(
            key="experts-ribbon",
            figure=lambda dark: ribbon(shown, weights, rounds=self.problem.n, time=self.whom.unit, dark=dark),
            alt=said.whom_alt(names[int(np.argmax(weights[-1]))]),
            data=lambda: pd.DataFrame(weights, columns=list(names)),
            note=said.WHOM_NOTE,
        )

    def one_run(self) -> Sequence[Block]:
        """Plays, losses and running regret of one simulated run, and how the strategy in use works."""
        about, values, names = catalog()[self.main].about, self.losses, self.whom.losses.names
        how: list[Block] = [Text(said.method_in_use(about))]
        formula = Formula(latex=about.formula, source=about.source)
        if len(values) > LONGEST_RUN:
            return [*how, Note(said.too_long(LONGEST_RUN, len(values), self.whom.units)), formula]
        key = (*self.identity, "run", self.main, self.epsilon, self.seed)
        plays, regret, expected = self.case.memo(key, partial(_run, self.strategy, values, self.seed))
        end, average, last = float(regret[-1]), float(expected[-1]), int(plays[-1])
        shown = [words.html(name) for name in names]
        return [
            *how,
            Picture(
                key="experts-life",
                figure=lambda dark: life(shown, plays, regret, expected, time=self.whom.unit, dark=dark),
                alt=said.run_alt(end, average),
                data=lambda: pd.DataFrame({"followed": [names[play] for play in plays], "lost_more": regret}),
                note=said.run_note(
                    self.seed, end, average, names[last], float(self.weights()[-1][last]), self.whom.unit
                ),
            ),
            formula,
        ]

    def what_if(self, view: View) -> Sequence[Block]:
        """Scenarios; the story itself is edited where the experts are chosen."""
        least = view.needed().epsilon
        return [
            Text(said.what_if(self.whom.scenario is not None)),
            Keep(
                current=(
                    ("ε", words.number(self.epsilon)),
                    (self.whom.units, words.whole(self.problem.n)),
                    ("experts", str(self.problem.experts)),
                    ("strategy", self.problem.labels[self.main]),
                    (view.scale.title, words.number(view.at(self.main) * view.scale.factor)),
                    ("ε needed", "none" if least is None else words.number(least)),
                )
            ),
        ]

    def theory(self) -> Sequence[Block]:
        """The textbook's theorems against rounds up to 10⁶, and what its strategy and the one in use really lose."""
        name = catalog()[self.main].about.name
        return regret_theory.blocks(self.case, self.whom, self.problem, self.main, name, self.epsilon)

    def one_day(self) -> Sequence[Block]:
        """Two worlds that differ in one day."""
        return one_day.blocks(self.case, self.read, self.whom, self.problem, self.epsilon)

    def compare(self) -> Sequence[Block]:
        """Every strategy at the chosen ε, and what must hold for it to lose little."""
        problem, units = self.problem, self.whom.units
        widest = replace(problem, assumption="independent", band=0.0)
        here = np.array([self.epsilon]), np.array([float(problem.n)])
        columns = said.compared_columns(units)
        rows: list[tuple[float, tuple[str, ...]]] = [
            (0.0, (said.BEST_ROW, "0", "", "", "")),
            (self.at_random, (said.RANDOM_ROW, words.number(100 * self.at_random), "", "", "")),
        ]
        for key, kind in catalog().items():
            if key not in widest.methods:
                continue
            lost = self.case.memo(
                (*self.identity, "compared", key, self.epsilon),
                partial(_first, widest, key, "regret_per_round", *here),
            )
            private = said.NOT_PRIVATE if key == NON_PRIVATE else said.RELEASED[kind.about.release is not None]
            about = kind.about
            row = (about.name, words.number(100 * lost), said.GOOD_WHEN[kind.assumption], private, about.plain)
            rows.append((lost, row))
        frame = pd.DataFrame([row for _, row in sorted(rows, key=lambda one: one[0])], columns=list(columns))
        # Theorem 11.3's rate ε/√(32 T ln(1/δ)) passes the bound's own best √(ln k/T) here
        turn = math.sqrt(32 * math.log(1 / problem.delta) * math.log(problem.experts))
        return [
            Text(said.comparison(self.epsilon, problem.delta, units)),
            Rows(frame=frame, alt=said.COMPARED_ALT),
            *([Small(said.overshoot(turn))] if turn <= 100.0 else []),
        ]

    def offer(self) -> Offer | NoOffer:
        """The release of the strategy that was chosen, or of one expert to follow from now on."""
        source, reading = self.case.source, self.whom.reading
        if reading is None:
            return NoOffer(sentence=said.SIMULATED)
        about = catalog()[self.main].about
        if about.release is None and self.publish == "plays":
            other = about.nearest if about.nearest in self.method.options else FIRST[self.problem.assumption]
            name = catalog()[str(other)].about.name
            return NoOffer(sentence=said.no_release(about.name, name), instead=(self.method.key, other, said.use(name)))
        obstacle = source.obstacle(*reading.needed)
        if obstacle or source.rows is None or source.declared is None:
            return NoOffer(sentence=obstacle or source.unreleased)
        request = plays_request(
            source.declared,
            reading,
            rows=source.rows,
            epsilon=self.epsilon,
            delta=self.problem.delta,
            method=self.main,
            publish=self.publish,
        )
        if isinstance(request, str):
            return NoOffer(sentence=request)
        return Offer(
            request=request,
            data=source.rows,
            forecast="" if self.case.brief else self.forecast(request, source.rows if source.public else None),
            describe=said.answer,
            below=_plays,
            conclude=said.CONCLUDE,
            before=(Ask((PUBLISH,)),),
        )

    def forecast(self, request: PrivatePlays, rows: Callable[[], PrivateRows] | None) -> str:
        """How far off: by the law of the request on public ``rows``, else from declared numbers alone."""
        unit, key = self.whom.unit, ("plays forecast", *self.whom.key, request)
        if rows is None:
            bound = request.error_bound(LIKELY)
            if bound is None:
                return said.FORECAST_UNKNOWN
            if request.way == "from_now_on":
                return said.forecast_naming_bound(bound.number, LIKELY, request.rounds, unit)
            return said.forecast_bound(bound.number, request.rounds, unit)
        lost = self.case.memo(key, lambda: expected_regret(request, rows()))
        if request.way == "from_now_on":
            right = self.case.memo((*key, "right"), lambda: chance_right(request, rows()))
            return said.forecast_naming(right, lost, unit)
        drawn = self.problem.central.forecast(self.main, np.array([self.epsilon]), np.array([float(request.rounds)]))
        return said.forecast(lost, request.rounds, unit, float(drawn.regret[0]), request.touched)

    def code(self) -> str | None:
        """Python that computes the chart, where the losses are simulated."""
        scenario, problem = self.whom.scenario, self.problem
        if scenario is None:
            return None
        return said.code_story(scenario, problem.n, problem.delta, problem.assumption)


def _need(case: Case, whom: Followed, problem: ExpertsProblem, metric: str) -> Number:
    """What a person accepts; until they say so, what ``_usual`` says."""
    regret, total = _usual(case, whom, problem)
    if metric == "regret_per_round":
        key, label, low, high, default = "regret", said.need_regret(whom.units), 0.001, 100.0, 100 * regret
    else:
        key, label, low, high, default = "total", said.NEED_TOTAL, 0.001, 1e9, total * problem.n
    rounded = _up(min(max(default, low), high))
    return Number(
        key=slug("experts_target", key, case.source.key, whom.name),
        label=label,
        help=said.NEED_HELP,
        default=min(rounded, high),
        low=low,
        high=high,
        step=float(10.0 ** math.floor(math.log10(rounded))) / 2,
        linked=case.source.public,
    )


def _usual(case: Case, whom: Followed, problem: ExpertsProblem) -> tuple[float, float]:
    """What to accept at first, a round: more than the best expert, and in all.

    For data that everybody may see, half of what learning gains over picking at random. A person's own file says
    nothing here: a number that a page begins with must not come from it.
    """
    if whom.reading is not None and not case.source.public:
        return OWN_REGRET, 0.5
    losses = whom.losses.values
    own = float(losses.sum(axis=0).min()) / problem.n
    at_random = float(losses.mean()) - own
    here = np.array([1.0]), np.array([float(problem.n)])
    learnt = case.memo(
        ("experts", *whom.key, "learnt"), partial(_first, problem.central, NON_PRIVATE, "regret_per_round", *here)
    )
    accepted = max((learnt + at_random) / 2, 1.1 * learnt, 1e-4)
    return accepted, own + accepted


def _up(value: float) -> float:
    """To two digits, upwards."""
    unit = 10.0 ** (math.floor(math.log10(value)) - 1)
    return float(f"{math.ceil(value / unit - 1e-9) * unit:.12g}")


def _simulated() -> set[str]:
    """Strategies whose losses are found by simulation."""
    return {key for key, kind in catalog().items() if hasattr(kind, "largest")}


def _first(problem: ExpertsProblem, key: str, metric: str, epsilon: FloatArray, n: FloatArray) -> float:
    return float(problem.evaluate(key, metric, epsilon, n).value[0])


def _run(strategy: Strategy, values: FloatArray, seed: int) -> tuple[np.ndarray, FloatArray, FloatArray]:
    """One simulated run: the plays, its running regret, and the average of that over runs."""
    plays = strategy.play(values, np.random.Generator(np.random.PCG64(seed)))
    suffered = np.cumsum((strategy.weights(values) * values).sum(axis=1))
    best = np.cumsum(values, axis=0, dtype=np.float64).min(axis=1)
    return plays, running_regret(values, plays), suffered - best


def _thinned(strategy: Strategy, losses: FloatArray) -> FloatArray:
    weights = strategy.weights(losses)
    places = np.unique(np.linspace(0, len(weights) - 1, min(len(weights), MOST_SHOWN)).astype(int))
    return np.asarray(weights[places])


def place_of(names: Sequence[str], name: str) -> int | None:
    """Which of the experts drawn is called so."""
    return list(names).index(name) if name in names else None


def _plays(receipt: Receipt) -> Sequence[Block]:
    """The plays as a table, and as a CSV with the receipt's number in it."""
    found = receipt.answer
    frame = pd.DataFrame(
        {
            said.FROM_ROUND: [start + 1 for start in found["starts"]],
            said.FOLLOW: [found["experts"][play] for play in found["plays"]],
        }
    )
    table = [Rows(frame=frame, alt=said.PLAYS_ALT)] if len(frame) > 1 else []
    signed = frame.assign(receipt=receipt.journal_hash)
    return [
        *table,
        Download(
            label=said.PLAYS_FILE,
            data=lambda: safe_csv(signed).encode("utf-8-sig"),
            name=f"plays-{receipt.request_id[:8]}.csv",
        ),
    ]
