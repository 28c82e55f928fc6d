"""A room in which an alarm listens: phones tap, and one release runs until the alarm goes off or all looks are done.

``seen`` is everything that a screen may show: what was declared, how many phones are in, at which look the alarm
listens, and the answer. That it is still listening says that it has been silent so far, which is part of the answer
and covered by its ε. Taps leave the room in three ways only: to the phone they came from, as the counts that the
release looks at, and as true counts where that was announced before, the answer is there and the speaker asks.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Literal, Protocol

import numpy as np

from dashboard.poll.hall import Hall
from dashboard.poll.refused import PollRefused
from dashboard.poll.watch import Watch
from dashboard.words import live as said
from dashboard.words import poll as poll_words
from dpcore.defects import as_defects
from dpcore.errors import DpcoreError
from dpcore.ledger import Receipt
from dpcore.releases.taps import TapAlarm, Taps
from dpcore.threads import NoThread, begun
from dpcore.validate import IntArray

Phase = Literal["joining", "listening", "kept", "answered", "ended"]


class Draw(Protocol):
    """Releases: given the request's id, the lineage, ε of the room's whole budget, the request and what is listened to.
    ``waits`` is told where the ledger could not take the answer at once: then it is waited for."""

    def __call__(
        self,
        request_id: str,
        lineage: str,
        epsilon: float,
        request: TapAlarm,
        rows: Taps,
        /,
        *,
        waits: Callable[[], None],
    ) -> Receipt: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenWatch:
    """What anybody may see. ``look`` is the one at hand, from 1; ``problem`` why listening stopped without an answer;
    ``counts`` (looks so far,) is there once the speaker showed it."""

    asked: Watch
    phase: Phase
    phones: int
    look: int
    receipt: Receipt | None
    problem: str
    counts: IntArray | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnWatch:
    """What one phone may see of itself: whether it is in, and whether it has tapped."""

    joined: bool
    tapped: bool = False


@dataclass(slots=True)
class _Phone:
    tapped: bool = False


class WatchRoom(Hall[_Phone]):
    """Thread-safe. joining → listening → answered → ended, the last from any.

    Back to joining where the ledger let nothing begin; ended where listening had begun and gave no answer. ``kept``
    before answered where the ledger could not take the answer at once: nobody could ask for it again, since the room
    listens once, so it is waited for.

    ``wait`` waits so many seconds, or less once the room is closed. Calls raise PollRefused, with one sentence that
    depends on no tap.
    """

    kind = "watch"

    def __init__(
        self, code: str, asked: Watch, host: str, wait: Callable[[threading.Event, float], object] | None = None
    ) -> None:
        super().__init__(code, host, opens="joining", phone=lambda _: _Phone())
        self.asked = asked
        self._wait = wait or threading.Event.wait
        self._phase: Phase = "joining"
        self._counted: list[int] = []
        self._look = 0
        self._receipt: Receipt | None = None
        self._problem = ""
        self._counts: IntArray | None = None
        self._closed = threading.Event()

    @property
    def stage(self) -> tuple[object, ...]:
        """What a phone waits for: another one means that its page has changed."""
        with self._lock:
            return self._phase, self._counts is not None

    def seen(self) -> SeenWatch:
        """What anybody may see."""
        with self._lock:
            return SeenWatch(
                asked=self.asked,
                phase=self._phase,
                phones=len(self._phones),
                look=self._look,
                receipt=self._receipt,
                problem=self._problem,
                counts=self._counts,
            )

    # -- a phone -------------------------------------------------------------------------------------------------------

    def own(self, token: str) -> OwnWatch:
        """Whether this phone has tapped."""
        with self._lock:
            phone = self._phones.get(self.digest(token))
            return OwnWatch(joined=phone is not None, tapped=phone is not None and phone.tapped)

    def tap(self, token: str) -> None:
        """This phone's one tap, while the alarm listens; another changes nothing. Raises PollRefused."""
        with self._lock:
            self._at("listening", said.NOT_LISTENING)
            self._mine(token).tapped = True

    # -- the speaker ---------------------------------------------------------------------------------------------------

    def listen(self, host: str, draw: Draw) -> threading.Thread | None:
        """Nobody joins any more; the alarm listens, beside whatever else goes on. A second click changes nothing.

        Returns what listens, for whoever wants to wait. ``draw`` raises what a release raises. Raises PollRefused, and
        phones still join, where the server has no thread for it.
        """
        self.as_host(host)
        with self._lock:
            if self._phase != "joining":
                return None
            try:
                listens = begun(partial(self._listen, draw), "a room's alarm")
            except NoThread:
                raise PollRefused(said.NO_THREAD) from None
            self._phase, self._problem = "listening", ""
        return listens

    def counts(self) -> Iterator[int]:
        """How many phones have tapped at each look, when its time has come; for the release alone."""
        with self._lock:
            self._counted.clear()
        for look in range(1, self.asked.looks + 1):
            with self._lock:
                self._look = look
            self._wait(self._closed, self.asked.seconds)
            with self._lock:
                if self._phase != "listening":
                    raise PollRefused(poll_words.ENDED)
                self._counted.append(sum(phone.tapped for phone in self._phones.values()))
                count = self._counted[-1]
            yield count

    def show_counts(self, host: str) -> None:
        """Show the true counts: only where they were announced before anybody tapped, and the answer is there."""
        self.as_host(host)
        with self._lock:
            if not self.asked.counts:
                raise PollRefused(said.NOT_ANNOUNCED)
            self._at("answered", poll_words.NOT_YET)
            self._counts = np.array(self._counted, dtype=np.int64)

    def forget(self) -> None:
        """As in every room; and the alarm stops listening."""
        with self._lock:
            super().forget()
            self._counted.clear()
        self._closed.set()

    # -- inside --------------------------------------------------------------------------------------------------------

    def _waits(self) -> None:
        """The alarm has listened to the end, and the ledger has yet to take its answer."""
        with self._lock:
            if self._phase == "listening":
                self._phase = "kept"

    def _listen(self, draw: Draw) -> None:
        receipt, problem = None, ""
        with self._lock:  # until it stands that the room listens
            asked = (self.request_id, self.lineage, self.asked.epsilon, self.asked.request, self)
        try:
            receipt = as_defects("a room's alarm listened", lambda: draw(*asked, waits=self._waits))
        except DpcoreError as error:
            problem = str(error)
        except MemoryError:
            problem = said.NO_MEMORY
        with self._lock:
            self._receipt, self._problem = receipt, problem
            if self._phase in ("listening", "kept"):
                self._phase = "joining" if receipt is None else "answered"
            heard = receipt is None and self._look > 0
        if heard:  # when it stopped may tell when the alarm went off, so the same charge must not pay for another
            self.forget()
