"""What a room does, as a control: a link, and so a scene of a deck, opens the page with one of them chosen."""

from __future__ import annotations

from dashboard.controls import Choice
from dashboard.words import live as words

PAGE = "poll"
"""The key of the speaker's page."""
ROOM: Choice[str] = Choice(
    key="room", label=words.KIND, options=tuple(words.KINDS), names=words.KINDS, default="vote", look="buttons"
)
