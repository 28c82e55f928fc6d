"""Which option is most common, or scores best?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from dashboard import words
from dashboard.case import Case
from dashboard.controls import Choice, Read
from dashboard.plan import RIGHT, PlanKind
from dashboard.question import BRIEF, CannotAsk, Need, Outcomes, Question, Tab, Way
from dashboard.questions.selection import most_common_tabs as tabs
from dashboard.questions.selection import rounding
from dashboard.questions.selection.candidates import candidates, columns
from dashboard.questions.selection.most_common_controls import METHODS, METRICS, NAMES
from dashboard.questions.selection.most_common_setting import Setting
from dashboard.view import View, scale_of
from dashboard.ways import fitting, way
from dashboard.words import change_one, promise
from dashboard.words import most_common as said
from dashboard.words.usual import BAND
from dpcore.datasets import Schema, Table
from dpcore.selection import MostCommon as Problem
from dpcore.tradeoff import epsilon_for

PAGE = "selection"
TEXTBOOK = "exponential"
MOST_OPTIONS = 20_000
"""Options that a page compares before the person who waits has gone."""


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
            default=case.source.first(offered),
            hide_label=True,
            width=220,
            linked=case.source.public,
        )
        name = read(column, "sentence")
        if schema.each_row == "option" and case.lines > MOST_OPTIONS:
            raise CannotAsk(said.too_many_options(name, case.lines, MOST_OPTIONS))
        as_is = candidates(case.table, name)
        if len(as_is.names) < 2:
            raise CannotAsk(said.one_option(name))
        if len(as_is.names) > MOST_OPTIONS:
            raise CannotAsk(said.too_many_options(name, len(as_is.names), MOST_OPTIONS))
        if as_is.counted and as_is.scores.sum() < 1:
            raise CannotAsk(said.nothing_there(name))
        setting = Setting.of(case, as_is, read)
        edited = float(setting.edited.scores.sum()) if setting.edited.counted and setting.scored_anew else None
        return _question(setting, said.sentence(case.table, column, name, edited, simulated=case.source.simulated))


def _question(setting: Setting, sentence: tuple[str | Choice[str], ...]) -> Question:
    view = _view(setting)
    law = setting.problem(setting.edited, setting.questions).law(setting.main, setting.epsilon)
    right = float(law[setting.edited.best].sum())
    headline = said.headline(view, setting.edited, right, setting.target if setting.metric == "success" else None)
    return Question(
        key="selection",
        sentence=sentence,
        headline=headline,
        caption=said.caption(view),
        uncertain=setting.uncertain(1.0 - right),
        view=view,
        need=Need(control=setting.need, found=None if setting.case.brief else view.needed()),
        outcomes=Outcomes(
            names=setting.edited.names,
            chances=law.tolist(),
            good=setting.edited.best.tolist(),
            place=lambda answer: place_of(setting.edited.names, answer),
            then=said.NEXT if setting.edited.counted else "",
        ),
        protected=words.LabelCard(
            neighbours=setting.relation, epsilon=setting.epsilon, unit=setting.case.table.schema.unit
        ),
        tabs=(
            Tab(key="how", title=said.HOW, blocks=lambda: tabs.how(setting, view)),
            Tab(key="what_if", title=said.WHAT_IF, blocks=lambda: tabs.what_if(setting, view, right)),
            Tab(key="compare", title=said.COMPARE, blocks=lambda: tabs.compare(setting, view)),
            Tab(key="one_person", title=change_one.TITLE, blocks=lambda: tabs.two_worlds(setting)),
            Tab(key="theory", title=promise.TITLE, blocks=lambda: tabs.theory(setting, view)),
            Tab(key="rounding", title=said.ROUNDING, blocks=lambda: rounding.blocks(setting.epsilon, setting.read)),
        ),
        offer=BRIEF if setting.case.brief else setting.offer(),
        follows=True,
    )


def _view(setting: Setting) -> View:
    settings = (setting.as_is.column, setting.relation, setting.beta, setting.sampling, setting.main)
    identity = ("most common", setting.case.table.fingerprint, *settings)
    edits = (setting.questions, *setting.edited.scores.tolist()) if setting.changed else ()
    return View(
        page=PAGE,
        problem=setting.problem(setting.edited, setting.questions),
        identity=(*identity, edits),
        memo=setting.case.memo,
        metric=setting.metric,
        scale=scale_of(METRICS[setting.metric], words.visible(setting.as_is.unit, 20)),
        names=NAMES,
        methods=list(NAMES),
        everything=list(NAMES),
        main=setting.main,
        epsilon=setting.epsilon,
        target=setting.target,
        size_word=setting.as_is.unit if setting.as_is.counted else "people",
        ghost=setting.problem(setting.as_is, 1) if setting.changed else None,
        ghost_identity=(*identity, ()),
        mark=setting.case.source.mark,
        band=BAND if setting.sampling and setting.edited.counted else "",
        code=said.code(setting.as_is.scores.tolist(), setting.relation),
        plain=METHODS[setting.main].about.plain,
        textbook=TEXTBOOK,
        compares=setting.case.source.public,
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
