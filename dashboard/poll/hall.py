"""What every live room has: a code, the speaker's secret, phones told apart by random tokens, an end, and a lock."""

from __future__ import annotations

import hashlib
import hmac
import threading
import uuid
from collections.abc import Callable
from typing import ClassVar, Generic, TypeVar

from dashboard.poll.refused import PollRefused
from dashboard.words import poll as said
from dpcore.ledger import Ledger

MOST_PHONES = 1_000
Phone = TypeVar("Phone")
"""What a room keeps of one phone."""


class Hall(Generic[Phone]):
    """Thread-safe. ``host`` is the secret of the speaker's browser. ``lineage`` names the room's budget.

    Phones join in the phase ``opens`` alone; ``phone`` makes what is kept of one, given how many came before it. Calls
    raise PollRefused, with one sentence that depends on nothing a phone said.
    """

    kind: ClassVar[str]
    """What the room does, as links name it (``kinds.ROOM``)."""
    _phase: str

    def __init__(self, code: str, host: str, *, opens: str, phone: Callable[[int], Phone]) -> None:
        self.code = code
        self.request_id, self.lineage = uuid.uuid4().hex, Ledger.room_lineage(host)
        self._host = self.digest(host)
        self._opens, self._phone = opens, phone
        self._phones: dict[str, Phone] = {}
        self._lock = threading.RLock()
        self._drawing = threading.Lock()  # one draws, others wait for what it draws

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def is_host(self, token: str) -> bool:
        """Whether this browser opened the room."""
        return hmac.compare_digest(self._host, self.digest(token))

    def digest(self, token: str) -> str:
        """How a browser is remembered: of no use in another room."""
        return hashlib.sha256(f"{self.code}:{token}".encode()).hexdigest()

    def as_host(self, host: str) -> None:
        """Raises PollRefused for anybody but the speaker."""
        if not self.is_host(host):
            raise PollRefused(said.NOT_HOST)

    def join(self, token: str) -> bool:
        """Take a phone in while the room is open, once however often it asks; whether it is in.

        Later phones may look on. Raises PollRefused when the room is full.
        """
        with self._lock:
            key = self.digest(token)
            if key not in self._phones and self._phase == self._opens:
                if len(self._phones) >= MOST_PHONES:
                    raise PollRefused(said.full(MOST_PHONES))
                self._phones[key] = self._phone(len(self._phones))
            return key in self._phones

    def end(self, host: str) -> None:
        """Everything a phone said, and its token, is forgotten; receipts stay to be fetched."""
        self.as_host(host)
        self.forget()

    def forget(self) -> None:
        """As ``end``, when the time is up."""
        with self._lock:
            self._phase = "ended"
            self._phones.clear()

    # -- for the rooms themselves, with the lock held ------------------------------------------------------------------

    def _mine(self, token: str) -> Phone:
        phone = self._phones.get(self.digest(token))
        if phone is None:
            raise PollRefused(said.NOT_JOINED)
        return phone

    def _at(self, phase: str, otherwise: str) -> None:
        if self._phase != phase:
            raise PollRefused(said.ENDED if self._phase == "ended" else otherwise)
