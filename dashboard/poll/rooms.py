"""Every poll that runs on this server, by its code: one object in the process's memory, with a lock.

It is a module's value and not in Streamlit's caches, which any visitor's browser can ask the server to clear.
Nothing is written to disk; a restart of the server forgets every room.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import overload

from dashboard.poll.asked import Poll
from dashboard.poll.codes import new_code, place_of, plain_code
from dashboard.poll.follow import Follow
from dashboard.poll.follow_room import FollowRoom
from dashboard.poll.refused import Elsewhere, PollRefused
from dashboard.poll.room import Room
from dashboard.poll.watch import Watch
from dashboard.poll.watch_room import WatchRoom
from dashboard.serving.heads import network
from dashboard.serving.settings import PLACE, REPLICAS, number
from dashboard.words import poll as said
from dpcore.threads import WorkingThread

LIFE = 2 * 3600.0
"""Seconds after which a poll ends by itself."""
MOST_ROOMS, MOST_EACH = 50, 40
"""Rooms at the same time, and how many of them one address may have, such as a school's: there is room for others."""
TRIES, TRIES_PER_SECOND = 200.0, 20.0
"""Wrong codes that the server bears at once, and how fast they are forgiven.

In two hours 144,200 wrong codes are looked up at most; with 50 rooms open a stranger hits one with a chance below
1 in 100,000 (31⁸ codes). In between newcomers wait a moment, whatever they type; phones that are in do not.

Of n replicas each bears an nth: whoever guesses knows from a code where its room would be, and so has n times fewer to
try at each.
"""


AnyRoom = Room | FollowRoom | WatchRoom
Declared = Poll | Follow | Watch


@dataclass(slots=True)
class _Kept:
    room: AnyRoom
    host: str
    address: str
    ends: float


class Rooms:
    """Thread-safe. ``clock`` gives seconds, ``sleep`` waits for so many.

    They are those of the ``place``-th of so many ``replicas``.
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], object] = time.sleep,
        *,
        place: int = 1,
        replicas: int = 1,
    ) -> None:
        self._clock, self._sleep = clock, sleep
        self._place, self._replicas = place, replicas
        self._kept: dict[str, _Kept] = {}
        self._most_tries = max(1.0, TRIES / replicas)
        self._tries, self._at = self._most_tries, clock()
        self._watch = WorkingThread("rooms", self.sweep_next)  # on a quiet server nobody else would look
        self._lock = threading.RLock()

    @overload
    def open(self, declared: Poll, host: str, address: str = "") -> Room: ...
    @overload
    def open(self, declared: Follow, host: str, address: str = "") -> FollowRoom: ...
    @overload
    def open(self, declared: Watch, host: str, address: str = "") -> WatchRoom: ...
    def open(self, declared: Declared, host: str, address: str = "") -> AnyRoom:
        """A new room for the speaker with this secret; the one they had ends.

        Raises PollRefused when all are taken, or as many as one network ``address`` may have.
        """
        address = network(address)
        with self._lock:
            self._sweep()
            earlier = [code for code, kept in self._kept.items() if kept.host == host]
            if len(self._kept) - len(earlier) >= MOST_ROOMS:
                raise PollRefused(said.no_room(MOST_ROOMS))
            own = [code for code, kept in self._kept.items() if address and kept.address == address]
            if len(set(own) - set(earlier)) >= MOST_EACH:
                raise PollRefused(said.its_share(MOST_EACH))
            for code in earlier:
                self._kept.pop(code).room.forget()
            code = new_code(self._place, self._replicas)
            while code in self._kept:
                code = new_code(self._place, self._replicas)
            room = _room(code, declared, host)
            self._kept[code] = _Kept(room=room, host=host, address=address, ends=self._clock() + LIFE)
        self._watch.wake()
        return room

    def of_host(self, host: str) -> AnyRoom | None:
        """The room that this speaker opened, also after a reload of their page."""
        with self._lock:
            self._sweep()
            return next((kept.room for kept in self._kept.values() if kept.host == host), None)

    def enter(self, typed: str, token: str) -> AnyRoom:
        """The room with this code, however it is typed. Raises PollRefused for a wrong one, and after too many.

        A phone that is in its room already is always let in. Raises Elsewhere for every code of another replica's,
        whether there is a room or not: it tells nothing but what the code does, and so is no try.
        """
        code = plain_code(typed)
        if place_of(code, self._replicas) not in (self._place, None):
            raise Elsewhere(said.WITH_ITS_SERVER)
        with self._lock:
            self._sweep()
            kept = self._kept.get(code)
            if kept is not None and kept.room.own(token).joined:
                return kept.room
            if not self._may_try():
                raise PollRefused(said.TOO_MANY)
            if kept is None:
                self._tries -= 1.0
                raise PollRefused(said.WRONG_CODE)
            return kept.room

    def sweep_next(self) -> bool:
        """Wait until the next room's time is up, and forget it; whether there was one."""
        with self._lock:
            if not self._kept:
                return False
            first = min(kept.ends for kept in self._kept.values())
        self._sleep(max(first - self._clock(), 0.0) + 1.0)
        with self._lock:
            self._sweep()
        return True

    def leave(self, host: str) -> None:
        """Close this speaker's room for good, its receipt too."""
        with self._lock:
            for code in [code for code, kept in self._kept.items() if kept.host == host]:
                self._kept.pop(code).room.forget()

    def __len__(self) -> int:
        return len(self._kept)

    def _sweep(self) -> None:
        now = self._clock()
        for code in [code for code, kept in self._kept.items() if kept.ends <= now]:
            self._kept.pop(code).room.forget()

    def _may_try(self) -> bool:
        now = self._clock()
        more = (now - self._at) * TRIES_PER_SECOND / self._replicas
        self._tries = min(self._most_tries, self._tries + more)
        self._at = now
        return self._tries >= 1.0


def _room(code: str, declared: Declared, host: str) -> AnyRoom:
    match declared:
        case Poll():
            return Room(code, declared, host)
        case Follow():
            return FollowRoom(code, declared, host)
        case Watch():
            return WatchRoom(code, declared, host)


def _here() -> Rooms:
    place, replicas = number(PLACE, 1), number(REPLICAS, 1)
    return Rooms(place=place, replicas=replicas) if place <= replicas else Rooms()


ROOMS = _here()
"""Those of this server."""
