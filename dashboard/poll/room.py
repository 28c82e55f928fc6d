"""One poll while it runs: a small object in the server's memory, with a lock.

``seen`` is everything that a screen may show before the answer, and it is a function of what was declared, of how many
phones there are and of the guesses: votes are not in it, and no call fails or succeeds by them. A vote leaves the room
in three ways only: to the phone it came from, as a row of the one release, and as a true count where that was
announced before anybody voted, the answer is there and the speaker asks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from dashboard.poll.asked import Poll, Request, Vote
from dashboard.poll.hall import Hall
from dashboard.poll.refused import PollRefused
from dashboard.words import poll as said
from dpcore.datasets import PrivateRows
from dpcore.ledger import Receipt
from dpcore.validate import IntArray

Phase = Literal["voting", "guessing", "forecast", "answered", "ended"]
GUESSES = (25, 50, 75, 90, 99)
"""How often of 100, as phones may guess it."""
Draw = Callable[[str, str, Request, PrivateRows], Receipt]
"""Releases: given the request's id, the lineage, the request and the rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What anybody may see of a room. ``guesses`` (5,): how many phones gave each of ``GUESSES``.

    ``receipt`` is there once the answer is, ``counts`` (see ``Poll.tally``) once the speaker showed them.
    """

    poll: Poll
    phase: Phase
    phones: int
    guesses: tuple[int, ...]
    receipt: Receipt | None
    counts: IntArray | None


@dataclass(slots=True)
class _Phone:
    vote: Vote | None = None
    guess: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Own:
    """What one phone may see of itself: whether it is in, its vote and its guess."""

    joined: bool
    vote: Vote | None = None
    guess: int | None = None


class Room(Hall[_Phone]):
    """Thread-safe. ``host`` is the secret of the speaker's browser; a phone has a random token of its own.

    Phases follow one another and never go back: voting → guessing → forecast → answered → ended, the last from any.
    Calls raise PollRefused, with one sentence that depends on no vote.
    """

    kind = "vote"

    def __init__(self, code: str, poll: Poll, host: str) -> None:
        super().__init__(code, host, opens="voting", phone=lambda _: _Phone())
        self.poll = poll
        self._phase: Phase = "voting"
        self._receipt: Receipt | None = None
        self._counts: IntArray | None = None

    @property
    def stage(self) -> tuple[Phase, bool]:
        """What a phone waits for: another one means that its page has changed."""
        with self._lock:
            return self._phase, self._counts is not None

    def seen(self) -> Seen:
        """What anybody may see."""
        with self._lock:
            given = [phone.guess for phone in self._phones.values()]
            return Seen(
                poll=self.poll,
                phase=self._phase,
                phones=len(self._phones),
                guesses=tuple(given.count(guess) for guess in GUESSES),
                receipt=self._receipt,
                counts=self._counts,
            )

    # -- a phone ---------------------------------------------------------------------------------------------------

    def own(self, token: str) -> Own:
        """What this phone said."""
        with self._lock:
            phone = self._phones.get(self.digest(token))
            return Own(joined=False) if phone is None else Own(joined=True, vote=phone.vote, guess=phone.guess)

    def vote(self, token: str, vote: Vote | None) -> None:
        """Cast this phone's one vote, change it, or take it back (None), while people vote. Raises PollRefused."""
        kept = None if vote is None else self.poll.checked(vote)
        with self._lock:
            self._at("voting", said.VOTING_CLOSED)
            self._mine(token).vote = kept

    def guess(self, token: str, guess: int) -> None:
        """This phone's guess how often the private answer is right; shown to everybody as a count."""
        if guess not in GUESSES:
            raise PollRefused(said.NOT_OFFERED)
        with self._lock:
            self._at("guessing", said.GUESSING_CLOSED)
            self._mine(token).guess = guess

    # -- the speaker -----------------------------------------------------------------------------------------------

    def close_voting(self, host: str) -> None:
        """Nobody joins or votes any more; phones guess. A second click changes nothing."""
        self._move(host, "voting", "guessing")

    def show_forecast(self, host: str) -> None:
        """Nobody guesses any more; the trade-off is shown."""
        self._move(host, "guessing", "forecast")

    def release(self, host: str, draw: Draw) -> Receipt:
        """The one private answer. A second click gets the same one, and so does one after ``draw`` has failed.

        ``draw`` raises what a release raises; then nothing has changed here.
        """
        self.as_host(host)
        with self._drawing:
            with self._lock:
                if self._receipt is not None:
                    return self._receipt
                self._at("forecast", said.NOT_YET)
                rows = self.poll.rows([phone.vote for phone in self._phones.values()])
            receipt = draw(self.request_id, self.lineage, self.poll.request, rows)
            with self._lock:
                self._receipt = receipt
                if self._phase == "forecast":
                    self._phase = "answered"
            return receipt

    def show_counts(self, host: str) -> None:
        """Show the true counts: only where they were announced before anybody voted, and the answer is there."""
        self.as_host(host)
        with self._lock:
            if not self.poll.counts:
                raise PollRefused(said.NOT_ANNOUNCED)
            self._at("answered", said.NOT_YET)
            self._counts = self.poll.tally([phone.vote for phone in self._phones.values()])

    # -- inside ----------------------------------------------------------------------------------------------------

    def _move(self, host: str, start: Phase, end: Phase) -> None:
        self.as_host(host)
        with self._lock:
            if self._phase == start:
                self._phase = end
