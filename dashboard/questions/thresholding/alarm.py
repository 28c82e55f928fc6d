"""Which is the first to reach the line? A private alarm over counts per day, per group, or a column in order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from dashboard import words
from dashboard.case import Case
from dashboard.charts.theme import ending_colours
from dashboard.controls import Choice, Read
from dashboard.question import BRIEF, Better, CannotAsk, Need, Outcomes, Question, Tab, Way
from dashboard.questions.thresholding import alarm_controls as controls
from dashboard.questions.thresholding import alarm_tabs as tabs
from dashboard.questions.thresholding import known_mistakes
from dashboard.questions.thresholding.alarm_controls import METHODS, NAMES, ON_TIME, SCALES
from dashboard.questions.thresholding.alarm_setting import Setting, ending_of
from dashboard.questions.thresholding.watched import LONGEST, Watched, names_of, offered, series_of
from dashboard.view import View
from dashboard.ways import fitting
from dashboard.words import alarm as said
from dashboard.words import change_one
from dashboard.words import promise as theory_said
from dpcore.datasets import Schema
from dpcore.thresholding.alarm_problem import THEORY

PAGE = "thresholding"
CLEARLY_BETTER = 0.05


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
                    open_ = schema.column(lead).moved is None and not schema.protects_rows
                    undeclared = one.kind == "column" and open_
                    found.append(
                        Way(
                            form=suited.kind,
                            sentence=said.way(schema, one.kind, one.column, one.yes),
                            sets={"series": one},
                            about=one.columns,
                            lacking=suited.lacking or (said.lacking(lead) if undeclared else ""),
                            fit=suited.fit,
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
            default=_first(case, possible),
            hide_label=True,
            width=280,
            linked=case.source.public,
            code=lambda one: one.code,
            once={said.once(one.kind, one.column, one.yes): one for one in possible},
        )
        watched = read(control, "sentence")
        if schema.each_row != "record" and case.lines > LONGEST:
            raise CannotAsk(said.too_long(case.lines, LONGEST))
        series = case.memo(("series", case.table.fingerprint, watched), lambda: series_of(case.table, watched))
        if isinstance(series, str):
            raise CannotAsk(series)
        return _question(Setting.of(case, watched, series, read), control)


def _first(case: Case, possible: Sequence[Watched]) -> Watched:
    """What is watched until somebody chooses: of a person's own data the first that is made of declared columns."""
    known = (one for one in possible if case.source.spoken.issuperset(one.columns))
    return possible[0] if case.source.public else next(known, possible[0])


