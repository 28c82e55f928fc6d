"""A question as one value: everything a page shows about it, and the release that would answer it.

``Kind.ask`` makes a ``Question`` from the data in use, the choices made, and ε. It draws nothing, and reads no widget:
a choice is asked for by ``read``. The page is one flow for all questions (``dashboard.widgets.page``): sentence →
options → chart → cards → tabs → release. Cost and forecast of a release are computed from the very request that would
be drawn, so they cannot speak of another mechanism or of edited counts.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

from dashboard.blocks import Block, Picture, Tab
from dashboard.case import Case
from dashboard.controls import Choice, Control, Group, Number, Read
from dashboard.view import Chart, Needed, Proviso
from dashboard.words import LabelCard
from dashboard.words import page as words
from dashboard.words import release as release_words
from dpcore.datasets import Schema
from dpcore.errors import DpcoreError
from dpcore.ledger import Petition, Receipt
from dpcore.release import Request, question_digests

Piece = str | Control[Any] | Group
"""A part of a question's sentence: words, a choice among them, or several choices behind one button."""


class CannotAsk(DpcoreError):
    """These data or choices do not suit the question; the sentence says what to do. ``rows`` is how many rows there
    would have to be, where more of them would do; ``fewer`` is whether fewer would."""

    def __init__(self, sentence: str, rows: int = 0, *, fewer: bool = False) -> None:
        super().__init__(sentence)
        self.rows, self.fewer = rows, fewer


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """One way in which declared columns suit a question, for the Data page.

    ``form`` tells the ways of one question apart. ``sentence`` asks it in plain words; ``sets`` are the controls that
    open it so, by key. ``about`` are the columns it is about, the leading one first; ``others`` take part beside them,
    at least ``least`` of them. ``own`` are controls of which each table has its own, by the first part of their key.
    ``lacking`` says what must still be declared before a private answer. ``fit`` orders the
    ways, the best first, where all that can be asked of a table is offered.
    """

    form: str
    sentence: str
    sets: Mapping[str, Hashable]
    about: tuple[str, ...]
    lacking: str = ""
    others: tuple[str, ...] = ()
    least: int = 0
    own: Mapping[str, Hashable] = field(default_factory=dict)
    fit: int = 100


@dataclass(frozen=True, slots=True, weakref_slot=True, kw_only=True)
class Outcomes:
    """What one might see: each outcome with its exact chance, and whether it is a good one.

    ``what`` says what fifty dots are: "private answers", "private runs". ``inks`` gives each its colour, light or
    dark, where the page's other pictures show the same outcomes in colours of their own. ``place`` says
    which of them a drawn answer is. ``then`` says what to do with one.
    """

    names: Sequence[str]
    chances: Sequence[float]
    good: Sequence[bool]
    what: str = "private answers"
    inks: Callable[[bool], Sequence[str]] | None = None
    place: Callable[[Any], int | None] | None = None
    then: str = ""


@dataclass(frozen=True, slots=True, weakref_slot=True, kw_only=True)
class Uncertain:
    """How often the answer is wrong through privacy noise, and how often through having only these people.

    Both are shares from 0 to 1; ``sentence`` says them in Markdown. ``names`` are what the two bars are called.
    ``sign`` is "±" where they say how far off something may be, rather than how often something is wrong: a share, or,
    where they are ``in_100`` no more, a number as the page writes it.
    """

    noise: float
    people: float
    sentence: str
    names: tuple[str, str] = words.UNSURE
    sign: str = ""
    in_100: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """What privacy costs at the ε in force, as three numbers in words that stand next to each other: ``without``
    privacy, ``private``, and their ``difference``, which is that of the two as they are written. Each is a label and a
    number; ``difference`` has its unit."""

    without: tuple[str, str]
    private: tuple[str, str]
    difference: tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Better:
    """Another method does clearly better on these data, which everybody may see; ``control`` takes its ``value``."""

    sentence: str
    control: str
    value: Hashable
    label: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Need:
    """What a person says they need, and what it takes. ``found`` is None until it is known, with ``waiting`` to say.

    ``hint``: what else would reach it, in a sentence, and ``better``: which other method does. ``proviso``: what it
    does not measure and somebody must find good enough as well. ``simulated``: it is found from a story that is
    simulated, whatever data are in use. ``whatever`` is what holds of a person's own data where the rows are made up
    that it is found from; None where they are not.
    """

    control: Number
    found: Needed | None
    waiting: str = ""
    hint: str = ""
    proviso: Proviso | None = None
    better: Better | None = None
    simulated: bool = False
    whatever: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Then:
    """What can be asked of an answer once there is one: ``sets`` are the controls that ask it, by key."""

    label: str
    sets: Callable[[Receipt], Mapping[str, Hashable]]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Offer:
    """One release: the request that is drawn, what it is drawn from, and how far off the answer may be.

    ``data`` gives what ``request.answer`` takes; it is called in the release alone. ``describe`` turns an answer into
    a sentence (Markdown: text from files through ``words.safe``), ``gives`` says what every answer is, ``below`` adds
    blocks under it. ``relation`` is the control by which the person chooses whom the answer hides, where there is a
    choice. ``conclude`` says what may and may not be concluded from an answer, ``claim`` what may be, as a clause that
    is printed with it, and ``then`` what can be asked of it. ``instead_of`` are the offers of the requests in whose
    place this one stands (``Asked.instead_of``), by which their answers are told, and what was asked for or charged.
    """

    request: Request
    data: Callable[[], Any]
    forecast: str
    describe: Callable[[Any], str]
    gives: str
    below: Callable[[Receipt], Sequence[Block]] | None = None
    relation: str | None = None
    before: tuple[Block, ...] = ()
    conclude: str = ""
    claim: str = ""
    then: Then | None = None
    instead_of: tuple[Offer, ...] = ()

    def of(self, found: Receipt | Petition) -> Offer:
        """The one of these by whose request this answer was drawn, charged or asked for."""
        return next((one for one in self.instead_of if found.question in question_digests(one.request)), self)

    def told(self, receipt: Receipt) -> str:
        """An answer in a sentence (Markdown), by the noise that it was drawn with."""
        return self.of(receipt).describe(receipt.answer)


