"""A question and what was found of it, as a section of a report: a function of the question and of its source alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from dashboard import words
from dashboard.blocks import Small, Text
from dashboard.case import Source
from dashboard.charts.svg import HEIGHT
from dashboard.controls import Choice, Control, Group, Number, Numbers, Several, Switch
from dashboard.question import Piece, Question
from dashboard.report import label, text
from dashboard.report.drawing import drawn
from dashboard.report.value import Drawing, Facts, Grid, Heading, Line, Listing, Paragraph, Part, Run, Section
from dashboard.view import EPSILON_HIGH, View
from dashboard.words import needs, promise, usual
from dashboard.words import report as said
from dpcore.ledger.words import versions
from dpcore.tradeoff import sweep_epsilon

LEVELS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
MOST_METHODS = 5
MOST_ROWS = 9
LONGEST_TITLE = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """How a question came about: its page and key, the controls it read with their values, and Python for its data.

    ``delta`` is the δ that its release would ask for unless told otherwise, which decides what some controls begin at.
    ``data`` makes ``source``, a ``dashboard.case.Source``; empty where nothing can make these data again.
    """

    page: str
    key: str
    title: str
    epsilon: float
    delta: float
    controls: tuple[tuple[Control[Any], Any], ...]
    data: str

    def value(self, control: Control[Any]) -> Any:
        """What a control was set to."""
        return next((value for known, value in self.controls if known.key == control.key), control.default)


def has_trade_off(question: Question, axis: str) -> bool:
    """Whether the picture of a view that is not empty is the one against ε: at once, or because that one is shown."""
    return isinstance(question.view, View) or axis == "epsilon"


def analysis(question: Question, source: Source, asked: Asked) -> Section:
    """The section of one question, once everything it waits for is there."""
    frame = _frame(question, asked.epsilon)
    table, numbers = _table(question, frame, asked)
    odds = question.protected.odds
    numbers = (*numbers, *_needed_numbers(question), ("odds of 100", odds))
    kind = {"demo": "sample", "what_if": "what_if", "twin": "twin"}[source.mode]
    sentence = sentence_of(question.sentence, asked)
    parts: list[Part] = [
        Heading(said.VERDICT),
        Paragraph(text.line(question.headline), "large"),
        *text.parts(question.caption),
        *_needed(question, asked),
        Heading(said.PICTURE),
        drawing(question),
        Heading(said.TABLE),
        table,
        Heading(said.PROTECTED),
        *protected(question.protected),
        Heading(said.THEORY),
        *_theory(question),
        Heading(said.UNCERTAINTY),
        Listing(tuple(text.line(one) for one in _uncertainty(question, frame))),
        *_notes(question),
        Heading(said.METHOD),
        *_method(question, asked),
        Paragraph(text.line(made_with(versions())), "small"),
        Heading(said.LABEL),
        label.of_analysis(question, source, _columns(source, asked)),
    ]
    return Section(
        kind=kind,  # type: ignore[arg-type]
        key=f"{kind}:{asked.page}:{asked.key}:{sentence}:{asked.epsilon}:{hash_of(asked)}",
        title=sentence,
        parts=tuple(parts),
        numbers=numbers,
        code=code(asked, question) if asked.data else "",
        own=not source.public,
    )


def hash_of(asked: Asked) -> str:
    """Tells settings apart."""
    return repr(sorted((control.key, repr(value)) for control, value in asked.controls))


def sentence_of(pieces: Sequence[Piece], asked: Asked) -> str:
    """The question in words, with what was chosen in it."""
    found = []
    for piece in pieces:
        if isinstance(piece, str):
            found.append(piece)
        elif isinstance(piece, Group):
            found.append(piece.label)
        elif isinstance(piece, Choice):
            found.append(shown(piece, asked.value(piece)))
        elif isinstance(piece, Number):
            found.append(words.number(asked.value(piece)))
        else:
            found.append(piece.label)
    whole = " ".join(one.strip() for one in found if one.strip())
    return words.visible(whole.replace(" ?", "?").replace(" ,", ","), LONGEST_TITLE)


def shown(control: Control[Any], value: Any) -> str:
    """A control's value as a person set it."""
    if isinstance(control, Choice):
        return words.visible(str(control.name(value)), 120)
    if isinstance(control, Switch):
        return said.YES if value else said.NO
    if isinstance(control, Several):
        return ", ".join(words.shortened([str(control.names(one)) for one in value], 60)) or said.NONE
    if isinstance(control, Numbers):
        pairs = zip(words.shortened(control.names, 40), value, strict=True)
        return "; ".join(f"{name} {words.number(one)}" for name, one in pairs)
    if isinstance(control, Number):
        return f"{value:,.12g}"
    return words.visible(str(value), 200)


