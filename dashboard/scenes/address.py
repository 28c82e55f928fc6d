"""Addresses of views as values: exactly what a link of the product says, read and written without a page.

The session writes a link by the controls of the page in view and reads one by the same controls
(``dashboard.session``); here a link is asked of the question itself, so that a deck can be checked before it is shown.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from dashboard import catalogue
from dashboard.case import OWN, Case
from dashboard.catalogue import FIRST_SAMPLE, Page
from dashboard.controls import Choice, Control, Kept, Place, Refused
from dashboard.poll.kinds import PAGE as ROOM_PAGE
from dashboard.poll.kinds import ROOM
from dashboard.question import CannotAsk, Kind, Question, open_control
from dashboard.view import EPSILON, axis_control
from dashboard.words import scenes as words
from dpcore.datasets import samples
from dpcore.errors import DpcoreError

T = TypeVar("T")
CaseOf = Callable[[str, float], Case]
"""A sample, by its key, as a case at a privacy loss ε."""

PRODUCT = ("start", "data", "budget", "demos", ROOM_PAGE)
"""The product's own pages that a scene can show."""
PARTS = ("chart", "outcomes", "need", "protected", "tab", "release")
PART: Choice[str] = Choice(key="part", label=words.PART, options=PARTS, names=words.PARTS, default="chart")
"""Which part of its page a scene speaks of."""
APART = ("tour", "present", "scene", "notes", "embed", "embed_options")
"""What a link says about showing, and not about what is shown."""
LONGEST = 4000
"""Characters of an address."""


class NotAnAddress(DpcoreError):
    """A text that is not a link of this product; the message is a sentence without its subject."""


@dataclass(frozen=True, slots=True)
class Address:
    """A page by its key, and what is set on it: pairs of a control's key and its value as a link writes it."""

    page: str
    settings: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, text: str) -> Address:
        """The address in ``text``, a link as it is copied: "selection?epsilon=1", with or without a server's name.

        Raises NotAnAddress.
        """
        if len(text) > LONGEST:
            raise NotAnAddress(words.TOO_LONG)
        try:
            parts = urlsplit(quote(text.strip(), safe=string.printable))  # other letters of a name take long
            pairs = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query), max_num_fields=100)
        except ValueError:
            raise NotAnAddress(words.NOT_AN_ADDRESS) from None
        page = parts.path.rstrip("/").rsplit("/", 1)[-1] or "start"
        known = (*PRODUCT, *(page.key for page in catalogue.pages()))
        if page not in known:
            raise NotAnAddress(words.no_page(page, known))
        kept = {key: value for key, value in pairs if key not in APART}
        found = cls(page, tuple(kept.items()))
        if len(found.text) > LONGEST:  # letters of a link that was typed take more where it is written
            raise NotAnAddress(words.TOO_LONG)
        return found

    @property
    def text(self) -> str:
        """As a link relative to the product's own address."""
        page = "" if self.page == "start" else self.page
        return f"{page}?{urlencode(self.settings)}" if self.settings else page or "?"

    def with_settings(self, **more: str) -> Address:
        """The same with further settings."""
        return Address(self.page, tuple({**dict(self.settings), **more}.items()))

    @property
    def own(self) -> bool:
        """Whether it was made with a file of somebody's own, which no link carries."""
        return dict(self.settings).get("data") == OWN

    @property
    def part(self) -> str:
        """Which part of the page it speaks of, one of ``PARTS``."""
        found = dict(self.settings).get(PART.key, PART.default)
        return found if found in PARTS else PART.default


@dataclass(slots=True)
class Linked:
    """A ``Read`` over what a link says; notes which controls were asked for, and what they did not take."""

    settings: Mapping[str, str]
    controls: dict[str, Control[Any]] = field(default_factory=dict)
    refused: list[str] = field(default_factory=list)

    def __call__(self, control: Control[T], place: Place = "options") -> T:
        self.controls[control.key] = control
        if control.key in self.settings:
            try:
                return control.read(self.settings[control.key])
            except Refused:
                if control.key not in self.refused:
                    self.refused.append(control.key)
        return control.default

    @property
    def unknown(self) -> list[str]:
        """Settings that nothing has asked for."""
        return [key for key in self.settings if key not in self.controls]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Opened:
    """What an address opens: its page and question, every control asked for, and what could not be had.

    ``refused`` are controls that do not take their value, ``unknown`` settings that nothing on the page asks for,
    ``problem`` why the question cannot be asked. ``question`` is None for a page of the product's own.
    """

    page: Page | None
    kind: type[Kind] | None
    question: Question | None
    controls: Mapping[str, Control[Any]]
    values: Mapping[str, Any]
    refused: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    problem: str = ""


def opened(address: Address, case_of: CaseOf) -> Opened:
    """Ask what ``address`` asks, without a page; a file of somebody's own is replaced by the page's sample."""
    read = Linked(dict(address.settings))
    if address.page == ROOM_PAGE:
        read(ROOM)
        read(PART)
        return _opened(read, None, None, None)
    page = next((page for page in catalogue.pages() if page.key == address.page), None)
    first = FIRST_SAMPLE if page is None else page.example or FIRST_SAMPLE
    keys = tuple(known.key for known in samples() if not known.needs_network)
    data = read(Choice(key="data", label=words.DATA, options=(*keys, OWN), default=first))
    epsilon = read(EPSILON)
    read(PART)
    if page is None:
        return _opened(read, None, None, None)
    kind = catalogue.questions(page.key)[read(catalogue.question_choice(page))]
    try:
        question = kind.ask(case_of(first if data == OWN else data, epsilon), read)
    except CannotAsk as error:
        return _opened(read, page, kind, None, problem=str(error))
    read(axis_control(question.view))
    now = read(open_control(question))
    read(Kept(key=f"{question.view.page}_kept", label=words.KEPT, default=()))
    for tab in sorted(question.tabs, key=lambda tab: tab.key != now):
        if read.unknown or tab.key == now:
            with suppress(CannotAsk):  # there is no room for what it shows
                tab.blocks()  # what a tab can set is asked for where it is made
    return _opened(read, page, kind, question)


def _opened(
    read: Linked, page: Page | None, kind: type[Kind] | None, question: Question | None, problem: str = ""
) -> Opened:
    return Opened(
        page=page,
        kind=kind,
        question=question,
        controls=dict(read.controls),
        values={key: read(control) for key, control in list(read.controls.items())},
        refused=tuple(read.refused),
        unknown=() if problem else tuple(read.unknown),
        problem=problem,
    )