@dataclass(frozen=True, slots=True, kw_only=True)
class NoOffer:
    """Why nothing can be released here; ``instead`` sets a control to what can be: (key, value, words).

    ``states`` is what the person can state here for it to be released, with the words for that.
    """

    sentence: str
    instead: tuple[str, Hashable, str] | None = None
    states: tuple[Callable[[], None], str] | None = None


BRIEF = NoOffer(sentence="")
"""In place of the release where a question is asked in brief (``Case.brief``)."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Work:
    """What must be simulated beside the page: ``run(common(), part)`` for every part, in worker processes.

    ``slot`` names its place, and its results in ``Case.results``; ``key`` the data and every parameter. ``enough`` says
    when there is something to draw.
    """

    slot: str
    key: tuple[Hashable, ...]
    run: Callable[[Any, Any], Any]
    common: Callable[[], Any]
    parts: Callable[[], Sequence[Any]]
    what: str
    enough: Callable[[Sequence[Any]], bool] = bool


@dataclass(frozen=True, slots=True, weakref_slot=True, kw_only=True, eq=False)
class Question:
    """One question about one case, whole.

    ``sentence`` is the question with its choices inside it. ``headline`` and ``caption`` are the answer to it in
    Markdown. ``view`` draws the chart; ``outcomes``, ``need`` and ``protected`` are the cards beside it; ``tabs`` the
    views below. ``offer`` is the release, or why there is none. ``also`` gives by name what else is told at another ε,
    beside what the chart shows, in Markdown; None where it is not known. ``works`` is what the rest waits for: the
    first carries the headline, the last the chart. ``follows`` says that it is cheap enough to be asked in brief for
    every step of the ε scale at once, so that the page follows the slider while it is dragged.
    """

    key: str
    sentence: tuple[Piece, ...]
    headline: str
    caption: str
    view: Chart
    need: Need
    protected: LabelCard
    tabs: tuple[Tab, ...]
    offer: Offer | NoOffer
    outcomes: Outcomes | None = None
    uncertain: Uncertain | None = None
    price: Price | None = None
    also: Mapping[str, Callable[[float], str | None]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    works: tuple[Work, ...] = ()
    follows: bool = False


RELEASE = "release"
"""The tab in which a private answer is made; every question has it, the last."""


def open_control(question: Question) -> Choice[str]:
    """Which view below the chart is open, by its key."""
    titles = {**{tab.key: tab.title for tab in question.tabs}, RELEASE: release_words.TAB}
    return Choice(
        key=f"{question.view.page}_open",
        label=words.TAB,
        options=tuple(titles),
        names=titles,
        default=next(iter(titles)),
    )


class Kind(Protocol):
    """A question's plug-in: a class in a file of its own below ``dashboard/questions/<page>``, found by its ``key``.

    ``title`` names it beside the other questions of its page; ``rank`` orders them. ``once`` are names it had in older
    links. One with ``of_models = True`` is told which private models were drawn (``Case.models``).
    """

    key: ClassVar[str]
    title: ClassVar[str]
    rank: ClassVar[int]
    once: ClassVar[tuple[str, ...]]

    @classmethod
    def ways(cls, schema: Schema) -> Sequence[Way]:
        """How declared columns suit this question, the simplest way first; empty when they do not."""

    @classmethod
    def ask(cls, case: Case, read: Read) -> Question:
        """The question about ``case``. Pure: the same data, choices and ε give the same. Raises CannotAsk."""


__all__ = [
    "Better",
    "Block",
    "CannotAsk",
    "Kind",
    "Need",
    "NoOffer",
    "Offer",
    "Outcomes",
    "Picture",
    "Question",
    "Tab",
    "Then",
    "Uncertain",
    "Way",
    "Work",
]
