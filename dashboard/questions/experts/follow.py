"""Whom should we follow, round after round, without revealing any single round?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import numpy as np

from dashboard import words
from dashboard.blocks import Text
from dashboard.case import Case
from dashboard.charts.tradeoff import Scale
from dashboard.controls import Read
from dashboard.question import Need, NoOffer, Offer, Outcomes, Question, Tab, Way, Work
from dashboard.questions.experts import beside
from dashboard.questions.experts import follow_controls as controls
from dashboard.questions.experts import follow_tabs as tabs
from dashboard.questions.experts.follow_controls import NON_PRIVATE
from dashboard.questions.experts.follow_setting import Setting
from dashboard.questions.experts.followed import followed
from dashboard.view import Most, Needed, View, axis_control, needed_most
from dashboard.ways import fitting, way
from dashboard.words import as_written, change_one, number
from dashboard.words import follow as said
from dashboard.words import promise as theory_said
from dpcore.datasets import Schema
from dpcore.experts import catalog
from dpcore.experts.strategy import ASSUMPTIONS
from dpcore.tradeoff import share_above

PAGE = "experts"
TABS = (
    ("run", said.ONE_RUN),
    ("what_if", said.WHAT_IF),
    ("compare", said.COMPARE),
    ("theory", theory_said.TITLE),
    ("one_day", change_one.DAY_TITLE),
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
        found = []
        for suited in fitting(schema, "experts", "forecasts", "values"):
            lead = suited.columns[0][1][0]
            asked = way(suited, lead, experts_question=cls.key)
            if suited.kind == "forecasts":  # whoever clicks says that this column is what happened
                asked = replace(asked, own={"experts_kind": "squared", "experts_outcome": lead})
            found.append(asked)
        return found

    @classmethod
    def ask(cls, case: Case, read: Read) -> Question:
        return _question(Setting.of(case, followed(case, read), read))


def _question(setting: Setting) -> Question:
    view, offer, whom = _view(setting), setting.offer(), setting.whom
    axis = setting.read(axis_control(view), "axis") if setting.large else view.first
    works = beside.works(view, setting.problem, setting.seed, axis) if setting.large else ()
    view = replace(view, empty=not setting.case.complete.issuperset(work.slot for work in works))
    if setting.waits:
        return _waiting(setting, view, offer, works)
    law, best = setting.weights()[-1], setting.best
    lost = view.at(setting.main)
    return Question(
        key=PAGE,
        sentence=said.sentence(whom.group, whom.unit),
        headline=(
            said.headline_regret(setting.epsilon, 100 * lost, 100 * setting.target, 100 * setting.at_random, whom.units)
            if setting.metric == "regret_per_round"
            else said.headline_total(setting.epsilon, lost, setting.target, setting.problem.n, whom.unit)
        )
        + _lose_more(setting, view, lost),
        caption=_caption(setting, view),
        view=view,
        need=Need(
            control=setting.need,
            found=None if setting.case.brief else _needed(setting, view),
            hint="" if setting.case.brief else _hint(setting, view, lost),
            simulated=whom.scenario is not None,
        ),
        outcomes=Outcomes(
            names=whom.losses.names,
            chances=law.tolist(),
            good=[place == best for place in range(law.size)],
            what=said.last_plays(whom.unit),
            then=said.NEXT.format(words.safe(whom.unit, 40)),
            place=lambda answer: place_of(whom.losses.names, answer["experts"][answer["plays"][-1]]),
        ),
        protected=_protected(setting, offer),
        tabs=tuple(
            Tab(key=key, title=title, blocks=blocks)
            for (key, title), blocks in zip(
                TABS,
                (
                    lambda: tabs.one_run(setting),
                    lambda: tabs.what_if(setting, view),
                    lambda: tabs.compare(setting),
                    lambda: tabs.theory(setting),
                    lambda: tabs.two_worlds(setting),
                ),
                strict=True,
            )
        ),
        uncertain=setting.uncertain(1.0 - float(law[best]), _price(view, setting.main)),
        offer=offer,
        notes=tuple(_notes(setting)),
        works=works,
        follows=not setting.large and setting.main not in _simulated(),
    )


def _price(view: View, main: str) -> str:
    """What privacy costs, in points per 100 rounds: the difference of what is written of both."""
    private, learnt = (as_written(100.0 * view.at(method, "regret_per_round")) for method in (main, NON_PRIVATE))
    return number(max(private - learnt, 0.0))


def _needed(setting: Setting, view: View) -> Needed:
    """What is enough on average, and for 9 of 10 runs where it is shown how these differ."""
    found = replace(view.needed(), average=True)
    if not setting.problem.band:
        return found
    most = Most(answers=said.RUNS, epsilon=needed_most(view), found=said.MOST_FOUND)
    return replace(found, most=most)


def _lose_more(setting: Setting, view: View, lost: float) -> str:
    """How many runs lose more than what is accepted, where it is shown how these differ: by the exact variance and the
    normal approximation, as the band."""
    high = float(view.chosen("epsilon")["high"].iloc[0]) if setting.problem.band else lost
    if high <= lost:
        return ""
    share = share_above(setting.target, lost, high, setting.problem.band)
    return said.lose_more(share, setting.target * view.scale.factor, within=lost <= setting.target)


def _waiting(setting: Setting, view: View, offer: Offer | NoOffer, works: tuple[Work, ...]) -> Question:
    """The question before anything is evaluated: all that can be set, and what is declared."""
    whom, problem = setting.whom, setting.problem
    over = beside.HEAD in setting.case.finished
    waiting = said.STOPPED if over else said.WAITING

    def tab(key: str, title: str) -> Tab:
        return Tab(key=key, title=title, blocks=lambda: (Text(waiting),))

    return Question(
        key=PAGE,
        sentence=said.sentence(whom.group, whom.unit),
        headline=said.headline_waiting(setting.epsilon, problem.experts, problem.n, whom.units),
        caption=" ".join([*([whom.caution] if whom.caution else []), waiting]),
        view=view,
        need=Need(control=setting.need, found=None, waiting=waiting, simulated=whom.scenario is not None),
        protected=_protected(setting, offer),
        tabs=tuple(tab(*one) for one in TABS),
        offer=offer,
        notes=tuple(_notes(setting)),
        works=works,
    )


def _protected(setting: Setting, offer: Offer | NoOffer) -> words.LabelCard:
    whom, request = setting.whom, offer.request if isinstance(offer, Offer) else None
    delta = getattr(request, "delta", 0.0 if setting.strategy.cost.delta == 0.0 else setting.problem.delta)
    return words.LabelCard(
        neighbours="replace_one",
        epsilon=setting.epsilon,
        delta=delta,
        unit=whom.unit,
        who=said.hidden(whom.unit),
        not_protected=said.not_hidden(whom.units),
    )


def _view(setting: Setting) -> View:
    problem, units = setting.problem, setting.whom.units
    widest = replace(problem, assumption="independent", band=0.0)
    return View(
        page=PAGE,
        problem=problem,
        identity=setting.identity,
        memo=setting.case.memo,
        metric=setting.metric,
        scale=(
            Scale(title=said.regret_title(units), factor=100.0, unit=said.regret_unit(units))
            if setting.metric == "regret_per_round"
            else Scale(title=said.TOTAL_TITLE, unit=said.TOTAL_UNIT)
        ),
        names=problem.labels,
        methods=list(setting.drawn),
        everything=list(widest.methods),
        main=setting.main,
        epsilon=setting.epsilon,
        target=setting.target,
        size_word=units,
        size_title=said.size_title(units),
        sizes=(
            float(max(10, problem.n // 20)),
            float(min(problem.longest_for(*setting.drawn), problem.n * 5, 10**6)),
        ),
        mark=None if setting.whom.scenario is not None else setting.case.source.mark,
        band=said.BAND if problem.band else "",
        textbook="textbook" if "textbook" in setting.drawn else "",
        compares=setting.case.source.public or setting.whom.scenario is not None,
        unprotected=NON_PRIVATE,
        code=_code(setting),
        extra={"whom": (said.WHOM, lambda: tabs.whom(setting))},
    )


def _caption(setting: Setting, view: View) -> str:
    whom, problem = setting.whom, setting.problem
    promise = problem.promise("theory", setting.epsilon)
    lost = 100 * view.at(setting.main, "regret_per_round")
    parts = [
        *([whom.caution] if whom.caution else []),
        said.caption(
            experts=problem.experts,
            rounds=problem.n,
            unit=whom.unit,
            best=whom.losses.names[setting.best],
            own=100 * setting.own,
            at_random=100 * setting.at_random,
            learnt=100 * view.at(NON_PRIVATE, "regret_per_round"),
            point=said.point(whom.losses.meaning, whom.unit),
        ),
        *([said.caption_simulated_strategy(problem.labels[setting.main])] if setting.main in _simulated() else []),
        said.theory(100 * promise.per_round, lost, promise.vacuous, whom.unit),
    ]
    return " ".join(parts)


def _hint(setting: Setting, view: View, lost: float) -> str:
    """What else keeps to the target at this ε, where the strategy in use does not. Not on a person's own data: a choice
    that is made by results tells something of them."""
    if not (setting.case.source.public or setting.whom.scenario is not None):
        return ""
    if lost <= setting.target or setting.metric != "regret_per_round":
        return ""
    widest = replace(setting.problem, assumption="independent", band=0.0)
    here = np.array([setting.epsilon]), np.array([float(widest.n)])
    found = []
    for key, kind in catalog().items():
        if kind.about.release is None or key == setting.main:
            continue
        value = setting.case.memo(
            (*setting.identity, "hint", key, setting.epsilon),
            partial(controls.one_value, widest, key, setting.metric, *here),
        )
        if value <= setting.target:
            allowed = ASSUMPTIONS.index(kind.assumption) <= ASSUMPTIONS.index(setting.problem.assumption)
            found.append((not allowed, value, key))
    if not found:
        return ""
    wider, value, key = min(found)
    assumption = catalog()[key].assumption if wider else None
    return said.hint(catalog()[key].about.name, 100 * value, assumption, setting.whom.units)


def _notes(setting: Setting) -> list[str]:
    problem, units = setting.problem, setting.whom.units
    return [
        said.longer(setting.whom.scenario is not None, problem.n, units),
        *(
            said.left_out(name, problem.experts, problem.longest_for(key), problem.n, units)
            for key, name in problem.too_large.items()
        ),
    ]


def _code(setting: Setting) -> str | None:
    """Python that computes the chart, where the losses are simulated."""
    scenario, problem = setting.whom.scenario, setting.problem
    if scenario is None:
        return None
    return said.code_story(scenario, problem.n, problem.delta, problem.assumption)


def _simulated() -> set[str]:
    """Strategies whose losses are found by simulation."""
    return {key for key, kind in catalog().items() if hasattr(kind, "largest")}


def place_of(names: Sequence[str], name: str) -> int | None:
    """Which of the experts drawn is called so."""
    return list(names).index(name) if name in names else None