# -- numbers -----------------------------------------------------------------------------------------------------------


def levels(epsilon: float) -> list[float]:
    """The levels of the table, the chosen one among them."""
    return sorted({*LEVELS, epsilon})


def _frame(question: Question, epsilon: float) -> pd.DataFrame:
    """One row per method and ε of the table, with columns of ``dpcore.tradeoff.COLUMNS``."""
    view = question.view
    if isinstance(view, View):
        key = (*view.identity, "report", tuple(view.methods), view.metric, epsilon)
        swept = lambda: sweep_epsilon(  # noqa: E731 - what is remembered
            view.problem.central, levels(epsilon), methods=list(view.methods), metrics=[view.metric]
        )
        return view.memo(key, swept)
    data = view.picture("epsilon").data
    frame = data() if callable(data) else data
    if frame is None:
        raise ValueError("a trade-off's picture must come with its numbers")
    return frame


def _kinds(frame: pd.DataFrame) -> dict[str, str]:
    """Whether each method's numbers are exact, simulated or a theorem's bound."""
    first = frame.drop_duplicates("method")
    return {str(method): str(kind) for method, kind in zip(first["method"], first["kind"], strict=True)}


def methods(question: Question, frame: pd.DataFrame) -> list[str]:
    """The methods of the table: the one in use first, theorems last."""
    kinds = _kinds(frame)
    main = main_of(question)
    others = [key for key in kinds if key != main and kinds[key] != "bound"]
    bounds = [key for key in kinds if kinds[key] == "bound"]
    return [main, *others[: MOST_METHODS - 1 - len(bounds[:1])], *bounds[:1]]


def main_of(question: Question) -> str:
    """The key of the method in use."""
    view: Any = question.view
    return str(view.main)


def name_of(question: Question, method: str) -> str:
    view: Any = question.view
    return str(view.names[method])


def _table(question: Question, frame: pd.DataFrame, asked: Asked) -> tuple[Grid, tuple[tuple[str, float], ...]]:
    view: Any = question.view
    drawn = methods(question, frame)
    at = sorted(frame.loc[frame["method"] == drawn[0], "epsilon"].unique())
    if len(at) > MOST_ROWS:
        nearest = min(at, key=lambda level: abs(math.log(level / asked.epsilon)))
        at = sorted({*at[:: math.ceil(len(at) / (MOST_ROWS - 1))], nearest})
    rows, numbers = [], []
    for level in at:
        cells = []
        for method in drawn:
            found = frame.loc[(frame["method"] == method) & (frame["epsilon"] == level), "value"]
            if found.empty:
                cells.append("–")
                continue
            value = float(found.iloc[0])
            cells.append(cell(value * view.scale.factor, share=view.scale.hundred))
            numbers.append((number_name(method, level), value))
        rows.append((words.number(level), *cells))
    kinds = _kinds(frame)
    named = [name_of(question, key) for key in drawn]
    size = f"{words.whole(view.size)} {view.size_word}" if isinstance(view, View) else said.THESE_ROWS
    grid = Grid(
        head=(said.PRIVACY_LEVEL, *named),
        rows=tuple(rows),
        caption=said.table_caption(view.scale.title, size, {str(kinds[key]) for key in drawn}),
        marked=next((place for place, level in enumerate(at) if math.isclose(level, asked.epsilon)), None),
    )
    return grid, tuple(numbers)


