"""A room that predicts, round after round, while it runs.

``seen`` is everything that a screen may show: what was declared, how many phones are in which team, what happened, and
the plays. A prediction leaves the room in three ways only: to the phone it came from, as a row of the releases, and as
a true loss where that was announced before anybody predicted, the last round is over and the speaker asks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from dashboard.poll.follow import Follow
from dashboard.poll.hall import Hall
from dashboard.poll.refused import PollRefused
from dashboard.words import live as said
from dashboard.words import poll as poll_words
from dpcore.ledger import Receipt
from dpcore.releases.teams import MISSING, ONE, TeamToFollow, first_play
from dpcore.validate import FloatArray, IntArray

Phase = Literal["joining", "predicting", "drawing", "over", "ended"]
Draw = Callable[[str, str, float, TeamToFollow, IntArray], Receipt]
"""Releases: given the request's id, the lineage, ε of the room's whole budget, the request and the predictions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenFollow:
    """What anybody may see. ``plays`` are the teams that were followed, the one of the round at hand last;
    ``happened`` is 0 or 1 for each round that is over; ``losses`` (rounds, teams) is there once the speaker showed it.
    """

    asked: Follow
    phase: Phase
    phones: int
    plays: tuple[str, ...]
    happened: tuple[int, ...]
    receipts: tuple[Receipt, ...]
    losses: FloatArray | None

    def true_losses(self) -> tuple[FloatArray, FloatArray, str]:
        """After each round: what following has lost, shape (rounds,), what the best team by then has lost, and the
        best team in the end. Only once the losses are shown. Raises PollRefused."""
        if self.losses is None:
            raise PollRefused(poll_words.NOT_YET)
        names, totals = self.asked.names, np.cumsum(self.losses, axis=0)
        lost = np.array([self.losses[place, names.index(team)] for place, team in enumerate(self.plays)])
        return np.cumsum(lost), totals.min(axis=1), names[int(np.argmin(totals[-1]))]


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnFollow:
    """What one phone may see of itself: whether it is in, its team, and its prediction of the round at hand."""

    joined: bool
    team: str = ""
    prediction: int | None = None


@dataclass(slots=True)
class _Phone:
    place: int
    predictions: dict[int, int] = field(default_factory=dict)


class FollowRoom(Hall[_Phone]):
    """Thread-safe. joining → (predicting → drawing) once a round → over → ended, the last from any.

    Calls raise PollRefused, with one sentence that depends on no prediction.
    """

    kind = "follow"

    def __init__(self, code: str, asked: Follow, host: str) -> None:
        super().__init__(code, host, opens="joining", phone=_Phone)
        self.asked = asked
        self._phase: Phase = "joining"
        self._happened: list[int] = []
        self._plays: list[str] = []
        self._receipts: list[Receipt] = []
        self._losses: FloatArray | None = None

    @property
    def stage(self) -> tuple[object, ...]:
        """What a phone waits for: another one means that its page has changed."""
        with self._lock:
            return self._phase, len(self._plays), self._losses is not None

    def seen(self) -> SeenFollow:
        """What anybody may see."""
        with self._lock:
            return SeenFollow(
                asked=self.asked,
                phase=self._phase,
                phones=len(self._phones),
                plays=tuple(self._plays),
                happened=tuple(self._happened),
                receipts=tuple(self._receipts),
                losses=self._losses,
            )

    # -- a phone -------------------------------------------------------------------------------------------------------

    def own(self, token: str) -> OwnFollow:
        """What this phone said about the round at hand."""
        with self._lock:
            phone = self._phones.get(self.digest(token))
            if phone is None:
                return OwnFollow(joined=False)
            team = self.asked.names[phone.place % self.asked.teams]
            return OwnFollow(joined=True, team=team, prediction=phone.predictions.get(len(self._happened)))

    def predict(self, token: str, outcome: int | None) -> None:
        """Predict the round at hand, change it, or take it back (None). Raises PollRefused."""
        if outcome not in (0, 1, None):
            raise PollRefused(poll_words.NOT_OFFERED)
        with self._lock:
            self._at("predicting", said.NO_ROUND)
            phone = self._mine(token)
            if outcome is None:
                phone.predictions.pop(len(self._happened), None)
            else:
                phone.predictions[len(self._happened)] = outcome

    # -- the speaker ---------------------------------------------------------------------------------------------------

    def start(self, host: str) -> None:
        """Nobody joins any more; the first round begins, with a team drawn when nothing is known. A second click
        changes nothing."""
        self.as_host(host)
        with self._lock:
            if self._phase != "joining":
                return
            if len(self._phones) < self.asked.teams:
                raise PollRefused(said.too_few(self.asked.teams))
            self._plays.append(first_play(self.asked.names)["team"])
            self._phase = "predicting"

    def happen(self, host: str, number: int, outcome: int) -> None:
        """Round ``number`` (from 1) ends: this happened. A second click changes nothing."""
        self.as_host(host)
        if outcome not in (0, 1):
            raise PollRefused(poll_words.NOT_OFFERED)
        with self._lock:
            if self._phase == "predicting" and number == len(self._happened) + 1:
                self._happened.append(outcome)
                self._phase = "over" if number == self.asked.rounds else "drawing"

    def follow(self, host: str, draw: Draw) -> None:
        """Draw whom to follow in the next round. A second click draws nothing, and neither does one after it failed:
        the same play is asked for again. ``draw`` raises what a release raises; then nothing has changed here."""
        self.as_host(host)
        with self._drawing:
            with self._lock:
                if self._phase != "drawing":
                    return
                request = self.asked.request(len(self._phones), tuple(self._happened))
                rows = self._rows()
            name = f"{self.request_id}-{len(request.happened)}"
            receipt = draw(name, self.lineage, self.asked.epsilon, request, rows)
            with self._lock:
                self._receipts.append(receipt)
                self._plays.append(str(receipt.answer["team"]))
                if self._phase == "drawing":
                    self._phase = "predicting"

    def show_losses(self, host: str) -> None:
        """Show the true losses: only where they were announced before anybody predicted, and all rounds are over."""
        self.as_host(host)
        with self._lock:
            if not self.asked.counts:
                raise PollRefused(said.NOT_ANNOUNCED)
            self._at("over", poll_words.NOT_YET)
            request = self.asked.request(len(self._phones), tuple(self._happened))
            self._losses = request.losses(self._rows()) / ONE

    # -- inside --------------------------------------------------------------------------------------------------------

    def _rows(self) -> IntArray:
        """Every phone's predictions of the rounds that are over, in the order the phones came."""
        rounds = range(len(self._happened))
        phones = sorted(self._phones.values(), key=lambda phone: phone.place)
        made = [[phone.predictions.get(number, MISSING) for number in rounds] for phone in phones]
        return np.array(made, dtype=np.int64)
