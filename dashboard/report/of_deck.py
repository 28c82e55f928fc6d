"""The scenes of a deck as sections of one report.

A scene is asked again from its address, as its page would ask it, in a worker process: neither Streamlit nor a page is
loaded here. What it waits for is simulated part by part, for no slice of a worker can be stopped (``section_of``,
``simulated``, ``section_with``). A scene that was made with a file of somebody's own is asked about the file that this
person holds, and is marked like it; without one it is asked about the page's sample, as the tour shows it, and says so.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dashboard import catalogue
from dashboard.case import OWN, Case, Source
from dashboard.catalogue import FIRST_SAMPLE, Page
from dashboard.charts.svg import HEIGHT
from dashboard.controls import Choice, Control
from dashboard.question import CannotAsk, Kind, Question
from dashboard.report import again, recipe, text
from dashboard.report.analysis import Asked, analysis, sentence_of
from dashboard.report.drawing import drawn
from dashboard.report.value import Heading, Paragraph, Part, Run, Section
from dashboard.scenes.address import Linked
from dashboard.scenes.deck import Scene
from dashboard.view import EPSILON, View, axis_control
from dashboard.words import report as said
from dashboard.words import scenes as scene_words
from dpcore.datasets import samples

_PASSES = 4
"""How often a question is asked to learn what can be set: one choice about a file's columns may bring another."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OwnFile:
    """A person's own file for the scenes that want one.

    ``values`` is what is set about its columns, by control, which no deck carries; ``data`` is Python that makes it.
    """

    source: Source
    values: Mapping[str, Any]
    data: str
    delta: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """One scene to be reported; ``delta`` is the δ that a release about its sample would ask for."""

    number: int
    scene: Scene
    delta: float


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A scene that is not in the report, with the sentence that says why."""

    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """One part, by its place, of what a scene waits for under this slot."""

    told: Told
    slot: str
    place: int


@dataclass(frozen=True, slots=True)
class Waiting:
    """What is to be simulated for a scene before it can be drawn."""

    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Simulated:
    """What came of all ``pieces`` of one scene, in their order, beside the file that it was asked about."""

    own: OwnFile | None
    pieces: tuple[Piece, ...]
    found: tuple[Any, ...]

    @property
    def results(self) -> dict[str, tuple[Any, ...]]:
        """What was found, by slot."""
        by_slot: dict[str, list[Any]] = {}
        for piece, found in zip(self.pieces, self.found, strict=True):
            by_slot.setdefault(piece.slot, []).append(found)
        return {slot: tuple(results) for slot, results in by_slot.items()}


def sample_of(scene: Scene) -> str | None:
    """The sample that a scene is asked about while nobody holds its file; None where it asks nothing."""
    page = _page(scene)
    if page is None:
        return None
    first = page.example or FIRST_SAMPLE
    keys = tuple(known.key for known in samples() if not known.needs_network)
    named = Linked(dict(scene.address.settings))(
        Choice(key="data", label=scene_words.DATA, options=(*keys, OWN), default=first)
    )
    return first if named == OWN else named


def section_of(own: OwnFile | None, told: Told) -> Section | LeftOut | Waiting:
    """The section of one scene, or what it waits for."""
    scene = _asked(own, told)
    if isinstance(scene, LeftOut):
        return scene
    pieces = tuple(
        Piece(told=told, slot=work.slot, place=place)
        for work in scene.begun.question.works
        for place in range(len(work.parts()))
    )
    return Waiting(pieces) if pieces else _drawn(scene, scene.begun.question)


def simulated(own: OwnFile | None, piece: Piece) -> Any:
    """One part of what a scene waits for: the work of one slice, as on the scene's page."""
    scene = _asked(own, piece.told)
    if isinstance(scene, LeftOut):
        raise CannotAsk(scene.why)
    work = next(one for one in scene.begun.question.works if one.slot == piece.slot)
    return work.run(work.common(), work.parts()[piece.place])


def section_with(simulated: Simulated, told: Told) -> Section | LeftOut:
    """The section of a scene that waited, with what was simulated for it."""
    scene = _asked(simulated.own, told)
    return scene if isinstance(scene, LeftOut) else _drawn(scene, scene.begun.whole(simulated.results))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Scene:
    """A scene that was asked: about what, and how."""

    told: Told
    source: Source
    asked: Asked
    begun: again.Begun
    is_instead: bool
    """Whether it is about a sample in the place of a file that nobody holds."""