def cell(shown: float, *, share: bool) -> str:
    """A number of the table; a share of 100 is never rounded to certainty or impossibility."""
    if share and 99.95 <= shown < 100.0 * (1 - 1e-12):
        return "> 99.9"
    return "< 0.1" if share and 0.0 < shown < 0.05 else words.number(shown)


def number_name(method: str, level: float) -> str:
    """What a number of the table is called in a script."""
    return f"{method} at ε = {level:.12g}"


def _needed_numbers(question: Question) -> tuple[tuple[str, float], ...]:
    found = question.need.found
    if found is None:
        return ()
    named = (
        ("smallest ε", found.epsilon),
        ("smallest ε for 9 of 10", None if found.most is None else found.most.epsilon),
        ("size needed", found.size if found.sized else None),
    )
    return tuple((name, float(value)) for name, value in named if value is not None)


# -- what is said ------------------------------------------------------------------------------------------------------


def _needed(question: Question, asked: Asked) -> list[Part]:
    need = question.need
    asked_for = shown(need.control, asked.value(need.control))
    rows: list[tuple[str, Line]] = [(said.NEEDED, text.words(f"{need.control.label}: {asked_for}"))]
    found = need.found
    if found is None:
        return [Facts(rows=(*rows, (said.SMALLEST, text.line(need.waiting))), caption=said.NEEDED)]
    least = found.epsilon
    if least is not None and least <= EPSILON_HIGH:
        rows.append((said.SMALLEST, text.words(words.number(least))))
    else:
        rows.append((said.SMALLEST, text.line(needs.told(found))))
    if found.most and found.epsilon is not None:
        surely = said.NOT_FOUND if found.most.epsilon is None else words.number(found.most.epsilon)
        rows.append((said.for_most(found.most.answers), text.words(surely)))
    if found.sized:
        size = said.NOT_FOUND if found.size is None else words.number(found.size)
        rows.append((said.size_needed(asked.epsilon, found.size_word), text.words(size)))
    hint = text.parts(need.hint, small=True) if need.hint else []
    return [Facts(rows=tuple(rows), caption=said.NEEDED), *hint]


def drawing(question: Question) -> Drawing:
    """The trade-off against ε with the chosen point, drawn from the figure of the page."""
    picture = question.view.picture("epsilon")
    return drawn(picture.figure(False), picture.alt, picture.note, height=HEIGHT)


def protected(card: words.LabelCard) -> list[Part]:
    """Who is protected in words and odds, and what is not."""
    return [
        *text.parts(card.protected),
        Listing(tuple(text.line(one) for one in card.lines())),
        Paragraph((Run(f"{said.NOT_PROTECTED}: ", strong=True), *text.line(f"{card.not_protected}."))),
    ]


def _theory(question: Question) -> list[Part]:
    """The words of the theorem's own tab: how loose it is, what it promises, when it holds."""
    found: list[Part] = []
    for tab in question.tabs:
        if tab.key == "theory":
            for block in tab.blocks():
                if isinstance(block, Text):
                    found += text.parts(_without_look(block.markdown))
                elif isinstance(block, Small):
                    found += text.parts(block.markdown, small=True)
    return found or [Paragraph(text.line(said.NO_THEOREM))]


def _without_look(markdown: str) -> str:
    """A theorem's words without the pointer to its own picture, which is not in the report."""
    told = markdown.removeprefix(promise.LOOK).strip()
    return told if told == markdown.strip() else told[:1].upper() + told[1:]


