"""What a link sets that nothing uses is said once its page is drawn, and keeps no page from being drawn."""

from __future__ import annotations

import pytest

from dashboard import session
from dashboard.scenes import unused
from dashboard.words import page as words
from dpcore.errors import NoRoom


@pytest.fixture
def looked_up(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """What each look at a link comes to, the next one first."""
    comes: list[object] = []

    def unknown(page: str, left: tuple[str, ...]) -> tuple[str, ...]:
        found = comes.pop(0)
        if isinstance(found, Exception):
            raise found
        return left

    unused.UNUSED.forget()
    monkeypatch.setattr(session, "unclaimed", lambda: {"nothing": "1"})
    monkeypatch.setattr(unused, "_unknown", unknown)
    return comes


def test_where_others_are_looked_at_first_it_is_said_in_the_next_run(looked_up: list[object]) -> None:
    """Where many pages of an address opened a link at once, the page of some failed, and the log had a defect."""
    looked_up += [NoRoom("Others wait."), None]
    assert unused.told("training") == ""
    assert unused.told("training") == words.unused(("nothing",))
    assert unused.told("training") == words.unused(("nothing",))
    assert not looked_up, "what was found is kept"


def test_what_fails_otherwise_is_no_silence(looked_up: list[object]) -> None:
    looked_up.append(ZeroDivisionError())
    with pytest.raises(ZeroDivisionError):
        unused.told("training")
