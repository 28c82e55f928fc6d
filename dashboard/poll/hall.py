"""What every live room has: a code, the speaker's secret, and phones told apart by random tokens; with a lock."""

from __future__ import annotations

import hashlib
import hmac
import threading
import uuid

from dashboard.poll.refused import PollRefused
from dashboard.words import poll as said
from dpcore.ledger import Ledger

MOST_PHONES = 1_000


class Hall:
    """Thread-safe. ``host`` is the secret of the speaker's browser. ``lineage`` names the room's budget."""

    def __init__(self, code: str, host: str) -> None:
        self.code = code
        self.request_id, self.lineage = uuid.uuid4().hex, Ledger.new_lineage()
        self._host = self.digest(host)
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