def _asked(own: OwnFile | None, told: Told) -> _Scene | LeftOut:
    """One scene, before anything is simulated."""
    scene, page, sample = told.scene, _page(told.scene), sample_of(told.scene)
    where = scene_words.the_scene(told.number, scene.title)
    if page is None or sample is None:
        return LeftOut(said.scene_asks_nothing(where))
    if scene.address.own and own is not None:
        source, data, delta, values = own.source, own.data, own.delta, own.values
    else:
        source, data, delta, values = again.sample_source(sample), recipe.of_sample(sample), told.delta, {}
    settings = dict(scene.address.settings)
    if EPSILON.key in values:
        settings.setdefault(EPSILON.key, EPSILON.written(values[EPSILON.key]))
    read = Linked(settings)
    epsilon, key = read(EPSILON), read(catalogue.question_choice(page))
    kind = catalogue.questions(page.key)[key]
    case = Case(source=source, epsilon=epsilon, delta=delta)
    try:
        controls = _controls(kind, case, settings, values)
        values_of = {control.key: value for control, value in controls}
        written = again.written([control for control, _ in controls], lambda control: values_of[control.key])
        begun = again.begun(page.key, key, source, epsilon=epsilon, delta=delta, settings=written)
    except CannotAsk as error:
        return LeftOut(f"{where} {scene_words.cannot_ask(str(error))}")
    asked = Asked(
        page=page.key,
        key=key,
        title=kind.title,
        epsilon=epsilon,
        delta=delta,
        controls=controls,
        data=data,
    )
    return _Scene(told=told, source=source, asked=asked, begun=begun, is_instead=scene.address.own and own is None)


def _drawn(here: _Scene, question: Question) -> Section:
    """The section of a scene, once everything it waits for is there."""
    scene = here.told.scene
    found = analysis(question, here.source, here.asked)
    parts: tuple[Part, ...] = (
        Paragraph(text.words(scene.sentence)),
        *([Paragraph(text.words(said.instead_of(scene.wants)), "small")] if here.is_instead else []),
        Paragraph((Run(f"{said.QUESTION}: ", strong=True), *text.words(sentence_of(question.sentence, here.asked)))),
        *_against_size(question, scene),
        *found.parts,
    )
    return replace(found, key=f"scene:{here.told.number}:{found.key}", title=scene.title, parts=parts)


def _against_size(question: Question, scene: Scene) -> list[Part]:
    """The picture against how many there are, where the scene shows that one."""
    view = question.view
    if not isinstance(view, View) or Linked(dict(scene.address.settings))(axis_control(view)) != "n":
        return []
    picture = view.picture("n")
    return [Heading(said.AGAINST_SIZE), drawn(picture.figure(False), picture.alt, picture.note, height=HEIGHT)]


def _page(scene: Scene) -> Page | None:
    return next((page for page in catalogue.pages() if page.key == scene.address.page), None)


def _controls(
    kind: type[Kind], case: Case, settings: Mapping[str, str], values: Mapping[str, Any]
) -> tuple[tuple[Control[Any], Any], ...]:
    """Every control of the question with its value: as the scene's address says, else as this person set it.

    A picture that is simulated against something else is asked for against ε, which is what a report holds.
    Raises CannotAsk.
    """
    known, read = dict(settings), Linked({})
    for _ in range(_PASSES):
        read = Linked(known)
        question = kind.ask(case, read)
        found = {
            key: (control, control.checked(values[key]))
            for key, control in read.controls.items()
            if key in values and key not in known
        }
        more = {key: control.written(value) for key, (control, value) in found.items() if value is not None}
        axis = axis_control(question.view).key
        turned = axis in read.controls and axis in known and not isinstance(question.view, View)
        if not more and not turned:
            break
        known |= more
        if turned:
            del known[axis]
    return tuple((control, read(control)) for control in list(read.controls.values()))


def shortened(sections: Sequence[Section]) -> tuple[Section, ...]:
    """The same report without saying anything twice: what stands under a heading of an earlier section, word for word,
    is named at the end instead. Verdicts are never left out."""
    before: dict[Hashable, int] = {}
    found = []
    for place, section in enumerate(sections):
        parts: list[Part] = []
        known: dict[int, list[str]] = {}
        for group in _groups(section.parts):
            head = group[0]
            if not isinstance(head, Heading) or head.text == said.VERDICT:
                parts += group
                continue
            first = before.setdefault(group, place)
            if first == place:
                parts += group
            else:
                known.setdefault(first, []).append(head.text)
        parts += [
            Paragraph(text.words(said.as_in(first + 1, sections[first].title, heads)), "small")
            for first, heads in sorted(known.items())
        ]
        found.append(replace(section, parts=tuple(parts)))
    return tuple(found)


def _groups(parts: Sequence[Part]) -> list[tuple[Part, ...]]:
    """Each heading with what stands under it."""
    groups: list[list[Part]] = []
    for part in parts:
        if isinstance(part, Heading) or not groups:
            groups.append([])
        groups[-1].append(part)
    return [tuple(group) for group in groups]