def _uncertainty(question: Question, frame: pd.DataFrame) -> list[str]:
    view: Any = question.view
    mine = frame[frame["method"] == main_of(question)]
    simulated = bool((mine["kind"] == "simulated").any())
    drawn = isinstance(view, View) and getattr(view.problem, "band", 0.0) > 0.0
    banded = drawn and usual.BAND in view.band
    return [
        said.SIMULATED if simulated else said.EXACT,
        *([said.RUNS] if drawn and not banded else []),
        said.SAMPLING_SHOWN if banded else said.SAMPLING_NOT_SHOWN,
        *([said.THEOREM] if bool((frame["kind"] == "bound").any()) else []),
    ]


def _notes(question: Question) -> list[Part]:
    return [Heading(said.NOTES), Listing(tuple(text.line(one) for one in question.notes))] if question.notes else []


def _method(question: Question, asked: Asked) -> list[Part]:
    """The method in words with its source, and every setting."""
    view: Any = question.view
    about = view.problem.abouts.get(view.main) if isinstance(view, View) else None
    found: list[Part] = [Paragraph((Run(name_of(question, main_of(question)), strong=True),))]
    if about is not None:
        found += [*text.parts(about.how), Paragraph(text.words(about.source), "small")]
    settings = {said.PRIVACY_LEVEL: words.amount(asked.epsilon)}
    for control, value in asked.controls:
        if control.label and control.key != question.need.control.key:
            settings.setdefault(words.visible(control.label, 120), shown(control, value))
    rows = tuple((name, text.words(value, limit=600)) for name, value in settings.items())
    return [*found, Facts(rows=rows, caption=said.METHOD)]


def made_with(found: dict[str, str]) -> str:
    named = ", ".join(f"{name} {version}" for name, version in found.items() if version[:1].isdigit())
    return f"**{said.MADE_WITH}:** {said.PRODUCT}, {words.safe(named, 400)}."


def _columns(source: Source, asked: Asked) -> tuple[str, ...]:
    """The columns of the table that the question is about, by what was chosen."""
    named: set[str] = set()
    for control, value in asked.controls:
        if isinstance(control, Choice | Several):
            named |= set(_names(value))
    return tuple(name for name in source.table.schema.names if name in named)


def _names(value: Any) -> Iterable[str]:
    if isinstance(value, str):
        return (value,)
    if isinstance(value, tuple):
        return tuple(one for one in value if isinstance(one, str))
    found: Callable[[], Any] | tuple[str, ...] = getattr(value, "columns", ())
    return found if isinstance(found, tuple) else ()


# -- computing it again ------------------------------------------------------------------------------------------------


def code(asked: Asked, question: Question) -> str:
    """Python that asks the question again and computes its numbers with the engine into ``found``."""
    settings = {control.key: control.written(value) for control, value in asked.controls if value != control.default}
    lines = [
        asked.data,
        "",
        f"question = asked({asked.page!r}, {asked.key!r}, source, epsilon={asked.epsilon!r}, delta={asked.delta!r},",
        f"                 settings={settings!r})",
    ]
    view = question.view
    if isinstance(view, View):
        lines += [
            f"frame = sweep_epsilon(question.view.problem.central, {levels(asked.epsilon)!r},",
            f"                      methods={list(view.methods)!r}, metrics=[{view.metric!r}])",
        ]
    else:
        lines += ['data = question.view.picture("epsilon").data', "frame = data() if callable(data) else data"]
    lines += [
        'found = {f"{row.method} at ε = {row.epsilon:.12g}": row.value for row in frame.itertuples()}',
        "needed = question.need.found",
        'found["smallest ε"] = None if needed is None else needed.epsilon',
        "most = None if needed is None else needed.most",
        'found["smallest ε for 9 of 10"] = None if most is None else most.epsilon',
        'found["size needed"] = None if needed is None else needed.size',
        f"epsilon, delta = {question.protected.epsilon!r}, {question.protected.delta!r}",
        'found["odds of 100"] = 100 * (1 + delta * exp(-epsilon)) / (1 + exp(-epsilon))',
    ]
    return "\n".join(lines)
