"""What a session holds for its report: the sections that were kept, in the order they were kept."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from dashboard import all_held
from dashboard.all_held import Waiting
from dashboard.people import visitors
from dashboard.report import text
from dashboard.report.of_deck import LeftOut
from dashboard.report.value import MOST_SECTIONS, Paragraph, Section
from dashboard.session import Slot
from dashboard.words import report as said
from dpcore.errors import UnreadableFile

_OPEN: Slot[tuple[tuple[int, Section], ...]] = Slot("_report", tuple)
_OWN: Slot[tuple[tuple[int, Section], ...]] = Slot("_report_own", tuple, own=lambda kept: None)
"""Sections that were computed from a person's own data: they go with their file."""


def kept() -> tuple[Section, ...]:
    """The sections of the report, in the order they were kept."""
    return tuple(section for _, section in _numbered())


def keep(section: Section) -> None:
    """Put a section last, unless it is there already or the report is full; call from a callback. One that tells of a
    budget says from when it is: the budget goes on."""
    if section.budget is not None:
        section = replace(section, parts=(*section.parts, Paragraph(text.line(said.kept_at(_now())), "small")))
    present = _numbered()
    if len(present) < MOST_SECTIONS and all(one.key != section.key for _, one in present):
        slot = _OWN if section.own else _OPEN
        slot.put((*slot.get(), (present[-1][0] + 1 if present else 0, section)))


def remove(key: str) -> None:
    """Take a section out; call from a callback."""
    for slot in (_OPEN, _OWN):
        slot.put(tuple((place, section) for place, section in slot.get() if section.key != key))


def _numbered() -> list[tuple[int, Section]]:
    return sorted((*_OPEN.get(), *_OWN.get()), key=lambda one: one[0])


def _now() -> str:
    return f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"


MOST_REPORTS = 12
_MADE_ON: Slot[OrderedDict[str, str]] = Slot("_report_made_on", OrderedDict, own=lambda times: None)
"""When reports were made first, of the latest, by their digests: the same report is not another every minute."""


def made_on(digest: str) -> str:
    """When the report of this digest was made first in this session, by the server's clock."""
    times = _MADE_ON.once()
    found = times.setdefault(digest, _now())
    times.move_to_end(digest)
    while len(times) > MOST_REPORTS:
        times.popitem(last=False)
    return found


MOST_DECKS = 4
_DRAWN: Slot[OrderedDict[str, dict[int, Section | LeftOut]]] = Slot(
    "_report_drawn", OrderedDict, own=lambda drawn: None
)
"""The scenes that were simulated and drawn, of the latest decks, by the digest of all that was asked. What was computed
from a person's own data goes with their file."""


def drawn(digest: str) -> dict[int, Section | LeftOut]:
    """Those of one deck, by their place; to be added to. Several decks of a page may be open at once."""
    decks = _DRAWN.once()
    found = decks.setdefault(digest, {})
    decks.move_to_end(digest)
    while len(decks) > MOST_DECKS:
        decks.popitem(last=False)
    return found


TYPED: Slot[dict[str, Any]] = Slot("_report_typed", dict)
"""Title, author and day as they were typed, for every report of this session."""
LOGO: Slot[bytes | None] = Slot("_report_logo", lambda: None)
MADE: Slot[Waiting | None] = Slot("_report_made", lambda: None, own=lambda counted: None)
"""Counts the files of the report in view, and the logo, among what all sessions hold. They go with a person's file, as
all that was made beside the page does."""


def no_room(files: Mapping[str, bytes]) -> str:
    """Why there is no room for these files of a report; "" where there is, and they count from now on instead of those
    of the report before."""
    size = sum(map(len, files.values())) + len(LOGO.get() or b"")
    try:
        MADE.put(all_held.again(size, visitors.address(), MADE.get()))
    except UnreadableFile as error:
        return said.not_made(str(error))
    return ""
