"""What a person asked of a poll that cannot be, in one sentence that holds no vote."""

from __future__ import annotations


class PollRefused(Exception):
    """One sentence for whoever asked; it never depends on a vote."""


class Elsewhere(PollRefused):
    """A room is at another replica, if anywhere."""