def _question(setting: Setting, series: Choice[Watched]) -> Question:
    chances = setting.chances(setting.edited)
    view = _view(setting, chances)
    goal = controls.goal(setting.metric)
    crossing, (start, end) = setting.edited.crossing, setting.edited.window
    blind = (end - start) / setting.edited.answers.size
    promise, unit = view.at(THEORY, ON_TIME), setting.case.table.schema.unit
    return Question(
        key=PAGE,
        sentence=said.sentence(setting.series.step, setting.as_is.limit, setting.line, series),
        headline=said.headline(setting.epsilon, chances, crossing, blind, setting.target if goal == ON_TIME else None),
        caption=f"{said.whose(setting.series.step, words.many(unit))} "
        f"{said.caption(setting.series, crossing, end - 1, setting.edited.late_by, blind, promise)}",
        view=view,
        need=Need(control=setting.need, found=None)
        if setting.case.brief
        else Need(
            control=setting.need,
            found=view.needed(goal, setting.target),
            better=_better(setting, chances[ON_TIME]),
        ),
        outcomes=Outcomes(
            names=[said.ENDINGS[key] for key in chances],
            chances=list(chances.values()),
            good=[key == ON_TIME for key in chances],
            what=said.RUNS,
            then=said.WHEN_IT_RINGS,
            inks=lambda dark: [ending_colours(dark)[key] for key in chances],
            place=lambda answer: (
                list(chances).index(ending_of(answer["alarms"], crossing, end)) if setting.edited.limit == 1 else None
            ),
        ),
        protected=words.LabelCard(
            neighbours=setting.relation,
            epsilon=setting.epsilon,
            unit=unit,
            who=said.hidden(setting.relation, setting.series, unit) if setting.watched.kind == "column" else None,
            not_protected=said.NOT_PROTECTED,
        ),
        tabs=(
            Tab(key="how", title=said.HOW, blocks=lambda: tabs.how(setting)),
            Tab(key="what_if", title=said.WHAT_IF, blocks=lambda: tabs.what_if(setting, view, chances)),
            Tab(key="alpha", title=said.ALPHA, blocks=lambda: tabs.alpha(setting, view)),
            Tab(
                key="goes_wrong",
                title=said.MISTAKES,
                blocks=lambda: known_mistakes.blocks(setting.case, setting.read),
            ),
            Tab(key="one_person", title=change_one.TITLE, blocks=lambda: tabs.two_worlds(setting)),
            Tab(key="theory", title=theory_said.TITLE, blocks=lambda: tabs.theory(setting)),
            Tab(key="instead", title=said.INSTEAD, blocks=lambda: tabs.instead(setting)),
        ),
        uncertain=setting.uncertain(1.0 - chances[ON_TIME]),
        offer=BRIEF if setting.case.brief else setting.offer(setting.made(), series.name(setting.watched)),
        follows=True,
        notes=_notes(setting),
    )


def _view(setting: Setting, chances: Mapping[str, float]) -> View:
    as_it_was = (*setting.identity, 1.0)
    goal = controls.goal(setting.metric)
    return View(
        page=PAGE,
        problem=setting.edited,
        identity=(*setting.identity, setting.times),
        memo=setting.case.memo,
        metric=setting.metric,
        scale=SCALES[setting.metric],
        names=NAMES,
        methods=setting.edited.methods,
        everything=list(NAMES),
        main=setting.main,
        epsilon=setting.epsilon,
        target=setting.target if goal == setting.metric else None,
        ghost=setting.as_is if setting.changed else None,
        ghost_identity=as_it_was,
        mark=setting.case.source.mark,
        band=said.lines_note(bool(setting.as_is.band), unshaded=setting.unshaded),
        extra={"when": (said.WHEN, lambda: tabs.when(setting, chances))},
        first="when",
        about=setting.named,
        code=said.code(
            setting.edited.answers.tolist(),
            setting.edited.threshold,
            setting.edited.late_by,
            setting.edited.sensitivity,
            setting.edited.limit,
            setting.edited.monotonic,
            repr(setting.edited.units),
        ),
    )


def _notes(setting: Setting) -> tuple[str, ...]:
    """What a reader should mind."""
    found = []
    if not setting.series.stated:
        found.append(
            said.not_declared(setting.watched.column, setting.series.sensitivity, setting.case.table.schema.unit)
        )
    schema = setting.case.table.schema
    if schema.each_row == "step" and setting.watched.kind == "column" and not setting.case.source.public:
        found.append(said.FROM_THE_TOP)
    if setting.edited.crossing == 0:
        found.append(said.at_once(setting.series.step))
    return tuple(found)


def _better(setting: Setting, right: float) -> Better | None:
    """Another method does clearly better on these data, which everybody may see."""
    if not setting.case.source.public:
        return None
    others = {
        method: chance
        for method, chance in setting.on_time.items()
        if method != setting.main and METHODS[method].about.release is not None
    }
    best = max(others, key=others.__getitem__, default=None)
    if best is None or others[best] <= right + CLEARLY_BETTER:
        return None
    control, name = controls.method(setting.as_is.monotonic), METHODS[best].about.name
    told = said.better(NAMES[best], others[best], right)
    return Better(sentence=told, control=control.key, value=best, label=said.use(name))
