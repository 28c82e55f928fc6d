"""What the link of this session sets that nothing on the page in view uses: said in one sentence, never in silence."""

from __future__ import annotations

from dashboard import catalogue, session
from dashboard.scenes.address import APART, PART, Address, opened
from dashboard.scenes.editor import case_of
from dashboard.scenes.held import UNUSED
from dashboard.words import page as words
from dpcore.errors import NoRoom

MOST = 16
"""Links of one session that are remembered with what of them is used."""


def told(page: str) -> str:
    """The sentence for the page in view; "" where all that its link says is used, or others are looked at first: it is
    looked up in the next run then. Call once the page is drawn."""
    left = tuple(sorted(key for key in session.unclaimed() if key not in (*APART, PART.key)))
    if not left:
        return ""
    known: dict[tuple[str, tuple[str, ...]], tuple[str, ...]] = UNUSED.get()
    if (page, left) not in known:
        try:
            found = _unknown(page, left)
        except NoRoom:
            return ""
        known = {**dict([*known.items()][1 - MOST :]), (page, left): found}
        UNUSED.put(known)
    names = known[page, left]
    return words.unused(names) if names else ""


def _unknown(page: str, left: tuple[str, ...]) -> tuple[str, ...]:
    """Those of the settings that no control of the page takes, the controls of tabs that are closed included."""
    if all(page != one.key for one in catalogue.pages()):
        return left
    settings = {**session.link(), **session.unclaimed()}
    found = opened(Address(page, tuple(settings.items())), case_of)
    return tuple(key for key in left if key in found.unknown)
